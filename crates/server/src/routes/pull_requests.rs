//! What goes to and comes from a remote: pushes, pull requests, and the project's own branch.

use axum::Json;
use axum::extract::State;
use forge_model::{AttemptId, ProjectId};

use crate::api::{Api, may, op};
use crate::decode::{Fields, Id, MaybeFields, Query, names};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{
    self, ATTACH_PULL_REQUEST, AttachPrResponse, CREATE_PULL_REQUEST, Leftovers, ProjectBranchStatus,
    PullResponse,
};

/// What a project is compared with when nobody says.
const BASE: &str = "main";

pub(super) fn api() -> Api {
    Api::new()
        .post(
            "/api/task-attempts/{attempt_id}/push",
            push,
            op(
                "pushTaskAttempt",
                "Commits what is left and pushes the attempt's branch to the project's remote. Never forced.",
            )
            .gives::<Option<Leftovers>>(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/pr",
            create,
            op(
                "createPullRequest",
                "Pushes the attempt's branch and opens a pull request for it; answers with its page.",
            )
            .takes(CREATE_PULL_REQUEST)
            .gives::<String>()
            .refuses_with_200(),
        )
        .post(
            "/api/task-attempts/{attempt_id}/pr/attach",
            attach,
            op(
                "attachPullRequest",
                "Takes up the pull request of the attempt's branch, or the one with a number.",
            )
            .may_take(ATTACH_PULL_REQUEST)
            .gives::<AttachPrResponse>(),
        )
        .get(
            "/api/forge/projects/{project_id}/branch-status",
            branch_status,
            op("getProjectBranchStatus", "Compares a project's checkout with its remote, after a fetch.")
                .query(may(names::BASE))
                .gives::<ProjectBranchStatus>(),
        )
        .post(
            "/api/forge/projects/{project_id}/pull",
            pull,
            op(
                "pullProject",
                "Moves a project's checkout forward to where its remote is, or says why nothing has moved.",
            )
            .gives_bare::<PullResponse>(),
        )
}

async fn push(State(app): State<App>, Id(id): Id<AttemptId>) -> Reply<Option<Leftovers>> {
    let pushed = app.engine.push_attempt(id).await?;
    Ok(Envelope(Leftovers::of(pushed.committed)))
}

async fn create(State(app): State<App>, Id(id): Id<AttemptId>, fields: Fields) -> Reply<String> {
    let new = fields.try_into()?;
    let request = app.engine.create_pull_request(id, new).await.map_err(wire::no_pull_request)?;
    Ok(Envelope(request.url))
}

async fn attach(
    State(app): State<App>,
    Id(id): Id<AttemptId>,
    MaybeFields(fields): MaybeFields,
) -> Reply<AttachPrResponse> {
    let number = wire::pull_request_number(&fields)?;
    Ok(Envelope(app.engine.attach_pull_request(id, number).await?.into()))
}

async fn branch_status(
    State(app): State<App>,
    Id(id): Id<ProjectId>,
    query: Query,
) -> Reply<ProjectBranchStatus> {
    let base = query.text(names::BASE)?.unwrap_or_else(|| BASE.to_string());
    Ok(Envelope(app.engine.project_branch(id, base).await?.into()))
}

async fn pull(State(app): State<App>, Id(id): Id<ProjectId>) -> Result<Json<PullResponse>, Problem> {
    Ok(Json(app.engine.pull_project(id).await?.into()))
}
