//! The person's settings and profiles, and what a client asks first.

use axum::extract::State;

use crate::api::{Api, Body, op};
use crate::decode::{Fields, Text};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{Config, ProfilesContent, UserSystemInfo, config_not_saved, profiles_not_saved};

/// Any part of the settings; the engine knows their keys.
const CONFIG_CHANGE: Body = Body::new("ConfigChange", &[]);

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/info",
            info,
            op("getSystemInfo", "Returns what a client asks first: settings, agents, the machine.")
                .gives::<UserSystemInfo>(),
        )
        .get(
            "/api/config",
            config,
            op("getConfig", "Returns the settings, secrets masked.").gives::<Config>(),
        )
        .put(
            "/api/config",
            change_config,
            op(
                "updateConfig",
                "Lays the given keys over the settings; the mask in place of a secret keeps it.",
            )
            .takes(CONFIG_CHANGE)
            .gives::<Config>()
            .refuses_with_200(),
        )
        .get(
            "/api/profiles",
            profiles,
            op("getProfiles", "Returns the agents' profiles as JSON text, and where they are kept.")
                .gives::<ProfilesContent>(),
        )
        .put(
            "/api/profiles",
            replace_profiles,
            op("updateProfiles", "Replaces all profiles.").takes_text().gives::<String>().refuses_with_200(),
        )
}

async fn info(State(app): State<App>) -> Reply<UserSystemInfo> {
    Ok(Envelope(app.engine.info().await?.into()))
}

/// Shows the settings, secrets masked.
async fn config(State(app): State<App>) -> Reply<Config> {
    Ok(Envelope(Config(app.engine.config().await?)))
}

/// Lays the given keys over the settings; the mask in place of a secret keeps it.
async fn change_config(State(app): State<App>, fields: Fields) -> Reply<Config> {
    let config = app.engine.change_config(fields.try_into()?).await.map_err(config_not_saved)?;
    Ok(Envelope(Config(config)))
}

async fn profiles(State(app): State<App>) -> Reply<ProfilesContent> {
    Ok(Envelope(app.engine.profiles_file().await?.into()))
}

/// Replaces all profiles, given as JSON text.
async fn replace_profiles(State(app): State<App>, text: Text) -> Reply<&'static str> {
    app.engine.replace_profiles(text.try_into()?).await.map_err(profiles_not_saved)?;
    Ok(Envelope("Executor profiles updated successfully"))
}
