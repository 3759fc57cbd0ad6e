//! Projects: the repositories Forge knows.

use axum::extract::State;
use forge_engine::{Error, ErrorKind};
use forge_model::ProjectId;

use crate::api::{Api, may, need, op};
use crate::decode::{Fields, Id, MaybeFields, Query, names};
use crate::envelope::{Envelope, NOTHING, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{self, GitBranch, OpenEditorResponse, Project, SearchResult};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/projects",
            list,
            op("listProjects", "Lists projects, newest first.").gives::<Vec<Project>>(),
        )
        .post(
            "/api/projects",
            create,
            op("createProject", "Registers a repository, making it first when that is asked for.")
                .takes(wire::CREATE_PROJECT)
                .gives::<Project>()
                .refuses_with_200(),
        )
        .get("/api/projects/{project_id}", one, op("getProject", "Returns a project.").gives::<Project>())
        .put(
            "/api/projects/{project_id}",
            update,
            op("updateProject", "Changes a project: an absent key keeps, null clears.")
                .takes(wire::UPDATE_PROJECT)
                .gives::<Project>()
                .refuses_with_200(),
        )
        .delete(
            "/api/projects/{project_id}",
            delete,
            op("deleteProject", "Forgets a project; the repository stays as it is."),
        )
        .get(
            "/api/projects/{project_id}/branches",
            branches,
            op("listProjectBranches", "Lists a project's branches, the current one first.")
                .gives::<Vec<GitBranch>>(),
        )
        .get(
            "/api/projects/{project_id}/search",
            search,
            op("searchProjectFiles", "Finds files by a part of their name: ten at most, the best first.")
                .query(need(names::Q))
                .query(may(names::SEARCH_MODE))
                .gives::<Vec<SearchResult>>()
                .refuses_with_200(),
        )
        .post(
            "/api/projects/{project_id}/open-editor",
            open_editor,
            op("openProjectInEditor", "Opens a project in an editor on the server's machine, or says where.")
                .may_take(wire::OPEN_EDITOR)
                .gives::<OpenEditorResponse>(),
        )
}

/// Lists projects, newest first.
async fn list(State(app): State<App>) -> Reply<Vec<Project>> {
    Ok(Envelope(wire::list(app.engine.projects().await?)))
}

/// Registers a repository, making it first when that is asked for.
async fn create(State(app): State<App>, fields: Fields) -> Reply<Project> {
    match app.engine.create_project(fields.try_into()?).await {
        Ok(project) => Ok(Envelope(project.into())),
        // Nothing but the path is named here, so that what is not found is the path.
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Problem::told_with_200(error)),
        Err(error) => Err(refused(error)),
    }
}

async fn one(State(app): State<App>, Id(id): Id<ProjectId>) -> Reply<Project> {
    Ok(Envelope(app.engine.project(id).await?.into()))
}

/// Changes a project: an absent key keeps, null clears.
async fn update(State(app): State<App>, Id(id): Id<ProjectId>, fields: Fields) -> Reply<Project> {
    let project = app.engine.update_project(id, fields.try_into()?).await.map_err(refused)?;
    Ok(Envelope(project.into()))
}

/// Forgets a project; the repository stays as it is.
async fn delete(State(app): State<App>, Id(id): Id<ProjectId>) -> Reply<()> {
    app.engine.delete_project(id).await?;
    Ok(NOTHING)
}

/// Lists a project's branches, the current one first.
async fn branches(State(app): State<App>, Id(id): Id<ProjectId>) -> Reply<Vec<GitBranch>> {
    Ok(Envelope(wire::list(app.engine.branches(id).await?)))
}

/// Finds files by a part of their name: ten at most, the best first.
async fn search(State(app): State<App>, Id(id): Id<ProjectId>, query: Query) -> Reply<Vec<SearchResult>> {
    let text = query.text(names::Q)?;
    let what = wire::search_for(query.optional("mode")?);
    let found = app.engine.search_files(id, &text.unwrap_or_default(), what).await.map_err(refused)?;
    Ok(Envelope(wire::list(found)))
}

/// Opens a project in an editor on the server's machine, or says where another finds it.
async fn open_editor(
    State(app): State<App>,
    Id(id): Id<ProjectId>,
    MaybeFields(fields): MaybeFields,
) -> Reply<OpenEditorResponse> {
    Ok(Envelope(app.engine.open_project(id, fields.try_into()?).await?.into()))
}

/// A path that cannot be a project's is told with 200, where clients look for the message.
fn refused(error: Error) -> Problem {
    match error.kind() {
        ErrorKind::Invalid | ErrorKind::Conflict => Problem::told_with_200(error),
        ErrorKind::NotFound | ErrorKind::Unavailable | ErrorKind::Internal => error.into(),
    }
}
