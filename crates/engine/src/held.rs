//! Starts that a limit holds back: written down in their order, and started in it when there is room.
//!
//! A new attempt that has to wait is visible at once, with its id and its branch's name, and has no worktree and no
//! process. A follow-up that has to wait is in its attempt's queue, and the attempt stays at rest. Whether there is
//! room is decided in the transaction that writes the start down, so two never take the same room.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forge_model::state::AttemptHappened;
use forge_model::{AttemptId, AttemptState, Noun, Op, ProjectId, RunId, RunState, Task, TaskStatus};
use serde::{Deserialize, Serialize};

use crate::background::blocking;
use crate::chain::{intend_next, work_run};
use crate::intent::{Base, Intent, What, shown};
use crate::limits::{Limits, Running};
use crate::once;
use crate::store::calls::Call;
use crate::store::held::{self, Waiter};
use crate::store::{Conn, Error as StoreError, Tx, attempts, images, starts, tasks};
use crate::worktree::Failure;
use crate::{Engine, Error, Result, aside, moves, standing_agents};

/// How soon it is looked again when nothing rang: an edit of the settings by hand and room on the disk ring no bell.
const AGAIN: Duration = Duration::from_secs(2);

/// How long a start that was begun may take to come to its end: a large checkout on a slow disk takes its time.
const START_ENDS: Duration = Duration::from_secs(300);

/// How many of those behind are told that their place has changed.
const TOLD: usize = 100;

/// What may keep going wrong here, as the log calls it.
const LOOK: &str = "the look after those that wait";
const ROOM: &str = "room on the disk for those that wait";

/// What waits for room.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "held", rename_all = "snake_case")]
enum Held {
    /// The first run of an attempt.
    Start { intent: Box<Intent>, base_branch: String },
    /// What stands first in the queue of an attempt at rest.
    FollowUp,
}

/// What the look after those that wait needs to remember between two looks.
#[derive(Debug)]
pub(crate) struct Line {
    /// Something may wait; false saves every look.
    any: AtomicBool,
    /// Nothing is started any more.
    closed: AtomicBool,
    wake: tokio::sync::Notify,
    /// Projects in which one that waited is being started: within a project the next begins after it.
    starting: Mutex<HashSet<ProjectId>>,
    /// Rings when one of those has been started, or could not be.
    started: tokio::sync::Notify,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            any: AtomicBool::new(true),
            closed: AtomicBool::new(false),
            wake: tokio::sync::Notify::new(),
            starting: Mutex::default(),
            started: tokio::sync::Notify::new(),
        }
    }
}

impl Line {
    /// Has those that wait looked after soon.
    pub(crate) fn look(&self) {
        self.any.store(true, Ordering::SeqCst);
        self.wake.notify_one();
    }

    fn starting(&self) -> std::sync::MutexGuard<'_, HashSet<ProjectId>> {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says whether an attempt may run now: there is room beside those that run, and nobody who waits could use it.
pub(crate) fn may_run(
    conn: &Conn,
    limits: Limits,
    project: ProjectId,
    attempt: AttemptId,
) -> std::result::Result<bool, StoreError> {
    if limits.is_off() {
        return Ok(true);
    }
    let running = Running::besides(conn, attempt)?;
    if !limits.leave_room(&running, project) {
        return Ok(false);
    }
    let waiting = held::all(conn)?;
    Ok(!waiting.iter().any(|other| other.attempt != attempt && limits.leave_room(&running, other.project)))
}

/// Makes a new attempt visible as one that waits, with its task when that is new.
pub(crate) fn hold_start(
    tx: &mut Tx<'_>,
    intent: &Intent,
    base: &Base,
) -> std::result::Result<(), StoreError> {
    let mut intent = intent.clone();
    let key = intent.key.take();
    let images = std::mem::take(&mut intent.images);
    let What::Attempt { task, new_task, branch, base: settled, held: is_held } = &mut intent.what else {
        return Ok(());
    };
    // Settled anew when its turn comes: the branch may have moved on by then.
    (*settled, *is_held) = (None, true);
    let project = Some(intent.project);
    if let (Some(task), Some(body)) = (*task, new_task.take()) {
        let mut row =
            Task { id: task, created_at: intent.at, updated_at: intent.at, ..shown(&body, intent.project) };
        row.status = if intent.in_place { TaskStatus::Agent } else { row.status };
        tasks::insert(tx.conn(), &row)?;
        tx.changed(Noun::Task, task, Op::Add, project, None);
        if intent.in_place {
            standing_agents::add_chat(tx, intent.project, task)?;
        }
    } else if let Some(task) = *task {
        tx.changed(Noun::Task, task, Op::Change, project, None);
    }
    if let Some(task) = *task {
        images::add_to_task(tx.conn(), task, &images, intent.at)?;
    }
    let (task, branch) = (*task, branch.clone());
    let mut row = intent.attempt_row(task, &branch, Some(base));
    row.state = AttemptState::Queued;
    attempts::insert(tx.conn(), &row)?;
    tx.changed(Noun::Attempt, intent.attempt, Op::Add, project, Some(intent.attempt));
    if let Some(key) = &key {
        let (fingerprint, delivered) = (key.fingerprint.clone(), "queued".to_string());
        once::remember(tx, key, Call { fingerprint, attempt: intent.attempt, run: intent.run, delivered })?;
    }
    let (attempt, project, at) = (intent.attempt, intent.project, intent.at);
    let body = Held::Start { intent: Box::new(intent), base_branch: base.branch.clone() };
    held::add(tx.conn(), &Waiter { attempt, project, body: written(&body)? }, at)
}

/// Puts an attempt at rest into the line: what stands first in its queue is sent when there is room.
pub(crate) fn hold_follow_up(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    project: ProjectId,
) -> std::result::Result<(), StoreError> {
    if !held::has(tx.conn(), attempt)? {
        let waiter = Waiter { attempt, project, body: written(&Held::FollowUp)? };
        held::add(tx.conn(), &waiter, tx.now())?;
    }
    tx.changed(Noun::Attempt, attempt, Op::Change, Some(project), Some(attempt));
    Ok(())
}

/// Takes an attempt out of the line. One that never ran is stopped by that; a follow-up stays in its queue.
pub(crate) fn give_up(tx: &mut Tx<'_>, attempt: AttemptId) -> std::result::Result<bool, StoreError> {
    if starts::of_attempt(tx.conn(), attempt)? || !held::delete(tx.conn(), attempt)? {
        return Ok(false);
    }
    let reason = Some("given up before it was started".to_string());
    if moves::attempt(tx, attempt, AttemptHappened::GivenUp, reason)?.is_some() {
        attempts::never_made(tx.conn(), attempt)?;
    } else if let Some(view) = attempts::one(tx.conn(), attempt)? {
        tx.changed(Noun::Attempt, attempt, Op::Change, Some(view.attempt.project), Some(attempt));
    }
    places_changed(tx)?;
    Ok(true)
}

fn written(held: &Held) -> std::result::Result<String, StoreError> {
    serde_json::to_string(held).map_err(|error| StoreError::Other(error.to_string()))
}

/// Tells those that wait that somebody before them is gone.
fn places_changed(tx: &mut Tx<'_>) -> std::result::Result<(), StoreError> {
    for waiter in held::all(tx.conn())?.into_iter().take(TOLD) {
        let attempt = waiter.attempt;
        tx.changed(Noun::Attempt, attempt, Op::Change, Some(waiter.project), Some(attempt));
    }
    Ok(())
}

impl Engine {
    /// Starts what waits whenever there is room, for as long as the engine lives.
    pub(crate) fn keep_starting(&self) {
        // Nothing of the engine is held while waiting: it must be able to end.
        let (inner, line) = (Arc::downgrade(&self.inner), self.inner.line.clone());
        let mut bell = self.bell();
        self.aside(async move {
            while !line.closed.load(Ordering::SeqCst) {
                bell.mark_unchanged();
                if line.any.swap(false, Ordering::SeqCst) {
                    let Some(inner) = inner.upgrade() else { return };
                    let engine = Engine { inner };
                    match engine.admit().await {
                        Ok(()) => engine.inner.troubles.is_over(LOOK),
                        Err(error) => {
                            let trouble = format!("what waits for room could not be looked after: {error}");
                            engine.inner.troubles.meet(LOOK, &trouble);
                            line.any.store(true, Ordering::SeqCst);
                        }
                    }
                }
                let waits = line.any.load(Ordering::SeqCst);
                let rung = tokio::select! {
                    () = line.wake.notified() => Ok(()),
                    rung = bell.changed() => rung,
                    () = tokio::time::sleep(AGAIN), if waits => Ok(()),
                };
                if rung.is_err() {
                    return;
                }
            }
        });
    }

    /// Starts what there is room for, in order.
    async fn admit(&self) -> Result<()> {
        loop {
            if self.inner.line.closed.load(Ordering::SeqCst) || !self.inner.store.read(held::any).await? {
                return Ok(());
            }
            // Whatever happens next, somebody waits and must be looked after again.
            self.inner.line.any.store(true, Ordering::SeqCst);
            let limits = self.limits_or_last().await;
            let busy = self.inner.line.starting().clone();
            let look = busy.clone();
            let next = self.inner.store.read(move |conn| admissible(conn, limits, &look)).await?;
            if next.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.check_room(&self.inner.paths.worktrees).await {
                self.inner.troubles.meet(ROOM, &format!("attempts that wait are not started: {error}"));
                return Ok(());
            }
            self.inner.troubles.is_over(ROOM);
            let admitted = self.inner.store.write(move |tx| admit_first(tx, limits, &busy)).await?;
            let Some(admitted) = admitted else { continue };
            self.inner.seam.pass("held.admitted", "").await;
            let project = admitted.intent.project;
            self.inner.line.starting().insert(project);
            let engine = self.clone();
            // It is written down as begun, so whoever closes waits for it.
            aside::along(async move {
                engine.start_held(admitted).await;
                engine.inner.line.starting().remove(&project);
                engine.inner.line.started.notify_waiters();
                engine.inner.line.look();
            });
        }
    }

    /// Starts one that has waited; when it cannot be started it has failed and says why, and the next goes on.
    async fn start_held(&self, admitted: Admitted) {
        let Admitted { mut intent, base_branch } = admitted;
        let (id, first) = (intent.attempt, base_branch.is_some());
        let made = match base_branch {
            None => self.start_again(intent).await.map(drop),
            Some(base_branch) => match self.make_held(&mut intent, base_branch).await {
                Ok(()) => Ok(()),
                Err(error) => {
                    self.undo(&intent).await;
                    Err(error)
                }
            },
        };
        let Err(error) = made else { return };
        tracing::warn!(attempt.id = %id, "attempt {id} could not be started when its turn came: {error}");
        let reason = format!("it could not be started when its turn came: {error}");
        let told = self.inner.store.write(move |tx| {
            held::delete(tx.conn(), id)?;
            if work_run(tx.conn(), id)?.is_some() {
                // Somebody else has started another turn meanwhile.
                return Ok(());
            }
            if first {
                attempts::never_made(tx.conn(), id)?;
            }
            // One at rest was about to go on.
            moves::attempt(tx, id, AttemptHappened::Started, None)?;
            let failed = AttemptHappened::RunEnded { outcome: RunState::Failed, more: false };
            moves::attempt(tx, id, failed, Some(reason))?;
            places_changed(tx)
        });
        if let Err(error) = told.await {
            tracing::warn!(attempt.id = %id, "attempt {id} could not be marked as failed: {error}");
        }
    }

    async fn make_held(&self, intent: &mut Intent, base_branch: String) -> Result<()> {
        self.check_agent(&intent.profile, intent.project).await?;
        if intent.in_place {
            let stands = self.where_it_stands(&intent.repository).await?;
            if let What::Attempt { base, branch, .. } = &mut intent.what {
                branch.clone_from(&stands.branch);
                *base = Some(stands);
            }
            return self.make_process(intent).await.map(drop);
        }
        match self.make_worktree(intent, Some(base_branch)).await {
            Ok(()) => self.bring_and_make(intent).await.map(drop),
            Err(Failure::NameTaken) => {
                // What bears that name is somebody else's, and must not be taken back with this start.
                if let What::Attempt { base, branch, .. } = &mut intent.what {
                    *base = None;
                    return Err(Error::conflict(format!(
                        "the branch {branch} or the worktree {} was made by somebody else meanwhile",
                        intent.worktree.display()
                    )));
                }
                Err(Error::conflict("its name was taken meanwhile"))
            }
            Err(Failure::Other(error)) => Err(error),
        }
    }

    /// Takes everything out of the line, and lets nothing begin any more.
    pub(crate) async fn close_line(&self) -> Result<()> {
        self.inner.line.closed.store(true, Ordering::SeqCst);
        self.inner.line.wake.notify_one();
        let gone = self.inner.store.write(|tx| {
            for waiter in held::all(tx.conn())? {
                give_up(tx, waiter.attempt)?;
            }
            Ok(())
        });
        gone.await?;
        let line = &self.inner.line;
        let none_starts = async {
            loop {
                let started = line.started.notified();
                tokio::pin!(started);
                started.as_mut().enable();
                if line.starting().is_empty() {
                    return;
                }
                started.await;
            }
        };
        tokio::time::timeout(START_ENDS, none_starts).await.map_err(|_| {
            Error::unavailable(
                "an attempt that was being started is neither started nor given up yet; stop again",
            )
        })
    }

    /// Settles which branch an attempt that has to wait will start from, so that a mistake is told at once.
    pub(crate) async fn settle_base(
        &self,
        repository: &std::path::Path,
        asked: Option<String>,
    ) -> Result<Base> {
        let (engine, repository) = (self.clone(), repository.to_path_buf());
        blocking(move || crate::worktree::resolve_base(&engine.repo(&repository)?, &repository, asked))
            .await?
    }
}

/// Something that waited and is being started now.
#[derive(Debug)]
struct Admitted {
    intent: Intent,
    /// The branch that a new attempt starts from; none for a follow-up.
    base_branch: Option<String>,
}

/// Returns those that there is room for now, in order.
fn admissible(
    conn: &Conn,
    limits: Limits,
    busy: &HashSet<ProjectId>,
) -> std::result::Result<Vec<Waiter>, StoreError> {
    // None of those that wait runs, so none has to be left out.
    let running = Running::besides(conn, AttemptId::random())?;
    let mut waiting = held::all(conn)?;
    waiting.retain(|one| !busy.contains(&one.project) && limits.leave_room(&running, one.project));
    Ok(waiting)
}

/// Writes down the start of the first that there is room for.
fn admit_first(
    tx: &mut Tx<'_>,
    limits: Limits,
    busy: &HashSet<ProjectId>,
) -> std::result::Result<Option<Admitted>, StoreError> {
    for waiter in admissible(tx.conn(), limits, busy)? {
        let id = waiter.attempt;
        let admitted = match serde_json::from_str(&waiter.body) {
            Ok(Held::Start { mut intent, base_branch }) => {
                // What an earlier try that broke off has left under its own id is not in the way.
                intent.run = RunId::random();
                intent.at = tx.now();
                intent.insert(tx)?;
                Admitted { intent: *intent, base_branch: Some(base_branch) }
            }
            Ok(Held::FollowUp) => match intend_next(tx, id, None)? {
                Some(intent) => Admitted { intent, base_branch: None },
                // What waited was taken back, or was sent by somebody else.
                None => {
                    give_up(tx, id)?;
                    continue;
                }
            },
            Err(error) => {
                tracing::warn!(attempt.id = %id, "what attempt {id} waits for cannot be read: {error}");
                give_up(tx, id)?;
                continue;
            }
        };
        places_changed(tx)?;
        return Ok(Some(admitted));
    }
    Ok(None)
}
