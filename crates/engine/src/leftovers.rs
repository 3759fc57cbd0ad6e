//! Committing what is left uncommitted in an attempt's worktree before its branch goes anywhere, as a turn would: with
//! the person's hooks, unless they said otherwise. Who asked for the act is told of the commit.

use forge_git::CommitRequest;
use forge_model::AttemptId;
use serde_json::json;

use crate::background::blocking;
use crate::site::{HOOK_TIME, MEND_OR_SKIP, Site, committed};
use crate::store::acts::{self, Act};
use crate::{Engine, Result};

/// What such a commit is called among the acts, when it is one by itself.
const KIND: &str = "commit";

impl Site {
    /// Commits what is left, and returns the commit; none when there was nothing. `done` says what waits for it:
    /// "pushed". Blocks.
    pub(crate) fn commit_leftovers(&self, done: &str, skip_hooks: bool) -> Result<Option<String>> {
        self.commit_rest(done, !skip_hooks, MEND_OR_SKIP)
    }

    fn commit_rest(&self, done: &str, run_hooks: bool, remedy: &str) -> Result<Option<String>> {
        let message = format!(
            "{}\n\nForge committed what was left in the worktree before it was {done}.\n",
            self.message().lines().next().unwrap_or_default()
        );
        let request = CommitRequest { message, time_limit: HOOK_TIME, run_hooks, limits: self.limits };
        let made = self.worktree.commit_all_on(&self.attempt.branch, &request)?;
        for left in &made.left_out {
            let (id, path) = (self.attempt.id, left.path.display());
            tracing::warn!(attempt.id = %id, "{path} is left out of what is {done} of attempt {id}: {}", left.why);
        }
        let made = committed(made.committed, remedy)?;
        if let Some(oid) = &made {
            let id = self.attempt.id;
            tracing::info!(attempt.id = %id, "what attempt {id} left uncommitted is commit {oid} now");
        }
        Ok(made)
    }
}

impl Engine {
    /// Commits what is left as an act by itself. Refused while a run is at work on it.
    pub(crate) async fn commit_before_push(&self, id: AttemptId) -> Result<Option<String>> {
        let done = "pushed";
        let site = self.site(id, "push").await?;
        let looked = site.clone();
        if blocking(move || looked.worktree.is_clean()).await?? {
            return Ok(None);
        }
        let act = Act::new(KIND, id, &json!({}))?;
        self.begin_act(&act, done).await?;
        let committed = blocking(move || {
            site.at_rest()?;
            site.commit_rest(done, true, "mend it, and push again")
        });
        let committed = committed.await;
        self.end_act(&act).await?;
        committed?
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
