//! Bringing back what was removed: the rows as they were, and the files as far as they are still there.
//!
//! The files come first and the rows in one transaction after them, so that nobody sees an attempt without its
//! worktree. What is in the way is told, and then nothing has changed.

use std::path::{Path, PathBuf};

use forge_git::{Return, Returned};
use forge_model::{AttemptId, Noun, Op, ProjectId, RunId, TaskId, Time};
use serde_json::Value;

use crate::background::{blocking, detached};
use crate::old_removals::runs_of;
use crate::store::acts::{self, Act};
use crate::store::removed::{self, Aside, Kind};
use crate::store::{Conn, Error as StoreError, Tx, attempts, deleted_logs, lodgings, projects, tasks};
use crate::{Engine, Error, Result};

/// How the act is called in the store.
pub(crate) const RECOVER: &str = "recover";

/// Something that was removed and can be brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedThing {
    pub kind: Kind,
    pub id: String,
    /// The name of a project, the title of a task, the branch of an attempt.
    pub name: String,
    pub project: Option<ProjectId>,
    pub task: Option<TaskId>,
    /// Where the files of an attempt are.
    pub files: Option<KeptFiles>,
    pub removed_at: Time,
}

/// Where the files of something removed are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptFiles {
    /// Whole, ignored ones too.
    Trash,
    /// Tracked and untracked ones.
    Snapshot,
    /// What was committed.
    Branch,
}

impl KeptFiles {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            KeptFiles::Trash => "trash",
            KeptFiles::Snapshot => "snapshot",
            KeptFiles::Branch => "branch",
        }
    }
}

/// What was brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    pub kind: Kind,
    pub id: String,
    pub tasks: usize,
    pub attempts: usize,
    /// What did not come back as it was, in sentences.
    pub notes: Vec<String>,
}

impl Engine {
    /// Lists what was removed, newest first.
    pub async fn removed(&self) -> Result<Vec<RemovedThing>> {
        let all = self.inner.store.read(removed::all).await?;
        let engine = self.clone();
        blocking(move || all.iter().map(|aside| engine.describe(aside)).collect()).await
    }

    /// Brings something back that was removed, with everything that was removed with it.
    pub async fn recover(&self, id: String) -> Result<Recovered> {
        let engine = self.clone();
        detached(async move {
            let wanted = id.clone();
            let act = {
                let named = id.parse::<AttemptId>().map_err(|error| Error::invalid(error.to_string()))?;
                Act::new(RECOVER, named, &wanted)?
            };
            let looked = engine.inner.store.read(move |conn| belonging(conn, &id)).await?;
            looked
                .map_err(Error::conflict)?
                .ok_or_else(|| Error::not_found(format!("nothing that was removed has the id {wanted}")))?;
            engine.begin_act(&act, "recovered").await?;
            let recovered = engine.carry_out_recover(&wanted, &act).await;
            if recovered.is_err() {
                engine.end_act(&act).await?;
            }
            recovered
        })
        .await
    }

    /// Finishes what was broken off while something was brought back.
    pub(crate) async fn resume_recover(&self, act: &Act) -> Result<()> {
        let id: String = serde_json::from_str(&act.body).unwrap_or_default();
        if let Err(error) = self.carry_out_recover(&id, act).await {
            tracing::warn!("{id} could not be brought back: {error}");
            self.end_act(act).await?;
        }
        Ok(())
    }

    async fn carry_out_recover(&self, id: &str, act: &Act) -> Result<Recovered> {
        let wanted = id.to_string();
        let found = self.inner.store.read(move |conn| belonging(conn, &wanted)).await?;
        let parts = found
            .map_err(Error::conflict)?
            .ok_or_else(|| Error::not_found(format!("nothing that was removed has the id {id}")))?;
        let mut notes = Vec::new();
        for part in parts.iter().filter(|part| part.kind == Kind::Attempt) {
            notes.extend(self.bring_files_back(part).await?);
        }
        self.inner.seam.pass("recover.files", "").await;
        let count = |kind: Kind| parts.iter().filter(|part| part.kind == kind).count();
        let mut recovered = Recovered {
            kind: parts[0].kind,
            id: id.to_string(),
            tasks: count(Kind::Task),
            attempts: count(Kind::Attempt),
            notes,
        };
        let act = act.id.clone();
        let written = self.inner.store.write(move |tx| {
            let mut notes = Vec::new();
            for part in &parts {
                removed::put_back(tx.conn(), part)?;
                tell(tx, part)?;
                notes.extend(deleted_logs_of(tx.conn(), part)?);
            }
            acts::delete(tx.conn(), &act)?;
            Ok(notes)
        });
        match written.await {
            Ok(notes) => {
                recovered.notes.extend(notes);
                // One that waited for room waits again.
                self.inner.line.look();
                Ok(recovered)
            }
            Err(StoreError::Unique) => Err(Error::conflict(format!(
                "{id} cannot be brought back: its repository, or one of its names, is in use again; delete what \
                 uses it first"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the worktree of an attempt again. Says what of it is not as it was.
    async fn bring_files_back(&self, part: &Aside) -> Result<Option<String>> {
        let (Some(worktree), Some(branch)) =
            (part.text("attempts", "worktree"), part.text("attempts", "branch"))
        else {
            return Ok(None);
        };
        let flag = |column: &str| part.int("attempts", column).unwrap_or_default() != 0;
        // What was cleaned up before it was removed comes back when it is needed; and a checkout is the person's.
        if flag("worktree_deleted")
            || flag("in_place")
            || part.text("attempts", "state").as_deref() == Some("queued")
        {
            return Ok(None);
        }
        let id: AttemptId = part.id.parse().map_err(|_| Error::internal("an attempt without an id"))?;
        let worktree = PathBuf::from(worktree);
        let Some(repository) = part.repository.clone().map(PathBuf::from) else { return Ok(None) };
        let trash = self.in_trash(part, &worktree);
        let base = part.text("attempts", "base_commit").filter(|base| !base.is_empty());
        let tip = self.inner.store.read(move |conn| lodgings::tip(conn, id)).await?.or(base);
        let back = Return { path: worktree.clone(), branch, tip, lock_reason: self.lock_reason(), trash };
        let (engine, at) = (self.clone(), repository.clone());
        let root = self.inner.paths.root_of(&worktree);
        let returned = blocking(move || -> Result<_> {
            crate::open::private_dir(&root)?;
            Ok(engine.repo(&at)?.bring_worktree_back(&back)?)
        });
        let returned = returned.await??;
        self.link_worktree(worktree.clone());
        if returned != Returned::Branch {
            return Ok(None);
        }
        let note = self.restore_newest(id, repository, worktree).await?;
        let nothing = || format!("attempt {id} has what was committed on its branch, and nothing else");
        Ok(Some(note.unwrap_or_else(nothing)))
    }

    fn describe(&self, aside: &Aside) -> RemovedThing {
        let table = aside.kind.table();
        let name = match aside.kind {
            Kind::Project => "name",
            Kind::Task => "title",
            Kind::Attempt => "branch",
        };
        let worktree = aside.text("attempts", "worktree").map(PathBuf::from);
        let files = worktree.map(|worktree| {
            if worktree.exists() || self.in_trash(aside, &worktree).is_some() {
                KeptFiles::Trash
            } else if aside.snapshot.is_some() {
                KeptFiles::Snapshot
            } else {
                KeptFiles::Branch
            }
        });
        RemovedThing {
            kind: aside.kind,
            id: aside.id.clone(),
            name: aside.text(table, name).unwrap_or_default(),
            project: match aside.kind {
                Kind::Project => aside.id.parse().ok(),
                _ => aside.text(table, "project_id").and_then(|id| id.parse().ok()),
            },
            task: aside.text("attempts", "task_id").and_then(|id| id.parse().ok()),
            files,
            removed_at: aside.removed_at,
        }
    }

    /// Finds the worktree of a removed attempt in the trash.
    fn in_trash(&self, aside: &Aside, worktree: &Path) -> Option<PathBuf> {
        let noted = aside.trash.as_ref().map(PathBuf::from).filter(|path| path.is_dir());
        noted.or_else(|| self.worktree_in_trash(aside.id.parse().ok()?, worktree))
    }
}

/// Gathers what belongs to something removed, in the order in which it can be put back; nothing when there is no such
/// thing, and a sentence when it cannot be put back.
fn belonging(
    conn: &Conn,
    id: &str,
) -> std::result::Result<std::result::Result<Option<Vec<Aside>>, String>, StoreError> {
    let mut all = removed::all(conn)?;
    let Some(at) = all.iter().position(|aside| aside.id == id) else { return Ok(Ok(None)) };
    let root = all.remove(at);
    let table = root.kind.table();
    if root.kind != Kind::Project
        && let Some(project) = root.text(table, "project_id")
        && let Ok(project) = project.parse::<ProjectId>()
        && projects::one(conn, project)?.is_none()
    {
        return Ok(Err(format!("its project was removed too; recover {project} first")));
    }
    if let Some(task) = root.text("attempts", "task_id").and_then(|task| task.parse::<TaskId>().ok())
        && tasks::one(conn, task)?.is_none()
    {
        return Ok(Err(format!("its task was removed too; recover {task} first")));
    }
    // Only what went with it comes back with it: a task that was deleted before its project stays deleted.
    all.retain(|aside| {
        let below =
            |table: &str, column: &str| aside.text(table, column).as_deref() == Some(root.id.as_str());
        aside.removed_at == root.removed_at
            && match root.kind {
                Kind::Project => below(aside.kind.table(), "project_id"),
                Kind::Task => below("attempts", "task_id"),
                Kind::Attempt => false,
            }
    });
    let mut parts = vec![root];
    parts.append(&mut all);
    parts.sort_by_key(|part| part.kind);
    for part in &parts {
        let names = (part.text("attempts", "branch"), part.text("attempts", "worktree"));
        if let (Some(branch), Some(worktree)) = names
            && part.int("attempts", "in_place").unwrap_or_default() == 0
            && let Some(project) = part.text("attempts", "project_id").and_then(|id| id.parse().ok())
            && attempts::name_taken(conn, project, &branch, &worktree)?
        {
            return Ok(Err(format!(
                "branch {branch} or worktree {worktree} belongs to another attempt by now; delete that one first"
            )));
        }
    }
    Ok(Ok(Some(parts)))
}

/// Says which logs of an attempt do not come back, because they were deleted meanwhile.
fn deleted_logs_of(conn: &Conn, part: &Aside) -> std::result::Result<Option<String>, StoreError> {
    let (mut all, mut deleted) = (0, 0);
    for run in runs_of(part) {
        all += 1;
        deleted += usize::from(deleted_logs::has(conn, run)?);
    }
    Ok((deleted > 0).then(|| {
        let id = &part.id;
        format!("attempt {id} comes back without the logs of {deleted} of its {all} runs: they were deleted as old")
    }))
}

/// Tells everybody that something is there again.
fn tell(tx: &mut Tx<'_>, part: &Aside) -> std::result::Result<(), StoreError> {
    let project: Option<ProjectId> = match part.kind {
        Kind::Project => part.id.parse().ok(),
        _ => part.text(part.kind.table(), "project_id").and_then(|id| id.parse().ok()),
    };
    match part.kind {
        Kind::Project => tx.changed(Noun::Project, &part.id, Op::Add, project, None),
        Kind::Task => tx.changed(Noun::Task, &part.id, Op::Add, project, None),
        Kind::Attempt => {
            let attempt: Option<AttemptId> = part.id.parse().ok();
            tx.changed(Noun::Attempt, &part.id, Op::Add, project, attempt);
            for run in part.rows("runs").iter().filter_map(|run| run.get("id").and_then(Value::as_str)) {
                let run: RunId = run.parse().map_err(|_| StoreError::Other(format!("{run} is no run")))?;
                tx.changed(Noun::Run, run, Op::Add, project, attempt);
            }
            for task in part.rows("children").iter().filter_map(|row| row.get("id").and_then(Value::as_str)) {
                tx.changed(Noun::Task, task, Op::Change, project, None);
            }
        }
    }
    Ok(())
}
