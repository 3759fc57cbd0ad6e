//! What is put back without asking: what keeps git or Forge from working at all, and costs nobody a byte.

use std::fs;

use forge_git::{Fingerprint, Repo};
use forge_model::FindingKind;

use super::before::{Before, FATAL};
use super::compare::{Found, text_side};
use super::mend::{self, Mending};
use super::objects::Objects;
use crate::Result;
use crate::error::whole;
use crate::store::findings::Facts;

/// Heals what was broken, and returns what that was, and how the repository is now as far as files tell.
pub(super) fn heal(
    repo: &Repo,
    before: &Before,
    facts: &Facts,
    objects: &Objects,
    lock: &str,
) -> Result<(Vec<Found>, Fingerprint)> {
    let mut found = Vec::new();
    found.extend(heal_tie(repo, before)?);
    found.extend(heal_settings(repo, before));
    let now = repo.look()?;
    let (mended, now) = mend::mend(&Mending { repo, before, facts, objects, lock }, now)?;
    found.extend(mended);
    found.extend(heal_head(repo, before));
    Ok((found, now))
}

/// A worktree whose `.git` file is gone is tied to its repository again.
fn heal_tie(repo: &Repo, before: &Before) -> Result<Option<Found>> {
    let file = before.worktree.join(".git");
    let kind = fs::symlink_metadata(&file);
    // A directory is a repository, which somebody may have made here.
    if kind.as_ref().is_ok_and(|kind| kind.is_dir()) || !before.worktree.is_dir() {
        return Ok(None);
    }
    let named = before.print.worktrees.iter().find(|(_, path)| **path == before.worktree);
    // A new attempt's worktree has the name of its directory.
    let name = named.map(|(name, _)| name.clone());
    let name = name.or_else(|| Some(before.worktree.file_name()?.to_string_lossy().into_owned()));
    let Some(admin) = name.map(|name| repo.common_dir().join("worktrees").join(name)) else {
        return Ok(None);
    };
    let text = format!("gitdir: {}\n", admin.display());
    let found = kind.is_ok().then(|| fs::read_to_string(&file).unwrap_or_default());
    let leads_there = |found: &String| {
        let named = found.strip_prefix("gitdir: ").map(|named| before.worktree.join(named.trim_end()));
        named.is_some_and(|named| named == admin || named.canonicalize().is_ok_and(|named| named == admin))
    };
    if found.as_ref().is_some_and(leads_there) {
        return Ok(None);
    }
    let points_back = fs::read_to_string(admin.join("gitdir"))
        .is_ok_and(|text| std::path::Path::new(text.trim_end()).parent() == Some(before.worktree.as_path()));
    if !points_back {
        return Ok(None);
    }
    if found.is_some() {
        // It may be a link, through which nothing is written.
        fs::remove_file(&file).map_err(crate::error::io_error("replace", &file))?;
    }
    fs::write(&file, &text).map_err(crate::error::io_error("write", &file))?;
    let was = Some(text_side(text.trim_end()));
    let is = found.map(|found| text_side(found.trim_end()));
    Ok(Some(Found { healed: true, ..Found::new(FindingKind::Own, ".git", was, is) }))
}

/// Settings that make every checkout useless are what they were again.
fn heal_settings(repo: &Repo, before: &Before) -> Vec<Found> {
    let mut found = Vec::new();
    let was = match before.print.files.get("config") {
        Some(mark) => mark.hash.clone(),
        None => return found,
    };
    let unchanged =
        fs::read(repo.common_dir().join("config")).is_ok_and(|text| super::objects::hash(&text) == was);
    if unchanged {
        return found;
    }
    for key in FATAL {
        let Ok(now) = repo.own_setting(key) else { continue };
        let was = before.setting(key);
        if now == *was || (key == "core.bare" && now.as_deref() != Some("true")) {
            continue;
        }
        if let Err(error) = repo.set_own_setting(key, was.as_deref()) {
            tracing::warn!("{key} of {} could not be put back: {}", repo.top().display(), whole(&error));
            continue;
        }
        let side = |value: &Option<String>| value.as_deref().map(text_side);
        let healed = Found::new(FindingKind::Config, key, side(was), side(&now));
        found.push(Found { healed: true, ..healed });
    }
    found
}

/// The attempt's own HEAD is on its own branch again, when nothing is lost by that.
fn heal_head(repo: &Repo, before: &Before) -> Option<Found> {
    let worktree = repo.worktree(&before.worktree).ok()?;
    let admin = worktree.git_dir().join("HEAD");
    let was = format!("ref: {}", before.own);
    let now = fs::read_to_string(&admin).ok()?.trim_end().to_string();
    if now == was {
        return None;
    }
    // A rebase or a bisect under way has its HEAD elsewhere by right.
    let under_way = ["rebase-merge", "rebase-apply", "BISECT_LOG"];
    if under_way.iter().any(|name| worktree.git_dir().join(name).exists()) {
        return None;
    }
    let found = Found::new(FindingKind::Own, "HEAD", Some(text_side(&was)), Some(text_side(&now)));
    match worktree.attach(before.branch()) {
        Ok(healed) => Some(Found { healed, ..found }),
        Err(error) => {
            tracing::info!("HEAD of {} stays where it is: {}", before.worktree.display(), whole(&error));
            Some(found)
        }
    }
}
