//! The sounds that tell a person that something waits for them.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::api::{Api, op};
use crate::decode::Id;
use crate::error::Problem;
use crate::state::App;

pub(super) fn api() -> Api {
    Api::new().get(
        "/api/sounds/{sound}",
        sound,
        op("getSound", "Returns a sound by its name in the settings.").gives_bytes("audio/wav"),
    )
}

/// Sends a sound, which is the same for as long as this version runs.
async fn sound(State(app): State<App>, Id(name): Id<String>) -> Result<Response, Problem> {
    let file = app.engine.sound(&name)?;
    let headers = [(header::CONTENT_TYPE, "audio/wav"), (header::CACHE_CONTROL, "private, max-age=86400")];
    Ok((headers, file).into_response())
}
