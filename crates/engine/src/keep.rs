//! Keeping what a run did: its changes as a commit when it ended well, its files as a snapshot in every case.
//!
//! Nothing here decides what becomes of the run; it says what was kept and what could not be.

use std::time::Duration;

use forge_git::{CommitRequest, Committed, Operation, Reclaimed};
use forge_model::{Run, RunKind, RunState};

use crate::background::blocking;
use crate::conflicts::go_on_after_turn;
use crate::error::whole;
use crate::fold::Outcome;
use crate::stale_locks::shared_locks;
use crate::store::snapshots::Taken;
use crate::{AttemptView, Engine, Result};

/// How long the person's hooks may take over a turn's commit.
const HOOK_TIME: Duration = Duration::from_secs(300);

/// The longest commit message taken from an agent.
const LONGEST_MESSAGE: usize = 4096;

/// How much of a hook's output is shown on an attempt, in characters.
const LONGEST_EXCERPT: usize = 2000;

/// What was kept of a run's work.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) after_head: Option<String>,
    pub(crate) snapshot: Option<Taken>,
    /// What could not be done, in a sentence.
    pub(crate) trouble: Option<String>,
    /// The locks of a killed git that were removed first.
    pub(crate) locks: Vec<String>,
}

impl Work {
    /// Adds to what could not be done.
    fn note(&mut self, trouble: Option<String>) {
        let said = [self.trouble.take(), trouble].into_iter().flatten().collect::<Vec<_>>();
        self.trouble = Some(said.join("; ")).filter(|said| !said.is_empty());
    }
}

impl Engine {
    /// Commits what a run that ended well left behind, and snapshots the files in every case.
    pub(crate) async fn keep_work(&self, run: &Run, state: RunState, outcome: &Outcome) -> Result<Work> {
        let (attempt, kind) = (run.attempt, run.kind);
        if kind == RunKind::DevServer {
            // An agent may be at work beside it, and the files are that one's.
            return Ok(Work::default());
        }
        let look = move |conn: &crate::store::Conn| crate::store::attempts::one(conn, attempt);
        let Some(view) = self.inner.store.read(look).await? else { return Ok(Work::default()) };
        let project = self.project(view.attempt.project).await?;
        if view.attempt.in_place {
            return self.keep_in_place(run, state, project.path).await;
        }
        let engine = self.clone();
        let message = match kind {
            RunKind::Cleanup => format!("Cleanup after: {}", title(&view)),
            _ => message(&view, outcome),
        };
        let run = run.id;
        let work = blocking(move || {
            let mut work = Work::default();
            let opened = engine.repo(&project.path).and_then(|repo| {
                let reclaimed = engine.reclaim(&repo, attempt, &view.attempt.worktree, false);
                let worktree = repo.worktree(&view.attempt.worktree)?;
                Ok((repo, worktree, reclaimed))
            });
            let (repo, worktree, reclaimed) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    let way_out = "a follow-up moves what stands there to the trash and brings the worktree back";
                    work.trouble = Some(format!("its work could not be looked at: {error}; {way_out}"));
                    return work;
                }
            };
            if let Ok(Reclaimed::Git(place)) = reclaimed {
                let place = place.display();
                work.trouble = Some(format!(
                    "something else stood in place of its .git, and is in {place} now; the files stayed where they were"
                ));
            }
            work.locks = engine.drop_stale_locks(&worktree);
            if kind == RunKind::Setup {
                // What it made belongs to the turn that comes.
                work.after_head = worktree.head().ok();
                return work;
            }
            if worktree.operation() == Some(Operation::Rebase) {
                // A commit would break it. It is gone on with when it is ours and everything is resolved.
                let trouble = match state == RunState::Completed && view.is_conflicted {
                    true => go_on_after_turn(&worktree, &view.attempt.branch),
                    false => Some("a rebase waits to be finished in its worktree".to_string()),
                };
                work.note(trouble);
            } else if state == RunState::Completed {
                let commit = CommitRequest { message, time_limit: HOOK_TIME, run_hooks: true };
                let why = match worktree.commit_all_on(&view.attempt.branch, &commit) {
                    Ok(Committed::Nothing | Committed::Commit { .. }) => None,
                    Ok(Committed::HookFailed { hook, output }) => {
                        Some(format!("the {hook} hook refused: {}", end_of(&output)))
                    }
                    Ok(Committed::TimedOut { after, output }) => {
                        Some(format!("the hooks took more than {} s: {}", after.as_secs(), end_of(&output)))
                    }
                    Err(error) => Some(match shared_locks(&repo, &view.attempt.branch) {
                        Some(remedy) => format!("{}; {remedy}", whole(&error)),
                        None => whole(&error),
                    }),
                };
                work.note(why.map(|why| format!("its changes are kept but not committed: {why}")));
            }
            match engine.take_snapshot(
                &worktree,
                attempt,
                &format!("run {run} of attempt {attempt} is {state}"),
            ) {
                Ok(taken) => work.snapshot = Some(taken),
                Err(error) => {
                    work.note(Some(format!("its files could not be snapshotted: {}", whole(&error))));
                }
            }
            work.after_head = worktree.head().ok();
            work
        })
        .await?;
        // The agent may have finished or aborted it by itself.
        if let Err(error) = self.settle_rebase(attempt).await {
            tracing::warn!(attempt.id = %attempt, "the rebase of attempt {attempt} could not be looked at: {error}");
        }
        Ok(work)
    }
}

/// The end of what a hook said, where the reason usually stands.
pub(crate) fn end_of(output: &str) -> &str {
    let output = output.trim();
    match output.char_indices().rev().nth(LONGEST_EXCERPT) {
        Some((begin, _)) => &output[begin..],
        None => output,
    }
}

/// The commit message of a turn: the last thing the agent said, or the title.
fn message(view: &AttemptView, outcome: &Outcome) -> String {
    let said = outcome.summary.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let message = said.unwrap_or(title(view));
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => message[..end].to_string(),
        None => message.to_string(),
    }
}

/// What an attempt is about.
fn title(view: &AttemptView) -> &str {
    view.task.as_ref().map_or(view.attempt.prompt.as_str(), |task| task.title.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_says_much_is_cut_to_its_end() {
        assert_eq!(end_of("  short \n"), "short");
        let long = format!("{}the reason", "é".repeat(5000));
        assert!(end_of(&long).ends_with("the reason") && end_of(&long).chars().count() <= 2001);
    }
}
