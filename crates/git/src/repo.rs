//! Opening a person's repository, and the small questions about it.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::binary::Git;
use crate::call::{Call, failure, line};
use crate::checkout::{Checkout, ObjectFormat, Worktree};
use crate::error::{Error, Failure, Result, io_error};
use crate::names::is_oid;

/// A person's checkout and the repository behind it.
#[derive(Debug, Clone)]
pub struct Repo {
    pub(crate) checkout: Checkout,
}

impl Git {
    /// Opens the repository that `path` lies in.
    pub fn open(&self, path: &Path) -> Result<Repo> {
        let kind = fs::metadata(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => Error::NoSuchPath { path: path.to_path_buf() },
            _ => Error::Io { act: "look at", path: path.to_path_buf(), source },
        })?;
        if !kind.is_dir() {
            return Err(Error::NotADirectory { path: path.to_path_buf() });
        }
        let path = fs::canonicalize(path).map_err(io_error("resolve", path))?;
        let output = Call::new(self, "rev-parse")
            .from(&path)
            .args(["--path-format=absolute", "--is-bare-repository", "--show-object-format"])
            .args(["--git-dir", "--git-common-dir", "--show-toplevel"])
            .output()
            .map_err(|failure| failure.during(format!("look for a repository at {}", path.display())))?;
        let no_checkout = |why: &str| Error::NoCheckout { path: path.clone(), why: why.to_string() };
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(if output.stdout.starts_with(b"true\n") {
                Error::Bare { path }
            } else if output.stdout.starts_with(b"false\n") {
                no_checkout("it is inside a git directory")
            } else if stderr.contains("dubious ownership") {
                Error::NotOwned { path }
            } else if stderr.contains("not a git repository") {
                Error::NotARepository { path }
            } else {
                failure("rev-parse", &output).during(format!("open the repository at {}", path.display()))
            });
        }
        let lines: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        let [_bare, format, git_dir, common_dir, top, b""] = lines[..] else {
            return Err(no_checkout("its path holds a newline"));
        };
        let resolve = |bytes: &[u8]| {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            fs::canonicalize(&path).map_err(io_error("resolve", &path))
        };
        let top = resolve(top)?;
        // `core.worktree` can make any directory the checkout, and a config is not trusted that far.
        if !path.starts_with(&top) {
            return Err(no_checkout("its core.worktree points elsewhere"));
        }
        let object_format = if format == b"sha256" { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 };
        let (git_dir, common_dir) = (resolve(git_dir)?, resolve(common_dir)?);
        // A linked worktree's git directory lies in the one that all share; any other is that one itself.
        if git_dir != common_dir && git_dir.parent() != Some(&common_dir.join("worktrees")) {
            let astray = git_dir.join("commondir");
            return Err(no_checkout(&format!(
                "{} leads to another repository; delete it if you did not write it",
                astray.display()
            )));
        }
        let trusts_filters = false;
        let git = self.clone();
        Ok(Repo { checkout: Checkout { git, top, git_dir, common_dir, object_format, trusts_filters } })
    }
}

impl Repo {
    /// Returns the top of the person's checkout.
    pub fn top(&self) -> &Path {
        &self.checkout.top
    }

    /// Returns the git directory that all checkouts of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.checkout.common_dir
    }

    /// Lets the filters of the repository's own config run, or not, for everything that is opened from here: the
    /// person has looked at them. Merge drivers, hooks in the config and the like stay off.
    pub fn trusting_filters(mut self, trusts_filters: bool) -> Repo {
        self.checkout.trusts_filters = trusts_filters;
        self
    }

    /// Tells whether there is anything to start from.
    pub fn has_commits(&self) -> Result<bool> {
        let any = self.checkout.refs("for-each-ref").args(["--count=1", "refs/heads", "refs/remotes"]).run();
        let any =
            any.map_err(|failure| failure.during(format!("list the branches of {}", self.top().display())))?;
        Ok(!any.is_empty() || self.checkout.head()?.is_some())
    }

    /// Tells whether `ancestor` is reachable from `descendant`; a commit is its own ancestor.
    pub fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool> {
        self.check_oid(ancestor)?;
        self.check_oid(descendant)?;
        let answer = self.checkout.refs("merge-base").args(["--is-ancestor", ancestor, descendant]).ask();
        Ok(answer.map_err(|failure| self.not_compared(failure, ancestor, descendant))?.is_some())
    }

    /// Tells why two commits could not be compared: one that this repository does not have is named.
    pub(crate) fn not_compared(&self, failure: Failure, one: &str, other: &str) -> Error {
        let words = ["Not a valid commit name", "Invalid symmetric difference", "bad object", "bad revision"];
        if !words.iter().any(|words| failure.stderr().contains(words)) {
            return failure.during(format!("compare {one} with {other}"));
        }
        let missing = [one, other].into_iter().find(|oid| failure.stderr().contains(oid)).unwrap_or(one);
        self.no_such_commit(missing)
    }

    /// Returns the first line of a commit's message.
    pub fn commit_subject(&self, oid: &str) -> Result<String> {
        self.check_oid(oid)?;
        let subject = self.checkout.refs("log").args(["-1", "--no-show-signature", "--format=%s", oid]).run();
        subject.map(line).map_err(|failure| failure.during(format!("read commit {oid}")))
    }

    /// Opens a linked worktree of this repository.
    pub fn worktree(&self, path: &Path) -> Result<Worktree> {
        Worktree::open(&self.checkout, path)
    }

    pub(crate) fn check_oid(&self, oid: &str) -> Result<()> {
        if is_oid(oid) { Ok(()) } else { Err(self.no_such_commit(oid)) }
    }

    pub(crate) fn no_such_commit(&self, oid: &str) -> Error {
        Error::NoSuchCommit { commit: oid.to_string(), repo: self.top().to_path_buf() }
    }
}
