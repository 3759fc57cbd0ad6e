//! Removing tasks and projects: rows move aside whole, files into the trash, branches stay.
//!
//! The files are snapshotted first; then one transaction moves the rows; then worktrees are renamed into the
//! trash. A crash before the last step is made good at the next boot. Where the repository is gone, nothing can be
//! snapshotted: the rows go, and the worktree stays where it is.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use forge_model::{AttemptId, AttemptState, Noun, Op, ProjectId, TaskId};

use crate::aside::A_MOMENT;
use crate::background::{blocking, detached, is_dir};
use crate::store::removed::{self, Removed};
use crate::store::{
    Conn, Error as StoreError, Tx, acts, asks, attempts, drafts, inputs, merges, notices, ports, projects,
    queue, rules, runs, settings, snapshots, starts, tasks,
};
use crate::{Engine, Error, Result, held};

/// What is to be removed.
#[derive(Debug, Clone, Copy)]
enum Doomed {
    Task(TaskId),
    Project(ProjectId),
}

impl Engine {
    /// Removes a task with its attempts. Refused while one of them runs.
    pub async fn delete_task(&self, id: TaskId) -> Result<()> {
        self.task(id).await?;
        let engine = self.clone();
        detached(async move { engine.remove(Doomed::Task(id)).await }).await
    }

    /// Removes a project with its tasks. The person's repository is not touched.
    pub async fn delete_project(&self, id: ProjectId) -> Result<()> {
        self.project(id).await?;
        let engine = self.clone();
        detached(async move { engine.remove(Doomed::Project(id)).await }).await
    }

    async fn remove(&self, doomed: Doomed) -> Result<()> {
        self.may_change()?;
        let project = match doomed {
            Doomed::Task(id) => self.task(id).await?.task.project,
            Doomed::Project(id) => id,
        };
        let repository = self.project(project).await?.path;
        let looked = self.inner.store.read(move |conn| Ok((doomed.attempts(conn)?, doomed.is_busy(conn)?)));
        let (attempts, busy) = looked.await?;
        if busy {
            return Err(doomed.still_running());
        }
        let mut cut_off = HashSet::new();
        for id in attempts {
            if self.is_cut_off(id).await? {
                cut_off.insert(id);
            } else {
                self.reclaim_for_removal(id).await?;
                self.keep_before(id).await;
                if let Err(error) = self.snapshot(id, "before it was removed").await {
                    // Its directory goes to the trash whole, so that everything in it can be had for a week.
                    tracing::warn!(attempt.id = %id, "attempt {id} is removed without a last snapshot: {error}");
                }
            }
        }
        let removed = self.inner.store.write(move |tx| {
            // Somebody may have started something since.
            if doomed.is_busy(tx.conn())? {
                return Ok(false);
            }
            match doomed {
                Doomed::Task(id) => remove_task(tx, id, &cut_off)?,
                Doomed::Project(id) => remove_project(tx, id, &cut_off)?,
            }
            Ok(true)
        });
        if !removed.await? {
            return Err(doomed.still_running());
        }
        self.inner.pool.poke();
        self.trash_removed(&repository).await?;
        self.drop_dead_links().await?;
        self.trash_temporary_files().await
    }

    /// Says whether the repository of an attempt is not there any more, so that nothing can be snapshotted.
    async fn is_cut_off(&self, id: AttemptId) -> Result<bool> {
        let attempt = self.attempt(id).await?.attempt;
        let git = self.project(attempt.project).await?.path.join(".git");
        let is_gone = blocking(move || {
            let found = std::fs::symlink_metadata(&git);
            found.is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
        });
        let is_gone = is_gone.await?;
        if is_gone && !attempt.in_place && is_dir(&attempt.worktree).await? {
            let path = attempt.worktree.display();
            tracing::warn!(attempt.id = %id, "{path} stays where it is: its repository is gone, so it has no snapshot");
        }
        Ok(is_gone)
    }

    /// Moves the worktrees of removed attempts into the trash, whatever broke off before. A repository that does not
    /// answer keeps no other waiting, and nobody else for longer than a moment.
    pub(crate) async fn trash_all_removed(&self) -> Result<()> {
        let removed = self.inner.store.read(removed::worktrees).await?;
        let repositories: HashSet<PathBuf> = removed.into_iter().map(|(_, path)| path.into()).collect();
        let (at_work, mut over) = tokio::sync::mpsc::channel::<()>(1);
        for repository in repositories {
            let (engine, at_work) = (self.clone(), at_work.clone());
            self.aside(async move {
                if let Err(error) = engine.trash_removed(&repository).await {
                    tracing::warn!("worktrees of removed attempts stay where they are for now: {error}");
                }
                drop(at_work);
            });
        }
        drop(at_work);
        // Nobody sends: it ends with the last of them.
        if tokio::time::timeout(A_MOMENT, over.recv()).await.is_err() {
            tracing::warn!(
                "worktrees of removed attempts go to the trash later: a repository does not answer yet"
            );
        }
        Ok(())
    }

    /// Moves the worktrees of removed attempts of a repository into the trash.
    async fn trash_removed(&self, of: &Path) -> Result<()> {
        for (worktree, repository) in self.inner.store.read(removed::worktrees).await? {
            if Path::new(&repository) != of {
                continue;
            }
            let (path, trash) = (PathBuf::from(&worktree), self.inner.paths.trash());
            let (engine, root) = (self.clone(), self.inner.paths.root_of(&path));
            let moved = blocking(move || -> Result<_> {
                if path.exists() {
                    let repo = engine.repo(&PathBuf::from(repository))?;
                    Ok(repo.remove_worktree_to_trash(&path, &trash, &root)?)
                } else {
                    // It may have been moved by a server that did not live to write down where.
                    Ok(newest_in_trash(&trash, &path))
                }
            })
            .await?;
            match moved {
                Ok(place) => {
                    let place = place.map(|place| place.to_string_lossy().into_owned());
                    let written =
                        self.inner.store.write(move |tx| removed::trashed(tx.conn(), &worktree, place));
                    written.await?;
                }
                // Left where it is: a worktree that cannot be told to be ours is nobody's to move.
                Err(error) => tracing::warn!("worktree {worktree} stays where it is: {error}"),
            }
        }
        Ok(())
    }
}

/// Finds what was moved into the trash last under the name of a worktree.
fn newest_in_trash(trash: &Path, worktree: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let name = worktree.file_name()?.to_str()?;
    let entries = std::fs::read_dir(trash).ok()?.flatten().filter(|entry| {
        let found = entry.file_name();
        let rest = found.to_str().and_then(|found| found.strip_prefix(name)).map(str::to_string);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('.').is_some_and(|number| number.parse::<u64>().is_ok())
        })
    });
    entries.max_by_key(|entry| entry.metadata().map_or(0, |meta| meta.ctime())).map(|entry| entry.path())
}

impl Doomed {
    fn attempts(self, conn: &Conn) -> std::result::Result<Vec<AttemptId>, StoreError> {
        match self {
            Doomed::Task(id) => attempts::ids_of_task(conn, id),
            Doomed::Project(id) => attempts::ids_of_project(conn, id),
        }
    }

    /// Says whether something of it runs, or is about to.
    fn is_busy(self, conn: &Conn) -> std::result::Result<bool, StoreError> {
        for id in self.attempts(conn)? {
            let begun = starts::of_attempt(conn, id)? || acts::under_way(conn, id)?;
            if begun || !runs::live_of_attempt(conn, id)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn still_running(self) -> Error {
        let what = match self {
            Doomed::Task(_) => "Task",
            Doomed::Project(_) => "Project",
        };
        Error::conflict(format!(
            "{what} has running execution processes. Please wait for them to complete or stop them first."
        ))
    }
}

fn remove_task(
    tx: &mut Tx<'_>,
    id: TaskId,
    cut_off: &HashSet<AttemptId>,
) -> std::result::Result<(), StoreError> {
    for attempt in attempts::ids_of_task(tx.conn(), id)? {
        remove_attempt(tx, attempt, cut_off)?;
    }
    let Some(view) = tasks::one(tx.conn(), id)? else { return Ok(()) };
    removed::keep(tx.conn(), &Removed::plain("task", id), tx.now())?;
    notices::free(tx.conn(), id)?;
    tasks::delete(tx.conn(), id)?;
    tx.changed(Noun::Task, id, Op::Remove, Some(view.task.project), None);
    Ok(())
}

fn remove_attempt(
    tx: &mut Tx<'_>,
    id: AttemptId,
    cut_off: &HashSet<AttemptId>,
) -> std::result::Result<(), StoreError> {
    let Some(view) = attempts::one(tx.conn(), id)? else { return Ok(()) };
    let project = view.attempt.project;
    let repository = projects::one(tx.conn(), project)?.map(|project| project.path);
    let runs_of = runs::of_attempt(tx.conn(), id)?;
    // Nothing was made for one that waits or was given up, and a person's own checkout is theirs. What was not
    // snapshotted because its repository is gone is in nobody's hands but the person's: it stays where it is.
    let is_made = view.attempt.state != AttemptState::Queued && !view.attempt.worktree_deleted;
    let has_worktree = is_made && !view.attempt.in_place && !cut_off.contains(&id);
    let kept = Removed {
        snapshot: snapshots::newest(tx.conn(), id)?,
        worktree: has_worktree.then(|| view.attempt.worktree.to_string_lossy().into_owned()),
        repository: repository.map(|path| path.to_string_lossy().into_owned()),
        ..Removed::plain("attempt", id)
    };
    removed::keep(tx.conn(), &kept, tx.now())?;
    held::give_up(tx, id)?;
    for (task, project) in tasks::orphan(tx.conn(), id)? {
        tx.changed(Noun::Task, task, Op::Change, Some(project), None);
    }
    inputs::delete(tx.conn(), id)?;
    asks::delete(tx.conn(), id)?;
    drafts::delete_all(tx.conn(), id)?;
    queue::delete(tx.conn(), id)?;
    merges::delete(tx.conn(), id)?;
    removed::delete_findings(tx.conn(), id)?;
    acts::delete_of_attempt(tx.conn(), id)?;
    ports::release(tx.conn(), id)?;
    runs::delete(tx.conn(), id)?;
    attempts::delete(tx.conn(), id)?;
    for run in runs_of {
        tx.changed(Noun::Run, run.id, Op::Remove, Some(project), Some(id));
    }
    tx.changed(Noun::Attempt, id, Op::Remove, Some(project), Some(id));
    Ok(())
}

fn remove_project(
    tx: &mut Tx<'_>,
    id: ProjectId,
    cut_off: &HashSet<AttemptId>,
) -> std::result::Result<(), StoreError> {
    for task in tasks::ids_of_project(tx.conn(), id)? {
        remove_task(tx, task, cut_off)?;
    }
    for attempt in attempts::ids_of_project(tx.conn(), id)? {
        remove_attempt(tx, attempt, cut_off)?;
    }
    removed::keep(tx.conn(), &Removed::plain("project", id), tx.now())?;
    settings::delete(tx.conn(), &id.to_string())?;
    rules::delete(tx.conn(), id)?;
    projects::delete(tx.conn(), id)?;
    tx.changed(Noun::Project, id, Op::Remove, Some(id), None);
    Ok(())
}
