//! Changes as JSON Patch operations on the document that event streams describe.

use forge_engine::{Change, Changed};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Approval, Draft, ExecutionProcess, ExecutionRun, Project, TaskAttempt, TaskWithAttemptStatus};

/// The operations of one batch of changes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Patch(Vec<PatchOp<Thing>>);

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PatchOp{T}")]
pub(crate) struct PatchOp<T> {
    op: &'static str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<T>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Thing {
    Project(Project),
    Task(TaskWithAttemptStatus),
    Attempt(Box<TaskAttempt>),
    Loose(Box<ExecutionRun>),
    Run(Box<ExecutionProcess>),
    Ask(Box<Approval>),
    Draft(Box<Draft>),
}

impl<T> PatchOp<T> {
    pub(crate) fn add(path: String, value: T) -> Self {
        Self { op: "add", path, value: Some(value) }
    }

    pub(crate) fn replace(path: String, value: T) -> Self {
        Self { op: "replace", path, value: Some(value) }
    }

    pub(crate) fn remove(path: String) -> Self {
        Self { op: "remove", path, value: None }
    }

    fn change(path: String, added: bool, value: Option<T>) -> Self {
        let op = match (&value, added) {
            (None, _) => "remove",
            (Some(_), true) => "add",
            (Some(_), false) => "replace",
        };
        Self { op, path, value }
    }
}

impl<'a> FromIterator<&'a Changed> for Patch {
    fn from_iter<I: IntoIterator<Item = &'a Changed>>(changes: I) -> Self {
        Patch(changes.into_iter().map(|changed| changed.change.clone().into()).collect())
    }
}

impl From<Change> for PatchOp<Thing> {
    fn from(change: Change) -> Self {
        match change {
            Change::Project { id, added, value } => {
                PatchOp::change(format!("/projects/{id}"), added, value.map(|it| Thing::Project(it.into())))
            }
            Change::Task { id, added, value } => {
                PatchOp::change(format!("/tasks/{id}"), added, value.map(|it| Thing::Task(it.into())))
            }
            Change::Attempt { id, added, loose: true, value } => {
                let value = value.map(|it| Thing::Loose(Box::new(it.into())));
                PatchOp::change(format!("/execution_runs/{id}"), added, value)
            }
            Change::Attempt { id, added, loose: false, value } => {
                let value = value.map(|it| Thing::Attempt(Box::new(it.into())));
                PatchOp::change(format!("/task_attempts/{id}"), added, value)
            }
            Change::Run { id, added, value } => {
                let value = value.map(|it| Thing::Run(Box::new(it.into())));
                PatchOp::change(format!("/execution_processes/{id}"), added, value)
            }
            Change::Ask { id, added, value } => {
                let value = value.map(|it| Thing::Ask(Box::new(it.into())));
                PatchOp::change(format!("/approvals/{id}"), added, value)
            }
            Change::Draft { attempt, kind, added, value } => {
                let value = value.map(|it| Thing::Draft(Box::new(it.into())));
                PatchOp::change(format!("/drafts/{attempt}/{kind}"), added, value)
            }
        }
    }
}
