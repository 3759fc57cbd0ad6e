//! A task on the wire, alone and with what its attempts say about it.

use forge_engine::{NewTask, TaskChange, TaskPlace, TaskView};
use forge_model::{AttemptId, ProjectId, RunId, TaskId, TaskStatus, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Task {
    id: TaskId,
    project_id: ProjectId,
    title: String,
    description: Option<String>,
    status: TaskStatus,
    parent_task_attempt: Option<AttemptId>,
    dev_server_id: Option<RunId>,
    created_at: Time,
    updated_at: Time,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskWithAttemptStatus {
    #[serde(flatten)]
    task: Task,
    has_in_progress_attempt: bool,
    has_merged_attempt: bool,
    last_attempt_failed: bool,
    executor: String,
    attempt_count: i64,
    // From here on, additions to the contract.
    /// Its place in the order by hand; lower is higher, and a new task stands above all others.
    position: i64,
    last_attempt_id: Option<AttemptId>,
}

impl From<forge_model::Task> for Task {
    fn from(task: forge_model::Task) -> Self {
        Self {
            id: task.id,
            project_id: task.project,
            title: task.title,
            description: task.description,
            status: task.status,
            parent_task_attempt: task.parent,
            dev_server_id: task.dev_server,
            created_at: task.created_at,
            updated_at: task.updated_at,
        }
    }
}

impl From<TaskView> for Task {
    fn from(view: TaskView) -> Self {
        view.task.into()
    }
}

impl From<TaskView> for TaskWithAttemptStatus {
    fn from(view: TaskView) -> Self {
        Self {
            task: view.task.into(),
            has_in_progress_attempt: view.has_in_progress_attempt,
            has_merged_attempt: view.has_merged_attempt,
            last_attempt_failed: view.last_attempt_failed,
            executor: view.executor,
            attempt_count: view.attempt_count,
            position: view.position,
            last_attempt_id: view.last_attempt,
        }
    }
}

pub(crate) const CREATE_TASK: Body = Body::new(
    "CreateTask",
    &[
        need(names::PROJECT_ID),
        need(names::TITLE),
        may(names::DESCRIPTION),
        may(names::PARENT_TASK_ATTEMPT),
        may(names::IMAGE_IDS),
    ],
);

/// The path names the project, and the body need not.
pub(crate) const CREATE_TASK_IN: Body = Body::new(
    "CreateTaskInProject",
    &[
        may(names::PROJECT_ID),
        need(names::TITLE),
        may(names::DESCRIPTION),
        may(names::PARENT_TASK_ATTEMPT),
        may(names::IMAGE_IDS),
    ],
);

pub(crate) const UPDATE_TASK: Body = Body::new(
    "UpdateTask",
    &[
        may(names::TITLE),
        may(names::DESCRIPTION),
        may(names::TASK_STATUS),
        may(names::PARENT_TASK_ATTEMPT),
        may(names::IMAGE_IDS),
        may(names::TASK_POSITION),
    ],
);

/// Reads a task to add; `project` is the one the path names, which counts when the body names none.
pub(crate) fn new_task(fields: &Fields, project: Option<ProjectId>) -> Result<NewTask, Problem> {
    Ok(NewTask {
        project: match fields.optional_id(names::PROJECT_ID)?.or(project) {
            Some(project) => project,
            None => fields.id(names::PROJECT_ID)?,
        },
        title: fields.line(names::TITLE)?,
        description: fields.filled_text(names::DESCRIPTION)?,
        parent: fields.optional_id(names::PARENT_TASK_ATTEMPT)?,
        images: fields.ids(names::IMAGE_IDS)?.unwrap_or_default(),
    })
}

impl TryFrom<Fields> for TaskChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let status = match fields.optional_text(names::TASK_STATUS)? {
            None => None,
            Some(text) => match TaskStatus::read(&text) {
                Ok(status) => Some(status),
                Err(error) => {
                    return Err(fields.refuse(names::TASK_STATUS, &format!("cannot be this: {error}")));
                }
            },
        };
        Ok(TaskChange {
            title: fields.optional_line(names::TITLE)?,
            description: fields.optional_text(names::DESCRIPTION)?,
            status,
            parent: fields.optional_id(names::PARENT_TASK_ATTEMPT)?,
            images: fields.ids(names::IMAGE_IDS)?,
            place: place(&fields)?,
        })
    }
}

/// Reads where a task is to stand; none leaves it where it is.
fn place(fields: &Fields) -> Result<Option<TaskPlace>, Problem> {
    if fields.value(names::TASK_POSITION).is_null() {
        return Ok(None);
    }
    let place = fields.object(names::TASK_POSITION)?;
    if !place.has(names::BEFORE_TASK) {
        return Err(place.refuse(names::BEFORE_TASK, "must be the id of a task, or null for the end"));
    }
    Ok(Some(place.optional_id(names::BEFORE_TASK)?.map_or(TaskPlace::Last, TaskPlace::Above)))
}
