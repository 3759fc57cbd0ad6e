//! Starting attempts and runs.

use std::path::Path;

use forge_model::{Answer, Ask, AskId, AttemptId, ProfileId, Run, RunId, TaskId};

use crate::{AttemptView, Engine, NewTask, Options, Overview, Result, TaskView};

/// A task to create and start in one pass.
#[derive(Debug, Clone)]
pub struct StartTask {
    pub task: NewTask,
    pub profile: ProfileId,
    /// None means the project's default, or the branch that is checked out.
    pub base_branch: Option<String>,
    pub use_worktree: bool,
}

/// A further attempt at a task.
#[derive(Debug, Clone)]
pub struct NewAttempt {
    pub task: TaskId,
    pub profile: ProfileId,
    pub base_branch: Option<String>,
    pub use_worktree: bool,
}

/// What a start made: all of it exists when the verb returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    pub task: TaskView,
    pub attempt: AttemptView,
    pub run: Run,
}

/// What to tell an agent next.
#[derive(Debug, Clone)]
pub struct FollowUp {
    pub prompt: String,
    pub variant: Option<String>,
}

/// How a follow-up reached the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// A new run resumed the session.
    Started,
    /// The running agent was told.
    Injected,
    /// It is sent when the turn ends.
    Queued,
}

/// The run that took, or will be followed by, a follow-up.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedUp {
    pub run: Run,
    pub delivered: Delivered,
}

/// Names a call, so that repeating it repeats the answer instead of the act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub key: String,
    /// A hash of the method, the path and the body.
    pub fingerprint: String,
}

impl Engine {
    pub async fn open(_options: Options) -> Result<Engine> {
        todo!()
    }
    pub fn home(&self) -> &Path {
        todo!()
    }
    pub async fn create_and_start(&self, _start: StartTask, _key: Option<Key>) -> Result<Started> {
        todo!()
    }
    pub async fn start_attempt(&self, _new: NewAttempt, _key: Option<Key>) -> Result<Started> {
        todo!()
    }
    pub async fn follow_up(&self, _id: AttemptId, _follow: FollowUp, _key: Option<Key>) -> Result<FollowedUp> {
        todo!()
    }
    pub async fn stop_attempt(&self, _id: AttemptId) -> Result<()> {
        todo!()
    }
    pub async fn stop_run(&self, _id: RunId) -> Result<Run> {
        todo!()
    }
    pub async fn stop_all(&self) -> Result<usize> {
        todo!()
    }
    pub async fn attempts(&self, _task: Option<TaskId>) -> Result<Vec<AttemptView>> {
        todo!()
    }
    pub async fn attempt(&self, _id: AttemptId) -> Result<AttemptView> {
        todo!()
    }
    pub async fn runs(&self, _attempt: AttemptId, _with_dropped: bool) -> Result<Vec<Run>> {
        todo!()
    }
    pub async fn run(&self, _id: RunId) -> Result<Run> {
        todo!()
    }
    pub async fn open_asks(&self) -> Result<Vec<Ask>> {
        todo!()
    }
    pub async fn ask(&self, _id: AskId) -> Result<Ask> {
        todo!()
    }
    pub async fn answer(&self, _id: AskId, _answer: Answer, _by: &str) -> Result<Ask> {
        todo!()
    }
    pub async fn overview(&self) -> Result<Overview> {
        todo!()
    }
}
