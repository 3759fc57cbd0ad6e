//! One worktree of the pool: made, looked through, moved along, thrown away.
//!
//! It is ready when it was looked through, not because a row says so. What somebody touched is never deleted: it
//! goes to the trash like any worktree.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forge_git::{Pace, Ready, Repo, Weight};
use forge_model::{ProjectId, RunId};

use super::Waiting;
use super::keeper::SETTLE;
use super::silence::Tree;
use crate::background::blocking;
use crate::error::io_error;
use crate::store::projects;
use crate::store::ready::{self, Made, State};
use crate::{Engine, Result};

/// A worktree whose files were written just now, and that has to settle before it waits.
pub(super) struct Fresh {
    pub(super) project: ProjectId,
    files: u64,
    ready: Ready,
    tree: Option<Tree>,
    pub(super) since: Instant,
    /// It is watched since git made it.
    is_new: bool,
}

/// What became of a worktree that was looked at.
pub(super) enum Checked {
    Waits,
    Fresh(Box<Fresh>),
    /// A start has it.
    Taken,
    /// It was given up. Another one would be no better unless this one was touched.
    Gone {
        is_touched: bool,
    },
}

impl Fresh {
    pub(super) fn path(&self) -> &Path {
        self.ready.path()
    }

    /// How long it has to settle yet.
    pub(super) fn left(&self) -> Duration {
        SETTLE.saturating_sub(self.since.elapsed())
    }
}

impl Engine {
    /// Looks at a worktree that a row says is ready, and moves it when its base has moved.
    pub(super) async fn check(&self, made: &Made, repo: &Repo, oid: &str, weight: Weight) -> Result<Checked> {
        let (engine, repo, oid) = (self.clone(), repo.clone(), oid.to_string());
        let (path, reason, row) = (PathBuf::from(&made.path), self.lock_reason(), made.clone());
        let left_at = made.oid.clone();
        let looked = blocking(move || {
            let pool = &engine.inner.pool;
            // It waits on while it is looked at, because a start may want it; and the start looks more closely.
            if let Some(kept) = pool.look(&path) {
                let same = kept.ready.repo().common_dir() == repo.common_dir();
                if same && kept.ready.oid() == oid && pool.seems_untouched(&kept) {
                    return Checked::Waits;
                }
                match pool.take_back(&path) {
                    Some(kept) => pool.forget(&kept),
                    None => return Checked::Taken,
                }
            } else if pool.is_taken(&path) {
                return Checked::Taken;
            }
            let Ok(mut ready) = repo.open_ready(&path, &reason) else {
                return Checked::Gone { is_touched: false };
            };
            // On any other commit there may be somebody's work.
            if ready.oid() != left_at || ready.remembered() != Some(repo.circumstances()) {
                return Checked::Gone { is_touched: false };
            }
            let mut since = Instant::now();
            if ready.oid() == oid {
                // Its files have not been written for a while, so there is nothing to wait for.
                since = since.checked_sub(SETTLE).unwrap_or(since);
            } else if ready.move_to(&oid).is_err() {
                // Git refuses where somebody changed a file.
                return Checked::Gone { is_touched: false };
            }
            let tree = pool.silence.watch(&path);
            let (project, files) = (row.project, weight.files);
            Checked::Fresh(Box::new(Fresh { project, files, ready, tree, since, is_new: false }))
        });
        match looked.await? {
            gone @ Checked::Gone { .. } => self.dismiss(made.clone()).await.map(|_| gone),
            Checked::Fresh(one) if one.left().is_zero() => self.finish_ready(*one).await,
            checked => Ok(checked),
        }
    }

    /// Makes a worktree; it has to settle before it is ready.
    pub(super) async fn make_ready(
        &self,
        project: ProjectId,
        repo: &Repo,
        oid: &str,
        weight: Weight,
        pace: Pace,
    ) -> Result<Fresh> {
        let (place, name) = (self.inner.paths.pool(), format!("ready-{}", &RunId::random().to_string()[..8]));
        let place = blocking(move || -> Result<_> {
            crate::open::private_dir(&place)?;
            place.canonicalize().map_err(io_error("open", &place))
        });
        let path = place.await??.join(name);
        let (repo, oid, reason) = (repo.clone(), oid.to_string(), self.lock_reason());
        let (row, commit) = (path.to_string_lossy().into_owned(), oid.clone());
        let announced =
            self.inner.store.write(move |tx| ready::insert(tx.conn(), &row, project, &commit, tx.now()));
        announced.await?;
        let engine = self.clone();
        let made = blocking(move || -> Result<_> {
            let circumstances = repo.circumstances();
            let ready = repo.add_ready(&path, &oid, &reason, pace)?;
            let tree = engine.inner.pool.silence.watch(&path);
            ready.remember(&circumstances)?;
            Ok(Fresh { project, files: weight.files, ready, tree, since: Instant::now(), is_new: true })
        });
        let made = made.await??;
        self.inner.seam.pass("pool.filled", "").await;
        Ok(made)
    }

    /// Has a worktree wait, when there is nothing in it but its commit.
    pub(super) async fn finish_ready(&self, fresh: Fresh) -> Result<Checked> {
        let Fresh { project, files, ready, tree, is_new, .. } = fresh;
        let engine = self.clone();
        let path = ready.path().to_string_lossy().into_owned();
        let oid = ready.oid().to_string();
        let pace = self.inner.pool.pace(project, self.inner.pool.waiting_for(project) == 0);
        let looked = blocking(move || {
            let pool = &engine.inner.pool;
            let is_clean = ready.settle(pace).unwrap_or(false);
            let circumstances = ready.repo().circumstances();
            let is_right = is_clean && ready.remembered().as_ref() == Some(&circumstances);
            let (index, files) = (ready.index_stamp(), u32::try_from(files).unwrap_or(u32::MAX));
            let waiting = Waiting { project, ready, circumstances, index, files, tree };
            if is_right && pool.is_untouched(&waiting) {
                return Ok(waiting);
            }
            let is_touched = tree.is_some_and(|tree| !pool.silence.is_silent(tree));
            // Where git itself sees a change in what it has just written, nobody's work is in it.
            let is_ours = is_new && tree.is_some() && !is_touched;
            pool.forget(&waiting);
            if is_ours && let Err(error) = waiting.ready.repo().discard_ready(waiting.path()) {
                tracing::warn!("worktree {} stays for now: {error}", waiting.path().display());
            }
            Err(is_touched)
        });
        let waiting = match looked.await? {
            Ok(waiting) => waiting,
            Err(is_touched) => {
                let made = Made { path, project, oid, state: State::Filling };
                return self.dismiss(made).await.map(|_| Checked::Gone { is_touched });
            }
        };
        self.inner.store.write(move |tx| ready::ready(tx.conn(), &path, &oid)).await?;
        self.inner.pool.lock().waiting.push(waiting);
        Ok(Checked::Waits)
    }

    /// Throws a worktree away. What nobody touched is removed; anything else is kept in the trash for its time. Says
    /// whether it is gone.
    pub(super) async fn dismiss(&self, made: Made) -> Result<bool> {
        let kept = self.inner.pool.take_back(Path::new(&made.path));
        if kept.is_none() && self.inner.pool.is_taken(Path::new(&made.path)) {
            return Ok(false);
        }
        let project = self.inner.store.read({
            let id = made.project;
            move |conn| projects::one(conn, id)
        });
        let (project, engine) = (project.await?, self.clone());
        let (path, made_at) = (PathBuf::from(&made.path), made.oid.clone());
        let gone = blocking(move || -> Result<bool> {
            let pool = &engine.inner.pool;
            let is_untouched = kept.is_some_and(|kept| {
                let is_untouched = pool.is_untouched(&kept);
                pool.forget(&kept);
                is_untouched
            });
            let (reason, trash) = (engine.lock_reason(), engine.inner.paths.trash());
            let repo = match &project {
                Some(project) => match engine.repo(&project.path) {
                    Ok(repo) if !path.exists() || repo.is_locked_for(&path, &reason) => repo,
                    // The project has another repository now.
                    Ok(_) => Repo::of_worktree(&engine.inner.git, &path)?,
                    // Its disk may be back later.
                    Err(_) => return Ok(false),
                },
                None => Repo::of_worktree(&engine.inner.git, &path)?,
            };
            if path.exists() && !repo.is_locked_for(&path, &reason) {
                tracing::warn!("worktree {} is another data directory's, and stays", path.display());
                return Ok(true);
            }
            let is_nobodys = |ready: &Ready| -> Result<bool> {
                let is_half = ready.remembered().is_none();
                Ok(is_untouched || is_half || (ready.oid() == made_at && ready.is_clean()?))
            };
            match repo.open_ready(&path, &reason) {
                Ok(ready) if is_nobodys(&ready)? => repo.discard_ready(&path)?,
                _ => {
                    let root = path.parent().unwrap_or(&path).to_path_buf();
                    repo.remove_worktree_to_trash(&path, &trash, &root)?;
                }
            }
            Ok(true)
        });
        match gone.await? {
            Ok(true) => self.forget_made(made.path).await.map(|()| true),
            Ok(false) => Ok(false),
            Err(error) => {
                tracing::warn!("worktree {} stays where it is for now: {error}", made.path);
                Ok(false)
            }
        }
    }

    pub(super) async fn forget_made(&self, path: String) -> Result<()> {
        Ok(self.inner.store.write(move |tx| ready::delete(tx.conn(), &path)).await?)
    }
}
