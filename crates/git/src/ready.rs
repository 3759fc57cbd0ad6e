//! Worktrees that are made ahead: checked out, detached and locked, they wait for a branch.
//!
//! One is handed over in three steps: its directory is renamed, its entry is pointed at the new place, and one
//! transaction makes the branch and puts HEAD on it. It stays locked throughout, because between the first two git
//! takes its entry for one that may be pruned; and HEAD comes last, because a HEAD on a branch that is not there
//! would show every file as added. `handover.rs` has what a crash between the steps needs.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::call::Call;
use crate::checkout::{Checkout, Worktree};
use crate::drivers::Drivers;
use crate::error::{Error, Failure, Result, io_error};
use crate::names::check_branch_name;
use crate::plain_file::{self, Plain};
use crate::repo::Repo;
use crate::worktrees::index_entries;

/// The first version whose `update-ref` writes a symbolic reference in a transaction.
const SYMREF_UPDATE: (u32, u32, u32) = (2, 46, 0);

/// Stands in the entry of a worktree that is ready.
const REMEMBERED: &str = "forge-ready";

/// Far more than anybody has in a file of settings.
const LARGEST_SETTINGS: u64 = 16 << 20;

/// A worktree that waits, detached at a commit.
#[derive(Debug, Clone)]
pub struct Ready {
    repo: Repo,
    checkout: Checkout,
    oid: String,
}

/// How much a worktree that is made ahead is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Everything else on the machine goes first.
    Gentle,
    /// As much as one that somebody waits for: without it, the next start does the same work itself.
    Urgent,
}

/// What the files of a commit weigh once they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    pub files: u64,
    pub bytes: u64,
    /// Its directories, the top one among them.
    pub directories: u64,
}

impl Repo {
    /// Makes a worktree ahead, at a path that does not exist yet. When it fails, nothing of it is left.
    pub fn add_ready(&self, path: &Path, oid: &str, lock_reason: &str, pace: Pace) -> Result<Ready> {
        self.check_oid(oid)?;
        if !path.is_absolute() {
            return Err(Error::NoSuchPath { path: path.to_path_buf() });
        }
        if fs::symlink_metadata(path).is_ok() {
            return Err(Error::PathTaken { path: path.to_path_buf() });
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(io_error("make", parent))?;
        }
        let added = self.queued(|| {
            let call = self.checkout.refs("worktree").args(["add", "--quiet", "--no-checkout", "--detach"]);
            // A relative path would lead elsewhere after the rename.
            let call = call.setting("worktree.useRelativePaths", "false");
            let call = call.args(["--lock", "--reason", lock_reason, "--end-of-options"]);
            call.arg(path).arg(oid).run()
        });
        let filled = added
            .map_err(|failure| failure.during(format!("add worktree {}", path.display())))
            .and_then(|_| {
                let ready = Ready::of(self, path, oid)?;
                ready.fill(pace)?;
                Ok(ready)
            });
        filled.inspect_err(|_| {
            // What cannot be taken back stays where `worktrees` shows it.
            let _gone = self.discard_ready(path);
        })
    }

    /// Opens a worktree that was made ahead. Refuses one that is on a branch, or whose lock has another reason.
    pub fn open_ready(&self, path: &Path, lock_reason: &str) -> Result<Ready> {
        let refuse = |why: &str| Error::NotOurWorktree { path: path.to_path_buf(), why: why.to_string() };
        let worktree = self.worktree(path)?;
        if self.lock_reason(worktree.git_dir()).as_deref() != Some(lock_reason) {
            return Err(refuse("its lock is not ours"));
        }
        if worktree.branch()?.is_some() {
            return Err(refuse("it is on a branch"));
        }
        Ready::of(self, path, &worktree.head()?)
    }

    /// Removes a worktree that was made ahead and that nobody has worked in, files and entry.
    pub fn discard_ready(&self, path: &Path) -> Result<()> {
        let refuse = |why: &str| Error::NotOurWorktree { path: path.to_path_buf(), why: why.to_string() };
        let parent = path.parent().ok_or_else(|| refuse("it has no parent"))?;
        let gone = parent.join(".gone");
        if let Some(gone) = self.remove_worktree_to_trash(path, &gone, parent)? {
            fs::remove_dir_all(&gone).map_err(io_error("remove", &gone))?;
        }
        Ok(())
    }

    /// Says why worktrees of this repository cannot be made ahead, when that is so.
    pub fn why_not_ready(&self) -> Result<Option<&'static str>> {
        let Some(config) = settings(&self.common_dir().join("config")) else {
            return Ok(Some("its config cannot be read"));
        };
        let config = String::from_utf8_lossy(&config).to_ascii_lowercase();
        if config.contains("promisor") || config.contains("partialclone") {
            return Ok(Some("its files may have to be fetched first"));
        }
        if !Drivers::of(&self.checkout)?.local_filters.is_empty() {
            return Ok(Some("its own config names filters"));
        }
        if !self.checkout.git_dir.join("info/sparse-checkout").exists() {
            return Ok(None);
        }
        let call = self.checkout.refs("config").args(["--type=bool", "--get", "core.sparseCheckout"]);
        let sparse = call.ask().map_err(|failure| failure.during("ask for core.sparseCheckout"))?;
        Ok(sparse.is_some_and(|answer| answer.starts_with(b"true")).then_some("its checkout is sparse"))
    }

    /// Adds up the files of a commit.
    pub fn weight(&self, oid: &str) -> Result<Weight> {
        self.check_oid(oid)?;
        let call =
            self.checkout.refs("ls-tree").args(["-r", "--full-tree", "--format=%(objectsize) %(path)", oid]);
        let act = || format!("add up the files of {oid}");
        let list = call.gently().run().map_err(|failure| failure.during(act()))?;
        let mut weight = Weight { files: 0, bytes: 0, directories: 1 };
        let list = String::from_utf8_lossy(&list);
        let mut directories = HashSet::new();
        for entry in list.lines() {
            let entry = entry.trim_start();
            let (size, path) = entry.split_once(' ').unwrap_or((entry, ""));
            weight.files += 1;
            // A submodule has no size.
            weight.bytes += size.parse::<u64>().unwrap_or(0).next_multiple_of(4096);
            let mut rest = path;
            while let Some((directory, _)) = rest.rsplit_once('/')
                && directories.insert(directory)
            {
                rest = directory;
            }
        }
        weight.directories += directories.len() as u64;
        Ok(weight)
    }

    /// Counts the files that git tracks in the person's checkout, at the cost of reading a few bytes.
    pub fn tracked_files(&self) -> u32 {
        index_entries(&self.checkout.git_dir.join("index"))
    }

    /// Reads what a checkout depends on besides its commit, so that a change of it can be told. Branches and
    /// remotes, which change all the time, have no part in it. What cannot be read is like nothing else, not even
    /// like itself a moment later.
    pub fn circumstances(&self) -> Vec<u8> {
        let (common, own) = (self.common_dir(), &self.checkout.git_dir);
        let config = settings(&common.join("config")).unwrap_or_else(unknown);
        let mut read = Vec::new();
        let mut counts = true;
        for line in config.split(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(line).trim_start().to_ascii_lowercase();
            if text.starts_with('[') {
                counts = !text.starts_with("[branch") && !text.starts_with("[remote");
            }
            if counts && !text.is_empty() {
                read.extend_from_slice(line);
                read.push(b'\n');
            }
        }
        for file in
            [common.join("info/attributes"), own.join("info/sparse-checkout"), own.join("config.worktree")]
        {
            read.push(0);
            read.extend(settings(&file).unwrap_or_else(unknown));
        }
        read
    }

    pub(crate) fn lock_reason(&self, git_dir: &Path) -> Option<String> {
        let reason = fs::read(git_dir.join("locked")).ok()?;
        Some(String::from_utf8_lossy(&reason).trim_end_matches('\n').to_string())
    }
}

/// Reads a file of settings: empty when there is none, and nothing when it cannot be read.
fn settings(path: &Path) -> Option<Vec<u8>> {
    match plain_file::read(path, LARGEST_SETTINGS, true) {
        Plain::Bytes(bytes) => Some(bytes),
        Plain::Nothing
            if fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) =>
        {
            Some(Vec::new())
        }
        Plain::Nothing | Plain::TooLong => None,
    }
}

/// Something that nothing else is equal to.
fn unknown() -> Vec<u8> {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("unreadable {now:?} {}\n", ASKED.fetch_add(1, Ordering::Relaxed)).into_bytes()
}

impl Ready {
    fn of(repo: &Repo, path: &Path, oid: &str) -> Result<Ready> {
        let Worktree { checkout } = repo.worktree(path)?;
        Ok(Ready { repo: repo.clone(), checkout, oid: oid.to_string() })
    }

    /// Returns where it lies.
    pub fn path(&self) -> &Path {
        &self.checkout.top
    }

    /// Returns the commit that is checked out.
    pub fn oid(&self) -> &str {
        &self.oid
    }

    /// Returns the repository that it belongs to.
    pub fn repo(&self) -> &Repo {
        &self.repo
    }

    /// Has git look at every file and remember that it did; tells whether there is nothing but the commit's files,
    /// not even an ignored one.
    ///
    /// Git reads a file again each time when it may have been written in the second in which the index was. So this
    /// is to be done when more than a second has passed, and never once somebody works in it: it takes the index's
    /// lock.
    pub fn settle(&self, pace: Pace) -> Result<bool> {
        self.look(|call| pace.of(call.without_env("GIT_OPTIONAL_LOCKS")))
    }

    /// Tells whether there is nothing but the commit's files, and leaves the index as it is.
    pub fn is_clean(&self) -> Result<bool> {
        self.look(|call| call)
    }

    /// Changes its files to another commit's. Refused by git when a file that differs was changed.
    pub fn move_to(&mut self, oid: &str) -> Result<()> {
        self.repo.check_oid(oid)?;
        let drivers = Drivers::of(&self.checkout)?;
        let call = self.checkout.files("reset").args(["--keep", "--quiet"]).settings(&drivers.overrides);
        let act = || format!("move {} to {oid}", self.path().display());
        call.args(["--end-of-options", oid]).gently().run().map_err(|failure| failure.during(act()))?;
        self.oid = oid.to_string();
        Ok(())
    }

    /// Returns what tells one state of its index from another.
    pub fn index_stamp(&self) -> Option<(u64, u64, i64, i64)> {
        let index = fs::metadata(self.checkout.git_dir.join("index")).ok()?;
        Some((index.ino(), index.size(), index.mtime(), index.mtime_nsec()))
    }

    /// Writes down beside its index under which circumstances its files were written.
    pub fn remember(&self, circumstances: &[u8]) -> Result<()> {
        let file = self.checkout.git_dir.join(REMEMBERED);
        fs::write(&file, circumstances).map_err(io_error("write", &file))
    }

    /// Reads under which circumstances its files were written; nothing when it was never finished.
    pub fn remembered(&self) -> Option<Vec<u8>> {
        fs::read(self.checkout.git_dir.join(REMEMBERED)).ok()
    }

    /// Hands over, first step: renames its directory to a path on the same disk that does not exist.
    pub fn rename(&mut self, to: &Path) -> Result<()> {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(io_error("make", parent))?;
        }
        // A plain rename would replace an empty directory, which may be somebody's.
        renameat_with(CWD, self.path(), CWD, to, RenameFlags::NOREPLACE).map_err(|error| {
            match std::io::Error::from(error) {
                error if error.kind() == ErrorKind::AlreadyExists => {
                    Error::PathTaken { path: to.to_path_buf() }
                }
                error => io_error("hand over", self.path())(error),
            }
        })?;
        self.checkout.top = fs::canonicalize(to).map_err(io_error("resolve", to))?;
        Ok(())
    }

    /// Hands over, second step: tells its entry where it lies now.
    pub fn point(&self) -> Result<()> {
        point(&self.checkout.git_dir, self.path())
    }

    /// Hands over, third step: makes the branch at its commit and puts HEAD on it, both or neither.
    pub fn put_on(&self, branch: &str) -> Result<Worktree> {
        check_branch_name(branch)?;
        let (reference, oid) = (format!("refs/heads/{branch}"), &self.oid);
        let call = || self.checkout.refs("update-ref").args(["-m", "branch: created by forge", "--no-deref"]);
        let put = self.repo.queued(|| {
            if self.checkout.git.version() >= SYMREF_UPDATE {
                let lines = format!(
                    "start\ncreate {reference} {oid}\nsymref-update HEAD {reference} oid {oid}\nprepare\ncommit\n"
                );
                return call().arg("--stdin").input(lines.into_bytes()).run().map(drop);
            }
            let absent = "0".repeat(oid.len());
            call().args(["--end-of-options", &reference, oid, &absent]).run()?;
            self.attach(&reference).inspect_err(|_| {
                // The branch was made a moment ago and is nobody's.
                let _gone = self.repo.delete_reference(&reference, oid);
            })
        });
        match put {
            Ok(()) => Ok(Worktree { checkout: self.checkout.clone() }),
            Err(failure) => Err(self.repo.why_no_branch(branch, oid, failure)?),
        }
    }

    fn attach(&self, reference: &str) -> Result<(), Failure> {
        let call = self.checkout.refs("symbolic-ref").args(["-m", "branch: created by forge"]);
        call.args(["HEAD", reference]).run().map(drop)
    }

    fn look(&self, manner: impl FnOnce(Call) -> Call) -> Result<bool> {
        let drivers = Drivers::of(&self.checkout)?;
        let call = manner(self.checkout.files("status")).settings(&drivers.overrides);
        let call = call.args(["--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching"]);
        let answer = call.args(["--no-renames", "--ignore-submodules=dirty"]).run();
        let act = || format!("look at the files of {}", self.path().display());
        Ok(answer.map_err(|failure| failure.during(act()))?.is_empty())
    }

    fn fill(&self, pace: Pace) -> Result<()> {
        let drivers = Drivers::of(&self.checkout)?;
        drivers.refuse_in_commit(&self.checkout, "HEAD")?;
        let call = self.checkout.files("read-tree").args(["-m", "-u", "HEAD"]).settings(&drivers.overrides);
        let act = || format!("check out files in {}", self.path().display());
        pace.of(call).run().map(drop).map_err(|failure| failure.during(act()))
    }
}

impl Pace {
    fn of(self, call: Call) -> Call {
        match self {
            Pace::Gentle => call.gently(),
            Pace::Urgent => call,
        }
    }
}

/// Writes the path of a worktree into its entry, so that a reader sees the old one or the new one.
pub(crate) fn point(git_dir: &Path, path: &Path) -> Result<()> {
    let (file, new) = (git_dir.join("gitdir"), git_dir.join("gitdir.forge"));
    let mut text: PathBuf = path.to_path_buf();
    text.push(".git");
    let mut bytes = std::os::unix::ffi::OsStringExt::into_vec(text.into_os_string());
    bytes.push(b'\n');
    fs::write(&new, bytes).map_err(io_error("write", &new))?;
    fs::rename(&new, &file).map_err(io_error("write", &file))
}
