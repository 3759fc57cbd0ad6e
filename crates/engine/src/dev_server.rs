//! Dev servers: a run beside an attempt's work, on ports of the attempt's own.
//!
//! Each attempt has at most one. Starting it again ends the one there is; those of other attempts stay.

use forge_model::{AttemptId, Noun, Op, Run, RunId, RunKind};

use crate::background::detached;
use crate::chain;
use crate::intent::Intent;
use crate::store::{Error as StoreError, Tx, attempts, runs, starts};
use crate::{Engine, Error, ErrorKind, Result};

/// What one look at an attempt decided about its dev server.
#[derive(Debug)]
enum Plan {
    NoSuchAttempt,
    NoScript,
    /// This one is to end first.
    End(RunId),
    /// Another start is under way.
    Wait,
    Start(Box<Intent>),
}

impl Engine {
    /// Starts the dev server of an attempt anew, and returns its run when it is there.
    pub async fn start_dev_server(&self, id: AttemptId) -> Result<Run> {
        let engine = self.clone();
        detached(async move {
            let mut bell = engine.bell();
            loop {
                bell.mark_unchanged();
                match engine.inner.store.write(move |tx| plan(tx, id)).await? {
                    Plan::NoSuchAttempt => return Err(Error::not_found(format!("there is no attempt {id}"))),
                    Plan::NoScript => {
                        let message = "No dev server script configured for this project";
                        return Err(Error::invalid(message).with_code("no_dev_script"));
                    }
                    Plan::End(run) => match engine.stop_run(run).await {
                        Ok(_) => {}
                        // It ended by itself in the meantime, which is as good.
                        Err(error) if error.kind() == ErrorKind::Conflict => {}
                        Err(error) => return Err(error),
                    },
                    // It becomes a run or nothing; the latter rings no bell.
                    Plan::Wait => {
                        let soon = std::time::Duration::from_millis(50);
                        let _ = tokio::time::timeout(soon, bell.changed()).await;
                    }
                    Plan::Start(intent) => return engine.start_again(*intent).await,
                }
            }
        })
        .await
    }
}

fn plan(tx: &mut Tx<'_>, id: AttemptId) -> std::result::Result<Plan, StoreError> {
    let Some((intent, project)) = chain::dev_server(tx, id)? else { return Ok(Plan::NoSuchAttempt) };
    if project.dev_script.is_none() {
        return Ok(Plan::NoScript);
    }
    let live = runs::live_of_attempt(tx.conn(), id)?;
    if let Some(live) = live.iter().find(|live| live.run.kind == RunKind::DevServer) {
        return Ok(Plan::End(live.run.id));
    }
    let under_way = starts::bodies(tx.conn(), id)?;
    let is_one = |body: &String| serde_json::from_str::<Intent>(body).is_ok_and(|it| it.is_dev_server());
    if under_way.iter().any(is_one) {
        return Ok(Plan::Wait);
    }
    intent.insert(tx)?;
    Ok(Plan::Start(Box::new(intent)))
}

/// Tells that an attempt's dev server came or went: its task says which one runs.
pub(crate) fn changed(tx: &mut Tx<'_>, id: AttemptId) -> std::result::Result<(), StoreError> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(()) };
    let project = Some(view.attempt.project);
    tx.changed(Noun::Attempt, id, Op::Change, project, Some(id));
    if let Some(task) = view.attempt.task {
        tx.changed(Noun::Task, task, Op::Change, project, None);
    }
    Ok(())
}
