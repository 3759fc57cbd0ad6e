//! A run: one supervised process of an attempt.

use crate::state::named;
use crate::{AttemptId, ProfileId, RunId, RunState, TaskId, Time};

/// One supervised process of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub attempt: AttemptId,
    /// The task of its attempt; none when the attempt has none.
    pub task: Option<TaskId>,
    pub kind: RunKind,
    pub state: RunState,
    pub profile: ProfileId,
    /// What the agent was told, or the script that was run.
    pub prompt: String,
    /// The agent's conversation that this run resumed.
    pub resumed_session: Option<String>,
    /// That conversation was branched off, and stays as it was.
    pub forked: bool,
    /// What the agent was told of an earlier conversation before its prompt, because it could not go on with it.
    pub memo: Option<String>,
    pub before_head: Option<String>,
    pub after_head: Option<String>,
    pub exit_code: Option<i64>,
    /// The signal that ended the process.
    pub signal: Option<i64>,
    /// Why it ended as it did, in a sentence, when there is something to say.
    pub reason: Option<String>,
    /// What the agent is told first once this run, a setup script, has ended well.
    pub next: Option<FirstTurn>,
    /// Left out of the history after a retry.
    pub dropped: bool,
    /// When its log was deleted because it had been kept for long enough, or took too much room.
    pub log_deleted_at: Option<Time>,
    pub started_at: Time,
    pub completed_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// What the agent of an attempt is told first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstTurn {
    pub prompt: String,
    pub profile: ProfileId,
}

named! {
    /// What a run is for.
    RunKind {
        Setup = "setup",
        Agent = "agent",
        Cleanup = "cleanup",
        DevServer = "dev_server",
    }
}
