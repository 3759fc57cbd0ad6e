//! Files that no commit has and that a rebase would overwrite.
//!
//! `git rebase` has no `--no-overwrite-ignore`: where a commit that it goes over has a file of that name, an ignored
//! one is gone without a word, and no snapshot has it. So they are looked for first, and named.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::call::{Call, line, paths};
use crate::checkout::Worktree;
use crate::drivers::Drivers;
use crate::error::{Error, Failure, Result};
use crate::names::is_oid;
use crate::standing::Operation;

/// How many paths one call is asked about.
const AT_ONCE: usize = 200;

/// Which of the files that no commit has are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Untracked {
    All,
    /// The others are in the snapshot that was taken before.
    Ignored,
}

impl Worktree {
    /// Refuses to begin a rebase that would overwrite a file which no commit has: of the commit that it goes onto, or
    /// of one that it builds again.
    pub(crate) fn refuse_to_begin(&self, drivers: &Drivers, upstream: &str, onto: &str) -> Result<()> {
        let mut added = self.added_between("HEAD", onto)?;
        added.extend(self.added_by(&format!("{upstream}..HEAD"))?);
        self.refuse_over(drivers, added, Untracked::All)
    }

    /// Refuses to go on with a rebase that would overwrite a file which no commit has.
    pub(crate) fn refuse_to_go_on(&self, drivers: &Drivers) -> Result<()> {
        match self.before_rebase() {
            Some(tip) => {
                // What it stopped at is being resolved; what was before it is there already, as other commits.
                let call =
                    self.checkout.refs("rev-parse").args(["--quiet", "--verify", "REBASE_HEAD^{commit}"]);
                let at = call.ask().map_err(|failure| failure.during("read where the rebase stands"))?;
                let from = at.map_or_else(|| "HEAD".to_string(), line);
                self.refuse_over(drivers, self.added_by(&format!("{from}..{tip}"))?, Untracked::All)
            }
            None => Ok(()),
        }
    }

    /// Refuses to take a rebase back that would overwrite an ignored file.
    pub(crate) fn refuse_to_abort(&self, drivers: &Drivers) -> Result<()> {
        match self.before_rebase() {
            Some(tip) => self.refuse_over(drivers, self.added_between("HEAD", &tip)?, Untracked::Ignored),
            None => Ok(()),
        }
    }

    /// Returns the commit that a waiting rebase began at, as git wrote it down.
    fn before_rebase(&self) -> Option<String> {
        let noted = ["rebase-merge/orig-head", "rebase-apply/orig-head"].into_iter();
        let oid =
            noted.filter_map(|name| fs::read_to_string(self.checkout.git_dir.join(name)).ok()).next()?;
        Some(oid.trim().to_string()).filter(|oid| is_oid(oid))
    }

    /// Lists the files that one commit has and another has not.
    fn added_between(&self, from: &str, to: &str) -> Result<Vec<PathBuf>> {
        let added = self.added().args(["--end-of-options", from, to]).run();
        Ok(paths(&added.map_err(|failure| failure.during(format!("compare {from} with {to}")))?))
    }

    /// Lists the files that were new in any of these commits.
    fn added_by(&self, range: &str) -> Result<Vec<PathBuf>> {
        let act = || format!("list what {range} adds");
        let commits = self.checkout.refs("rev-list").args(["--no-merges", "--end-of-options", range]).run();
        let commits = commits.map_err(|failure| failure.during(act()))?;
        let added = self.added().args(["--root", "--no-commit-id", "--stdin"]).input(commits).run();
        Ok(paths(&added.map_err(|failure| failure.during(act()))?))
    }

    fn added(&self) -> Call {
        let call = self.checkout.refs("diff-tree").args(["-r", "-z", "--name-only", "--no-renames"]);
        call.args(["--no-ext-diff", "--diff-filter=A"])
    }

    fn refuse_over(&self, drivers: &Drivers, added: Vec<PathBuf>, which: Untracked) -> Result<()> {
        let there: BTreeSet<PathBuf> = added.iter().filter_map(|path| self.stands_at(path)).collect();
        let there: Vec<PathBuf> = there.into_iter().collect();
        let mut files = Vec::new();
        for some in there.chunks(AT_ONCE) {
            let found = self.untracked(drivers, some, which);
            let act = || format!("look for files in the way in {}", self.path().display());
            files.extend(found.map_err(|failure| failure.during(act()))?);
        }
        match files.is_empty() {
            true => Ok(()),
            false => Err(Error::InTheWay {
                branch: Operation::Rebase.to_string(),
                path: self.path().to_path_buf(),
                files,
            }),
        }
    }

    /// Finds what stands where a file is to be written: something of that name, or where a directory above it is to be;
    /// or a repository of its own above it, into which git does not look.
    fn stands_at(&self, path: &Path) -> Option<PathBuf> {
        let mut upto = PathBuf::new();
        for part in path {
            upto.push(part);
            let there = self.path().join(&upto);
            let kind = fs::symlink_metadata(&there).ok()?;
            if !kind.is_dir() || fs::symlink_metadata(there.join(".git")).is_ok() {
                return Some(upto);
            }
        }
        Some(upto)
    }

    /// Lists those of these paths, and of what is in them, that the index does not have.
    fn untracked(
        &self,
        drivers: &Drivers,
        these: &[PathBuf],
        which: Untracked,
    ) -> Result<Vec<String>, Failure> {
        let mut call = self.files("ls-files", drivers).env("GIT_LITERAL_PATHSPECS", "1");
        call = call.args(["-z", "--full-name", "--others"]);
        if which == Untracked::Ignored {
            call = call.args(["--ignored", "--exclude-standard"]);
        }
        let list = these.iter().fold(call.arg("--"), |call, path| call.arg(path)).run()?;
        Ok(paths(&list).iter().map(|path| path.to_string_lossy().into_owned()).collect())
    }
}
