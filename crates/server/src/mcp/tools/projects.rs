//! Projects, as tools.

use forge_model::{ProjectId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::call::Call;
use super::super::tool::{Tool, changes, destroys, may, need, reads};
use crate::decode::names::{
    CLEANUP_SCRIPT, DEV_SCRIPT, GIT_REPO_PATH, NAME, PROJECT_ID, SETUP_SCRIPT, USE_EXISTING_REPO,
};
use crate::error::Problem;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        reads(
            "list_projects",
            "List projects",
            "Lists all projects with their ids. Most other tools need the id of a project.",
        )
        .does(list),
        changes("create_project", "Create project", "Registers a git repository as a project.")
            .takes(&[
                need(NAME, "What the project is called."),
                need(GIT_REPO_PATH, "The repository's path on the server's machine."),
                may(
                    USE_EXISTING_REPO,
                    "False makes a new repository at the path; else it must be one already.",
                ),
                may(SETUP_SCRIPT, "Runs in each new worktree before the agent does."),
                may(CLEANUP_SCRIPT, "Runs after the agent."),
                may(DEV_SCRIPT, "Starts the project's dev server."),
            ])
            .advanced()
            .does(create),
        reads("get_project", "Get project", "Returns one project.")
            .takes(&[need(PROJECT_ID, "The project.")])
            .advanced()
            .does(one),
        changes("update_project", "Update project", "Changes a project: what is absent stays as it is.")
            .takes(&[
                need(PROJECT_ID, "The project."),
                may(NAME, "What it is called from now on."),
                may(GIT_REPO_PATH, "Where its repository is from now on."),
                may(SETUP_SCRIPT, "The new setup script; blank removes it."),
                may(CLEANUP_SCRIPT, "The new cleanup script; blank removes it."),
                may(DEV_SCRIPT, "The new dev script; blank removes it."),
            ])
            .advanced()
            .idempotent()
            .does(update),
        destroys(
            "delete_project",
            "Delete project",
            "Forgets a project with its tasks and attempts; the repository stays as it is, and `forge recover` brings \
             it back.",
        )
        .takes(&[need(PROJECT_ID, "The project.")])
        .advanced()
        .does(delete),
    ]
}

#[derive(Debug, Serialize, JsonSchema)]
struct Projects {
    projects: Vec<ProjectSummary>,
    count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProjectSummary {
    id: ProjectId,
    name: String,
    git_repo_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    setup_script: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleanup_script: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dev_script: Option<String>,
    created_at: Time,
    updated_at: Time,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CreatedProject {
    project_id: ProjectId,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DeletedProject {
    deleted: bool,
    project_id: ProjectId,
}

impl From<forge_model::Project> for ProjectSummary {
    fn from(project: forge_model::Project) -> Self {
        Self {
            id: project.id,
            name: project.name,
            git_repo_path: project.path.to_string_lossy().into_owned(),
            setup_script: project.setup_script,
            cleanup_script: project.cleanup_script,
            dev_script: project.dev_script,
            created_at: project.created_at,
            updated_at: project.updated_at,
        }
    }
}

async fn list(call: Call) -> Result<Projects, Problem> {
    let projects: Vec<ProjectSummary> = crate::wire::list(call.app.engine.projects().await?);
    Ok(Projects { count: projects.len(), projects })
}

async fn create(call: Call) -> Result<CreatedProject, Problem> {
    let project = call.app.engine.create_project(call.fields.try_into()?).await?;
    Ok(CreatedProject { project_id: project.id })
}

async fn one(call: Call) -> Result<ProjectSummary, Problem> {
    Ok(call.app.engine.project(call.id(PROJECT_ID)?).await?.into())
}

async fn update(call: Call) -> Result<ProjectSummary, Problem> {
    let id = call.id(PROJECT_ID)?;
    Ok(call.app.engine.update_project(id, call.fields.try_into()?).await?.into())
}

async fn delete(call: Call) -> Result<DeletedProject, Problem> {
    let project_id = call.id(PROJECT_ID)?;
    call.app.engine.delete_project(project_id).await?;
    Ok(DeletedProject { deleted: true, project_id })
}
