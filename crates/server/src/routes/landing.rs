//! Landing an attempt: how its branch stands, merging, rebasing, its target, and small git work in its worktree.

use axum::extract::State;
use forge_engine::Rebased;
use forge_model::AttemptId;

use crate::api::{Api, need, op};
use crate::decode::{Fields, Id, MaybeFields, Query, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::state::App;
use crate::wire::{self, BranchStatus, ChangedTargetBranch, CommitCompare, CommitInfo, Leftovers};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/task-attempts/{attempt_id}/branch-status",
            branch_status,
            op("getTaskAttemptBranchStatus", "Returns how an attempt's branch stands to its target.")
                .gives::<BranchStatus>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/merge",
            merge,
            op("mergeTaskAttempt", "Lands an attempt as one commit on its target; its task is done then.")
                .may_take(wire::MERGE)
                .gives::<Option<Leftovers>>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/merge/undo",
            undo_merge,
            op(
                "undoTaskAttemptMerge",
                "Takes the last merge of an attempt back, unless somebody has built on it or was given it.",
            ),
        )
        .post(
            "/api/task-attempts/{attempt_id}/rebase",
            rebase,
            op(
                "rebaseTaskAttempt",
                "Builds an attempt's commits again on a branch, which becomes its target.",
            )
            .may_take(wire::REBASE)
            .refuses_with_200(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/conflicts/abort",
            abort,
            op(
                "abortTaskAttemptConflicts",
                "Takes back a rebase or merge that waits for its conflicts; the files are snapshotted first.",
            ),
        )
        .post(
            "/api/task-attempts/{attempt_id}/conflicts/continue",
            go_on,
            op(
                "continueTaskAttemptConflicts",
                "Goes on with a rebase whose conflicts somebody has resolved in the files; the files are snapshotted \
                 first.",
            )
            .refuses_with_200(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/change-target-branch",
            change_target,
            op("changeTaskAttemptTargetBranch", "Changes where an attempt lands; no commit moves.")
                .takes(wire::CHANGE_TARGET)
                .gives::<ChangedTargetBranch>()
                .refuses_with_200(),
        )
        .get(
            "/api/task-attempts/{attempt_id}/commit-info",
            commit_info,
            op("getCommitInfo", "Returns a commit's name and the first line of its message.")
                .query(need(names::SHA))
                .gives::<CommitInfo>(),
        )
        .get(
            "/api/task-attempts/{attempt_id}/commit-compare",
            commit_compare,
            op("compareCommitToHead", "Compares a commit with what an attempt has checked out.")
                .query(need(names::SHA))
                .gives::<CommitCompare>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/delete-file",
            delete_file,
            op("deleteTaskAttemptFile", "Deletes a file of an attempt's worktree and commits that alone.")
                .query(need(names::DELETED_PATH)),
        )
}

async fn branch_status(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<BranchStatus> {
    Ok(Envelope(app.engine.branch_status(id).await?.into()))
}

/// Lands an attempt as one commit on its target.
async fn merge(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    MaybeFields(fields): MaybeFields,
) -> Reply<Option<Leftovers>> {
    let landed = app.engine.land(id, fields.try_into()?).await?;
    Ok(Envelope(Leftovers::of(landed.committed)))
}

async fn undo_merge(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<()> {
    app.engine.undo_landing(id).await?;
    Ok(NOTHING)
}

/// Rebases an attempt; conflicts are told with 200 and what they are.
async fn rebase(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    MaybeFields(fields): MaybeFields,
) -> Reply<()> {
    wire::rebased(app.engine.rebase(id, fields.try_into()?).await)
}

async fn abort(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<()> {
    app.engine.abort_conflicts(id).await?;
    Ok(NOTHING)
}

/// Goes on with a rebase; conflicts that are left are told with 200 and what they are. Where none waits, none is left.
async fn go_on(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<()> {
    wire::rebased(app.engine.continue_rebase(id).await.map(|went| went.unwrap_or(Rebased::Done)))
}

async fn change_target(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    fields: Fields,
) -> Reply<ChangedTargetBranch> {
    let branch = fields.line(names::NEW_TARGET_BRANCH)?;
    let changed = app.engine.change_target(id, branch.clone()).await;
    Ok(wire::changed_target(branch, changed.map_err(wire::branch_problem)?))
}

async fn commit_info(State(app): State<App>, Id(id): Id<AttemptId>, query: Query) -> Reply<CommitInfo> {
    Ok(Envelope(app.engine.commit_info(id, query.required("sha")?).await?.into()))
}

async fn commit_compare(State(app): State<App>, Id(id): Id<AttemptId>, query: Query) -> Reply<CommitCompare> {
    Ok(Envelope(app.engine.compare_commit(id, query.required("sha")?).await?.into()))
}

async fn delete_file(State(app): State<App>, Id(id): Id<AttemptId>, query: Query) -> Reply<()> {
    app.engine.delete_file(id, query.required("file_path")?).await?;
    Ok(NOTHING)
}
