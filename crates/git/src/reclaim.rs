//! A worktree of ours in whose place something else stands: a repository of its own instead of the `.git` file, a link, a
//! file, another repository's worktree.
//!
//! What stands there is moved aside as it is, whole, so that nothing is lost and the worktree can be had again. Files
//! beside a `.git` that is wrong stay where they are: they are the work.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::{linked_git_dir, read_path};
use crate::error::{Error, Result, io_error};
use crate::repo::Repo;

/// What was moved out of the way of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reclaimed {
    /// Nothing had to be: it is there, or nothing is.
    Nothing,
    /// Its `.git`, which is where this says; the worktree is tied to the repository again.
    Git(PathBuf),
    /// All of it, which is where this says; nothing is at its place now.
    Whole(PathBuf),
}

impl Repo {
    /// Makes room for the worktree at `path`, which must lie under `root` and be one that was made with this lock
    /// reason. What stands there goes into `aside`: all of it only when `whole` says so.
    pub fn reclaim(
        &self,
        path: &Path,
        lock_reason: &str,
        aside: &Path,
        root: &Path,
        whole: bool,
    ) -> Result<Reclaimed> {
        let refuse = |why: &str| Error::NotOurWorktree { path: path.to_path_buf(), why: why.to_string() };
        let Ok(kind) = fs::symlink_metadata(path) else { return Ok(Reclaimed::Nothing) };
        if linked_git_dir(self.common_dir(), path).is_ok() {
            return Ok(Reclaimed::Nothing);
        }
        self.check_is_inside(path, root)?;
        let entry = self.entry_of(path).filter(|(git_dir, _)| self.is_of(git_dir, lock_reason));
        if kind.is_dir()
            && let Some((git_dir, _)) = entry.clone()
        {
            let own = path.join(".git");
            let moved = match fs::symlink_metadata(&own) {
                Ok(_) => Some(move_aside(&own, aside)?),
                Err(_) => None,
            };
            let mended = self.queued(|| self.tie(path, &git_dir));
            return match (mended, moved) {
                (Ok(()), Some(place)) => Ok(Reclaimed::Git(place)),
                (Ok(()), None) => Ok(Reclaimed::Nothing),
                (Err(error), moved) => {
                    let _back = fs::remove_file(&own);
                    let _back = moved.map(|place| fs::rename(place, &own));
                    Err(error)
                }
            };
        }
        // Another Forge, or the person, may have made a worktree of their own at this place. Of a link only itself is moved.
        let other = read_path(&path.join(".git"), "gitdir: ").map(|target| path.join(target));
        let is_ours = |other: &Path| self.lock_reason(other).as_deref() == Some(lock_reason);
        if kind.is_dir() && other.is_some_and(|other| other.exists() && !is_ours(&other)) {
            return Err(refuse("it is a worktree that somebody else has made"));
        }
        if !whole {
            return Err(refuse("something else stands in its place"));
        }
        let place = move_aside(path, aside)?;
        if let Some((git_dir, listed)) = entry.filter(|(git_dir, _)| !git_dir.join("modules").exists()) {
            // Whoever wants the worktree again registers it again.
            self.queued(|| self.drop_entry(&git_dir, &listed))?;
        }
        Ok(Reclaimed::Whole(place))
    }

    /// Drops the entries of worktrees that a call of git which was killed has left behind: their directory is gone, and
    /// `is_ours` says of the path and the lock's reason that nobody will want them. Returns their paths.
    pub fn drop_dead_entries(&self, is_ours: impl Fn(&Path, Option<&str>) -> bool) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(self.common_dir().join("worktrees")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error("list", self.common_dir())(error)),
        };
        let mut dropped = Vec::new();
        for git_dir in entries.flatten().map(|entry| entry.path()) {
            let file = read_path(&git_dir.join("gitdir"), "").map(|file| git_dir.join(file));
            let Some(listed) = file.as_deref().and_then(Path::parent) else { continue };
            let is_dead = || {
                let found = fs::symlink_metadata(listed);
                let is_gone = found.is_err_and(|error| error.kind() == ErrorKind::NotFound);
                // Repositories of submodules hold commits that exist nowhere else.
                is_gone && !git_dir.join("modules").exists()
            };
            if !is_dead() || !is_ours(listed, self.lock_reason(&git_dir).as_deref()) {
                continue;
            }
            // Whoever makes a worktree registers it in the queue, so one whose directory is still to come is not met there.
            let is_dropped = self.queued(|| match is_dead() {
                true => self.drop_entry(&git_dir, listed).map(|()| true),
                false => Ok(false),
            })?;
            if is_dropped {
                dropped.push(listed.to_path_buf());
            }
        }
        Ok(dropped)
    }

    /// Writes the `.git` file of a worktree that the repository knows.
    fn tie(&self, path: &Path, git_dir: &Path) -> Result<()> {
        let file = path.join(".git");
        let text = [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat();
        fs::write(&file, text).map_err(io_error("write", &file))?;
        linked_git_dir(self.common_dir(), path).map(drop)
    }

    fn is_of(&self, git_dir: &Path, lock_reason: &str) -> bool {
        // A removal that broke off has unlocked it already.
        self.lock_reason(git_dir).is_none_or(|reason| reason == lock_reason)
    }
}

/// Renames something into a directory, under a name that nothing there has.
fn move_aside(path: &Path, aside: &Path) -> Result<PathBuf> {
    fs::create_dir_all(aside).map_err(io_error("make", aside))?;
    let name = path.file_name().unwrap_or_default();
    let mut number = 0_u32;
    let place = loop {
        // A directory of its own claims the name, whatever is moved into it.
        let unique = aside.join(number.to_string());
        match fs::create_dir(&unique) {
            Ok(()) => break unique.join(name),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(io_error("make", &unique)(error)),
        }
    };
    fs::rename(path, &place).map_err(io_error("move into the trash", path))?;
    Ok(place)
}
