//! A copy of all data, as one archive.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use crate::api::{Api, op};
use crate::error::Problem;
use crate::state::App;

pub(super) fn api() -> Api {
    Api::new().get(
        "/api/backup",
        backup,
        op(
            "downloadBackup",
            "Gives a consistent copy of the data as a tar archive: database, settings, logs, images.",
        )
        .gives_bytes("application/x-tar"),
    )
}

/// The archive is made while it is sent; one that breaks off is told by a connection that does.
async fn backup(State(app): State<App>) -> Result<Response, Problem> {
    let backup = app.engine.backup().await?;
    let pieces = unfold(backup, |mut backup| async move { backup.next().await.map(|piece| (piece, backup)) });
    let headers = [
        (header::CONTENT_TYPE, "application/x-tar"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"forge-backup.tar\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}
