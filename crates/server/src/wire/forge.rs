//! What older clients find under `/api/forge`: settings of projects, standing agents, the gateway for notices,
//! releases. Some of its dates have a form of their own.

use forge_engine::{Error, ErrorKind, Instance, OmniKey, Release, SettingsChange};
use forge_model::{NoticeId, NoticeKind, NoticeStatus, ProjectId, StandingAgentId, TaskId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

/// Settings of a project, or of all. Keys that this server does not know are kept.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ForgeProjectSettings {
    omni_enabled: bool,
    omni_config: Option<OmniConfig>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OmniConfig {
    enabled: bool,
    host: Option<String>,
    /// Masked; sent back, the mask keeps the key.
    api_key: Option<String>,
    instance: Option<String>,
    recipient: Option<String>,
    recipient_type: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

pub(crate) const CHANGE_SETTINGS: Body =
    Body::new("UpdateForgeProjectSettings", &[may(names::OMNI_ENABLED), may(names::OMNI_CONFIG)]);

pub(crate) const CREATE_FORGE_AGENT: Body =
    Body::new("CreateForgeAgent", &[need(names::PROJECT_ID), need(names::AGENT_TYPE)]);

pub(crate) const VALIDATE_OMNI: Body =
    Body::new("ValidateOmni", &[need(names::OMNI_HOST), need(names::API_KEY)]);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ForgeAgent {
    id: StandingAgentId,
    project_id: ProjectId,
    agent_type: String,
    task_id: TaskId,
    /// `YYYY-MM-DD HH:MM:SS`, in UTC.
    created_at: String,
    /// `YYYY-MM-DD HH:MM:SS`, in UTC.
    updated_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OmniStatus {
    enabled: bool,
    config: Option<OmniConfig>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OmniInstance {
    instance_name: String,
    channel_type: String,
    display_name: String,
    status: String,
    is_healthy: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OmniInstances {
    instances: Vec<OmniInstance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OmniValidation {
    valid: bool,
    instances: Vec<OmniInstance>,
    error: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OmniNotifications {
    notifications: Vec<OmniNotification>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OmniNotification {
    id: NoticeId,
    task_id: Option<TaskId>,
    notification_type: NoticeKind,
    status: NoticeStatus,
    message: Option<String>,
    error_message: Option<String>,
    /// `YYYY-MM-DD HH:MM:SS`, in UTC.
    sent_at: Option<String>,
    /// `YYYY-MM-DD HH:MM:SS`, in UTC.
    created_at: String,
    metadata: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ForgeRelease {
    tag_name: String,
    name: String,
    body: Option<String>,
    prerelease: bool,
    created_at: String,
    published_at: Option<String>,
    html_url: &'static str,
}

/// Every agent's variants, those of the project's own files included.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProjectProfiles {
    pub(crate) executors: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuthRequired {
    pub(crate) auth_required: bool,
}

impl TryFrom<Value> for ForgeProjectSettings {
    type Error = Problem;

    fn try_from(settings: Value) -> Result<Self, Problem> {
        shaped(settings)
    }
}

impl TryFrom<forge_engine::OmniStatus> for OmniStatus {
    type Error = Problem;

    fn try_from(status: forge_engine::OmniStatus) -> Result<Self, Problem> {
        Ok(Self { enabled: status.enabled, config: status.config.map(shaped).transpose()? })
    }
}

impl TryFrom<Fields> for SettingsChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(SettingsChange::new(fields.into_map())?)
    }
}

impl TryFrom<Fields> for OmniKey {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(OmniKey { host: fields.line(names::OMNI_HOST)?, key: fields.line(names::API_KEY)? })
    }
}

impl From<forge_model::StandingAgent> for ForgeAgent {
    fn from(agent: forge_model::StandingAgent) -> Self {
        Self {
            id: agent.id,
            project_id: agent.project,
            agent_type: agent.kind,
            task_id: agent.task,
            created_at: plain(agent.created_at),
            updated_at: plain(agent.updated_at),
        }
    }
}

impl From<Instance> for OmniInstance {
    fn from(instance: Instance) -> Self {
        Self {
            instance_name: instance.name,
            channel_type: instance.channel,
            display_name: instance.display_name,
            status: instance.status,
            is_healthy: instance.healthy,
        }
    }
}

impl OmniInstances {
    /// Tells what was listed, or why nothing could be: clients read both at 200.
    pub(crate) fn told(listed: Result<Vec<Instance>, Error>) -> Result<Self, Problem> {
        let (instances, error) = split(listed)?;
        Ok(Self { instances, error })
    }
}

impl OmniValidation {
    /// Tells whether it worked, or why not: clients read both at 200.
    pub(crate) fn told(tried: Result<Vec<Instance>, Error>) -> Result<Self, Problem> {
        let (instances, error) = split(tried)?;
        Ok(Self { valid: error.is_none(), instances, error })
    }
}

impl From<Vec<forge_model::Notice>> for OmniNotifications {
    fn from(notices: Vec<forge_model::Notice>) -> Self {
        let notifications = notices.into_iter().map(|notice| OmniNotification {
            id: notice.id,
            task_id: notice.task,
            notification_type: notice.kind,
            status: notice.status,
            message: Some(notice.message),
            error_message: notice.error,
            sent_at: notice.sent_at.map(plain),
            created_at: plain(notice.created_at),
            metadata: notice.metadata,
        });
        Self { notifications: notifications.collect() }
    }
}

impl From<Release> for ForgeRelease {
    fn from(release: Release) -> Self {
        let at = format!("{}T00:00:00Z", release.day);
        Self {
            tag_name: format!("v{}", release.version),
            name: format!("Forge {}", release.version),
            body: Some(release.body),
            prerelease: release.unreleased,
            published_at: (!release.unreleased).then(|| at.clone()),
            created_at: at,
            html_url: "",
        }
    }
}

fn split(listed: Result<Vec<Instance>, Error>) -> Result<(Vec<OmniInstance>, Option<String>), Problem> {
    match listed {
        Ok(instances) => Ok((super::list(instances), None)),
        Err(error) if error.kind() == ErrorKind::Unavailable => Ok((Vec::new(), Some(error.to_string()))),
        Err(error) => Err(error.into()),
    }
}

/// Gives settings the shape that is promised.
fn shaped<T: serde::de::DeserializeOwned>(settings: Value) -> Result<T, Problem> {
    let shaped = serde_json::from_value(settings);
    shaped.map_err(|error| Error::internal(format!("stored settings have lost their shape: {error}")).into())
}

/// Writes a moment as the tables of the older server did: `2026-11-15 08:53:20`.
fn plain(time: Time) -> String {
    let text = time.to_string();
    text.split('.').next().unwrap_or_default().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_of_the_older_tables_has_a_blank_and_no_zone() {
        assert_eq!(plain(Time::from_millis(1_760_000_000_007)), "2025-10-09 08:53:20");
    }

    #[test]
    fn a_release_that_is_not_out_is_a_prerelease_and_unpublished() {
        let release = |unreleased| Release {
            version: "0.2.0".into(),
            day: "2026-12-24".into(),
            unreleased,
            body: "- new".into(),
        };
        let out = serde_json::to_value(ForgeRelease::from(release(false))).unwrap();
        assert_eq!(
            (&out["tag_name"], &out["published_at"]),
            (&"v0.2.0".into(), &"2026-12-24T00:00:00Z".into())
        );
        let soon = serde_json::to_value(ForgeRelease::from(release(true))).unwrap();
        assert_eq!((&soon["prerelease"], &soon["published_at"]), (&true.into(), &Value::Null));
    }
}
