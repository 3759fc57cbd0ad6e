//! What people note about an attempt as they go through their list: that they saw it, that it is done with, that it
//! can wait. The attempt itself is as it was; what it means for a list is the client's to say.

use forge_model::{AttemptId, Noun, Op, Time};

use crate::store::{Error as StoreError, Tx, cards};
use crate::{AttemptView, Engine, Error, Result};

/// How an attempt is put aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dismiss {
    /// Until something new happens to it.
    Now,
    /// Until a time, or until something new happens to it.
    Until(Time),
    /// It is not put aside any more.
    Undo,
}

impl Engine {
    /// Notes that a person looked at an attempt.
    pub async fn note_seen(&self, id: AttemptId) -> Result<AttemptView> {
        self.mark(id, move |tx| cards::seen(tx.conn(), id, tx.now())).await
    }

    /// Puts an attempt aside, or takes it back.
    pub async fn put_aside(&self, id: AttemptId, how: Dismiss) -> Result<AttemptView> {
        self.mark(id, move |tx| {
            let (dismissed, until) = match how {
                Dismiss::Now => (Some(tx.now()), None),
                Dismiss::Until(time) => (Some(tx.now()), Some(time)),
                Dismiss::Undo => (None, None),
            };
            cards::dismiss(tx.conn(), id, dismissed, until)
        })
        .await
    }

    async fn mark(
        &self,
        id: AttemptId,
        act: impl FnOnce(&mut Tx<'_>) -> std::result::Result<(), StoreError> + Send + 'static,
    ) -> Result<AttemptView> {
        let written = self.inner.store.write(move |tx| {
            let Some(project) = cards::project(tx.conn(), id)? else { return Ok(false) };
            act(tx)?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
            Ok(true)
        });
        match written.await? {
            true => self.attempt(id).await,
            false => Err(Error::not_found(format!("there is no attempt {id}"))),
        }
    }
}
