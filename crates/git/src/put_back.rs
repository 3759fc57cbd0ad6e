//! Putting back what somebody moved: a reference, HEAD, the stash, entries of the index.
//!
//! Each act is given what was there before and what was seen there since, and does nothing when neither is there any
//! more. What is replaced stays reachable under `refs/forge/kept/`.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::call::line;
use crate::checkout::{Checkout, Worktree};
use crate::drivers::Drivers;
use crate::error::{Error, Result};
use crate::files::{Staged, read_staged};
use crate::fingerprint::Stashed;
use crate::names::{check_branch_name, is_oid};
use crate::repo::Repo;

/// Entries of an index, each with what it says; nothing for a path that is not in it.
pub type Entries = Vec<(PathBuf, Option<Staged>)>;

impl Repo {
    /// Puts a reference back to `before` if it is at `seen` still; none means that it did not exist. What it is at is
    /// kept under `refs/forge/kept/<name>`. With `with_files`, a checkout that is on the branch goes back with it, where
    /// git refuses rather than overwrite an edit; else no file and no index is touched.
    pub fn put_reference_back(
        &self,
        reference: &str,
        before: Option<&str>,
        seen: Option<&str>,
        name: &str,
        with_files: bool,
    ) -> Result<()> {
        let tail = reference.strip_prefix("refs/").unwrap_or("-");
        check_branch_name(tail)?;
        self.queued(|| {
            let now = self.reference(reference)?;
            if now.as_deref() != seen {
                return Err(self.moved(reference, seen));
            }
            if let Some(oid) = seen.filter(|seen| is_oid(seen)) {
                self.keep(name, oid)?;
            }
            let branch = reference.strip_prefix("refs/heads/");
            let holders = self.worktrees()?;
            let holder =
                holders.into_iter().find(|worktree| branch.is_some() && worktree.branch.as_deref() == branch);
            match (holder, before) {
                _ if !with_files && before.is_some() => self.write_reference(reference, before, seen),
                (None, _) => self.write_reference(reference, before, seen),
                (Some(holder), None) => {
                    let branch = branch.unwrap_or_default().to_string();
                    Err(Error::BranchInUse { branch, path: holder.path })
                }
                (Some(holder), Some(before)) => {
                    let checkout = self.checkout_at(&holder.path)?;
                    // Off the branch with the files, then the branch, then back onto it: whatever breaks off in
                    // between leaves files and HEAD that belong together.
                    move_checkout(&checkout, &["--detach", before], before)?;
                    let written = self.write_reference(reference, Some(before), seen);
                    let attached = checkout.refs("symbolic-ref").args(["HEAD", reference]).run();
                    attached.map_err(|failure| failure.during(format!("put HEAD back on {reference}")))?;
                    written
                }
            }
        })
    }

    /// Puts HEAD of the person's checkout back to what it said if it says what was seen still; with the files, or
    /// without touching any.
    pub fn put_head_back(&self, before: &str, seen: &str, with_files: bool) -> Result<()> {
        let file = self.checkout.git_dir.join("HEAD");
        let now = std::fs::read_to_string(&file).map_err(crate::error::io_error("read", &file))?;
        if now.trim_end() != seen {
            return Err(self.moved("HEAD", Some(seen)));
        }
        let act = || format!("put HEAD of {} back", self.top().display());
        match before.strip_prefix("ref: refs/heads/") {
            Some(branch) if !with_files => {
                check_branch_name(branch)?;
                let call = self.checkout.refs("symbolic-ref").args(["HEAD", &format!("refs/heads/{branch}")]);
                call.run().map(drop).map_err(|failure| failure.during(act()))
            }
            None if !with_files => {
                self.check_oid(before)?;
                let call = self.checkout.refs("update-ref").args(["--no-deref", "HEAD", before]);
                call.run().map(drop).map_err(|failure| failure.during(act()))
            }
            Some(branch) => {
                check_branch_name(branch)?;
                let oid = self.resolve_branch(branch)?;
                move_checkout(&self.checkout, &["--no-guess", branch, "--"], &oid)
            }
            None => {
                self.check_oid(before)?;
                move_checkout(&self.checkout, &["--detach", before], before)
            }
        }
    }

    /// Puts the stash back to its entries from before, newest first, if it is what was seen still.
    pub fn put_stash_back(&self, before: &[Stashed], seen: &[Stashed], name: &str) -> Result<()> {
        self.queued(|| {
            let now = match self.reference("refs/stash")? {
                Some(_) => self.stash()?,
                None => Vec::new(),
            };
            if now != seen {
                return Err(self.moved("refs/stash", seen.first().map(|stashed| stashed.oid.as_str())));
            }
            // The ones from before are kept too, until they are all back.
            for (number, stashed) in seen.iter().chain(before).enumerate() {
                self.check_oid(&stashed.oid)?;
                self.keep(&format!("{name}-{number}"), &stashed.oid)?;
            }
            // The reference can outlive its entries.
            if let Some(newest) = self.reference("refs/stash")? {
                self.delete_reference("refs/stash", &newest)
                    .map_err(|failure| failure.during("empty the stash"))?;
            }
            for stashed in before.iter().rev() {
                let call = self.checkout.files("stash").args(["store", "--quiet", "--message"]);
                let stored = call.arg(&stashed.message).arg(&stashed.oid).run();
                stored.map_err(|failure| failure.during(format!("put {} back on the stash", stashed.oid)))?;
            }
            Ok(())
        })
    }

    /// Puts entries of the person's index back, if they are what was seen still. The files are left alone.
    pub fn put_index_back(&self, before: &Entries, seen: &Entries) -> Result<()> {
        let act = || format!("change the index of {}", self.top().display());
        let answer = self.checkout.files("ls-files").args(["--stage", "-z"]).run();
        let now = read_staged(&answer.map_err(|failure| failure.during(act()))?);
        for (path, staged) in seen {
            let entry = now.iter().find(|(known, _)| known == path).map(|(_, staged)| staged);
            if entry != staged.as_ref() {
                return Err(self.moved(&format!("the index entry of {}", path.display()), None));
            }
        }
        let mut lines = Vec::new();
        for (path, staged) in before {
            let entry = match staged {
                Some(Staged { mode, oid }) => format!("{mode:o} {oid}\t"),
                None => format!("0 {}\t", "0".repeat(40)),
            };
            lines.extend_from_slice(entry.as_bytes());
            lines.extend_from_slice(path.as_os_str().as_bytes());
            lines.push(0);
        }
        let call = self.checkout.files("update-index").args(["-z", "--index-info"]);
        call.input(lines).run().map(drop).map_err(|failure| failure.during(act()))
    }

    /// Tells whether a remote-tracking branch has a commit, or the commit that a tag is for.
    pub fn is_in_a_remote_branch(&self, oid: &str) -> Result<bool> {
        self.check_oid(oid)?;
        let call = self.checkout.refs("for-each-ref").args(["--count=1", "--contains", oid, "refs/remotes"]);
        let found =
            call.run().map_err(|failure| failure.during(format!("look for {oid} in remote branches")))?;
        Ok(!found.is_empty())
    }

    /// Reads a key of the repository's own config, as text; none when it is not set.
    pub fn own_setting(&self, key: &str) -> Result<Option<String>> {
        let act = || format!("read {key} of {}", self.top().display());
        let call = self.config_file().args(["--get", "--end-of-options", key]);
        Ok(call.ask().map_err(|failure| failure.during(act()))?.map(line))
    }

    /// Sets a key of the repository's own config, or takes it out.
    pub fn set_own_setting(&self, key: &str, value: Option<&str>) -> Result<()> {
        let call = match value {
            Some(value) => self.config_file().args(["--replace-all", "--end-of-options", key, value]),
            None => self.config_file().args(["--unset-all", "--end-of-options", key]),
        };
        call.run()
            .map(drop)
            .map_err(|failure| failure.during(format!("set {key} of {}", self.top().display())))
    }

    /// Reads a text as a git config: keys with their values.
    pub fn read_config(&self, text: &[u8]) -> Result<Vec<(String, String)>> {
        // Git reads a config without looking for a repository first, whatever that repository is like.
        let call = crate::call::Call::new(&self.checkout.git, "config").env("GIT_DIR", "/dev/null");
        let call = call.args(["--file", "-", "--no-includes", "--null", "--list"]).input(text.to_vec());
        let answer = call.run().map_err(|failure| failure.during("read a git config"))?;
        let answer = String::from_utf8_lossy(&answer);
        let entries = answer.split('\0').filter(|entry| !entry.is_empty());
        Ok(entries
            .map(|entry| entry.split_once('\n').unwrap_or((entry, "true")))
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect())
    }

    fn config_file(&self) -> crate::call::Call {
        let call = crate::call::Call::new(&self.checkout.git, "config").env("GIT_DIR", "/dev/null");
        call.arg("--file").arg(self.common_dir().join("config"))
    }

    /// What a reference says: an object, or `ref: ` and another's name.
    fn reference(&self, reference: &str) -> Result<Option<String>> {
        let call = self.checkout.refs("for-each-ref").args(["--format=%(refname) %(objectname) %(symref)"]);
        let answer = call.arg("--end-of-options").arg(reference).run();
        let answer = answer.map_err(|failure| failure.during(format!("read {reference}")))?;
        let answer = String::from_utf8_lossy(&answer);
        Ok(answer.lines().find_map(|line| {
            let mut fields = line.splitn(3, ' ');
            (fields.next()? == reference).then_some(())?;
            let oid = fields.next()?;
            let target = fields.next().filter(|target| !target.is_empty());
            Some(target.map_or(oid.to_string(), |target| format!("ref: {target}")))
        }))
    }

    fn write_reference(&self, reference: &str, to: Option<&str>, seen: Option<&str>) -> Result<()> {
        let absent = "0".repeat(if self.places().is_sha256 { 64 } else { 40 });
        // A reference that is another's name has no object of its own to compare with; it was just read.
        let expected = seen.map_or(Some(absent.as_str()), |seen| is_oid(seen).then_some(seen));
        let call = |verb| self.checkout.refs(verb);
        let written = match to {
            Some(to) if to.starts_with("ref: ") => {
                call("symbolic-ref").args(["--end-of-options", reference, to.trim_start_matches("ref: ")])
            }
            Some(to) => {
                self.check_oid(to)?;
                let update = call("update-ref").args(["--no-deref", "--end-of-options", reference, to]);
                expected.into_iter().fold(update, |call, expected| call.arg(expected))
            }
            None => {
                let delete = call("update-ref").args(["--no-deref", "-d", "--end-of-options", reference]);
                expected.into_iter().fold(delete, |call, expected| call.arg(expected))
            }
        };
        written.run().map(drop).map_err(|failure| failure.during(format!("put {reference} back")))
    }

    fn keep(&self, name: &str, oid: &str) -> Result<()> {
        let reference = format!("refs/forge/kept/{name}");
        crate::names::check_own_reference(&reference)?;
        let call = self.checkout.refs("update-ref").args(["--no-deref", "--end-of-options", &reference, oid]);
        call.run().map(drop).map_err(|failure| failure.during(format!("keep {oid}")))
    }

    fn checkout_at(&self, path: &std::path::Path) -> Result<Checkout> {
        if path == self.top() {
            return Ok(self.checkout.clone());
        }
        Ok(Worktree::open(&self.checkout, path)?.checkout)
    }

    fn moved(&self, what: &str, seen: Option<&str>) -> Error {
        let what = what.strip_prefix("refs/heads/").unwrap_or(what).to_string();
        Error::BranchMoved { branch: what, expected: seen.unwrap_or("nothing").to_string() }
    }
}

impl Worktree {
    /// Puts HEAD back onto the branch that this worktree is for, when nothing is lost by that: commits made meanwhile
    /// become the branch's if they go on from it, and edits stay. Says whether HEAD was elsewhere.
    pub fn attach(&self, branch: &str) -> Result<bool> {
        check_branch_name(branch)?;
        let checkout = &self.checkout;
        if checkout.branch()?.as_deref() == Some(branch) {
            return Ok(false);
        }
        let reference = format!("refs/heads/{branch}");
        let act = || format!("put HEAD of {} back on {branch}", checkout.top.display());
        let tip = checkout.refs("rev-parse").args(["--quiet", "--verify", "--end-of-options"]);
        let tip = tip.arg(&reference).ask().map_err(|failure| failure.during(act()))?.map(line);
        let Some(tip) = tip else {
            return Err(Error::NoSuchBranch { branch: branch.to_string(), repo: checkout.top.clone() });
        };
        // On another branch the commits are that branch's; only those of a HEAD on no branch would be lost.
        if let (Some(head), None) = (checkout.head()?, checkout.branch()?) {
            let goes_on = checkout.refs("merge-base").args(["--is-ancestor", &tip, &head]).ask();
            if goes_on.map_err(|failure| failure.during(act()))?.is_some() {
                let moved = checkout.refs("update-ref").args(["--no-deref", "--end-of-options"]);
                moved.args([&reference, &head, &tip]).run().map_err(|failure| failure.during(act()))?;
                let attached = checkout.refs("symbolic-ref").args(["HEAD", &reference]).run();
                attached.map_err(|failure| failure.during(act()))?;
                return Ok(true);
            }
            let known = checkout.refs("merge-base").args(["--is-ancestor", &head, &tip]).ask();
            if known.map_err(|failure| failure.during(act()))?.is_none() {
                return Err(Error::NoCheckout {
                    path: checkout.top.clone(),
                    why: format!("its HEAD has commits that branch {branch} has not"),
                });
            }
        }
        move_checkout(checkout, &["--no-guess", branch, "--"], &tip)?;
        Ok(true)
    }
}

/// Moves a checkout with its files; edits stay, and git refuses where one is in the way.
fn move_checkout(checkout: &Checkout, to: &[&str], commit: &str) -> Result<()> {
    let drivers = Drivers::of(checkout)?;
    drivers.refuse_in_commit(checkout, commit)?;
    let call = checkout.files("checkout").settings(&drivers.overrides).without_env("GIT_OPTIONAL_LOCKS");
    let call = to.iter().fold(call.args(["--quiet", "--no-overwrite-ignore"]), |call, word| call.arg(word));
    let moved = call.run();
    moved.map(drop).map_err(|failure| failure.during(format!("move {} to {commit}", checkout.top.display())))
}
