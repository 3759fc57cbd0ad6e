//! Committing everything in a worktree, as the person would: with their hooks, their identity, their signature.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::broken_chains::beside_the_graph;
use crate::call::{Call, line};
use crate::changes::Changes;
use crate::checkout::{Checkout, Worktree, linked_git_dir};
use crate::drivers::{Drivers, joined};
use crate::error::{Error, Failure, Result, io_error};
use crate::names::{is_oid, is_reference_tail};
use crate::own_branch::refuse_indirect;
use crate::quarantine::{self, Admitted, Quarantine, is_partial_clone};
use crate::scratch::Scratch;
use crate::snapshot::{LeftOut, Limits, TRIES, fitting, is_lost};

/// How much of the end of a hook's output is kept.
const OUTPUT: u64 = 64 * 1024;

/// How often a commit is made that something removes again each time. It is in danger for milliseconds only.
const COMMIT_TRIES: u32 = 10;

/// How often in a row git must miss something of a commit before that is gone.
const MISSES: u32 = 2;

/// A commit to be made.
#[derive(Debug, Clone)]
pub struct CommitRequest {
    pub message: String,
    /// How long git and the hooks may take.
    pub time_limit: Duration,
    /// Whether the person's hooks run: pre-commit, commit-msg and the others that git knows.
    pub run_hooks: bool,
    /// What is larger is left as it is.
    pub limits: Limits,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// There was nothing to commit.
    Nothing,
    Commit {
        oid: String,
    },
    /// A hook said no. The changes are staged and not committed.
    HookFailed {
        hook: String,
        output: String,
    },
    /// The time was up. The changes are staged and not committed.
    TimedOut {
        after: Duration,
        output: String,
    },
}

/// What was committed, and what was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub committed: Committed,
    /// Files that were left as they are, and why.
    pub left_out: Vec<LeftOut>,
}

impl Worktree {
    /// Commits every change of a tracked or untracked file on whatever is checked out, but those that are too large
    /// and those that git cannot read. What is staged already is committed whatever its size.
    pub fn commit_all(&self, request: &CommitRequest) -> Result<Kept> {
        let checkout = &self.checkout;
        // Git looks for the repository by itself below, so that hooks find the environment they are used to.
        linked_git_dir(&checkout.common_dir, &checkout.top)?;
        let drivers = Drivers::of(checkout)?;
        let act = || format!("commit the changes in {}", checkout.top.display());
        let status = checkout.files("status").settings(&drivers.overrides);
        let changes =
            Changes::ask(status, "--untracked-files=all").map_err(|failure| failure.during(act()))?;
        if !changes.unmerged.is_empty() {
            return Err(Error::Unmerged { paths: changes.unmerged });
        }
        let mut room = request.limits.total_bytes;
        let (paths, left_out) = fitting(checkout, &request.limits, &mut room, changes.unstaged.clone());
        let waits = checkout.git_dir.join("MERGE_HEAD").exists();
        if !waits && !changes.is_staged && paths.is_empty() && changes.nested.is_empty() {
            return Ok(Kept { committed: Committed::Nothing, left_out });
        }
        let left_alone = left_out.iter().map(|left| left.path.clone()).collect();
        let staging = Staging { paths, nested: changes.nested, head: changes.head, waits, left_alone };
        let committed = staging.commit(checkout, &drivers, request)?;
        // It costs time later, and nothing else, when they stay as they are.
        let _gathered = quarantine::gather(checkout);
        Ok(Kept { committed, left_out })
    }
}

/// What is to be staged and committed.
struct Staging {
    paths: Vec<PathBuf>,
    nested: Vec<PathBuf>,
    head: Option<String>,
    /// A merge waits for its commit.
    waits: bool,
    /// Files that are not read.
    left_alone: Vec<PathBuf>,
}

impl Staging {
    fn commit(&self, checkout: &Checkout, drivers: &Drivers, request: &CommitRequest) -> Result<Committed> {
        for tries in 1.. {
            let staged = self.stage(checkout, drivers, tries > 1);
            match staged {
                Ok(None) => return Ok(Committed::Nothing),
                Ok(Some(staged)) => {
                    // Kept until the commit stands, or for an index that is there to stay.
                    let known = [staged.tree.as_str()];
                    return make(checkout, drivers, request, self.head.as_deref(), None, &known);
                }
                Err(error) if tries >= COMMIT_TRIES || error.is_shortage() || !is_lost(&error) => {
                    return Err(error);
                }
                // Somebody removed objects that no reference led to yet. The files are still there.
                Err(_) => {}
            }
        }
        unreachable!("the loop above ends by returning")
    }

    /// Stages what `git add -A` would, except nested repositories without a commit, which git cannot record. Returns
    /// the tree that this makes, unless it is the one that is committed already.
    fn stage(&self, checkout: &Checkout, drivers: &Drivers, afresh: bool) -> Result<Option<Staged>> {
        let mut paths = self.paths.clone();
        for nested in &self.nested {
            let top = checkout.top.join(nested);
            let head =
                Call::new(&checkout.git, "rev-parse").from(&top).global_path("--git-dir=", &top.join(".git"));
            let head = head.args(["--quiet", "--verify", "HEAD"]).output();
            if head.is_ok_and(|output| output.status.success()) {
                paths.push(nested.clone());
            }
        }
        drivers.refuse_among(checkout, &paths)?;
        let act = || format!("stage the changes in {}", checkout.top.display());
        let during = |failure: Failure| failure.during(act());
        let scratch = Scratch::make(&checkout.git_dir)?;
        let quarantine = Quarantine::make(checkout, &scratch)?;
        // Not caught: an index that a killed server leaves must name what is in the store.
        let update = || checkout.files("update-index").settings(&drivers.overrides);
        if afresh {
            paths.extend(self.staged_files(checkout)?);
            paths.sort();
            paths.dedup();
            let call = update().args(["--force-remove", "-z", "--stdin"]).input(joined(&paths));
            call.run().map_err(during)?;
        }
        if !paths.is_empty() {
            let call = update().args(["--add", "--remove", "--replace", "-z", "--stdin"]);
            call.input(joined(&paths)).run().map_err(during)?;
        }
        let mut call = checkout.refs("write-tree");
        if is_partial_clone(&checkout.common_dir) {
            call = call.arg("--missing-ok");
        }
        let tree = call.run().map(line).map_err(during)?;
        if !self.waits && self.head.is_some() {
            let head = checkout.refs("rev-parse").args(["--verify", "--end-of-options", "HEAD^{tree}"]);
            if head.run().map(line).map_err(during)? == tree {
                return Ok(None);
            }
        }
        let known = [self.head.as_deref(), self.waits.then_some("MERGE_HEAD")];
        let known: Vec<&str> = known.into_iter().flatten().collect();
        let admitted = quarantine.admit(&[&tree], &known).map_err(during)?;
        Ok(Some(Staged { tree, _admitted: admitted }))
    }

    /// Lists files that are staged and lie on disk as they are staged.
    fn staged_files(&self, checkout: &Checkout) -> Result<Vec<PathBuf>> {
        let call =
            checkout.refs("diff-index").args(["--cached", "-z", "--name-only", "--no-ext-diff", "HEAD"]);
        let act = || format!("compare the index of {} with HEAD", checkout.top.display());
        let mut paths = crate::call::paths(&call.run().map_err(|failure| failure.during(act()))?);
        paths.retain(|path| {
            let is_file = || fs::symlink_metadata(checkout.top.join(path)).is_ok_and(|kind| kind.is_file());
            !self.left_alone.contains(path) && is_file()
        });
        Ok(paths)
    }
}

/// A tree whose objects are in the repository's store.
struct Staged {
    tree: String,
    _admitted: Option<Admitted>,
}

/// Commits what is staged, or only what has become of one path, and says what came of it. `before` is the commit that
/// is checked out; what `known` leads to is in the repository's store to stay.
pub(crate) fn make(
    checkout: &Checkout,
    drivers: &Drivers,
    request: &CommitRequest,
    before: Option<&str>,
    only: Option<&Path>,
    known: &[&str],
) -> Result<Committed> {
    let merging = checkout.git_dir.join("MERGE_HEAD");
    let merged = fs::read(&merging).ok();
    // Git says the same of a branch without a commit and of one that it did not find for a moment.
    let found = if before.is_none() { tip(checkout)? } else { None };
    let before = before.or(found.as_deref());
    for tries in 1.. {
        let (oid, caught) = match make_once(checkout, drivers, request, before, only)? {
            Made::Commit { oid, caught } => (oid, caught),
            Made::Other(other) => return Ok(other),
            // Git writes a commit before the reference that leads to it, into a directory that may be gone by then.
            Made::Broke(error) if tries < COMMIT_TRIES && !error.is_shortage() => continue,
            Made::Broke(error) => return Err(error),
        };
        if secure(checkout, &oid, known, caught)? {
            return Ok(Committed::Commit { oid });
        }
        take_back(checkout, before, &oid)?;
        if let Some(merged) = &merged {
            fs::write(&merging, merged).map_err(io_error("write", &merging))?;
        }
        if tries >= COMMIT_TRIES {
            return Err(Error::Lost { reference: "HEAD".into() });
        }
    }
    unreachable!("the loop above ends by returning")
}

/// Packs a commit that a reference leads to, so that no `git prune` that began before it can remove it. Returns
/// whether all of it was still there.
fn secure(checkout: &Checkout, oid: &str, known: &[&str], caught: Option<Loose>) -> Result<bool> {
    let parents = format!("{oid}^@");
    let known: Vec<&str> = known.iter().copied().chain([parents.as_str()]).collect();
    let caught = caught.filter(|caught| caught.oid == oid);
    let mut missed = 0;
    for tries in 1.. {
        if is_packed(checkout, oid, &known, caught.as_ref()) {
            return Ok(true);
        }
        // Git may also have met a pack that another git was just replacing.
        let whole = checkout.refs("rev-list").args(["--objects", "--quiet", oid, "--not"]);
        let whole = known.iter().fold(whole, |call, known| call.arg(known));
        match beside_the_graph(whole).run() {
            // The commit stands, if less safely: whoever waits for it is not told that it does not.
            Ok(_) if tries >= TRIES => return Ok(true),
            Ok(_) => missed = 0,
            Err(failure @ Failure::Exit { .. }) if !failure.is_shortage() => {
                missed += 1;
                if missed >= MISSES {
                    return Ok(false);
                }
            }
            Err(failure) if tries >= TRIES => return Err(failure.during(format!("look for commit {oid}"))),
            Err(_) => {}
        }
    }
    unreachable!("the loop above ends by returning")
}

/// Tries to pack a commit that a reference leads to, and says whether the pack is in the store.
fn is_packed(checkout: &Checkout, oid: &str, known: &[&str], caught: Option<&Loose>) -> bool {
    let Ok(scratch) = Scratch::make(&checkout.git_dir) else { return false };
    let Ok(quarantine) = Quarantine::make(checkout, &scratch) else { return false };
    if let Some(caught) = caught {
        // Without it git looks in the store.
        let _written = scratch.write(&format!("objects/{}/{}", &oid[..2], &oid[2..]), &caught.bytes);
    }
    matches!(quarantine.admit(&[oid], known), Ok(Some(admitted)) if admitted.stands())
}

/// Takes back a commit of which something is not there any more: the branch goes back to where it was. A branch that
/// had no commit before stays, with an error: nothing here deletes a branch.
fn take_back(checkout: &Checkout, before: Option<&str>, oid: &str) -> Result<()> {
    let replaced = replaced(checkout, oid).or_else(|| before.map(str::to_string));
    let Some(before) = replaced.filter(|before| before.bytes().any(|byte| byte != b'0')) else {
        return Err(Error::Lost { reference: "HEAD".into() });
    };
    let act = || format!("take back a commit that git removed in {}", checkout.top.display());
    for tries in 1.. {
        let call = checkout.refs("update-ref").args(["-m", "forge: removed by git prune"]);
        match call.args(["HEAD", &before, oid]).run() {
            Ok(_) => break,
            // Another git may hold the lock of the reference for longer than git waits for it.
            Err(Failure::Exit { .. }) if tries < TRIES => {}
            Err(failure) => return Err(failure.during(act())),
        }
    }
    // The log would name a commit that is not there.
    let branch = checkout.branch()?.map(|branch| format!("refs/heads/{branch}"));
    for name in branch.as_deref().into_iter().chain(["HEAD"]) {
        for _ in 0..2 {
            let entry = format!("{name}@{{0}}");
            let _left = checkout.refs("reflog").args(["delete", "--rewrite", &entry]).output();
        }
    }
    Ok(())
}

/// Reads from the log of HEAD where it was before it led to this commit, which may have changed since somebody looked.
fn replaced(checkout: &Checkout, oid: &str) -> Option<String> {
    let log = fs::read(checkout.git_dir.join("logs/HEAD")).ok()?;
    let log = String::from_utf8_lossy(&log);
    let (old, rest) = log.lines().next_back()?.split_once(' ')?;
    (is_oid(old) && rest.split(' ').next() == Some(oid)).then(|| old.to_string())
}

/// An object as it lay in the store.
struct Loose {
    oid: String,
    bytes: Vec<u8>,
}

/// Reads the commit that was just made, before a `git prune` that is under way gets to it. It may be nowhere that this
/// looks, and is then looked for by git.
fn catch(checkout: &Checkout) -> Option<Loose> {
    let head = fs::read_to_string(checkout.git_dir.join("HEAD")).ok()?;
    let oid = match head.trim_end().strip_prefix("ref: ") {
        Some(name) if is_reference_tail(name) => fs::read_to_string(checkout.common_dir.join(name)).ok()?,
        Some(_) => return None,
        None => head,
    };
    let oid = oid.trim_end().to_string();
    if !is_oid(&oid) {
        return None;
    }
    let bytes = fs::read(checkout.common_dir.join("objects").join(&oid[..2]).join(&oid[2..])).ok()?;
    Some(Loose { oid, bytes })
}

/// Reads where HEAD is, whether that commit is there or not.
fn tip(checkout: &Checkout) -> Result<Option<String>> {
    let head = checkout.refs("rev-parse").args(["--quiet", "--verify", "--end-of-options", "HEAD"]).ask();
    let head = head.map_err(|failure| failure.during(format!("read HEAD of {}", checkout.top.display())))?;
    Ok(head.map(line))
}

/// What came of one call of `git commit`.
enum Made {
    Commit {
        oid: String,
        caught: Option<Loose>,
    },
    Other(Committed),
    /// Git itself failed, and no program that it started.
    Broke(Error),
}

fn make_once(
    checkout: &Checkout,
    drivers: &Drivers,
    request: &CommitRequest,
    before: Option<&str>,
    only: Option<&Path>,
) -> Result<Made> {
    let act = || format!("commit the changes in {}", checkout.top.display());
    refuse_indirect(checkout)?;
    let scratch = Scratch::make(&checkout.git_dir)?;
    let message = scratch.write("message", &request.message)?;
    let trace = scratch.path().join("trace");
    let log = scratch.write("output", "")?;

    let mut call = Call::new(&checkout.git, "commit").from(&checkout.top);
    if request.run_hooks {
        call = call.with_hooks();
    }
    if let Some(parent) = checkout.top.parent() {
        call = call.env("GIT_CEILING_DIRECTORIES", parent);
    }
    for (key, value) in missing_identity(checkout)? {
        call = call.setting(key, value);
    }
    let call = call.env("GIT_TRACE2_EVENT", &trace).settings(&drivers.overrides);
    let mut call = call.args(["--quiet", "--no-status", "--cleanup=whitespace", "-F"]).arg(&message);
    if let Some(path) = only {
        let mut pathspec = std::ffi::OsString::from(":(top,literal)");
        pathspec.push(path);
        call = call.args(["--only", "--"]).arg(pathspec);
    }

    let output = fs::File::create(&log).map_err(io_error("write", &log))?;
    let errors = output.try_clone().map_err(io_error("write", &log))?;
    let ended = call.within(request.time_limit).run_into(output, errors);
    let ended = ended.map_err(|failure| failure.during(act()))?;

    let caught = catch(checkout);
    // A hook that runs after the commit cannot undo it, whatever becomes of the hook.
    // That the commit is there, too, is looked at by the caller.
    let head = tip(checkout)?;
    if head.as_deref() != before
        && let Some(oid) = head
    {
        return Ok(Made::Commit { oid, caught });
    }
    let output = crate::redact(&tail(&log)?);
    match ended {
        None => Ok(Made::Other(Committed::TimedOut { after: request.time_limit, output })),
        Some(status) => {
            let trace = fs::read_to_string(&trace).unwrap_or_default();
            if let Some(hook) = failed_hook(&trace) {
                return Ok(Made::Other(Committed::HookFailed { hook, output }));
            }
            let error = Failure::exit("commit", status, &output).during(act());
            if failed_program(&trace) { Err(error) } else { Ok(Made::Broke(error)) }
        }
    }
}

/// Returns an identity for what the person has not configured; git would make one up from the host's name.
pub(crate) fn missing_identity(checkout: &Checkout) -> Result<Vec<(&'static str, &'static str)>> {
    let answer =
        checkout.refs("config").args(["--null", "--name-only", "--get-regexp", r"^user\.(name|email)$"]);
    let answer = answer.ask().map_err(|failure| failure.during("read who commits"))?.unwrap_or_default();
    let configured: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    let has_variable = |name: &str| checkout.git.environment().iter().any(|(other, _)| other == name);
    let mut missing = Vec::new();
    if !configured.contains(&&b"user.name"[..]) {
        missing.push(("user.name", "Forge"));
    }
    if !configured.contains(&&b"user.email"[..]) && !has_variable("EMAIL") {
        missing.push(("user.email", "forge@localhost"));
    }
    Ok(missing)
}

/// Finds the hook that failed in git's own account of what it started.
///
/// A hook's git commands write into the same account; their session ids have a slash, the id of ours has none.
pub(crate) fn failed_hook(trace: &str) -> Option<String> {
    let mut hooks = BTreeMap::new();
    for event in trace.lines().filter(|event| text_field(event, "sid").is_some_and(|sid| !sid.contains('/')))
    {
        let child = number_field(event, "child_id");
        match text_field(event, "event") {
            Some("child_start") if text_field(event, "child_class") == Some("hook") => {
                hooks.insert(child, text_field(event, "hook_name").unwrap_or("a hook"));
            }
            Some("child_exit") if number_field(event, "code") != Some(0) => {
                if let Some(hook) = hooks.get(&child) {
                    return Some(hook.to_string());
                }
            }
            _ => {}
        }
    }
    None
}

/// Tells whether a program failed that git started, such as one that signs.
fn failed_program(trace: &str) -> bool {
    let own = trace.lines().filter(|event| text_field(event, "sid").is_some_and(|sid| !sid.contains('/')));
    own.into_iter().any(|event| {
        text_field(event, "event") == Some("child_exit") && number_field(event, "code") != Some(0)
    })
}

fn text_field<'a>(event: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = event.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next()
}

fn number_field(event: &str, name: &str) -> Option<i64> {
    let (_, rest) = event.split_once(&format!("\"{name}\":"))?;
    rest.split([',', '}']).next()?.parse().ok()
}

pub(crate) fn tail(log: &Path) -> Result<String> {
    let read = || {
        let mut file = fs::File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_string())
    };
    read().map_err(io_error("read", log))
}
