//! Linked worktrees: adding one on a new branch, and listing them.
//!
//! Adding is all or nothing. The branch is made first and by itself, so that a later failure knows that the branch
//! is ours to take back; files are written last and outside the queue, because that part takes as long as the
//! repository is large.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::checkout::{Worktree, linked_git_dir};
use crate::drivers::Drivers;
use crate::error::{Error, Failure, Result, io_error};
use crate::names::check_branch_name;
use crate::repo::Repo;

/// With fewer files than this, starting the workers takes longer than they save.
const WORTH_WORKERS: u32 = 1000;

/// Workers mostly wait for the filesystem, so there may be more of them than cores. This many share the checkouts that
/// are under way: twenty at once with eight each would only be in each other's way.
const WORKERS: usize = 8;

/// Checkouts of large trees that are under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// One of the checkouts that are under way.
struct UnderWay {
    workers: usize,
}

impl UnderWay {
    fn begin() -> UnderWay {
        let others = UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        UnderWay { workers: (WORKERS / (others + 1)).max(1) }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A worktree to be added.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    /// Where its files go: an absolute path that does not exist yet.
    pub path: PathBuf,
    /// Its branch, which does not exist yet.
    pub branch: String,
    /// The commit that the branch starts from.
    pub base_oid: String,
    /// Shown by git to whoever tries to remove the worktree.
    pub lock_reason: String,
}

/// What git knows about a checkout of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeInfo {
    pub path: PathBuf,
    pub head: Option<String>,
    /// The branch that is checked out, without `refs/heads/`.
    pub branch: Option<String>,
    /// Why it is locked, when it is.
    pub locked: Option<String>,
    /// Git would drop the entry, because the directory is gone.
    pub is_prunable: bool,
    /// The first checkout, which is not a linked worktree.
    pub is_main: bool,
}

impl Repo {
    /// Adds a worktree on a new branch. When it fails, nothing of it is left.
    pub fn add_worktree(&self, new: &NewWorktree) -> Result<Worktree> {
        check_branch_name(&new.branch)?;
        self.check_oid(&new.base_oid)?;
        if !new.path.is_absolute() {
            return Err(Error::NoSuchPath { path: new.path.clone() });
        }
        if fs::symlink_metadata(&new.path).is_ok() {
            return Err(Error::PathTaken { path: new.path.clone() });
        }
        if let Some(parent) = new.path.parent() {
            fs::create_dir_all(parent).map_err(io_error("make", parent))?;
        }
        self.queued(|| {
            self.create_branch(&new.branch, &new.base_oid)?;
            self.register(new).inspect_err(|_| self.undo(new))
        })?;
        let filled = self.worktree(&new.path).and_then(|worktree| {
            self.fill(&worktree)?;
            Ok(worktree)
        });
        filled.inspect_err(|_| {
            // What went wrong is told; what is left of it is dropped by whoever wants the place.
            let _undone = self.queued(|| {
                self.undo(new);
                Ok::<_, Failure>(())
            });
        })
    }

    /// Lists the checkouts of the repository, the main one first.
    pub fn worktrees(&self) -> Result<Vec<WorktreeInfo>> {
        let answer = self.checkout.refs("worktree").args(["list", "--porcelain", "-z"]).run();
        let answer = answer
            .map_err(|failure| failure.during(format!("list the worktrees of {}", self.top().display())))?;
        let mut worktrees: Vec<WorktreeInfo> = Vec::new();
        for field in answer.split(|byte| *byte == 0) {
            let split = field.iter().position(|byte| *byte == b' ').unwrap_or(field.len());
            let (name, value) = (&field[..split], field.get(split + 1..).unwrap_or_default());
            let text = || String::from_utf8_lossy(value).into_owned();
            if name == b"worktree" {
                worktrees.push(WorktreeInfo {
                    path: PathBuf::from(OsString::from_vec(value.to_vec())),
                    head: None,
                    branch: None,
                    locked: None,
                    is_prunable: false,
                    is_main: worktrees.is_empty(),
                });
            } else if let Some(worktree) = worktrees.last_mut() {
                match name {
                    b"HEAD" => worktree.head = Some(text()),
                    b"branch" => worktree.branch = text().strip_prefix("refs/heads/").map(str::to_string),
                    b"locked" => worktree.locked = Some(text()),
                    b"prunable" => worktree.is_prunable = true,
                    _ => {}
                }
            }
        }
        Ok(worktrees)
    }

    pub(crate) fn create_branch(&self, branch: &str, oid: &str) -> Result<()> {
        let reference = format!("refs/heads/{branch}");
        let absent = "0".repeat(oid.len());
        let call = self.checkout.refs("update-ref").args(["-m", "branch: created by forge", "--no-deref"]);
        match call.args(["--end-of-options", &reference, oid, &absent]).run() {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.why_no_branch(branch, oid, failure)?),
        }
    }

    /// Finds out why a branch could not be made.
    pub(crate) fn why_no_branch(&self, branch: &str, oid: &str, failure: Failure) -> Result<Error> {
        let reference = format!("refs/heads/{branch}");
        let mut wanted = vec![reference.as_str()];
        let starts = reference.match_indices('/').map(|(end, _)| &reference[..end]);
        wanted.extend(starts.filter(|start| start.len() > "refs/heads".len()));
        let found = self.references(&wanted)?;
        let taken = |name: &str| found.iter().any(|(other, _)| other == name);
        let below = format!("{reference}/");
        let clash = wanted[1..].iter().find(|start| taken(start)).map(|start| start.to_string());
        let clash = clash
            .or_else(|| found.iter().map(|(name, _)| name).find(|name| name.starts_with(&below)).cloned());
        let branch = branch.to_string();
        Ok(if taken(&reference) {
            Error::BranchTaken { branch }
        } else if let Some(existing) = clash {
            Error::BranchClash { branch, existing: existing.replacen("refs/heads/", "", 1) }
        } else if !self.is_commit(oid)? {
            self.no_such_commit(oid)
        } else {
            failure.during(format!("make branch {branch} in {}", self.top().display()))
        })
    }

    fn is_commit(&self, oid: &str) -> Result<bool> {
        let object = format!("{oid}^{{commit}}");
        let answer =
            self.checkout.refs("rev-parse").args(["--quiet", "--verify", "--end-of-options", &object]).ask();
        Ok(answer.map_err(|failure| failure.during(format!("look for commit {oid}")))?.is_some())
    }

    pub(crate) fn register(&self, new: &NewWorktree) -> Result<()> {
        let call = self.checkout.refs("worktree").args(["add", "--quiet", "--no-checkout"]);
        let call = call.args(["--lock", "--reason", &new.lock_reason, "--end-of-options"]);
        call.arg(&new.path).arg(&new.branch).run().map(drop).map_err(|failure| {
            failure.during(format!("add worktree {} on branch {}", new.path.display(), new.branch))
        })
    }

    /// Writes the files of a worktree that was registered without them.
    pub(crate) fn fill(&self, worktree: &Worktree) -> Result<()> {
        let checkout = &worktree.checkout;
        let drivers = Drivers::of(checkout)?;
        drivers.refuse_in_commit(checkout, "HEAD")?;
        // `read-tree` and not `reset --hard`: it touches no ref, so it needs no turn in the queue.
        let mut call = checkout.files("read-tree").args(["-m", "-u", "HEAD"]).settings(&drivers.overrides);
        // In a partial clone the files have to be fetched now; there is no other way to get them.
        call = call.without_env("GIT_NO_LAZY_FETCH");
        let is_large = index_entries(&self.checkout.git_dir.join("index")) > WORTH_WORKERS;
        let under_way = is_large.then(UnderWay::begin);
        if let Some(UnderWay { workers }) = &under_way {
            call = call.setting("checkout.workers", workers.to_string());
        }
        call.run()
            .map(drop)
            .map_err(|failure| failure.during(format!("check out files in {}", checkout.top.display())))
    }

    /// Takes back what `add_worktree` made. What cannot be taken back stays where `worktrees` shows it; the reason
    /// that the caller is told is the first one.
    fn undo(&self, new: &NewWorktree) {
        let is_ours = linked_git_dir(self.common_dir(), &new.path).is_ok();
        let _gone = if is_ours { fs::remove_dir_all(&new.path) } else { fs::remove_dir(&new.path) };
        if !new.path.exists()
            && let Some((git_dir, listed)) = self.entry_of(&new.path)
        {
            let _gone = self.drop_entry(&git_dir, &listed);
        }
        let _gone = self.delete_reference(&format!("refs/heads/{}", new.branch), &new.base_oid);
    }
}

/// Reads how many files an index holds, from its header: it stands at byte 8, before anything else.
pub(crate) fn index_entries(index: &Path) -> u32 {
    let mut header = [0; 12];
    let read = fs::File::open(index).and_then(|mut file| file.read_exact(&mut header));
    if read.is_ok() { u32::from_be_bytes([header[8], header[9], header[10], header[11]]) } else { 0 }
}
