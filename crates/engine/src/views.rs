//! What people look at: things of the store together with what follows from them.

use forge_model::{Attempt, AttemptId, AttemptState, PullRequest, RunId, RunState, Task, Time};

/// A task and what its attempts say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskView {
    pub task: Task,
    pub has_in_progress_attempt: bool,
    pub has_merged_attempt: bool,
    /// The newest run is failed, killed or lost.
    pub last_attempt_failed: bool,
    /// The newest attempt's agent, with its variant; empty when there is no attempt.
    pub executor: String,
    pub attempt_count: i64,
    /// A chat with an agent, or an agent's standing task: on no board.
    pub is_chat: bool,
    /// Its place in the order by hand; lower is higher.
    pub position: i64,
    pub last_attempt: Option<AttemptId>,
}

/// An attempt and what its runs say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptView {
    pub attempt: Attempt,
    pub task: Option<Task>,
    /// The state of the latest agent run.
    pub status: Option<RunState>,
    pub open_asks: i64,
    /// Follow-ups that wait for the turn's end.
    pub queued: i64,
    /// Its work has reached a target branch.
    pub is_merged: bool,
    /// Its place among those that a limit holds back, counted from 1.
    pub place: Option<i64>,
    /// A rebase of it waits for somebody to resolve its conflicts.
    pub is_conflicted: bool,
    /// Open findings: what changed outside its worktree during its runs.
    pub findings: i64,
    /// Its agent's provider does not serve it for a while.
    pub limited: Option<Limited>,
    /// Why it seems to be stuck, in a sentence; derived from what its process shows, and never stored.
    pub stalled: Option<String>,
    pub card: Card,
}

/// What the card of an attempt shows beside its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// When it came into the state it is in, into a conflict, or to seem stuck.
    pub state_since: Time,
    /// What its agent does now, in a few words; known while it runs, and never stored.
    pub activity: Option<String>,
    /// The first line of the setup script that runs.
    pub preparing: Option<String>,
    /// What its agent's newest to-do list comes to.
    pub todos: Option<Todos>,
    /// What its newest diff comes to.
    pub changes: Option<ChangeSum>,
    /// The newest one.
    pub pull_request: Option<PullRequest>,
    /// When a person last looked at it.
    pub seen_at: Option<Time>,
    /// When a person put it aside.
    pub dismissed_at: Option<Time>,
    /// Until when a person put it aside.
    pub later_until: Option<Time>,
    /// Review comments that were not sent yet.
    pub comments: i64,
    /// Its dev server that runs, and the port it was given.
    pub dev_server: Option<(RunId, u16)>,
    /// The newest run but dev servers.
    pub last_run: Option<RunId>,
    /// How often its agent was told something; what a retry left out of the history does not count.
    pub turns: i64,
}

/// How far a to-do list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Todos {
    pub done: i64,
    pub total: i64,
}

/// How much differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangeSum {
    pub files: i64,
    pub added: i64,
    pub deleted: i64,
}

impl AttemptView {
    /// Returns the state that people are shown: an attempt whose last turn a limit ended is limited.
    pub fn state(&self) -> AttemptState {
        match self.attempt.state {
            AttemptState::Failed if self.limited.is_some() => AttemptState::Limited,
            state => state,
        }
    }
}

/// A limit of an agent's provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limited {
    /// When it is over, where the agent told.
    pub until: Option<Time>,
}

/// An attempt among the tasks it is related to.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    pub attempt: AttemptView,
    /// The task that the attempt's own task grew out of.
    pub parent: Option<Task>,
    /// The tasks that grew out of the attempt.
    pub children: Vec<Task>,
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overview {
    pub projects: i64,
    pub tasks: i64,
    pub attempts: i64,
    /// Attempts with a live process.
    pub running: i64,
    /// Of those, attempts that wait for an answer.
    pub waiting: i64,
    pub open_asks: i64,
    /// The newest event.
    pub seq: i64,
}
