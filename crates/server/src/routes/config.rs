//! The person's settings and profiles, and what a client asks first.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde_json::Value;

use crate::decode::{Fields, Text};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{ProfilesContent, UserSystemInfo, config_not_saved, profiles_not_saved};

pub(super) fn router() -> Router<App> {
    Router::new()
        .route("/api/info", get(info))
        .route("/api/config", get(config).put(change_config))
        .route("/api/profiles", get(profiles).put(replace_profiles))
}

async fn info(State(app): State<App>) -> Reply<UserSystemInfo> {
    Ok(Envelope(app.engine.info().await?.into()))
}

/// Shows the settings, secrets masked.
async fn config(State(app): State<App>) -> Reply<Value> {
    Ok(Envelope(app.engine.config().await?))
}

/// Lays the given keys over the settings; the mask in place of a secret keeps it.
async fn change_config(State(app): State<App>, fields: Fields) -> Reply<Value> {
    Ok(Envelope(app.engine.change_config(fields.try_into()?).await.map_err(config_not_saved)?))
}

async fn profiles(State(app): State<App>) -> Reply<ProfilesContent> {
    Ok(Envelope(app.engine.profiles_file().await?.into()))
}

/// Replaces all profiles, given as JSON text.
async fn replace_profiles(State(app): State<App>, text: Text) -> Reply<&'static str> {
    app.engine.replace_profiles(text.try_into()?).await.map_err(profiles_not_saved)?;
    Ok(Envelope("Executor profiles updated successfully"))
}
