//! The routes, one file per noun. A route decodes, calls one verb, and encodes.

mod approvals;
mod attempts;
mod config;
mod events;
mod health;
mod processes;
mod projects;
mod session;
mod tags;
mod tasks;
mod templates;

use axum::Router;

use crate::state::App;

/// Every route there is.
pub(crate) fn all() -> Router<App> {
    Router::new()
        .merge(health::router())
        .merge(session::router())
        .merge(config::router())
        .merge(projects::router())
        .merge(tasks::router())
        .merge(attempts::router())
        .merge(tags::router())
        .merge(templates::router())
        .merge(processes::router())
        .merge(approvals::router())
        .merge(events::router())
}
