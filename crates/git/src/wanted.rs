//! Untracked files that somebody wants by name: which there are, and which of them another worktree ignores.
//!
//! Patterns come from people and from repositories, so none of them is ever an option, and no name is followed.

use crate::checkout::Worktree;
use crate::error::{Failure, Result};
use crate::listing::{Listing, names};
use crate::repo::Repo;

impl Repo {
    /// Lists untracked files, ignored ones included, that globs from the top name. The name of a directory names
    /// everything below it. One that ends with `/` is a repository of its own, which git does not look into.
    pub fn untracked_at(&self, globs: &[String]) -> Result<Listing> {
        let call = self.checkout.files("ls-files").args(["-z", "--others", "--"]);
        let call = globs.iter().fold(call, |call, glob| {
            call.arg(format!(":(top,glob){glob}")).arg(format!(":(top,glob){glob}/**"))
        });
        self.listed(names(call))
    }

    /// Lists untracked files, ignored ones included, that the lines of an ignore file name.
    pub fn untracked_named(&self, lines: &[String]) -> Result<Listing> {
        let call = self.checkout.files("ls-files").args(["-z", "--others", "--ignored"]);
        let call = lines.iter().fold(call, |call, line| call.arg(format!("--exclude={line}")));
        self.listed(names(call))
    }

    fn listed(&self, listed: Result<Listing, Failure>) -> Result<Listing> {
        listed.map_err(|failure| {
            failure.during(format!("list the untracked files of {}", self.top().display()))
        })
    }
}

impl Worktree {
    /// Returns those of the paths that git would leave out of a commit here. They need not exist.
    pub fn ignored_of(&self, paths: &[String]) -> Result<Vec<String>> {
        let input: Vec<u8> = paths.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
        let call = self.checkout.files("check-ignore").args(["-z", "--stdin"]).input(input);
        let told = call
            .ask()
            .map_err(|failure| failure.during(format!("look up what {} ignores", self.path().display())))?;
        let told = told.unwrap_or_default();
        let names = told.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }
}
