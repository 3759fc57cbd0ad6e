//! A window on an attempt's queue for people: what waits, in which order; changing it, and taking it back.
//!
//! What is being sent already stays as it is.

use forge_model::{AttemptId, CommentId, ImageId, Noun, Op, ProfileId, RunId, Time};

use crate::drafts::{self, Answer, no_attempt};
use crate::store::queue::{self, Waiting};
use crate::store::{Tx, attempts};
use crate::{Delivered, Engine, Error, FollowUp, FollowedUp, Result, chain, comments};

/// A follow-up that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueItem {
    pub id: String,
    /// Its turn is being started right now.
    pub sending: bool,
    pub prompt: String,
    pub variant: Option<String>,
    pub images: Option<Vec<ImageId>>,
    /// The comments that it takes along.
    pub comments: Vec<CommentId>,
    /// When it took its place.
    pub created_at: Time,
}

/// What to change of a follow-up that waits; none keeps.
#[derive(Debug, Clone, Default)]
pub struct QueueChange {
    pub prompt: Option<String>,
    /// Its place, counted from 0; one past the end means the end.
    pub position: Option<usize>,
}

impl Engine {
    /// Returns what waits for an attempt, first what is sent first.
    pub async fn queue(&self, attempt: AttemptId) -> Result<Vec<QueueItem>> {
        let looked = self.inner.store.read(move |conn| {
            Ok((attempts::one(conn, attempt)?.is_some(), queue::of_attempt(conn, attempt)?))
        });
        match looked.await? {
            (true, items) => Ok(items),
            (false, _) => Err(no_attempt(attempt)),
        }
    }

    /// Lets something wait for the end of an attempt's turn, even where its agent could be told now; an attempt at
    /// rest is told at once.
    pub async fn tell_after_turn(&self, attempt: AttemptId, follow: FollowUp) -> Result<FollowedUp> {
        if follow.prompt.trim().is_empty() {
            return Err(Error::invalid("`prompt` must be a text that is not blank"));
        }
        if let Some(variant) = &follow.variant {
            // Told now, because what waits would find out when nobody listens any more.
            let attempt = self.attempt(attempt).await?.attempt;
            let profile = ProfileId::new(&attempt.profile.agent, Some(variant))
                .map_err(|error| Error::invalid(format!("`variant`: {error}")))?;
            self.settings(&profile, Some(attempt.project)).await?;
        }
        let waits = follow.clone();
        let waiting = self.inner.store.write(move |tx| {
            let Some(view) = attempts::one(tx.conn(), attempt)? else { return Ok(None) };
            // Nothing follows by itself on a run that is stopped.
            let live = chain::work_run(tx.conn(), attempt)?.filter(|live| !live.stop_requested);
            let Some(live) = live.filter(|_| waits.images.is_empty() && waits.comments.is_empty()) else {
                return Ok(None);
            };
            let waiting = Waiting {
                id: RunId::random().to_string(),
                prompt: waits.prompt,
                variant: waits.variant,
                images: None,
            };
            queue::add(tx.conn(), attempt, &waiting, tx.now())?;
            tx.changed(Noun::Attempt, attempt, Op::Change, Some(view.attempt.project), Some(attempt));
            Ok(Some(live.run.id))
        });
        match waiting.await? {
            Some(run) => Ok(FollowedUp { run: self.run(run).await?, delivered: Delivered::Queued }),
            None => self.follow_up(attempt, follow, None).await,
        }
    }

    /// Changes the text or the place of something that waits, and returns the queue.
    pub async fn change_queued(
        &self,
        attempt: AttemptId,
        item: String,
        change: QueueChange,
    ) -> Result<Vec<QueueItem>> {
        if change.prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
            return Err(Error::invalid("`prompt` must be a text that is not blank"));
        }
        self.inner.store.write(move |tx| edit(tx, attempt, &item, change)).await?
    }

    /// Takes something that waits back, and returns the queue. A draft whose text it was is a draft again, and comments
    /// that it would have taken along are not sent.
    pub async fn withdraw_queued(&self, attempt: AttemptId, item: String) -> Result<Vec<QueueItem>> {
        self.inner.store.write(move |tx| withdraw(tx, attempt, &item)).await?
    }
}

fn edit(tx: &mut Tx<'_>, id: AttemptId, item: &str, change: QueueChange) -> Answer<Vec<QueueItem>> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(Err(no_attempt(id))) };
    let items = queue::of_attempt(tx.conn(), id)?;
    if let Err(error) = still_waits(&items, id, item) {
        return Ok(Err(error));
    }
    // What is being sent goes first whatever anybody wants.
    let (sending, mut waiting): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.sending);
    let places: Vec<_> = waiting.iter().map(|item| item.created_at).collect();
    let Some(from) = waiting.iter().position(|waiting| waiting.id == item) else {
        return Ok(Err(not_waiting(id, item)));
    };
    let mut moved = waiting.remove(from);
    let to = change.position.map_or(from, |position| position.saturating_sub(sending.len()));
    if let Some(prompt) = change.prompt {
        if let Some(mut draft) = crate::store::drafts::of_item(tx.conn(), item)? {
            draft.prompt.clone_from(&prompt);
            drafts::put(tx, &mut draft, Op::Change, view.attempt.project)?;
        }
        moved.prompt = prompt;
    }
    waiting.insert(to.min(waiting.len()), moved);
    for (item, place) in waiting.iter_mut().zip(places) {
        item.created_at = place;
        queue::update(tx.conn(), item)?;
    }
    tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
    Ok(Ok(queue::of_attempt(tx.conn(), id)?))
}

fn withdraw(tx: &mut Tx<'_>, id: AttemptId, item: &str) -> Answer<Vec<QueueItem>> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(Err(no_attempt(id))) };
    if let Err(error) = still_waits(&queue::of_attempt(tx.conn(), id)?, id, item) {
        return Ok(Err(error));
    }
    match crate::store::drafts::of_item(tx.conn(), item)? {
        Some(draft) => drop(drafts::unqueue(tx, draft)?),
        None => {
            let comments = crate::store::comments::of_message(tx.conn(), id, item)?;
            comments::come_back(tx, id, view.attempt.project, &comments)?;
            queue::withdraw(tx.conn(), item)?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
        }
    }
    Ok(Ok(queue::of_attempt(tx.conn(), id)?))
}

fn still_waits(items: &[QueueItem], id: AttemptId, item: &str) -> Result<()> {
    match items.iter().find(|known| known.id == item) {
        Some(known) if known.sending => {
            Err(Error::conflict(format!("{item} is being sent and cannot be changed any more")))
        }
        Some(_) => Ok(()),
        None => Err(not_waiting(id, item)),
    }
}

fn not_waiting(id: AttemptId, item: &str) -> Error {
    Error::not_found(format!("nothing called {item:?} waits for attempt {id}; it may have been sent"))
}
