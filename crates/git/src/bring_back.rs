//! Bringing a worktree back: its branch is checked out again where it was, with the files that were kept.
//!
//! Nothing that is there is written over. A directory that stands in the way is mended when it is that very
//! worktree, and refused otherwise.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout::{Worktree, linked_git_dir};
use crate::error::{Error, Failure, Result, io_error};
use crate::names::check_branch_name;
use crate::repo::Repo;
use crate::worktrees::NewWorktree;

/// A worktree to be brought back.
#[derive(Debug, Clone)]
pub struct Return {
    /// Where it was.
    pub path: PathBuf,
    /// Its branch. Where it is gone, it is made again at `tip`.
    pub branch: String,
    /// The last commit that its branch is known to have had.
    pub tip: Option<String>,
    /// Shown by git to whoever tries to remove the worktree.
    pub lock_reason: String,
    /// Its directory in the trash, from which the files are taken back, ignored ones too.
    pub trash: Option<PathBuf>,
}

/// What had to be done to have a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    /// It was there.
    Nothing,
    /// Its link to the repository was mended.
    Mended,
    /// It was made again from its branch.
    Branch,
    /// It was made again, with the files from the trash.
    Trash,
}

impl Repo {
    /// Gives a worktree back that was removed or lost. When it fails, nothing of it is left and the trash is whole.
    pub fn bring_worktree_back(&self, wanted: &Return) -> Result<Returned> {
        check_branch_name(&wanted.branch)?;
        let trash = wanted.trash.as_deref().filter(|trash| trash.is_dir());
        if linked_git_dir(self.common_dir(), &wanted.path).is_ok() {
            // With files still in the trash an earlier return broke off half-way.
            return match trash {
                Some(trash) => self.worktree(&wanted.path)?.adopt(trash).map(|()| Returned::Trash),
                None => Ok(Returned::Nothing),
            };
        }
        if fs::symlink_metadata(&wanted.path).is_ok() {
            return self.mend(&wanted.path).map(|()| Returned::Mended);
        }
        if let Some(parent) = wanted.path.parent() {
            make_private(parent).map_err(io_error("make", parent))?;
        }
        let reference = format!("refs/heads/{}", wanted.branch);
        let found = self.references(&[&reference])?.into_iter().find(|(name, _)| *name == reference);
        let (tip, is_new) = match (found, &wanted.tip) {
            (Some((_, oid)), _) => (oid, false),
            (None, Some(tip)) => (tip.clone(), true),
            (None, None) => {
                let repo = self.top().to_path_buf();
                return Err(Error::NoSuchBranch { branch: wanted.branch.clone(), repo });
            }
        };
        let new = NewWorktree {
            path: wanted.path.clone(),
            branch: wanted.branch.clone(),
            base_oid: tip,
            lock_reason: wanted.lock_reason.clone(),
        };
        self.queued(|| {
            if let Some((git_dir, listed)) = self.entry_of(&wanted.path) {
                if git_dir.join("modules").exists() {
                    let why = format!("repositories of submodules are still in {}", git_dir.display());
                    return Err(Error::NotOurWorktree { path: wanted.path.clone(), why });
                }
                self.drop_entry(&git_dir, &listed)?;
            }
            if is_new {
                self.create_branch(&new.branch, &new.base_oid)?;
            }
            self.register(&new).inspect_err(|_| self.take_back(&new, is_new))
        })?;
        let made = self.worktree(&wanted.path).and_then(|worktree| match trash {
            Some(trash) => worktree.adopt(trash).map(|()| Returned::Trash),
            None => self.fill(&worktree).map(|()| Returned::Branch),
        });
        made.inspect_err(|_| {
            // A half-filled checkout is nobody's work; what came from the trash is, and went back there.
            if trash.is_none() && linked_git_dir(self.common_dir(), &new.path).is_ok() {
                let _gone = fs::remove_dir_all(&new.path);
            }
            let _taken_back = self.queued(|| {
                self.take_back(&new, is_new);
                Ok::<_, Failure>(())
            });
        })
    }

    /// Mends the link between a worktree and a repository that was moved, or whose `.git` file is gone.
    fn mend(&self, path: &Path) -> Result<()> {
        let refuse = |why: &str| Error::NotOurWorktree { path: path.to_path_buf(), why: why.to_string() };
        let kind = fs::symlink_metadata(path).map_err(io_error("look at", path))?;
        if !kind.is_dir() || fs::symlink_metadata(path.join(".git")).is_ok_and(|kind| kind.is_dir()) {
            return Err(refuse("something else lies where the worktree was"));
        }
        if self.entry_of(path).is_none() {
            return Err(refuse("the repository knows no worktree there"));
        }
        self.queued(|| {
            let call = self.checkout.refs("worktree").args(["repair", "--end-of-options"]).arg(path);
            call.run()
                .map(drop)
                .map_err(|failure| failure.during(format!("mend the worktree {}", path.display())))
        })?;
        linked_git_dir(self.common_dir(), path).map(drop)
    }

    fn take_back(&self, new: &NewWorktree, is_new: bool) {
        // Only a directory that holds nothing but the link goes.
        let is_bare = fs::read_dir(&new.path).is_ok_and(|entries| entries.count() <= 1);
        if is_bare && linked_git_dir(self.common_dir(), &new.path).is_ok() {
            let _gone = fs::remove_file(new.path.join(".git")).and_then(|()| fs::remove_dir(&new.path));
        }
        if !new.path.exists()
            && let Some((git_dir, listed)) = self.entry_of(&new.path)
        {
            let _gone = self.drop_entry(&git_dir, &listed);
        }
        if is_new {
            let _gone = self.delete_reference(&format!("refs/heads/{}", new.branch), &new.base_oid);
        }
    }
}

impl Worktree {
    /// Takes the files of a directory in the trash as its own. The worktree has been registered without files.
    fn adopt(&self, trash: &Path) -> Result<()> {
        let top = &self.checkout.top;
        let mut moved = Vec::new();
        let taken = move_all(trash, top, &mut moved).and_then(|()| {
            let read = self.checkout.files("read-tree").arg("HEAD").run();
            let act = || format!("read the index of {}", top.display());
            read.map(drop).map_err(|failure| failure.during(act()))
        });
        if let Err(error) = taken {
            for name in moved {
                let _back = fs::rename(top.join(&name), trash.join(&name));
            }
            return Err(error);
        }
        // Only the memory of which files are unchanged; git finds that out by itself, too.
        let _refreshed = self.checkout.files("update-index").args(["-q", "--refresh"]).run();
        let modules = trash.join(MODULES);
        if modules.is_dir() {
            let place = self.checkout.git_dir.join("modules");
            fs::rename(&modules, &place).map_err(io_error("move back", &modules))?;
        }
        if fs::symlink_metadata(trash.join(".git")).is_ok_and(|kind| kind.is_dir()) {
            // A repository of its own may hold commits that exist nowhere else: it stays for the trash's time.
            return Ok(());
        }
        // What is left is the old `.git` file, which names an entry that is gone.
        fs::remove_dir_all(trash).map_err(io_error("remove", trash))
    }
}

/// Makes a directory that only its owner may look into; one that is there stays as it is.
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Where the repositories of submodules lie in the trash.
pub(crate) const MODULES: &str = ".git-modules";

fn move_all(from: &Path, to: &Path, moved: &mut Vec<std::ffi::OsString>) -> Result<()> {
    let entries = fs::read_dir(from).map_err(io_error("list", from))?;
    for entry in entries {
        let entry = entry.map_err(io_error("list", from))?;
        let name = entry.file_name();
        if name == ".git" || name == MODULES {
            continue;
        }
        if fs::symlink_metadata(to.join(&name)).is_ok() {
            return Err(Error::PathTaken { path: to.join(&name) });
        }
        fs::rename(entry.path(), to.join(&name)).map_err(io_error("move back", &entry.path()))?;
        moved.push(name);
    }
    Ok(())
}
