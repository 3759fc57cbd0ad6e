//! What happens when a run ends: the only place.
//!
//! Called by the task that looks after the run, live or after a restart, so everything here is safe to do
//! twice: the work is committed and snapshotted first, then one guarded transaction ends the run.

use std::time::Duration;

use forge_model::state::{AttemptHappened, RunHappened, run_after};
use forge_model::{AskState, Noun, Op, Run, RunKind, RunState};
use forge_process::Exit;

use crate::chain::intend_next;
use crate::diffs::Summed;
use crate::fold::Outcome;
use crate::input::Input;
use crate::store::queue::{self, Waiting};
use crate::store::runs::{self, End};
use crate::store::{asks, attempts, inputs, snapshots};
use crate::{Engine, Result, detect, dev_server, keep_again, limited, moves, stale_locks};

/// How long the end of a run lets starts go first: somebody waits for those. Twenty at once in a repository of 5,000 files
/// take two to three seconds; what the ends of the first of them did meanwhile would slow down the last.
const STAND_BACK: Duration = Duration::from_secs(5);

/// How a process came to its end.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    /// It ended and left a record.
    Exited(Exit),
    /// It is gone and left none.
    Gone,
}

impl Engine {
    /// Ends a run: keeps its work, closes what it had open, and starts what waits behind it.
    pub(crate) async fn finish(&self, run: &Run, ending: Ending, outcome: Outcome) -> Result<()> {
        let (id, attempt, kind) = (run.id, run.attempt, run.kind);
        let found = self.inner.store.read(move |conn| runs::one(conn, id)).await?;
        let Some(live) = found.filter(|live| live.run.state == RunState::Running) else { return Ok(()) };
        let happened = happened(&ending, &outcome, live.stop_requested);
        let Ok(state) = run_after(live.run.state, happened) else { return Ok(()) };
        self.inner.calm.wait(STAND_BACK).await;
        let under_way = self.inner.calm.end();
        // Before the work is kept: a HEAD that was led astray is put back first.
        let first_look = self.look_behind(run).await;
        let work = self.keep_work(run, state, &outcome).await?;
        drop(under_way);
        let mut found = self.look_at_checkout(run, first_look).await;
        found.extend(work.locks.iter().map(|lock| stale_locks::finding(run, lock, crate::store::now())));
        let (exit_code, signal) = match &ending {
            Ending::Exited(exit) if !exit.stopped => (exit.code.map(i64::from), exit.signal.map(i64::from)),
            Ending::Exited(exit) => (None, exit.signal.map(i64::from)),
            Ending::Gone => (None, None),
        };
        let reason = reason(state, exit_code, signal, &outcome);
        // What a person stopped waits for no limit, and what ended well has none.
        let limit = outcome.limit.filter(|_| state == RunState::Failed && kind == RunKind::Agent);
        let forgotten = outcome.session_unknown && state == RunState::Failed && run.resumed_session.is_some();
        let until = limit.map(|limit| limited::sentence(limit.until));
        // What was said of the run when it began still holds.
        let said = [reason, until, unread(&outcome), work.trouble, live.run.reason];
        let said = said.into_iter().flatten().collect::<Vec<_>>();
        let reason = Some(said.join("; ")).filter(|said| !said.is_empty());
        let again = forgotten.then(|| Waiting {
            id: format!("again-{id}"),
            prompt: run.prompt.clone(),
            variant: run.profile.variant.clone(),
            images: None,
        });
        let is_owed = work.unkept.is_some();
        let summed = Summed::of(work.snapshot.as_ref());
        let end = End { state, after_head: work.after_head, exit_code, signal, reason: reason.clone() };
        let notes = i64::try_from(outcome.told).unwrap_or(i64::MAX);
        let next = self
            .inner
            .store
            .write(move |tx| {
                if !runs::end(tx.conn(), id, &end, tx.now())? {
                    return Ok(None);
                }
                let view = attempts::one(tx.conn(), attempt)?;
                let project = view.as_ref().map(|view| view.attempt.project);
                tx.changed(Noun::Run, id, Op::Change, project, Some(attempt));
                if kind == RunKind::DevServer {
                    dev_server::changed(tx, attempt)?;
                    return Ok(None);
                }
                if kind == RunKind::Setup && state == RunState::Completed {
                    attempts::set_setup(tx.conn(), attempt, Some(tx.now()))?;
                }
                if let Some(taken) = &work.snapshot {
                    snapshots::insert(tx.conn(), attempt, Some(id), taken, "turn", tx.now())?;
                }
                keep_again::note(tx, attempt, work.unkept.as_ref())?;
                detect::record(tx, attempt, &found)?;
                let closed = if state == RunState::Killed { AskState::Cancelled } else { AskState::Expired };
                for ask in asks::close_run(tx.conn(), id, closed, tx.now())? {
                    tx.changed(Noun::Ask, ask, Op::Change, project, Some(attempt));
                }
                // A turn that the process did not live to hear waits for the next one.
                for (ordinal, body) in inputs::after(tx.conn(), id, notes)? {
                    if let Some(Input::Turn { prompt, variant, images }) = Input::read(&body) {
                        let images = Some(images).filter(|images| !images.is_empty());
                        let waiting = Waiting { id: format!("{id}-{ordinal:08}"), prompt, variant, images };
                        queue::add(tx.conn(), attempt, &waiting, tx.now())?;
                    }
                }
                if let Some(again) = &again {
                    // It is told once more, in a conversation of its own that begins with a memo.
                    attempts::forget_session(tx.conn(), attempt, tx.now())?;
                    queue::add_first(tx.conn(), attempt, again, tx.now())?;
                }
                // Written down in the same breath: there is no moment at which nothing runs and nothing starts,
                // in which a stop or a removal could believe that all is over.
                let next = match state {
                    RunState::Killed => None,
                    // What waits would meet the same limit.
                    _ if limit.is_some() => None,
                    // Without what it sets up, an agent would work on sand.
                    RunState::Failed | RunState::Lost if kind == RunKind::Setup => None,
                    _ => intend_next(tx, attempt, None)?,
                };
                if kind == RunKind::Agent {
                    limited::ended(tx, attempt, id, limit)?;
                }
                let more = next.is_some();
                moves::attempt(tx, attempt, AttemptHappened::RunEnded { outcome: state, more }, end.reason)?;
                Ok(next)
            })
            .await?;
        self.inner.limited.ring();
        if is_owed {
            self.owe();
        }
        if matches!(kind, RunKind::Agent | RunKind::Cleanup) {
            self.sum_later(attempt, summed);
        }
        self.forget_before(run).await;
        self.inner.seam.pass("finish.recorded", "").await;
        tracing::info!(run.id = %id, "run {id} is {state}{}", reason.map_or(String::new(), |why| format!(": {why}")));
        if let Some(next) = next {
            self.start_turn(next).await;
        }
        Ok(())
    }
}

fn happened(ending: &Ending, outcome: &Outcome, stop_requested: bool) -> RunHappened {
    match ending {
        Ending::Gone if stop_requested => RunHappened::Stopped,
        Ending::Gone => RunHappened::Vanished,
        Ending::Exited(_) if stop_requested => RunHappened::Stopped,
        // It had done all it was told and stayed on, so that it was let go.
        Ending::Exited(exit) if exit.stopped && outcome.done => RunHappened::Ended { ok: !outcome.failed },
        Ending::Exited(exit) if exit.stopped => RunHappened::Stopped,
        Ending::Exited(exit) => RunHappened::Ended { ok: exit.code == Some(0) && !outcome.failed },
    }
}

/// Says why a run ended as it did, when there is something to say.
fn reason(state: RunState, code: Option<i64>, signal: Option<i64>, outcome: &Outcome) -> Option<String> {
    let said = outcome.failure.as_deref().map(str::trim).filter(|text| !text.is_empty());
    match (state, said, signal, code) {
        (RunState::Failed, Some(said), ..) => Some(said.to_string()),
        (RunState::Failed, None, Some(signal), _) => Some(format!("the agent was ended by signal {signal}")),
        (RunState::Failed, None, None, Some(code)) => Some(format!("the agent ended with exit code {code}")),
        (RunState::Failed, None, None, None) => Some("the agent ended without saying how".to_string()),
        (RunState::Lost, ..) => Some(
            "the process that watched over it is gone; everything up to that moment is kept, \
             and a follow-up goes on from there"
                .to_string(),
        ),
        (RunState::Killed, ..) => Some("stopped".to_string()),
        _ => None,
    }
}

/// Says that a part of what the agent said is missing.
fn unread(outcome: &Outcome) -> Option<String> {
    (outcome.unread > 0).then(|| {
        format!(
            "{} bytes of its log are damaged or gone, so a part of what the agent said may be missing here; its files \
             are not concerned",
            outcome.unread
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: Option<i32>, signal: Option<i32>, stopped: bool) -> Ending {
        Ending::Exited(Exit { code, signal, stopped, at_ms: 0, log_end: 0, swept: 0 })
    }

    #[test]
    fn an_agent_that_says_it_failed_has_failed_whatever_its_exit_code() {
        let failed = Outcome { failed: true, failure: Some("no login".into()), ..Outcome::default() };
        assert_eq!(happened(&exit(Some(0), None, false), &failed, false), RunHappened::Ended { ok: false });
        assert_eq!(reason(RunState::Failed, Some(0), None, &failed).unwrap(), "no login");
    }

    #[test]
    fn a_stop_is_a_stop_even_when_the_agent_ended_by_itself() {
        let outcome = Outcome::default();
        assert_eq!(happened(&exit(Some(0), None, false), &outcome, true), RunHappened::Stopped);
        assert_eq!(happened(&Ending::Gone, &outcome, true), RunHappened::Stopped);
    }

    #[test]
    fn an_agent_that_was_let_go_after_its_last_turn_has_ended_as_that_turn_did() {
        let done = Outcome { done: true, ..Outcome::default() };
        let failed = Outcome { failed: true, ..done.clone() };
        let let_go = exit(None, Some(15), true);
        assert_eq!(happened(&let_go, &done, false), RunHappened::Ended { ok: true });
        assert_eq!(happened(&let_go, &failed, false), RunHappened::Ended { ok: false });
        assert_eq!(happened(&let_go, &done, true), RunHappened::Stopped);
        assert_eq!(happened(&let_go, &Outcome::default(), false), RunHappened::Stopped);
    }

    #[test]
    fn the_signal_that_ended_an_agent_is_named() {
        let outcome = Outcome::default();
        assert_eq!(
            reason(RunState::Failed, None, Some(9), &outcome).unwrap(),
            "the agent was ended by signal 9"
        );
    }
}
