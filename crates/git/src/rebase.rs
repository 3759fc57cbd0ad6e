//! A rebase in a worktree: begun where conflicts have to be resolved, continued when they are, or aborted.
//!
//! The state is git's own, in the worktree's git directory, so it survives whatever happens to this process and can
//! be continued by anybody with git. Only the branch of the worktree is moved, and never a stash or another branch.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::call::Call;
use crate::checkout::Worktree;
use crate::commit::missing_identity;
use crate::drivers::Drivers;
use crate::error::{Failure, Result};
use crate::forward::refusal;
use crate::own_branch::refuse_indirect;
use crate::standing::Operation;

/// Git puts its remarks behind a cut, and cuts there. A line that begins with # is a heading of the person's or the
/// agent's then, and stays.
const CLEANUP: (&str, &str) = ("commit.cleanup", "scissors");

/// What a cut looks like, whatever begins a remark.
const CUT: &[u8] = b" ------------------------ >8 ------------------------";

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
        self.check_on(branch)?;
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
        refuse_indirect(&self.checkout)?;
        let call = self.checkout.refs("reset").args(["--soft", oid]);
        call.run()
            .map(drop)
            .map_err(|failure| failure.during(format!("move {} to {oid}", self.path().display())))
    }

    /// Begins to rebase what is after `upstream` onto a commit, and goes as far as it can. A file that no commit has
    /// and that would be overwritten is named, and nothing moves.
    pub fn begin_rebase(&self, upstream: &str, onto: &str) -> Result<Rebase> {
        refuse_indirect(&self.checkout)?;
        let drivers = Drivers::of(&self.checkout)?;
        drivers.refuse_in_commit(&self.checkout, onto)?;
        self.refuse_to_begin(&drivers, upstream, onto)?;
        // Each of these stands against a setting that would touch more than this branch.
        let call = self.rewriting("rebase", &drivers)?.setting(CLEANUP.0, CLEANUP.1);
        let call = call.args(["--merge", "--no-autostash", "--no-update-refs", "--no-autosquash"]);
        let call =
            call.args(["--no-rebase-merges", "--no-fork-point", "--no-verify", "--empty=drop", "--quiet"]);
        self.went(call.args(["--onto", onto, upstream]), "begin")
    }

    /// Goes on with a rebase whose conflicts are resolved and staged, over no file that no commit has.
    pub fn continue_rebase(&self) -> Result<Rebase> {
        let drivers = Drivers::of(&self.checkout)?;
        self.refuse_to_go_on(&drivers)?;
        let call = self.rewriting("rebase", &drivers)?;
        // Whoever stopped it without the cut left remarks that only git's own way takes out again.
        let message = fs::read(self.checkout.git_dir.join("MERGE_MSG")).unwrap_or_default();
        let is_cut = message.windows(CUT.len()).any(|part| part == CUT);
        let call = if is_cut { call.setting(CLEANUP.0, CLEANUP.1) } else { call };
        self.went(call.arg("--continue"), "continue")
    }

    /// Takes back the operation that waits: everything is as it was before it began. The caller has saved the files,
    /// but not ignored ones, over which no rebase is taken back.
    pub fn abort_operation(&self) -> Result<Option<Operation>> {
        let Some(operation) = self.operation() else { return Ok(None) };
        let verb = match operation {
            Operation::Rebase => "rebase",
            Operation::Merge => "merge",
            Operation::CherryPick => "cherry-pick",
            Operation::Revert => "revert",
        };
        let drivers = Drivers::of(&self.checkout)?;
        if operation == Operation::Rebase {
            self.refuse_to_abort(&drivers)?;
        }
        let aborted = self.files(verb, &drivers).arg("--abort").run();
        let act = || format!("abort {operation} in {}", self.path().display());
        aborted.map_err(|failure| failure.during(act()))?;
        Ok(Some(operation))
    }

    fn went(&self, call: Call, begin: &str) -> Result<Rebase> {
        let act = || format!("{begin} the rebase in {}", self.path().display());
        let output = call.output().map_err(|failure| failure.during(act()))?;
        if self.operation().is_none() {
            return match output.status.success() {
                true => Ok(Rebase::Done),
                false => Err(refusal(&self.checkout, "the rebase", "", &told(&output))),
            };
        }
        let conflicted = self.standing()?.conflicted;
        match conflicted.is_empty() {
            // It stopped for another reason, such as a file in its way.
            true => Err(told(&output).during(act())),
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

    pub(crate) fn files(&self, verb: &'static str, drivers: &Drivers) -> Call {
        self.checkout.files(verb).settings(&drivers.overrides)
    }
}

/// What git says of a rebase that it cannot go on with; some of it stands on its standard output.
fn told(output: &Output) -> Failure {
    let said =
        [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes).trim().to_string());
    Failure::exit("rebase", output.status, said.join("\n").trim())
}
