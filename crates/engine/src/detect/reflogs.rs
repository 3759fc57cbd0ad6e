//! Reflogs, by which the person finds what no branch has any more: commits that only they hold are kept before a turn,
//! and one that has lost entries is told after it.
//!
//! Git itself drops entries when they are old, and the log of a branch with the branch; neither is told. What there was
//! is listed in the background, because a repository may have a thousand logs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use forge_git::{Fingerprint, Repo, SeenReflogs};
use forge_model::{FindingKind, Side, Time};
use serde::{Deserialize, Serialize};

use super::before::{Before, Print};
use super::compare::Found;
use super::objects::{Objects, hash};
use crate::Result;
use crate::error::whole;

/// A longer log is not listed.
const LONGEST: u64 = 1 << 20;

/// So many logs are listed, and so many told.
const MOST: usize = 2000;
const MOST_TOLD: usize = 100;

/// Git drops entries that are older, at the earliest.
const YOUNG_SECONDS: i64 = 30 * 24 * 60 * 60;

/// What is known of the reflogs of each repository, by its git directory.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<PathBuf, Arc<OfRepository>>>);

#[derive(Debug, Default)]
struct OfRepository {
    seen: Mutex<SeenReflogs>,
    listed: Mutex<Listed>,
}

/// The hashes of logs as they were read last, by what tells a changed one; good for a day, or what is kept under them
/// would be purged.
#[derive(Debug, Default)]
struct Listed {
    day: String,
    hashes: HashMap<String, (u64, i64, String)>,
}

/// The hash of the content of each log.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Logs(BTreeMap<String, (u64, i64, String)>);

impl Known {
    fn of(&self, repo: &Repo) -> Arc<OfRepository> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(repo.common_dir().to_path_buf()).or_default().clone()
    }

    /// Keeps the commits that only a reflog holds. That it cannot be done keeps no run from starting.
    pub(super) fn keep(&self, repo: &Repo, now: &Fingerprint, ours: &[String], at: Time) {
        let known = self.of(repo);
        // Nobody waits for it: another start is just looking at the same reflogs.
        let Ok(mut seen) = known.seen.try_lock() else { return };
        if let Err(error) = repo.keep_reflogs(&now.refs, &now.stash, ours, &mut seen, &at.day()) {
            let top = repo.top().display();
            tracing::warn!("what only the reflogs of {top} hold is not kept: {}", whole(&error));
        }
    }

    /// Lists the reflogs of the person's branches, and keeps their contents.
    pub(super) fn list(&self, repo: &Repo, objects: &Objects, before: &Before) -> Result<Logs> {
        let known = self.of(repo);
        // Taken out and put back: nobody waits while files are read.
        let mut listed = std::mem::take(&mut *known.listed.lock().unwrap_or_else(PoisonError::into_inner));
        let today = crate::store::now().day();
        if listed.day != today {
            listed = Listed { day: today, ..Listed::default() };
        }
        let mut logs = BTreeMap::new();
        for (name, (size, changed)) in repo.reflogs()? {
            if logs.len() >= MOST || size == 0 || size > LONGEST || !is_looked_at(&name, before) {
                continue;
            }
            let kept = listed.hashes.get(&name).filter(|kept| (kept.0, kept.1) == (size, changed));
            let kept = match kept {
                Some(kept) => kept.clone(),
                // One that vanishes under our eyes is one that nobody can have back.
                None => match fs::read(repo.common_dir().join(&name)) {
                    Ok(content) => (size, changed, objects.keep(&content)?),
                    Err(_) => continue,
                },
            };
            listed.hashes.insert(name.clone(), kept.clone());
            logs.insert(name, kept);
        }
        *known.listed.lock().unwrap_or_else(PoisonError::into_inner) = listed;
        Ok(Logs(logs))
    }
}

/// Branches of attempts come and go, and what only the stash's log has is looked at as the stash.
fn is_looked_at(name: &str, before: &Before) -> bool {
    match name.strip_prefix("logs/refs/") {
        None => true,
        Some(tail) => tail.strip_prefix("heads/").is_some_and(|branch| {
            branch != before.branch() && !before.ours.iter().any(|ours| ours == branch)
        }),
    }
}

impl Logs {
    /// Finds the logs that have lost entries which git would not have dropped.
    pub(super) fn compare(&self, repo: &Repo, objects: &Objects, now: &Print) -> Result<Vec<Found>> {
        let young = crate::store::now().millis() / 1000 - YOUNG_SECONDS;
        let there = repo.reflogs()?;
        let mut found = Vec::new();
        for (name, (size, changed, hash_before)) in &self.0 {
            if there.get(name) == Some(&(*size, *changed)) || found.len() >= MOST_TOLD {
                continue;
            }
            // The log of a branch goes with it, and the branch is told.
            let is_there = |reference: &str| now.refs.contains_key(reference);
            if name.strip_prefix("logs/").is_some_and(|reference| reference != "HEAD" && !is_there(reference))
            {
                continue;
            }
            let Some(was) = objects.read(hash_before)? else { continue };
            let is = fs::read(repo.common_dir().join(name)).ok();
            let content = is.as_deref().unwrap_or_default();
            if content.starts_with(&was) {
                continue;
            }
            let left: HashSet<&[u8]> = lines(content).collect();
            let lost = lines(&was).filter(|line| !left.contains(line) && is_after(line, young)).count();
            if lost == 0 {
                continue;
            }
            // What came since stays: it goes behind what was there before.
            let known: HashSet<&[u8]> = lines(&was).collect();
            let mut whole = was.clone();
            for line in lines(content).filter(|line| !known.contains(line)) {
                whole.extend_from_slice(line);
                whole.push(b'\n');
            }
            let mode = Some(0o100_644);
            let before = Side {
                shown: entries(&whole),
                hash: Some(objects.keep(&whole)?),
                kept: true,
                mode,
                ..Side::default()
            };
            let after = is.as_deref().map(|is| Side {
                shown: entries(is),
                hash: Some(hash(is)),
                mode,
                ..Side::default()
            });
            found.push(Found::new(FindingKind::Info, name, Some(before), after));
        }
        Ok(found)
    }
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn entries(content: &[u8]) -> String {
    match lines(content).count() {
        1 => "1 entry".to_string(),
        count => format!("{count} entries"),
    }
}

/// Says whether an entry was made after a moment, in seconds since 1970.
fn is_after(line: &[u8], moment: i64) -> bool {
    let text = String::from_utf8_lossy(line);
    let head = text.split('\t').next().unwrap_or_default();
    // `<old> <new> <name> <<address>> <seconds> <zone>`
    let seconds = head.rsplit(' ').nth(1).and_then(|seconds| seconds.parse().ok());
    seconds.is_some_and(|seconds: i64| seconds > moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_tells_when_it_was_made() {
        let line = b"0 1 Ada Lovelace <ada@x> 1700000000 +0100\tcommit: at 5 o'clock";
        assert!(is_after(line, 1_699_999_999) && !is_after(line, 1_700_000_000));
        assert!(!is_after(b"garbage", 0));
    }
}
