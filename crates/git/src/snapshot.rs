//! Snapshots: every tracked and untracked file of a checkout as a commit, without touching the checkout.
//!
//! Bytes are saved as they lie on disk; no filter runs and no line end is changed. Only a file that a filter of the
//! person's made of a committed blob is saved as that blob. What could not be saved is named, in the result and in the
//! commit's message. Files that a filter of the repository's own config keeps secret go into a private store, or are
//! left out without one. Ignored files are not saved.

use std::fmt::Write;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::{Mode, OFlags};

use crate::aside::{self, Aside};
use crate::call::line;
use crate::checkout::{Checkout, Worktree};
use crate::converted::converted;
use crate::drivers::Drivers;
use crate::error::{Error, Failure, Result};
use crate::names::{check_own_reference, is_oid};
use crate::private::{Private, Settings};
use crate::quarantine::{self, Quarantine};
use crate::rechain::newest;
use crate::repo::Repo;

const NAME: &str = "Forge";
const EMAIL: &str = "forge@localhost";

/// How often the reference may have moved under us, or objects may have been removed, before that is an error.
pub(crate) const TRIES: u32 = 5;

/// A snapshot to be taken.
#[derive(Debug, Clone)]
pub struct SnapshotRequest {
    /// The reference that the snapshots of one worktree are chained on, under `refs/forge/`.
    pub reference: String,
    /// The message of the commit.
    pub message: String,
    pub limits: Limits,
    /// Where files go that must not reach the repository's object store; made when the first such file is met.
    pub private: Option<PathBuf>,
}

/// How much a snapshot may take up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Larger files are left out.
    pub file_bytes: u64,
    /// When the changed files are more than this together, the largest are left out.
    pub total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { file_bytes: 50_000_000, total_bytes: 500_000_000 }
    }
}

/// A snapshot that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub oid: String,
    /// The snapshot before it on the same reference.
    pub parent: Option<String>,
    pub left_out: Vec<LeftOut>,
    /// Files and HEAD are as the last snapshot has them, so `oid` is that one.
    pub unchanged: bool,
    /// How what it holds stands to what git itself would commit.
    pub holds: Holds,
}

/// How what a snapshot holds stands to what git itself would commit of the same files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// It is the tree of the commit that is checked out.
    Head,
    /// It is what git would commit.
    Files,
    /// Something is left out, kept elsewhere, kept by its bytes, or in a repository inside this one.
    Otherwise,
}

/// A file that is not in a snapshot as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub path: PathBuf,
    pub why: Why,
}

/// Why a file was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("{bytes} bytes, more than a file may have")]
    TooBig { bytes: u64 },
    #[error("{bytes} bytes, more than was left for the snapshot")]
    NoRoom { bytes: u64 },
    #[error("it cannot be read")]
    Unreadable,
    #[error("it is neither a file nor a link")]
    NotAFile,
    #[error("it may be secret: the repository's own config encodes it with the filter {driver}")]
    LocalFilter { driver: String },
    #[error("git refused it: {stderr}")]
    Refused { stderr: String },
}

impl Worktree {
    /// Saves the files as a commit on the request's reference: its first parent is the snapshot before, its second
    /// the commit that is checked out. The index and its lock are left alone.
    pub fn snapshot(&self, request: &SnapshotRequest) -> Result<Snapshot> {
        take(&self.checkout, request)
    }
}

impl Repo {
    /// Saves the files of the person's own checkout, as [`Worktree::snapshot`] does those of a worktree.
    pub fn snapshot(&self, request: &SnapshotRequest) -> Result<Snapshot> {
        take(&self.checkout, request)
    }
}

fn take(checkout: &Checkout, request: &SnapshotRequest) -> Result<Snapshot> {
    check_own_reference(&request.reference)?;
    for tries in 1.. {
        match try_to_take(checkout, request, tries > 1) {
            Ok(Some(snapshot)) => {
                // It costs time later, and nothing else, when they stay as they are.
                let _gathered = quarantine::gather(checkout);
                return Ok(snapshot);
            }
            Err(error) if tries >= TRIES || error.is_shortage() || !is_lost(&error) => return Err(error),
            Ok(None) if tries >= TRIES => return Err(Error::Lost { reference: request.reference.clone() }),
            // Somebody removed objects that no reference led to yet. The files are still there.
            Ok(None) | Err(_) => {}
        }
    }
    unreachable!("the loop above ends by returning")
}

/// Tells whether git did not find an object that was there a moment ago.
pub(crate) fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Git { source: Failure::Exit { status, .. }, .. } if status.code().is_some())
}

/// Takes a snapshot once. Returns nothing when its objects are gone again. `afresh` writes everything that is not
/// committed once more, also what git takes for written.
fn try_to_take(checkout: &Checkout, request: &SnapshotRequest, afresh: bool) -> Result<Option<Snapshot>> {
    let (before, settings) = thread::scope(|scope| {
        let settings = scope.spawn(|| Settings::of(checkout));
        let before = Before::read(checkout, &request.reference);
        (before, settings.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let mut before = before?;
    let private = Private::make(&checkout.git_dir, checkout, before.head.as_deref(), settings?)?;
    let Chosen { mut paths, converted, secret, has_nested, mut left_out } =
        choose(checkout, &private, request)?;
    let mut refused = Vec::new();
    if afresh {
        let mut staged = private.staged_paths()?;
        staged.retain(|path| {
            let is_file = fs::symlink_metadata(checkout.top.join(path)).is_ok_and(|kind| kind.is_file());
            is_file && left_out.iter().all(|left| left.path != *path) && !secret.contains(path)
        });
        paths.retain(|path| !staged.contains(path));
        refused.extend(private.add_afresh(&staged)?);
    }
    refused.extend(private.add(&paths)?);
    refused.extend(private.add_afresh(&converted)?);
    let mut kept = None;
    if let Some(directory) = request.private.as_deref().filter(|_| !secret.is_empty()) {
        let store = Aside::make(checkout, directory)?;
        let (tree, not_taken) = store.write(&private, &secret)?;
        refused.extend(not_taken);
        kept = Some((store, tree));
    }
    left_out.extend(refused.into_iter().map(|(path, stderr)| LeftOut { path, why: Why::Refused { stderr } }));
    left_out.sort_by(|a, b| a.path.cmp(&b.path));
    let tree = private.write_tree()?;
    let is_plain = left_out.is_empty() && converted.is_empty() && secret.is_empty() && !has_nested;
    let holds = match is_plain {
        true if before.head_tree.as_ref() == Some(&tree) => Holds::Head,
        true => Holds::Files,
        false => Holds::Otherwise,
    };
    if let Some(last) = &before.last
        && last.tree == tree
        && (before.head.is_none() || last.head == before.head)
    {
        let kept_last = match &request.private {
            Some(directory) => aside::tree_of(checkout, directory, &last.oid)?,
            None => None,
        };
        if kept_last.as_ref() == kept.as_ref().map(|(_, tree)| tree) {
            let (oid, parent) = (last.oid.clone(), last.parent.clone());
            return Ok(Some(Snapshot { oid, parent, left_out, unchanged: true, holds }));
        }
    }
    let mut message = message(&request.message, &left_out);
    if let Some((store, tree)) = &kept {
        message.push('\n');
        message.push_str(&aside::mention(&store.name(tree)?));
    }
    for tries in 1.. {
        let parent = before.last.map(|last| last.oid);
        let parents = [parent.as_deref(), before.head.as_deref()];
        let oid = commit_tree(checkout, &private.quarantine, &tree, parents, &message)?;
        let known: Vec<&str> = parents.into_iter().flatten().collect();
        let admitted = private.quarantine.admit(&[&oid], &known);
        let admitted = admitted
            .map_err(|failure| failure.during(format!("store a snapshot of {}", checkout.top.display())))?;
        let absent = "0".repeat(oid.len());
        let call = checkout.refs("update-ref").args(["--no-deref", "--end-of-options", &request.reference]);
        let Err(failure) = call.arg(&oid).arg(parent.as_deref().unwrap_or(&absent)).run() else {
            // Nothing of git's removes it. Whoever did by hand has it taken again.
            let stands = admitted.is_none_or(|admitted| admitted.stands());
            return Ok(stands.then_some(Snapshot { oid, parent, left_out, unchanged: false, holds }));
        };
        if failure.is_shortage() {
            return Err(failure.during(format!("write {}", request.reference)));
        }
        // Somebody else may have added to the chain, or made it shorter, since it was read.
        before = Before::read(checkout, &request.reference)?;
        let moved = before.last.as_ref().map(|last| &last.oid) != parent.as_ref();
        if moved && tries < TRIES {
            continue;
        }
        if before.last.is_none()
            && let Some(tip) = newest(checkout, &request.reference)?
        {
            return Err(Error::BrokenChain { reference: request.reference.clone(), tip });
        }
        return Err(Error::Git { act: format!("write {}", request.reference), source: failure });
    }
    unreachable!("the loop above ends by returning")
}

/// What was there before the snapshot.
struct Before {
    head: Option<String>,
    head_tree: Option<String>,
    last: Option<Last>,
}

struct Last {
    oid: String,
    tree: String,
    parent: Option<String>,
    head: Option<String>,
}

impl Before {
    fn read(checkout: &Checkout, reference: &str) -> Result<Before> {
        let head = ["HEAD^{commit}", "HEAD^{tree}"].map(str::to_string);
        let names = [&head[..], &[reference.to_string(), format!("{reference}^{{tree}}")]].concat();
        let names = [&names[..], &[format!("{reference}^1"), format!("{reference}^2")]].concat();
        let mut input = names.join("\n").into_bytes();
        input.push(b'\n');
        let act = || format!("read the last snapshot at {reference}");
        let answer = checkout.refs("cat-file").arg("--batch-check=%(objectname)").input(input).run();
        let answer = line(answer.map_err(|failure| failure.during(act()))?);
        // A name that does not exist comes back as itself and the word `missing`.
        let mut oids = answer.lines().map(|line| is_oid(line).then(|| line.to_string()));
        let mut next = || {
            let wrong = || Failure::answer("cat-file", &answer);
            oids.next().ok_or_else(|| wrong().during(act()))
        };
        let (head, head_tree) = (next()?, next()?);
        let (oid, tree, first, second) = (next()?, next()?, next()?, next()?);
        let last = oid.zip(tree).map(|(oid, tree)| match second {
            // The first snapshot on a reference has HEAD as its only parent.
            None => Last { oid, tree, parent: None, head: first },
            Some(second) => Last { oid, tree, parent: first, head: Some(second) },
        });
        Ok(Before { head, head_tree, last })
    }
}

/// What goes into a snapshot, and what does not.
#[derive(Debug, Default)]
struct Chosen {
    /// Everything that differs from the index.
    paths: Vec<PathBuf>,
    /// Files that do not differ by what git says, and do by their bytes.
    converted: Vec<PathBuf>,
    /// What goes into the private store.
    secret: Vec<PathBuf>,
    /// There is a repository inside this one.
    has_nested: bool,
    left_out: Vec<LeftOut>,
}

/// Chooses what goes in: everything that differs from the index and may be saved.
fn choose(checkout: &Checkout, private: &Private<'_>, request: &SnapshotRequest) -> Result<Chosen> {
    let mut chosen = Chosen::default();
    let indexed = private.unhide()?;
    let changes = private.changes()?;
    let mut paths = changes.unstaged;
    paths.retain(|path| !indexed.submodules.contains(path));
    chosen.has_nested = !indexed.submodules.is_empty() || !changes.nested.is_empty();
    for nested in indexed.submodules.iter().chain(&changes.nested) {
        paths.extend(private.nested_files(nested)?);
    }
    let mut converted = converted(checkout, private, &indexed, &paths, changes.is_staged)?;
    let drivers = Drivers::of(checkout)?;
    let secret = drivers.among(checkout, &paths)?;
    paths.retain(|path| secret.iter().all(|(other, _)| other != path));
    if request.private.is_some() {
        chosen.secret = secret.into_iter().map(|(path, _)| path).collect();
        // One that did not change is kept too: nothing but its filter could make it again.
        chosen.secret.extend(drivers.among_tracked(checkout)?);
        chosen.secret.sort();
        chosen.secret.dedup();
    } else {
        let left =
            secret.into_iter().map(|(path, driver)| LeftOut { path, why: Why::LocalFilter { driver } });
        chosen.left_out.extend(left);
    }
    converted.retain(|path| !chosen.secret.contains(path));

    let mut room = request.limits.total_bytes;
    let mut within = |paths: Vec<PathBuf>| fitting(checkout, &request.limits, &mut room, paths);
    let (paths, left_out) = within(paths);
    let (secret, secret_left_out) = within(std::mem::take(&mut chosen.secret));
    chosen.left_out.extend(left_out.into_iter().chain(secret_left_out));
    // What of these does not fit keeps the blob that it has, which git can check out.
    (chosen.converted, _) = within(converted);
    Ok(Chosen { paths, secret, ..chosen })
}

/// Tells whether a file can be read, and does not wait for one that is a pipe by now.
fn is_readable(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).is_ok()
}

/// Parts what may be saved from what may not. When it is too much together, the largest are left out.
pub(crate) fn fitting(
    checkout: &Checkout,
    limits: &Limits,
    room: &mut u64,
    paths: Vec<PathBuf>,
) -> (Vec<PathBuf>, Vec<LeftOut>) {
    let (mut chosen, mut left_out, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        let full = checkout.top.join(&path);
        let Ok(kind) = fs::symlink_metadata(&full) else {
            chosen.push(path);
            continue;
        };
        let why = if kind.is_symlink() || kind.is_dir() {
            chosen.push(path);
            continue;
        } else if !kind.is_file() {
            Why::NotAFile
        } else if kind.len() > limits.file_bytes {
            Why::TooBig { bytes: kind.len() }
        } else if !is_readable(&full) {
            Why::Unreadable
        } else {
            files.push((kind.len(), path));
            continue;
        };
        left_out.push(LeftOut { path, why });
    }
    files.sort();
    for (bytes, path) in files {
        match room.checked_sub(bytes) {
            Some(rest) => {
                *room = rest;
                chosen.push(path);
            }
            None => left_out.push(LeftOut { path, why: Why::NoRoom { bytes } }),
        }
    }
    (chosen, left_out)
}

fn message(text: &str, left_out: &[LeftOut]) -> String {
    let mut message = format!("{}\n", text.trim_end());
    if !left_out.is_empty() {
        message.push_str("\nLeft out:\n");
    }
    for LeftOut { path, why } in left_out {
        // Writing to a string cannot fail.
        let _written = writeln!(message, "{path:?}: {why}");
    }
    message
}

fn commit_tree(
    checkout: &Checkout,
    quarantine: &Quarantine<'_>,
    tree: &str,
    parents: [Option<&str>; 2],
    message: &str,
) -> Result<String> {
    let mut call = quarantine.catch(checkout.refs("commit-tree")).args(["--no-gpg-sign", "-F", "-"]);
    for parent in parents.into_iter().flatten() {
        call = call.args(["-p", parent]);
    }
    let call = call.arg(tree).env("GIT_AUTHOR_NAME", NAME).env("GIT_AUTHOR_EMAIL", EMAIL);
    let call = call.env("GIT_COMMITTER_NAME", NAME).env("GIT_COMMITTER_EMAIL", EMAIL);
    let oid = call.input(message.as_bytes().to_vec()).run().map(line);
    let act = || format!("write a snapshot of {}", checkout.top.display());
    let oid = oid.map_err(|failure| failure.during(act()))?;
    if is_oid(&oid) { Ok(oid) } else { Err(Error::NoSuchCommit { commit: oid, repo: checkout.top.clone() }) }
}
