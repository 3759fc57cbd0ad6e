//! Which snapshots are kept: those of the last weeks, as long as they take up no more than they may; and of every
//! attempt the last one, always.
//!
//! What belongs to something removed stays too, so that it can be brought back. The commits that go are only let go
//! of: git collects them in its own time, and never by our hand.

use std::collections::HashSet;

use forge_model::{AttemptId, Project};
use serde::{Deserialize, Serialize};

use crate::ages::Ages;
use crate::background::blocking;
use crate::snapshots::reference;
use crate::store::acts::{self, Act};
use crate::store::attempts;
use crate::store::snapshots::{self, Kept};
use crate::{Engine, ErrorKind, Result};

/// How the act is called in the store.
pub(crate) const RETAIN: &str = "retain";

/// Each time the oldest part of what may go is let go, and then it is measured again.
const PART: usize = 4;
const PARTS: usize = 16;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A chain that is about to be made shorter.
#[derive(Debug, Serialize, Deserialize)]
struct Shorter {
    from: String,
    to: String,
    /// What each commit that is kept becomes.
    becomes: Vec<(String, String)>,
    /// The records that go.
    rows: Vec<String>,
    /// The commits that go.
    gone: Vec<String>,
}

impl Engine {
    /// Lets go of snapshots that have had their time, or are too much together.
    pub(crate) async fn drop_old_snapshots(&self, ages: &Ages) -> Result<()> {
        let (days, bytes) = self.snapshot_limits().await?;
        for project in self.projects().await? {
            if let Err(error) = self.drop_old_of(&project, ages, days, bytes).await {
                tracing::warn!("old snapshots of {} stay for now: {error}", project.path.display());
            }
        }
        Ok(())
    }

    async fn drop_old_of(
        &self,
        project: &Project,
        ages: &Ages,
        days: Option<u64>,
        bytes: Option<u64>,
    ) -> Result<()> {
        let id = project.id;
        let ids = self.inner.store.read(move |conn| attempts::ids_of_project(conn, id)).await?;
        let mut spare = Vec::new();
        for id in &ids {
            spare.extend(self.spare_snapshots(*id).await?);
        }
        spare.sort_by_key(|(_, kept)| kept.created_at);
        if let Some(days) = days {
            self.drop_old_reflogs(project, ages, days).await?;
            let millis = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MILLIS);
            let (old, rest) = spare.into_iter().partition(|(_, kept)| ages.of(kept.created_at) > millis);
            self.let_go(project, old).await?;
            spare = rest;
        }
        let Some(bytes) = bytes else { return Ok(()) };
        let references: Vec<String> = ids.into_iter().map(reference).collect();
        for _ in 0..PARTS {
            if spare.is_empty() {
                return Ok(());
            }
            let (engine, path, named) = (self.clone(), project.path.clone(), references.clone());
            let used =
                blocking(move || -> Result<_> { Ok(engine.repo(&path)?.snapshot_bytes(&named)?) }).await??;
            if used <= bytes {
                return Ok(());
            }
            let later = spare.split_off(spare.len().div_ceil(PART));
            self.let_go(project, spare).await?;
            spare = later;
        }
        Ok(())
    }

    /// Lets go of commits that only a reflog held, as git itself does in time.
    async fn drop_old_reflogs(&self, project: &Project, ages: &Ages, days: u64) -> Result<()> {
        let millis = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MILLIS);
        let before = ages.before(millis).day();
        let (engine, path) = (self.clone(), project.path.clone());
        let dropped = blocking(move || -> Result<_> { Ok(engine.repo(&path)?.drop_kept_reflogs(&before)?) });
        dropped.await?.map(drop)
    }

    /// Returns the snapshots of an attempt but the last.
    async fn spare_snapshots(&self, id: AttemptId) -> Result<Vec<(AttemptId, Kept)>> {
        let mut kept = self.inner.store.read(move |conn| snapshots::of_attempt(conn, id)).await?;
        kept.pop();
        Ok(kept.into_iter().map(|kept| (id, kept)).collect())
    }

    async fn let_go(&self, project: &Project, spare: Vec<(AttemptId, Kept)>) -> Result<()> {
        let mut ids: Vec<AttemptId> = spare.iter().map(|(id, _)| *id).collect();
        ids.sort();
        ids.dedup();
        for id in ids {
            let rows = spare.iter().filter(|(of, _)| *of == id).map(|(_, kept)| kept.id.clone()).collect();
            self.shorten(project, id, rows).await?;
        }
        Ok(())
    }

    /// Makes the chain of an attempt's snapshots anew without some of them.
    async fn shorten(&self, project: &Project, id: AttemptId, rows: HashSet<String>) -> Result<()> {
        let kept = self.inner.store.read(move |conn| snapshots::of_attempt(conn, id)).await?;
        let Some(newest) = kept.last().map(|kept| kept.oid.clone()) else { return Ok(()) };
        let stays: HashSet<String> =
            kept.iter().filter(|kept| !rows.contains(&kept.id)).map(|kept| kept.oid.clone()).collect();
        let mut chain: Vec<(String, bool)> = Vec::new();
        for one in &kept {
            if chain.iter().all(|(oid, _)| *oid != one.oid) {
                chain.push((one.oid.clone(), stays.contains(&one.oid)));
            }
        }
        let (engine, path) = (self.clone(), project.path.clone());
        let made = blocking(move || -> Result<_> {
            let repo = engine.repo(&path)?;
            // A snapshot that is being recorded is not on the list yet: another time.
            if repo.newest_snapshot(&reference(id))?.as_ref() != Some(&newest) {
                return Ok(None);
            }
            let (made, kept) = repo.rechain(&chain)?;
            let (stay, go): (Vec<_>, Vec<_>) = chain.into_iter().partition(|(_, kept)| *kept);
            let Some(to) = made.last().cloned() else { return Ok(None) };
            let becomes: Vec<(String, String)> = stay.into_iter().map(|(oid, _)| oid).zip(made).collect();
            let gone = go.into_iter().map(|(oid, _)| oid).collect();
            let rows = rows.into_iter().collect();
            Ok(Some((Shorter { from: newest, to, becomes, rows, gone }, kept)))
        });
        // Kept until the reference has moved.
        let Some((shorter, _kept)) = made.await?? else { return Ok(()) };
        let act = Act::new(RETAIN, id, &shorter)?;
        match self.begin_act(&act, "cleaned").await {
            Ok(()) => {}
            // It is at work: another time.
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(()),
            Err(error) => return Err(error),
        }
        self.inner.seam.pass("retain.recorded", "").await;
        let (engine, path) = (self.clone(), project.path.clone());
        let (from, to) = (shorter.from.clone(), shorter.to.clone());
        let moved = blocking(move || -> Result<_> {
            Ok(engine.repo(&path)?.move_snapshots(&reference(id), &from, &to)?)
        });
        let moved = moved.await.and_then(|moved| moved);
        self.inner.seam.pass("retain.moved", "").await;
        match moved {
            Ok(true) => self.record_shorter(project, &act, shorter).await,
            Ok(false) => self.end_act(&act).await,
            Err(error) => {
                self.end_act(&act).await?;
                Err(error)
            }
        }
    }

    /// Writes down that a chain is shorter now.
    async fn record_shorter(&self, project: &Project, act: &Act, shorter: Shorter) -> Result<()> {
        let (id, name) = (act.attempt, act.id.clone());
        let Shorter { becomes, rows, gone, .. } = shorter;
        let written = self.inner.store.write(move |tx| {
            for row in &rows {
                snapshots::delete(tx.conn(), id, row)?;
            }
            for (old, new) in &becomes {
                snapshots::set_oid(tx.conn(), id, old, new)?;
            }
            acts::delete(tx.conn(), &name)
        });
        written.await?;
        let (engine, path, private) = (self.clone(), project.path.clone(), self.inner.paths.private(id));
        let forgotten =
            blocking(move || -> Result<_> { Ok(engine.repo(&path)?.forget_private(&private, &gone)?) });
        forgotten.await??;
        self.start_next(id).await;
        Ok(())
    }

    /// Finishes, or forgets, what was broken off while a chain was made shorter.
    pub(crate) async fn resume_retain(&self, act: &Act) -> Result<()> {
        let id = act.attempt;
        let Ok(shorter) = serde_json::from_str::<Shorter>(&act.body) else { return self.end_act(act).await };
        let project = match self.attempt(id).await {
            Ok(view) => self.project(view.attempt.project).await?,
            Err(_) => return self.end_act(act).await,
        };
        let (engine, path) = (self.clone(), project.path.clone());
        let newest =
            blocking(move || -> Result<_> { Ok(engine.repo(&path)?.newest_snapshot(&reference(id))?) });
        match newest.await?? {
            Some(newest) if newest == shorter.to => self.record_shorter(&project, act, shorter).await,
            _ => self.end_act(act).await,
        }
    }
}
