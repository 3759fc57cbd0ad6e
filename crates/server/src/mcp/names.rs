//! The names that only tools use, in the form of the decoder's table.

use crate::decode::names::{Kind, Name};

const SHORT: usize = 1000;
const UNBOUNDED: usize = usize::MAX;

const fn name(name: &'static str, limit: usize, kind: Kind) -> Name {
    Name { name, older: &[], limit, kind }
}

/// A status in any of its spellings.
pub(super) const STATUS: Name = name("status", SHORT, Kind::Text);
/// How many at most; a negative number is none.
pub(super) const LIMIT: Name = name("limit", SHORT, Kind::Number);
pub(super) const ATTEMPT_ID: Name = name("attempt_id", SHORT, Kind::Id);
pub(super) const EXECUTION_RUN_ID: Name = name("execution_run_id", SHORT, Kind::Id);
/// A prompt under the name that one tool has for it.
pub(super) const MESSAGE: Name = Name { older: &["prompt"], ..name("message", UNBOUNDED, Kind::Line) };
/// A branch that must be named.
pub(super) const BASE_BRANCH: Name = name("base_branch", SHORT, Kind::Line);
pub(super) const ASK_ID: Name = name("ask_id", SHORT, Kind::Id);
pub(super) const PROCESS: Name = name("process_id", SHORT, Kind::Id);
pub(super) const IMAGE_ID: Name = name("image_id", SHORT, Kind::Id);
pub(super) const COMMIT: Name = name("sha", SHORT, Kind::Line);
pub(super) const TARGET: Name =
    Name { older: &["new_target_branch"], ..name("target_branch", SHORT, Kind::Line) };
pub(super) const EDITOR: Name = Name { older: &["editor_type"], ..name("editor", SHORT, Kind::Text) };
pub(super) const DRAFT_TYPE: Name = name("type", SHORT, Kind::OneOf(&["follow_up", "retry"]));
pub(super) const CONTENT: Name = Name { older: &["prompt"], ..name("content", UNBOUNDED, Kind::Text) };
pub(super) const DATA: Name = name("data", UNBOUNDED, Kind::Line);
pub(super) const MIME_TYPE: Name = name("mime_type", SHORT, Kind::Line);
pub(super) const CONFIG: Name = name("config", UNBOUNDED, Kind::Object(&[]));
pub(super) const SETTINGS: Name = name("settings", UNBOUNDED, Kind::Object(&[]));
pub(super) const BEFORE: Name = name("before", SHORT, Kind::Text);
pub(super) const AFTER: Name = name("after", SHORT, Kind::Text);
pub(super) const AROUND: Name = name("around", SHORT, Kind::Text);
pub(super) const FIND: Name = name("find", SHORT, Kind::Text);
pub(super) const TIMEOUT: Name = name("timeout_seconds", SHORT, Kind::Number);
pub(super) const OR_ASK: Name = name("or_ask", SHORT, Kind::Flag);
pub(super) const AGENT: Name = name("agent", SHORT, Kind::Line);
/// An agent of Forge's that plays another.
pub(super) const EXECUTOR: Name = name("executor", SHORT, Kind::Text);
pub(super) const SESSION_NAME: Name = name("name", SHORT, Kind::Line);
pub(super) const MODEL: Name = name("model", SHORT, Kind::Text);
pub(super) const MONITOR: Name = name("monitor", SHORT, Kind::Flag);
pub(super) const FULL: Name = name("full", SHORT, Kind::Flag);
/// A session, which is an attempt, under every name that clients have for it.
pub(super) const SESSION: Name = Name {
    older: &["session_id", "taskId", "task_id", "attempt_id"],
    ..name("sessionId", SHORT, Kind::Line)
};
/// The attempt above a subtask.
pub(super) const PARENT: Name =
    Name { older: &["parent_task_attempt"], ..name("parent_attempt_id", SHORT, Kind::Id) };
