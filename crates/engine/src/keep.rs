//! Keeping what a run did: its changes as a commit when it ended well, its files as a snapshot in every case.
//!
//! Nothing here decides what becomes of the run; it says what was kept and what could not be.

use std::time::Duration;

use forge_git::{CommitRequest, Committed, Kept, LeftOut, Limits, Operation, Reclaimed, Repo, Why, Worktree};
use forge_model::{Run, RunId, RunKind, RunState};

use crate::background::blocking;
use crate::conflicts::go_on_after_turn;
use crate::error::{is_shortage, whole};
use crate::fold::Outcome;
use crate::keep_again::Unkept;
use crate::stale_locks::shared_locks;
use crate::store::snapshots::Taken;
use crate::{AttemptView, Engine, Error, Result};

/// How long the person's hooks may take over a turn's commit.
const HOOK_TIME: Duration = Duration::from_secs(300);

/// The longest commit message taken from an agent.
const LONGEST_MESSAGE: usize = 4096;

/// How much of a hook's output is shown on an attempt, in characters.
const LONGEST_EXCERPT: usize = 2000;

/// How many files a sentence names that were left out.
const NAMED: usize = 5;

/// What was kept of a run's work.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) after_head: Option<String>,
    pub(crate) snapshot: Option<Taken>,
    /// What could not be done, in a sentence.
    pub(crate) trouble: Option<String>,
    /// The locks of a killed git that were removed first.
    pub(crate) locks: Vec<String>,
    /// What is to be tried again, because the machine was short of something.
    pub(crate) unkept: Option<Unkept>,
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
        let message = match kind {
            RunKind::Cleanup => format!("Cleanup after: {}", title(&view)),
            _ => message(&view, outcome),
        };
        let project = self.project(view.attempt.project).await?;
        if kind == RunKind::Setup && !view.attempt.in_place {
            let engine = self.clone();
            return blocking(move || {
                let opened = engine.repo(&project.path).and_then(|repo| engine.opened(&repo, &view));
                // What it made belongs to the turn that comes.
                match opened {
                    Ok(Opened { worktree, trouble, locks }) => {
                        Work { after_head: worktree.head().ok(), trouble, locks, ..Work::default() }
                    }
                    Err(error) => {
                        let trouble = Some(format!("its work could not be looked at: {error}; {WAY_OUT}"));
                        Work { trouble, ..Work::default() }
                    }
                }
            })
            .await;
        }
        let message = (state == RunState::Completed).then_some(message);
        let label = format!("run {} of attempt {attempt} is {state}", run.id);
        let work = self.keep_files(&view, run.id, message, label).await?;
        // The agent may have finished or aborted it by itself.
        if let Err(error) = self.settle_rebase(attempt).await {
            tracing::warn!(attempt.id = %attempt, "the rebase of attempt {attempt} could not be looked at: {error}");
        }
        Ok(work)
    }

    /// Does once more what could not be done when a run ended.
    pub(crate) async fn keep_late(
        &self,
        view: &AttemptView,
        run: RunId,
        message: Option<String>,
    ) -> Result<Work> {
        let label = format!("run {run} of attempt {}, kept later", view.attempt.id);
        self.keep_files(view, run, message, label).await
    }

    async fn keep_files(
        &self,
        view: &AttemptView,
        run: RunId,
        message: Option<String>,
        label: String,
    ) -> Result<Work> {
        let project = self.project(view.attempt.project).await?;
        let (engine, view) = (self.clone(), view.clone());
        let attempt = view.attempt.id;
        blocking(move || {
            let mut kept = Keeping::default();
            let work = if view.attempt.in_place {
                let taken = engine
                    .repo(&project.path)
                    .and_then(|repo| Ok(engine.take_snapshot_in_place(&repo, attempt, &label)?));
                let snapshot = kept.snapshotted(taken);
                Work {
                    after_head: snapshot.as_ref().and_then(|taken| taken.head.clone()),
                    snapshot,
                    ..Work::default()
                }
            } else {
                let opened = engine.repo(&project.path).and_then(|repo| {
                    let opened = engine.opened(&repo, &view)?;
                    Ok((repo, opened))
                });
                let (repo, Opened { worktree, trouble, locks }) = match opened {
                    Ok(opened) => opened,
                    Err(error) => {
                        kept.is_short = is_shortage(&error);
                        kept.trouble.push(format!("its work could not be looked at: {error}; {WAY_OUT}"));
                        return kept.say(Work::default(), run, message);
                    }
                };
                kept.trouble.extend(trouble);
                if worktree.operation() == Some(Operation::Rebase) {
                    // A commit would break it. It is gone on with when it is ours and everything is resolved.
                    kept.trouble.extend(match message.is_some() && view.is_conflicted {
                        true => go_on_after_turn(&worktree, &view.attempt.branch),
                        false => Some("a rebase waits to be finished in its worktree".to_string()),
                    });
                } else if let Some(message) = &message {
                    kept.commit(
                        &repo,
                        &worktree,
                        &view.attempt.branch,
                        message.clone(),
                        engine.file_limits(),
                    );
                }
                let taken = engine.take_snapshot(&worktree, attempt, &label);
                let snapshot = kept.snapshotted(taken.map_err(Error::from));
                kept.look_around(&worktree);
                Work { after_head: worktree.head().ok(), snapshot, locks, ..Work::default() }
            };
            kept.say(work, run, message)
        })
        .await
    }
}

/// What is said where a worktree cannot be opened.
const WAY_OUT: &str = "a follow-up moves what stands there to the trash and brings the worktree back";

/// A worktree that is about to be kept, after what stood in its way was moved aside.
struct Opened {
    worktree: Worktree,
    trouble: Option<String>,
    locks: Vec<String>,
}

impl Engine {
    /// Opens the worktree of an attempt whose run has ended. Blocks.
    fn opened(&self, repo: &Repo, view: &AttemptView) -> Result<Opened> {
        let reclaimed = self.reclaim(repo, view.attempt.id, &view.attempt.worktree, false);
        let worktree = repo.worktree(&view.attempt.worktree)?;
        let trouble = match reclaimed {
            Ok(Reclaimed::Git(place)) => Some(format!(
                "something else stood in place of its .git, and is in {} now; the files stayed where they were",
                place.display()
            )),
            _ => None,
        };
        let locks = self.drop_stale_locks(&worktree);
        Ok(Opened { worktree, trouble, locks })
    }
}

/// What keeping the files of a run came to, as far as it has come.
#[derive(Debug, Default)]
struct Keeping {
    trouble: Vec<String>,
    left_out: Vec<LeftOut>,
    /// The machine was short of something.
    is_short: bool,
}

impl Keeping {
    fn commit(&mut self, repo: &Repo, worktree: &Worktree, branch: &str, message: String, limits: Limits) {
        let request = CommitRequest { message, time_limit: HOOK_TIME, run_hooks: true, limits };
        let why = match worktree.commit_all_on(branch, &request) {
            Ok(Kept { committed, left_out }) => {
                self.left_out.extend(left_out);
                match committed {
                    Committed::Nothing | Committed::Commit { .. } => None,
                    Committed::HookFailed { hook, output } => {
                        Some(format!("the {hook} hook refused: {}", end_of(&output)))
                    }
                    Committed::TimedOut { after, output } => {
                        Some(format!("the hooks took more than {} s: {}", after.as_secs(), end_of(&output)))
                    }
                }
            }
            Err(error) => {
                self.is_short |= error.is_shortage();
                Some(match shared_locks(repo, branch) {
                    Some(remedy) => format!("{}; {remedy}", whole(&error)),
                    None => whole(&error),
                })
            }
        };
        self.trouble.extend(why.map(|why| format!("its changes are kept but not committed: {why}")));
    }

    fn snapshotted(&mut self, taken: Result<Taken>) -> Option<Taken> {
        match taken {
            Ok(taken) => {
                self.left_out.extend(taken.passed_over.iter().cloned());
                Some(taken)
            }
            Err(error) => {
                self.is_short |= is_shortage(&error);
                self.trouble.push(format!("its files could not be snapshotted: {error}"));
                None
            }
        }
    }

    /// Finds what git does not see at all.
    fn look_around(&mut self, worktree: &Worktree) {
        match worktree.special_files() {
            Ok(found) => self.left_out.extend(found),
            Err(error) => tracing::warn!("{}", whole(&error)),
        }
    }

    fn say(mut self, work: Work, run: RunId, message: Option<String>) -> Work {
        if self.is_short {
            self.trouble.push("Forge tries again when that is over".to_string());
        }
        let unkept = self.is_short.then(|| Unkept { run, message, trouble: self.trouble.join("; ") });
        self.trouble.extend(left_out(self.left_out));
        let trouble = (!self.trouble.is_empty()).then(|| self.trouble.join("; "));
        Work { trouble, unkept, ..work }
    }
}

/// Names the files that were left as they are because of what they are.
fn left_out(mut files: Vec<LeftOut>) -> Option<String> {
    files.retain(|left| {
        matches!(left.why, Why::TooBig { .. } | Why::NoRoom { .. } | Why::Unreadable | Why::NotAFile)
    });
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    if files.is_empty() {
        return None;
    }
    let named: Vec<String> =
        files.iter().take(NAMED).map(|left| format!("{} ({})", left.path.display(), left.why)).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("left out of what was kept: {}{more}", named.join(", ")))
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
