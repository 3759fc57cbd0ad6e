//! What older clients find under `/api/forge`: settings of projects, standing agents, notices, releases.

use axum::Json;
use axum::extract::State;
use forge_model::ProjectId;

use crate::api::{Api, may, need, op};
use crate::decode::{Fields, Id, Query, names};
use crate::envelope::{Envelope, Reply};
use crate::error::Problem;
use crate::state::App;
use crate::wire::{
    self, AgentFiles, AuthRequired, ForgeAgent, ForgeProjectSettings, ForgeRelease, OmniInstances,
    OmniNotifications, OmniStatus, OmniValidation, ProjectProfiles,
};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/forge/config",
            settings,
            op("getForgeConfig", "Returns the settings that hold for every project, secrets masked.")
                .gives::<ForgeProjectSettings>(),
        )
        .put(
            "/api/forge/config",
            change_settings,
            op("updateForgeConfig", "Lays keys over the settings that hold for every project.")
                .takes(wire::CHANGE_SETTINGS)
                .gives::<ForgeProjectSettings>(),
        )
        .get(
            "/api/forge/projects/{project_id}/settings",
            project_settings,
            op("getForgeProjectSettings", "Returns the settings that hold in a project, secrets masked.")
                .gives::<ForgeProjectSettings>(),
        )
        .put(
            "/api/forge/projects/{project_id}/settings",
            change_project_settings,
            op("updateForgeProjectSettings", "Lays keys over a project's own settings.")
                .takes(wire::CHANGE_SETTINGS)
                .gives::<ForgeProjectSettings>(),
        )
        .get(
            "/api/forge/projects/{project_id}/profiles",
            project_profiles,
            op(
                "getProjectProfiles",
                "Returns the profiles, those of the project's own agent files included.",
            )
            .gives::<ProjectProfiles>(),
        )
        .get(
            "/api/projects/{project_id}/agent-files",
            agent_files,
            op(
                "listAgentFiles",
                "Lists the agents that the project's own files describe, and what is wrong with other files.",
            )
            .gives::<AgentFiles>(),
        )
        .get(
            "/api/forge/agents",
            agents,
            op("getForgeAgents", "Lists the standing agents of a project.")
                .query(need(names::PROJECT_ID))
                .query(may(names::AGENT_TYPE))
                .gives::<Vec<ForgeAgent>>(),
        )
        .post(
            "/api/forge/agents",
            create_agent,
            op("createForgeAgent", "Adds a standing agent with a task of its own.")
                .takes(wire::CREATE_FORGE_AGENT)
                .gives::<ForgeAgent>(),
        )
        .get(
            "/api/forge/omni/status",
            omni_status,
            op("getOmniStatus", "Says whether notices are sent, and by what settings.")
                .gives_bare::<OmniStatus>(),
        )
        .get(
            "/api/forge/omni/instances",
            omni_instances,
            op("listOmniInstances", "Lists the instances of the gateway for notices.")
                .gives_bare::<OmniInstances>(),
        )
        .post(
            "/api/forge/omni/validate",
            validate_omni,
            op("validateOmniConfig", "Tries a gateway and a key.")
                .takes(wire::VALIDATE_OMNI)
                .gives_bare::<OmniValidation>(),
        )
        .get(
            "/api/forge/omni/notifications",
            notices,
            op("listOmniNotifications", "Lists the newest 50 notices.").gives_bare::<OmniNotifications>(),
        )
        .get(
            "/api/forge/releases",
            releases,
            op("listReleases", "Lists releases from Forge's own changelog, newest first.")
                .gives::<Vec<ForgeRelease>>(),
        )
        .get(
            "/api/forge/auth-required",
            auth_required,
            op("getAuthRequired", "Says whether every caller needs a token.").gives_bare::<AuthRequired>(),
        )
}

async fn settings(State(app): State<App>) -> Reply<ForgeProjectSettings> {
    Ok(Envelope(app.engine.general_settings().await?.try_into()?))
}

async fn change_settings(State(app): State<App>, fields: Fields) -> Reply<ForgeProjectSettings> {
    Ok(Envelope(app.engine.change_general_settings(fields.try_into()?).await?.try_into()?))
}

async fn project_settings(State(app): State<App>, Id(id): Id<ProjectId>) -> Reply<ForgeProjectSettings> {
    Ok(Envelope(app.engine.project_settings(id).await?.try_into()?))
}

async fn change_project_settings(
    State(app): State<App>,
    Id(id): Id<ProjectId>,
    fields: Fields,
) -> Reply<ForgeProjectSettings> {
    Ok(Envelope(app.engine.change_project_settings(id, fields.try_into()?).await?.try_into()?))
}

async fn project_profiles(State(app): State<App>, Id(id): Id<ProjectId>) -> Reply<ProjectProfiles> {
    Ok(Envelope(ProjectProfiles { executors: app.engine.project_profiles(id).await? }))
}

async fn agent_files(State(app): State<App>, Id(id): Id<ProjectId>) -> Reply<AgentFiles> {
    Ok(Envelope(app.engine.agent_files(id).await?.into()))
}

async fn agents(State(app): State<App>, query: Query) -> Reply<Vec<ForgeAgent>> {
    let (project, kind) = (query.required("project_id")?, query.optional("agent_type")?);
    Ok(Envelope(wire::list(app.engine.standing_agents(project, kind).await?)))
}

async fn create_agent(State(app): State<App>, fields: Fields) -> Reply<ForgeAgent> {
    let (project, kind) = (fields.id(names::PROJECT_ID)?, fields.line(names::AGENT_TYPE)?);
    Ok(Envelope(app.engine.create_standing_agent(project, &kind).await?.into()))
}

async fn omni_status(State(app): State<App>) -> Result<Json<OmniStatus>, Problem> {
    Ok(Json(app.engine.omni_status().await?.try_into()?))
}

async fn omni_instances(State(app): State<App>) -> Result<Json<OmniInstances>, Problem> {
    Ok(Json(OmniInstances::told(app.engine.omni_instances().await)?))
}

async fn validate_omni(State(app): State<App>, fields: Fields) -> Result<Json<OmniValidation>, Problem> {
    Ok(Json(OmniValidation::told(app.engine.try_omni(fields.try_into()?).await)?))
}

async fn notices(State(app): State<App>) -> Result<Json<OmniNotifications>, Problem> {
    Ok(Json(app.engine.notices().await?.into()))
}

async fn releases(State(app): State<App>) -> Envelope<Vec<ForgeRelease>> {
    Envelope(wire::list(app.engine.releases()))
}

async fn auth_required(State(app): State<App>) -> Json<AuthRequired> {
    Json(AuthRequired { auth_required: app.access.requires_token() })
}
