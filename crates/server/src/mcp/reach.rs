//! What an agent's token reaches among the tools: its own task, subtasks that it makes, and attempts at those.
//!
//! Everything is shut unless a tool says otherwise, and all of it while the switch of the agent's profile is off.
//! Against a runaway agent subtasks are bounded in depth here, and in number by the engine, which counts them in the
//! transaction that adds one.

use axum::http::StatusCode;
use forge_engine::Engine;
use forge_model::{AttemptId, ProjectId, TaskId};
use serde_json::{Map, Value, json};

use super::names::{ATTEMPT_ID, PARENT};
use crate::access::Caller;
use crate::decode::Fields;
use crate::decode::names::{Name, PARENT_TASK_ATTEMPT, PROJECT_ID, TASK, TASK_ID};
use crate::error::Problem;

/// How deep subtasks may lie in one another.
const DEEPEST: usize = 3;

/// What an agent's token reaches of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing: the tool is the person's alone.
    Person,
    /// A task: its own, or a subtask.
    Task,
    /// A subtask.
    Subtask,
    /// A subtask that is to be made.
    NewSubtask,
    /// An attempt: itself, or one at a subtask.
    Attempt,
}

/// Says whether a caller is to hear of a tool at all.
pub(super) async fn hears_of(engine: &Engine, caller: Caller, reach: Reach) -> bool {
    match caller {
        Caller::Owner => true,
        Caller::Attempt(own) => reach != Reach::Person && engine.has_forge_tools(own).await.unwrap_or(false),
    }
}

/// What a caller need not say, because it is known of it.
pub(super) fn known(caller: Caller, reach: Reach) -> &'static [Name] {
    match (caller, reach) {
        (Caller::Attempt(_), Reach::NewSubtask) => &[PROJECT_ID, PARENT],
        (Caller::Attempt(_), Reach::Task) => &[TASK_ID],
        _ => &[],
    }
}

/// Narrows the arguments of a call to what its caller reaches, or refuses it.
pub(super) async fn narrowed(
    engine: &Engine,
    caller: Caller,
    reach: Reach,
    fields: Fields,
) -> Result<Fields, Problem> {
    let Caller::Attempt(own) = caller else { return Ok(fields) };
    if !hears_of(engine, caller, reach).await {
        return Err(refusal());
    }
    match reach {
        Reach::Person => Err(refusal()),
        Reach::Task => match fields.optional_id(TASK_ID)? {
            None => own_task(engine, own, fields).await,
            Some(task) if is_task_of(engine, own, task).await => Ok(fields),
            Some(_) => Err(refusal()),
        },
        Reach::Subtask => match is_subtask(engine, own, fields.id(TASK_ID)?).await {
            true => Ok(fields),
            false => Err(refusal()),
        },
        Reach::Attempt => match is_attempt_of(engine, own, fields.id(ATTEMPT_ID)?).await {
            true => Ok(fields),
            false => Err(refusal()),
        },
        Reach::NewSubtask => new_subtask(engine, own, fields).await,
    }
}

/// Says whether a task is an attempt's own, or a subtask of it.
pub(super) async fn is_task_of(engine: &Engine, own: AttemptId, task: TaskId) -> bool {
    let is_own = engine.attempt(own).await.is_ok_and(|view| view.attempt.task == Some(task));
    is_own || is_subtask(engine, own, task).await
}

/// Says whether an attempt is itself, or one at a subtask.
pub(super) async fn is_attempt_of(engine: &Engine, own: AttemptId, other: AttemptId) -> bool {
    if own == other {
        return true;
    }
    let task = engine.attempt(other).await.ok().and_then(|view| view.attempt.task);
    match task {
        Some(task) => is_subtask(engine, own, task).await,
        None => false,
    }
}

/// Says which task is meant by an attempt that names none: its own.
async fn own_task(engine: &Engine, own: AttemptId, fields: Fields) -> Result<Fields, Problem> {
    let mut map = fields.into_map();
    if let Some(task) = engine.attempt(own).await?.attempt.task {
        map.insert(TASK_ID.name.to_string(), json!(task));
    }
    Ok(Fields::new(map))
}

async fn is_subtask(engine: &Engine, own: AttemptId, task: TaskId) -> bool {
    engine.task(task).await.is_ok_and(|view| view.task.parent == Some(own))
}

/// Puts a new subtask below the attempt that makes it, in its own project.
async fn new_subtask(engine: &Engine, own: AttemptId, fields: Fields) -> Result<Fields, Problem> {
    let project = engine.attempt(own).await?.attempt.project;
    if depth(engine, own).await? >= DEEPEST {
        let message =
            format!("subtasks lie at most {DEEPEST} deep in one another, and attempt {own} is that deep");
        return Err(Problem::new(StatusCode::CONFLICT, message));
    }
    let nested = match fields.value(TASK) {
        Value::Object(_) => Some(fields.object(TASK)?),
        _ => None,
    };
    for named in std::iter::once(&fields).chain(&nested) {
        let elsewhere = named.optional_id::<ProjectId>(PROJECT_ID)?.is_some_and(|named| named != project);
        let mut parents = Vec::new();
        for name in [PARENT_TASK_ATTEMPT, PARENT] {
            parents.extend(named.optional_id::<AttemptId>(name)?);
        }
        if elsewhere || parents.iter().any(|parent| *parent != own) {
            return Err(refusal());
        }
    }
    let placed = |fields: Fields| -> Map<String, Value> {
        let mut map = fields.into_map();
        map.insert(PROJECT_ID.name.to_string(), json!(project));
        map.insert(PARENT_TASK_ATTEMPT.name.to_string(), json!(own));
        map
    };
    let nested = nested.map(placed);
    let mut map = placed(fields);
    if let Some(nested) = nested {
        map.insert(TASK.name.to_string(), Value::Object(nested));
    }
    Ok(Fields::new(map))
}

/// Returns how many attempts there are above one.
async fn depth(engine: &Engine, own: AttemptId) -> Result<usize, Problem> {
    let (mut depth, mut at) = (0, own);
    while depth < DEEPEST {
        let above = engine.attempt(at).await?.task.and_then(|task| task.parent);
        let Some(above) = above else { break };
        (depth, at) = (depth + 1, above);
    }
    Ok(depth)
}

/// The same for what is another's and what is not there, so that nothing is learned from it.
pub(super) fn refusal() -> Problem {
    let message =
        "the token of an attempt reaches its own task, subtasks that it makes and attempts at those";
    Problem::new(StatusCode::FORBIDDEN, message)
}
