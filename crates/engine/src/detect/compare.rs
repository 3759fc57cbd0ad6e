//! Comparing what a repository was with what it is, and leaving out what is explained.
//!
//! Explained is: the attempt's own branch, what Forge keeps for itself, what a fetch brings, branches of other attempts
//! that were at work or are new, and what Forge landed. A person who works at the same time is not told apart.

use forge_git::{Repo, redact};
use forge_model::{Finding, FindingId, FindingKind, FindingState, Run, Side, Time};

use super::before::{Before, Mark, Print};
use super::objects::Objects;
use crate::Result;
use crate::store::findings::Facts;

/// How much of a value is shown.
const LONGEST_VALUE: usize = 120;

/// What has been looked at from the first version on.
const NOTED_ALWAYS: [&str; 4] = ["config", "objects/info/alternates", "hooks/", "info/"];

/// How many new tags are held against the remote's branches.
const MOST_TAGS: usize = 50;

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: FindingKind,
    pub(super) subject: String,
    pub(super) before: Option<Side>,
    pub(super) after: Option<Side>,
    /// Forge has put it back already.
    pub(super) healed: bool,
}

impl Found {
    pub(super) fn new(kind: FindingKind, subject: &str, before: Option<Side>, after: Option<Side>) -> Self {
        Self { kind, subject: subject.to_string(), before, after, healed: false }
    }

    pub(super) fn finding(self, run: &Run, now: Time) -> Finding {
        Finding {
            id: FindingId::random(),
            attempt: run.attempt,
            run: Some(run.id),
            kind: self.kind,
            subject: self.subject,
            before: self.before,
            after: self.after,
            state: if self.healed { FindingState::Restored } else { FindingState::Seen },
            created_at: now,
            settled_at: self.healed.then_some(now),
        }
    }
}

/// Compares what is read without git: HEAD, config, hooks, `info`, and linked worktrees.
pub(super) fn steering(
    repo: &Repo,
    before: &Before,
    after: &Print,
    facts: &Facts,
    objects: &Objects,
) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    if before.print.head != after.head {
        let side = |head: &Option<String>| head.as_deref().map(text_side);
        found.push(Found::new(FindingKind::Head, "HEAD", side(&before.print.head), side(&after.head)));
    }
    let names: std::collections::BTreeSet<&String> =
        before.print.files.keys().chain(after.files.keys()).collect();
    for name in names {
        let (was, is) = (before.print.files.get(name), after.files.get(name));
        if was == is {
            continue;
        }
        // Where the history ends was settled when it was mended; it may have become longer by right.
        if name == "shallow" {
            continue;
        }
        if was.is_none() && !before.is_complete() && !NOTED_ALWAYS.iter().any(|start| name.starts_with(start))
        {
            continue;
        }
        let (kind, notes) = match name.as_str() {
            "config" | "config.worktree" => match config_notes(repo, before, facts, objects, was, is)? {
                Some(notes) => (FindingKind::Config, notes),
                None => continue,
            },
            name if name.starts_with("hooks/") => (FindingKind::Hook, file_notes(was, is, objects)?),
            _ => (FindingKind::Info, file_notes(was, is, objects)?),
        };
        let (was_shown, is_shown) = notes;
        found.push(Found::new(kind, name, file_side(was, was_shown), file_side(is, is_shown)));
    }
    found.extend(worktrees(before, after, facts));
    if before.is_complete() {
        found.extend(worktree_heads(before, after, facts, objects)?);
        let new = after.locks.iter().filter(|(name, _)| !before.print.locks.contains_key(*name));
        for (name, lock) in new {
            let shown = "a lock, as a git that was ended leaves it".to_string();
            found.push(Found::new(FindingKind::Info, name, None, file_side(Some(lock), shown)));
        }
    }
    Ok(found)
}

fn file_side(mark: Option<&Mark>, shown: String) -> Option<Side> {
    mark.map(|mark| Side {
        shown,
        hash: Some(mark.hash.clone()),
        kept: mark.kept,
        mode: Some(mark.mode),
        ..Side::default()
    })
}

/// HEAD of the linked worktrees that the person has made; those of attempts are theirs.
fn worktree_heads(before: &Before, after: &Print, facts: &Facts, objects: &Objects) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for (name, was) in &before.print.heads {
        let place = before.print.worktrees.get(name);
        let is_persons = place.is_some_and(|place| *place != before.worktree && !facts.is_our_place(place));
        let Some(is) = after.heads.get(name).filter(|is| is_persons && *is != was) else { continue };
        let side = |text: &String| -> Result<Option<Side>> {
            let hash = Some(objects.keep(format!("{text}\n").as_bytes())?);
            Ok(Some(Side { shown: text.clone(), hash, kept: true, mode: Some(0o100_644), ..Side::default() }))
        };
        let subject = format!("worktrees/{name}/HEAD");
        found.push(Found::new(FindingKind::Info, &subject, side(was)?, side(is)?));
    }
    Ok(found)
}

/// Leaves out locks that were those of somebody at work: they are gone, or others than were seen at a moment, in
/// milliseconds since 1970.
pub(super) fn without_passing_locks(found: Vec<Found>, repo: &Repo, seen_at: i64) -> Vec<Found> {
    let is_left = |found: &Found| {
        let lock = forge_git::Marks::of(&repo.common_dir().join(&found.subject));
        !found.subject.ends_with(".lock")
            || found.kind != FindingKind::Info
            || lock.is_some_and(|lock| lock.changed / 1_000_000 <= seen_at)
    };
    found.into_iter().filter(is_left).collect()
}

/// Compares references and the stash.
pub(super) fn refs(repo: &Repo, before: &Before, after: &Print, facts: &Facts) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let names: std::collections::BTreeSet<&String> =
        before.print.refs.keys().chain(after.refs.keys()).collect();
    let mut tags = 0;
    for name in names {
        let (was, is) = (before.print.refs.get(name), after.refs.get(name));
        if was == is || explained(name, was, is, before, facts) {
            continue;
        }
        if let (Some(was), Some(is)) = (was, is)
            && went_to_its_remote(repo, name, was, is, after)
        {
            continue;
        }
        if let (None, Some(is), true) = (was, is, name.starts_with("refs/tags/")) {
            tags += 1;
            if tags <= MOST_TAGS && repo.is_in_a_remote_branch(is).unwrap_or(false) {
                continue;
            }
        }
        let side = |value: Option<&String>| value.map(|value| text_side(value));
        found.push(Found::new(FindingKind::Ref, name, side(was), side(is)));
    }
    if before.print.stash != after.stash {
        let side = |stash: &[(String, String)]| Side {
            shown: match stash.first() {
                None => "empty".to_string(),
                Some((_, newest)) => format!("{} entries, the newest {newest:?}", stash.len()),
            },
            value: serde_json::to_string(stash).ok(),
            ..Side::default()
        };
        let (was, is) = (Some(side(&before.print.stash)), Some(side(&after.stash)));
        found.push(Found::new(FindingKind::Stash, "refs/stash", was, is));
    }
    Ok(found)
}

/// Says whether the commit that the person's checkout is on has changed.
pub(super) fn head_moved(before: &Before, after: &Print) -> bool {
    let commit = |print: &Print| {
        let head = print.head.clone()?;
        match head.strip_prefix("ref: ") {
            Some(reference) => print.refs.get(reference).cloned(),
            None => Some(head),
        }
    };
    commit(&before.print) != commit(after)
}

/// Says whether it is told that the commit of the person's checkout changed.
pub(super) fn tells_of_head<'a>(found: impl IntoIterator<Item = &'a Found>, before: &Before) -> bool {
    found.into_iter().any(|found| is_of_head(found, before))
}

/// Has the files go back together with HEAD.
pub(super) fn take_files_along<'a>(found: impl IntoIterator<Item = &'a mut Found>, before: &Before) {
    for found in found.into_iter().filter(|found| is_of_head(found, before)) {
        if let Some(after) = &mut found.after {
            after.with_files = true;
        }
    }
}

fn is_of_head(found: &Found, before: &Before) -> bool {
    let branch = before.print.head.as_deref().and_then(|head| head.strip_prefix("ref: "));
    found.kind == FindingKind::Head
        || (found.kind == FindingKind::Ref && Some(found.subject.as_str()) == branch)
}

fn explained(name: &str, was: Option<&String>, is: Option<&String>, before: &Before, facts: &Facts) -> bool {
    if name.starts_with("refs/remotes/") {
        return true;
    }
    if let Some(id) = name.strip_prefix("refs/forge/snapshots/") {
        // Forge adds to them and never takes one away while its attempt is there.
        return is.is_some() || !facts.attempts.iter().any(|attempt| attempt.id == id);
    }
    if name.starts_with("refs/forge/") {
        return true;
    }
    let is_name_for_another = is.is_some_and(|is| is.starts_with("ref: "));
    let Some(branch) = name.strip_prefix("refs/heads/") else { return false };
    if name == before.own {
        return is.is_some() && !is_name_for_another;
    }
    if is_name_for_another {
        return false;
    }
    match facts.attempts.iter().find(|attempt| attempt.branch == branch) {
        Some(attempt) => is.is_some() && (was.is_none() || attempt.was_at_work),
        // Of an attempt that was removed meanwhile, or is being made right now.
        None if before.ours.iter().any(|ours| ours == branch) => true,
        None if facts.starting.iter().any(|starting| starting == branch) => true,
        None => {
            let landed = |landed: &(String, String)| landed.0 == branch && Some(&landed.1) == is;
            let is_landing = facts.landing.iter().any(|target| target == branch);
            is_landing || facts.landed.iter().any(landed)
        }
    }
}

/// A branch that only went forward to what its remote branch is has lost nothing: a pull does that.
fn went_to_its_remote(repo: &Repo, name: &str, was: &str, is: &str, after: &Print) -> bool {
    let Some(branch) = name.strip_prefix("refs/heads/") else { return false };
    let of_remote = |(name, oid): (&String, &String)| {
        let tail = name.strip_prefix("refs/remotes/").and_then(|tail| tail.split_once('/'));
        oid == is && tail.is_some_and(|(_, tail)| tail == branch)
    };
    after.refs.iter().any(of_remote) && repo.is_ancestor(was, is).unwrap_or(false)
}

fn worktrees(before: &Before, after: &Print, facts: &Facts) -> Vec<Found> {
    let mut found = Vec::new();
    let place = |path: &std::path::Path| Some(text_side(&path.to_string_lossy()));
    for (name, path) in &before.print.worktrees {
        // One of an attempt's comes and goes with it; one that an attempt should have is missed.
        let has_gone = !after.worktrees.values().any(|other| other == path);
        let is_expected = match facts.attempts.iter().find(|attempt| attempt.worktree == *path) {
            Some(attempt) => !attempt.worktree_deleted,
            None => !facts.is_our_place(path),
        };
        if has_gone && is_expected && *path != before.worktree {
            found.push(Found::new(FindingKind::Worktree, name, place(path), None));
        }
    }
    for (name, path) in &after.worktrees {
        let is_new = !before.print.worktrees.values().any(|other| other == path);
        if is_new && !facts.is_our_place(path) {
            found.push(Found::new(FindingKind::Worktree, name, None, place(path)));
        }
    }
    found
}

/// What people are shown of two files: their sizes.
fn file_notes(was: Option<&Mark>, is: Option<&Mark>, objects: &Objects) -> Result<(String, String)> {
    let note = |mark: Option<&Mark>| -> Result<String> {
        let Some(mark) = mark else { return Ok(String::new()) };
        let size = match mark.kept {
            true => objects.read(&mark.hash)?.map(|content| format!("{} bytes", content.len())),
            false => None,
        };
        let size = size.unwrap_or_else(|| "a large file".to_string());
        Ok(if mark.mode & 0o111 == 0 { size } else { format!("{size}, executable") })
    };
    Ok((note(was)?, note(is)?))
}

/// What people are shown of two configs: the keys that differ. None when only branches of attempts do.
fn config_notes(
    repo: &Repo,
    before: &Before,
    facts: &Facts,
    objects: &Objects,
    was: Option<&Mark>,
    is: Option<&Mark>,
) -> Result<Option<(String, String)>> {
    let read = |mark: Option<&Mark>| -> Result<Option<Vec<(String, String)>>> {
        let Some(mark) = mark else { return Ok(Some(Vec::new())) };
        let Some(text) = objects.read(&mark.hash)?.filter(|_| mark.kept) else { return Ok(None) };
        Ok(repo.read_config(&text).ok())
    };
    let (Some(was), Some(is)) = (read(was)?, read(is)?) else {
        return Ok(Some(("a config".to_string(), "one that git cannot read".to_string())));
    };
    let ours: Vec<&str> = before.ours.iter().chain(facts.starting.iter()).map(String::as_str).collect();
    let ours: Vec<&str> =
        ours.into_iter().chain(facts.attempts.iter().map(|attempt| attempt.branch.as_str())).collect();
    let is_ours = |key: &str| {
        let branch = key.strip_prefix("branch.").and_then(|rest| rest.rsplit_once('.'));
        branch.is_some_and(|(branch, _)| branch == before.branch() || ours.contains(&branch))
    };
    let only = |these: &[(String, String)], those: &[(String, String)]| -> Vec<String> {
        let differing = these.iter().filter(|entry| !those.contains(entry) && !is_ours(&entry.0));
        differing.map(|(key, value)| format!("{key}={}", short(&redact(value)))).collect()
    };
    let (gone, new) = (only(&was, &is), only(&is, &was));
    if gone.is_empty() && new.is_empty() {
        return Ok(None);
    }
    let shown = |keys: Vec<String>| if keys.is_empty() { "without".to_string() } else { keys.join(", ") };
    Ok(Some((shown(gone), shown(new))))
}

fn short(value: &str) -> String {
    match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_string(),
    }
}

pub(super) fn text_side(value: &str) -> Side {
    Side { shown: value.to_string(), value: Some(value.to_string()), ..Side::default() }
}
