//! Settings that a project may have of its own: today, where its notices go.
//!
//! A project's settings lie over the general ones key by key, and null in them means the general value. Keys
//! that this Forge does not know are kept. A secret never leaves as it is, and goes only to the host that it
//! was given for.

use forge_model::ProjectId;
use serde_json::{Map, Value, json};

use crate::config::{MASK, lay, mask};
use crate::shape::{self, Keys, Rule};
use crate::store::{Conn, Error as StoreError, projects, settings};
use crate::{Engine, Error, Result};

/// The scope of what holds for every project.
const GENERAL: &str = "global";

const KEYS: Keys = &[("omni_enabled", Rule::Flag), ("omni_config", Rule::MaybeSection(OMNI))];

const OMNI: Keys = &[
    ("enabled", Rule::Flag),
    ("host", Rule::MaybeText),
    ("api_key", Rule::MaybeSecret),
    ("instance", Rule::MaybeText),
    ("recipient", Rule::MaybeText),
    ("recipient_type", Rule::MaybeOneOf(&["PhoneNumber", "UserId"])),
];

type Settings = Map<String, Value>;

/// Settings to lay over those there are. A key that is not named keeps its value.
#[derive(Clone)]
pub struct SettingsChange(Settings);

impl SettingsChange {
    /// Checks the shape of a change; the refusal names the key.
    pub fn new(mut change: Map<String, Value>) -> Result<Self> {
        // A switch that is null says nothing, as if it were absent.
        change.retain(|key, value| key != "omni_enabled" || !value.is_null());
        if let Some(Value::Object(omni)) = change.get_mut("omni_config") {
            omni.retain(|key, value| key != "enabled" || !value.is_null());
        }
        shape::check(&change, KEYS, "").map_err(Error::invalid)?;
        if let Some(host) = omni(&change, "host").and_then(Value::as_str) {
            check_host(host).map_err(|why| Error::invalid(format!("`omni_config.host` {why}")))?;
        }
        Ok(Self(change))
    }
}

impl std::fmt::Debug for SettingsChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values may be secrets.
        f.debug_tuple("SettingsChange").field(&self.0.keys().collect::<Vec<_>>()).finish()
    }
}

impl Engine {
    /// Returns the settings that hold for every project, secrets masked.
    pub async fn general_settings(&self) -> Result<Value> {
        Ok(shown(self.inner.store.read(general).await?))
    }

    /// Lays a change over the settings that hold for every project.
    pub async fn change_general_settings(&self, change: SettingsChange) -> Result<Value> {
        let changed = self.inner.store.write(move |tx| {
            let mut settings = stored(tx.conn(), GENERAL)?;
            let (before, new_key) = (host(&settings), gives_key(&change.0));
            lay(&mut settings, change.0, KEYS);
            if !new_key && has_moved(before, host(&settings)) {
                drop_key(&mut settings);
            }
            settings::put(tx.conn(), GENERAL, &text(&settings)?, tx.now())?;
            Ok(settings)
        });
        Ok(shown(changed.await?))
    }

    /// Returns the settings that hold in a project, secrets masked.
    pub async fn project_settings(&self, id: ProjectId) -> Result<Value> {
        let found = self.inner.store.read(move |conn| {
            Ok(match projects::one(conn, id)? {
                Some(_) => Some(in_force(conn, id)?),
                None => None,
            })
        });
        found.await?.map(shown).ok_or_else(|| no_project(id))
    }

    /// Lays a change over a project's own settings, and returns what holds there now.
    pub async fn change_project_settings(&self, id: ProjectId, change: SettingsChange) -> Result<Value> {
        let changed = self.inner.store.write(move |tx| {
            if projects::one(tx.conn(), id)?.is_none() {
                return Ok(None);
            }
            let scope = id.to_string();
            let mut own = stored(tx.conn(), &scope)?;
            let (before, new_key) = (host(&in_force(tx.conn(), id)?), gives_key(&change.0));
            lay(&mut own, change.0, KEYS);
            settings::put(tx.conn(), &scope, &text(&own)?, tx.now())?;
            if !new_key && has_moved(before, host(&in_force(tx.conn(), id)?)) {
                drop_key(&mut own);
                settings::put(tx.conn(), &scope, &text(&own)?, tx.now())?;
            }
            in_force(tx.conn(), id).map(Some)
        });
        changed.await?.map(shown).ok_or_else(|| no_project(id))
    }
}

/// Returns the settings that hold for every project, secrets as they are.
pub(crate) fn general(conn: &Conn) -> std::result::Result<Map<String, Value>, StoreError> {
    stored(conn, GENERAL)
}

/// Returns the settings that hold in a project, secrets as they are.
pub(crate) fn in_force(conn: &Conn, id: ProjectId) -> std::result::Result<Map<String, Value>, StoreError> {
    let mut settings = general(conn)?;
    let mut own = stored(conn, &id.to_string())?;
    drop_nulls(&mut own);
    let elsewhere = omni(&own, "host").is_some_and(|host| omni(&settings, "host") != Some(host));
    if elsewhere {
        drop_key(&mut settings);
    }
    lay(&mut settings, own, KEYS);
    Ok(settings)
}

/// Says what is wrong with the address of a gateway.
pub(crate) fn check_host(host: &str) -> std::result::Result<(), &'static str> {
    let rest = host.strip_prefix("https://").or_else(|| host.strip_prefix("http://"));
    let Some(rest) = rest else { return Err("must begin with http:// or https://") };
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("must be the address of a server, as https://omni.example.org");
    }
    if authority.contains('@') || host.contains(['?', '#']) {
        return Err("must be an address alone: the key has a field of its own");
    }
    Ok(())
}

fn stored(conn: &Conn, scope: &str) -> std::result::Result<Settings, StoreError> {
    let Some(body) = settings::one(conn, scope)? else { return Ok(Map::new()) };
    serde_json::from_str(&body)
        .map_err(|error| StoreError::Corrupt(format!("the settings of {scope} are not JSON ({error})")))
}

fn text(settings: &Settings) -> std::result::Result<String, StoreError> {
    serde_json::to_string(settings).map_err(|error| StoreError::Other(error.to_string()))
}

/// Fills what is open with defaults, and puts the mask in place of every secret.
pub(crate) fn shown(mut settings: Settings) -> Value {
    settings.entry("omni_enabled").or_insert(false.into());
    if let Value::Object(omni) = settings.entry("omni_config").or_insert(Value::Null) {
        omni.entry("enabled").or_insert(true.into());
        for (key, _) in OMNI {
            omni.entry(*key).or_insert(Value::Null);
        }
    }
    mask(&mut settings, KEYS);
    json!(settings)
}

fn drop_nulls(own: &mut Settings) {
    own.retain(|_, value| !value.is_null());
    if let Some(Value::Object(omni)) = own.get_mut("omni_config") {
        omni.retain(|_, value| !value.is_null());
    }
}

fn omni<'a>(settings: &'a Settings, key: &str) -> Option<&'a Value> {
    settings.get("omni_config")?.get(key).filter(|value| !value.is_null())
}

fn host(settings: &Settings) -> Option<Value> {
    omni(settings, "host").cloned()
}

/// Says whether a host has taken the place of another. A key that was stored was given for the other.
fn has_moved(before: Option<Value>, after: Option<Value>) -> bool {
    before.is_some() && after.is_some() && before != after
}

/// Says whether a change brings a key; the mask stands for the stored one.
fn gives_key(change: &Settings) -> bool {
    omni(change, "api_key").is_some_and(|key| key != MASK)
}

fn drop_key(settings: &mut Settings) {
    if let Some(Value::Object(omni)) = settings.get_mut("omni_config") {
        omni.remove("api_key");
    }
}

fn no_project(id: ProjectId) -> Error {
    Error::not_found(format!("there is no project {id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_none_is_refused_and_so_is_one_with_a_secret_in_it() {
        for host in ["http://127.0.0.1:8882", "https://omni.example.org", "https://example.org/omni/"] {
            assert_eq!(check_host(host), Ok(()), "{host}");
        }
        for host in ["", "omni", "ftp://omni", "http://", "https:///x", "http://a b", "http://me:pw@omni"] {
            assert!(check_host(host).is_err(), "{host}");
        }
        assert!(check_host("http://omni/?api_key=x").is_err());
    }

    #[test]
    fn a_change_is_never_printed_with_its_secrets() {
        let change = json!({"omni_config": {"api_key": "hush"}});
        let change = SettingsChange::new(change.as_object().unwrap().clone()).unwrap();
        assert!(!format!("{change:?}").contains("hush"));
    }
}
