//! Telling an agent more: at once where it can take it, at the turn's end where it cannot, in a new run when
//! the last one is over.

use forge_model::state::AttemptHappened;
use forge_model::with_absolute_images;
use forge_model::{
    AttemptId, AttemptState, CommentId, ImageId, Noun, Op, ProfileId, Run, RunId, RunKind, RunState,
};

use crate::background::{blocking, detached, is_dir};
use crate::held::{hold_follow_up, may_run};
use crate::input::Input;
use crate::intent::{Intent, What};
use crate::limits::Limits;
use crate::once::{self, Key, Once};
use crate::store::calls::Call;
use crate::store::queue::{self, Waiting};
use crate::store::{Error as StoreError, Tx, attempts, held, images, inputs, runs};
use crate::{Engine, Error, Result, chain, comments, in_place, launch, moves};

/// What to tell an agent next.
#[derive(Debug, Clone)]
pub struct FollowUp {
    pub prompt: String,
    pub variant: Option<String>,
    /// Pictures that it speaks of; they become pictures of the task.
    pub images: Vec<ImageId>,
    /// Review comments that it is made of: they are sent with it, all of them, or nothing is.
    pub comments: Vec<CommentId>,
}

impl FollowUp {
    /// Tells a text, without anything beside it and by the variant that the attempt has.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), variant: None, images: Vec::new(), comments: Vec::new() }
    }
}

/// How a follow-up reached the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// A new run resumed the session.
    Started,
    /// The running agent was told.
    Injected,
    /// It is sent when the turn ends.
    Queued,
}

impl Delivered {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Delivered::Started => "started",
            Delivered::Injected => "injected",
            Delivered::Queued => "queued",
        }
    }

    fn read(text: &str) -> Self {
        match text {
            "injected" => Delivered::Injected,
            "queued" => Delivered::Queued,
            _ => Delivered::Started,
        }
    }
}

/// The run that took, or will be followed by, a follow-up.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedUp {
    pub run: Run,
    pub delivered: Delivered,
}

/// What one look at an attempt decided about a follow-up, already written down.
#[derive(Debug)]
enum Plan {
    NoSuchAttempt,
    NoRun,
    /// A comment cannot be sent with it.
    Unsendable(comments::Unsendable),
    /// Another attempt works in the person's checkout.
    InPlaceTaken,
    /// The run is being stopped: look again when it is over.
    Wait(RunId),
    Took {
        run: RunId,
        delivered: Delivered,
    },
    Start(Box<Intent>),
}

impl Engine {
    /// Tells an attempt's agent more.
    pub async fn follow_up(&self, id: AttemptId, follow: FollowUp, key: Option<Key>) -> Result<FollowedUp> {
        let engine = self.clone();
        detached(async move { engine.deliver(id, follow, key).await }).await
    }

    async fn deliver(&self, id: AttemptId, follow: FollowUp, key: Option<Key>) -> Result<FollowedUp> {
        if follow.prompt.trim().is_empty() {
            return Err(Error::invalid("`prompt` must be a text that is not blank"));
        }
        let _turn = match self.once(key.as_ref()).await? {
            Once::Repeat(call) => {
                let delivered = Delivered::read(&call.delivered);
                return Ok(FollowedUp { run: self.run(call.run).await?, delivered });
            }
            Once::Do(turn) => turn,
        };
        if let Some(variant) = &follow.variant {
            // Told now, because a follow-up that has to wait would find out when nobody listens any more.
            let attempt = self.attempt(id).await?.attempt;
            let profile = ProfileId::new(&attempt.profile.agent, Some(variant))
                .map_err(|error| Error::invalid(format!("`variant`: {error}")))?;
            self.settings(&profile, Some(attempt.project)).await?;
        }
        if !follow.images.is_empty() {
            self.check_images(&follow.images).await?;
            let attempt = self.attempt(id).await?.attempt;
            // A running agent may look as soon as it is told. Where there is no worktree, nothing will be told.
            if !attempt.in_place && is_dir(&attempt.worktree).await? {
                self.put_images(None, &follow.images, &attempt.worktree).await?;
            }
        }
        let mut follow = follow;
        if self.attempt(id).await?.attempt.in_place {
            follow.prompt = self.at_home(&follow.prompt);
        }
        let limits = self.limits_or_last().await;
        let told = follow.prompt.clone();
        loop {
            let (follow, key, queue_id) = (follow.clone(), key.clone(), RunId::random().to_string());
            let plan = self.inner.store.write(move |tx| plan(tx, id, &follow, key, queue_id, limits)).await?;
            self.inner.seam.pass("follow.recorded", "").await;
            match plan {
                Plan::NoSuchAttempt => return Err(Error::not_found(format!("there is no attempt {id}"))),
                Plan::NoRun => {
                    return Err(Error::conflict(format!("attempt {id} has no run to follow up on")));
                }
                Plan::Unsendable(comment) => return Err(comment.refused(id)),
                Plan::InPlaceTaken => return Err(in_place::taken()),
                // Nothing follows by itself on a run that is stopped, so this is not put in its queue.
                Plan::Wait(run) => self.until_over(run).await.map(drop)?,
                Plan::Took { run, delivered } => {
                    self.tell(run);
                    self.inner.line.look();
                    return Ok(FollowedUp { run: self.run(run).await?, delivered });
                }
                Plan::Start(intent) => {
                    let started = self.start_again(*intent).await;
                    if started.is_err() {
                        // What was told to wait for this turn waits for nothing now.
                        self.start_next(id).await;
                    }
                    let run = started?;
                    // What has to come first was started, and the follow-up waits behind it.
                    let is_it = run.kind == RunKind::Agent && run.prompt == told;
                    let delivered = if is_it { Delivered::Started } else { Delivered::Queued };
                    return Ok(FollowedUp { run, delivered });
                }
            }
        }
    }

    /// Starts what waits first in an attempt's queue. The attempt counts as running while this goes on; when
    /// it cannot be started, it has failed and says why.
    pub(crate) async fn start_next(&self, id: AttemptId) {
        let limits = self.limits_or_last().await;
        let next = self.inner.store.write(move |tx| chain::intend_next_within(tx, id, None, limits)).await;
        self.inner.line.look();
        match next {
            Ok(Some(intent)) => self.start_turn(intent).await,
            Ok(None) => {}
            Err(error) => self.turn_failed(id, &error.into()).await,
        }
    }

    /// Starts a turn from the queue whose intent is written down.
    pub(crate) async fn start_turn(&self, intent: Intent) {
        let id = intent.attempt;
        if let Err(error) = self.start_again(intent).await {
            self.turn_failed(id, &error).await;
        }
    }

    /// Marks an attempt whose next turn could not be started as failed.
    pub(crate) async fn turn_failed(&self, id: AttemptId, error: &Error) {
        tracing::warn!(attempt.id = %id, "the next turn of attempt {id} could not be started: {error}");
        let reason = format!("the next turn could not be started: {error}");
        let failed = AttemptHappened::RunEnded { outcome: RunState::Failed, more: false };
        let told = self.inner.store.write(move |tx| {
            if chain::work_run(tx.conn(), id)?.is_some() {
                // Somebody else has started another turn meanwhile.
                return Ok(None);
            }
            // An attempt at rest was about to go on.
            moves::attempt(tx, id, AttemptHappened::Started, None)?;
            moves::attempt(tx, id, failed, Some(reason))
        });
        if let Err(error) = told.await {
            tracing::warn!(attempt.id = %id, "attempt {id} could not be marked as failed: {error}");
        }
    }

    /// Starts a further run in a worktree that is there already.
    pub(crate) async fn start_again(&self, mut intent: Intent) -> Result<Run> {
        let made = self.try_start_again(&mut intent).await;
        if made.is_err() {
            self.undo(&intent).await;
            self.inner.seam.pass("start.undone", "").await;
        }
        made
    }

    async fn try_start_again(&self, intent: &mut Intent) -> Result<Run> {
        if intent.script.is_none() {
            self.check_agent(&intent.profile, intent.project).await?;
        }
        self.check_room(&intent.worktree).await?;
        let (engine, repository) = (self.clone(), intent.repository.clone());
        let was_there = is_dir(&intent.worktree).await?;
        let worktree = self.ensure_worktree(intent.attempt).await?;
        if !was_there {
            intent.note = self.bring_files(intent).await?;
        }
        if !was_there && intent.script.is_none() {
            let turn = intent.clone();
            *intent = self.inner.store.write(move |tx| chain::set_up_first(tx, &turn)).await?;
        }
        self.remember(intent).await?;
        let in_place = intent.in_place;
        let head = blocking(move || -> Result<_> {
            let repo = engine.repo(&repository)?;
            Ok(if in_place { repo.head()? } else { Some(repo.worktree(&worktree)?.head()?) })
        });
        let head = head.await??;
        if let What::Run { before_head, .. } = &mut intent.what {
            *before_head = head;
        }
        self.make_process(intent).await
    }
}

/// Decides about a follow-up and writes the decision down, in one transaction.
fn plan(
    tx: &mut Tx<'_>,
    id: AttemptId,
    follow: &FollowUp,
    key: Option<Key>,
    queue_id: String,
    limits: Limits,
) -> std::result::Result<Plan, StoreError> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(Plan::NoSuchAttempt) };
    if let Some(comment) = comments::unsendable(tx.conn(), id, &follow.comments)? {
        return Ok(Plan::Unsendable(comment));
    }
    if let Some(task) = view.attempt.task {
        images::add_to_task(tx.conn(), task, &follow.images, tx.now())?;
    }
    if view.attempt.state == AttemptState::Queued {
        return Ok(Plan::NoRun);
    }
    let live = chain::work_run(tx.conn(), id)?;
    let starting = chain::is_starting(tx.conn(), id)?;
    let project = view.attempt.project;
    if live.is_none() && view.attempt.in_place && in_place::is_taken(tx.conn(), project, id)? {
        return Ok(Plan::InPlaceTaken);
    }
    let held = live.is_none()
        && !starting
        && !view.attempt.state.is_live()
        && (held::has(tx.conn(), id)? || !may_run(tx.conn(), limits, project, id)?);
    let (run, delivered) = match live {
        // What came first is told first: nothing overtakes what waits already.
        Some(live) if can_inject(&live, &follow.variant) && queue::next(tx.conn(), id)?.is_none() => {
            let prompt = match view.attempt.in_place {
                // They were made absolute before.
                true => follow.prompt.clone(),
                false => with_absolute_images(&follow.prompt, &view.attempt.worktree.to_string_lossy()),
            };
            let (variant, images) = (follow.variant.clone(), follow.images.clone());
            let input = Input::Turn { prompt, variant, images };
            inputs::add(tx.conn(), live.run.id, &input.write(), tx.now())?;
            (live.run.id, Delivered::Injected)
        }
        Some(live) if live.stop_requested => return Ok(Plan::Wait(live.run.id)),
        Some(live) => (live.run.id, Delivered::Queued),
        None if starting || held || view.attempt.state.is_live() => match newest_work(tx, id)? {
            Some(run) => (run.id, Delivered::Queued),
            None => return Ok(Plan::NoRun),
        },
        None => {
            let intent = chain::intend_follow_up(tx, id, follow, queue_id.clone(), key)?;
            comments::go_out(tx, id, project, &follow.comments, &queue_id)?;
            return Ok(intent.map_or(Plan::NoSuchAttempt, |intent| Plan::Start(Box::new(intent))));
        }
    };
    comments::go_out(tx, id, project, &follow.comments, &queue_id)?;
    if delivered == Delivered::Queued {
        let waiting = Waiting {
            id: queue_id,
            prompt: follow.prompt.clone(),
            variant: follow.variant.clone(),
            images: Some(follow.images.clone()).filter(|images| !images.is_empty()),
        };
        queue::add(tx.conn(), id, &waiting, tx.now())?;
    }
    if held {
        hold_follow_up(tx, id, project)?;
    }
    tx.changed(Noun::Attempt, id, Op::Change, Some(view.attempt.project), Some(id));
    if let Some(key) = &key {
        let fingerprint = key.fingerprint.clone();
        let delivered = delivered.as_str().to_string();
        once::remember(tx, key, Call { fingerprint, attempt: id, run, delivered })?;
    }
    Ok(Plan::Took { run, delivered })
}

/// Says whether a running agent can be told more right now. Another variant needs another process.
fn can_inject(live: &runs::LiveRun, variant: &Option<String>) -> bool {
    let takes_it = live.run.kind == RunKind::Agent
        && launch::agent(&live.run.profile).is_ok_and(|agent| agent.capabilities().inject);
    let same_variant = variant.is_none()
        || ProfileId::new(&live.run.profile.agent, variant.as_deref()).is_ok_and(|id| id == live.run.profile);
    takes_it && same_variant && !live.closing && !live.stop_requested
}

/// Returns the newest run of an attempt that is no dev server.
fn newest_work(tx: &Tx<'_>, id: AttemptId) -> std::result::Result<Option<Run>, StoreError> {
    let runs = runs::of_attempt(tx.conn(), id)?;
    Ok(runs.into_iter().rfind(|run| run.kind != RunKind::DevServer))
}
