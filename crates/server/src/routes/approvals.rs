//! Asks, which the wire calls approvals: what agents wait for, and what people answer.

use axum::extract::State;
use forge_engine::NewAsk;
use forge_model::AskId;

use crate::access::Answerer;
use crate::api::{Api, may, op};
use crate::decode::{Fields, Id, Query, names};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{self, Approval, CreatedApproval, Responded};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/approvals",
            list,
            op("listApprovals", "Lists what agents asked, newest first: who answered what, and when.")
                .query(may(names::TASK_ATTEMPT_ID))
                .query(may(names::PROJECT_ID))
                .query(may(names::ASK_STATE))
                .query(may(names::LIMIT))
                .gives::<Vec<Approval>>(),
        )
        .get(
            "/api/approvals/pending",
            pending,
            op("listPendingApprovals", "Lists what agents wait for.").gives::<Vec<Approval>>(),
        )
        .post(
            "/api/approvals/create",
            create,
            op("createApproval", "Asks on behalf of a program beside a running agent, found by its session.")
                .takes(wire::CREATE_APPROVAL)
                .gives::<CreatedApproval>(),
        )
        .post(
            "/api/approvals/{ask_id}/respond",
            respond,
            op("respondToApproval", "Answers what an agent waits for, once.")
                .takes(wire::RESPOND)
                .gives_bare::<Responded>(),
        )
        .get(
            "/api/approvals/{ask_id}/status",
            status,
            op("getApprovalStatus", "Tells whether an ask was answered, and how.").gives_bare::<Responded>(),
        )
}

/// Lists what agents asked, answered or not.
async fn list(State(app): State<App>, query: Query) -> Reply<Vec<Approval>> {
    Ok(Envelope(wire::list(app.engine.asks(wire::ask_filter(&query)?).await?)))
}

/// Lists what agents wait for.
async fn pending(State(app): State<App>) -> Reply<Vec<Approval>> {
    Ok(Envelope(wire::list(app.engine.open_asks().await?)))
}

/// Answers an ask, once.
async fn respond(
    State(app): State<App>,
    Id(id): Id<AskId>,
    by: Answerer,
    fields: Fields,
) -> Result<Responded, Problem> {
    let run = wire::run_of_answer(&fields)?;
    Ok(app.engine.answer_in(run, id, fields.try_into()?, &by.0).await?.into())
}

/// Asks on behalf of a program beside a running agent, which then asks for the status until there is one.
async fn create(State(app): State<App>, fields: Fields) -> Reply<CreatedApproval> {
    let asked = NewAsk::try_from(fields)?;
    let ask = app.engine.ask_beside(asked.clone()).await?;
    Ok(Envelope(CreatedApproval::new(asked, ask)))
}

async fn status(State(app): State<App>, Id(id): Id<AskId>) -> Result<Responded, Problem> {
    Ok(app.engine.ask(id).await?.into())
}
