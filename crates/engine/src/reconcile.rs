//! After a restart: what was under way is finished or taken back, what runs is looked after again.
//!
//! The run's directory is the truth about a process, the database the truth about what was wanted. Nothing
//! is declared failed because the server was away.

use forge_model::state::AttemptHappened;
use forge_model::{AttemptState, RunId, RunState};
use forge_process::Liveness;

use crate::background::blocking;
use crate::intent::{Intent, What};
use crate::store::{attempts, runs, starts};
use crate::{Engine, ErrorKind, Result, chain, moves};

impl Engine {
    /// Takes up what an earlier server left behind.
    pub(crate) async fn reconcile(&self) -> Result<()> {
        // Read before the starts are taken up: a run that is made visible there is looked after from then on,
        // and no run may be looked after twice.
        let live = self.inner.store.read(runs::live).await?;
        self.reconcile_leftovers().await?;
        self.reconcile_starts().await?;
        self.reconcile_acts().await?;
        for live in live {
            let id = live.run.id;
            self.attach(live.run, None);
            if live.stop_requested {
                let engine = self.clone();
                self.aside(async move {
                    if let Err(error) = engine.climb_down(id).await {
                        tracing::warn!(run.id = %id, "run {id} could not be stopped: {error}");
                    }
                });
            }
        }
        self.resume_travel().await?;
        self.reconcile_queues().await?;
        if let Err(error) = self.trash_all_removed().await {
            tracing::warn!("worktrees of removed attempts stay where they are for now: {error}");
        }
        Ok(())
    }

    /// A start whose process came to be is made visible; any other is taken back.
    async fn reconcile_starts(&self) -> Result<()> {
        for body in self.inner.store.read(starts::all).await? {
            let intent: Intent = match serde_json::from_str(&body) {
                Ok(intent) => intent,
                Err(error) => {
                    tracing::warn!("a start under way cannot be read and is left alone: {error}");
                    continue;
                }
            };
            let id = intent.run;
            if self.came_to_be(id).await? {
                tracing::info!(run.id = %id, "run {id} was started by an earlier server");
                match self.record(&intent, None).await {
                    Ok(_) => continue,
                    // Its project or task was removed meanwhile. Nobody could open this data again otherwise.
                    Err(error) if error.kind() == ErrorKind::Conflict => {
                        tracing::warn!(run.id = %id, "run {id} is taken back: {error}");
                    }
                    Err(error) => return Err(error),
                }
            }
            tracing::info!(run.id = %id, "the start of run {id} broke off and is taken back");
            let engine = self.clone();
            // Until it is taken back it counts as under way, so nothing is lost when its repository does not answer.
            self.aside_for_a_moment(async move {
                engine.undo(&intent).await;
                if matches!(intent.what, What::Run { .. }) && !intent.is_dev_server() {
                    // What waited for this turn, or as this turn, waits for nothing now.
                    engine.start_next(intent.attempt).await;
                }
            })
            .await;
        }
        Ok(())
    }

    /// Says whether the process of a start exists or has existed.
    async fn came_to_be(&self, run: RunId) -> Result<bool> {
        let dir = self.inner.paths.run(run);
        let liveness = blocking(move || forge_process::liveness(&dir)).await?;
        Ok(matches!(liveness, Ok(Liveness::Alive | Liveness::Exited(_))))
    }

    /// An attempt between two turns goes on with the next one.
    async fn reconcile_queues(&self) -> Result<()> {
        let between = self.inner.store.read(|conn| {
            let mut between = Vec::new();
            for view in attempts::live(conn)? {
                // One that is held back is started when there is room.
                if view.attempt.state == AttemptState::Queued {
                    continue;
                }
                let id = view.attempt.id;
                if chain::work_run(conn, id)?.is_none() && !chain::is_starting(conn, id)? {
                    between.push(id);
                }
            }
            Ok(between)
        });
        for id in between.await? {
            if let Some(intent) = self.inner.store.write(move |tx| chain::intend_next(tx, id, None)).await? {
                self.start_turn(intent).await;
                continue;
            }
            let failed = AttemptHappened::RunEnded { outcome: RunState::Failed, more: false };
            let reason = Some("its next turn was never started; a follow-up goes on from here".to_string());
            self.inner.store.write(move |tx| moves::attempt(tx, id, failed, reason)).await?;
        }
        Ok(())
    }
}
