//! How two commits stand to each other: ahead, behind, their common base, and whether one holds the other's changes.

use std::collections::HashSet;

use crate::call::line;
use crate::error::{Error, Failure, Result};
use crate::merge::Merged;
use crate::repo::Repo;

impl Repo {
    /// Counts the commits of `one` that `other` does not have, and the other way round.
    pub fn ahead_behind(&self, one: &str, other: &str) -> Result<(u64, u64)> {
        self.check_oid(one)?;
        self.check_oid(other)?;
        let range = format!("{one}...{other}");
        let answer = self
            .checkout
            .refs("rev-list")
            .args(["--left-right", "--count", "--end-of-options", &range])
            .run();
        let act = || format!("compare {one} with {other}");
        let answer = line(answer.map_err(|failure| self.not_compared(failure, one, other))?);
        let mut counts = answer.split_whitespace().map(str::parse);
        match (counts.next(), counts.next()) {
            (Some(Ok(ahead)), Some(Ok(behind))) => Ok((ahead, behind)),
            _ => Err(Failure::answer("rev-list", &answer).during(act())),
        }
    }

    /// Returns the newest commit that both have, when they have any.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>> {
        self.check_oid(one)?;
        self.check_oid(other)?;
        let answer = self.checkout.refs("merge-base").args([one, other]).ask();
        let answer = answer.map_err(|failure| self.not_compared(failure, one, other))?;
        Ok(answer.map(line))
    }

    /// Finds a commit by its name, which may be cut short. No other way of naming a commit is understood.
    pub fn find_commit(&self, name: &str) -> Result<String> {
        let is_name = (4..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_name {
            return Err(self.no_such_commit(name));
        }
        let found = self.rev_parse(&format!("{name}^{{commit}}"))?;
        found.ok_or_else(|| self.no_such_commit(name))
    }

    /// Returns the tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String> {
        self.check_oid(commit)?;
        self.rev_parse(&format!("{commit}^{{tree}}"))?.ok_or_else(|| self.no_such_commit(commit))
    }

    /// Returns the parents of a commit.
    pub fn parents_of(&self, commit: &str) -> Result<Vec<String>> {
        self.check_oid(commit)?;
        let answer =
            self.checkout.refs("rev-list").args(["--parents", "-1", "--end-of-options", commit]).run();
        let answer = line(answer.map_err(|failure| failure.during(format!("read commit {commit}")))?);
        Ok(answer.split_whitespace().skip(1).map(str::to_string).collect())
    }

    /// Tells whether a target has all that a commit would bring: merging it would change nothing. This also sees work
    /// that arrived as one commit, by a squash or a rebase elsewhere.
    pub fn holds_changes_of(&self, target: &str, commit: &str) -> Result<bool> {
        if self.is_ancestor(commit, target)? {
            return Ok(true);
        }
        match self.merge_commits(target, commit, None) {
            Ok(Merged::Clean { tree }) => Ok(tree == self.tree_of(target)?),
            Ok(Merged::Conflicts(_)) => Ok(false),
            // Without a common commit nothing was ever merged.
            Err(_) if self.merge_base(target, commit)?.is_none() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns where a local branch points, when there is one.
    pub fn local_branch(&self, branch: &str) -> Result<Option<String>> {
        crate::check_branch_name(branch)?;
        let reference = format!("refs/heads/{branch}");
        let found = self.references(&[&reference])?;
        Ok(found.into_iter().find(|(name, _)| *name == reference).map(|(_, oid)| oid))
    }

    fn rev_parse(&self, name: &str) -> Result<Option<String>> {
        let answer = self.checkout.refs("rev-parse").args(["--quiet", "--verify", "--end-of-options", name]);
        match answer.ask() {
            Ok(found) => Ok(found.map(line)),
            // A name that is cut too short, or that names no commit.
            Err(Failure::Exit { .. }) => Ok(None),
            Err(failure) => Err(failure.during(format!("look for {name}"))),
        }
    }

    /// Keeps a commit under a reference of our own: `directory` and the lowest number that is free there. A reference
    /// that exists is never moved, and a commit that one of them has is not kept twice.
    pub fn keep_commit(&self, directory: &str, oid: &str) -> Result<()> {
        self.check_oid(oid)?;
        self.queued(|| {
            let known = self.references(&[directory])?;
            if known.iter().any(|(_, kept)| kept == oid) {
                return Ok(());
            }
            let taken: HashSet<&str> = known
                .iter()
                .filter_map(|(name, _)| name.strip_prefix(directory)?.strip_prefix('/'))
                .collect();
            let free =
                (1..).map(|number: u64| number.to_string()).find(|name| !taken.contains(name.as_str()));
            let reference = format!("{directory}/{}", free.unwrap_or_default());
            crate::names::check_own_reference(&reference)?;
            // As the old value, zeros mean that there must be none.
            let none = "0".repeat(oid.len());
            let call = self.checkout.refs("update-ref");
            let call = call.args(["--no-deref", "--end-of-options", &reference, oid, &none]);
            let kept = call.run();
            kept.map(drop)
                .map_err(|failure: Failure| -> Error { failure.during(format!("write {reference}")) })
        })
    }
}
