//! The parts of the API's objects that the command line reads. What it prints as JSON is the whole object as
//! the server gave it.

use serde::Deserialize;
use serde_json::Value;

use crate::exit::{Failure, Result};

/// An attempt.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) task_id: Option<String>,
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) reason: Option<String>,
    #[serde(default)]
    pub(crate) branch: String,
    #[serde(default)]
    pub(crate) executor: String,
    #[serde(default)]
    pub(crate) worktree_path: Option<String>,
    /// Its place among those that a limit holds back.
    #[serde(default)]
    pub(crate) queue_place: Option<i64>,
    /// When the limit of its agent's provider is over.
    #[serde(default)]
    pub(crate) limited_until: Option<String>,
    #[serde(default)]
    pub(crate) resume_when_limited: Option<bool>,
    /// How its newest process stands.
    #[serde(default)]
    pub(crate) status: Option<String>,
    /// Why it seems to be stuck.
    #[serde(default)]
    pub(crate) stalled: Option<String>,
    #[serde(default)]
    pub(crate) open_asks: i64,
    #[serde(default)]
    pub(crate) task: Option<Task>,
    #[serde(default)]
    pub(crate) created_at: String,
    /// What an attempt without a task was told.
    #[serde(default)]
    pub(crate) prompt: Option<String>,
}

/// The task of an attempt.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Task {
    pub(crate) title: String,
}

/// A run of an attempt.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) run_reason: String,
    #[serde(default)]
    pub(crate) executor_action: Value,
}

/// Something an agent waits for.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ask {
    pub(crate) approval_id: String,
    pub(crate) execution_process_id: String,
    #[serde(default)]
    pub(crate) tool_name: String,
    #[serde(default)]
    pub(crate) task_attempt_id: String,
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) kind: String,
    /// What the tool is given.
    #[serde(default)]
    pub(crate) input: Value,
}

/// One frame of a run's log.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LogFrame {
    #[serde(default, rename = "JsonPatch")]
    pub(crate) patch: Vec<LogPatch>,
    /// Where to resume after this frame.
    #[serde(default)]
    pub(crate) position: Option<u64>,
    #[serde(default)]
    pub(crate) finished: bool,
    /// Everything that was there has been given, and the run goes on.
    #[serde(default)]
    pub(crate) caught_up: bool,
}

/// One operation of a log frame.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LogPatch {
    pub(crate) value: LogChunk,
}

/// A piece of output.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
pub(crate) struct LogChunk {
    #[serde(rename = "type")]
    pub(crate) stream: String,
    pub(crate) content: String,
}

impl Attempt {
    /// Says whether nothing more happens to the attempt by itself.
    pub(crate) fn is_at_rest(&self) -> bool {
        matches!(self.state.as_str(), "finished" | "failed" | "stopped") || self.is_ended_by_limit()
    }

    /// Says whether a limit has ended its last turn, and it is not known to go on by itself.
    pub(crate) fn is_ended_by_limit(&self) -> bool {
        let goes_on = self.resume_when_limited == Some(true) && self.limited_until.is_some();
        self.state == "limited" && self.status.as_deref() != Some("running") && !goes_on
    }

    /// Says whether a process of the attempt is alive.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.state.as_str(), "running" | "waiting")
            || self.state == "limited" && self.status.as_deref() == Some("running")
    }

    /// Returns the title of the task, or what it was told where there is no task, or the branch.
    pub(crate) fn title(&self) -> &str {
        let told = self.prompt.as_deref().unwrap_or(&self.branch);
        self.task.as_ref().map_or(told, |task| &task.title)
    }

    /// Returns its path in the API.
    pub(crate) fn path(&self) -> String {
        format!("/api/task-attempts/{}", self.id)
    }

    /// Returns the form of the id that people type.
    pub(crate) fn short(&self) -> &str {
        short_id(&self.id)
    }
}

/// Returns the first eight digits of an id: short to type, and unlikely to be another's.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Reads one object of the API.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T> {
    T::deserialize(value).map_err(|error| {
        Failure::away(format!("the server's answer is not understood: {error}; is it another version?"))
    })
}
