//! Git work of several steps on an attempt's worktree: written down before its first step, one at a time, and never
//! beside a run.

use forge_model::{AttemptId, RunId, RunKind};
use serde::Serialize;

use crate::store::acts::{self, Act};
use crate::store::{Conn, Error as StoreError, runs, starts};
use crate::{Engine, Error, Result};

impl Act {
    /// Describes an act that has not begun.
    pub(crate) fn new(kind: &str, attempt: AttemptId, body: &impl Serialize) -> Result<Self> {
        let body = written(body)?;
        Ok(Self { id: RunId::random().to_string(), kind: kind.to_string(), attempt, body })
    }
}

impl Engine {
    /// Writes down that an act begins. Refused while a run or another act is at work in the worktree; `doing` says
    /// what is refused, as in "attempt 1 cannot be merged while …".
    pub(crate) async fn begin_act(&self, act: &Act, doing: &str) -> Result<()> {
        let (written, attempt) = (act.clone(), act.attempt);
        let busy = self.inner.store.write(move |tx| {
            let busy = busy(tx.conn(), attempt)?;
            if busy.is_none() {
                acts::insert(tx.conn(), &written, tx.now())?;
            }
            Ok(busy)
        });
        refused(attempt, doing, busy.await?)
    }

    /// Refuses an act beside a run or another act before its worktree is looked at, for a worktree that is being
    /// written tells nothing. `begin_act` looks again.
    pub(crate) async fn refuse_busy(&self, attempt: AttemptId, doing: &str) -> Result<()> {
        let busy = self.inner.store.read(move |conn| busy(conn, attempt)).await?;
        refused(attempt, doing, busy)
    }

    /// Writes down more of an act, or that it now waits for somebody.
    pub(crate) async fn note_act(&self, act: &mut Act, kind: &str, body: &impl Serialize) -> Result<()> {
        act.kind = kind.to_string();
        act.body = written(body)?;
        let noted = act.clone();
        Ok(self.inner.store.write(move |tx| acts::update(tx.conn(), &noted)).await?)
    }

    /// Forgets an act that happened or was taken back, and starts what has waited for its end.
    pub(crate) async fn end_act(&self, act: &Act) -> Result<()> {
        let id = act.id.clone();
        self.inner.store.write(move |tx| acts::delete(tx.conn(), &id)).await?;
        self.start_next(act.attempt).await;
        Ok(())
    }
}

/// Says what is at work in an attempt's worktree, if anything is. Dev servers look on.
pub(crate) fn busy(conn: &Conn, attempt: AttemptId) -> std::result::Result<Option<&'static str>, StoreError> {
    if acts::under_way(conn, attempt)? {
        return Ok(Some("other git work of it is under way; try again when that is done"));
    }
    let live = runs::live_of_attempt(conn, attempt)?;
    if starts::of_attempt(conn, attempt)? || live.iter().any(|live| live.run.kind != RunKind::DevServer) {
        return Ok(Some("it is running; wait for it to end or stop it first"));
    }
    Ok(None)
}

fn refused(attempt: AttemptId, doing: &str, busy: Option<&str>) -> Result<()> {
    match busy {
        None => Ok(()),
        Some(why) => {
            Err(Error::conflict(format!("attempt {attempt} cannot be {doing} while {why}")).with_code("busy"))
        }
    }
}

fn written(body: &impl Serialize) -> Result<String> {
    serde_json::to_string(body).map_err(|error| Error::internal(format!("an act cannot be written: {error}")))
}
