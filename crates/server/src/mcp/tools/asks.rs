//! What agents ask and wait for, and what they are told next, as tools.

use forge_engine::{AskFilter, FollowUp};
use forge_model::{Answer, AskId, AttemptId};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::call::Call;
use super::super::names::{ASK_ID, ATTEMPT_ID, LIMIT, MESSAGE};
use super::super::tool::{Tool, changes, may, need, reads};
use crate::decode::names::{ANSWER_SCOPE, ANSWERS, APPROVED, ASK_STATE, PROJECT_ID, REASON, TEXT, VARIANT};
use crate::error::Problem;
use crate::wire::{self, Approval, FollowUpProcess, QueuedFollowUp};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        reads(
            "list_asks",
            "List asks",
            "Lists what agents ask: permissions, questions and plans that wait for an answer, or those of another state.",
        )
        .takes(&[
            may(ATTEMPT_ID, "Only those of this attempt."),
            may(PROJECT_ID, "Only those in this project."),
            may(ASK_STATE, "open, approved, denied, cancelled or expired; open unless said."),
            may(LIMIT, "How many at most."),
        ])
        .does(list),
        changes(
            "answer_ask",
            "Answer ask",
            "Answers what an agent waits for, once: approves or denies it, with words where it asks in words.",
        )
        .takes(&[
            need(ASK_ID, "The ask; `list_asks` tells."),
            need(APPROVED, "True allows, agrees or answers; false denies."),
            may(TEXT, "The answer in words."),
            may(REASON, "Why it is denied; the agent reads it."),
            may(ANSWERS, "The answers to several questions, by question."),
            may(ANSWER_SCOPE, "once, or session to allow the like of it from now on."),
        ])
        .does(answer),
        changes(
            "queue_follow_up",
            "Queue follow-up",
            "Lets something wait for the end of an agent's turn, and tells it then; at once when the agent is at rest.",
        )
        .takes(&[
            need(ATTEMPT_ID, "The attempt."),
            need(MESSAGE, "What the agent is told."),
            may(VARIANT, "Another variant of the agent's settings."),
        ])
        .does(queue),
        reads("list_queue", "List queue", "Lists what waits for the end of an agent's turn, first what is told first.")
            .takes(&[need(ATTEMPT_ID, "The attempt.")])
            .does(queued),
    ]
}

#[derive(Debug, Serialize, JsonSchema)]
struct Asks {
    asks: Vec<Approval>,
    count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Answered {
    success: bool,
    ask: Approval,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Told {
    success: bool,
    attempt_id: AttemptId,
    process: FollowUpProcess,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Queue {
    queue: Vec<QueuedFollowUp>,
    count: usize,
}

async fn list(call: Call) -> Result<Asks, Problem> {
    let filter = AskFilter {
        attempt: call.fields.optional_id(ATTEMPT_ID)?,
        project: call.fields.optional_id(PROJECT_ID)?,
        state: Some(call.fields.one_of(ASK_STATE)?.unwrap_or(forge_model::AskState::Open)),
        limit: call.fields.number(LIMIT)?.map(|limit| limit.max(0)),
    };
    let asks: Vec<Approval> = wire::list(call.app.engine.asks(filter).await?);
    Ok(Asks { count: asks.len(), asks })
}

async fn answer(call: Call) -> Result<Answered, Problem> {
    let id: AskId = call.id(ASK_ID)?;
    let by = call.who();
    if call.fields.flag(APPROVED)?.is_none() {
        return Err(call.fields.refuse(APPROVED, "must be true or false"));
    }
    let answer = Answer::try_from(call.fields)?;
    let ask = call.app.engine.answer(id, answer, &by).await?;
    Ok(Answered { success: true, ask: ask.into() })
}

async fn queue(call: Call) -> Result<Told, Problem> {
    let attempt_id = call.attempt()?;
    let follow =
        FollowUp { variant: call.fields.variant(VARIANT)?, ..FollowUp::new(call.fields.text(MESSAGE)?) };
    let process = call.app.engine.tell_after_turn(attempt_id, follow).await?.into();
    Ok(Told { success: true, attempt_id, process })
}

async fn queued(call: Call) -> Result<Queue, Problem> {
    let queue = wire::queue(call.app.engine.queue(call.attempt()?).await?);
    Ok(Queue { count: queue.len(), queue })
}
