//! Settings and profiles on the wire, and what changes them. The settings have one shape in the file and here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use forge_engine::{
    Availability, ConfigChange, Error, ErrorKind, Found, Info, LoggedIn, NewProfiles, ProfilesFile,
    config_schema,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::decode::{Fields, Text};
use crate::error::Problem;

/// The settings as the engine shows them, secrets masked.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Config(pub(crate) Value);

impl JsonSchema for Config {
    fn schema_name() -> Cow<'static, str> {
        "Config".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        config_schema().try_into().unwrap_or_default()
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UserSystemInfo {
    config: Config,
    /// Nobody is counted; the key is there because clients read it.
    analytics_user_id: &'static str,
    executors: Map<String, Value>,
    environment: Environment,
    capabilities: BTreeMap<&'static str, Vec<&'static str>>,
    /// Which agents are on this machine, in the order of their names. Nothing was started to find out.
    agents: Vec<AgentOnMachine>,
    /// What the owner should know about the server itself, one sentence each: a database that is damaged, a full disk, a
    /// data directory that is a copy.
    warnings: Vec<String>,
    /// The data directory is a copy of another, and can only be read until it is adopted.
    is_copy: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AgentOnMachine {
    /// As `executors` has it.
    executor: &'static str,
    title: &'static str,
    /// There is something to run.
    installed: bool,
    /// What that is: `built_in`, `program`, `npx`, `missing`, or `no_command` when its profile must name one.
    found: &'static str,
    /// The program's path.
    path: Option<String>,
    version: Option<String>,
    /// Somebody has logged in; null when that cannot be seen.
    logged_in: Option<bool>,
    /// The variable or file that shows the login.
    login_evidence: Option<String>,
    /// It was played against the real program; otherwise only against what its documentation shows.
    tried: bool,
    install: &'static str,
    log_in: Option<&'static str>,
    /// What to do before it can be used, in words.
    remedy: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Environment {
    os_type: String,
    os_version: String,
    os_architecture: &'static str,
    bitness: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProfilesContent {
    content: String,
    path: String,
}

impl From<Availability> for AgentOnMachine {
    fn from(known: Availability) -> Self {
        let (installed, remedy) = (known.is_installed(), known.remedy());
        let (found, path) = match known.found {
            Found::BuiltIn => ("built_in", None),
            Found::Program(path) => ("program", Some(path)),
            Found::Fetched(path) => ("npx", Some(path)),
            Found::Missing => ("missing", None),
            Found::Unnamed => ("no_command", None),
        };
        let (logged_in, login_evidence) = match known.login {
            LoggedIn::Yes(evidence) => (Some(true), Some(evidence)),
            LoggedIn::No => (Some(false), None),
            LoggedIn::Unknown => (None, None),
        };
        Self {
            executor: known.agent,
            title: known.title,
            installed,
            found,
            path: path.map(|path| path.to_string_lossy().into_owned()),
            version: known.version,
            logged_in,
            login_evidence,
            tried: known.tried,
            install: known.install,
            log_in: known.log_in,
            remedy,
        }
    }
}

impl From<Info> for UserSystemInfo {
    fn from(info: Info) -> Self {
        let capabilities = info.capabilities.into_iter();
        Self {
            config: Config(info.config),
            analytics_user_id: "",
            executors: info.profiles,
            environment: Environment {
                os_type: info.machine.system,
                os_version: info.machine.version,
                os_architecture: info.machine.architecture,
                bitness: format!("{}-bit", info.machine.bits),
            },
            capabilities: capabilities
                .map(|(agent, can)| (agent, can.fork.then_some("SESSION_FORK").into_iter().collect()))
                .collect(),
            agents: info.agents.into_iter().map(AgentOnMachine::from).collect(),
            warnings: info.warnings,
            is_copy: info.is_copy,
        }
    }
}

impl From<ProfilesFile> for ProfilesContent {
    fn from(file: ProfilesFile) -> Self {
        Self { content: file.content, path: file.path.to_string_lossy().into_owned() }
    }
}

impl TryFrom<Fields> for ConfigChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(ConfigChange::new(fields.into_map())?)
    }
}

impl TryFrom<Text> for NewProfiles {
    type Error = Problem;

    /// Reads the profiles themselves, or the older wrapping that holds them as a text.
    fn try_from(Text(text): Text) -> Result<Self, Problem> {
        let wrapped = serde_json::from_str(&text).ok().and_then(|value: Value| match value {
            Value::Object(mut map) => map.remove("profiles")?.as_str().map(str::to_string),
            _ => None,
        });
        NewProfiles::parse(wrapped.as_deref().unwrap_or(&text))
            .map_err(|error| told("Invalid executor profiles format", &error))
    }
}

/// Tells about settings that were not kept. Clients look for this at 200.
pub(crate) fn config_not_saved(error: Error) -> Problem {
    match error.kind() {
        ErrorKind::Invalid => Problem::told_with_200(error),
        _ => told("Failed to save config", &error),
    }
}

/// Tells about profiles that were not kept. Clients look for this at 200.
pub(crate) fn profiles_not_saved(error: Error) -> Problem {
    told("Failed to save executor profiles", &error)
}

fn told(what: &str, error: &Error) -> Problem {
    Problem::told_with_200(Error::invalid(format!("{what}: {error}")))
}
