//! One comparison after another of the same checkout: what was learned is kept, so that the next one costs a
//! `git status` and the files that changed since.

use std::path::Path;

use crate::call::{Call, line};
use crate::checkout::{Checkout, ObjectFormat, Worktree};
use crate::error::{Failure, Result};
use crate::names::is_oid;
use crate::repo::Repo;

use super::Diff;
use super::index::PrivateIndex;
use super::raw::{TreeChanges, read_trees, together};
use super::reader::Reader;

/// What is compared with: a commit that was left behind, not what others have done since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffBase {
    /// Where the work left a branch; the commit stands in when that cannot be told, or the branch is gone.
    Branch { name: String, or: String },
    /// Where the work left a commit.
    Commit(String),
    /// This very commit, wherever the work left it.
    Exactly(String),
}

/// Compares the files of one checkout, again and again.
#[derive(Debug)]
pub struct Differ {
    repo: Repo,
    pub(super) checkout: Checkout,
    pub(super) index: PrivateIndex,
    reader: Reader,
    /// What was compared last: the wish, HEAD, and the base that came of them.
    settled: Option<(DiffBase, Option<String>, Option<String>)>,
    trees: Option<Trees>,
}

#[derive(Debug)]
struct Trees {
    base: Option<String>,
    head: Option<String>,
    changes: TreeChanges,
}

impl Repo {
    /// Prepares to compare the files of a linked worktree. `directory` is made, and goes with the differ.
    pub fn differ(&self, worktree: &Worktree, directory: &Path) -> Result<Differ> {
        Differ::of(self, worktree.checkout.clone(), directory)
    }

    /// Prepares to compare the files of the person's own checkout; nothing is written there.
    pub fn own_differ(&self, directory: &Path) -> Result<Differ> {
        Differ::of(self, self.checkout.clone(), directory)
    }

    /// Compares what a branch has committed.
    pub fn branch_diff(&self, branch: &str, base: &DiffBase) -> Result<Diff> {
        let head = self.resolve_branch(branch)?;
        let base = self.settle(base, &head)?;
        let changes = compare(&self.checkout, base.as_deref(), Some(&head))?;
        let files = Reader::of(&self.checkout).read(together(&changes, Vec::new()), None)?;
        Ok(Diff { base, files })
    }

    /// Compares what two commits hold.
    pub fn diff_between(&self, old: &str, new: &str) -> Result<Diff> {
        self.check_oid(old)?;
        self.check_oid(new)?;
        let changes = compare(&self.checkout, Some(old), Some(new))?;
        let files = Reader::of(&self.checkout).read(together(&changes, Vec::new()), None)?;
        Ok(Diff { base: Some(old.to_string()), files })
    }

    /// Compares a snapshot that was taken while `head` was checked out, as [`Differ::diff`] would have then.
    pub fn snapshot_diff(&self, oid: &str, head: &str, base: &DiffBase) -> Result<Diff> {
        self.check_oid(head)?;
        match self.settle(base, head)? {
            Some(base) => self.diff_between(&base, oid),
            None => Ok(Diff::default()),
        }
    }

    /// Compares a commit with its first parent.
    pub fn commit_diff(&self, oid: &str) -> Result<Diff> {
        self.check_oid(oid)?;
        let parent = format!("{oid}^1^{{commit}}");
        let call = self.checkout.refs("rev-parse").args(["--quiet", "--verify", "--end-of-options", &parent]);
        let base = call.ask().map_err(|failure| failure.during(format!("read commit {oid}")))?.map(line);
        let changes = compare(&self.checkout, base.as_deref(), Some(oid))?;
        let files = Reader::of(&self.checkout).read(together(&changes, Vec::new()), None)?;
        Ok(Diff { base, files })
    }

    /// Finds the commit to compare with.
    fn settle(&self, base: &DiffBase, head: &str) -> Result<Option<String>> {
        let (wanted, otherwise) = match base {
            DiffBase::Branch { name, or } => (self.resolve_branch(name).ok(), or),
            DiffBase::Commit(oid) => (Some(oid.clone()), oid),
            DiffBase::Exactly(oid) => {
                self.check_oid(oid)?;
                return Ok(Some(oid.clone()));
            }
        };
        let Some(wanted) = wanted.filter(|oid| is_oid(oid)) else { return Ok(Some(otherwise.clone())) };
        let found = self.checkout.refs("merge-base").args([&wanted, head]).ask();
        let found = found.map_err(|failure| self.not_compared(failure, &wanted, head))?;
        Ok(Some(found.map_or_else(|| otherwise.clone(), first_line)))
    }
}

impl Differ {
    fn of(repo: &Repo, checkout: Checkout, directory: &Path) -> Result<Differ> {
        let (reader, index) = (Reader::of(&checkout), PrivateIndex::make(directory)?);
        Ok(Differ { repo: repo.clone(), checkout, index, reader, settled: None, trees: None })
    }

    /// Compares the files as they are now: committed, uncommitted, untracked. Ignored files do not count.
    ///
    /// A file that says what it said last time is the same [`super::FileChange`], by its address.
    pub fn diff(&mut self, base: &DiffBase) -> Result<Diff> {
        if self.index.refresh(&self.checkout)? {
            self.reader.forget_rules();
        }
        let status = self.index.status(&self.checkout)?;
        let head = status.head;
        let settled = match self.settled.take() {
            Some((wish, at, found)) if wish == *base && at == head => found,
            _ => head.as_deref().map_or(Ok(None), |head| self.repo.settle(base, head))?,
        };
        self.settled = Some((base.clone(), head.clone(), settled.clone()));
        let trees = match self.trees.take() {
            Some(trees) if trees.base == settled && trees.head == head => trees,
            _ => {
                let changes = compare(&self.checkout, settled.as_deref(), head.as_deref())?;
                Trees { base: settled.clone(), head, changes }
            }
        };
        let raw = together(&trees.changes, status.files);
        self.trees = Some(trees);
        let files = self.reader.read(raw, Some((&self.checkout, &self.index)))?;
        Ok(Diff { base: settled, files })
    }

    /// Tells so many bytes of contents at most, instead of [`super::MOST_CONTENT`].
    pub fn limit(&mut self, most: u64) {
        self.reader.limit(most);
    }

    pub(crate) fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    /// Looks for the base anew next time: a branch may have moved.
    pub fn forget_base(&mut self) {
        self.settled = None;
    }
}

/// Compares two commits; none stands for an empty tree.
fn compare(checkout: &Checkout, old: Option<&str>, new: Option<&str>) -> Result<TreeChanges> {
    if old == new {
        return Ok(Vec::new());
    }
    let empty = match checkout.object_format {
        ObjectFormat::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        ObjectFormat::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    };
    let (old, new) = (old.unwrap_or(empty), new.unwrap_or(empty));
    let call = checkout.refs("diff-tree").args(["-r", "-z", "--raw", "--no-renames", "--no-abbrev"]);
    let answer = call.args(["--ignore-submodules=none", "--end-of-options", old, new]).run();
    let act = || format!("compare {old} with {new}");
    let answer = answer.map_err(|failure| failure.during(act()))?;
    let wrong = || Failure::answer("diff-tree", &String::from_utf8_lossy(&answer)).during(act());
    read_trees(&answer).ok_or_else(wrong)
}

/// Reads the commit that is checked out in a repository inside another, when there is one.
pub(super) fn nested_head(checkout: &Checkout, path: &Path) -> Option<String> {
    let top = checkout.top.join(path);
    let file = top.join(".git");
    let target = crate::checkout::read_path(&file, "gitdir: ").map(|target| top.join(target));
    let git_dir = target.unwrap_or(file);
    let call = Call::new(&checkout.git, "rev-parse").from(&git_dir).global_path("--git-dir=", &git_dir);
    let head = call.args(["--quiet", "--verify", "--end-of-options", "HEAD^{commit}"]).ask();
    head.ok().flatten().map(line).filter(|oid| is_oid(oid))
}

fn first_line(answer: Vec<u8>) -> String {
    let text = String::from_utf8_lossy(&answer).into_owned();
    text.lines().next().unwrap_or_default().to_string()
}
