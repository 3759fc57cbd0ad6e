//! Looking around on the disk: what is in a directory, and where repositories are.
//!
//! Only the person's home and the projects are looked at. A path is resolved first and must still lie in one of
//! them; then it is opened from there part by part, so that a link which appears meanwhile leads nowhere.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use crate::background::blocking;
use crate::{Engine, Error, Result};

/// What somebody who may not look there is told apart by.
pub const OUTSIDE: &str = "outside";

/// The most entries of a directory that are shown.
const MOST_ENTRIES: usize = 10_000;

/// A search for repositories is content with what it has found by then.
const SOFT: Duration = Duration::from_millis(800);

/// And is given up by then: a disk may hang.
const HARD: Duration = Duration::from_millis(1200);

/// How deep repositories are looked for: below a path that was given, and below the home.
const DEPTH_BELOW: usize = 3;
const DEPTH_AT_HOME: usize = 4;

/// Where people keep repositories; looked at first.
const USUAL: &[&str] = &["repos", "dev", "work", "code", "projects"];

/// Directories without repositories that somebody means, and with very many entries.
const DULL: &[&str] = &["node_modules", "target", "vendor", "dist", "build", "__pycache__"];

const OPEN_DIR: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Something in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    pub name: String,
    pub path: PathBuf,
    pub is_directory: bool,
    pub is_git_repo: bool,
    /// How many seconds ago it was changed, where that was asked for.
    pub seconds_since_change: Option<u64>,
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub path: PathBuf,
    pub entries: Vec<DirectoryEntry>,
}

/// The directories that may be looked at, links resolved.
#[derive(Debug, Clone)]
struct Roots(Vec<PathBuf>);

/// A directory that is open, and where it is.
struct Place {
    path: PathBuf,
    fd: OwnedFd,
}

impl Engine {
    /// Lists a directory: the person's home when none is given. Directories come first, then names; what begins
    /// with a dot is left out.
    pub async fn list_directory(&self, path: Option<PathBuf>) -> Result<Listing> {
        let (roots, home) = (self.roots().await?, self.inner.user_home.clone());
        blocking(move || {
            let place = roots.open(&wanted(path, home.as_deref())?)?;
            let mut entries = children(&place, &roots)?;
            entries.sort_by_cached_key(|entry| {
                (!entry.is_directory, entry.name.to_lowercase(), entry.name.clone())
            });
            Ok(Listing { path: place.path, entries })
        })
        .await?
    }

    /// Finds repositories below a path, or below the person's home: those that changed last first.
    pub async fn find_repositories(&self, path: Option<PathBuf>) -> Result<Vec<DirectoryEntry>> {
        let (roots, home) = (self.roots().await?, self.inner.user_home.clone());
        let ours = self.inner.paths.own();
        let search = blocking(move || {
            let depth = if path.is_some() { DEPTH_BELOW } else { DEPTH_AT_HOME };
            let top = roots.open(&wanted(path, home.as_deref())?)?;
            Ok(search(top, depth, &ours, Instant::now() + SOFT))
        });
        match tokio::time::timeout(HARD, search).await {
            Ok(found) => found?,
            Err(_) => Err(Error::unavailable(format!(
                "Failed to read directory: the search for repositories took longer than {} ms",
                HARD.as_millis()
            ))),
        }
    }

    async fn roots(&self) -> Result<Roots> {
        let projects = self.projects().await?;
        let all =
            self.inner.user_home.iter().cloned().chain(projects.into_iter().map(|project| project.path));
        let all: Vec<PathBuf> = all.collect();
        blocking(move || Roots(all.iter().filter_map(|path| path.canonicalize().ok()).collect())).await
    }
}

fn wanted(path: Option<PathBuf>, home: Option<&Path>) -> Result<PathBuf> {
    let no_home = || Error::invalid("this server has no home directory; name a path inside a project");
    match path {
        None => home.map(Path::to_path_buf).ok_or_else(no_home),
        Some(path) => match path.strip_prefix("~") {
            Ok(rest) => home.map(|home| home.join(rest)).ok_or_else(no_home),
            Err(_) => Ok(path),
        },
    }
}

impl Roots {
    /// Opens a directory that lies in one of these.
    fn open(&self, path: &Path) -> Result<Place> {
        let outside = || {
            Error::invalid(format!(
                "{} is outside of your home directory and of the known projects, and nothing else is shown",
                path.display()
            ))
            .with_code(OUTSIDE)
        };
        if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
            return Err(Error::invalid("the path must be absolute and without `..`").with_code(OUTSIDE));
        }
        let Ok(real) = path.canonicalize() else {
            // Whether something exists elsewhere is nobody's business either.
            let near = path.ancestors().find_map(|near| near.canonicalize().ok());
            return Err(match near {
                Some(near) if self.root_of(&near).is_some() => Error::invalid("Directory does not exist"),
                _ => outside(),
            });
        };
        let root = self.root_of(&real).ok_or_else(outside)?;
        let failed = |errno: rustix::io::Errno| Error::invalid(format!("Failed to read directory: {errno}"));
        let mut fd = rustix::fs::open(root, OPEN_DIR, Mode::empty()).map_err(failed)?;
        let below = real.strip_prefix(root).unwrap_or(Path::new(""));
        for part in below.components() {
            fd = rustix::fs::openat(&fd, part.as_os_str(), OPEN_DIR, Mode::empty()).map_err(|errno| {
                match errno {
                    rustix::io::Errno::NOTDIR if real.is_file() => Error::invalid("Path is not a directory"),
                    errno => failed(errno),
                }
            })?;
        }
        Ok(Place { path: real, fd })
    }

    fn root_of(&self, real: &Path) -> Option<&Path> {
        self.0.iter().map(PathBuf::as_path).find(|root| real.starts_with(root))
    }
}

/// Returns what is in a directory. A link counts as what it leads to only where that may be looked at.
fn children(place: &Place, roots: &Roots) -> Result<Vec<DirectoryEntry>> {
    let failed = |errno: rustix::io::Errno| Error::invalid(format!("Failed to read directory: {errno}"));
    let mut found = Vec::new();
    for entry in Dir::read_from(&place.fd).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if name.starts_with('.') {
            continue;
        }
        if found.len() == MOST_ENTRIES {
            tracing::info!(
                "{} has more than {MOST_ENTRIES} entries; the rest is not shown",
                place.path.display()
            );
            break;
        }
        let path = place.path.join(name);
        let (is_directory, is_git_repo) = match kind_of(place, name, entry.file_type()) {
            FileType::Directory => (true, has_git(place, name)),
            FileType::Symlink => match path.canonicalize() {
                Ok(real) if roots.root_of(&real).is_some() && real.is_dir() => {
                    (true, real.join(".git").exists())
                }
                _ => (false, false),
            },
            _ => (false, false),
        };
        found.push(DirectoryEntry {
            name: name.to_string(),
            path,
            is_directory,
            is_git_repo,
            seconds_since_change: None,
        });
    }
    Ok(found)
}

/// Some file systems do not say in the listing what an entry is.
fn kind_of(place: &Place, name: &str, told: FileType) -> FileType {
    match told {
        FileType::Unknown => rustix::fs::statat(&place.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
        told => told,
    }
}

fn has_git(place: &Place, name: &str) -> bool {
    rustix::fs::statat(&place.fd, Path::new(name).join(".git"), AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// Goes through directories, the usual and the nearest first, until the time is up. Links are not followed, and
/// what is inside a repository is its own affair.
fn search(top: Place, depth: usize, ours: &[PathBuf], until: Instant) -> Vec<DirectoryEntry> {
    let now = SystemTime::now();
    let mut found = Vec::new();
    if has_git(&top, ".") {
        found.extend(repository(&top.path, now));
        return found;
    }
    let mut level = vec![top];
    for _ in 0..depth {
        let mut next = Vec::new();
        for place in level {
            let Ok(entries) = Dir::read_from(&place.fd) else { continue };
            for entry in entries.flatten() {
                if Instant::now() > until {
                    break;
                }
                let Ok(name) = entry.file_name().to_str() else { continue };
                if name.starts_with('.')
                    || DULL.contains(&name)
                    || kind_of(&place, name, entry.file_type()) != FileType::Directory
                {
                    continue;
                }
                let path = place.path.join(name);
                if ours.iter().any(|ours| path.starts_with(ours)) {
                    continue;
                }
                if has_git(&place, name) {
                    found.extend(repository(&path, now));
                } else if let Ok(fd) = rustix::fs::openat(&place.fd, name, OPEN_DIR, Mode::empty())
                    && next.len() < MOST_OPEN
                {
                    next.push(Place { path, fd });
                }
            }
        }
        next.sort_by_key(|place| {
            !place.path.file_name().and_then(OsStr::to_str).is_some_and(|n| USUAL.contains(&n))
        });
        level = next;
    }
    found.sort_by(|a, b| (a.seconds_since_change, &a.path).cmp(&(b.seconds_since_change, &b.path)));
    found
}

/// The most directories that a search holds open at a time.
const MOST_OPEN: usize = 256;

fn repository(path: &Path, now: SystemTime) -> Option<DirectoryEntry> {
    let changed = path.symlink_metadata().ok()?.modified().ok()?;
    Some(DirectoryEntry {
        name: path.file_name()?.to_str()?.to_string(),
        path: path.to_path_buf(),
        is_directory: true,
        is_git_repo: true,
        seconds_since_change: Some(now.duration_since(changed).unwrap_or_default().as_secs()),
    })
}
