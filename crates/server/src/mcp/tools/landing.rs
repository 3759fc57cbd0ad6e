//! Landing an attempt, as tools: how its branch stands, merging, rebasing, pushing, pull requests, and small git work.

use forge_engine::Rebased;
use forge_model::AttemptId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::super::call::Call;
use super::super::names::{ATTEMPT_ID, COMMIT, EDITOR, TARGET};
use super::super::tool::{Tool, changes, destroys, may, need, reads};
use crate::decode::names::{
    DELETED_PATH, FILE_PATH, FORCE_WHEN_DIRTY, NEW_BASE_BRANCH, PERFORM_GIT_RESET, PROCESS_ID, PROMPT,
    PULL_REQUEST_BODY, PULL_REQUEST_NUMBER, SKIP_HOOKS, TARGET_BRANCH, TITLE, VARIANT,
};
use crate::error::Problem;
use crate::wire::{
    self, AttachPrResponse, BranchStatus, ChangedTargetBranch, CommitCompare, CommitInfo, OpenEditorResponse,
    ReplaceProcessResult,
};

const ATTEMPT: &str = "The attempt.";

pub(super) fn tools() -> Vec<Tool> {
    let mut tools = standing();
    tools.extend(moving());
    tools.extend(beside());
    tools.into_iter().map(Tool::advanced).collect()
}

fn standing() -> Vec<Tool> {
    vec![
        reads(
            "get_branch_status",
            "Get branch status",
            "Tells how an attempt's branch stands to its target: commits ahead and behind, what is uncommitted, conflicts.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT)])
        .does(branch_status),
        reads("get_commit_info", "Get commit info", "Returns a commit's name and the first line of its message.")
            .takes(&[need(ATTEMPT_ID, ATTEMPT), need(COMMIT, "The commit, by its name or the beginning of it.")])
            .does(commit_info),
        reads("compare_commit", "Compare commit", "Compares a commit with what an attempt has checked out.")
            .takes(&[need(ATTEMPT_ID, ATTEMPT), need(COMMIT, "The commit, by its name or the beginning of it.")])
            .does(compare_commit),
    ]
}

fn moving() -> Vec<Tool> {
    vec![
        changes(
            "rebase_task_attempt",
            "Rebase task attempt",
            "Builds an attempt's commits again on its target branch as it is now, or on another.",
        )
        .takes(&[
            need(ATTEMPT_ID, ATTEMPT),
            may(NEW_BASE_BRANCH, "Another branch, which becomes its target."),
        ])
        .does(rebase),
        destroys(
            "merge_task_attempt",
            "Merge task attempt",
            "Lands an attempt as one commit on its target branch; its task is done then.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT), may(SKIP_HOOKS, "Runs no commit hooks.")])
        .does(merge),
        changes(
            "push_task_attempt",
            "Push task attempt",
            "Commits what is left and pushes an attempt's branch to the project's remote, never forced.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT)])
        .idempotent()
        .open_world()
        .does(push),
        changes(
            "create_pr",
            "Create pull request",
            "Pushes an attempt's branch and opens a pull request for it.",
        )
        .takes(&[
            need(ATTEMPT_ID, ATTEMPT),
            may(TITLE, "Its title; that of the task without."),
            may(PULL_REQUEST_BODY, "Its text."),
            may(TARGET_BRANCH, "The branch it is to be merged into; the attempt's target without."),
        ])
        .open_world()
        .does(create_pr),
        changes("attach_pr", "Attach pull request", "Takes up a pull request that is there already.")
            .takes(&[
                need(ATTEMPT_ID, ATTEMPT),
                may(PULL_REQUEST_NUMBER, "Its number; that of the attempt's branch without."),
            ])
            .idempotent()
            .open_world()
            .does(attach_pr),
        destroys(
            "abort_conflicts",
            "Abort conflicts",
            "Takes back a rebase or merge that waits for its conflicts; the files are snapshotted first.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT)])
        .does(abort),
        changes(
            "continue_rebase",
            "Continue rebase",
            "Goes on with a rebase whose conflicts somebody has resolved in the files; the files are snapshotted first.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT)])
        .idempotent()
        .does(continue_rebase),
        changes(
            "change_target_branch",
            "Change target branch",
            "Changes where an attempt lands; no commit moves.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT), need(TARGET, "The branch it lands on from now on.")])
        .idempotent()
        .does(change_target),
    ]
}

fn beside() -> Vec<Tool> {
    vec![
        destroys(
            "replace_process",
            "Replace process",
            "Goes back to before a turn of an attempt and tells the agent something else in its place.",
        )
        .takes(&[
            need(ATTEMPT_ID, ATTEMPT),
            may(PROCESS_ID, "The turn; the last without."),
            need(PROMPT, "What the agent is told instead."),
            may(VARIANT, "Another variant of the agent's settings."),
            may(PERFORM_GIT_RESET, "Also takes the files back; true unless said."),
            may(FORCE_WHEN_DIRTY, "Even where something is uncommitted."),
        ])
        .does(replace),
        changes(
            "start_dev_server",
            "Start dev server",
            "Starts an attempt's dev server anew, by the project's dev script.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT)])
        .does(start_dev_server),
        changes(
            "open_editor",
            "Open editor",
            "Opens an attempt's worktree in an editor on the server's machine, or says where it is.",
        )
        .takes(&[
            need(ATTEMPT_ID, ATTEMPT),
            may(
                EDITOR,
                "VS_CODE, CURSOR, WINDSURF, INTELLI_J, ZED, XCODE or CUSTOM; as the settings say without.",
            ),
            may(FILE_PATH, "A file of the worktree to show."),
        ])
        .idempotent()
        .does(open_editor),
        destroys(
            "delete_file",
            "Delete file",
            "Deletes a file of an attempt's worktree and commits that alone.",
        )
        .takes(&[need(ATTEMPT_ID, ATTEMPT), need(DELETED_PATH, "The file's path within the worktree.")])
        .does(delete_file),
    ]
}

/// That something was done, where there is nothing else to tell.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done {
    success: bool,
    attempt_id: AttemptId,
    message: String,
    /// What was uncommitted is this commit now.
    #[serde(skip_serializing_if = "Option::is_none")]
    leftovers_commit: Option<String>,
}

impl Done {
    pub(super) fn new(attempt_id: AttemptId, message: &str) -> Self {
        Self { success: true, attempt_id, message: message.to_string(), leftovers_commit: None }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct OpenedPr {
    pr_url: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AttachedPr {
    success: bool,
    attempt_id: AttemptId,
    #[serde(flatten)]
    attached: AttachPrResponse,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChangedTarget {
    success: bool,
    target_branch: String,
    #[serde(flatten)]
    changed: ChangedTargetBranch,
}

async fn branch_status(call: Call) -> Result<BranchStatus, Problem> {
    Ok(call.app.engine.branch_status(call.attempt()?).await?.into())
}

async fn commit_info(call: Call) -> Result<CommitInfo, Problem> {
    Ok(call.app.engine.commit_info(call.attempt()?, call.fields.line(COMMIT)?).await?.into())
}

async fn compare_commit(call: Call) -> Result<CommitCompare, Problem> {
    Ok(call.app.engine.compare_commit(call.attempt()?, call.fields.line(COMMIT)?).await?.into())
}

async fn rebase(call: Call) -> Result<Done, Problem> {
    let id = call.attempt()?;
    rebased(id, call.app.engine.rebase(id, call.fields.try_into()?).await?)
}

async fn continue_rebase(call: Call) -> Result<Done, Problem> {
    let id = call.attempt()?;
    match call.app.engine.continue_rebase(id).await? {
        Some(went) => rebased(id, went),
        None => Ok(Done::new(id, "no rebase waits")),
    }
}

/// Tells what came of a rebase; one that stopped is a refusal that names the files.
fn rebased(id: AttemptId, rebased: Rebased) -> Result<Done, Problem> {
    match rebased {
        Rebased::Done => Ok(Done::new(id, "rebased")),
        Rebased::Conflicts { files, message } => {
            let told = json!({"type": "merge_conflicts", "op": "rebase", "files": files});
            Err(Problem::from(forge_engine::Error::conflict(message)).with_error_data(told))
        }
    }
}

async fn merge(call: Call) -> Result<Done, Problem> {
    let id = call.attempt()?;
    let landed = call.app.engine.land(id, call.fields.try_into()?).await?;
    Ok(Done { leftovers_commit: landed.committed, ..Done::new(id, "merged") })
}

async fn push(call: Call) -> Result<Done, Problem> {
    let id = call.attempt()?;
    let pushed = call.app.engine.push_attempt(id).await?;
    Ok(Done { leftovers_commit: pushed.committed, ..Done::new(id, "pushed") })
}

async fn create_pr(call: Call) -> Result<OpenedPr, Problem> {
    let id = call.attempt()?;
    let title = match call.fields.optional_line(TITLE)? {
        Some(title) => title,
        None => {
            let task = call.app.engine.attempt(id).await?.task;
            task.map_or_else(|| "Forge".to_string(), |task| task.title)
        }
    };
    let new = forge_engine::NewPullRequest {
        title,
        body: call.fields.filled_text(PULL_REQUEST_BODY)?,
        target_branch: call.fields.filled_text(TARGET_BRANCH)?,
    };
    Ok(OpenedPr { pr_url: call.app.engine.create_pull_request(id, new).await?.url })
}

async fn attach_pr(call: Call) -> Result<AttachedPr, Problem> {
    let attempt_id = call.attempt()?;
    let number = wire::pull_request_number(&call.fields)?;
    let attached = call.app.engine.attach_pull_request(attempt_id, number).await?.into();
    Ok(AttachedPr { success: true, attempt_id, attached })
}

async fn abort(call: Call) -> Result<Done, Problem> {
    let id = call.attempt()?;
    call.app.engine.abort_conflicts(id).await?;
    Ok(Done::new(id, "aborted"))
}

async fn change_target(call: Call) -> Result<ChangedTarget, Problem> {
    let (id, branch) = (call.attempt()?, call.fields.line(TARGET)?);
    let status = call.app.engine.change_target(id, branch.clone()).await?;
    let changed = ChangedTargetBranch { new_target_branch: branch.clone(), status };
    Ok(ChangedTarget { success: true, target_branch: branch, changed })
}

async fn replace(call: Call) -> Result<ReplaceProcessResult, Problem> {
    let id = call.attempt()?;
    Ok(call.app.engine.replace_run(id, call.fields.try_into()?, None).await?.into())
}

async fn start_dev_server(call: Call) -> Result<Done, Problem> {
    let id = call.attempt()?;
    call.app.engine.start_dev_server(id).await?;
    Ok(Done::new(id, "started"))
}

async fn open_editor(call: Call) -> Result<OpenEditorResponse, Problem> {
    let id = call.attempt()?;
    let open = forge_engine::OpenEditor {
        editor: call.fields.filled_text(EDITOR)?,
        file: call.fields.filled_text(FILE_PATH)?.map(Into::into),
        line: None,
    };
    Ok(call.app.engine.open_attempt(id, open).await?.into())
}

async fn delete_file(call: Call) -> Result<Done, Problem> {
    let (id, path) = (call.attempt()?, call.fields.line(DELETED_PATH)?);
    call.app.engine.delete_file(id, path).await?;
    Ok(Done::new(id, "deleted"))
}
