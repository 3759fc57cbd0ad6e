//! The person's settings: `config.json` in the data directory, in the shape that clients know.
//!
//! It is read whenever it is needed, so that an edit by hand counts at once. Keys that this Forge does not
//! know are kept. A file that makes no sense is refused with a sentence and never replaced, and secrets never
//! leave this file as they are.

use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use crate::background::blocking;
use crate::shape::{self, Keys, Rule};
use crate::sounds::SOUNDS;
use crate::{Engine, Error, Result, launch, private_file, script_settings};

/// What is shown in place of a secret. Sent back, it means the secret that is stored.
pub(crate) const MASK: &str = "********";

/// A longer prefix leaves too little of a file name for the branch.
const LONGEST_PREFIX: usize = 64;

const VERSION: &str = "v7";

const KEYS: Keys = &[
    ("theme", Rule::OneOf(&["LIGHT", "DARK", "SYSTEM"])),
    ("executor_profile", Rule::Profile),
    ("disclaimer_acknowledged", Rule::Flag),
    ("onboarding_acknowledged", Rule::Flag),
    ("github_login_acknowledged", Rule::Flag),
    ("telemetry_acknowledged", Rule::Flag),
    ("notifications", Rule::Section(NOTIFICATIONS)),
    ("editor", Rule::Section(EDITOR)),
    ("github", Rule::Section(GITHUB)),
    ("analytics_enabled", Rule::MaybeFlag),
    ("contact_email_opt_in", Rule::MaybeFlag),
    ("contact_username_opt_in", Rule::MaybeFlag),
    ("workspace_dir", Rule::MaybeText),
    ("last_app_version", Rule::MaybeText),
    ("show_release_notes", Rule::Flag),
    ("language", Rule::OneOf(&["BROWSER", "EN", "JA", "ES", "KO"])),
    ("git_branch_prefix", Rule::Text),
    ("limits", Rule::Section(LIMITS)),
    ("snapshots", Rule::Section(SNAPSHOTS)),
    ("runs", Rule::Section(RUNS)),
    ("removed", Rule::Section(REMOVED)),
    ("scripts", Rule::Section(script_settings::SCRIPTS)),
    ("dev_ports", Rule::Section(script_settings::DEV_PORTS)),
    ("showcases", Rule::Section(&[("seen_features", Rule::Texts)])),
    ("worktrees", Rule::Section(WORKTREES)),
    ("worktree_pool", Rule::Section(WORKTREE_POOL)),
    ("agents", Rule::Section(AGENTS)),
];

/// Whether attempts go on by themselves when a limit of their provider is over; after how long without a sign of
/// life an agent counts as stalled, and after how long while a tool of it runs.
const AGENTS: Keys = &[
    ("resume_when_limited", Rule::Flag),
    ("stalled_after_seconds", Rule::Count),
    ("stalled_in_tool_after_seconds", Rule::Count),
];

/// How many worktrees wait per project; from how many files on that is worth it; what all of them may take.
const WORKTREE_POOL: Keys = &[("ready", Rule::Count), ("from_files", Rule::Count), ("disk_mb", Rule::Count)];

const NOTIFICATIONS: Keys =
    &[("sound_enabled", Rule::Flag), ("push_enabled", Rule::Flag), ("sound_file", Rule::OneOf(SOUNDS))];

const EDITOR: Keys = &[
    ("editor_type", Rule::OneOf(&["VS_CODE", "CURSOR", "WINDSURF", "INTELLI_J", "ZED", "XCODE", "CUSTOM"])),
    ("custom_command", Rule::MaybeText),
    ("remote_ssh_host", Rule::MaybeText),
    ("remote_ssh_user", Rule::MaybeText),
];

const GITHUB: Keys = &[
    ("pat", Rule::MaybeSecret),
    ("oauth_token", Rule::MaybeSecret),
    ("username", Rule::MaybeText),
    ("primary_email", Rule::MaybeText),
    ("default_pr_base", Rule::MaybeText),
];

/// How long the worktrees of attempts are kept; null means for ever.
const WORKTREES: Keys = &[("expire_after_hours", Rule::MaybeCount), ("tidy_after_hours", Rule::MaybeCount)];

/// How long snapshots are kept, and how much of a project's they may be together; null keeps all. Larger files than
/// `file_mb` are in no snapshot and in no commit of Forge's.
const SNAPSHOTS: Keys =
    &[("file_mb", Rule::Count), ("keep_days", Rule::MaybeCount), ("keep_mb", Rule::MaybeCount)];

/// How long the logs of runs are kept when their attempt is closed, and how much all logs may be together; null and 0
/// keep all.
const RUNS: Keys = &[("keep_days", Rule::MaybeCount), ("keep_mb", Rule::MaybeCount)];

/// How long what was removed can be recovered; null and 0 keep it for ever.
const REMOVED: Keys = &[("keep_days", Rule::MaybeCount)];

const LIMITS: Keys = &[
    ("max_running", Rule::MaybeLimit),
    ("max_running_per_project", Rule::MaybeLimit),
    ("min_free_mb", Rule::MaybeCount),
];

/// Describes the settings as they are shown, as a JSON Schema.
pub fn config_schema() -> Value {
    let mut schema = shape::schema(KEYS);
    schema["properties"]["config_version"] = json!({ "const": VERSION });
    schema["description"] = json!("The person's settings; keys that this Forge does not know are kept.");
    schema
}

/// Settings to lay over those there are. A key that is not named keeps its value; a whole object is as
/// welcome as a part of one.
#[derive(Clone)]
pub struct ConfigChange(Map<String, Value>);

impl ConfigChange {
    /// Checks the shape of a change; the refusal names the key.
    pub fn new(mut change: Map<String, Value>) -> Result<Self> {
        shape::check(&change, KEYS, "").map_err(Error::invalid)?;
        if let Some(profile) = change.get("executor_profile").and_then(shape::profile) {
            launch::agent(&profile)
                .map_err(|error| Error::invalid(format!("`executor_profile`: {error}")))?;
        }
        // The file is written in this Forge's own version, whatever a client believes.
        change.remove("config_version");
        Ok(Self(change))
    }
}

impl std::fmt::Debug for ConfigChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values may be secrets.
        f.debug_tuple("ConfigChange").field(&self.0.keys().collect::<Vec<_>>()).finish()
    }
}

impl Engine {
    /// Returns the settings, secrets masked.
    pub async fn config(&self) -> Result<Value> {
        let engine = self.clone();
        Ok(masked(blocking(move || engine.stored_config()).await??))
    }

    /// Lays a change over the settings, writes them down, and returns them, secrets masked.
    pub async fn change_config(&self, change: ConfigChange) -> Result<Value> {
        let engine = self.clone();
        blocking(move || {
            let _turn = engine.inner.files.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(prefix) = change.0.get("git_branch_prefix").and_then(Value::as_str) {
                check_prefix(prefix)?;
            }
            let mut config = engine.stored_config()?;
            lay(&mut config, change.0, KEYS);
            let text = serde_json::to_string_pretty(&config)
                .map_err(|error| Error::internal(format!("the config cannot be written: {error}")))?;
            private_file::replace(&engine.inner.paths.config(), &format!("{text}\n"))?;
            engine.inner.line.look();
            Ok(masked(config))
        })
        .await?
    }

    /// Returns for how many days snapshots are kept, and how many bytes those of a project may take.
    pub(crate) async fn snapshot_limits(&self) -> Result<(Option<u64>, Option<u64>)> {
        let engine = self.clone();
        let config = blocking(move || engine.stored_config()).await??;
        let limit = |key: &str| config.get("snapshots").and_then(|section| section.get(key)?.as_u64());
        Ok((limit("keep_days"), limit("keep_mb").map(|mb| mb.saturating_mul(1_000_000))))
    }

    /// Returns how large files may be that are snapshotted or committed. Blocks.
    pub(crate) fn file_limits(&self) -> forge_git::Limits {
        let usual = forge_git::Limits::default();
        // Work is kept whatever is wrong with the settings.
        let config = self.stored_config().unwrap_or_default();
        let wanted = config.get("snapshots").and_then(|section| section.get("file_mb")?.as_u64());
        let file_bytes = wanted.map_or(usual.file_bytes, |mb| mb.saturating_mul(1_000_000));
        forge_git::Limits { file_bytes, total_bytes: usual.total_bytes.max(file_bytes) }
    }

    /// Returns what the branches of attempts begin with.
    pub(crate) async fn branch_prefix(&self) -> Result<String> {
        let engine = self.clone();
        let config = blocking(move || engine.stored_config()).await??;
        let prefix = config.get("git_branch_prefix").and_then(Value::as_str).unwrap_or_default();
        check_prefix(prefix).map_err(|error| self.damaged_config(&error.to_string()))?;
        Ok(prefix.to_string())
    }

    /// Reads the file and fills what it leaves open with defaults.
    pub(crate) fn stored_config(&self) -> Result<Map<String, Value>> {
        let mut config = defaults();
        let Some(text) = private_file::read(&self.inner.paths.config())? else { return Ok(config) };
        let stored = match serde_json::from_str(&text) {
            Ok(Value::Object(stored)) => stored,
            Ok(_) => return Err(self.damaged_config("it must be a JSON object")),
            Err(error) => return Err(self.damaged_config(&format!("it is not JSON ({error})"))),
        };
        shape::check(&stored, KEYS, "").map_err(|why| self.damaged_config(&why))?;
        let before = stored.get("last_app_version").and_then(Value::as_str).map(str::to_string);
        lay(&mut config, stored, KEYS);
        config.insert("config_version".into(), VERSION.into());
        config.insert("last_app_version".into(), env!("CARGO_PKG_VERSION").into());
        if before.is_some_and(|version| version != env!("CARGO_PKG_VERSION")) {
            config.insert("show_release_notes".into(), true.into());
        }
        Ok(config)
    }

    fn damaged_config(&self, why: &str) -> Error {
        let path = self.inner.paths.config();
        Error::unavailable(format!(
            "{} cannot be used: {why}; correct it, or move it away to begin with the defaults",
            path.display()
        ))
    }
}

/// The settings of somebody who has set none.
pub(crate) fn defaults() -> Map<String, Value> {
    let defaults = json!({
        "config_version": VERSION,
        "theme": "SYSTEM",
        "executor_profile": {"executor": "CLAUDE_CODE"},
        "disclaimer_acknowledged": false,
        "onboarding_acknowledged": false,
        "github_login_acknowledged": false,
        "telemetry_acknowledged": false,
        "notifications": {"sound_enabled": true, "push_enabled": true, "sound_file": "GENIE_NOTIFY1"},
        "editor": {
            "editor_type": "VS_CODE", "custom_command": null, "remote_ssh_host": null, "remote_ssh_user": null,
        },
        "github": {
            "pat": null, "oauth_token": null, "username": null, "primary_email": null, "default_pr_base": "main",
        },
        "analytics_enabled": null,
        "contact_email_opt_in": null,
        "contact_username_opt_in": null,
        "workspace_dir": null,
        "last_app_version": env!("CARGO_PKG_VERSION"),
        "show_release_notes": false,
        "language": "BROWSER",
        "git_branch_prefix": "forge",
        "limits": {"max_running": null, "max_running_per_project": null, "min_free_mb": 1024},
        "snapshots": {"file_mb": 50, "keep_days": 30, "keep_mb": 5000},
        "runs": {"keep_days": 90, "keep_mb": 20000},
        "removed": {"keep_days": 90},
        "scripts": script_settings::default_scripts(),
        "dev_ports": script_settings::default_dev_ports(),
        "showcases": {"seen_features": []},
        "worktrees": {"expire_after_hours": 72, "tidy_after_hours": 1},
        "agents": {
            "resume_when_limited": false, "stalled_after_seconds": 600, "stalled_in_tool_after_seconds": 1800,
        },
        "worktree_pool": {"ready": 2, "from_files": 50, "disk_mb": 4096},
    });
    match defaults {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Lays a change over settings. Known sections are merged key by key; everything else is replaced whole,
/// so that what a client does not send inside its own objects can be removed by it.
pub(crate) fn lay(config: &mut Map<String, Value>, change: Map<String, Value>, keys: Keys) {
    for (key, value) in change {
        match (shape::rule(keys, &key), value) {
            (Some(Rule::Section(inner) | Rule::MaybeSection(inner)), Value::Object(section)) => {
                let known = config.entry(key).or_insert(Value::Null);
                if known.is_null() {
                    *known = Value::Object(Map::new());
                }
                if let Value::Object(known) = known {
                    lay(known, section, inner);
                }
            }
            (Some(Rule::MaybeSecret), Value::String(text)) if text == MASK => {}
            (Some(Rule::Profile), value) => {
                // Its variant belongs to its agent, so the two are never mixed with what was there.
                let profile = shape::profile(&value).and_then(|profile| serde_json::to_value(profile).ok());
                config.insert(key, profile.unwrap_or(value));
            }
            (_, value) => {
                config.insert(key, value);
            }
        }
    }
}

/// Puts the mask in place of every secret there is.
fn masked(mut config: Map<String, Value>) -> Value {
    mask(&mut config, KEYS);
    Value::Object(config)
}

/// Puts the mask in place of the secrets of known keys.
pub(crate) fn mask(map: &mut Map<String, Value>, keys: Keys) {
    for (key, value) in map {
        match (shape::rule(keys, key), value) {
            (Some(Rule::Section(inner) | Rule::MaybeSection(inner)), Value::Object(section)) => {
                mask(section, inner);
            }
            (Some(Rule::MaybeSecret), Value::String(secret)) if !secret.is_empty() => *secret = MASK.into(),
            _ => {}
        }
    }
}

fn check_prefix(prefix: &str) -> Result<()> {
    if prefix.is_empty() {
        return Err(Error::invalid(
            "`git_branch_prefix` must not be empty: it keeps the branches of attempts apart from yours; \
             use \"forge\", which is the default",
        ));
    }
    if prefix.len() > LONGEST_PREFIX {
        return Err(Error::invalid(format!(
            "`git_branch_prefix` must not be longer than {LONGEST_PREFIX} characters"
        )));
    }
    if prefix.contains('/') || forge_git::check_branch_name(prefix).is_err() {
        return Err(Error::invalid(
            "Invalid git branch prefix. Must be a valid git branch name component without slashes.",
        ));
    }
    Ok(())
}
