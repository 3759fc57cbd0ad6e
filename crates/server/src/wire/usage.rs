//! What was used, on the wire.

use forge_engine::{UsageBy, UsageOf, UsageSum};
use forge_model::Time;
use schemars::JsonSchema;
use serde::Serialize;

use crate::decode::{Query, names};
use crate::error::Problem;

/// What agents used, summed up under one key. What an agent does not tell is null, and not 0.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Usage {
    /// A day in UTC, an agent, the id of a project, a task or an attempt, or a process and its turn.
    key: String,
    turns: i64,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
    cache_creation_tokens: Option<i64>,
    cache_read_tokens: Option<i64>,
    /// Millionths of a US dollar.
    cost_micros: Option<i64>,
    last_at: Time,
}

impl From<UsageSum> for Usage {
    fn from(sum: UsageSum) -> Self {
        Self {
            key: sum.key,
            turns: sum.turns,
            input_tokens: sum.usage.input_tokens,
            output_tokens: sum.usage.output_tokens,
            cache_creation_tokens: sum.usage.cache_creation_tokens,
            cache_read_tokens: sum.usage.cache_read_tokens,
            cost_micros: sum.usage.cost_micros,
            last_at: sum.last_at,
        }
    }
}

/// Reads what to sum up.
pub(crate) fn usage_of(query: &Query) -> Result<UsageOf, Problem> {
    let by = match query.text(names::USAGE_BY)?.as_deref() {
        None | Some("day") => UsageBy::Day,
        Some("agent") => UsageBy::Agent,
        Some("project") => UsageBy::Project,
        Some("task") => UsageBy::Task,
        Some("attempt") => UsageBy::Attempt,
        Some("turn") => UsageBy::Turn,
        Some(text) => {
            let message = format!(
                "the query parameter `by` must be day, agent, project, task, attempt or turn, not {text:?}"
            );
            return Err(Problem::bad_request(message));
        }
    };
    Ok(UsageOf {
        project: query.optional(names::PROJECT_ID.name)?,
        task: query.optional(names::TASK_ID.name)?,
        attempt: query.optional(names::TASK_ATTEMPT_ID.name)?,
        since: None,
        by,
    })
}
