//! Settings and profiles on the wire, and what changes them. The settings have one shape in the file and here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use forge_engine::{ConfigChange, Error, ErrorKind, Info, NewProfiles, ProfilesFile, config_schema};
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
