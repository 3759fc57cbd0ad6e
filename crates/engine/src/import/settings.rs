//! Foreign settings and profiles: they fill what the person has not set here, and nothing more.
//!
//! No secret comes over, and none is told; neither do the defaults of the other product, nor where it had its
//! worktrees.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::action;
use super::bring::{Outcome, hash};
use super::report::Tally;
use crate::ConfigChange;
use crate::store::imports::Hashes;

/// The settings that mean the same here, by section.
const KEYS: &[(&str, &str)] = &[
    ("", "theme"),
    ("", "executor_profile"),
    ("", "language"),
    ("", "git_branch_prefix"),
    ("notifications", "sound_enabled"),
    ("notifications", "push_enabled"),
    ("notifications", "sound_file"),
    ("editor", "editor_type"),
    ("editor", "custom_command"),
    ("editor", "remote_ssh_host"),
    ("editor", "remote_ssh_user"),
    ("github", "username"),
    ("github", "primary_email"),
    ("github", "default_pr_base"),
];

/// A prefix that a product has by itself is not what somebody wanted.
const DEFAULT_PREFIXES: &[&str] = &["af", "vk", "forge", ""];

/// Settings that are secret; they stay where they are.
const SECRETS: &[&str] = &["pat", "oauth_token", "token"];

/// Reads a settings file; none when there is none. One that makes no sense is told of.
pub(super) fn read(path: &Path, tally: &mut Tally) -> Option<Map<String, Value>> {
    let text = std::fs::read_to_string(path).ok()?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(settings)) => Some(settings),
        _ => {
            tally.note(format!("{} makes no sense and was not carried over.", path.display()));
            None
        }
    }
}

/// What is to be laid over the settings here.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) change: Map<String, Value>,
    /// What came, by key.
    pub(super) came: Hashes,
    pub(super) outcomes: Vec<(String, Outcome)>,
}

/// Decides which settings are taken: those that nobody has changed here.
pub(super) fn wanted(
    foreign: &Map<String, Value>,
    ours: &Map<String, Value>,
    defaults: &Map<String, Value>,
    before: &Hashes,
    tally: &mut Tally,
) -> Wanted {
    let github = foreign.get("github").and_then(Value::as_object);
    if github.is_some_and(|github| SECRETS.iter().any(|key| github.get(*key).is_some_and(Value::is_string))) {
        tally.note(
            "A GitHub token was found there and was not carried over; log in here, or set one yourself.",
        );
    }
    if foreign.get("workspace_dir").is_some_and(Value::is_string) {
        tally.note(
            "The place for worktrees (`workspace_dir`) was not carried over: it is the other product's.",
        );
    }
    let mut wanted = Wanted { came: before.clone(), ..Wanted::default() };
    for (section, key) in KEYS {
        let Some(value) = value_of(foreign, section, key) else { continue };
        let name = if section.is_empty() { (*key).to_string() } else { format!("{section}.{key}") };
        let here = leaf(ours, section, key).cloned().unwrap_or(Value::Null);
        let default = leaf(defaults, section, key).cloned().unwrap_or(Value::Null);
        let one = match section.is_empty() {
            true => json!({ *key: value.clone() }),
            false => json!({ *section: { *key: value.clone() } }),
        };
        let Value::Object(one) = one else { continue };
        if ConfigChange::new(one.clone()).is_err() {
            tally.about(
                "These settings have a value that is not known here, and were not carried over",
                &name,
            );
            continue;
        }
        let (hashed, now) = (hash(&value.to_string()), hash(&here.to_string()));
        let known = before.get(&name);
        let is_untouched = known.map_or(here == default, |known| *known == now);
        let outcome = if known == Some(&hashed) || here == value {
            Outcome::Same
        } else if is_untouched {
            merge(&mut wanted.change, one);
            if known.is_some() { Outcome::Updated } else { Outcome::Added }
        } else {
            Outcome::Kept(vec!["value".to_string()])
        };
        if !matches!(outcome, Outcome::Kept(_)) {
            wanted.came.insert(name.clone(), hashed);
        }
        wanted.outcomes.push((name, outcome));
    }
    wanted
}

fn leaf<'a>(config: &'a Map<String, Value>, section: &str, key: &str) -> Option<&'a Value> {
    match section.is_empty() {
        true => config.get(key),
        false => config.get(section)?.get(key),
    }
}

fn merge(change: &mut Map<String, Value>, one: Map<String, Value>) {
    for (key, value) in one {
        match (change.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => {
                change.insert(key, value);
            }
        }
    }
}

/// A setting in the words of today; none when it was never set, or says nothing.
fn value_of(foreign: &Map<String, Value>, section: &str, key: &str) -> Option<Value> {
    let found = match (section, key) {
        (_, "executor_profile") => {
            let named =
                ["executor_profile", "profile", "executor"].iter().find_map(|key| foreign.get(*key))?;
            let profile = action::profile_in(named).filter(action::is_known)?;
            return serde_json::to_value(profile).ok();
        }
        _ => leaf(foreign, section, key)?.clone(),
    };
    match (key, found) {
        (_, Value::Null) => None,
        ("theme", Value::String(theme)) => Some(json!(match theme.to_ascii_uppercase().as_str() {
            theme @ ("LIGHT" | "DARK") => theme,
            _ => "SYSTEM",
        })),
        ("sound_file", Value::String(sound)) if ["COW_MOOING", "ROOSTER"].contains(&sound.as_str()) => None,
        ("git_branch_prefix", Value::String(prefix)) if DEFAULT_PREFIXES.contains(&prefix.as_str()) => None,
        (_, found) => Some(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn settings_fill_what_nobody_set_and_secrets_and_defaults_stay_behind() {
        let defaults = map(json!({"theme": "SYSTEM", "language": "BROWSER", "git_branch_prefix": "forge",
            "notifications": {"sound_enabled": true}, "github": {"username": null, "pat": null}}));
        let mut ours = defaults.clone();
        ours.insert("language".into(), json!("JA"));
        let foreign = map(json!({"theme": "PURPLE", "language": "ES", "git_branch_prefix": "vk",
            "workspace_dir": "/old", "notifications": {"sound_enabled": false, "sound_file": "COW_MOOING"},
            "github": {"username": "octo", "pat": "SECRET", "oauth_token": null}}));
        let mut tally = Tally::default();
        let first = wanted(&foreign, &ours, &defaults, &Hashes::new(), &mut tally);
        assert_eq!(
            Value::Object(first.change.clone()),
            json!({"notifications": {"sound_enabled": false}, "github": {"username": "octo"}})
        );
        let kept = first.outcomes.iter().find(|(name, _)| name == "language").unwrap();
        assert!(matches!(kept.1, Outcome::Kept(_)));
        let (_, _, notes) = tally.end();
        assert!(notes.iter().any(|note| note.contains("token")), "{notes:?}");
        assert!(!notes.join(" ").contains("SECRET"));

        let mut after = ours.clone();
        after.insert("notifications".into(), json!({"sound_enabled": false}));
        after.insert("github".into(), json!({"username": "octo"}));
        let again = wanted(&foreign, &after, &defaults, &first.came, &mut Tally::default());
        assert!(again.change.is_empty(), "{:?}", again.change);
        // Changed back here since: that is an edit, and stays.
        let back = wanted(&foreign, &ours, &defaults, &first.came, &mut Tally::default());
        assert!(back.change.is_empty(), "{:?}", back.change);
    }
}
