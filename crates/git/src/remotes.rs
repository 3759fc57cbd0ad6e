//! The remotes of a repository: which there are, where they lead, and which of them is meant for a branch.

use crate::call::line;
use crate::error::{Error, Result};
use crate::names::{check_branch_name, check_own_reference};
use crate::repo::Repo;

/// A remote of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub name: String,
    /// Where it is fetched from, after the person's own rewriting rules. It may hold a password: `redact` it.
    pub fetch_url: String,
    /// Where it is pushed to.
    pub push_url: String,
}

impl Repo {
    /// Lists the names of the remotes.
    pub fn remotes(&self) -> Result<Vec<String>> {
        let answer = self.checkout.refs("remote").run();
        let answer = answer
            .map_err(|failure| failure.during(format!("list the remotes of {}", self.top().display())))?;
        Ok(String::from_utf8_lossy(&answer).lines().map(str::to_string).collect())
    }

    /// Returns a remote by its name.
    pub fn remote(&self, name: &str) -> Result<Remote> {
        check_branch_name(name)?;
        let url = |arguments: &[&str]| {
            let call = self.checkout.refs("remote").arg("get-url");
            let call = arguments.iter().fold(call, |call, argument| call.arg(argument));
            let answer = call.arg("--end-of-options").arg(name).run();
            answer.map(line).map_err(|failure| failure.during(format!("read where remote {name} is")))
        };
        let first = |urls: String| urls.lines().next().unwrap_or_default().to_string();
        Ok(Remote { name: name.to_string(), fetch_url: first(url(&[])?), push_url: first(url(&["--push"])?) })
    }

    /// Returns the remote that a branch is fetched from: its own, else `origin`, else the only one there is.
    pub fn remote_of(&self, branch: &str) -> Result<Option<Remote>> {
        let configured = self.configured(&format!("branch.{branch}.remote"))?;
        self.existing(configured)
    }

    /// Returns the remote that new branches are pushed to: the person's default for that, else that of the branch
    /// they go back to.
    pub fn push_remote(&self, target: &str) -> Result<Option<Remote>> {
        match self.configured("remote.pushDefault")? {
            Some(name) => self.existing(Some(name)),
            None => self.remote_of(target),
        }
    }

    /// Returns where a branch of a remote was when we last pushed or fetched it.
    pub fn known_remote_branch(&self, remote: &str, branch: &str) -> Result<Option<String>> {
        let reference = known_reference(remote, branch)?;
        let found = self.references(&[&reference])?;
        Ok(found.into_iter().find(|(name, _)| *name == reference).map(|(_, oid)| oid))
    }

    /// Writes down where a branch of a remote is now.
    pub(crate) fn keep_remote_branch(&self, remote: &str, branch: &str, oid: &str) -> Result<()> {
        let reference = known_reference(remote, branch)?;
        let call = self.checkout.refs("update-ref").args(["--no-deref", "--end-of-options"]);
        let written = self.queued(|| call.arg(&reference).arg(oid).run());
        written.map(drop).map_err(|failure| failure.during(format!("write {reference}")))
    }

    fn existing(&self, wanted: Option<String>) -> Result<Option<Remote>> {
        let mut names = self.remotes()?;
        let chosen = match wanted {
            Some(wanted) if names.contains(&wanted) => Some(wanted),
            _ if names.iter().any(|name| name == "origin") => Some("origin".to_string()),
            _ if names.len() == 1 => names.pop(),
            _ => None,
        };
        chosen.map(|name| self.remote(&name)).transpose()
    }

    fn configured(&self, key: &str) -> Result<Option<String>> {
        let answer =
            self.checkout.refs("config").args(["--includes", "--get", "--end-of-options"]).arg(key).ask();
        let answer = answer.map_err(|failure| {
            failure.during(format!("read {key} in the config of {}", self.top().display()))
        })?;
        Ok(answer.map(line).filter(|value| !value.is_empty()))
    }
}

/// The reference of our own that keeps where a remote's branch is: the person's own tracking branches are theirs.
pub(crate) fn known_reference(remote: &str, branch: &str) -> Result<String> {
    check_branch_name(remote)?;
    check_branch_name(branch)?;
    let reference = format!("refs/forge/remotes/{remote}/{branch}");
    check_own_reference(&reference).map_err(|_| Error::BadName { name: remote.to_string() })?;
    Ok(reference)
}
