//! A chain of snapshots made anew out of those that are kept.
//!
//! The same commits kept give the same new commits, to the byte, so that whoever was broken off can do it again.

use crate::aside::{self, Aside, read_commit};
use crate::call::line;
use crate::checkout::Checkout;
use crate::error::{Error, Result};
use crate::names::{check_own_reference, is_oid};
use crate::quarantine::{Admitted, Held, Quarantine};
use crate::repo::Repo;
use crate::scratch::Scratch;

use std::path::Path;

/// Reads what a reference of ours says, whether that object exists or not.
pub(crate) fn newest(checkout: &Checkout, reference: &str) -> Result<Option<String>> {
    check_own_reference(reference)?;
    let call = checkout.refs("rev-parse").args(["--quiet", "--verify", "--end-of-options", reference]);
    let oid = call.ask().map_err(|failure| failure.during(format!("read {reference}")))?;
    Ok(oid.map(line))
}

impl Repo {
    /// Returns the newest snapshot on a reference.
    pub fn newest_snapshot(&self, reference: &str) -> Result<Option<String>> {
        newest(&self.checkout, reference)
    }

    /// Writes those commits of a chain anew that are kept, without the others between them. `chain` is all of it,
    /// oldest first, each with whether it is kept. Returns the new commits, and moves no reference. No prune removes
    /// them, and no collection of garbage while the second answer lives.
    pub fn rechain(&self, chain: &[(String, bool)]) -> Result<(Vec<String>, Held)> {
        let (made, kept) = self.rechain_kept(chain, None)?;
        Ok((made, Held { _pack: kept }))
    }

    /// With a `base`, what was checked out is left out of a snapshot when something of it since then is missing.
    pub(crate) fn rechain_kept(
        &self,
        chain: &[(String, bool)],
        base: Option<&str>,
    ) -> Result<(Vec<String>, Option<Admitted>)> {
        let scratch = Scratch::make(&self.checkout.git_dir)?;
        let quarantine = Quarantine::make(&self.checkout, &scratch)?;
        let mut made: Vec<String> = Vec::new();
        for (oid, _) in chain.iter().filter(|(_, kept)| *kept) {
            let commit = read_commit(&self.checkout, oid)?;
            let end = commit.windows(2).position(|pair| pair == b"\n\n").unwrap_or(commit.len());
            let header = String::from_utf8_lossy(&commit[..end]).into_owned();
            let mut head = header
                .lines()
                .filter_map(|line| line.strip_prefix("parent "))
                .find(|parent| chain.iter().all(|(other, _)| other != parent));
            if let (Some(base), Some(oid)) = (base.filter(|base| is_oid(base)), head) {
                let call =
                    || self.checkout.refs("rev-list").args(["--objects", "--quiet", oid, "--not", base]);
                let act = || format!("look at commit {oid}");
                if !self.is_whole(call).map_err(|failure| failure.during(act()))? {
                    head = None;
                }
            }
            let mut text = String::new();
            let mut rest = header.lines().filter(|line| !line.starts_with("parent "));
            text.push_str(rest.next().unwrap_or_default());
            for parent in made.last().map(String::as_str).into_iter().chain(head) {
                text.push_str(&format!("\nparent {parent}"));
            }
            for line in rest {
                text.push('\n');
                text.push_str(line);
            }
            let mut commit_anew = text.into_bytes();
            commit_anew.extend_from_slice(&commit[end..]);
            let call = self.checkout.refs("hash-object").args(["-t", "commit", "-w", "--stdin"]);
            let oid = quarantine.catch(call).input(commit_anew).run().map(line);
            made.push(oid.map_err(|failure| failure.during("write a snapshot anew"))?);
        }
        if made.is_empty() {
            return Ok((made, None));
        }
        let kept = quarantine.admit_only(&made);
        Ok((made, kept.map_err(|failure| failure.during("store snapshots anew"))?))
    }

    /// Moves a reference of ours from one commit to another; says whether it was still there.
    pub fn move_snapshots(&self, reference: &str, from: &str, to: &str) -> Result<bool> {
        check_own_reference(reference)?;
        self.check_oid(from)?;
        self.check_oid(to)?;
        let call = self.checkout.refs("update-ref").args(["--no-deref", "--end-of-options", reference]);
        match call.args([to, from]).run() {
            Ok(_) => Ok(true),
            Err(_) if self.newest_snapshot(reference)?.as_deref() != Some(from) => Ok(false),
            Err(failure) => Err(failure.during(format!("write {reference}"))),
        }
    }

    /// Returns how many bytes on disk are there for the snapshots on these references and for nothing else.
    pub fn snapshot_bytes(&self, references: &[String]) -> Result<u64> {
        if references.is_empty() {
            return Ok(0);
        }
        let mut call = self.checkout.refs("rev-list").args(["--objects", "--disk-usage", "--ignore-missing"]);
        for reference in references {
            check_own_reference(reference)?;
            call = call.arg(reference);
        }
        let answer = call.args(["--not", "--branches", "--tags", "--remotes", "HEAD", "--"]).run().map(line);
        let act = || format!("measure the snapshots of {}", self.top().display());
        let answer = answer.map_err(|failure| failure.during(act()))?;
        answer.parse().map_err(|_| crate::Failure::answer("rev-list", &answer).during(act()))
    }

    /// Forgets what a private store holds for snapshots that are kept no longer.
    pub fn forget_private(&self, directory: &Path, snapshots: &[String]) -> Result<()> {
        let Some(store) = Aside::open(&self.checkout, directory) else { return Ok(()) };
        let mut names = Vec::new();
        for oid in snapshots {
            match read_commit(&self.checkout, oid) {
                Ok(commit) => names.extend(aside::mentioned(&commit)),
                // Git has cleaned it away already.
                Err(Error::Git { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if names.is_empty() { Ok(()) } else { store.forget(&names) }
    }
}
