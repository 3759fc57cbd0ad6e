//! The messaging gateway: whether it is set up, what it offers, and whether an address and a key are right.

use forge_hosts::{Instance, Omni, Recipient};
use forge_model::ProjectId;
use serde_json::{Map, Value};

use crate::background::blocking;
use crate::config::MASK;
use crate::project_settings::{check_host, general, in_force, shown};
use crate::store::{Conn, Error as StoreError};
use crate::{Engine, Error, Result};

/// Whether notices are sent, and by what settings.
#[derive(Debug, Clone, PartialEq)]
pub struct OmniStatus {
    pub enabled: bool,
    /// The settings, the key masked; none when there are none.
    pub config: Option<Value>,
}

/// An address and a key that somebody wants to try.
#[derive(Clone)]
pub struct OmniKey {
    pub host: String,
    /// The mask stands for the stored key of that host.
    pub key: String,
}

impl std::fmt::Debug for OmniKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OmniKey").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Engine {
    /// Says whether notices are sent in general.
    pub async fn omni_status(&self) -> Result<OmniStatus> {
        let settings = self.inner.store.read(general).await?;
        let enabled = is_on(&settings);
        let config = shown(settings).get("omni_config").filter(|config| config.is_object()).cloned();
        Ok(OmniStatus { enabled, config })
    }

    /// Lists the instances of the gateway that is set up in general.
    pub async fn omni_instances(&self) -> Result<Vec<Instance>> {
        let settings = self.inner.store.read(general).await?;
        let (Some(host), Some(key)) = (text(&settings, "host"), text(&settings, "api_key")) else {
            return Err(Error::unavailable(
                "Omni is not set up: `omni_config` in the settings needs `host` and `api_key`",
            ));
        };
        list(Omni::new(&host, &key)).await
    }

    /// Tries an address and a key, and lists the instances they reach.
    pub async fn try_omni(&self, wanted: OmniKey) -> Result<Vec<Instance>> {
        check_host(&wanted.host).map_err(|why| Error::invalid(format!("`host` {why}")))?;
        let mut key = wanted.key;
        if key == MASK {
            let settings = self.inner.store.read(general).await?;
            let same = text(&settings, "host").is_some_and(|host| host == wanted.host);
            let stored = text(&settings, "api_key").filter(|_| same);
            key = stored.ok_or_else(|| {
                Error::invalid(format!(
                    "`api_key` is {MASK}, and no key is stored for that host; give the key itself"
                ))
            })?;
        }
        list(Omni::new(&wanted.host, &key)).await
    }
}

/// What is needed to send a text.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) omni: Omni,
    pub(crate) instance: String,
    pub(crate) to: Recipient,
}

/// Says how notices of a project go out; none when they do not. What is switched on but not set up in full is an
/// error in a sentence.
pub(crate) fn way(
    conn: &Conn,
    project: ProjectId,
) -> std::result::Result<Option<std::result::Result<Way, String>>, StoreError> {
    let settings = in_force(conn, project)?;
    if !is_on(&settings) {
        return Ok(None);
    }
    let needed = |key: &str| text(&settings, key).ok_or_else(|| format!("`omni_config.{key}` is not set"));
    let way = || {
        let recipient = needed("recipient")?;
        Ok(Way {
            omni: Omni::new(&needed("host")?, &needed("api_key")?),
            instance: needed("instance")?,
            to: match text(&settings, "recipient_type").as_deref() {
                Some("UserId") => Recipient::User(recipient),
                _ => Recipient::Phone(recipient),
            },
        })
    };
    Ok(Some(way()))
}

fn is_on(settings: &Map<String, Value>) -> bool {
    let inner = settings.get("omni_config").filter(|config| config.is_object());
    settings.get("omni_enabled") == Some(&Value::Bool(true))
        && inner.is_some_and(|config| config.get("enabled") != Some(&Value::Bool(false)))
}

fn text(settings: &Map<String, Value>, key: &str) -> Option<String> {
    let text = settings.get("omni_config")?.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_string())
}

async fn list(omni: Omni) -> Result<Vec<Instance>> {
    let listed = blocking(move || omni.instances()).await?;
    listed.map_err(|error| Error::unavailable(error.to_string()).with_source(error))
}
