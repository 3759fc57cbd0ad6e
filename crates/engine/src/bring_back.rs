//! An attempt whose worktree is gone gets it back when it is needed: every byte that was kept, where it was.

use std::path::{Path, PathBuf};

use forge_git::{Reclaimed, RestoreRequest, Return, Returned};
use forge_model::{Attempt, AttemptId, AttemptState, Noun, Op};

use crate::background::blocking;
use crate::relocate::lock_reason;
use crate::snapshots::LeftOut;
use crate::store::{lodgings, snapshots};
use crate::{AttemptView, Engine, Error, Result};

/// Why a snapshot is taken of a worktree that was made again, before the files of an older one are restored.
const MADE_AGAIN: &str = "when it was made again";

/// Where the files of an attempt are.
#[derive(Debug)]
struct Remains {
    /// It is a worktree of its repository.
    is_there: bool,
    /// It was cleaned up, and lies here.
    in_trash: Option<PathBuf>,
    /// Its ignored directories were cleaned up, and lie here.
    aside: Option<PathBuf>,
}

impl Remains {
    fn is_whole(&self) -> bool {
        self.is_there && self.in_trash.is_none() && self.aside.is_none()
    }
}

impl Engine {
    /// Returns an attempt's worktree, brought back first when it was cleaned up, lost, or cut off from a repository
    /// that moved.
    pub(crate) async fn ensure_worktree(&self, id: AttemptId) -> Result<PathBuf> {
        self.may_change()?;
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        if attempt.in_place {
            return Ok(attempt.worktree);
        }
        if attempt.state == AttemptState::Queued {
            return Err(Error::conflict(format!("attempt {id} has no worktree yet: it waits for its turn")));
        }
        if attempt.branch == attempt.target_branch {
            // Only one that came from elsewhere can be like that; an agent there would work on the person's branch.
            return Err(Error::conflict(format!(
                "attempt {id} is on {}, which is its target branch: it can be read, and not gone on with; start a new \
                 attempt at its task",
                attempt.branch
            )));
        }
        let project = self.project(attempt.project).await?;
        // Nearly always it is there, and then nobody is waited for. It is said to be gone before it goes, so what is
        // said is asked after the files were seen.
        if self.remains(&attempt, &project.path).await?.is_whole()
            && !self.attempt(id).await?.attempt.worktree_deleted
        {
            return Ok(attempt.worktree);
        }
        // Two who need it at once must not both make it.
        let _turn = self.inner.returning.take(id).await;
        let AttemptView { attempt, .. } = self.attempt(id).await?;
        let remains = self.remains(&attempt, &project.path).await?;
        if remains.is_whole() && !attempt.worktree_deleted {
            return Ok(attempt.worktree);
        }
        let Remains { is_there, in_trash, aside } = remains;
        self.check_room(&attempt.worktree).await?;
        if !is_there {
            // Until its last file is back it counts as gone, so that a crash on the way leaves nothing half there.
            self.inner.store.write(move |tx| lodgings::deleted(tx.conn(), id, tx.now())).await?;
        }
        let was_in_trash = in_trash.is_some();
        let tip = self.inner.store.read(move |conn| lodgings::tip(conn, id)).await?;
        let wanted = Return {
            path: attempt.worktree.clone(),
            branch: attempt.branch.clone(),
            tip,
            lock_reason: self.lock_reason(),
            trash: in_trash,
        };
        let (engine, repository) = (self.clone(), project.path.clone());
        let returned = blocking(move || -> Result<_> {
            let repo = engine.repo(&repository)?;
            let mut wanted = wanted;
            let reclaimed = engine.reclaim(&repo, id, &wanted.path, true)?;
            if let Reclaimed::Whole(place) = &reclaimed
                && wanted.trash.is_none()
                && std::fs::symlink_metadata(place).is_ok_and(|found| found.is_dir())
            {
                // The files are the newest there are, whatever git they were told to be of.
                wanted.trash = Some(place.clone());
            }
            let returned = repo.bring_worktree_back(&wanted).inspect_err(|_| {
                if let Reclaimed::Whole(place) = &reclaimed
                    && !wanted.path.exists()
                {
                    let _back = std::fs::rename(place, &wanted.path);
                }
            })?;
            if let Some(aside) = aside {
                repo.worktree(&wanted.path)?.move_back(&aside)?;
            }
            Ok(returned)
        });
        let returned = returned.await??;
        let is_new = returned == Returned::Branch;
        self.inner.seam.pass("back.made", "").await;
        if is_new || (returned == Returned::Nothing && attempt.worktree_deleted && !was_in_trash) {
            self.restore_newest(id, project.path, attempt.worktree.clone()).await?;
        }
        let written = self.inner.store.write(move |tx| {
            lodgings::back(tx.conn(), id, is_new, tx.now())?;
            tx.changed(Noun::Attempt, id, Op::Change, Some(attempt.project), Some(id));
            Ok(())
        });
        written.await?;
        self.link_worktree(attempt.worktree.clone());
        tracing::info!(attempt.id = %id, "the worktree of attempt {id} is back ({returned:?})");
        Ok(attempt.worktree)
    }

    /// Makes the files of a worktree that was made again what they were in the newest snapshot. Says what of them is
    /// not as it was; nothing when there is no snapshot.
    pub(crate) async fn restore_newest(
        &self,
        id: AttemptId,
        repository: PathBuf,
        worktree: PathBuf,
    ) -> Result<Option<String>> {
        let kept = self.inner.store.read(move |conn| snapshots::newest_kept(conn, id)).await?;
        let Some(kept) = kept else { return Ok(None) };
        let (engine, private) = (self.clone(), self.inner.paths.private(id));
        let restored = blocking(move || -> Result<_> {
            let worktree = engine.repo(&repository)?.worktree(&worktree)?;
            let taken = engine.take_snapshot(&worktree, id, &format!("attempt {id} {MADE_AGAIN}"))?;
            let left_out = LeftOut::read(kept.left_out.as_deref()).iter().map(LeftOut::path).collect();
            let request = RestoreRequest {
                snapshot: kept.oid,
                now: taken.oid.clone(),
                paths: None,
                left_out,
                private: Some(private),
            };
            Ok((worktree.restore(&request)?, taken))
        });
        let (restored, taken) = restored.await??;
        let noted = self
            .inner
            .store
            .write(move |tx| snapshots::insert(tx.conn(), id, None, &taken, MADE_AGAIN, tx.now()));
        noted.await?;
        let mut note =
            format!("the files of attempt {id} came from its last snapshot: ignored files are not in it");
        for path in restored.left_alone {
            note.push_str(&format!("; {} was left out of it", path.display()));
        }
        Ok(Some(note))
    }

    /// What git shows to whoever tries to remove a worktree of ours. It tells the worktrees of two data directories
    /// apart.
    pub(crate) fn lock_reason(&self) -> String {
        lock_reason(&self.inner.paths.home)
    }

    /// Looks where the files of an attempt are.
    async fn remains(&self, attempt: &Attempt, repository: &Path) -> Result<Remains> {
        let (engine, id, repository) = (self.clone(), attempt.id, repository.to_path_buf());
        let worktree = attempt.worktree.clone();
        blocking(move || {
            let found = engine.repo(&repository)?.worktree(&worktree);
            Ok(Remains {
                is_there: found.inspect(|worktree| drop(engine.drop_stale_locks(worktree))).is_ok(),
                in_trash: engine.worktree_in_trash(id, &worktree),
                aside: Some(engine.ignored_in_trash(id)).filter(|place| place.is_dir()),
            })
        })
        .await?
    }

    /// Where a worktree lies in the trash when it was cleaned up, and its attempt was not removed. Blocks.
    pub(crate) fn worktree_in_trash(&self, id: AttemptId, worktree: &Path) -> Option<PathBuf> {
        let place = self.inner.paths.trash().join(id.to_string()).join(worktree.file_name()?);
        place.is_dir().then_some(place)
    }
}
