//! Running a turn again in another way: it and all that came after it are dropped, the files go back to what they were
//! before it, and the agent is told something else.
//!
//! Whatever runs is stopped, and the files are snapshotted, before anything is changed.

use forge_model::{AttemptId, ImageId, Noun, Op, ProfileId, Run, RunId, RunKind};
use serde::{Deserialize, Serialize};

use crate::background::{blocking, detached};
use crate::follow_up::{Delivered, FollowUp, FollowedUp};
use crate::intent::Intent;
use crate::once::{Key, Once};
use crate::store::acts::{self, Act};
use crate::store::{attempts, runs};
use crate::{AttemptView, Engine, Error, Result, chain};

/// How the act is called in the store.
pub(crate) const REPLACE: &str = "replace";

/// What to run in place of an earlier turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Replace {
    /// The run to replace; the agent's last one without.
    pub run: Option<RunId>,
    pub prompt: String,
    pub variant: Option<String>,
    /// Another agent than the attempt's.
    pub profile: Option<ProfileId>,
    pub images: Vec<ImageId>,
    /// Whether branch and files go back to where they were before the run.
    pub reset: bool,
    /// Whether they do so even when there are changes that are not committed.
    pub discard: bool,
}

/// What became of a turn that was replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Replaced {
    /// How many runs were dropped.
    pub dropped: usize,
    /// Branch or files were not what they were before the run.
    pub reset_needed: bool,
    /// They are now.
    pub reset_applied: bool,
    /// The commit that was checked out before the run.
    pub target: Option<String>,
    pub run: Run,
}

/// What a person wants to tell an agent: something more, or something else than last time.
#[derive(Debug, Clone)]
pub enum Told {
    More(FollowUp),
    Again(Replace),
}

impl Engine {
    /// Tells an attempt's agent more, or something else in place of an earlier turn.
    pub async fn tell_agent(&self, id: AttemptId, told: Told, key: Option<Key>) -> Result<FollowedUp> {
        match told {
            Told::More(follow) => self.follow_up(id, follow, key).await,
            Told::Again(replace) => {
                let run = self.replace_run(id, replace, key).await?.run;
                Ok(FollowedUp { run, delivered: Delivered::Started })
            }
        }
    }

    /// Drops a run and all later ones, and starts another in its place.
    pub async fn replace_run(&self, id: AttemptId, wanted: Replace, key: Option<Key>) -> Result<Replaced> {
        let engine = self.clone();
        detached(async move { engine.replace(id, wanted, key).await }).await
    }

    async fn replace(&self, id: AttemptId, mut wanted: Replace, key: Option<Key>) -> Result<Replaced> {
        if wanted.prompt.trim().is_empty() {
            return Err(Error::invalid("`prompt` must be a text that is not blank"));
        }
        let _turn = match self.once(key.as_ref()).await? {
            Once::Repeat(call) => return self.replaced_before(id, call.run).await,
            Once::Do(turn) => turn,
        };
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        if wanted.profile.is_some() || wanted.variant.is_some() {
            let agent = wanted.profile.as_ref().map_or(&attempt.profile.agent, |profile| &profile.agent);
            let own = wanted.profile.as_ref().and_then(|profile| profile.variant.clone());
            let profile = ProfileId::new(agent, wanted.variant.clone().or(own).as_deref())
                .map_err(|error| Error::invalid(format!("`variant`: {error}")))?;
            self.check_agent(&profile, attempt.project).await?;
            wanted.profile = Some(profile);
        }
        if !wanted.images.is_empty() {
            self.check_images(&wanted.images).await?;
        }
        let run = self.run_to_replace(id, wanted.run).await?;
        wanted.run = Some(run.id);
        self.stop_attempt(id).await?;
        let act = Act::new(REPLACE, id, &(&wanted, &key))?;
        self.begin_act(&act, "run again").await?;
        self.inner.seam.pass("replace.recorded", "").await;
        let replaced = self.carry_out_replace(&act, &wanted, key).await;
        if replaced.is_err() {
            self.end_act(&act).await?;
        }
        replaced
    }

    /// Finishes a replacement that was broken off.
    pub(crate) async fn resume_replace(&self, act: &Act) -> Result<()> {
        let wanted: std::result::Result<(Replace, Option<Key>), _> = serde_json::from_str(&act.body);
        let finished = match wanted {
            Ok((wanted, key)) => self.carry_out_replace(act, &wanted, key).await.map(drop),
            Err(error) => Err(Error::internal(format!("its record cannot be read: {error}"))),
        };
        if let Err(error) = finished {
            tracing::warn!(attempt.id = %act.attempt, "a turn was not run again: {error}");
            self.end_act(act).await?;
        }
        Ok(())
    }

    async fn carry_out_replace(&self, act: &Act, wanted: &Replace, key: Option<Key>) -> Result<Replaced> {
        let id = act.attempt;
        let run = self.run_to_replace(id, wanted.run).await?;
        let target = run.before_head.clone();
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        let (mut reset_needed, mut reset_applied) = (false, false);
        if !attempt.in_place {
            let path = self.ensure_worktree(id).await?;
            let kept = self.keep_snapshot(id, "before a turn is run again").await?;
            let unsaved = kept.is_some_and(|kept| kept.left_out.is_some());
            let (engine, repository) = (self.clone(), self.project(attempt.project).await?.path);
            let (reset, discard, to) = (wanted.reset, wanted.discard, target.clone());
            let moved = blocking(move || -> Result<_> {
                let worktree = engine.repo(&repository)?.worktree(&path)?;
                if let Some(operation) = worktree.operation().filter(|_| reset) {
                    return Err(Error::conflict(format!(
                        "{operation} is under way in {}; finish or abort it first",
                        path.display()
                    )));
                }
                let Some(to) = to else { return Ok((false, false)) };
                let is_clean = worktree.is_clean()?;
                let needed = !is_clean || worktree.head()? != to;
                if !needed || !reset || (!is_clean && !discard) {
                    return Ok((needed, false));
                }
                if !is_clean && unsaved {
                    return Err(Error::conflict(format!(
                        "{} has changes that no snapshot could hold, so they are not thrown away; commit or move \
                         them first",
                        path.display()
                    )));
                }
                worktree.reset_to(&to, !is_clean)?;
                Ok((needed, true))
            });
            (reset_needed, reset_applied) = moved.await??;
        }
        self.inner.seam.pass("replace.reset", "").await;
        let (act, replaced, wanted) = (act.id.clone(), run, wanted.clone());
        let written = self.inner.store.write(move |tx| {
            acts::delete(tx.conn(), &act)?;
            let dropped = runs::drop_from(tx.conn(), id, &replaced, tx.now())?;
            let project = attempts::one(tx.conn(), id)?.map(|view| view.attempt.project);
            for run in &dropped {
                tx.changed(Noun::Run, run, Op::Change, project, Some(id));
            }
            let follow =
                FollowUp { variant: wanted.variant, images: wanted.images, ..FollowUp::new(wanted.prompt) };
            let Some(mut intent) = chain::turn(tx, id, &follow, key)? else {
                return Ok((dropped.len(), None));
            };
            if let Some(profile) = wanted.profile {
                intent.profile = profile;
            }
            // What the agent had in mind before the run that is dropped.
            intent.session =
                replaced.resumed_session.filter(|_| replaced.profile.agent == intent.profile.agent);
            intent.insert(tx)?;
            Ok((dropped.len(), Some(intent)))
        });
        let (dropped, intent): (usize, Option<Intent>) = written.await?;
        let intent = intent.ok_or_else(|| Error::not_found(format!("there is no attempt {id}")))?;
        let started = self.start_again(intent).await;
        if let Err(error) = &started {
            self.turn_failed(id, error).await;
        }
        Ok(Replaced { dropped, reset_needed, reset_applied, target, run: started? })
    }

    /// Finds the run that is to be replaced.
    async fn run_to_replace(&self, id: AttemptId, wanted: Option<RunId>) -> Result<Run> {
        let Some(wanted) = wanted else {
            let all = self.runs(id, false).await?;
            let last = all.into_iter().rfind(|run| run.kind == RunKind::Agent);
            return last.ok_or_else(|| Error::conflict(format!("attempt {id} has no run to replace")));
        };
        let run = self.run(wanted).await?;
        if run.attempt != id {
            return Err(Error::invalid(format!("run {wanted} does not belong to attempt {id}")));
        }
        if run.kind != RunKind::Agent {
            return Err(Error::invalid(format!("run {wanted} is not an agent's")));
        }
        if run.dropped {
            return Err(Error::conflict(format!("run {wanted} was dropped already")));
        }
        Ok(run)
    }

    /// Repeats the answer of a replacement that happened.
    async fn replaced_before(&self, id: AttemptId, new: RunId) -> Result<Replaced> {
        let run = self.run(new).await?;
        let all = self.runs(id, true).await?;
        let dropped: Vec<&Run> =
            all.iter().filter(|old| old.dropped && old.started_at < run.started_at).collect();
        let last = dropped.iter().map(|run| run.updated_at).max();
        let together: Vec<&&Run> = dropped.iter().filter(|run| Some(run.updated_at) == last).collect();
        let target = together.first().and_then(|run| run.before_head.clone());
        let reset_applied = target.is_some() && target == run.before_head;
        Ok(Replaced { dropped: together.len(), reset_needed: reset_applied, reset_applied, target, run })
    }
}
