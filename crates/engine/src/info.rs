//! What a client asks first: the settings, the profiles, what the agents can do, and what machine this is.

use std::collections::BTreeMap;

use forge_agents::{AGENTS, Capabilities};
use serde_json::{Map, Value};

use crate::background::blocking;
use crate::{Availability, Engine, Result};

/// What a client asks first.
#[derive(Debug, Clone)]
pub struct Info {
    /// The settings, secrets masked.
    pub config: Value,
    /// Every agent's variants with their settings, in the shape of `profiles.json`.
    pub profiles: Map<String, Value>,
    pub capabilities: BTreeMap<&'static str, Capabilities>,
    /// Which agents are on this machine.
    pub agents: Vec<Availability>,
    pub machine: Machine,
    /// What the owner should know about the server itself, one sentence each.
    pub warnings: Vec<String>,
    /// The data directory is a copy of another and can only be read.
    pub is_copy: bool,
}

/// The machine the server runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    pub system: String,
    pub version: String,
    pub architecture: &'static str,
    pub bits: u32,
}

impl Engine {
    /// Returns what a client asks first.
    pub async fn info(&self) -> Result<Info> {
        Ok(Info {
            config: self.config().await?,
            profiles: self.profiles().await?,
            capabilities: AGENTS.iter().map(|agent| (agent.name(), agent.capabilities())).collect(),
            agents: self.availability().await?,
            machine: blocking(machine).await?,
            warnings: self.warnings(),
            is_copy: self.copy().is_some(),
        })
    }
}

fn machine() -> Machine {
    // Where there is no such file, the kernel's name is what can be said.
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    Machine {
        system: field(&release, "NAME").unwrap_or_else(|| std::env::consts::OS.to_string()),
        version: field(&release, "VERSION_ID").unwrap_or_else(|| "Unknown".to_string()),
        architecture: std::env::consts::ARCH,
        bits: usize::BITS,
    }
}

fn field(release: &str, name: &str) -> Option<String> {
    let line = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.trim_matches('"').to_string());
    release.lines().find_map(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_system_is_read_without_its_quotes() {
        let release = "PRETTY_NAME=\"Debian 12\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=12\n";
        assert_eq!(field(release, "NAME").as_deref(), Some("Debian GNU/Linux"));
        assert_eq!(field(release, "VERSION_ID").as_deref(), Some("12"));
        assert_eq!(field("", "NAME"), None);
    }
}
