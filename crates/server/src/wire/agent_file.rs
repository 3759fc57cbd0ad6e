//! The agents that a project's own files describe, on the wire.

use forge_model::ProfileId;
use schemars::JsonSchema;
use serde::Serialize;

/// The agents that a project's files describe, and the files that are not what their authors thought.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentFiles {
    agents: Vec<AgentFile>,
    warnings: Vec<AgentFileWarning>,
}

/// An agent that a file of the project describes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentFile {
    /// What a person calls it: its path below the folder of agents.
    id: String,
    name: Option<String>,
    collective: Option<String>,
    /// Where it lies in the repository.
    path: String,
    description: Option<String>,
    /// What starts it.
    executor_profile_id: ProfileId,
    model: Option<String>,
    /// Whether it wishes to be left alone (true) or followed (false).
    background: Option<bool>,
    hidden: bool,
}

/// A file among the agents that cannot be used as it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentFileWarning {
    path: String,
    message: String,
}

impl From<forge_engine::AgentFiles> for AgentFiles {
    fn from(files: forge_engine::AgentFiles) -> Self {
        let warning = |warning: forge_engine::AgentFileWarning| AgentFileWarning {
            path: warning.path,
            message: warning.message,
        };
        Self {
            agents: files.agents.into_iter().map(AgentFile::from).collect(),
            warnings: files.warnings.into_iter().map(warning).collect(),
        }
    }
}

impl From<forge_engine::AgentFile> for AgentFile {
    fn from(file: forge_engine::AgentFile) -> Self {
        Self {
            id: file.id,
            name: file.name,
            collective: file.collective,
            path: file.path,
            description: file.description,
            executor_profile_id: file.profile,
            model: file.model,
            background: file.background,
            hidden: file.hidden,
        }
    }
}
