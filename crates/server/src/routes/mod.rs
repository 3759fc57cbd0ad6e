//! The routes, one file per noun. A route decodes, calls one verb, and encodes.

mod about;
mod approvals;
mod attempts;
mod backup;
mod board;
mod comments;
mod config;
mod containers;
mod demo;
mod diffs;
mod disk;
mod drafts;
mod entries;
mod events;
mod execution_runs;
mod filesystem;
mod findings;
mod forge;
mod gc;
mod github;
mod health;
mod images;
mod imports;
mod landing;
mod live;
mod mcp_config;
mod metrics;
mod processes;
mod projects;
mod pull_requests;
mod rules;
mod session;
mod sounds;
mod tags;
mod tasks;
mod templates;
mod travel;
mod usage;

use std::sync::OnceLock;

use crate::api::{Api, Operation};

/// Every route there is.
pub(crate) fn all() -> Api {
    Api::new()
        .merge(about::api())
        .merge(health::api())
        .merge(backup::api())
        .merge(metrics::api())
        .merge(session::api())
        .merge(config::api())
        .merge(mcp_config::api())
        .merge(github::api())
        .merge(board::api())
        .merge(demo::api())
        .merge(projects::api())
        .merge(tasks::api())
        .merge(attempts::api())
        .merge(comments::api())
        .merge(pull_requests::api())
        .merge(landing::api())
        .merge(diffs::api())
        .merge(entries::api())
        .merge(findings::api())
        .merge(drafts::api())
        .merge(travel::api())
        .merge(execution_runs::api())
        .merge(containers::api())
        .merge(tags::api())
        .merge(templates::api())
        .merge(processes::api())
        .merge(approvals::api())
        .merge(rules::api())
        .merge(usage::api())
        .merge(images::api())
        .merge(imports::api())
        .merge(filesystem::api())
        .merge(events::api())
        .merge(forge::api())
        .merge(disk::api())
        .merge(gc::api())
        .merge(sounds::api())
        .merge(live::api())
}

/// The table of operations, made once.
pub(crate) fn operations() -> &'static [Operation] {
    static OPERATIONS: OnceLock<Vec<Operation>> = OnceLock::new();
    OPERATIONS.get_or_init(|| all().into_parts().1)
}
