//! Looking around on the disk of the server, to choose a repository.

use axum::extract::State;
use axum::http::StatusCode;
use forge_engine::{Error, OUTSIDE};

use crate::api::{Api, may, op};
use crate::decode::{Query, names};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{self, DirectoryEntry, DirectoryListResponse};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/filesystem/directory",
            directory,
            op("listDirectory", "Lists a directory in the person's home or in a project.")
                .query(may(names::PATH_TO_LIST))
                .gives::<DirectoryListResponse>()
                .refuses_with_200(),
        )
        .get(
            "/api/filesystem/git-repos",
            repositories,
            op("listGitRepositories", "Finds repositories below a path, those that changed last first.")
                .query(may(names::PATH_TO_LIST))
                .gives::<Vec<DirectoryEntry>>()
                .refuses_with_200(),
        )
}

async fn directory(State(app): State<App>, query: Query) -> Reply<DirectoryListResponse> {
    let path = query.optional("path")?;
    Ok(Envelope(app.engine.list_directory(path).await.map_err(refused)?.into()))
}

async fn repositories(State(app): State<App>, query: Query) -> Reply<Vec<DirectoryEntry>> {
    let path = query.optional("path")?;
    Ok(Envelope(wire::list(app.engine.find_repositories(path).await.map_err(refused)?)))
}

/// Clients read the sentence and not the status, except where they may not look at all.
fn refused(error: Error) -> Problem {
    match error.code() {
        Some(OUTSIDE) => Problem::new(StatusCode::FORBIDDEN, error.to_string()),
        _ => Problem::told_with_200(error),
    }
}
