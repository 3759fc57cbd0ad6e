//! An attempt with its repository and its worktree at hand, for git work that a person asked for.
//!
//! Here stands what every such act looks at first: whether the worktree is still on the attempt's branch, and whether
//! something of git's waits there. Nothing here changes anything.

use std::time::Duration;

use forge_git::{Committed, Limits, Operation, Repo, Standing, Worktree};
use forge_model::{Attempt, AttemptId, Task};

use crate::background::blocking;
use crate::in_place::refuse_in_place;
use crate::keep::end_of;
use crate::store::lodgings;
use crate::{Engine, Error, Result};

/// How long the person's hooks may take over a commit that they wait for.
pub(crate) const HOOK_TIME: Duration = Duration::from_secs(300);

/// An attempt with its repository and its worktree at hand.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) attempt: Attempt,
    pub(crate) task: Option<Task>,
    pub(crate) is_merged: bool,
    pub(crate) repo: Repo,
    pub(crate) worktree: Worktree,
    /// How large files may be that are committed.
    pub(crate) limits: Limits,
    /// The last commit that the attempt's branch is known to have been at.
    known_tip: Option<String>,
}

impl Engine {
    /// Opens the worktree of an attempt, which is brought back first when it is gone. `act` is what will be done to
    /// it: "merge", "rebase". An attempt in the person's own checkout is refused.
    pub(crate) async fn site(&self, id: AttemptId, act: &str) -> Result<Site> {
        let view = self.attempt(id).await?;
        refuse_in_place(&view.attempt, act)?;
        self.ensure_worktree(id).await?;
        self.site_as_it_is(id).await
    }

    /// Opens the worktree of an attempt as it is.
    pub(crate) async fn site_as_it_is(&self, id: AttemptId) -> Result<Site> {
        let view = self.attempt(id).await?;
        let project = self.project(view.attempt.project).await?;
        let known_tip = self.inner.store.read(move |conn| lodgings::tip(conn, id)).await?;
        let engine = self.clone();
        let open = blocking(move || -> Result<_> {
            let repo = engine.repo(&project.path)?;
            let worktree = repo.worktree(&view.attempt.worktree)?;
            let (attempt, task, is_merged) = (view.attempt, view.task, view.is_merged);
            let limits = engine.file_limits();
            Ok(Site { attempt, task, is_merged, repo, worktree, limits, known_tip })
        });
        open.await?
    }
}

impl Site {
    /// Looks how the worktree stands, and refuses unless its own branch is checked out and nothing of git's waits.
    /// Returns the tip too. Blocks.
    pub(crate) fn at_rest(&self) -> Result<(Standing, String)> {
        let standing = self.worktree.standing()?;
        match standing.operation {
            Some(Operation::Rebase) => return Err(rebase_in_progress()),
            Some(operation) => {
                return Err(Error::conflict(format!(
                    "{operation} waits to be finished in {}; finish or abort it first",
                    self.worktree.path().display()
                )));
            }
            None => {}
        }
        let (branch, path) = (&self.attempt.branch, self.worktree.path().display());
        if standing.branch.as_deref() != Some(branch) {
            let instead = standing
                .branch
                .as_deref()
                .map_or("no branch at all".to_string(), |other| format!("{other:?}"));
            return Err(Error::conflict(format!(
                "the worktree of attempt {} has {instead} checked out and not its own branch {branch}; \
                 bring what is wanted onto {branch} and run `git -C {path} switch {branch}`",
                self.attempt.id
            ))
            .with_code("wrong_branch"));
        }
        match standing.head.clone() {
            Some(tip) => Ok((standing, tip)),
            None => {
                let tip = self.known_tip.as_deref().unwrap_or("<commit>");
                Err(Error::conflict(format!(
                    "branch {branch} of attempt {} was deleted; its files are all there, and \
                     `git -C {path} reset --soft {tip}` brings the branch back",
                    self.attempt.id
                ))
                .with_code("branch_gone"))
            }
        }
    }

    /// What a commit of the whole attempt says: the title of its task, and the description unless that is long.
    pub(crate) fn message(&self) -> String {
        match &self.task {
            Some(task) => message(&task.title, task.description.as_deref()),
            None => message(self.attempt.prompt.trim().lines().next().unwrap_or_default(), None),
        }
    }
}

/// What can be done about a hook that refuses, where hooks can be left out.
pub(crate) const MEND_OR_SKIP: &str = "mend it, or set `skip_hooks` to go on without hooks";

/// Takes a commit that was made for one, and tells which hook stood against it and the remedy.
pub(crate) fn committed(committed: Committed, remedy: &str) -> Result<Option<String>> {
    let refused =
        |why: String| Error::conflict(format!("{why}\nNothing was moved; {remedy}")).with_code("hook_failed");
    match committed {
        Committed::Nothing => Ok(None),
        Committed::Commit { oid } => Ok(Some(oid)),
        Committed::HookFailed { hook, output } => {
            Err(refused(format!("the {hook} hook refused the commit: {}", end_of(&output))))
        }
        Committed::TimedOut { after, output } => {
            Err(refused(format!("the hooks took more than {} s: {}", after.as_secs(), end_of(&output))))
        }
    }
}

pub(crate) fn rebase_in_progress() -> Error {
    Error::conflict("A rebase is already in progress. Resolve conflicts or abort the rebase, then retry.")
        .with_code("rebase_in_progress")
}

/// Descriptions from this length on are left out of a commit's message.
const LONG: usize = 500;

fn message(title: &str, description: Option<&str>) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = if title.is_empty() { "Work of an attempt".to_string() } else { title };
    match description.map(str::trim).filter(|text| !text.is_empty() && text.chars().count() < LONG) {
        Some(text) => format!("{title}\n\n{text}"),
        None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_title_and_a_short_description() {
        assert_eq!(message(" Fix\n the  door ", Some(" It squeaks. ")), "Fix the door\n\nIt squeaks.");
        assert_eq!(message("Fix", Some(&"x".repeat(500))), "Fix");
        assert_eq!(message("  ", Some(" ")), "Work of an attempt");
    }
}
