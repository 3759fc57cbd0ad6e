//! Committing what is left uncommitted in an attempt's worktree before its branch goes anywhere, as a turn would: with
//! the person's hooks.

use std::time::Duration;

use forge_git::{CommitRequest, Committed};
use forge_model::AttemptId;
use serde_json::json;

use crate::background::blocking;
use crate::store::acts::{self, Act};
use crate::{AttemptView, Engine, Error, Result};

/// How long the person's hooks may take.
const HOOK_TIME: Duration = Duration::from_secs(300);

/// What such a commit is called among the acts.
const KIND: &str = "commit";

impl Engine {
    /// Commits what is left, and returns the commit; none when there was nothing. Refused while a run is at work on
    /// it. `done` says what waits for it: "pushed".
    pub(crate) async fn commit_leftovers(&self, id: AttemptId, done: &'static str) -> Result<Option<String>> {
        let view = self.attempt(id).await?;
        let path = self.ensure_worktree(id).await?;
        let project = self.project(view.attempt.project).await?;
        let engine = self.clone();
        let worktree =
            blocking(move || -> Result<_> { Ok(engine.repo(&project.path)?.worktree(&path)?) }).await??;
        let looked = worktree.clone();
        if blocking(move || looked.is_clean()).await?? {
            return Ok(None);
        }
        let act = Act::new(KIND, id, &json!({}))?;
        self.begin_act(&act, done).await?;
        let message = message(&view, done);
        let committed = blocking(move || -> Result<_> {
            if worktree.branch()?.as_deref() != Some(view.attempt.branch.as_str()) {
                return Err(Error::conflict(format!(
                    "attempt {id} has changes that are not committed, and its worktree is not on its branch {}: finish \
                     or abort what is under way there first",
                    view.attempt.branch
                )));
            }
            let request = CommitRequest { message, time_limit: HOOK_TIME, run_hooks: true };
            Ok(worktree.commit_all(&request)?)
        });
        let committed = committed.await?;
        self.end_act(&act).await?;
        let refused = |why: String| {
            let left = "what is left in its worktree could not be committed first";
            Err(Error::conflict(format!("attempt {id} was not {done}: {left}: {why}"))
                .with_code("hook_failed"))
        };
        match committed? {
            Committed::Nothing => Ok(None),
            Committed::Commit { oid } => {
                tracing::info!(attempt.id = %id, "what attempt {id} left uncommitted is commit {oid} now");
                Ok(Some(oid))
            }
            Committed::HookFailed { hook, output } => refused(format!("the {hook} hook refused: {output}")),
            Committed::TimedOut { after, output } => {
                refused(format!("the hooks took more than {} s: {output}", after.as_secs()))
            }
        }
    }

    /// Forgets commits that a crash broke off: git has made each or has not, and the next act makes it anew.
    pub(crate) async fn reconcile_leftovers(&self) -> Result<()> {
        let forgotten = self.inner.store.write(|tx| {
            for act in acts::all(tx.conn())?.into_iter().filter(|act| act.kind == KIND) {
                acts::delete(tx.conn(), &act.id)?;
            }
            Ok(())
        });
        Ok(forgotten.await?)
    }
}

/// Says in the commit itself how it came about.
fn message(view: &AttemptView, done: &str) -> String {
    let title = view.task.as_ref().map_or(view.attempt.prompt.as_str(), |task| task.title.as_str());
    let title = title.lines().next().unwrap_or_default();
    format!("{title}\n\nForge committed what was left in the worktree before it was {done}.\n")
}
