//! Tasks, as tools.

use forge_engine::{NewTask, StartTask, Started, TaskChange, TaskView};
use forge_model::{AttemptId, Manner, ProfileId, ProjectId, TaskId, TaskStatus, Time};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::super::call::Call;
use super::super::names::{BASE_BRANCH, LIMIT, PARENT, STATUS};
use super::super::reach::Reach;
use super::super::tool::{Tool, changes, destroys, may, need, reads};
use crate::access::Caller;
use crate::decode::Fields;
use crate::decode::names::{
    self, DESCRIPTION, EXECUTOR, PARENT_TASK_ATTEMPT, PROJECT_ID, PROMPT, TASK, TASK_ID, TITLE, VARIANT,
};
use crate::error::Problem;
use crate::wire;

/// How many tasks are listed unless somebody says.
const SOME: i64 = 50;

/// What a model is told about statuses.
const STATUSES: &str = "todo, in-progress, in-review, done, cancelled, agent or archived; `inprogress` and `inreview` are \
                        understood as well.";

const START_ABOUT: &str = "Creates a task and starts an agent on it in a worktree of its own, in one step. The agent runs when \
                           this answers; `attempt_id` is what other tools know it by.";

pub(super) fn tools() -> Vec<Tool> {
    vec![
        changes("create_task", "Create task", "Adds a task to a project, without starting anything.")
            .takes(&[
                need(PROJECT_ID, "The project it belongs to."),
                need(TITLE, "What is wanted, in a line."),
                may(DESCRIPTION, "What is wanted, at length: the agent reads it."),
                may(PARENT_TASK_ATTEMPT, "The attempt that it grows out of."),
            ])
            .reached(Reach::NewSubtask)
            .does(create),
        reads(
            "list_tasks",
            "List tasks",
            "Lists tasks, newest first, with what their attempts say about them: those of a project, or of all.",
        )
        .takes(&[
            may(PROJECT_ID, "Only tasks of this project."),
            may(STATUS, STATUSES),
            may(LIMIT, "How many at most; 50 unless said."),
        ])
        .does(list),
        reads("get_task", "Get task", "Returns a task with its description.")
            .takes(&[need(TASK_ID, "The task.")])
            .reached(Reach::Task)
            .does(one),
        changes("update_task", "Update task", "Changes a task: what is absent stays as it is.")
            .takes(&[
                need(TASK_ID, "The task."),
                may(TITLE, "The new title."),
                may(DESCRIPTION, "The new description; blank clears it."),
                may(STATUS, STATUSES),
            ])
            .idempotent()
            .does(update),
        destroys(
            "delete_task",
            "Delete task",
            "Removes a task and its attempts, with their worktrees; `forge recover` brings them back.",
        )
        .takes(&[need(TASK_ID, "The task.")])
        .does(delete),
        changes("create_and_start_task", "Create and start task", START_ABOUT)
            .takes(&[
                need(PROJECT_ID, "The project it belongs to."),
                need(TASK, "What is wanted: a title, and perhaps a description."),
                need(EXECUTOR, "The agent, as CLAUDE_CODE or CODEX; `list_agents` tells which are here."),
                may(VARIANT, "A variant of the agent's settings."),
                may(names::BASE_BRANCH, "The branch to start from; the project's own default without."),
            ])
            .reached(Reach::NewSubtask)
            .does(create_and_start),
        changes("create_task_and_start", "Create task and start", START_ABOUT)
            .takes(&[
                need(PROJECT_ID, "The project it belongs to."),
                need(TITLE, "What is wanted, in a line."),
                need(EXECUTOR, "The agent, as CLAUDE_CODE or CODEX; `list_agents` tells which are here."),
                need(BASE_BRANCH, "The branch to start from."),
                may(DESCRIPTION, "What is wanted, at length: the agent reads it."),
                may(VARIANT, "A variant of the agent's settings."),
                may(PARENT_TASK_ATTEMPT, "The attempt that it grows out of."),
            ])
            .advanced()
            .reached(Reach::NewSubtask)
            .does(create_flat_and_start),
        changes(
            "create_subtask",
            "Create subtask",
            "Creates a task below an attempt, in its project, and starts an agent on it, from the branch that the attempt \
             is to land on.",
        )
        .takes(&[
            need(PARENT, "The attempt above it."),
            need(TITLE, "What is wanted, in a line."),
            need(PROMPT, "What the agent is told."),
            may(EXECUTOR, "The agent, as CODEX or CODEX:HIGH; without, the one of the attempt above."),
        ])
        .reached(Reach::NewSubtask)
        .does(create_subtask),
    ]
}

#[derive(Debug, Serialize, JsonSchema)]
struct CreatedTask {
    task_id: TaskId,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tasks {
    tasks: Vec<TaskSummary>,
    count: usize,
    project_id: Option<ProjectId>,
    applied_filters: AppliedFilters,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AppliedFilters {
    status: Option<String>,
    limit: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TaskSummary {
    id: TaskId,
    /// There when tasks of several projects are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<ProjectId>,
    title: String,
    status: &'static str,
    created_at: Time,
    updated_at: Time,
    has_in_progress_attempt: bool,
    has_merged_attempt: bool,
    last_attempt_failed: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OneTask {
    task: TaskDetails,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TaskDetails {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_task_attempt: Option<AttemptId>,
    /// Its newest attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_attempt_id: Option<AttemptId>,
    #[serde(flatten)]
    summary: TaskSummary,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DeletedTask {
    deleted_task_id: TaskId,
}

/// A task that was created and started: the task itself, and the attempt under every key a client looks for it.
#[derive(Debug, Serialize, JsonSchema)]
struct StartedTask {
    #[serde(flatten)]
    task: TaskDetails,
    task_id: TaskId,
    attempt_id: AttemptId,
    branch: String,
    worktree_path: Option<String>,
    executor: String,
}

impl From<Started> for StartedTask {
    fn from(started: Started) -> Self {
        let attempt = started.attempt.attempt;
        // While a limit holds an attempt back there is no worktree yet.
        let exists = attempt.state != forge_model::AttemptState::Queued;
        Self {
            task_id: started.task.task.id,
            attempt_id: attempt.id,
            branch: attempt.branch,
            worktree_path: exists.then(|| attempt.worktree.to_string_lossy().into_owned()),
            executor: attempt.profile.to_string(),
            task: started.task.into(),
        }
    }
}

impl From<TaskView> for TaskSummary {
    fn from(view: TaskView) -> Self {
        Self {
            id: view.task.id,
            project_id: Some(view.task.project),
            title: view.task.title,
            status: kebab(view.task.status),
            created_at: view.task.created_at,
            updated_at: view.task.updated_at,
            has_in_progress_attempt: view.has_in_progress_attempt,
            has_merged_attempt: view.has_merged_attempt,
            last_attempt_failed: view.last_attempt_failed,
        }
    }
}

impl From<TaskView> for TaskDetails {
    fn from(view: TaskView) -> Self {
        Self {
            description: view.task.description.clone(),
            parent_task_attempt: view.task.parent,
            last_attempt_id: view.last_attempt,
            summary: view.into(),
        }
    }
}

/// The spelling that tools have always given, which is not that of the routes.
fn kebab(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::InProgress => "in-progress",
        TaskStatus::InReview => "in-review",
        other => other.as_str(),
    }
}

async fn create(call: Call) -> Result<CreatedTask, Problem> {
    let new = wire::new_task(&call.fields, None)?;
    let engine = &call.app.engine;
    let made = match call.caller {
        Caller::Owner => engine.create_task(new).await?,
        Caller::Attempt(own) => engine.create_subtask(own, new).await?,
    };
    Ok(CreatedTask { task_id: made.task.id })
}

async fn list(call: Call) -> Result<Tasks, Problem> {
    let project_id = call.fields.optional_id(PROJECT_ID)?;
    let status = status(&call.fields)?;
    let limit = call.fields.number(LIMIT)?.unwrap_or(SOME).max(0);
    let mut tasks = match project_id {
        Some(project) => call.app.engine.tasks(project).await?,
        None => call.app.engine.all_tasks().await?,
    };
    tasks.retain(|view| status.is_none_or(|status| view.task.status == status));
    tasks.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let tasks: Vec<TaskSummary> = tasks
        .into_iter()
        .map(|view| TaskSummary {
            project_id: project_id.is_none().then_some(view.task.project),
            ..TaskSummary::from(view)
        })
        .collect();
    let applied_filters = AppliedFilters { status: status.map(|status| kebab(status).to_string()), limit };
    Ok(Tasks { count: tasks.len(), tasks, project_id, applied_filters })
}

async fn one(call: Call) -> Result<OneTask, Problem> {
    let view = call.app.engine.task(call.id(TASK_ID)?).await?;
    Ok(OneTask { task: view.into() })
}

async fn update(call: Call) -> Result<OneTask, Problem> {
    let id = call.id(TASK_ID)?;
    status(&call.fields)?;
    let view = call.app.engine.update_task(id, TaskChange::try_from(call.fields)?).await?;
    Ok(OneTask { task: view.into() })
}

async fn delete(call: Call) -> Result<DeletedTask, Problem> {
    let id = call.id(TASK_ID)?;
    call.app.engine.delete_task(id).await?;
    Ok(DeletedTask { deleted_task_id: id })
}

async fn create_and_start(call: Call) -> Result<StartedTask, Problem> {
    let task = call.fields.object(TASK)?;
    let project = match task.optional_id(PROJECT_ID)? {
        Some(project) => project,
        // It is missed where the tool takes it, not inside the task.
        None => call.fields.id(PROJECT_ID)?,
    };
    start(&call, wire::new_task(&task, Some(project))?).await
}

async fn create_flat_and_start(call: Call) -> Result<StartedTask, Problem> {
    call.fields.line(BASE_BRANCH)?;
    start(&call, wire::new_task(&call.fields, None)?).await
}

async fn create_subtask(call: Call) -> Result<StartedTask, Problem> {
    let parent = call.id(PARENT)?;
    let (title, prompt) = (call.fields.line(TITLE)?, call.fields.text(PROMPT)?);
    let above = call.app.engine.attempt(parent).await?.attempt;
    let task = NewTask {
        project: above.project,
        title,
        description: Some(prompt),
        parent: Some(parent),
        images: Vec::new(),
    };
    let profile = match call.fields.filled_text(EXECUTOR)? {
        Some(_) => call.profile()?,
        None => above.profile,
    };
    started(&call, task, profile, Some(above.target_branch)).await
}

async fn start(call: &Call, task: NewTask) -> Result<StartedTask, Problem> {
    started(call, task, call.profile()?, call.fields.optional_line(BASE_BRANCH)?).await
}

async fn started(
    call: &Call,
    task: NewTask,
    profile: ProfileId,
    base_branch: Option<String>,
) -> Result<StartedTask, Problem> {
    let start = StartTask { task, profile, base_branch, use_worktree: true, manner: Manner::default() };
    let engine = &call.app.engine;
    let started = match call.caller {
        Caller::Owner => engine.create_and_start(start, None).await?,
        Caller::Attempt(own) => engine.create_and_start_subtask(own, start, None).await?,
    };
    Ok(started.into())
}

/// Reads a status in either spelling; what is none is told with the text that was given.
fn status(fields: &Fields) -> Result<Option<TaskStatus>, Problem> {
    let Some(text) = fields.filled_text(STATUS)? else { return Ok(None) };
    let known = TaskStatus::ALL.iter().map(|status| kebab(*status)).collect::<Vec<_>>().join("`, `");
    TaskStatus::read(text.trim())
        .map(Some)
        .map_err(|_| fields.refuse(STATUS, &format!("must be one of `{known}`")).with_error_data(json!(text)))
}
