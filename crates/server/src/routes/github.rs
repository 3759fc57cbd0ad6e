//! Logging in at GitHub, and whether the stored token is good.

use axum::extract::State;

use crate::api::{Api, op};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{CheckTokenResponse, DeviceFlowStart, DevicePollStatus};

pub(super) fn api() -> Api {
    Api::new()
        .post(
            "/api/auth/github/device/start",
            start,
            op(
                "startGithubLogin",
                "Starts a login at GitHub: a code to type there. An earlier one is given up.",
            )
            .gives::<DeviceFlowStart>(),
        )
        .post(
            "/api/auth/github/device/poll",
            poll,
            op("pollGithubLogin", "Asks how far the login is; once it is confirmed, its token is stored.")
                .gives::<DevicePollStatus>(),
        )
        .get(
            "/api/auth/github/check",
            check,
            op("checkGithubToken", "Says whether the stored token is good. Without one, nobody is asked.")
                .gives::<CheckTokenResponse>(),
        )
}

async fn start(State(app): State<App>) -> Reply<DeviceFlowStart> {
    Ok(Envelope(app.engine.start_github_login().await?.into()))
}

/// Older clients send the device code, which never left the server; a body is not looked at.
async fn poll(State(app): State<App>) -> Reply<DevicePollStatus> {
    Ok(Envelope(app.engine.poll_github_login().await?.into()))
}

async fn check(State(app): State<App>) -> Reply<CheckTokenResponse> {
    Ok(Envelope(app.engine.github_token_is_good().await?.into()))
}
