//! Files that git ignores, brought from the person's checkout into an attempt's worktree: a `.env`, say.
//!
//! Which ones, the project's `copy_files` says and the file `.worktreeinclude` at the top of the checkout. Only files
//! that the worktree ignores are brought, because anything else would be committed with the agent's work. No link is
//! followed on either side, nothing outside the repository is read, and nothing that is there is written over. What
//! was wanted and is not brought is told.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use forge_git::Repo;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::background::blocking;
use crate::error::whole;
use crate::intent::Intent;
use crate::{Engine, Error, Result};

/// The file in which a repository names what its worktrees need, as an ignore file names it.
const INCLUDE: &str = ".worktreeinclude";

/// The most that is read of it.
const LONGEST_INCLUDE: u64 = 64 * 1024;

/// The most that is copied: more would hold up every start.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 1 << 30;

/// How much of what is not copied is told one by one.
const TOLD: usize = 5;

const OPEN_DIR: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Engine {
    /// Brings the files that the project wants into an attempt's worktree. What could not be brought is a sentence
    /// for the run: it is no reason to start nothing.
    pub(crate) async fn bring_files(&self, intent: &Intent) -> Result<Option<String>> {
        let project = self.project(intent.project).await?;
        let (engine, worktree) = (self.clone(), intent.worktree.clone());
        let own = self.inner.paths.own();
        let lists = |globs: &Option<String>| globs.as_ref().is_some_and(|globs| !globs.trim().is_empty());
        blocking(move || {
            if !lists(&project.copy_files) && !project.path.join(INCLUDE).is_file() {
                return None;
            }
            let wanted = project.copy_files.as_deref().unwrap_or_default();
            let mut left_out = Vec::new();
            if let Err(error) = bring(&engine, &project.path, &worktree, wanted, &own, &mut left_out) {
                left_out.push(whole(&error));
            }
            told(&left_out)
        })
        .await
    }
}

/// Refuses `copy_files` that name anything outside the repository.
pub(crate) fn check(globs: Option<&str>) -> Result<()> {
    let wrong = split(globs.unwrap_or_default()).find_map(|glob| wrong(glob).map(|why| (glob, why)));
    match wrong {
        Some((glob, why)) => Err(Error::invalid(format!("`copy_files`: {glob:?} {why}"))),
        None => Ok(()),
    }
}

fn split(globs: &str) -> impl Iterator<Item = &str> {
    globs.split([',', '\n']).map(str::trim).filter(|glob| !glob.is_empty())
}

/// Says what is wrong with a path from the top of a repository.
fn wrong(glob: &str) -> Option<&'static str> {
    let path = Path::new(glob);
    if glob.contains('\0') {
        Some("has a NUL character in it")
    } else if path.is_absolute() {
        Some("must be a path from the top of the repository, and not an absolute one")
    } else if path.components().any(|part| matches!(part, Component::ParentDir)) {
        Some("leads out of the repository")
    } else {
        None
    }
}

fn bring(
    engine: &Engine,
    top: &Path,
    worktree: &Path,
    globs: &str,
    own: &[PathBuf],
    left_out: &mut Vec<String>,
) -> Result<()> {
    let repo = engine.repo(top)?;
    if same(top, worktree) {
        // The agent works in the person's checkout, where everything is already.
        return Ok(());
    }
    let mut wanted = named(&repo, globs, left_out)?;
    wanted.extend(included(&repo, left_out)?);
    let own: Vec<_> = own.iter().map(|path| path.canonicalize().unwrap_or(path.clone())).collect();
    wanted.retain(|path| {
        // Forge's own files may lie inside the repository; a copy of them would hold itself.
        let place = repo.top().join(path);
        !own.iter().any(|own| place.starts_with(own))
    });
    if wanted.is_empty() {
        return Ok(());
    }
    let wanted: Vec<_> = wanted.into_iter().collect();
    let ignored: BTreeSet<_> = repo.worktree(worktree)?.ignored_of(&wanted)?.into_iter().collect();
    let (from, to) = (open_top(repo.top())?, open_top(worktree)?);
    let mut budget = Budget { files: MOST_FILES, bytes: MOST_BYTES };
    for path in wanted {
        if path.ends_with('/') {
            left_out.push(format!("{path} (a repository of its own)"));
        } else if !ignored.contains(&path) {
            // Tracked on this branch, so that it is there, or about to be committed.
            if !worktree.join(&path).exists() {
                left_out.push(format!("{path} (git does not ignore it, so it would be committed)"));
            }
        } else if let Err(why) = copy(&from, &to, &path, &mut budget) {
            left_out.push(format!("{path} ({why})"));
        }
    }
    Ok(())
}

/// The files that `copy_files` names.
fn named(repo: &Repo, globs: &str, left_out: &mut Vec<String>) -> Result<BTreeSet<String>> {
    let mut asked = Vec::new();
    for glob in split(globs) {
        let plain = glob.trim_start_matches("./").trim_end_matches('/');
        if let Some(why) = wrong(glob) {
            left_out.push(format!("{glob} ({why})"));
        } else if let Some(why) = missing(repo.top(), plain) {
            left_out.push(format!("{glob} ({why})"));
        } else if !plain.is_empty() {
            asked.push(plain.to_string());
        }
    }
    match asked.is_empty() {
        true => Ok(BTreeSet::new()),
        false => listed(repo.untracked_at(&asked)?, left_out),
    }
}

/// The files that `.worktreeinclude` names.
fn included(repo: &Repo, left_out: &mut Vec<String>) -> Result<BTreeSet<String>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(repo.top().join(INCLUDE), flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(BTreeSet::new()),
        Err(errno) => {
            left_out.push(format!("what {INCLUDE} names ({})", reason(errno)));
            return Ok(BTreeSet::new());
        }
    };
    let mut text = String::new();
    if let Err(error) = file.take(LONGEST_INCLUDE).read_to_string(&mut text) {
        left_out.push(format!("what {INCLUDE} names ({error})"));
        return Ok(BTreeSet::new());
    }
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let leads_out = line.trim_start_matches(['!', '/']).split('/').any(|part| part == "..");
        match leads_out {
            true => left_out.push(format!("{line} (leads out of the repository)")),
            false => lines.push(line.to_string()),
        }
    }
    match lines.is_empty() {
        true => Ok(BTreeSet::new()),
        false => listed(repo.untracked_named(&lines)?, left_out),
    }
}

fn listed(listing: forge_git::Listing, left_out: &mut Vec<String>) -> Result<BTreeSet<String>> {
    if listing.is_cut {
        left_out.push("more files than can be listed".to_string());
    }
    Ok(listing.paths.into_iter().collect())
}

/// Says why a path without wildcards names nothing that could be copied.
fn missing(top: &Path, path: &str) -> Option<&'static str> {
    if path.contains(['*', '?', '[', '\\']) {
        return None;
    }
    let mut place = top.to_path_buf();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let Ok(found) = place.symlink_metadata() else { return Some("there is none") };
        if found.is_symlink() && parts.peek().is_some() {
            return Some("it lies behind a link");
        }
    }
    None
}

/// How much may still be copied.
struct Budget {
    files: usize,
    bytes: u64,
}

/// Copies one file, or says why not. One that is there already stays as it is.
fn copy(from: &OwnedFd, to: &OwnedFd, path: &str, budget: &mut Budget) -> std::result::Result<(), String> {
    let source = open_below(from, path, false).and_then(|(dir, name)| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(&dir, name, flags, Mode::empty())
    });
    let mut source = File::from(source.map_err(reason)?);
    let meta = source.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("no regular file".to_string());
    }
    budget.files = budget.files.checked_sub(1).ok_or(format!("more than {MOST_FILES} files"))?;
    budget.bytes =
        budget.bytes.checked_sub(meta.len()).ok_or(format!("more than {} MB in all", MOST_BYTES >> 20))?;
    let (dir, name) = open_below(to, path, true).map_err(reason)?;
    use std::os::unix::fs::MetadataExt;
    let mode = Mode::from_raw_mode(meta.mode() & 0o777);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let target = match rustix::fs::openat(&dir, name, flags, Mode::RUSR | Mode::WUSR) {
        Ok(target) => target,
        Err(Errno::EXIST) => return Ok(()),
        Err(errno) => return Err(reason(errno)),
    };
    let mut target = File::from(target);
    let copied =
        io::copy(&mut (&mut source).take(meta.len()), &mut target).map_err(|error| error.to_string());
    let copied = copied.and_then(|_| rustix::fs::fchmod(&target, mode).map_err(reason));
    if copied.is_err() {
        // Half a file would be worse than none.
        let _ = rustix::fs::unlinkat(&dir, name, AtFlags::empty());
    }
    copied
}

/// Opens the directory of a path below another, one name after the other, so that no link is followed.
pub(crate) fn open_below<'a>(
    top: &OwnedFd,
    path: &'a str,
    make: bool,
) -> rustix::io::Result<(OwnedFd, &'a str)> {
    let mut names: Vec<_> = path.split('/').collect();
    let name = names.pop().unwrap_or_default();
    let mut dir = top.try_clone().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    for part in names {
        if matches!(part, "" | "." | "..") {
            return Err(Errno::INVAL);
        }
        if make
            && let Err(errno) = rustix::fs::mkdirat(&dir, part, Mode::from_raw_mode(0o777))
            && errno != Errno::EXIST
        {
            return Err(errno);
        }
        dir = rustix::fs::openat(dir.as_fd(), part, OPEN_DIR, Mode::empty())?;
    }
    Ok((dir, name))
}

pub(crate) fn open_top(path: &Path) -> Result<OwnedFd> {
    rustix::fs::open(path, OPEN_DIR, Mode::empty())
        .map_err(|errno| Error::unavailable(format!("could not open {}: {errno}", path.display())))
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

pub(crate) fn reason(errno: Errno) -> String {
    match errno {
        Errno::LOOP | Errno::NOTDIR => "a link, or behind one".to_string(),
        errno => errno.to_string(),
    }
}

/// Tells what was left out, the first of it one by one.
fn told(left_out: &[String]) -> Option<String> {
    let first = left_out.iter().take(TOLD).cloned().collect::<Vec<_>>().join(", ");
    match left_out.len() {
        0 => None,
        count if count > TOLD => {
            Some(format!("not copied into the worktree: {first} and {} more", count - TOLD))
        }
        _ => Some(format!("not copied into the worktree: {first}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_of_the_repository_is_refused_by_name() {
        assert!(check(None).is_ok() && check(Some(".env, config/*.local ,,deep/**")).is_ok());
        for (globs, wanted) in [(".env,../secret", "\"../secret\" leads out"), ("/etc/passwd", "absolute")] {
            let error = check(Some(globs)).unwrap_err().to_string();
            assert!(error.starts_with("`copy_files`") && error.contains(wanted), "{error}");
        }
        assert!(check(Some("a/../../b")).is_err());
    }

    #[test]
    fn much_that_is_left_out_is_told_shortly() {
        assert_eq!(told(&[]), None);
        let many: Vec<_> = (1..=7).map(|nth| nth.to_string()).collect();
        assert_eq!(told(&many).unwrap(), "not copied into the worktree: 1, 2, 3, 4, 5 and 2 more");
    }
}
