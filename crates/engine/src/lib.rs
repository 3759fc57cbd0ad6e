//! The verbs of Forge: everything that can be done to projects, tasks and attempts.
//!
//! This is the only room that writes: the database, worktrees, processes. It serves no HTTP, and its store
//! is a private module, so no SQL can live anywhere else.

mod error;
mod events;
mod logs;
mod options;
mod projects;
mod start;
mod store;
mod tasks;
mod views;

pub use error::{Error, ErrorKind, Result};
pub use events::{Change, Changes};
pub use logs::{Chunk, ChunkStream, LogBatch, LogTail};
pub use options::{Options, Seam};
pub use projects::{Branch, NewProject, ProjectChange};
pub use start::{Delivered, FollowUp, FollowedUp, Key, NewAttempt, StartTask, Started};
pub use tasks::{NewTask, TaskChange};
pub use views::{AttemptView, Overview, TaskView};

/// The engine: cheap to clone, shared by everything that serves people.
#[derive(Debug, Clone)]
pub struct Engine {}
