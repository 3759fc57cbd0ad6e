//! Committing everything in a worktree, as the person would: with their hooks, their identity, their signature.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::call::Call;
use crate::changes::Changes;
use crate::checkout::{Checkout, Worktree, linked_git_dir};
use crate::drivers::{Drivers, joined};
use crate::error::{Error, Failure, Result, io_error};
use crate::own_branch::refuse_indirect;
use crate::scratch::Scratch;

/// How much of the end of a hook's output is kept.
const OUTPUT: u64 = 64 * 1024;

/// A commit to be made.
#[derive(Debug, Clone)]
pub struct CommitRequest {
    pub message: String,
    /// How long git and the hooks may take.
    pub time_limit: Duration,
    /// Whether the person's hooks run: pre-commit, commit-msg and the others that git knows.
    pub run_hooks: bool,
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

impl Worktree {
    /// Commits every change of a tracked or untracked file on whatever is checked out.
    pub fn commit_all(&self, request: &CommitRequest) -> Result<Committed> {
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
        stage(checkout, &drivers, &changes)?;
        if !has_something_to_commit(checkout, &changes)? {
            return Ok(Committed::Nothing);
        }
        make(checkout, &drivers, request, changes.head.as_deref(), None)
    }
}

/// Commits what is staged, or only what has become of one path, and says what came of it. `before` is the commit that
/// is checked out.
pub(crate) fn make(
    checkout: &Checkout,
    drivers: &Drivers,
    request: &CommitRequest,
    before: Option<&str>,
    only: Option<&Path>,
) -> Result<Committed> {
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

    // A hook that runs after the commit cannot undo it, whatever becomes of the hook.
    let head = checkout.head()?;
    if head.as_deref() != before
        && let Some(oid) = head
    {
        return Ok(Committed::Commit { oid });
    }
    let output = crate::redact(&tail(&log)?);
    match ended {
        None => Ok(Committed::TimedOut { after: request.time_limit, output }),
        Some(status) => match failed_hook(&fs::read_to_string(&trace).unwrap_or_default()) {
            Some(hook) => Ok(Committed::HookFailed { hook, output }),
            None => Err(Failure::exit("commit", status, &output).during(act())),
        },
    }
}

/// Stages what `git add -A` would, except nested repositories without a commit, which git cannot record.
fn stage(checkout: &Checkout, drivers: &Drivers, changes: &Changes) -> Result<()> {
    let mut paths = changes.unstaged.clone();
    for nested in &changes.nested {
        let top = checkout.top.join(nested);
        let head =
            Call::new(&checkout.git, "rev-parse").from(&top).global_path("--git-dir=", &top.join(".git"));
        let head = head.args(["--quiet", "--verify", "HEAD"]).output();
        if head.is_ok_and(|output| output.status.success()) {
            paths.push(nested.clone());
        }
    }
    drivers.refuse_among(checkout, &paths)?;
    if paths.is_empty() {
        return Ok(());
    }
    let call = checkout.files("update-index").args(["--add", "--remove", "--replace", "-z", "--stdin"]);
    let staged = call.settings(&drivers.overrides).input(joined(&paths)).run();
    staged
        .map(drop)
        .map_err(|failure| failure.during(format!("stage the changes in {}", checkout.top.display())))
}

/// Tells whether the index differs from HEAD now, or a merge waits for its commit.
fn has_something_to_commit(checkout: &Checkout, changes: &Changes) -> Result<bool> {
    if checkout.git_dir.join("MERGE_HEAD").exists() {
        return Ok(true);
    }
    if !changes.is_staged && changes.unstaged.is_empty() && changes.nested.is_empty() {
        return Ok(false);
    }
    if changes.head.is_none() {
        return Ok(true);
    }
    let same = checkout.files("diff-index").args(["--cached", "--quiet", "--no-ext-diff", "HEAD"]).ask();
    let act = || format!("compare the index of {} with HEAD", checkout.top.display());
    Ok(same.map_err(|failure| failure.during(act()))?.is_none())
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
