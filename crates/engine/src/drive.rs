//! Looking after one run: reading its log, telling it what comes from outside, noticing its end.
//!
//! One task owns one run, from its start or from a restart of the server until its end; both begin by
//! folding the log, from the newest checkpoint beside it or from the first byte, so there is nothing to remember.
//! Whatever is sent has a number that the shim knows, so sending again after a crash sends nothing twice.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forge_model::state::AttemptHappened;
use forge_model::{Ask, AskId, AskState, AttemptId, Noun, Op, Run, RunId, RunKind, RunState};
use forge_process::{Control, Liveness, Spawned};
use tokio::sync::Notify;

use crate::ask_rules::{self, Opened};
use crate::background::{blocking, is_dir};
use crate::finish::Ending;
use crate::fold::{Effects, Outcome, Progress};
use crate::folding::{Folding, Read};
use crate::stalled::Evidence;
use crate::store::{asks, attempts, cards, inputs, runs, snapshots, usages};
use crate::{Engine, Result, go_on, launch, limited, moves};

/// How long an agent may stay on after its last turn, once nothing more can be said to it. Some wait for what they
/// started themselves, and that may never end.
const LINGER: Duration = Duration::from_secs(10);

/// How long a driver waits before it tries again after a failure of the store or the disk; twice as long each time,
/// up to the longest. One that went on for longer than that has begun anew.
const TRY_AGAIN: Duration = Duration::from_secs(1);
const TRY_AT_LEAST: Duration = Duration::from_secs(60);

/// The way to wake the task that looks after a run.
#[derive(Debug)]
pub(crate) struct Handle {
    attempt: AttemptId,
    wake: Notify,
    /// What the agent has shown of itself.
    evidence: Mutex<Option<Evidence>>,
    /// What the agent does now, in words.
    activity: Mutex<Option<String>>,
    /// There may be inputs that were not told yet.
    told: AtomicBool,
}

impl Handle {
    fn of(run: &Run) -> Self {
        let (wake, told) = (Notify::new(), AtomicBool::new(false));
        Self { attempt: run.attempt, wake, evidence: Mutex::new(None), activity: Mutex::new(None), told }
    }

    fn evidence(&self) -> MutexGuard<'_, Option<Evidence>> {
        self.evidence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what the agent does now; says whether that is something else.
    fn does(&self, activity: Option<String>) -> bool {
        let mut known = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = *known != activity;
        *known = activity;
        is_news
    }

    /// Waits until something may have changed.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }
}

impl Engine {
    /// Begins to look after a run.
    pub(crate) fn attach(&self, run: Run, spawned: Option<Spawned>) {
        let handle = Arc::new(Handle::of(&run));
        self.handles().insert(run.id, handle.clone());
        let engine = self.clone();
        let id = run.id;
        let is_begun = self.aside(async move {
            let (mut wait, mut begun) = (TRY_AGAIN, Instant::now());
            while let Err(error) = engine.drive(&run, &handle).await {
                wait = next_wait(wait, begun.elapsed());
                let trouble = format!(
                    "Forge cannot follow run {}: {error}; it tries again in {} s",
                    run.id,
                    wait.as_secs()
                );
                tracing::warn!(run.id = %run.id, "{trouble}");
                if handle.does(Some(trouble)) {
                    engine.acts(run.attempt);
                }
                tokio::time::sleep(wait).await;
                (wait, begun) = (wait * 2, Instant::now());
            }
            engine.handles().remove(&run.id);
            if let Some(spawned) = spawned {
                // The shim ends right after its exit record; collecting it keeps no zombie around.
                tokio::task::spawn_blocking(move || spawned.reap());
            }
        });
        if !is_begun {
            // The engine is closed; the next one looks after it.
            self.handles().remove(&id);
        }
    }

    /// Wakes the task that looks after a run, because there is something to tell it.
    pub(crate) fn tell(&self, run: RunId) {
        if let Some(handle) = self.handles().get(&run) {
            handle.told.store(true, Ordering::SeqCst);
            handle.wake.notify_one();
        }
    }

    /// Returns what the running agent of an attempt has shown of itself.
    pub(crate) fn evidence(&self, attempt: AttemptId) -> Option<Evidence> {
        let handles = self.handles();
        let mut of_attempt = handles.values().filter(|handle| handle.attempt == attempt);
        of_attempt.find_map(|handle| handle.evidence().clone())
    }

    /// Returns what the running agent of an attempt does now.
    pub(crate) fn activity(&self, attempt: AttemptId) -> Option<String> {
        let handles = self.handles();
        let mut of_attempt = handles.values().filter(|handle| handle.attempt == attempt);
        of_attempt.find_map(|handle| handle.activity.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Says whether any agent runs that has shown anything of itself.
    pub(crate) fn has_evidence(&self) -> bool {
        self.handles().values().any(|handle| handle.evidence().is_some())
    }

    fn handles(&self) -> MutexGuard<'_, std::collections::HashMap<RunId, Arc<Handle>>> {
        self.inner.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks after a run until it is over.
    async fn drive(&self, run: &Run, handle: &Arc<Handle>) -> Result<()> {
        let dir = self.inner.paths.run(run.id);
        if !is_dir(&dir).await? {
            // Somebody removed it; what runs there would run on with nobody to look after it.
            let (marker, owners) = (run.id.to_string(), self.owners());
            blocking(move || forge_process::sweep(&marker, &dir, &owners))
                .await?
                .map_err(|error| launch::process_error(&error))?;
            return self.finish(run, Ending::Gone, Outcome::default()).await;
        }
        let wake = handle.clone();
        let _watch = self
            .inner
            .watcher
            .watch(&dir, move || wake.wake.notify_one())
            .map_err(|error| launch::process_error(&error))?;
        if run.kind != RunKind::Agent {
            return self.drive_script(run, handle).await;
        }
        let turn = self.turn(run).await?;
        let agent = launch::agent(&run.profile)?;
        let claim = self.inner.entries.room(run.id).claim().await;
        let (place, worktree) = (dir.clone(), turn.worktree.clone());
        let (mut log, first) = blocking(move || Folding::open(place, agent, &turn, claim)).await??;
        let mut teller =
            Teller { engine: self, run, handle, dir: dir.clone(), sends: VecDeque::new(), known: None };
        handle.told.store(true, Ordering::SeqCst);
        self.learn(run, &first).await?;
        teller.sends.extend(first.sends);
        loop {
            let (back, seen) = blocking(move || {
                let seen = log.read();
                (log, seen)
            })
            .await?;
            log = back;
            let seen = seen?;
            self.learn(run, &seen.effects).await?;
            if !seen.effects.asks.is_empty() {
                log = blocking(move || {
                    log.show();
                    log
                })
                .await?;
            }
            teller.sends.extend(seen.effects.sends);
            *handle.evidence() = log.fold.evidence();
            let is_alive = !matches!(seen.state, Read::End(Liveness::Exited(_) | Liveness::Gone));
            if handle.does(log.activity().filter(|_| is_alive)) && is_alive {
                self.acts(run.attempt);
            }
            match seen.state {
                // An agent that never pauses must still be told things.
                Read::More if teller.known.is_some() => {
                    teller.tell(log.fold.progress(), log.fold.outcome()).await?;
                }
                Read::More => {}
                Read::End(Liveness::Alive) => {
                    let notes = log.fold.progress().notes;
                    if self.grant(run, &worktree, log.fold.wishes(), notes).await? {
                        handle.told.store(true, Ordering::SeqCst);
                    }
                    teller.tell(log.fold.progress(), log.fold.outcome()).await?;
                    // Entries that were held back are shown in time, also when nothing more comes.
                    let due = log.due();
                    let lingers = log.fold.outcome().done && teller.is_closed();
                    let is_woken = match due.or(lingers.then_some(LINGER)) {
                        Some(most) => tokio::time::timeout(most, handle.wake.notified()).await.is_ok(),
                        None => {
                            handle.wake.notified().await;
                            true
                        }
                    };
                    if lingers && due.is_none() && !is_woken {
                        tracing::info!(run.id = %run.id, "run {} is done and stays on; it is let go", run.id);
                        self.ladder(run.id).await?;
                    }
                }
                Read::End(Liveness::Exited(exit)) => {
                    let end = exit.clone();
                    let (back, outcome) = blocking(move || {
                        let outcome = log.outcome(Some(&end));
                        (log, outcome)
                    })
                    .await?;
                    log = back;
                    self.finish(run, Ending::Exited(exit), outcome).await?;
                    return blocking(move || log.close()).await;
                }
                Read::End(Liveness::Gone) => {
                    self.finish_lost(run, log.outcome(None)).await?;
                    return blocking(move || log.close()).await;
                }
            }
        }
    }

    /// Ends a run whose shim is gone: what it left running is ended, and its log cut to what is whole.
    pub(crate) async fn finish_lost(&self, run: &Run, outcome: Outcome) -> Result<()> {
        let (marker, dir, owners) = (run.id.to_string(), self.inner.paths.run(run.id), self.owners());
        blocking(move || {
            forge_process::sweep(&marker, &dir, &owners)?;
            forge_process::recover(&dir)
        })
        .await?
        .map_err(|error| launch::process_error(&error))?;
        self.finish(run, Ending::Gone, outcome).await
    }

    /// Writes down what the log says: asks, the session, what was used.
    async fn learn(&self, run: &Run, effects: &Effects) -> Result<()> {
        if !effects.is_news() {
            return Ok(());
        }
        let (of, run, attempt) = (run.clone(), run.id, run.attempt);
        let (asked, withdrawn) = (effects.asks.clone(), effects.withdrawn.clone());
        let (session, usage) = (effects.session.clone(), effects.usage.clone());
        let (limit, todos) = (effects.limit, effects.todos);
        let told = self
            .inner
            .store
            .write(move |tx| {
                let mut told = false;
                let Some(view) = attempts::one(tx.conn(), attempt)? else { return Ok(told) };
                let project = Some(view.attempt.project);
                let mut changed = false;
                if let Some(session) = session {
                    changed |= attempts::set_session(tx.conn(), attempt, &session, tx.now())?;
                }
                if let Some(todos) = todos {
                    changed |= cards::set_todos(tx.conn(), attempt, todos)?;
                }
                for used in &usage {
                    usages::put(tx.conn(), &view, &of, used)?;
                    runs::set_usage(tx.conn(), run, used.total)?;
                }
                if !usage.is_empty() {
                    attempts::sum_usage(tx.conn(), attempt, tx.now())?;
                    changed = true;
                }
                if changed {
                    tx.changed(Noun::Attempt, attempt, Op::Change, project, Some(attempt));
                }
                if let Some(limit) = limit {
                    limited::heard(tx, attempt, run, limit)?;
                }
                for wanted in asked {
                    let ask = Ask {
                        id: AskId::random(),
                        run,
                        attempt,
                        key: wanted.key,
                        kind: wanted.kind,
                        tool: wanted.tool,
                        text: wanted.text,
                        input: wanted.input,
                        state: AskState::Open,
                        answer: None,
                        created_at: tx.now(),
                        answered_by: None,
                        answered_at: None,
                    };
                    told |= ask_rules::open(tx, &view, ask)? == Opened::Answered;
                }
                for key in withdrawn {
                    if let Some(ask) = asks::close_key(tx.conn(), run, &key, tx.now())? {
                        tx.changed(Noun::Ask, ask, Op::Change, project, Some(attempt));
                        let still_open = asks::open_of_attempt(tx.conn(), attempt)? > 0;
                        moves::attempt(tx, attempt, AttemptHappened::Answered { still_open }, None)?;
                    }
                }
                Ok(told)
            })
            .await?;
        if told {
            // A rule has answered.
            self.tell(run);
        }
        Ok(())
    }
}

/// Tells a run's process what it has not been told yet.
#[derive(Debug)]
struct Teller<'a> {
    engine: &'a Engine,
    run: &'a Run,
    handle: &'a Handle,
    dir: PathBuf,
    /// Texts that the conversation wants sent.
    sends: VecDeque<(u64, String)>,
    /// What the shim has, once it was asked.
    known: Option<Known>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    notes: u64,
    inputs: u64,
    closed: bool,
}

impl Teller<'_> {
    /// Brings the shim up to date; does nothing when there is nothing to tell.
    async fn tell(&mut self, fold: Progress, outcome: Outcome) -> Result<()> {
        let told = self.handle.told.swap(false, Ordering::SeqCst);
        let idle = fold.idle && self.known.is_none_or(|known| !known.closed);
        if !told && self.sends.is_empty() && !idle {
            return Ok(());
        }
        match self.try_tell(fold, outcome, told).await {
            Ok(()) => Ok(()),
            // A process that has just ended cannot be told anything; its end is noticed by the next look.
            Err(_) if !self.is_alive().await? => Ok(()),
            Err(error) => {
                self.handle.told.store(true, Ordering::SeqCst);
                Err(error)
            }
        }
    }

    /// Nothing more can be said to it.
    fn is_closed(&self) -> bool {
        self.known.is_some_and(|known| known.closed)
    }

    async fn is_alive(&self) -> Result<bool> {
        let dir = self.dir.clone();
        let liveness = blocking(move || forge_process::liveness(&dir)).await?;
        Ok(matches!(liveness, Ok(Liveness::Alive)))
    }

    async fn try_tell(&mut self, fold: Progress, outcome: Outcome, told: bool) -> Result<()> {
        let mut known = match self.known {
            Some(known) => known,
            None => {
                let status = self.told(self.control(|control| control.status()).await?)?;
                Known { notes: status.notes, inputs: status.inputs, closed: status.input_closed }
            }
        };
        self.known = Some(known);
        if told {
            let run = self.run.id;
            let after = i64::try_from(known.notes).unwrap_or(i64::MAX);
            let new = self.engine.inner.store.read(move |conn| inputs::after(conn, run, after)).await?;
            for (ordinal, body) in new {
                let ordinal = ordinal.unsigned_abs();
                self.told(self.control(move |control| control.note(ordinal, &body)).await?)?;
                known.notes = ordinal;
                self.known = Some(known);
                self.engine.inner.seam.pass("tell.noted", "").await;
            }
        }
        while let Some((ordinal, text)) = self.sends.pop_front() {
            if ordinal > known.inputs {
                let again = text.clone();
                match self.control(move |control| control.input(ordinal, &text)).await? {
                    Ok(_) => {}
                    // An agent that takes nothing more is left to its end; what it did not hear waits for the
                    // next one.
                    Err(forge_process::Error::InputClosed { .. }) => {
                        known.closed = true;
                        self.known = Some(known);
                        self.sends.clear();
                        return Ok(());
                    }
                    Err(error) => {
                        self.sends.push_front((ordinal, again));
                        return Err(launch::process_error(&error));
                    }
                }
                known.inputs = ordinal;
                self.known = Some(known);
                self.engine.inner.seam.pass("tell.sent", "").await;
            }
        }
        if fold.idle
            && !known.closed
            && fold.notes == known.notes
            && self.close(known.notes, &outcome).await?
        {
            let ordinal = fold.sends + 1;
            match self.control(move |control| control.close_input(ordinal)).await? {
                // It closed its end first, which is the same.
                Ok(_) | Err(forge_process::Error::InputClosed { .. }) => {}
                Err(error) => return Err(launch::process_error(&error)),
            }
            known.closed = true;
            self.known = Some(known);
        }
        Ok(())
    }

    /// Closes the run to further input, unless something more came in or waits that this process can be told; says
    /// whether it is closed.
    async fn close(&self, notes: u64, outcome: &Outcome) -> Result<bool> {
        let run = self.run.id;
        let told = i64::try_from(notes).unwrap_or(i64::MAX);
        let goes_on = !outcome.failed && self.goes_on(outcome).await?;
        let of = self.run.clone();
        let closed = self
            .engine
            .inner
            .store
            .write(move |tx| {
                if goes_on && go_on::tell_next(tx, &of, told)? {
                    return Ok(false);
                }
                if runs::close(tx.conn(), run, told)? {
                    return Ok(true);
                }
                Ok(runs::one(tx.conn(), run)?.is_some_and(|live| live.closing))
            })
            .await?;
        if !closed {
            self.handle.told.store(true, Ordering::SeqCst);
            self.handle.wake.notify_one();
        }
        Ok(closed)
    }

    /// Says whether something waits that this process can be told; what the turn did is kept then, as at a run's end.
    async fn goes_on(&self, outcome: &Outcome) -> Result<bool> {
        let (of, attempt) = (self.run.clone(), self.run.attempt);
        if !self.engine.inner.store.read(move |conn| go_on::can(conn, &of)).await? {
            return Ok(false);
        }
        let work = self.engine.keep_work(self.run, RunState::Completed, outcome).await?;
        if let Some(trouble) = work.trouble {
            tracing::warn!(attempt.id = %attempt, "after a turn of attempt {attempt}: {trouble}");
        }
        if let Some(taken) = work.snapshot {
            let run = self.run.id;
            let kept =
                self.engine.inner.store.write(move |tx| {
                    snapshots::insert(tx.conn(), attempt, Some(run), &taken, "turn", tx.now())
                });
            kept.await?;
        }
        Ok(true)
    }

    async fn control<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Control) -> std::result::Result<T, forge_process::Error> + Send + 'static,
    ) -> Result<std::result::Result<T, forge_process::Error>> {
        let dir = self.dir.clone();
        blocking(move || {
            let mut control = Control::connect(&dir)?;
            act(&mut control)
        })
        .await
    }

    fn told<T>(&self, answer: std::result::Result<T, forge_process::Error>) -> Result<T> {
        answer.map_err(|error| launch::process_error(&error))
    }
}

/// How long a driver waits after a failure, when it would have waited `wait` and went on for `held` before it.
fn next_wait(wait: Duration, held: Duration) -> Duration {
    if held > TRY_AT_LEAST { TRY_AGAIN } else { wait.min(TRY_AT_LEAST) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_fails_again_and_again_waits_up_to_a_minute_and_one_that_held_begins_anew() {
        let mut wait = TRY_AGAIN;
        let mut waits = Vec::new();
        for _ in 0..8 {
            wait = next_wait(wait, Duration::from_secs(2));
            waits.push(wait.as_secs());
            wait *= 2;
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(next_wait(wait, TRY_AT_LEAST * 2), TRY_AGAIN);
    }
}
