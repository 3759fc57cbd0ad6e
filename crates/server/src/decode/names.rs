//! The table of keys a request may hold: the name we document, the older names that mean the same, and what
//! kind of value it has. The decoder reads by it, and the OpenAPI document is written from it.

use crate::api::{Key, may, need};

/// A key of a body or a query under all its names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    /// The name that errors use.
    pub(crate) name: &'static str,
    /// Names that older clients send; read only when the first is absent or null.
    pub(crate) older: &'static [&'static str],
    /// The longest text accepted, in characters.
    pub(crate) limit: usize,
    pub(crate) kind: Kind,
}

/// What kind of value a key has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A text that is not blank.
    Line,
    /// Any text.
    Text,
    Flag,
    Number,
    /// A number that is not negative.
    Position,
    Id,
    Ids,
    Texts,
    /// An agent and its variant.
    Profile,
    OneOf(&'static [&'static str]),
    Object(&'static [Key]),
    /// A list of objects.
    Objects(&'static [Key]),
    /// Texts by a name that the caller chooses.
    TextMap,
    Any,
}

/// Texts that people write at length are bounded by the size of the body alone.
const UNBOUNDED: usize = usize::MAX;
/// Longer than any title, name or branch that someone means.
const SHORT: usize = 1000;
/// PATH_MAX on Linux.
const PATH: usize = 4096;
/// More things than anybody names one by one.
const MANY: usize = 10_000;

const fn name(name: &'static str, limit: usize, kind: Kind) -> Name {
    Name { name, older: &[], limit, kind }
}

/// A text on one line that says something.
const fn line(text: &'static str) -> Name {
    name(text, SHORT, Kind::Line)
}

/// A text that may be blank or long.
const fn text(text: &'static str) -> Name {
    name(text, UNBOUNDED, Kind::Text)
}

const fn flag(text: &'static str) -> Name {
    name(text, SHORT, Kind::Flag)
}

const fn id(text: &'static str) -> Name {
    name(text, SHORT, Kind::Id)
}

impl Name {
    /// Adds names that older clients send.
    const fn or(self, older: &'static [&'static str]) -> Self {
        Self { older, ..self }
    }
}

pub(crate) const NAME: Name = line("name");
pub(crate) const GIT_REPO_PATH: Name = name("git_repo_path", PATH, Kind::Line).or(&["repo_path"]);
pub(crate) const USE_EXISTING_REPO: Name = flag("use_existing_repo");
pub(crate) const TRUST_FILTERS: Name = flag("trust_filters");
pub(crate) const SETUP_SCRIPT: Name = text("setup_script");
pub(crate) const DEV_SCRIPT: Name = text("dev_script");
pub(crate) const CLEANUP_SCRIPT: Name = text("cleanup_script");
pub(crate) const COPY_FILES: Name = text("copy_files");
pub(crate) const COMMIT_PROMPT: Name = text("commit_prompt");
pub(crate) const DEFAULT_BASE_BRANCH: Name = name("default_base_branch", SHORT, Kind::Text);

pub(crate) const PROJECT_ID: Name = id("project_id");
pub(crate) const TITLE: Name = line("title");
pub(crate) const DESCRIPTION: Name = text("description");
pub(crate) const STATUS: Name = name("status", SHORT, Kind::Any);
pub(crate) const TASK_STATUS: Name = name(
    "status",
    SHORT,
    Kind::OneOf(&["todo", "inprogress", "inreview", "done", "cancelled", "agent", "archived"]),
);
pub(crate) const PARENT_TASK_ATTEMPT: Name = id("parent_task_attempt");

pub(crate) const PATH_TO_LIST: Name = name("path", PATH, Kind::Text);

pub(crate) const Q: Name = name("q", SHORT, Kind::Line);
pub(crate) const SEARCH_MODE: Name = name("mode", SHORT, Kind::OneOf(&["taskform", "settings"]));

pub(crate) const EDITOR_TYPE: Name = name(
    "editor_type",
    SHORT,
    Kind::OneOf(&["VS_CODE", "CURSOR", "WINDSURF", "INTELLI_J", "ZED", "XCODE", "CUSTOM"]),
);
pub(crate) const FILE_PATH: Name = name("file_path", PATH, Kind::Text).or(&["file"]);
pub(crate) const LINE: Name = name("line", SHORT, Kind::Number);

pub(crate) const IMAGE_IDS: Name = name("image_ids", SHORT, Kind::Ids);

pub(crate) const TASK: Name = name(
    "task",
    UNBOUNDED,
    Kind::Object(&[may(PROJECT_ID), need(TITLE), may(DESCRIPTION), may(PARENT_TASK_ATTEMPT), may(IMAGE_IDS)]),
);
pub(crate) const TASK_ID: Name = id("task_id");
pub(crate) const TASK_ATTEMPT_ID: Name = id("task_attempt_id");
pub(crate) const EXECUTOR_PROFILE_ID: Name =
    name("executor_profile_id", SHORT, Kind::Profile).or(&["executor"]);
pub(crate) const EXECUTOR: Name = line("executor").or(&["profile"]);
pub(crate) const VARIANT: Name = name("variant", SHORT, Kind::Text);
pub(crate) const BASE_BRANCH: Name = name("base_branch", SHORT, Kind::Text);
pub(crate) const DRY_RUN: Name = flag("dry_run");
pub(crate) const IMPORT_SOURCE: Name =
    name("source", SHORT, Kind::OneOf(&["automagik-forge", "vibe-kanban"]));
pub(crate) const IMPORT_PATH: Name = name("path", PATH, Kind::Text);
pub(crate) const IMPORT_IMAGES: Name = name("images", PATH, Kind::Text);
pub(crate) const OLD_BASE_BRANCH: Name = name("old_base_branch", SHORT, Kind::Text);
pub(crate) const NEW_BASE_BRANCH: Name = name("new_base_branch", SHORT, Kind::Text).or(&["base_branch"]);
pub(crate) const NEW_TARGET_BRANCH: Name = line("new_target_branch").or(&["target_branch"]);
pub(crate) const SKIP_HOOKS: Name = flag("skip_hooks");
pub(crate) const SHA: Name = line("sha");
pub(crate) const DELETED_PATH: Name = name("file_path", PATH, Kind::Line);
pub(crate) const USE_WORKTREE: Name = flag("use_worktree");
pub(crate) const PROMPT: Name = name("prompt", UNBOUNDED, Kind::Line).or(&["follow_up_prompt"]);

pub(crate) const PULL_REQUEST_BODY: Name = text("body").or(&["description"]);
pub(crate) const TARGET_BRANCH: Name = name("target_branch", SHORT, Kind::Text);
pub(crate) const PULL_REQUEST_NUMBER: Name = name("pr_number", SHORT, Kind::Number);

pub(crate) const SNAPSHOT_ID: Name = line("snapshot_id");
pub(crate) const PATHS: Name = name("paths", MANY, Kind::Texts);
pub(crate) const PROCESS_ID: Name = id("process_id");
pub(crate) const FORCE_WHEN_DIRTY: Name = flag("force_when_dirty");
pub(crate) const PERFORM_GIT_RESET: Name = flag("perform_git_reset");
/// The agent of a turn that is run again; the attempt's own without.
pub(crate) const MAYBE_PROFILE: Name = name("executor_profile_id", SHORT, Kind::Profile);
pub(crate) const RETRY_PROCESS_ID: Name = id("retry_process_id");
pub(crate) const DRAFT_PROMPT: Name = text("prompt");
pub(crate) const VERSION: Name = name("version", SHORT, Kind::Number);
pub(crate) const QUEUED: Name = flag("queued").or(&["execute"]);
pub(crate) const EXPECTED_QUEUED: Name = flag("expected_queued");
pub(crate) const EXPECTED_VERSION: Name = name("expected_version", SHORT, Kind::Number);
pub(crate) const POSITION: Name = name("position", SHORT, Kind::Position);

pub(crate) const SESSION_ID: Name = line("session_id");
pub(crate) const TOOL_NAME: Name = line("tool_name");
pub(crate) const TOOL_INPUT: Name = name("tool_input", UNBOUNDED, Kind::Any);
pub(crate) const TOOL_CALL_ID: Name = line("tool_call_id");
pub(crate) const EXECUTION_PROCESS_ID: Name = id("execution_process_id");
pub(crate) const APPROVED: Name = flag("approved");
pub(crate) const REASON: Name = text("reason").or(&["comment"]);
pub(crate) const TEXT: Name = text("text").or(&["answer"]);

/// The answers to an ask that holds several questions, by question.
pub(crate) const ANSWERS: Name = name("answers", UNBOUNDED, Kind::TextMap);
/// An answer counts for this ask, or for the like of it in the agent's session.
pub(crate) const ANSWER_SCOPE: Name = name("scope", SHORT, Kind::OneOf(&["once", "session"]));
pub(crate) const ASK_STATE: Name =
    name("state", SHORT, Kind::OneOf(&["open", "approved", "denied", "cancelled", "expired"]));
pub(crate) const LIMIT: Name = name("limit", SHORT, Kind::Position);

pub(crate) const RULES: Name =
    name("rules", SHORT, Kind::Objects(&[need(RULE_EFFECT), need(RULE_ABOUT), may(RULE_PATTERN)]));
pub(crate) const RULE_EFFECT: Name = name("effect", SHORT, Kind::OneOf(&["allow", "deny", "ask"]));
pub(crate) const RULE_ABOUT: Name = name("about", SHORT, Kind::OneOf(&["read_only", "command", "tool"]));
pub(crate) const RULE_PATTERN: Name = name("pattern", SHORT, Kind::Text);

pub(crate) const UNATTENDED: Name = flag("unattended");
pub(crate) const FORK_FROM: Name = id("fork_from");
pub(crate) const RESUME_WHEN_LIMITED: Name = flag("resume_when_limited");
pub(crate) const USAGE_BY: Name =
    name("by", SHORT, Kind::OneOf(&["day", "agent", "project", "task", "attempt", "turn"]));

pub(crate) const TAG_NAME: Name = line("tag_name");
pub(crate) const CONTENT: Name = name("content", UNBOUNDED, Kind::Line);
/// An agent by its name alone, in a query.
pub(crate) const MCP_EXECUTOR: Name = line("executor");
pub(crate) const SERVERS: Name = name("servers", UNBOUNDED, Kind::Object(&[]));

pub(crate) const SEARCH: Name = text("search");

pub(crate) const TEMPLATE_NAME: Name = line("template_name").or(&["name"]);
pub(crate) const TEMPLATE_TITLE: Name = line("title").or(&["name"]);
pub(crate) const TEMPLATE_PROJECT_ID: Name = id("project_id").or(&["projectId"]);
pub(crate) const TASK_TEMPLATE: Name = text("task_template");
pub(crate) const GLOBAL: Name = flag("global");

pub(crate) const AGENT_TYPE: Name = line("agent_type");
pub(crate) const OMNI_ENABLED: Name = flag("omni_enabled");
pub(crate) const OMNI_HOST: Name = line("host");
pub(crate) const API_KEY: Name = line("api_key");
pub(crate) const OMNI_CONFIG: Name = name(
    "omni_config",
    UNBOUNDED,
    Kind::Object(&[
        may(flag("enabled")),
        may(text("host")),
        may(text("api_key")),
        may(text("instance")),
        may(text("recipient")),
        may(name("recipient_type", SHORT, Kind::OneOf(&["PhoneNumber", "UserId"]))),
    ]),
);

pub(crate) const TOKEN: Name = line("token");

/// Where a task is to stand in the order by hand: right above another, or below all when that is null.
pub(crate) const TASK_POSITION: Name = name("position", SHORT, Kind::Object(&[may(BEFORE_TASK)]));
pub(crate) const BEFORE_TASK: Name = id("before");

pub(crate) const DISMISS_UNTIL: Name = name("until", SHORT, Kind::Text);
pub(crate) const UNDO: Name = flag("undo");

pub(crate) const COMMENT_PATH: Name = name("path", PATH, Kind::Line);
pub(crate) const COMMENT_SIDE: Name = name("side", SHORT, Kind::OneOf(&["old", "new"]));
pub(crate) const END_LINE: Name = name("end_line", SHORT, Kind::Number);
pub(crate) const QUOTE: Name = text("quote");
pub(crate) const COMMENT_TEXT: Name = text("text");
pub(crate) const COMMENT_IDS: Name = name("ids", SHORT, Kind::Ids);
/// Those that a follow-up is made of.
pub(crate) const FOLLOW_UP_COMMENTS: Name = name("comment_ids", SHORT, Kind::Ids);

// Parameters of queries only.
/// A file of a diff; may be given many times.
pub(crate) const DIFF_PATH: Name = name("path", PATH, Kind::Text);
pub(crate) const FROM_SNAPSHOT: Name = name("from", SHORT, Kind::Text);
pub(crate) const TO_SNAPSHOT: Name = name("to", SHORT, Kind::Text);
pub(crate) const FIND: Name = name("find", SHORT, Kind::Line);
pub(crate) const AROUND: Name = name("around", SHORT, Kind::Text);
pub(crate) const AFTER_PLACE: Name = name("after", SHORT, Kind::Text);
pub(crate) const DRAFT_TYPE: Name = name("type", SHORT, Kind::OneOf(&["follow_up", "retry"]));
pub(crate) const BASE: Name = name("base", SHORT, Kind::Text);
pub(crate) const CONTAINER_REF: Name = name("ref", PATH, Kind::Line);
pub(crate) const STATS_ONLY: Name = flag("stats_only");
pub(crate) const SHOW_SOFT_DELETED: Name = flag("show_soft_deleted");
pub(crate) const FROM: Name = name("from", SHORT, Kind::Position);
pub(crate) const LAST: Name = name("last", SHORT, Kind::Position);
pub(crate) const BEFORE: Name = name("before", SHORT, Kind::Text);
pub(crate) const FOLLOW: Name = flag("follow");
pub(crate) const AFTER: Name = name("after", SHORT, Kind::Position);
