//! Tasks: what is wanted in a project. Each path has a longer alias under its project.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use forge_model::{ProjectId, TaskId};

use crate::api::{Api, need, op};
use crate::compat::{self, Document, MapMessage, Tasks};
use crate::decode::{Fields, Id, Ids, Query, StartCall, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::streams::Upgrade;
use crate::wire::{self, StartedTask, Task, TaskWithAttemptStatus};

pub(super) fn api() -> Api {
    alone().merge(within_a_project())
}

fn alone() -> Api {
    Api::new()
        .get(
            "/api/tasks",
            list,
            op("listTasks", "Lists a project's tasks, newest first, without the chats with agents.")
                .query(need(names::PROJECT_ID))
                .gives::<Vec<TaskWithAttemptStatus>>(),
        )
        .post("/api/tasks", create, op("createTask", "Adds a task.").takes(wire::CREATE_TASK).gives::<Task>())
        .post(
            "/api/tasks/create-and-start",
            create_and_start,
            op(
                "createAndStartTask",
                "Adds a task and starts its first attempt, which runs when this answers.",
            )
            .takes(wire::CREATE_AND_START_TASK)
            .gives::<StartedTask>()
            .repeatable(),
        )
        .get(
            "/api/tasks/stream/ws",
            follow,
            op("followTasks", "Follows a project's tasks: all of them, then what changes.")
                .query(need(names::PROJECT_ID))
                .becomes_socket::<MapMessage<TaskWithAttemptStatus>>(),
        )
        .get("/api/tasks/{task_id}", one, op("getTask", "Returns a task.").gives::<Task>())
        .put(
            "/api/tasks/{task_id}",
            update,
            op("updateTask", "Changes a task: an absent key keeps.").takes(wire::UPDATE_TASK).gives::<Task>(),
        )
        .delete(
            "/api/tasks/{task_id}",
            delete,
            op("deleteTask", "Removes a task; its worktrees go afterwards.").status(202),
        )
}

/// The longer paths that older clients know.
fn within_a_project() -> Api {
    Api::new()
        .get(
            "/api/projects/{project_id}/tasks",
            list_in,
            op("listTasksOfProject", "Lists a project's tasks, as `GET /api/tasks` does.")
                .gives::<Vec<TaskWithAttemptStatus>>(),
        )
        .post(
            "/api/projects/{project_id}/tasks",
            create_in,
            op("createTaskInProject", "Adds a task to a project.")
                .takes(wire::CREATE_TASK_IN)
                .gives::<Task>(),
        )
        .post(
            "/api/projects/{project_id}/tasks/create-and-start",
            create_and_start_in,
            op("createAndStartTaskInProject", "Adds a task to a project and starts its first attempt.")
                .takes(wire::CREATE_AND_START_TASK)
                .gives::<StartedTask>()
                .repeatable(),
        )
        .get(
            "/api/projects/{project_id}/tasks/stream/ws",
            follow_in,
            op("followTasksOfProject", "Follows a project's tasks, as `GET /api/tasks/stream/ws` does.")
                .becomes_socket::<MapMessage<TaskWithAttemptStatus>>(),
        )
        .get(
            "/api/projects/{project_id}/tasks/{task_id}",
            one_in,
            op("getTaskOfProject", "Returns a task.").gives::<Task>(),
        )
        .put(
            "/api/projects/{project_id}/tasks/{task_id}",
            update_in,
            op("updateTaskOfProject", "Changes a task: an absent key keeps.")
                .takes(wire::UPDATE_TASK)
                .gives::<Task>(),
        )
        .delete(
            "/api/projects/{project_id}/tasks/{task_id}",
            delete_in,
            op("deleteTaskOfProject", "Removes a task; its worktrees go afterwards.").status(202),
        )
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

/// Follows a project's tasks: all of them, then what changes.
async fn follow(State(app): State<App>, query: Query, upgrade: Upgrade) -> Result<Response, Problem> {
    follow_tasks(app, query.required("project_id")?, upgrade).await
}

async fn follow_in(
    State(app): State<App>,
    Id(project): Id<ProjectId>,
    upgrade: Upgrade,
) -> Result<Response, Problem> {
    follow_tasks(app, project, upgrade).await
}

async fn follow_tasks(app: App, project: ProjectId, upgrade: Upgrade) -> Result<Response, Problem> {
    let tasks = Tasks(project);
    let all = tasks.whole(&app.engine).await?;
    let engine = app.engine.clone();
    upgrade.serve(&app, move |socket| compat::follow(socket, engine, tasks, all))
}

async fn one_in(State(app): State<App>, Ids(project, id): Ids<ProjectId, TaskId>) -> Reply<Task> {
    Ok(Envelope(app.engine.task_in(project, id).await?.into()))
}

async fn update_in(
    State(app): State<App>,
    Ids(project, id): Ids<ProjectId, TaskId>,
    fields: Fields,
) -> Reply<Task> {
    // A task never changes its project, so nothing can come between the two.
    app.engine.task_in(project, id).await?;
    Ok(Envelope(app.engine.update_task(id, fields.try_into()?).await?.into()))
}

async fn delete_in(
    State(app): State<App>,
    Ids(project, id): Ids<ProjectId, TaskId>,
) -> Result<(StatusCode, Envelope<()>), Problem> {
    app.engine.task_in(project, id).await?;
    app.engine.delete_task(id).await?;
    Ok((StatusCode::ACCEPTED, NOTHING))
}
