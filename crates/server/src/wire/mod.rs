//! What goes over the wire, one file per noun: the contract's names and shapes, made from the model's.
//!
//! The older words (execution process, executor, approval) live here and in the decoder's table only.

mod agent_file;
mod approval;
mod attempt;
mod board;
mod branch;
mod card;
mod comment;
mod config;
mod diff;
mod directory;
mod disk;
mod draft;
mod editor;
mod entry;
mod execution_run;
mod finding;
mod forge;
mod gc;
mod github;
mod image;
mod import;
mod landing;
mod mcp_config;
mod patch;
mod process;
mod project;
mod pull_request;
mod relations;
mod rule;
mod search;
mod tag;
mod task;
mod template;
mod travel;
mod usage;

pub(crate) use agent_file::AgentFiles;
pub(crate) use approval::{
    Approval, CREATE_APPROVAL, CreatedApproval, RESPOND, Responded, ask_filter, run_of_answer,
};
pub(crate) use attempt::{
    AttemptUpdate, CREATE_AND_START_TASK, CREATE_ATTEMPT, FOLLOW_UP, RUN_AGENT_SETUP, RunAgentSetupResponse,
    StartedTask, TaskAttempt, start_task,
};
pub(crate) use board::Board;
pub(crate) use branch::GitBranch;
pub(crate) use comment::{
    COMMENTS_SENT, CREATE_COMMENT, DISMISS, ReviewComment, UPDATE_COMMENT, comment_ids,
};
pub(crate) use config::{Config, ProfilesContent, UserSystemInfo, config_not_saved, profiles_not_saved};
pub(crate) use diff::{DiffEntry, DiffValue, TaskAttemptDiff, diff_wanted};
pub(crate) use directory::{DirectoryEntry, DirectoryListResponse};
pub(crate) use disk::Disk;
pub(crate) use draft::{
    CHANGE_QUEUED, Draft, DraftResponse, QUEUE_DRAFT, QueuedFollowUp, SAVE_DRAFT, draft_change, draft_kind,
    queue,
};
pub(crate) use editor::{OPEN_EDITOR, OpenEditorResponse};
pub(crate) use entry::{IndexedEntry, NormalizedLogEntry, TaskAttemptEntries, searched_before, window_at};
pub(crate) use execution_run::{CREATE_EXECUTION_RUN, ExecutionRun, StartedExecutionRun};
pub(crate) use finding::Finding;
pub(crate) use forge::{
    AuthRequired, CHANGE_SETTINGS, CREATE_FORGE_AGENT, ForgeAgent, ForgeProjectSettings, ForgeRelease,
    OmniInstances, OmniNotifications, OmniStatus, OmniValidation, ProjectProfiles, VALIDATE_OMNI,
};
pub(crate) use gc::{Cleaned, GC};
pub(crate) use github::{CheckTokenResponse, DeviceFlowStart, DevicePollStatus};
pub(crate) use image::ImageResponse;
pub(crate) use import::{IMPORT, ImportReport, ImportUnderWay, import_request};
pub(crate) use landing::{
    BranchStatus, CHANGE_TARGET, ChangedTargetBranch, CommitCompare, CommitInfo, Leftovers, MERGE, REBASE,
    branch_problem, changed_target, rebased,
};
pub(crate) use mcp_config::{
    GetMcpServerResponse, UPDATE_MCP_SERVERS, mcp_not_saved, mcp_not_shown, mcp_summary,
};
pub(crate) use patch::{Patch, PatchOp};
pub(crate) use process::{ExecutionProcess, FollowUpProcess};
pub(crate) use project::{CREATE_PROJECT, Project, UPDATE_PROJECT};
pub(crate) use pull_request::{
    ATTACH_PULL_REQUEST, AttachPrResponse, CREATE_PULL_REQUEST, ProjectBranchStatus, PullResponse,
    no_pull_request, pull_request_number,
};
pub(crate) use relations::{ContainerInfo, TaskRelationships};
pub(crate) use rule::{Rule, SET_RULES, rules};
pub(crate) use search::{SearchResult, search_for};
pub(crate) use tag::{CREATE_TAG, Tag, UPDATE_TAG};
pub(crate) use task::{CREATE_TASK, CREATE_TASK_IN, Task, TaskWithAttemptStatus, UPDATE_TASK, new_task};
pub(crate) use template::{CREATE_TEMPLATE, TaskTemplate, UPDATE_TEMPLATE};
pub(crate) use travel::{
    AttemptSnapshot, FilesRestored, REPLACE_PROCESS, RESTORE_FILES, RecoveredEntry, RemovedEntry,
    ReplaceProcessResult, told,
};
pub(crate) use usage::{Usage, usage_of};

/// Encodes a list.
pub(crate) fn list<T, U: From<T>>(items: Vec<T>) -> Vec<U> {
    items.into_iter().map(U::from).collect()
}

#[cfg(test)]
mod tests;
