//! A directory with files of a repository, and the git directory that belongs to it.
//!
//! Git is always told both, never left to look for them: a `.git` that an agent removed would otherwise make git
//! find some repository further up, and act on that.

use std::fs;
use std::path::{Path, PathBuf};

use crate::binary::Git;
use crate::call::{Call, line};
use crate::error::{Error, Failure, Result};
use crate::limit::READING;
use crate::mend::leads_to;

/// A checkout: where its files are, its own git directory, and the one that all checkouts share.
#[derive(Debug, Clone)]
pub(crate) struct Checkout {
    pub(crate) git: Git,
    pub(crate) top: PathBuf,
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
    pub(crate) object_format: ObjectFormat,
    /// The person trusts the filters that the repository's own config defines.
    pub(crate) trusts_filters: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectFormat {
    Sha1,
    Sha256,
}

/// A linked worktree that points back at its repository.
#[derive(Debug, Clone)]
pub struct Worktree {
    pub(crate) checkout: Checkout,
}

impl Checkout {
    /// Makes a call that reads or writes refs and objects, and no files.
    pub(crate) fn refs(&self, verb: &'static str) -> Call {
        Call::new(&self.git, verb).from(&self.git_dir).global_path("--git-dir=", &self.git_dir)
    }

    /// Makes a call that looks at the files.
    pub(crate) fn files(&self, verb: &'static str) -> Call {
        Call::new(&self.git, verb)
            .from(&self.top)
            .global_path("--git-dir=", &self.git_dir)
            .global_path("--work-tree=", &self.top)
    }

    /// Does `work` while nobody else in this process writes refs or worktree entries of the same repository.
    pub(crate) fn queued<T, E: From<Failure>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let most = self.git.calls().at_most(READING);
        let busy = || Failure::Busy { directory: self.common_dir.clone(), after: most };
        self.git.queues().wait(&self.common_dir, most, work).unwrap_or_else(|| Err(busy().into()))
    }

    pub(crate) fn head(&self) -> Result<Option<String>> {
        let head = self.refs("rev-parse").args(["--quiet", "--verify", "--end-of-options", "HEAD^{commit}"]);
        let head =
            head.ask().map_err(|failure| failure.during(format!("read HEAD of {}", self.top.display())))?;
        Ok(head.map(line))
    }

    pub(crate) fn branch(&self) -> Result<Option<String>> {
        let branch = self.refs("symbolic-ref").args(["--quiet", "HEAD"]).ask();
        let branch =
            branch.map_err(|failure| failure.during(format!("read HEAD of {}", self.top.display())))?;
        Ok(branch.map(line).and_then(|name| name.strip_prefix("refs/heads/").map(str::to_string)))
    }
}

impl Worktree {
    /// Opens the linked worktree at `path` of the repository whose `main` is some other checkout.
    pub(crate) fn open(main: &Checkout, path: &Path) -> Result<Worktree> {
        let git_dir = linked_git_dir(&main.common_dir, path)?;
        let top = fs::canonicalize(path).map_err(crate::error::io_error("resolve", path))?;
        Ok(Worktree { checkout: Checkout { top, git_dir, ..main.clone() } })
    }

    /// Returns where its files are.
    pub fn path(&self) -> &Path {
        &self.checkout.top
    }

    /// Returns its own git directory, inside the repository's.
    pub fn git_dir(&self) -> &Path {
        &self.checkout.git_dir
    }

    /// Returns the commit that is checked out.
    pub fn head(&self) -> Result<String> {
        self.checkout.head()?.ok_or_else(|| Error::NoCommits { repo: self.checkout.top.clone() })
    }

    /// Returns the branch that is checked out, or nothing when HEAD is detached.
    pub fn branch(&self) -> Result<Option<String>> {
        self.checkout.branch()
    }
}

/// Finds the git directory of a linked worktree, and refuses unless worktree and repository name each other.
pub(crate) fn linked_git_dir(common_dir: &Path, path: &Path) -> Result<PathBuf> {
    let refuse = |why: String| Error::NotOurWorktree { path: path.to_path_buf(), why };
    let kind = fs::symlink_metadata(path).map_err(|_| Error::NoSuchPath { path: path.to_path_buf() })?;
    if !kind.is_dir() {
        return Err(refuse("it is not a directory".into()));
    }
    let file = path.join(".git");
    match fs::symlink_metadata(&file) {
        Ok(kind) if kind.is_file() => {}
        Ok(kind) if kind.is_dir() => return Err(refuse("it is a repository of its own".into())),
        _ => return Err(refuse("it has no .git file".into())),
    }
    let git_dir = read_path(&file, "gitdir: ").map(|target| path.join(target));
    let git_dir = git_dir.and_then(|target| fs::canonicalize(target).ok());
    let Some(git_dir) = git_dir else {
        return Err(refuse("its .git file leads nowhere".into()));
    };
    if git_dir.parent() != Some(&common_dir.join("worktrees")) {
        return Err(refuse(format!("it belongs to {}", git_dir.display())));
    }
    let back = read_path(&git_dir.join("gitdir"), "").map(|target| git_dir.join(target));
    let back = back.and_then(|target| fs::canonicalize(target.parent()?).ok());
    if back.is_none() || back != fs::canonicalize(path).ok() {
        return Err(refuse(format!("{} is another worktree's", git_dir.display())));
    }
    // Git would write its references and objects wherever this says.
    if !leads_to(&git_dir, common_dir) {
        return Err(refuse(format!(
            "{} does not lead to its repository",
            git_dir.join("commondir").display()
        )));
    }
    Ok(git_dir)
}

/// Reads a file that holds one path and a newline.
pub(crate) fn read_path(file: &Path, prefix: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = fs::read(file).ok()?;
    while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        bytes.pop();
    }
    let path = bytes.strip_prefix(prefix.as_bytes())?;
    (!path.is_empty()).then(|| PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())))
}
