//! What lies in the worktree root and belongs to no attempt.
//!
//! The root may be shared: by another data directory, by the person. So only two things ever go: an empty directory
//! that has been there a while, and a linked worktree that is locked in this data directory's name, with a snapshot
//! and not before the time that an attempt's own would have. Everything else is told and left alone.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use forge_git::{Limits, SnapshotRequest};
use forge_model::Time;

use crate::ages::Ages;
use crate::background::blocking;
use crate::error::{io_error, whole};
use crate::gc::{Cleaned, Left, Swept, What, measured};
use crate::occupants::occupants;
use crate::store::{lodgings, settings, starts};
use crate::{Engine, Error, Result};

/// Somebody may be about to fill an empty directory.
const EMPTY_FOR_MILLIS: i64 = 60 * 60 * 1000;

/// Where the times of first sight are kept.
const SCOPE: &str = "strays";

/// What an unknown directory is.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Empty, and for a while.
    Empty,
    /// A worktree that is locked in our name.
    Ours,
    /// Anything else.
    Another(String),
}

impl Engine {
    pub(crate) async fn sweep_strays(
        &self,
        stays: Option<i64>,
        ages: &Ages,
        dry_run: bool,
        measure: bool,
        cleaned: &mut Cleaned,
    ) -> Result<()> {
        let known = self.inner.store.read(|conn| {
            let mut known = lodgings::known(conn)?;
            known.extend(starts::marks(conn)?.into_iter().filter_map(|start| start.worktree));
            let seen = settings::one(conn, SCOPE)?.and_then(|body| serde_json::from_str(&body).ok());
            Ok((known, seen.unwrap_or_default()))
        });
        let (known, seen): (Vec<PathBuf>, BTreeMap<String, i64>) = known.await?;
        let (roots, reason, clock) = (self.inner.paths.roots.clone(), self.lock_reason(), ages.clone());
        let found = blocking(move || -> Result<Vec<_>> {
            let mut found = Vec::new();
            for root in roots {
                found.extend(survey(&root, &known, &reason, &clock)?);
            }
            Ok(found)
        });
        let found = found.await??;
        let now = crate::store::now().millis();
        let mut still: BTreeMap<String, i64> = BTreeMap::new();
        for (path, kind) in found {
            let left = |why: String| Left { path: path.clone(), attempt: None, why };
            let (what, reason) = match kind {
                Kind::Another(why) => {
                    cleaned.left.push(left(why));
                    continue;
                }
                Kind::Empty => (What::Empty, "it is empty and belongs to no attempt"),
                Kind::Ours => (What::Stray, "it belongs to no attempt of this data directory"),
            };
            if !self.inner.clean_strays {
                cleaned.left.push(left(format!("{reason}; DISABLE_WORKTREE_ORPHAN_CLEANUP keeps it")));
                continue;
            }
            let name = path.to_string_lossy().into_owned();
            let first = seen.get(&name).copied().filter(|first| *first <= now).unwrap_or(now);
            if what == What::Stray
                && stays.is_none_or(|stays| ages.of(Time::from_millis(first)).max(0) < stays)
            {
                still.insert(name, first);
                cleaned.left.push(left(format!(
                    "{reason}; it goes to the trash when it has been so for as long as worktrees are kept"
                )));
                continue;
            }
            let bytes = if measure { Some(measured(&path).await?) } else { None };
            let (engine, doomed) = (self.clone(), path.clone());
            let is_empty = what == What::Empty;
            let done = match dry_run {
                true => Ok(()),
                false => blocking(move || engine.remove_stray(&doomed, is_empty)).await?,
            };
            match done {
                Ok(()) => {
                    let reason = reason.to_string();
                    cleaned.swept.push(Swept { what, path, attempt: None, bytes, reason });
                }
                Err(error) => {
                    still.insert(name, first);
                    cleaned.left.push(left(error.to_string()));
                }
            }
        }
        if !dry_run && still != seen {
            let body = serde_json::to_string(&still)
                .map_err(|error| Error::internal(format!("the strays cannot be written: {error}")))?;
            self.inner.store.write(move |tx| settings::put(tx.conn(), SCOPE, &body, tx.now())).await?;
        }
        Ok(())
    }

    /// Removes a stray: an empty directory, or a worktree into the trash after a snapshot. Blocks.
    fn remove_stray(&self, path: &Path, is_empty: bool) -> Result<()> {
        if is_empty {
            // Refused by the system when something is in it by now.
            return std::fs::remove_dir(path).map_err(io_error("remove", path));
        }
        if let Some(pid) = occupants(&[path.to_path_buf()])?.get(path) {
            return Err(Error::conflict(format!("process {pid} is inside")));
        }
        let inside = self.inner.git.open(path)?;
        let main = inside.worktrees()?.into_iter().find(|worktree| worktree.is_main);
        let main = main.ok_or_else(|| Error::conflict("its repository has no checkout"))?;
        let repo = self.inner.git.open(&main.path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        repo.worktree(path)?.snapshot(&SnapshotRequest {
            reference: format!("refs/forge/strays/{name}"),
            message: format!("{} belonged to no attempt", path.display()),
            limits: Limits::default(),
            private: Some(self.inner.paths.home.join("private").join(format!("stray-{name}"))),
        })?;
        let trash = self.inner.paths.trash().join("strays");
        repo.remove_worktree_to_trash(path, &trash, &self.inner.paths.root_of(path))?;
        Ok(())
    }
}

/// Looks at everything in the root that is not known.
fn survey(root: &Path, known: &[PathBuf], lock_reason: &str, ages: &Ages) -> Result<Vec<(PathBuf, Kind)>> {
    let entries = match std::fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("list", root)(error)),
    };
    // A worktree may lie deeper than right below the root.
    let ours: HashSet<&Path> = known.iter().flat_map(|known| known.ancestors()).collect();
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        // Those that wait for an attempt are in a directory of their own, which is no worktree.
        if ours.contains(path.as_path()) || entry.file_name() == ".pool" {
            continue;
        }
        found.push((path.clone(), kind(&path, lock_reason, ages)));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn kind(path: &Path, lock_reason: &str, ages: &Ages) -> Kind {
    let another = |why: &str| Kind::Another(why.to_string());
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) => return another(&whole(&error)),
    };
    if !meta.is_dir() {
        return another("it is no directory, and nobody here knows it");
    }
    if std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
        let is_old = meta.modified().is_ok_and(|changed| ages.of_file(changed) >= EMPTY_FOR_MILLIS);
        return if is_old { Kind::Empty } else { another("it is empty, but has not been so for an hour") };
    }
    let file = std::fs::read_to_string(path.join(".git")).unwrap_or_default();
    let Some(git_dir) = file.strip_prefix("gitdir: ").map(|line| path.join(line.trim_end())) else {
        return another("it is no worktree");
    };
    if !git_dir.exists() {
        return another("it is a worktree whose repository is gone; delete it when nothing in it is wanted");
    }
    match std::fs::read_to_string(git_dir.join("locked")) {
        Ok(reason) if reason.trim_end() == lock_reason => Kind::Ours,
        Ok(reason) => {
            Kind::Another(format!("it is a worktree that somebody else has locked: {}", reason.trim_end()))
        }
        Err(_) => another("it is a worktree, but not one that this Forge made"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(root: &Path, known: &[PathBuf], now: Time) -> Vec<(String, Kind)> {
        let found = survey(root, known, "forge /home/a", &Ages::right_at(now)).unwrap();
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        found.into_iter().map(|(path, kind)| (name(path), kind)).collect()
    }

    fn worktree(root: &Path, name: &str, locked: Option<&str>) {
        let admin = root.join("..").join(format!("admin-{name}"));
        std::fs::create_dir_all(root.join(name)).unwrap();
        std::fs::create_dir_all(&admin).unwrap();
        std::fs::write(root.join(name).join(".git"), format!("gitdir: {}\n", admin.display())).unwrap();
        if let Some(reason) = locked {
            std::fs::write(admin.join("locked"), reason).unwrap();
        }
    }

    #[test]
    fn only_what_is_empty_for_long_or_locked_in_our_name_is_ours_to_clean() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("worktrees");
        for name in ["empty", ".pool", "files"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("files/precious"), "").unwrap();
        std::fs::write(root.join("note.txt"), "").unwrap();
        worktree(&root, "ours", Some("forge /home/a\n"));
        worktree(&root, "known", Some("forge /home/a\n"));
        worktree(&root, "theirs", Some("forge /home/b"));
        worktree(&root, "persons", None);
        let known = [root.join("known")];
        let now = crate::store::now();
        let later = now.plus_millis(EMPTY_FOR_MILLIS + 60_000);
        let cleanable = |now: Time| {
            let found = found(&root, &known, now).into_iter();
            found.filter(|(_, kind)| !matches!(kind, Kind::Another(_))).collect::<Vec<_>>()
        };
        assert_eq!(cleanable(later), [("empty".to_string(), Kind::Empty), ("ours".to_string(), Kind::Ours)]);
        assert_eq!(cleanable(now), [("ours".to_string(), Kind::Ours)]);
        let all: Vec<String> = found(&root, &known, later).into_iter().map(|(name, _)| name).collect();
        assert_eq!(all, ["empty", "files", "note.txt", "ours", "persons", "theirs"]);
    }
}
