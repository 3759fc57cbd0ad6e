//! Stopping runs: when a stop returns, no process of the run is left.

use std::time::Duration;

use forge_model::{AttemptId, Run, RunId, RunKind, RunState};
use forge_process::{Control, Ladder, Liveness};

use crate::background::blocking;
use crate::background::detached;
use crate::error::whole;
use crate::input::Input;
use crate::store::{inputs, runs, starts};
use crate::{Engine, Error, Result, held, launch};

/// How long an agent has to act on its own interrupt.
const OWN_WAY: Duration = Duration::from_secs(2);

/// How long a shim is waited for, on a machine that is too busy to let it answer. The person waits for nothing else.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long it then has to act on INT, and after that on TERM.
const LADDER: Ladder = Ladder { int_ms: 3000, term_ms: 3000 };

impl Engine {
    /// Stops a run and returns it as it ended.
    pub async fn stop_run(&self, id: RunId) -> Result<Run> {
        self.may_change()?;
        let engine = self.clone();
        detached(async move { engine.bring_to_stop(id).await }).await
    }

    /// Stops whatever runs for an attempt; fine when nothing does.
    pub async fn stop_attempt(&self, id: AttemptId) -> Result<()> {
        self.may_change()?;
        self.attempt(id).await?;
        let mut bell = self.bell();
        loop {
            bell.mark_unchanged();
            if self.inner.store.read(move |conn| crate::store::held::has(conn, id)).await? {
                self.inner.store.write(move |tx| held::give_up(tx, id)).await?;
            }
            let (live, starting) = self
                .inner
                .store
                .read(move |conn| Ok((runs::live_of_attempt(conn, id)?, starts::of_attempt(conn, id)?)))
                .await?;
            for live in &live {
                match self.stop_run(live.run.id).await {
                    Ok(_) => {}
                    // It ended by itself in the meantime, which is as good.
                    Err(error) if error.kind() == crate::ErrorKind::Conflict => {}
                    Err(error) => return Err(error),
                }
            }
            if live.is_empty() && !starting {
                return Ok(());
            }
            if live.is_empty() {
                // A start under way becomes a run or nothing; the latter rings no bell.
                let _ = tokio::time::timeout(Duration::from_millis(50), bell.changed()).await;
            }
        }
    }

    /// Stops everything that runs, and says how much that was.
    pub async fn stop_all(&self) -> Result<usize> {
        self.may_change()?;
        self.leave_demo().await;
        self.close_line().await?;
        let live = self.inner.store.read(runs::live).await?;
        let stops: Vec<_> = live
            .iter()
            .map(|live| {
                let (engine, id) = (self.clone(), live.run.id);
                tokio::spawn(async move { engine.stop_run(id).await })
            })
            .collect();
        let mut stopped = 0;
        for stop in stops {
            match stop.await.map_err(|error| Error::internal(error.to_string()))? {
                Ok(_) => stopped += 1,
                Err(error) if error.kind() == crate::ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(stopped)
    }

    async fn bring_to_stop(&self, id: RunId) -> Result<Run> {
        let run = self.run(id).await?;
        let not_running =
            |state: RunState| Error::conflict(format!("run {id} is not running: it is {state}"));
        let own_way = has_own_way(&run)?;
        let asked = self.inner.store.write(move |tx| {
            if !runs::request_stop(tx.conn(), id)? {
                return Ok(false);
            }
            if own_way {
                inputs::add(tx.conn(), id, &Input::Interrupt.write(), tx.now())?;
            }
            Ok(true)
        });
        match asked.await {
            Ok(true) => {}
            Ok(false) => return Err(not_running(self.run(id).await?.state)),
            Err(error) => {
                // A full disk must not keep anybody from stopping what fills it. The exit record says that it
                // was stopped.
                self.ladder(id).await?;
                let why = Error::from(error);
                return Err(Error::unavailable(format!(
                    "run {id} was ended, but not yet recorded so: {why}"
                )));
            }
        }
        self.inner.seam.pass("stop.recorded", "").await;
        if own_way {
            self.tell(id);
            if let Ok(ended) = tokio::time::timeout(OWN_WAY, self.until_over(id)).await {
                return ended;
            }
        }
        self.climb_down(id).await
    }

    /// Takes a run's process down the ladder and waits until the run is over. Also carries out, after a
    /// restart, a stop that was on record before it.
    pub(crate) async fn climb_down(&self, id: RunId) -> Result<Run> {
        self.ladder(id).await?;
        self.until_over(id).await
    }

    /// Takes a run's process down the ladder; fine when it is gone already.
    pub(crate) async fn ladder(&self, id: RunId) -> Result<()> {
        self.may_change()?;
        let dir = self.inner.paths.run(id);
        let (stopped, liveness) = blocking(move || {
            // A shim that somebody has frozen answers once it goes on.
            let stopped = forge_process::thaw(&dir)
                .and_then(|()| Control::connect_within(&dir, PATIENCE))
                .and_then(|control| control.stop(&LADDER));
            if stopped.is_err() && matches!(forge_process::liveness(&dir), Ok(Liveness::Alive)) {
                // One that does not answer all the same is killed, and the kernel ends its agent.
                let killed = forge_process::kill_shim(&dir);
                tracing::warn!(run.id = %id, "the shim of run {id} does not answer and is killed: {killed:?}");
            }
            (stopped, forge_process::liveness(&dir))
        })
        .await?;
        let Err(error) = stopped else { return Ok(()) };
        if matches!(liveness, Ok(Liveness::Alive)) {
            return Err(Error::unavailable(format!("run {id} could not be stopped: {}", whole(&error))));
        }
        // It ended in the meantime; the task that looks after the run finds out.
        tracing::debug!(run.id = %id, "run {id} could not be told to stop: {error}");
        self.tell(id);
        Ok(())
    }

    /// Waits until a run is over, and returns it.
    pub(crate) async fn until_over(&self, id: RunId) -> Result<Run> {
        let mut bell = self.bell();
        loop {
            bell.mark_unchanged();
            let run = self.run(id).await?;
            if run.state.is_over() {
                return Ok(run);
            }
            bell.changed().await.map_err(|_| Error::internal("the store is closed"))?;
        }
    }
}

/// Says whether an agent has a way of its own to be interrupted.
fn has_own_way(run: &Run) -> Result<bool> {
    if run.kind != RunKind::Agent {
        return Ok(false);
    }
    Ok(launch::agent(&run.profile)?.capabilities().interrupt)
}
