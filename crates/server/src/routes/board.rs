//! The board: one answer with everything that it draws first.

use axum::extract::State;

use crate::api::{Api, op};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::Board;

pub(super) fn api() -> Api {
    Api::new().get(
        "/api/board",
        show,
        op("getBoard", "Returns all projects, tasks, attempts and open approvals at one position.")
            .gives::<Board>(),
    )
}

async fn show(State(app): State<App>) -> Reply<Board> {
    Ok(Envelope(app.engine.board().await?.into()))
}
