//! Drafts: what stands in an attempt's composer, kept for every tab and over restarts.
//!
//! A draft and the queue are two things. Queueing a draft puts its text into the queue and links the two: while
//! it waits there, the draft cannot be edited; when its turn has begun, the draft is empty again. A version
//! counts every change, so that two tabs cannot write over each other.
//!
//! A queue waits after a stop: what a person stopped does not go on by itself. It goes on with the next
//! follow-up, or when a draft is queued (again).

use forge_model::{AttemptId, Draft, DraftKind, ImageId, Noun, Op, ProfileId, ProjectId, RunId};

use crate::background::detached;
use crate::intent::Intent;
use crate::limits::Limits;
use crate::once::{self, Key, Once};
use crate::store::calls::Call;
use crate::store::queue::{self, Waiting};
use crate::store::{Error as StoreError, Tx, attempts, drafts, events, projects, runs};
use crate::{Engine, Error, Result, chain, in_place};

/// What to change of a draft; none keeps.
#[derive(Debug, Clone, Default)]
pub struct DraftChange {
    pub prompt: Option<String>,
    pub variant: Option<String>,
    pub images: Option<Vec<ImageId>>,
    /// The run that a retry runs again.
    pub retry: Option<RunId>,
    /// The version that the change was made from.
    pub version: Option<i64>,
}

/// Whether a draft is to wait in the queue, and what the caller believes of it.
#[derive(Debug, Clone, Default)]
pub struct DraftQueue {
    pub queued: bool,
    pub expected_queued: Option<bool>,
    pub expected_version: Option<i64>,
    /// A text to save first.
    pub prompt: Option<String>,
}

/// The drafts of a project at a position of its events.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectDrafts {
    pub seq: i64,
    pub attempts: Vec<AttemptDrafts>,
}

/// The drafts of one attempt; an empty one stands for a follow-up that nobody has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptDrafts {
    pub attempt: AttemptId,
    pub follow_up: Draft,
    pub retry: Option<Draft>,
}

/// The answer of a transaction that may refuse, in which case it has written nothing.
pub(crate) type Answer<T> = std::result::Result<Result<T>, StoreError>;

/// What one look at an attempt decided about a draft that is to be sent, already written down.
#[derive(Debug)]
enum Plan {
    Kept(Draft),
    /// The run is being stopped: look again when it is over.
    Wait(RunId),
    /// The attempt is at rest: this starts what waits first.
    Start(Box<Intent>),
}

impl Engine {
    /// Returns an attempt's draft of a kind: an empty one when nobody has written it yet.
    pub async fn draft(&self, attempt: AttemptId, kind: DraftKind) -> Result<Draft> {
        let looked = self
            .inner
            .store
            .read(move |conn| Ok((attempts::one(conn, attempt)?, drafts::one(conn, attempt, kind)?)));
        match looked.await? {
            (None, _) => Err(no_attempt(attempt)),
            (Some(view), found) => {
                Ok(found.unwrap_or_else(|| Draft::empty(attempt, kind, view.attempt.created_at)))
            }
        }
    }

    /// Returns the drafts of every attempt of a project, and the position they belong to.
    pub async fn drafts(&self, project: ProjectId) -> Result<ProjectDrafts> {
        let looked = self.inner.store.read(move |conn| {
            if projects::one(conn, project)?.is_none() {
                return Ok(None);
            }
            let mut written = drafts::of_project(conn, project)?;
            let mut take = |attempt, kind| {
                let at = written.iter().position(|draft| draft.attempt == attempt && draft.kind == kind)?;
                Some(written.swap_remove(at))
            };
            let attempts = attempts::births(conn, project)?.into_iter().map(|(attempt, born)| {
                let follow_up = take(attempt, DraftKind::FollowUp);
                AttemptDrafts {
                    attempt,
                    follow_up: follow_up.unwrap_or_else(|| Draft::empty(attempt, DraftKind::FollowUp, born)),
                    retry: take(attempt, DraftKind::Retry),
                }
            });
            Ok(Some(ProjectDrafts { attempts: attempts.collect(), seq: events::newest(conn)? }))
        });
        looked.await?.ok_or_else(|| Error::not_found(format!("there is no project {project}")))
    }

    /// Writes a draft; makes it when it is not there yet.
    pub async fn save_draft(
        &self,
        attempt: AttemptId,
        kind: DraftKind,
        change: DraftChange,
    ) -> Result<Draft> {
        self.check_images(change.images.as_deref().unwrap_or_default()).await?;
        self.inner.store.write(move |tx| save(tx, attempt, kind, change)).await?
    }

    /// Drops a retry that was begun. A follow-up is edited or taken out of the queue, never dropped.
    pub async fn delete_draft(&self, attempt: AttemptId, kind: DraftKind) -> Result<()> {
        if kind == DraftKind::FollowUp {
            return Err(Error::invalid(
                "`type`: Cannot delete follow-up draft; unqueue or edit instead (only `retry` can be deleted)",
            ));
        }
        let deleted = self.inner.store.write(move |tx| {
            let Some(view) = attempts::one(tx.conn(), attempt)? else { return Ok(false) };
            if drafts::delete(tx.conn(), attempt, kind)? {
                let project = Some(view.attempt.project);
                tx.changed(Noun::Draft, drafts::name(attempt, kind), Op::Remove, project, Some(attempt));
            }
            Ok(true)
        });
        match deleted.await? {
            true => Ok(()),
            false => Err(no_attempt(attempt)),
        }
    }

    /// Puts an attempt's follow-up draft into the queue, or takes it out again. When the attempt is at rest, what
    /// waits is sent at once; a draft that cannot be sent is out of the queue again when the reason is told.
    pub async fn queue_draft(
        &self,
        attempt: AttemptId,
        wanted: DraftQueue,
        key: Option<Key>,
    ) -> Result<Draft> {
        let engine = self.clone();
        detached(async move { engine.set_queued(attempt, wanted, key).await }).await
    }

    async fn set_queued(&self, id: AttemptId, wanted: DraftQueue, key: Option<Key>) -> Result<Draft> {
        let _turn = match self.once(key.as_ref()).await? {
            Once::Repeat(_) => return self.draft(id, DraftKind::FollowUp).await,
            Once::Do(turn) => turn,
        };
        let draft = self.draft(id, DraftKind::FollowUp).await?;
        if let Some(variant) = draft.variant.filter(|_| wanted.queued) {
            // Told now, because a text that has to wait would find out when nobody listens any more.
            let attempt = self.attempt(id).await?.attempt;
            let profile = ProfileId::new(&attempt.profile.agent, Some(&variant))
                .map_err(|error| Error::invalid(format!("`variant`: {error}")))?;
            self.settings(&profile, Some(attempt.project)).await?;
        }
        let limits = self.limits_or_last().await;
        loop {
            let (wanted, key, item) = (wanted.clone(), key.clone(), RunId::random().to_string());
            let planned = self.inner.store.write(move |tx| match wanted.queued {
                true => plan(tx, id, &wanted, key, item, limits),
                false => Ok(take_out(tx, id, &wanted)?.map(Plan::Kept)),
            });
            let plan = planned.await??;
            self.inner.seam.pass("draft.recorded", "").await;
            match plan {
                Plan::Kept(draft) => {
                    self.inner.line.look();
                    return Ok(draft);
                }
                // Nothing follows by itself on a run that is stopped, so this is not put in its queue.
                Plan::Wait(run) => self.until_over(run).await.map(drop)?,
                Plan::Start(intent) => return self.send_first(id, *intent).await,
            }
        }
    }

    /// Starts what waits first, and answers with what became of the draft.
    async fn send_first(&self, id: AttemptId, intent: Intent) -> Result<Draft> {
        let item = intent.queued_item().map(str::to_string);
        let Err(error) = self.start_again(intent).await else {
            return self.draft(id, DraftKind::FollowUp).await;
        };
        let unqueued = self.inner.store.write(move |tx| {
            let Some(draft) = drafts::one(tx.conn(), id, DraftKind::FollowUp)? else { return Ok(false) };
            let own = draft.queued == item;
            unqueue(tx, draft)?;
            Ok(own)
        });
        match unqueued.await? {
            // What was told to wait for this turn waits for nothing now.
            true => self.start_next(id).await,
            false => self.turn_failed(id, &error).await,
        }
        Err(error)
    }
}

pub(crate) fn no_attempt(id: AttemptId) -> Error {
    Error::not_found(format!("there is no attempt {id}"))
}

fn save(tx: &mut Tx<'_>, id: AttemptId, kind: DraftKind, change: DraftChange) -> Answer<Draft> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(Err(no_attempt(id))) };
    let found = drafts::one(tx.conn(), id, kind)?;
    let before = found.clone().unwrap_or_else(|| Draft::empty(id, kind, tx.now()));
    let (queued, changed) = match kind {
        DraftKind::FollowUp => (QUEUED, "Draft changed, please retry with latest"),
        DraftKind::Retry => {
            ("Retry draft is queued; unqueue before editing", "Retry draft changed, please retry with latest")
        }
    };
    if before.queued.is_some() {
        return Ok(Err(Error::conflict(queued)));
    }
    if change.version.is_some_and(|version| version != before.version) {
        return Ok(Err(Error::conflict(changed)));
    }
    if let Some(run) = change.retry
        && runs::one(tx.conn(), run)?.is_none_or(|live| live.run.attempt != id)
    {
        return Ok(Err(Error::invalid(format!("`retry_process_id`: attempt {id} has no run {run}"))));
    }
    let mut after = before.clone();
    after.prompt = change.prompt.unwrap_or(after.prompt);
    after.variant = change.variant.or(after.variant);
    after.images = change.images.or(after.images);
    after.retry = change.retry.filter(|_| kind == DraftKind::Retry).or(after.retry);
    if found.is_some() && after == before {
        return Ok(Ok(after));
    }
    let op = if found.is_some() { Op::Change } else { Op::Add };
    put(tx, &mut after, op, view.attempt.project)?;
    Ok(Ok(after))
}

const QUEUED: &str = "Draft is queued; click Edit to unqueue before editing";

/// Decides about a draft that is to be sent and writes the decision down, in one transaction.
fn plan(
    tx: &mut Tx<'_>,
    id: AttemptId,
    wanted: &DraftQueue,
    key: Option<Key>,
    item: String,
    limits: Limits,
) -> Answer<Plan> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(Err(no_attempt(id))) };
    let found = drafts::one(tx.conn(), id, DraftKind::FollowUp)?;
    let mut draft = found.clone().unwrap_or_else(|| Draft::empty(id, DraftKind::FollowUp, tx.now()));
    if let Err(error) = as_expected(&draft, wanted) {
        return Ok(Err(error));
    }
    if draft.queued.is_some() && wanted.prompt.as_ref().is_some_and(|prompt| *prompt != draft.prompt) {
        return Ok(Err(Error::conflict(QUEUED)));
    }
    if found.is_none() && wanted.prompt.is_none() {
        return Ok(Err(Error::conflict("No draft to queue")));
    }
    let live = chain::work_run(tx.conn(), id)?;
    if let Some(live) = live.as_ref().filter(|live| live.stop_requested) {
        return Ok(Ok(Plan::Wait(live.run.id)));
    }
    let project = view.attempt.project;
    let mut changed = false;
    if let Some(prompt) = wanted.prompt.clone().filter(|prompt| found.is_none() || *prompt != draft.prompt) {
        draft.prompt = prompt;
        changed = true;
    }
    let blank = draft.prompt.trim().is_empty();
    if !blank && draft.queued.is_none() {
        let waiting = Waiting {
            id: item.clone(),
            prompt: draft.prompt.clone(),
            variant: draft.variant.clone(),
            images: draft.images.clone(),
        };
        queue::add(tx.conn(), id, &waiting, tx.now())?;
        tx.changed(Noun::Attempt, id, Op::Change, Some(project), Some(id));
        draft.queued = Some(item);
        changed = true;
    }
    if changed {
        let op = if found.is_some() { Op::Change } else { Op::Add };
        put(tx, &mut draft, op, project)?;
    }
    let at_rest = live.is_none() && !view.attempt.state.is_live() && !chain::is_starting(tx.conn(), id)?;
    if at_rest && view.attempt.in_place && in_place::is_taken(tx.conn(), project, id)? {
        return Ok(Err(in_place::taken()));
    }
    if at_rest
        && !blank
        && let Some(intent) = chain::intend_next_within(tx, id, key.clone(), limits)?
    {
        return Ok(Ok(Plan::Start(Box::new(intent))));
    }
    if let (Some(key), Some(run)) = (&key, runs::of_attempt(tx.conn(), id)?.last()) {
        let (fingerprint, delivered) = (key.fingerprint.clone(), "queued".to_string());
        once::remember(tx, key, Call { fingerprint, attempt: id, run: run.id, delivered })?;
    }
    Ok(Ok(Plan::Kept(draft)))
}

/// Takes a draft out of the queue again.
fn take_out(tx: &mut Tx<'_>, id: AttemptId, wanted: &DraftQueue) -> Answer<Draft> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(Err(no_attempt(id))) };
    let found = drafts::one(tx.conn(), id, DraftKind::FollowUp)?;
    let mut draft = found.clone().unwrap_or_else(|| Draft::empty(id, DraftKind::FollowUp, tx.now()));
    if let Err(error) = as_expected(&draft, wanted) {
        return Ok(Err(error));
    }
    if draft.sending {
        return Ok(Err(Error::conflict("Draft is being sent; it cannot be taken out of the queue any more")));
    }
    draft = unqueue(tx, draft)?;
    if let Some(prompt) = wanted.prompt.clone().filter(|prompt| *prompt != draft.prompt) {
        draft.prompt = prompt;
        let op = if found.is_some() { Op::Change } else { Op::Add };
        put(tx, &mut draft, op, view.attempt.project)?;
    }
    Ok(Ok(draft))
}

/// Takes the item of a draft out of the queue, unless it is being sent; the text stays.
pub(crate) fn unqueue(tx: &mut Tx<'_>, mut draft: Draft) -> std::result::Result<Draft, StoreError> {
    let (id, Some(item)) = (draft.attempt, draft.queued.clone()) else { return Ok(draft) };
    if draft.sending {
        return Ok(draft);
    }
    queue::withdraw(tx.conn(), &item)?;
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(draft) };
    tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
    draft.queued = None;
    put(tx, &mut draft, Op::Change, view.attempt.project)?;
    Ok(draft)
}

fn as_expected(draft: &Draft, wanted: &DraftQueue) -> Result<()> {
    let queued = wanted.expected_queued.is_none_or(|queued| queued == draft.queued.is_some());
    let version = wanted.expected_version.is_none_or(|version| version == draft.version);
    match queued && version {
        true => Ok(()),
        false => Err(Error::conflict("Draft changed, please refresh and try again")),
    }
}

/// Writes a draft that changed, under its next version.
pub(crate) fn put(
    tx: &mut Tx<'_>,
    draft: &mut Draft,
    op: Op,
    project: ProjectId,
) -> std::result::Result<(), StoreError> {
    draft.version += 1;
    draft.updated_at = tx.now();
    drafts::put(tx.conn(), draft)?;
    let name = drafts::name(draft.attempt, draft.kind);
    tx.changed(Noun::Draft, name, op, Some(project), Some(draft.attempt));
    Ok(())
}

/// Says that the draft whose text an item of the queue is has changed: its turn is being started, or is not.
pub(crate) fn item_moved(
    tx: &mut Tx<'_>,
    item: &str,
    project: ProjectId,
) -> std::result::Result<(), StoreError> {
    if let Some(draft) = drafts::of_item(tx.conn(), item)? {
        let name = drafts::name(draft.attempt, draft.kind);
        tx.changed(Noun::Draft, name, Op::Change, Some(project), Some(draft.attempt));
    }
    Ok(())
}

/// Empties the draft whose text an item of the queue is: its turn has begun.
pub(crate) fn item_sent(
    tx: &mut Tx<'_>,
    item: &str,
    project: ProjectId,
) -> std::result::Result<(), StoreError> {
    let Some(mut draft) = drafts::of_item(tx.conn(), item)? else { return Ok(()) };
    draft.prompt = String::new();
    draft.variant = None;
    draft.images = None;
    draft.queued = None;
    put(tx, &mut draft, Op::Change, project)
}
