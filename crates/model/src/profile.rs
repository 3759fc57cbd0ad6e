//! Which agent to call, and which named way of calling it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The variant that is meant when none is named.
const DEFAULT_VARIANT: &str = "GENIE";

/// An agent and one of its variants: `CLAUDE_CODE` or `CLAUDE_CODE:PLAN`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ExecutorProfileId")]
pub struct ProfileId {
    /// The agent's name in upper case: `CLAUDE_CODE`.
    #[serde(rename = "executor")]
    pub agent: String,
    /// The variant; none means `GENIE`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
}

/// A text that names no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} does not name an agent; a name looks like CLAUDE_CODE or CLAUDE_CODE:PLAN")]
pub struct ProfileIdError {
    text: String,
}

impl ProfileId {
    /// Reads the names as people and older clients write them: any case, `-` for `_`, `CURSOR` for
    /// `CURSOR_AGENT`, `DEFAULT` for the default variant.
    pub fn new(agent: &str, variant: Option<&str>) -> Result<Self, ProfileIdError> {
        let agent = canonical(agent).ok_or_else(|| ProfileIdError { text: agent.to_string() })?;
        let agent = if agent == "CURSOR" { "CURSOR_AGENT".to_string() } else { agent };
        let variant = match variant.map(str::trim).filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let variant = canonical(text).ok_or_else(|| ProfileIdError { text: text.to_string() })?;
                Some(variant).filter(|name| name != "DEFAULT" && name != DEFAULT_VARIANT)
            }
        };
        Ok(Self { agent, variant })
    }
}

/// Upper-cases a name and turns `-` into `_`; none when it holds anything but letters, digits and `_`.
fn canonical(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_uppercase().replace('-', "_");
    let ok = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    ok.then_some(name)
}

impl fmt::Display for ProfileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => write!(f, "{}:{variant}", self.agent),
            None => f.write_str(&self.agent),
        }
    }
}

impl FromStr for ProfileId {
    type Err = ProfileIdError;
    fn from_str(text: &str) -> Result<Self, ProfileIdError> {
        match text.split_once(':') {
            Some((agent, variant)) => Self::new(agent, Some(variant)),
            None => Self::new(text, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_people_write_them() {
        assert_eq!(ProfileId::new("claude-code", Some("default")).unwrap().to_string(), "CLAUDE_CODE");
        assert_eq!("cursor".parse::<ProfileId>().unwrap().to_string(), "CURSOR_AGENT");
        assert_eq!("codex:high".parse::<ProfileId>().unwrap().to_string(), "CODEX:HIGH");
    }

    #[test]
    fn a_name_with_odd_characters_is_refused() {
        assert!("../x".parse::<ProfileId>().unwrap_err().to_string().contains("\"../x\""));
        assert!("".parse::<ProfileId>().is_err());
    }
}
