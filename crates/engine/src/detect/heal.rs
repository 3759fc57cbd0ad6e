//! What is put back without asking: what keeps git or Forge from working at all, and costs nobody a byte.

use std::fs;

use forge_git::Repo;
use forge_model::FindingKind;

use super::before::{Before, FATAL};
use super::compare::{Found, text_side};
use crate::Result;
use crate::error::whole;

/// Heals what was broken, and returns what that was.
pub(super) fn heal(repo: &Repo, before: &Before) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    found.extend(heal_tie(repo, before)?);
    found.extend(heal_settings(repo, before));
    found.extend(heal_head(repo, before));
    Ok(found)
}

/// A worktree whose `.git` file is gone is tied to its repository again.
fn heal_tie(repo: &Repo, before: &Before) -> Result<Option<Found>> {
    let file = before.worktree.join(".git");
    if fs::symlink_metadata(&file).is_ok() || !before.worktree.is_dir() {
        return Ok(None);
    }
    let named = before.print.worktrees.iter().find(|(_, path)| **path == before.worktree);
    // A new attempt's worktree has the name of its directory.
    let name = named.map(|(name, _)| name.clone());
    let name = name.or_else(|| Some(before.worktree.file_name()?.to_string_lossy().into_owned()));
    let Some(admin) = name.map(|name| repo.common_dir().join("worktrees").join(name)) else {
        return Ok(None);
    };
    let points_back = fs::read_to_string(admin.join("gitdir"))
        .is_ok_and(|text| std::path::Path::new(text.trim_end()).parent() == Some(before.worktree.as_path()));
    if !points_back {
        return Ok(None);
    }
    let text = format!("gitdir: {}\n", admin.display());
    fs::write(&file, &text).map_err(crate::error::io_error("write", &file))?;
    Ok(Some(Found {
        healed: true,
        ..Found::new(FindingKind::Own, ".git", Some(text_side(text.trim_end())), None)
    }))
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
