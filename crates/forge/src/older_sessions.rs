//! The session stores of the older Genie command line: `sessions.json`, versions 1 to 3, and `tasks.json`, version 4.
//! They are read as they are; only moving them changes them. A file that cannot be read is refused, never replaced.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::exit::{Failure, Result};

/// Where the stores lie in a repository.
pub(crate) const SESSIONS: &str = ".genie/state/agents/sessions.json";
pub(crate) const TASKS: &str = ".genie/state/tasks.json";

/// A store that is larger is nobody's.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A session of an older store.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) agent: String,
    /// As it was stored: starting, running, completed, failed, stopped, or something else.
    pub(crate) status: String,
    pub(crate) created: String,
    pub(crate) last_used: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) executor: Option<String>,
    /// Everything that was stored, its key in the store included.
    pub(crate) value: Value,
}

/// A store that was found.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) path: PathBuf,
    pub(crate) version: u64,
    pub(crate) bytes: Vec<u8>,
}

/// What the stores of a repository hold.
#[derive(Debug, Default)]
pub(crate) struct Older {
    pub(crate) stores: Vec<Store>,
    pub(crate) sessions: Vec<Session>,
    /// What is no session, and why.
    pub(crate) malformed: Vec<(Value, String)>,
}

/// Reads the stores of a repository; empty when it has none.
pub(crate) fn read(repository: &Path) -> Result<Older> {
    let mut older = Older::default();
    for place in [SESSIONS, TASKS] {
        let path = repository.join(place);
        let Ok(about) = fs::metadata(&path) else { continue };
        let cannot = |why: String| {
            Failure::invalid(format!("{} cannot be read: {why}; correct it or move it away", path.display()))
        };
        if about.len() > LARGEST {
            return Err(cannot("it is too large".to_string()));
        }
        let bytes = fs::read(&path).map_err(|error| cannot(error.to_string()))?;
        let text: Value =
            serde_json::from_slice(&bytes).map_err(|error| cannot(format!("it is not JSON ({error})")))?;
        let version = text["version"].as_u64().unwrap_or(if place == TASKS { 4 } else { 1 });
        if version > 4 {
            return Err(cannot(format!("its version {version} is not known")));
        }
        let empty = Map::new();
        let entries = text["sessions"].as_object().or_else(|| text["agents"].as_object()).unwrap_or(&empty);
        for (key, entry) in entries {
            let is_by_agent = text["sessions"].as_object().is_none();
            match session(key, entry, version, is_by_agent) {
                Ok(session) => older.sessions.push(session),
                Err(why) => older.malformed.push((keyed(key, entry), why)),
            }
        }
        older.stores.push(Store { path, version, bytes });
    }
    Ok(older)
}

fn session(
    key: &str,
    entry: &Value,
    version: u64,
    is_by_agent: bool,
) -> std::result::Result<Session, String> {
    if !entry.is_object() {
        return Err("it is not an object".to_string());
    }
    let text = |name: &str| entry[name].as_str().filter(|text| !text.is_empty()).map(str::to_string);
    let own = is_by_agent.then(|| key.to_string());
    let agent = text("agent").or(own).ok_or("it names no agent")?;
    let created = text("created").or_else(|| text("lastUsed")).ok_or("it says not when it was created")?;
    let digits: String = created.chars().filter(char::is_ascii_digit).collect();
    let id = match (text("sessionId"), version) {
        (Some(id), _) => id,
        // The key is the id in these versions.
        (None, 2 | 4) => key.to_string(),
        (None, 3) => return Err("it has no session id".to_string()),
        (None, _) => format!("legacy-{agent}-{digits}"),
    };
    Ok(Session {
        id,
        name: text("name").or_else(|| (version == 3).then(|| key.to_string())),
        agent,
        status: text("status").unwrap_or_else(|| "unknown".to_string()),
        created,
        last_used: text("lastUsed"),
        prompt: text("lastPrompt"),
        executor: text("executor"),
        value: keyed(key, entry),
    })
}

/// An entry with the key it had.
fn keyed(key: &str, entry: &Value) -> Value {
    serde_json::json!({"key": key, "entry": entry})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(place: &str, text: &str) -> Result<Older> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        read(dir.path())
    }

    #[test]
    fn every_version_of_the_store_is_understood() {
        let one = store(SESSIONS, r#"{"agents": {"plan": {"created": "2025-10-01T00:00:00Z"}}}"#).unwrap();
        assert_eq!(
            (one.sessions[0].id.as_str(), one.sessions[0].agent.as_str()),
            ("legacy-plan-20251001000000", "plan")
        );
        let two = r#"{"version": 2, "sessions": {"a-1": {"agent": "x", "created": "2025-10-01", "status": "running"}}}"#;
        let two = store(SESSIONS, two).unwrap();
        assert_eq!((two.sessions[0].id.as_str(), two.sessions[0].status.as_str()), ("a-1", "running"));
        let three = r#"{"version": 3, "sessions": {"my-name": {"agent": "x", "created": "2025-10-01", "sessionId": "u"},
            "lost": {"agent": "x", "created": "2025-10-01"}}}"#;
        let three = store(SESSIONS, three).unwrap();
        assert_eq!(
            (three.sessions[0].id.as_str(), three.sessions[0].name.as_deref()),
            ("u", Some("my-name"))
        );
        assert_eq!(three.malformed.len(), 1);
        let four = r#"{"version": 4, "sessions": {"uuid": {"agent": "x", "created": "2025-10-01", "executor": "OPENCODE"}}}"#;
        let four = store(TASKS, four).unwrap();
        assert_eq!(
            (four.sessions[0].id.as_str(), four.sessions[0].executor.as_deref()),
            ("uuid", Some("OPENCODE"))
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_what_is_no_session_is_told() {
        assert!(store(SESSIONS, "{").unwrap_err().message.contains("is not JSON"));
        assert!(store(SESSIONS, r#"{"version": 9}"#).unwrap_err().message.contains("version 9"));
        let odd =
            store(SESSIONS, r#"{"version": 2, "sessions": {"a": {}, "b": 1, "c": {"agent": "x"}}}"#).unwrap();
        assert_eq!((odd.sessions.len(), odd.malformed.len()), (0, 3));
    }
}
