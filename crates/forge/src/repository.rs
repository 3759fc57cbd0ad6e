//! Finds the repository a directory lies in by the files git leaves there, to tell the server what is meant. It
//! calls no git: whether the repository is sound is for the server to say.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::{Failure, Result};

/// A checkout a person stands in.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The top of the checkout.
    pub(crate) top: PathBuf,
    /// Where the main checkout is, when this one is a linked worktree.
    pub(crate) main: Option<PathBuf>,
    git_dir: PathBuf,
}

/// Finds the checkout that holds a directory.
pub(crate) fn find(directory: &Path) -> Result<Repository> {
    let shown = directory.display();
    let start = directory
        .canonicalize()
        .map_err(|error| Failure::invalid(format!("could not open the directory {shown}: {error}")))?;
    for above in start.ancestors() {
        if above.join(".git").exists() {
            return Ok(at(above));
        }
        // The directory inside a checkout looks like one too; what is meant there is the checkout.
        let is_bare = above.join("HEAD").is_file() && above.join("objects").is_dir();
        if is_bare && !above.ends_with(".git") {
            return Err(Failure::invalid(format!(
                "{} is a bare repository, and agents need one with a checkout; clone it, or name a clone with \
                 --project",
                above.display()
            )));
        }
    }
    Err(Failure::invalid(format!(
        "{} is not in a git repository; make one with `git init`, or name one with --project",
        start.display()
    )))
}

fn at(top: &Path) -> Repository {
    let dot_git = top.join(".git");
    // In a linked worktree `.git` is a file that names a directory, and that one names what all share.
    let git_dir = match fs::read_to_string(&dot_git) {
        Ok(link) => top.join(link.trim_end().trim_start_matches("gitdir: ")),
        Err(_) => dot_git,
    };
    let common = fs::read_to_string(git_dir.join("commondir"))
        .ok()
        .and_then(|common| git_dir.join(common.trim_end()).canonicalize().ok())
        .filter(|common| common.ends_with(".git"));
    let main = common.and_then(|common| common.parent().map(Path::to_path_buf));
    Repository { top: top.to_path_buf(), main, git_dir }
}

impl Repository {
    /// Returns the branch that is checked out here; none when only git can tell.
    pub(crate) fn checked_out(&self) -> Result<Option<String>> {
        let Ok(head) = fs::read_to_string(self.git_dir.join("HEAD")) else { return Ok(None) };
        match head.trim_end().strip_prefix("ref: ") {
            // A repository with another store of refs has this name here for those who do not know that store.
            Some("refs/heads/.invalid") => Ok(None),
            Some(reference) => Ok(reference.strip_prefix("refs/heads/").map(str::to_string)),
            None => Err(Failure::invalid(format!(
                "{} has no branch checked out; name the branch to start from with --base",
                self.top.display()
            ))),
        }
    }
}
