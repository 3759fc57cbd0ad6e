//! Making the files of a worktree what they were in a snapshot, byte for byte.
//!
//! The caller snapshots the present first: only what that snapshot holds is overwritten or removed. Ignored files are
//! never touched, and neither are HEAD, the branch, or what is staged. Whatever is in the way is named before
//! anything is written.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::aside::{self, Aside};
use crate::blobs;
use crate::call::Call;
use crate::checkout::{Checkout, Worktree, linked_git_dir};
use crate::converted::filtered;
use crate::drivers::Drivers;
use crate::error::{Error, Failure, Result};
use crate::limit::WRITING;
use crate::placing::{Place, is_inside};
use crate::tree_diff::{Differing, Entry, between};

/// Files to be made what they were.
#[derive(Debug, Clone)]
pub struct RestoreRequest {
    /// The snapshot to go back to.
    pub snapshot: String,
    /// The snapshot of the files as they are now.
    pub now: String,
    /// Files and directories to restore; everything without.
    pub paths: Option<Vec<PathBuf>>,
    /// What one of the two snapshots left out, so that it is neither known nor saved.
    pub left_out: Vec<PathBuf>,
    /// The private store of both snapshots.
    pub private: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    pub written: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
    /// What was left as it is, because a snapshot does not hold it.
    pub left_alone: Vec<PathBuf>,
}

impl Worktree {
    /// Makes files what they were in a snapshot.
    pub fn restore(&self, request: &RestoreRequest) -> Result<Restored> {
        let checkout = &self.checkout;
        linked_git_dir(&checkout.common_dir, &checkout.top)?;
        if let Some(operation) = self.operation() {
            return Err(Error::UnderWay { path: checkout.top.clone(), what: operation.to_string() });
        }
        self.check_paths(request)?;
        let mut restored = Restored::default();
        let (open, secret) = self.differing(request, &mut restored)?;
        let place = Place::open(&checkout.top)?;
        in_the_way(checkout, &open, &secret, request)?;

        let gone = |change: &&Differing| change.new.is_none();
        for change in open.iter().chain(&secret).filter(gone) {
            place.remove(&change.path)?;
            restored.removed.push(change.path.clone());
        }
        let (filtered, plain) = self.filtered(request, open)?;
        let store = request.private.as_deref().and_then(|directory| Aside::open(checkout, directory));
        write(&place, || checkout.refs("cat-file"), &plain, &mut restored)?;
        if let Some(store) = store {
            write(&place, || store.call("cat-file"), &secret, &mut restored)?;
        }
        let drivers = Drivers::of(checkout)?;
        for (change, entry) in filtered.iter().filter_map(|change| Some((change, change.new.as_ref()?))) {
            let path = joined("--path=", &change.path);
            let call = checkout
                .files("cat-file")
                .within(WRITING)
                .global(format!("--attr-source={}", request.snapshot));
            let call = call.settings(&drivers.overrides).args(["--filters"]).arg(path).arg(&entry.oid);
            let content = call.run().map_err(|failure| failure.during(self.restoring()))?;
            place.write(&change.path, &content, entry.is_executable())?;
            restored.written.push(change.path.clone());
        }
        // Git would find out by itself, by reading every such file again each time it is asked.
        let refresh = checkout.files("update-index").settings(&drivers.overrides);
        let _refreshed = refresh.args(["-q", "--refresh"]).output();
        for paths in [&mut restored.written, &mut restored.removed, &mut restored.left_alone] {
            paths.sort();
            paths.dedup();
        }
        Ok(restored)
    }

    /// Refuses paths that lead elsewhere, and those that neither snapshot knows.
    fn check_paths(&self, request: &RestoreRequest) -> Result<()> {
        for path in request.paths.iter().flatten() {
            if !is_inside(path) {
                return Err(Error::OutOfBounds { path: path.clone() });
            }
            let is_in = |call: Call, tree: &str| -> Result<bool> {
                let call = call.args(["-z", "--full-tree", "--name-only", "--end-of-options", tree]);
                let answer = call.arg(path).run();
                Ok(!answer.map_err(|failure| failure.during(self.restoring()))?.is_empty())
            };
            let known = |snapshot: &String| -> Result<bool> {
                if is_in(self.checkout.refs("ls-tree"), snapshot)? {
                    return Ok(true);
                }
                let Some(directory) = &request.private else { return Ok(false) };
                let tree = aside::tree_of(&self.checkout, directory, snapshot)?;
                match (Aside::open(&self.checkout, directory), tree) {
                    (Some(store), Some(tree)) => is_in(store.call("ls-tree"), &tree),
                    _ => Ok(false),
                }
            };
            let left_out = request.left_out.iter().any(|left| left.starts_with(path));
            if !left_out && !known(&request.snapshot)? && !known(&request.now)? {
                return Err(Error::NotInSnapshot { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Finds what differs between the two snapshots: in the open, and in the private store.
    fn differing(
        &self,
        request: &RestoreRequest,
        restored: &mut Restored,
    ) -> Result<(Vec<Differing>, Vec<Differing>)> {
        let checkout = &self.checkout;
        let during = |failure: Failure| failure.during(self.restoring());
        let paths = request.paths.as_deref();
        let call = checkout.refs("diff-tree");
        let mut open = between(call, &request.now, &request.snapshot, paths).map_err(during)?;
        let mut secret = Vec::new();
        if let Some(directory) = &request.private
            && let Some(store) = Aside::open(checkout, directory)
        {
            let tree = |snapshot: &str| aside::tree_of(checkout, directory, snapshot);
            let (now, then) = (tree(&request.now)?, tree(&request.snapshot)?);
            for tree in now.iter().chain(&then) {
                let call = store.call("ls-tree").args(["-r", "-z", "--name-only", "--end-of-options", tree]);
                let names = call.run().map_err(during)?;
                let names: HashSet<&[u8]> = names.split(|byte| *byte == 0).collect();
                open.retain(|change| !names.contains(change.path.as_os_str().as_bytes()));
            }
            if now != then {
                let call = store.call("mktree").input(Vec::new()).run().map(crate::call::line);
                let empty = call.map_err(during)?;
                let (now, then) = (now.unwrap_or(empty.clone()), then.unwrap_or(empty));
                secret = between(store.call("diff-tree"), &now, &then, paths).map_err(during)?;
            }
        }
        let left_out: HashSet<&Path> = request.left_out.iter().map(PathBuf::as_path).collect();
        for changes in [&mut open, &mut secret] {
            changes.retain(|change| {
                let known = !left_out.contains(change.path.as_path());
                if !known {
                    restored.left_alone.push(change.path.clone());
                }
                known && !is_hidden(checkout, change)
            });
        }
        Ok((open, secret))
    }

    /// Parts what a filter of the person's made of a committed blob from what is written as it is.
    fn filtered(
        &self,
        request: &RestoreRequest,
        open: Vec<Differing>,
    ) -> Result<(Vec<Differing>, Vec<Differing>)> {
        let paths: Vec<PathBuf> = open
            .iter()
            .filter(|change| change.new.as_ref().is_some_and(|new| !new.is_link() && !new.is_repository()))
            .map(|change| change.path.clone())
            .collect();
        let filtered: HashSet<PathBuf> =
            filtered(&self.checkout, &paths, Some(&request.snapshot))?.into_iter().collect();
        if filtered.is_empty() {
            return Ok((Vec::new(), open));
        }
        let secret: HashSet<PathBuf> = Drivers::of(&self.checkout)?
            .among(&self.checkout, &paths)?
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        // The commit that was checked out is the last parent.
        let commit = aside::read_commit(&self.checkout, &request.snapshot)?;
        let text = String::from_utf8_lossy(&commit);
        let header = text.split("\n\n").next().unwrap_or_default();
        let head = header.lines().filter_map(|line| line.strip_prefix("parent ")).next_back();
        let Some(head) = head else { return Ok((Vec::new(), open)) };
        let call = self.checkout.refs("diff-tree");
        let since = between(call, head, &request.snapshot, None);
        let since = since.map_err(|failure| failure.during(self.restoring()))?;
        let changed: HashSet<PathBuf> = since.into_iter().map(|change| change.path).collect();
        let is_made = |change: &Differing| {
            filtered.contains(&change.path)
                && !changed.contains(&change.path)
                && !secret.contains(&change.path)
        };
        Ok(open.into_iter().partition(is_made))
    }

    fn restoring(&self) -> String {
        format!("restore files in {}", self.path().display())
    }
}

/// Says whether a file is in a snapshot and yet not on disk, because the checkout is sparse: it stays away.
fn is_hidden(checkout: &Checkout, change: &Differing) -> bool {
    change.old.as_ref().is_some_and(|old| !old.is_repository())
        && change.new.is_some()
        && fs::symlink_metadata(checkout.top.join(&change.path)).is_err()
}

/// Refuses when something that no snapshot holds would be overwritten.
fn in_the_way(
    checkout: &Checkout,
    open: &[Differing],
    secret: &[Differing],
    request: &RestoreRequest,
) -> Result<()> {
    let all = || open.iter().chain(secret);
    let gone: HashSet<&Path> =
        all().filter(|change| change.old.is_some()).map(|change| change.path.as_path()).collect();
    let mut blocked = BTreeSet::new();
    let mut unsaved = Vec::new();
    for change in all() {
        if !is_inside(&change.path) {
            return Err(Error::OutOfBounds { path: change.path.clone() });
        }
        let Some(new) = &change.new else { continue };
        for above in change.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()) {
            let kind = fs::symlink_metadata(checkout.top.join(above));
            if kind.is_ok_and(|kind| !kind.is_dir()) && !gone.contains(above) {
                blocked.insert(above.to_path_buf());
            }
        }
        match fs::symlink_metadata(checkout.top.join(&change.path)) {
            Ok(kind) if kind.is_dir() && !new.is_repository() => {
                let held = files_below(&checkout.top, &change.path);
                blocked.extend(held.into_iter().filter(|path| !gone.contains(path.as_path())));
            }
            Ok(kind) if !kind.is_dir() && change.old.is_none() => unsaved.push((change, new)),
            _ => {}
        }
    }
    // A restore that was broken off has written some of them already.
    let store = request.private.as_deref().and_then(|directory| Aside::open(checkout, directory));
    for (change, new) in unsaved {
        let is_secret = secret.iter().any(|other| other.path == change.path);
        let call = || match (&store, is_secret) {
            (Some(store), true) => store.call("cat-file"),
            _ => checkout.refs("cat-file"),
        };
        let mut same = false;
        blobs::read::<Error>(call, &[&new.oid], |_, content| {
            same = holds(&checkout.top.join(&change.path), new, content);
            Ok(())
        })?;
        if !same {
            blocked.insert(change.path.clone());
        }
    }
    if blocked.is_empty() { Ok(()) } else { Err(Error::Unsaved { paths: blocked.into_iter().collect() }) }
}

/// Says whether what is at a path is what an entry says.
fn holds(path: &Path, entry: &Entry, content: &[u8]) -> bool {
    match fs::symlink_metadata(path) {
        Ok(kind) if kind.is_symlink() => {
            entry.is_link()
                && fs::read_link(path).is_ok_and(|target| target.as_os_str().as_bytes() == content)
        }
        Ok(kind) => {
            // What is of another length is not read: it may be larger than memory.
            let may_be = kind.is_file() && !entry.is_link() && kind.len() == content.len() as u64;
            may_be && fs::read(path).is_ok_and(|bytes| bytes == content)
        }
        Err(_) => false,
    }
}

/// Lists everything below a directory that is not a directory.
fn files_below(top: &Path, path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(top.join(path)).into_iter().flatten().flatten() {
        let path = path.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(files_below(top, &path)),
            _ => files.push(path),
        }
    }
    files
}

/// Writes what the changes say is there, from the blobs that `call` finds.
fn write(
    place: &Place,
    call: impl Fn() -> Call,
    changes: &[Differing],
    restored: &mut Restored,
) -> Result<()> {
    let mut contents: HashMap<usize, (&Path, &Entry)> = HashMap::new();
    let mut oids = Vec::new();
    for change in changes {
        let Some(new) = &change.new else { continue };
        if new.is_repository() {
            place.directory(&change.path)?;
            continue;
        }
        contents.insert(oids.len(), (&change.path, new));
        oids.push(new.oid.as_str());
    }
    blobs::read::<Error>(call, &oids, |index, content| {
        let (path, entry) = contents[&index];
        if entry.is_link() {
            place.link(path, content)?;
        } else {
            place.write(path, content, entry.is_executable())?;
        }
        restored.written.push(path.to_path_buf());
        Ok(())
    })
}

fn joined(option: &str, path: &Path) -> std::ffi::OsString {
    let mut text = std::ffi::OsString::from(option);
    text.push(path);
    text
}
