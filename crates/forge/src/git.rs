//! Git as the person at the command line would call it, in their own checkout, for the few commands that are about
//! commits: linking, hooks, tracing. What the server does with repositories goes its own, stricter way.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::exit::{Failure, Result};

/// A checkout, as git tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) top: PathBuf,
    pub(crate) git_dir: PathBuf,
    /// The git directory that all checkouts of the repository share.
    pub(crate) common_dir: PathBuf,
}

impl Checkout {
    /// Finds the checkout that a directory lies in; inside a hook, the one the hook was called for.
    pub(crate) fn find(directory: &Path) -> Result<Self> {
        let args =
            ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
        let told = run(directory, args)?;
        let mut lines = told.lines().map(|line| {
            let path = PathBuf::from(line);
            path.canonicalize().unwrap_or(path)
        });
        match (lines.next(), lines.next(), lines.next()) {
            (Some(top), Some(git_dir), Some(common_dir)) => Ok(Self { top, git_dir, common_dir }),
            _ => Err(Failure::invalid(format!("git tells no checkout at {}", directory.display()))),
        }
    }

    /// Says whether it is a linked worktree.
    pub(crate) fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// Returns the checkout that the repository began with, when it has one.
    pub(crate) fn main(&self) -> Option<&Path> {
        self.common_dir.ends_with(".git").then(|| self.common_dir.parent()).flatten()
    }

    /// Returns the branch that is checked out; none when there is none.
    pub(crate) fn branch(&self) -> Option<String> {
        ask(&self.top, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    /// Reads a setting of the person's or the repository's.
    pub(crate) fn setting(&self, key: &str) -> Option<String> {
        ask(&self.top, ["config", "--get", key])
    }
}

/// Runs git and returns what it printed, without the last newline.
pub(crate) fn run<I: AsRef<OsStr>>(directory: &Path, args: impl IntoIterator<Item = I>) -> Result<String> {
    let output = call(directory, args)?;
    match output.status.success() {
        true => Ok(text(&output)),
        false => {
            let why = String::from_utf8_lossy(&output.stderr);
            Err(Failure::invalid(format!("git refused: {}", crate::output::printable(why.trim()))))
        }
    }
}

/// Asks git something; none when it has no answer.
pub(crate) fn ask<I: AsRef<OsStr>>(directory: &Path, args: impl IntoIterator<Item = I>) -> Option<String> {
    call(directory, args).ok().filter(|output| output.status.success()).map(|output| text(&output))
}

fn call<I: AsRef<OsStr>>(directory: &Path, args: impl IntoIterator<Item = I>) -> Result<Output> {
    let mut command = Command::new("git");
    command.arg("-c").arg("core.fsmonitor=false").args(args).current_dir(directory).stdin(Stdio::null());
    command.env("GIT_TERMINAL_PROMPT", "0");
    command.output().map_err(|error| Failure::invalid(format!("git could not be called: {error}")))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_string()
}
