//! Chains of snapshots of which git has lost something: they are made whole of what is left.
//!
//! Forge's own snapshots outlive `git prune`. Those of an older Forge did not always, and somebody may delete files in
//! `.git/objects` by hand. A reference to an object that is not there makes `git gc` fail for the whole repository.

use std::collections::HashMap;

use forge_model::{AttemptId, Project};

use crate::background::blocking;
use crate::snapshots::reference;
use crate::store::{attempts, snapshots};
use crate::{Engine, ErrorKind, Result};

/// Why a snapshot is taken in the place of one that is gone.
const LOST: &str = "its last snapshot was lost";

impl Engine {
    /// Looks for broken chains in all projects and mends them, while nobody waits for it.
    pub(crate) fn mend_aside(&self) {
        let engine = self.clone();
        self.aside(async move {
            let projects = match engine.projects().await {
                Ok(projects) => projects,
                Err(error) => return tracing::warn!("snapshots could not be looked at: {error}"),
            };
            for project in projects {
                if let Err(error) = engine.mend_project(&project).await {
                    tracing::warn!(
                        "the snapshots of {} could not be looked at: {error}",
                        project.path.display()
                    );
                }
            }
        });
    }

    async fn mend_project(&self, project: &Project) -> Result<()> {
        let id = project.id;
        let known = self.inner.store.read(move |conn| {
            let mut known = Vec::new();
            for attempt in attempts::ids_of_project(conn, id)? {
                if let Some(view) = attempts::one(conn, attempt)? {
                    known.push((attempt, view.attempt.base_commit));
                }
            }
            Ok(known)
        });
        let known = known.await?;
        let names: HashMap<String, AttemptId> = known.iter().map(|(id, _)| (reference(*id), *id)).collect();
        let chains: Vec<(String, String)> =
            known.into_iter().map(|(id, base)| (reference(id), base)).collect();
        if chains.is_empty() {
            return Ok(());
        }
        let (engine, path) = (self.clone(), project.path.clone());
        let broken = blocking(move || -> Result<_> { Ok(engine.repo(&path)?.broken_chains(&chains)?) });
        for name in broken.await?? {
            let Some(id) = names.get(&name).copied() else { continue };
            self.mend_chain(id).await?;
            match self.refuse_busy(id, "snapshotted").await {
                // What the last one held is still in the worktree, or was thrown away with it.
                Ok(()) => drop(self.snapshot(id, LOST).await?),
                // The end of its run takes one.
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes the chain of an attempt's snapshots anew of those that are whole, and forgets the others.
    pub(crate) async fn mend_chain(&self, id: AttemptId) -> Result<()> {
        let view = self.attempt(id).await?;
        let project = self.project(view.attempt.project).await?;
        let rows = self.inner.store.read(move |conn| snapshots::of_attempt(conn, id)).await?;
        let oids: Vec<String> = rows.iter().map(|row| row.oid.clone()).collect();
        let (engine, path, base) = (self.clone(), project.path.clone(), view.attempt.base_commit);
        let mended = blocking(move || -> Result<_> {
            Ok(engine.repo(&path)?.mend_chain(&reference(id), &oids, &base)?)
        });
        let mended = mended.await??;
        let (becomes, lost) = (mended.becomes.clone(), mended.lost.clone());
        let gone = lost.len();
        // The rows first: whoever does this once more comes to the same commits.
        let written = self.inner.store.write(move |tx| {
            for row in rows.iter().filter(|row| lost.contains(&row.oid)) {
                snapshots::delete(tx.conn(), id, &row.id)?;
            }
            for (old, new) in &becomes {
                snapshots::set_oid(tx.conn(), id, old, new)?;
            }
            Ok(())
        });
        written.await?;
        let (engine, path) = (self.clone(), project.path);
        let put = blocking(move || -> Result<_> { Ok(mended.put(&engine.repo(&path)?)?) });
        put.await??;
        tracing::warn!(
            attempt.id = %id,
            "the snapshots of attempt {id} were broken and are whole again; {gone} of them could not be read any more"
        );
        Ok(())
    }
}
