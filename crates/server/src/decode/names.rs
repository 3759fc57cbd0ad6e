//! The table of keys a body may hold: the name we document, and the older names that mean the same.

/// A key of a body under all its names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    /// The name that errors use.
    pub(crate) name: &'static str,
    /// Names that older clients send; read only when the first is absent or null.
    pub(crate) older: &'static [&'static str],
    /// The longest text accepted, in characters.
    pub(crate) limit: usize,
}

/// Texts that people write at length are bounded by the size of the body alone.
const UNBOUNDED: usize = usize::MAX;
/// Longer than any title, name or branch that someone means.
const SHORT: usize = 1000;
/// PATH_MAX on Linux.
const PATH: usize = 4096;

const fn name(name: &'static str, limit: usize) -> Name {
    Name { name, older: &[], limit }
}

const fn renamed(name: &'static str, older: &'static [&'static str], limit: usize) -> Name {
    Name { name, older, limit }
}

pub(crate) const NAME: Name = name("name", SHORT);
pub(crate) const GIT_REPO_PATH: Name = renamed("git_repo_path", &["repo_path"], PATH);
pub(crate) const USE_EXISTING_REPO: Name = name("use_existing_repo", SHORT);
pub(crate) const SETUP_SCRIPT: Name = name("setup_script", UNBOUNDED);
pub(crate) const DEV_SCRIPT: Name = name("dev_script", UNBOUNDED);
pub(crate) const CLEANUP_SCRIPT: Name = name("cleanup_script", UNBOUNDED);
pub(crate) const COPY_FILES: Name = name("copy_files", UNBOUNDED);
pub(crate) const COMMIT_PROMPT: Name = name("commit_prompt", UNBOUNDED);
pub(crate) const DEFAULT_BASE_BRANCH: Name = name("default_base_branch", SHORT);

pub(crate) const PROJECT_ID: Name = name("project_id", SHORT);
pub(crate) const TITLE: Name = name("title", SHORT);
pub(crate) const DESCRIPTION: Name = name("description", UNBOUNDED);
pub(crate) const STATUS: Name = name("status", SHORT);
pub(crate) const PARENT_TASK_ATTEMPT: Name = name("parent_task_attempt", SHORT);

pub(crate) const TASK: Name = name("task", UNBOUNDED);
pub(crate) const TASK_ID: Name = name("task_id", SHORT);
pub(crate) const EXECUTOR_PROFILE_ID: Name = renamed("executor_profile_id", &["executor"], SHORT);
pub(crate) const EXECUTOR: Name = renamed("executor", &["profile"], SHORT);
pub(crate) const VARIANT: Name = name("variant", SHORT);
pub(crate) const BASE_BRANCH: Name = name("base_branch", SHORT);
pub(crate) const USE_WORKTREE: Name = name("use_worktree", SHORT);
pub(crate) const PROMPT: Name = renamed("prompt", &["follow_up_prompt"], UNBOUNDED);

pub(crate) const EXECUTION_PROCESS_ID: Name = name("execution_process_id", SHORT);
pub(crate) const APPROVED: Name = name("approved", SHORT);
pub(crate) const REASON: Name = renamed("reason", &["comment"], UNBOUNDED);
pub(crate) const TEXT: Name = renamed("text", &["answer"], UNBOUNDED);

pub(crate) const TAG_NAME: Name = name("tag_name", SHORT);
pub(crate) const CONTENT: Name = name("content", UNBOUNDED);

pub(crate) const TEMPLATE_NAME: Name = renamed("template_name", &["name"], SHORT);
pub(crate) const TEMPLATE_TITLE: Name = renamed("title", &["name"], SHORT);
pub(crate) const TEMPLATE_PROJECT_ID: Name = renamed("project_id", &["projectId"], SHORT);
pub(crate) const TASK_TEMPLATE: Name = name("task_template", UNBOUNDED);

pub(crate) const TOKEN: Name = name("token", SHORT);
