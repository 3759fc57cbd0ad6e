//! Starting an attempt, in one pass.
//!
//! First a row that only this module reads says what will be made; then the worktree, then the process;
//! then one transaction makes task, attempt and run visible, and the row goes. A failure on the way undoes
//! what was made. After a crash `reconcile` reads the row and does one or the other.

use std::time::Duration;

use forge_model::{
    AttemptId, ImageId, Manner, ProfileId, Project, ProjectId, Run, RunId, RunKind, TaskId, slug,
};
use forge_process::Spawned;

use crate::background::{blocking, detached};
use crate::error::{io_error, whole};
use crate::held;
use crate::intent::{Base, Intent, Script, TaskBody, What, shown};
use crate::limits::Limits;
use crate::once::{Key, Once};
use crate::store::{attempts, runs, tasks};
use crate::subtasks::TooMany;
use crate::worktree::Failure;
use crate::{AttemptView, Engine, Error, NewTask, Result, TaskView, ports, subtasks};

/// How often a name that is taken is drawn again.
const DRAWS: usize = 20;

/// How soon it is tried again to take back a start, and at which pause it stays.
const UNDO_AGAIN: Duration = Duration::from_secs(1);
const UNDO_AT_MOST: Duration = Duration::from_secs(60);

/// A task to create and start in one pass.
#[derive(Debug, Clone)]
pub struct StartTask {
    pub task: NewTask,
    pub profile: ProfileId,
    /// None means the project's default, or the branch that is checked out.
    pub base_branch: Option<String>,
    pub use_worktree: bool,
    pub manner: Manner,
}

/// A further attempt at a task.
#[derive(Debug, Clone)]
pub struct NewAttempt {
    pub task: TaskId,
    pub profile: ProfileId,
    pub base_branch: Option<String>,
    pub use_worktree: bool,
    pub manner: Manner,
}

/// What a start made: all of it exists when the verb returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    pub task: TaskView,
    pub attempt: AttemptView,
    /// None when a limit holds the attempt back.
    pub run: Option<Run>,
}

/// An attempt without a task.
#[derive(Debug, Clone)]
pub struct NewLooseAttempt {
    pub project: ProjectId,
    pub prompt: String,
    pub profile: ProfileId,
    /// None means the project's default, or `main`, or the branch that is checked out.
    pub base_branch: Option<String>,
}

/// What the start of an attempt without a task made.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedLoose {
    pub attempt: AttemptView,
    /// None when a limit holds the attempt back.
    pub run: Option<Run>,
}

/// What became of writing a start down.
#[derive(Debug)]
pub(crate) enum Intended {
    /// Another has it: the name of the branch, or the person's checkout.
    NameTaken,
    Held,
    /// An agent has too many subtasks, or attempts at them.
    TooMany(TooMany),
    Written,
}

/// Everything a start needs to know once its task and project are known.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) project: Project,
    pub(crate) task: Option<TaskId>,
    pub(crate) new_task: Option<TaskBody>,
    title: String,
    pub(crate) prompt: String,
    pub(crate) profile: ProfileId,
    pub(crate) base_branch: Option<String>,
    pub(crate) images: Vec<ImageId>,
    pub(crate) manner: Manner,
    /// The conversation that it branches off.
    pub(crate) session: Option<String>,
    /// The attempt whose agent asks for it; none when a user does.
    pub(crate) agent: Option<AttemptId>,
}

impl Engine {
    /// Creates a task and starts its first attempt. All of it exists when this returns, or nothing does.
    pub async fn create_and_start(&self, start: StartTask, key: Option<Key>) -> Result<Started> {
        self.create_and_start_for(None, start, key).await
    }

    /// The same for an agent, which is named by its attempt.
    pub(crate) async fn create_and_start_for(
        &self,
        agent: Option<AttemptId>,
        start: StartTask,
        key: Option<Key>,
    ) -> Result<Started> {
        let engine = self.clone();
        // A caller that goes away must not leave a start half-made, so it runs on its own.
        detached(async move {
            let _turn = match engine.once(key.as_ref()).await? {
                Once::Repeat(call) => return engine.started(call.attempt, call.run).await,
                Once::Do(turn) => turn,
            };
            let project = engine.project(start.task.project).await?;
            let task = start.task.checked()?;
            engine.check_images(&task.images).await?;
            let id = task.project;
            let body = TaskBody { title: task.title, description: task.description, parent: task.parent };
            let wanted = Wanted {
                prompt: shown(&body, id).prompt(),
                title: body.title.clone(),
                project,
                task: Some(TaskId::random()),
                new_task: Some(body),
                profile: start.profile,
                base_branch: start.base_branch,
                images: task.images,
                manner: start.manner,
                session: None,
                agent,
            };
            let wanted = engine.branching_off(wanted).await?;
            // Until there is an answer, not only until it is made.
            let _under_way = engine.inner.calm.start();
            let (attempt, run) = engine.start(wanted, start.use_worktree, key).await?;
            engine.started(attempt, run).await
        })
        .await
    }

    /// Starts a further attempt at a task.
    pub async fn start_attempt(&self, new: NewAttempt, key: Option<Key>) -> Result<Started> {
        self.start_attempt_for(None, new, key).await
    }

    /// The same for an agent, which is named by its attempt.
    pub(crate) async fn start_attempt_for(
        &self,
        agent: Option<AttemptId>,
        new: NewAttempt,
        key: Option<Key>,
    ) -> Result<Started> {
        let engine = self.clone();
        detached(async move {
            let _turn = match engine.once(key.as_ref()).await? {
                Once::Repeat(call) => return engine.started(call.attempt, call.run).await,
                Once::Do(turn) => turn,
            };
            let task = engine.task(new.task).await?.task;
            let wanted = Wanted {
                project: engine.project(task.project).await?,
                task: Some(task.id),
                new_task: None,
                prompt: task.prompt(),
                title: task.title,
                profile: new.profile,
                base_branch: new.base_branch,
                images: Vec::new(),
                manner: new.manner,
                session: None,
                agent,
            };
            let wanted = engine.branching_off(wanted).await?;
            let (attempt, run) = engine.start(wanted, new.use_worktree, key).await?;
            engine.started(attempt, run).await
        })
        .await
    }

    /// Starts an attempt without a task, named from its prompt.
    pub async fn start_loose(&self, new: NewLooseAttempt, key: Option<Key>) -> Result<StartedLoose> {
        let engine = self.clone();
        detached(async move {
            let _turn = match engine.once(key.as_ref()).await? {
                Once::Repeat(call) => return engine.started_loose(call.attempt, call.run).await,
                Once::Do(turn) => turn,
            };
            if new.prompt.trim().is_empty() {
                return Err(Error::invalid("`prompt` must be a text that is not blank"));
            }
            let project = engine.project(new.project).await?;
            let base_branch = match new.base_branch {
                None if project.default_base_branch.is_none() => engine.main_of(&project).await?,
                given => given,
            };
            let wanted = Wanted {
                project,
                task: None,
                new_task: None,
                title: slug::title_from_prompt(&new.prompt),
                prompt: new.prompt,
                profile: new.profile,
                base_branch,
                images: Vec::new(),
                manner: Manner::default(),
                session: None,
                agent: None,
            };
            let (attempt, run) = engine.start(wanted, true, key).await?;
            engine.started_loose(attempt, run).await
        })
        .await
    }

    /// Returns `main` when a project has that branch: what callers who name none have always meant.
    async fn main_of(&self, project: &Project) -> Result<Option<String>> {
        let (engine, path) = (self.clone(), project.path.clone());
        blocking(move || {
            let found = engine.repo(&path)?.resolve_branch("main").is_ok();
            Ok(found.then(|| "main".to_string()))
        })
        .await?
    }

    async fn start(
        &self,
        wanted: Wanted,
        use_worktree: bool,
        key: Option<Key>,
    ) -> Result<(AttemptId, RunId)> {
        let _under_way = self.inner.calm.start();
        if !use_worktree {
            return self.start_in_place(wanted, key).await;
        }
        self.inner.pool.wanted(wanted.project.id);
        self.check_agent(&wanted.profile, wanted.project.id).await?;
        self.check_room(&self.inner.paths.worktrees).await?;
        let prefix = self.branch_prefix().await?;
        let asked = wanted.base_branch.as_deref().or(wanted.project.default_base_branch.as_deref());
        let limits = self.limits().await?;
        let base = self.settle_base(&wanted.project.path, asked.map(str::to_string)).await?;
        for _ in 0..DRAWS {
            let intent = self.draw(&wanted, &prefix, key.clone(), base.clone());
            let may_wait = (!limits.is_off()).then(|| base.clone());
            match self.intend(&intent, limits, may_wait, wanted.agent).await? {
                Intended::NameTaken => continue,
                Intended::TooMany(too_many) => return Err(too_many.refusal(wanted.agent)),
                Intended::Held => {
                    self.inner.seam.pass("start.held", "").await;
                    self.inner.line.look();
                    return Ok((intent.attempt, intent.run));
                }
                Intended::Written => {}
            }
            self.inner.seam.pass("start.intent", asked.unwrap_or_default()).await;
            match self.make(intent, None).await {
                Ok(made) => return Ok(made),
                Err(Failure::NameTaken) => {}
                Err(Failure::Other(error)) => return Err(error),
            }
        }
        Err(Error::conflict(format!(
            "no free name for an attempt at {:?} was found in {DRAWS} draws; delete old {prefix}/ branches",
            wanted.title
        )))
    }

    fn draw(&self, wanted: &Wanted, prefix: &str, key: Option<Key>, base: Base) -> Intent {
        let attempt = AttemptId::random();
        let name = slug::attempt_name(&attempt.short(), &wanted.title);
        let setup = wanted.project.setup_script.clone();
        Intent {
            attempt,
            run: RunId::random(),
            project: wanted.project.id,
            repository: wanted.project.path.clone(),
            worktree: self.inner.paths.worktree(&name),
            profile: wanted.profile.clone(),
            prompt: wanted.prompt.clone(),
            session: wanted.session.clone(),
            forked: wanted.session.is_some(),
            memo: None,
            what: What::Attempt {
                task: wanted.task,
                new_task: wanted.new_task.clone(),
                branch: format!("{prefix}/{name}"),
                base: Some(base),
                held: false,
            },
            in_place: false,
            script: setup.map(|text| Script { kind: RunKind::Setup, text }),
            then: None,
            note: None,
            images: wanted.images.clone(),
            comments: Vec::new(),
            manner: wanted.manner,
            key,
            at: crate::store::now(),
        }
    }

    /// Writes down what will be made, or that it has to wait.
    pub(crate) async fn intend(
        &self,
        intent: &Intent,
        limits: Limits,
        base: Option<Base>,
        agent: Option<AttemptId>,
    ) -> Result<Intended> {
        let (intent, range) = (intent.clone(), self.port_range().await);
        let written = self.inner.store.write(move |tx| {
            if intent.name_taken(tx.conn())? {
                return Ok(Intended::NameTaken);
            }
            if let Some(own) = agent
                && let Some(too_many) = subtasks::one_more_start(tx.conn(), own, &intent)?
            {
                return Ok(Intended::TooMany(too_many));
            }
            if let Some(base) = base
                && !held::may_run(tx.conn(), limits, intent.project, intent.attempt)?
            {
                held::hold_start(tx, &intent, &base)?;
                return Ok(Intended::Held);
            }
            intent.insert(tx)?;
            ports::lease(tx.conn(), intent.attempt, range, tx.now())?;
            Ok(Intended::Written)
        });
        Ok(written.await?)
    }

    /// Makes the worktree and the process, and then everything visible; undoes it all when a step fails.
    async fn make(
        &self,
        mut intent: Intent,
        base_branch: Option<String>,
    ) -> std::result::Result<(AttemptId, RunId), Failure> {
        let made = match self.make_worktree(&mut intent, base_branch).await {
            Ok(()) => self.bring_and_make(&mut intent).await.map_err(Failure::Other),
            Err(failure) => Err(failure),
        };
        self.inner.pool.poke();
        match made {
            Ok(run) => Ok((intent.attempt, run.id)),
            Err(Failure::NameTaken) => {
                // What bears that name is somebody else's, and nothing of ours was made: only the row goes.
                let row = intent.clone();
                let forgotten = self.inner.store.write(move |tx| row.forget(tx)).await;
                forgotten.map_err(Error::from)?;
                Err(Failure::NameTaken)
            }
            Err(failure) => {
                self.undo(&intent).await;
                Err(failure)
            }
        }
    }

    /// Brings the files that the project wants into a new worktree, and starts the process there.
    pub(crate) async fn bring_and_make(&self, intent: &mut Intent) -> Result<Run> {
        intent.note = self.bring_files(intent).await?;
        if intent.note.is_some() {
            let row = intent.clone();
            self.inner.store.write(move |tx| row.update(tx)).await?;
        }
        self.make_process(intent).await
    }

    /// Starts the process of an intent and makes the start visible.
    pub(crate) async fn make_process(&self, intent: &Intent) -> Result<Run> {
        let told;
        let intent = match intent.in_place {
            true => {
                told = self.with_images_at_home(intent);
                &told
            }
            false => {
                self.bring_images(intent).await?;
                intent
            }
        };
        if !intent.is_dev_server() {
            self.keep_before_run(intent.attempt).await;
        }
        let run = intent.run_row();
        let look = async {
            if !intent.in_place {
                self.look_before(&run, &intent.repository, &intent.worktree, intent.project).await;
            }
        };
        // Side by side: neither knows of the other, and somebody waits.
        let (desk, ()) = tokio::join!(self.desk(intent), look);
        let spawned = self.launch(&run, intent.project, &intent.worktree, &desk?).await?;
        self.inner.seam.pass("start.spawned", "").await;
        self.list_checkout_later(&run);
        self.record(intent, Some(spawned)).await
    }

    /// Makes a start visible in one transaction, and begins to look after its run.
    pub(crate) async fn record(&self, intent: &Intent, spawned: Option<Spawned>) -> Result<Run> {
        let run = intent.run_row();
        let (row, intent) = (run.clone(), intent.clone());
        if let Err(error) = self.inner.store.write(move |tx| intent.record(tx, &row)).await {
            if let Some(spawned) = spawned {
                // It is about to be ended; a thread of its own, because nobody may have to wait for that.
                std::thread::spawn(move || spawned.reap());
            }
            return Err(error.into());
        }
        self.inner.seam.pass("start.recorded", "").await;
        self.attach(run.clone(), spawned);
        Ok(run)
    }

    /// Takes back what a start made. What cannot be taken back now, because the disk is full for example, is
    /// tried again until it can: until then the attempt counts as starting, and takes nothing else.
    pub(crate) async fn undo(&self, intent: &Intent) {
        let id = intent.run;
        let Err(error) = self.try_undo(intent.clone()).await else { return };
        tracing::warn!(run.id = %id, "could not take back the start of run {id} yet: {error}");
        let (inner, intent) = (std::sync::Arc::downgrade(&self.inner), intent.clone());
        self.aside(async move {
            let mut pause = UNDO_AGAIN;
            loop {
                tokio::time::sleep(pause).await;
                let Some(inner) = inner.upgrade() else { return };
                if (Engine { inner }).try_undo(intent.clone()).await.is_ok() {
                    return;
                }
                pause = (pause * 2).min(UNDO_AT_MOST);
            }
        });
    }

    async fn try_undo(&self, intent: Intent) -> Result<()> {
        let dir = self.inner.paths.run(intent.run);
        let (marker, owners) = (intent.run.to_string(), self.owners());
        let abandoned = blocking(move || {
            let may_have_run = dir.exists();
            forge_process::abandon(&marker, &dir, &owners).map(|()| may_have_run)
        });
        let may_have_run = abandoned.await?.map_err(|error| Error::internal(whole(&error)))?;
        // A person's own checkout is not ours to take back.
        if !intent.in_place
            && let What::Attempt { branch, base: Some(base), .. } = &intent.what
        {
            let (engine, worktree) = (self.clone(), intent.worktree.clone());
            let (repository, root) = (intent.repository.clone(), self.inner.paths.root_of(&intent.worktree));
            let (trash, branch, commit) = (self.inner.paths.trash(), branch.clone(), base.commit.clone());
            blocking(move || -> Result<()> {
                let repo = engine.repo(&repository)?;
                // The hand-over of a worktree that waited may have broken off, and git with it.
                repo.mend_handover(&worktree, &engine.lock_reason())?;
                repo.drop_stale_locks(&worktree, &branch, &engine.lock_reason())?;
                if worktree.exists() {
                    let trashed = repo.remove_worktree_to_trash(&worktree, &trash, &root)?;
                    // When no process ever worked in it, it holds nothing but a fresh checkout.
                    if let Some(trashed) = trashed.filter(|_| !may_have_run) {
                        std::fs::remove_dir_all(&trashed).map_err(io_error("remove", &trashed))?;
                    }
                }
                match repo.delete_branch_at(&branch, &commit) {
                    // A branch that moved has somebody's commits, and stays.
                    Ok(())
                    | Err(forge_git::Error::NoSuchBranch { .. } | forge_git::Error::BranchMoved { .. }) => {
                        Ok(())
                    }
                    Err(error) => Err(error.into()),
                }
            })
            .await??;
        }
        self.inner.store.write(move |tx| intent.forget(tx)).await?;
        Ok(())
    }

    pub(crate) async fn started(&self, attempt: AttemptId, run: RunId) -> Result<Started> {
        // In one look: somebody waits, and what began a moment ago cannot have stalled.
        let found = self.inner.store.read(move |conn| {
            let view = attempts::one(conn, attempt)?;
            let task = view.as_ref().and_then(|view| view.task.as_ref()).map(|task| task.id);
            let task = task.map(|id| tasks::one(conn, id)).transpose()?.flatten();
            Ok((view, task, runs::of_attempt(conn, attempt)?))
        });
        let (view, task, runs) = found.await?;
        let attempt = view.ok_or_else(|| Error::not_found(format!("there is no attempt {attempt}")))?;
        let task = task.ok_or_else(|| Error::not_found("the task of this attempt is gone"))?;
        Ok(Started { task, attempt, run: first_run(&runs, run) })
    }

    async fn started_loose(&self, attempt: AttemptId, run: RunId) -> Result<StartedLoose> {
        let runs = self.runs(attempt, true).await?;
        Ok(StartedLoose { attempt: self.loose_attempt(attempt).await?, run: first_run(&runs, run) })
    }
}

/// Returns the run that a start made. One that was held back has got it later, or has none yet.
fn first_run(runs: &[Run], run: RunId) -> Option<Run> {
    runs.iter().find(|known| known.id == run).or_else(|| runs.first()).cloned()
}
