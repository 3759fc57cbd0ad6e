//! A store of our own for files that must never reach the repository's: what only a filter of the repository's own
//! config may see in the clear.
//!
//! It is a bare git directory that only its owner can enter. A snapshot's part of it is a tree under a name that means
//! nothing, so that the repository does not even learn a hash of what is in it.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::call::{Call, line};
use crate::checkout::Checkout;
use crate::error::{Error, Result, io_error};
use crate::private::{Private, UNBORN, write_git_dir};

/// How a snapshot's message names its part of the store.
const KEPT: &str = "Kept aside: ";

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The store at a directory.
pub(crate) struct Aside<'a> {
    checkout: &'a Checkout,
    directory: PathBuf,
}

impl<'a> Aside<'a> {
    /// Opens a store that is there.
    pub(crate) fn open(checkout: &'a Checkout, directory: &Path) -> Option<Aside<'a>> {
        directory.join("HEAD").exists().then(|| Aside { checkout, directory: directory.to_path_buf() })
    }

    /// Opens a store, and makes it first when it is not there.
    pub(crate) fn make(checkout: &'a Checkout, directory: &Path) -> Result<Aside<'a>> {
        if let Some(store) = Aside::open(checkout, directory) {
            return Ok(store);
        }
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(io_error("make", directory))?;
        write_git_dir(directory, checkout.object_format, UNBORN)?;
        Ok(Aside { checkout, directory: directory.to_path_buf() })
    }

    /// Writes files as a tree. Returns it, and those that git could not take.
    pub(crate) fn write(
        &self,
        private: &Private<'_>,
        paths: &[PathBuf],
    ) -> Result<(String, Vec<(PathBuf, String)>)> {
        private.write_aside(paths, &self.directory.join("objects"))
    }

    /// Gives a tree a name, under which it stays.
    pub(crate) fn name(&self, tree: &str) -> Result<String> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name =
            format!("{:x}-{:x}-{:x}", since.as_nanos(), process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let call = self.call("update-ref").args(["--no-deref", "--end-of-options", &reference(&name), tree]);
        call.run().map_err(|failure| failure.during(self.act("write")))?;
        Ok(name)
    }

    /// Returns the tree of a name, when it is there.
    pub(crate) fn tree(&self, name: &str) -> Result<Option<String>> {
        let call = self.call("rev-parse").args(["--quiet", "--verify", "--end-of-options", &reference(name)]);
        Ok(call.ask().map_err(|failure| failure.during(self.act("read")))?.map(line))
    }

    /// Forgets names, and what only they held.
    pub(crate) fn forget(&self, names: &[String]) -> Result<()> {
        for name in names {
            let call =
                self.call("update-ref").args(["--no-deref", "-d", "--end-of-options", &reference(name)]);
            call.run().map_err(|failure| failure.during(self.act("forget a part of")))?;
        }
        let prune = self.call("prune").args(["--expire=now"]).run();
        prune.map(drop).map_err(|failure| failure.during(self.act("clean")))
    }

    pub(crate) fn call(&self, verb: &'static str) -> Call {
        Call::new(&self.checkout.git, verb)
            .from(&self.directory)
            .global_path("--git-dir=", &self.directory)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
    }

    fn act(&self, verb: &str) -> String {
        format!("{verb} the private store {}", self.directory.display())
    }
}

/// The line that names a part of the store in a snapshot's message.
pub(crate) fn mention(name: &str) -> String {
    format!("{KEPT}{name}\n")
}

/// Finds the name of its part of the store in a commit.
pub(crate) fn mentioned(commit: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(commit);
    let name = text.lines().rev().find_map(|line| line.strip_prefix(KEPT))?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_name.then(|| name.to_string())
}

/// Reads which part of the store at `directory` belongs to a snapshot, as a tree.
pub(crate) fn tree_of(checkout: &Checkout, directory: &Path, snapshot: &str) -> Result<Option<String>> {
    let Some(store) = Aside::open(checkout, directory) else { return Ok(None) };
    let Some(name) = mentioned(&read_commit(checkout, snapshot)?) else { return Ok(None) };
    store.tree(&name)
}

/// Reads a commit as git stores it.
pub(crate) fn read_commit(checkout: &Checkout, oid: &str) -> Result<Vec<u8>> {
    if !crate::names::is_oid(oid) {
        return Err(Error::NoSuchCommit { commit: oid.to_string(), repo: checkout.top.clone() });
    }
    let commit = checkout.refs("cat-file").args(["commit", oid]).run();
    commit.map_err(|failure| failure.during(format!("read commit {oid}")))
}

fn reference(name: &str) -> String {
    format!("refs/forge/kept/{name}")
}
