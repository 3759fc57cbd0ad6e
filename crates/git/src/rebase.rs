//! A rebase in a worktree: begun where conflicts have to be resolved, continued when they are, or aborted.
//!
//! The state is git's own, in the worktree's git directory, so it survives whatever happens to this process and can
//! be continued by anybody with git. Only the branch of the worktree is moved, and never a stash or another branch.

use std::fs;
use std::path::{Path, PathBuf};

use crate::call::Call;
use crate::checkout::Worktree;
use crate::commit::missing_identity;
use crate::drivers::{Drivers, joined};
use crate::error::{Failure, Result};
use crate::forward::refusal;
use crate::standing::Operation;

/// Larger files are not looked through for the marks of a conflict.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Where a rebase stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebase {
    Done,
    /// It waits until these are resolved.
    Conflicts(Vec<PathBuf>),
}

impl Worktree {
    /// Puts the worktree and its branch on another commit. Changes that are in nobody's way stay; a file that would
    /// be overwritten, ignored ones included, is named and nothing moves.
    pub fn move_to(&self, branch: &str, oid: &str) -> Result<()> {
        crate::check_branch_name(branch)?;
        let drivers = Drivers::of(&self.checkout)?;
        drivers.refuse_in_commit(&self.checkout, oid)?;
        let call = self.files("checkout", &drivers).without_env("GIT_NO_LAZY_FETCH");
        let call = call.args(["--quiet", "--no-overwrite-ignore", "--no-track", "-B", branch, oid, "--"]);
        match call.run() {
            Ok(_) => Ok(()),
            Err(failure @ Failure::Exit { .. }) => Err(refusal(&self.checkout, branch, oid, &failure)),
            Err(failure) => Err(failure.during(format!("move {} to {oid}", self.path().display()))),
        }
    }

    /// Puts the branch on another commit and leaves files and index as they are: what differs is staged then.
    pub fn move_branch_only(&self, oid: &str) -> Result<()> {
        let call = self.checkout.refs("reset").args(["--soft", oid]);
        call.run()
            .map(drop)
            .map_err(|failure| failure.during(format!("move {} to {oid}", self.path().display())))
    }

    /// Begins to rebase what is after `upstream` onto a commit, and goes as far as it can.
    pub fn begin_rebase(&self, upstream: &str, onto: &str) -> Result<Rebase> {
        let drivers = Drivers::of(&self.checkout)?;
        drivers.refuse_in_commit(&self.checkout, onto)?;
        // Each of these stands against a setting that would touch more than this branch.
        let call = self.rewriting("rebase", &drivers)?;
        let call = call.args(["--merge", "--no-autostash", "--no-update-refs", "--no-autosquash"]);
        let call =
            call.args(["--no-rebase-merges", "--no-fork-point", "--no-verify", "--empty=drop", "--quiet"]);
        self.went(call.args(["--onto", onto, upstream]), "begin")
    }

    /// Goes on with a rebase whose conflicts are resolved and staged.
    pub fn continue_rebase(&self) -> Result<Rebase> {
        let drivers = Drivers::of(&self.checkout)?;
        self.went(self.rewriting("rebase", &drivers)?.arg("--continue"), "continue")
    }

    /// Takes back the operation that waits: everything is as it was before it began. The caller has saved the files.
    pub fn abort_operation(&self) -> Result<Option<Operation>> {
        let Some(operation) = self.operation() else { return Ok(None) };
        let verb = match operation {
            Operation::Rebase => "rebase",
            Operation::Merge => "merge",
            Operation::CherryPick => "cherry-pick",
            Operation::Revert => "revert",
        };
        let drivers = Drivers::of(&self.checkout)?;
        let aborted = self.files(verb, &drivers).arg("--abort").run();
        let act = || format!("abort {operation} in {}", self.path().display());
        aborted.map_err(|failure| failure.during(act()))?;
        Ok(Some(operation))
    }

    /// Stages the files in conflict that somebody has resolved, and returns those that nobody has. A file is resolved
    /// when it is not what git left there any more, and no mark of a conflict is left in it.
    pub fn stage_resolved(&self) -> Result<Vec<PathBuf>> {
        let conflicted = self.standing()?.conflicted;
        if conflicted.is_empty() {
            return Ok(conflicted);
        }
        let drivers = Drivers::of(&self.checkout)?;
        let act = || format!("look at the conflicts in {}", self.path().display());
        // What git left in the files of a conflict is kept as a tree of this name.
        let call = self.files("diff-index", &drivers).args(["--name-only", "-z", "--no-ext-diff"]);
        let touched = match call.args(["--no-renames", "AUTO_MERGE", "--"]).run() {
            Ok(answer) => answer,
            Err(Failure::Exit { .. }) => return Ok(conflicted),
            Err(failure) => return Err(failure.during(act())),
        };
        let is_touched = |path: &Path| {
            use std::os::unix::ffi::OsStrExt;
            touched.split(|byte| *byte == 0).any(|name| name == path.as_os_str().as_bytes())
        };
        let (resolved, open): (Vec<_>, Vec<_>) =
            conflicted.into_iter().partition(|path| is_touched(path) && !has_marks(&self.path().join(path)));
        drivers.refuse_among(&self.checkout, &resolved)?;
        if !resolved.is_empty() {
            let call = self.files("update-index", &drivers).args(["--add", "--remove", "-z", "--stdin"]);
            call.input(joined(&resolved)).run().map_err(|failure| failure.during(act()))?;
        }
        Ok(open)
    }

    fn went(&self, call: Call, begin: &str) -> Result<Rebase> {
        let act = || format!("{begin} the rebase in {}", self.path().display());
        let output = call.output().map_err(|failure| failure.during(act()))?;
        if self.operation().is_none() {
            return match output.status.success() {
                true => Ok(Rebase::Done),
                false => {
                    Err(refusal(&self.checkout, "the rebase", "", &crate::call::failure("rebase", &output)))
                }
            };
        }
        let conflicted = self.standing()?.conflicted;
        match conflicted.is_empty() {
            // It stopped for another reason, such as a file in its way.
            true => Err(crate::call::failure("rebase", &output).during(act())),
            false => Ok(Rebase::Conflicts(conflicted)),
        }
    }

    fn rewriting(&self, verb: &'static str, drivers: &Drivers) -> Result<Call> {
        let mut call = self.files(verb, drivers).without_env("GIT_NO_LAZY_FETCH");
        for (key, value) in missing_identity(&self.checkout)? {
            call = call.setting(key, value);
        }
        // Nobody is there to edit anything; and what was resolved before elsewhere is not written down for others.
        let call = call.env("GIT_EDITOR", "true").env("GIT_SEQUENCE_EDITOR", "true");
        Ok(call.setting("rerere.enabled", "false"))
    }

    fn files(&self, verb: &'static str, drivers: &Drivers) -> Call {
        self.checkout.files(verb).settings(&drivers.overrides)
    }
}

/// Tells whether a line of a file looks like a mark of a conflict. What is too large to look through has some.
fn has_marks(path: &Path) -> bool {
    let Ok(kind) = fs::symlink_metadata(path) else { return false };
    if !kind.is_file() {
        return false;
    }
    if kind.len() > LARGEST {
        return true;
    }
    let Ok(bytes) = fs::read(path) else { return true };
    let is_mark = |line: &[u8]| line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> ");
    bytes.split(|byte| *byte == b'\n').any(is_mark)
}
