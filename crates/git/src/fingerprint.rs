//! What a repository is besides the files of its checkouts: its references, stash, HEAD, config, hooks and the like.
//!
//! Taken before and after somebody was at work, it tells what they changed. Everything but references that are kept in no
//! plain files is read from the git directory as files, so that what makes git itself fail is seen too.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::binary::Git;
use crate::checkout::{Checkout, ObjectFormat, read_path};
use crate::error::{Result, io_error};
use crate::plain_refs::{self, Packed};
use crate::reflogs;
use crate::repo::Repo;

/// A larger file is seen to change, but its content is not kept.
const LARGEST: u64 = 1 << 20;

/// References that are of no checkout or of one only, and none of the person's work.
const PASSING: [&str; 4] = ["refs/bisect/", "refs/rewritten/", "refs/worktree/", "refs/prefetch/"];

/// Files of the git directory by which git finds out where and what a repository is.
const STEERING: [&str; 6] = [
    "config",
    "config.worktree",
    "shallow",
    "commondir",
    "objects/info/alternates",
    "objects/info/http-alternates",
];

/// Files of a checkout's own git directory that say what its next commit will be.
const UNFINISHED: [&str; 6] =
    ["MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

/// What a repository is besides the files of its checkouts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// References by name: an object, or `ref: ` and the name of another. The stash is not among them.
    pub refs: BTreeMap<String, String>,
    /// The stash, newest first.
    pub stash: Vec<Stashed>,
    /// What HEAD of the person's checkout says.
    pub head: Option<String>,
    /// Files of the git directory that steer git, by their path in it.
    pub files: BTreeMap<String, GitFile>,
    /// Linked worktrees by the name git has for them, with the place of each.
    pub worktrees: BTreeMap<String, PathBuf>,
    /// What HEAD of each linked worktree says.
    pub heads: BTreeMap<String, String>,
    /// Files that keep git from writing something, by their path in the git directory.
    pub locks: BTreeMap<String, GitFile>,
    pub ref_files: RefFiles,
}

/// How the files are in which references are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefFiles {
    /// References are kept in plain files, and all of those were understood.
    pub is_plain: bool,
    /// Files in the place of a reference that git does not understand.
    pub broken: Vec<String>,
    /// Names for another reference that is not there.
    pub nowhere: BTreeMap<String, String>,
    /// There is a file of packed references that git has written, and it can be read.
    pub is_packed: bool,
    /// That file cannot be read.
    pub is_pack_broken: bool,
}

/// An entry of the stash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stashed {
    pub oid: String,
    pub message: String,
}

/// A file that steers git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFile {
    pub mode: u32,
    /// Its content, or where a link leads; of a large file only its size and time.
    pub content: Vec<u8>,
    pub is_whole: bool,
}

/// Where a repository is, for opening it again when its own config keeps git from finding it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub top: PathBuf,
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
    pub is_sha256: bool,
}

impl Git {
    /// Opens a repository that was opened before, without asking git where it is.
    pub fn reopen(&self, places: Places) -> Repo {
        let object_format = if places.is_sha256 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 };
        let Places { top, git_dir, common_dir, .. } = places;
        Repo {
            checkout: Checkout {
                git: self.clone(),
                top,
                git_dir,
                common_dir,
                object_format,
                trusts_filters: false,
            },
        }
    }
}

impl Repo {
    /// Returns where the repository is.
    pub fn places(&self) -> Places {
        let Checkout { top, git_dir, common_dir, object_format, .. } = self.checkout.clone();
        Places { top, git_dir, common_dir, is_sha256: object_format == ObjectFormat::Sha256 }
    }

    /// Returns what the repository is besides the files of its checkouts.
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        self.fingerprint_from(self.look()?)
    }

    /// Returns the fingerprint of which `look` has read the part that needs no git.
    pub fn fingerprint_from(&self, mut print: Fingerprint) -> Result<Fingerprint> {
        if !print.ref_files.is_plain {
            print.refs = self.listed_references()?;
        }
        print.refs.retain(|name, _| !PASSING.iter().any(|passing| name.starts_with(passing)));
        if print.refs.remove("refs/stash").is_some() {
            print.stash = match print.ref_files.is_plain {
                true => reflogs::stash(self.common_dir()),
                false => self.stash()?,
            };
        }
        Ok(print)
    }

    /// Asks git for all references.
    fn listed_references(&self) -> Result<BTreeMap<String, String>> {
        let act = || format!("list the references of {}", self.top().display());
        let format = "--format=%(refname) %(objectname) %(symref)";
        let answer = self.checkout.refs("for-each-ref").arg(format).run();
        let answer = answer.map_err(|failure| failure.during(act()))?;
        let mut refs = BTreeMap::new();
        for line in String::from_utf8_lossy(&answer).lines() {
            let mut fields = line.splitn(3, ' ');
            let (Some(name), Some(oid)) = (fields.next(), fields.next()) else { continue };
            let target = fields.next().filter(|target| !target.is_empty());
            refs.insert(name.to_string(), target.map_or(oid.to_string(), |to| format!("ref: {to}")));
        }
        Ok(refs)
    }

    /// Reads the part of the fingerprint that needs no git: all of it but the references that are kept in no plain
    /// files, or in some that git would not understand.
    pub fn look(&self) -> Result<Fingerprint> {
        let Checkout { git_dir, common_dir, .. } = &self.checkout;
        let mut print = self.steering_files()?;
        for name in names_in(common_dir)?.into_iter().filter(|name| name.ends_with(".lock")) {
            print.locks.extend(git_file(common_dir, &name)?);
        }
        if git_dir != common_dir {
            // A checkout that is a linked worktree itself: what it is about to commit is in its own directory.
            print.files.retain(|name, _| !UNFINISHED.contains(&name.as_str()));
        }
        let Some(plain) = plain_refs::look(common_dir) else { return Ok(print) };
        print.ref_files = RefFiles {
            is_plain: plain.is_sound(),
            is_packed: plain.packed == Packed::Whole,
            is_pack_broken: plain.packed == Packed::Broken,
            broken: plain.broken,
            nowhere: plain.nowhere,
        };
        print.refs = plain.refs;
        for name in plain.locks {
            print.locks.extend(git_file(common_dir, &name)?);
        }
        Ok(print)
    }

    fn steering_files(&self) -> Result<Fingerprint> {
        let Checkout { git_dir, common_dir, .. } = &self.checkout;
        let mut print = Fingerprint::default();
        for name in STEERING.iter().chain(&UNFINISHED) {
            print.files.extend(git_file(common_dir, name)?);
        }
        for folder in ["hooks", "info"] {
            for name in names_in(&common_dir.join(folder))? {
                // What git itself put there as an example is never run.
                if !name.ends_with(".sample") {
                    print.files.extend(git_file(common_dir, &format!("{folder}/{name}"))?);
                }
            }
        }
        print.head = head_of(git_dir);
        let admin = common_dir.join("worktrees");
        for name in names_in(&admin)? {
            let entry = admin.join(&name);
            if let Some(head) = head_of(&entry) {
                print.heads.insert(name.clone(), head);
            }
            if let Some(file) = read_path(&entry.join("gitdir"), "") {
                let place = file.parent().unwrap_or(&file).to_path_buf();
                print.worktrees.insert(name, place);
            }
        }
        Ok(print)
    }

    /// Returns the entries of the stash, newest first.
    pub fn stash(&self) -> Result<Vec<Stashed>> {
        if !self.common_dir().join("reftable").exists() {
            return Ok(reflogs::stash(self.common_dir()));
        }
        let call = self.checkout.refs("log").args(["-g", "--no-show-signature", "--format=%H %gs"]);
        let answer = call.args(["refs/stash", "--"]).run();
        let answer = answer.map_err(|failure| failure.during("list the stash"))?;
        let entries = String::from_utf8_lossy(&answer);
        let entries = entries.lines().filter_map(|line| line.split_once(' '));
        Ok(entries.map(|(oid, text)| Stashed { oid: oid.to_string(), message: text.to_string() }).collect())
    }
}

/// What HEAD in a git directory says.
fn head_of(git_dir: &Path) -> Option<String> {
    fs::read_to_string(git_dir.join("HEAD")).ok().map(|text| text.trim_end().to_string())
}

pub(crate) fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(io_error("list", folder)(error)),
    };
    Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// Reads a file of the git directory; none when there is none, or a directory.
pub(crate) fn git_file(common_dir: &Path, name: &str) -> Result<Option<(String, GitFile)>> {
    let path = common_dir.join(name);
    let kind = match fs::symlink_metadata(&path) {
        Ok(kind) if !kind.is_dir() => kind,
        Ok(_) => return Ok(None),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(io_error("look at", &path)(error)),
    };
    let mode = kind.mode();
    let file = if kind.is_symlink() {
        let target = fs::read_link(&path).map_err(io_error("read", &path))?;
        GitFile { mode, content: target.as_os_str().as_bytes().to_vec(), is_whole: true }
    } else if kind.is_file() && kind.len() <= LARGEST {
        GitFile { mode, content: fs::read(&path).map_err(io_error("read", &path))?, is_whole: true }
    } else {
        let marks = format!("{} bytes at {}.{}", kind.len(), kind.mtime(), kind.mtime_nsec());
        GitFile { mode, content: marks.into_bytes(), is_whole: false }
    };
    Ok(Some((name.to_string(), file)))
}
