//! Tasks: what is wanted in a project. Each path has a longer alias under its project.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use forge_model::{ProjectId, TaskId};

use crate::decode::{Fields, Id, Query, StartCall};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{self, StartedTask, Task, TaskWithAttemptStatus};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/api/tasks", get(list).post(create))
        .route("/api/tasks/create-and-start", post(create_and_start))
        .route("/api/tasks/{task_id}", get(one).put(update).delete(delete))
        .route("/api/projects/{project_id}/tasks", get(list_in).post(create_in))
        .route("/api/projects/{project_id}/tasks/create-and-start", post(create_and_start_in))
        .route("/api/projects/{project_id}/tasks/{task_id}", get(one).put(update).delete(delete))
}

/// Lists a project's tasks, newest first, without the chats with agents.
async fn list(State(app): State<App>, query: Query) -> Reply<Vec<TaskWithAttemptStatus>> {
    let project = query.required("project_id")?;
    Ok(Envelope(wire::list(app.engine.tasks(project).await?)))
}

async fn list_in(State(app): State<App>, Id(project): Id<ProjectId>) -> Reply<Vec<TaskWithAttemptStatus>> {
    Ok(Envelope(wire::list(app.engine.tasks(project).await?)))
}

async fn create(State(app): State<App>, fields: Fields) -> Reply<Task> {
    let new = wire::new_task(&fields, None)?;
    Ok(Envelope(app.engine.create_task(new).await?.into()))
}

async fn create_in(State(app): State<App>, Id(project): Id<ProjectId>, fields: Fields) -> Reply<Task> {
    let new = wire::new_task(&fields, Some(project))?;
    Ok(Envelope(app.engine.create_task(new).await?.into()))
}

/// Creates a task and starts its first attempt, all of which exists when this answers.
async fn create_and_start(State(app): State<App>, call: StartCall) -> Reply<StartedTask> {
    let start = wire::start_task(&call.fields, None)?;
    Ok(Envelope(app.engine.create_and_start(start, call.key).await?.into()))
}

async fn create_and_start_in(
    State(app): State<App>,
    Id(project): Id<ProjectId>,
    call: StartCall,
) -> Reply<StartedTask> {
    let start = wire::start_task(&call.fields, Some(project))?;
    Ok(Envelope(app.engine.create_and_start(start, call.key).await?.into()))
}

async fn one(State(app): State<App>, Id(id): Id<TaskId>) -> Reply<Task> {
    Ok(Envelope(app.engine.task(id).await?.into()))
}

async fn update(State(app): State<App>, Id(id): Id<TaskId>, fields: Fields) -> Reply<Task> {
    Ok(Envelope(app.engine.update_task(id, fields.try_into()?).await?.into()))
}

/// Removes a task. 202, because its worktrees go afterwards.
async fn delete(State(app): State<App>, Id(id): Id<TaskId>) -> Result<(StatusCode, Envelope<()>), Problem> {
    app.engine.delete_task(id).await?;
    Ok((StatusCode::ACCEPTED, NOTHING))
}
