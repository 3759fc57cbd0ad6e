//! What a start is about to make, written down before anything is made.
//!
//! Readers see nothing of it until one transaction makes task, attempt and run visible and takes the
//! intent away in the same breath.

use std::path::PathBuf;

use forge_model::state::{AttemptHappened, TaskHappened, task_after};
use forge_model::{
    Attempt, AttemptId, AttemptState, CommentId, FirstTurn, ImageId, Manner, Noun, Op, ProfileId, ProjectId,
    Run, RunId, RunKind, RunState, Task, TaskId, TaskStatus, Time, Usage,
};
use serde::{Deserialize, Serialize};

use crate::once::{self, Key};
use crate::store::calls::Call;
use crate::store::queue::Waiting;
use crate::store::starts::Mark;
use crate::store::{Conn, Error, Tx, attempts, held, images, limited, ports, queue, runs, starts, tasks};
use crate::{Delivered, comments, dev_server, drafts, in_place, moves, standing_agents};

/// What a start is about to make, as it is written down before anything is made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) attempt: AttemptId,
    pub(crate) run: RunId,
    pub(crate) project: ProjectId,
    pub(crate) repository: PathBuf,
    pub(crate) worktree: PathBuf,
    pub(crate) profile: ProfileId,
    pub(crate) prompt: String,
    /// The agent's conversation to resume.
    pub(crate) session: Option<String>,
    /// That conversation is branched off, and stays as it is.
    #[serde(default)]
    pub(crate) forked: bool,
    /// What the agent is told of an earlier conversation before its prompt.
    #[serde(default)]
    pub(crate) memo: Option<String>,
    pub(crate) what: What,
    /// It works in the person's checkout; there is no worktree to make or to take back.
    #[serde(default)]
    pub(crate) in_place: bool,
    /// The run is a script of the project, and not the agent.
    #[serde(default)]
    pub(crate) script: Option<Script>,
    /// A follow-up that waits behind this run from its first moment.
    #[serde(default)]
    pub(crate) then: Option<Waiting>,
    /// What did not go as wanted before the run, in a sentence.
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// Pictures that were given with it.
    #[serde(default)]
    pub(crate) images: Vec<ImageId>,
    /// Review comments that were sent with it.
    #[serde(default)]
    pub(crate) comments: Vec<CommentId>,
    /// How a new attempt is to go about its work.
    #[serde(default)]
    pub(crate) manner: Manner,
    pub(crate) key: Option<Key>,
    pub(crate) at: Time,
}

/// Whether a start makes a new attempt or goes on with one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum What {
    Attempt {
        /// None for an attempt without a task.
        task: Option<TaskId>,
        /// The task is made with the attempt.
        new_task: Option<TaskBody>,
        branch: String,
        /// The base, once it is known; before that nothing can have been made.
        base: Option<Base>,
        /// The attempt is there already: it was held back.
        #[serde(default)]
        held: bool,
    },
    Run {
        /// The follow-up in the queue that this run is told.
        queued: Option<String>,
        before_head: Option<String>,
        /// The task of its attempt; a row of an older Forge does not say, and is of a task.
        #[serde(default)]
        task: Option<TaskId>,
    },
}

/// A script of a project that is run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Script {
    pub(crate) kind: RunKind,
    pub(crate) text: String,
}

/// A task that is made with its first attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TaskBody {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) parent: Option<AttemptId>,
}

/// What an attempt's branch starts from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Base {
    pub(crate) branch: String,
    pub(crate) commit: String,
}

impl Intent {
    pub(crate) fn insert(&self, tx: &Tx<'_>) -> Result<(), Error> {
        let mark = Mark {
            run: self.run,
            attempt: self.attempt,
            project: Some(self.project),
            worktree: Some(self.worktree.clone()),
            branch: self.branch().map(str::to_string),
            in_place: self.in_place,
        };
        starts::insert(tx.conn(), &mark, &self.body()?, self.at)
    }

    pub(crate) fn update(&self, tx: &Tx<'_>) -> Result<(), Error> {
        starts::update(tx.conn(), self.run, self.branch(), &self.body()?)
    }

    /// The branch that it makes.
    fn branch(&self) -> Option<&str> {
        match &self.what {
            What::Attempt { branch, .. } => Some(branch),
            What::Run { .. } => None,
        }
    }

    fn body(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::Other(error.to_string()))
    }

    /// Says whether the names of a new attempt belong to another one, which is there or under way. Four digits of
    /// an id are soon drawn twice, and whoever is taken back must not take another's worktree along.
    pub(crate) fn name_taken(&self, conn: &Conn) -> Result<bool, Error> {
        let What::Attempt { branch, .. } = &self.what else { return Ok(false) };
        if self.in_place {
            return in_place::is_taken(conn, self.project, self.attempt);
        }
        let worktree = self.worktree.to_string_lossy();
        if attempts::name_taken(conn, self.project, branch, &worktree)? {
            return Ok(true);
        }
        let is_same = |other: &Mark| {
            other.worktree.as_ref() == Some(&self.worktree)
                || (other.project == Some(self.project) && other.branch.as_ref() == Some(branch))
        };
        Ok(starts::marks(conn)?.iter().any(|other| other.run != self.run && is_same(other)))
    }

    /// The item of the queue that this start sends.
    pub(crate) fn queued_item(&self) -> Option<&str> {
        match &self.what {
            What::Run { queued, .. } => queued.as_deref(),
            What::Attempt { .. } => None,
        }
    }

    /// Says whether the run is a dev server, which is beside the attempt's work and no part of it.
    pub(crate) fn is_dev_server(&self) -> bool {
        self.script.as_ref().is_some_and(|script| script.kind == RunKind::DevServer)
    }

    /// Takes the announcement back: what it would have sent waits again.
    pub(crate) fn forget(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        if starts::delete(tx.conn(), self.run)? {
            if let Some(item) = self.queued_item() {
                queue::not_sent(tx.conn(), item)?;
                drafts::item_moved(tx, item, self.project)?;
            }
            comments::come_back(tx, self.attempt, self.project, &self.comments)?;
        }
        if let What::Attempt { .. } = &self.what {
            ports::release(tx.conn(), self.attempt)?;
        }
        Ok(())
    }

    /// The run that this start makes.
    pub(crate) fn run_row(&self) -> Run {
        let (task, before_head) = match &self.what {
            What::Attempt { task, base, .. } => {
                // A checkout without commits has none to begin with.
                let commit = base.as_ref().map(|base| base.commit.clone());
                (*task, commit.filter(|commit| !commit.is_empty()))
            }
            What::Run { task, before_head, .. } => (*task, before_head.clone()),
        };
        let (kind, prompt, resumed_session) = match &self.script {
            Some(script) => (script.kind, script.text.clone(), None),
            None => (RunKind::Agent, self.prompt.clone(), self.session.clone()),
        };
        let next = FirstTurn { prompt: self.prompt.clone(), profile: self.profile.clone() };
        Run {
            id: self.run,
            attempt: self.attempt,
            task,
            kind,
            state: RunState::Running,
            profile: self.profile.clone(),
            prompt,
            resumed_session,
            forked: self.forked && kind == RunKind::Agent,
            memo: self.memo.clone().filter(|_| kind == RunKind::Agent),
            next: Some(next).filter(|next| kind == RunKind::Setup && !next.prompt.is_empty()),
            before_head,
            after_head: None,
            exit_code: None,
            signal: None,
            reason: self.note.clone(),
            dropped: false,
            log_deleted_at: None,
            started_at: self.at,
            completed_at: None,
            created_at: self.at,
            updated_at: self.at,
        }
    }

    /// Makes everything visible; the row that announced it goes in the same breath.
    pub(crate) fn record(&self, tx: &mut Tx<'_>, run: &Run) -> Result<(), Error> {
        if !starts::delete(tx.conn(), self.run)? {
            return Err(Error::Other(format!("the start of run {} was taken back", self.run)));
        }
        if !self.is_dev_server() {
            held::delete(tx.conn(), self.attempt)?;
        }
        let project = Some(self.project);
        let delivered = if self.then.is_some() { Delivered::Queued } else { Delivered::Started };
        match &self.what {
            What::Attempt { held: true, branch, base, .. } => {
                let (target, commit) = base.as_ref().map_or(("", ""), |base| (&base.branch, &base.commit));
                attempts::begin(tx.conn(), self.attempt, target, commit, self.at)?;
                attempts::begin_on(tx.conn(), self.attempt, branch)?;
                if moves::attempt(tx, self.attempt, AttemptHappened::Started, None)?.is_none() {
                    return Err(Error::Other(format!("attempt {} waits no more", self.attempt)));
                }
                runs::insert(tx.conn(), run)?;
            }
            What::Attempt { task, new_task, branch, base, held: false } => {
                if let (Some(task), Some(body)) = (task, new_task) {
                    let row = Task {
                        id: *task,
                        status: match self.in_place {
                            true => TaskStatus::Agent,
                            false => task_after(TaskStatus::Todo, TaskHappened::RunStarted),
                        },
                        created_at: self.at,
                        updated_at: self.at,
                        ..shown(body, self.project)
                    };
                    tasks::insert(tx.conn(), &row)?;
                    tx.changed(Noun::Task, *task, Op::Add, project, None);
                    if self.in_place {
                        standing_agents::add_chat(tx, self.project, *task)?;
                    }
                } else if let Some(task) = task
                    && let Some(view) = tasks::one(tx.conn(), *task)?
                {
                    moves::task(tx, &view.task, TaskHappened::RunStarted)?;
                }
                if let Some(task) = task {
                    images::add_to_task(tx.conn(), *task, &self.images, self.at)?;
                }
                attempts::insert(tx.conn(), &self.attempt_row(*task, branch, base.as_ref()))?;
                tx.changed(Noun::Attempt, self.attempt, Op::Add, project, Some(self.attempt));
                runs::insert(tx.conn(), run)?;
            }
            What::Run { queued, task, .. } => {
                if let Some(task) = task {
                    images::add_to_task(tx.conn(), *task, &self.images, self.at)?;
                }
                runs::insert(tx.conn(), run)?;
                if let Some(queued) = queued {
                    queue::sent(tx.conn(), queued, self.run)?;
                    drafts::item_sent(tx, queued, self.project)?;
                }
                if let Some(then) = &self.then {
                    queue::add(tx.conn(), self.attempt, then, self.at)?;
                }
                // Beside a dev server an attempt is as much at rest or at work as without one. After a queued
                // follow-up it is running already, and stays so.
                if self.script.is_none() {
                    limited::delete(tx.conn(), self.attempt)?;
                }
                if self.is_dev_server() {
                    dev_server::changed(tx, self.attempt)?;
                } else if moves::attempt(tx, self.attempt, AttemptHappened::Started, None)?.is_none() {
                    tx.changed(Noun::Attempt, self.attempt, Op::Change, project, Some(self.attempt));
                }
            }
        }
        tx.changed(Noun::Run, self.run, Op::Add, project, Some(self.attempt));
        if let Some(key) = &self.key {
            let fingerprint = key.fingerprint.clone();
            let delivered = delivered.as_str().to_string();
            once::remember(tx, key, Call { fingerprint, attempt: self.attempt, run: self.run, delivered })?;
        }
        Ok(())
    }

    pub(crate) fn attempt_row(&self, task: Option<TaskId>, branch: &str, base: Option<&Base>) -> Attempt {
        Attempt {
            id: self.attempt,
            project: self.project,
            task,
            profile: self.profile.clone(),
            state: AttemptState::Running,
            reason: self.note.clone(),
            branch: branch.to_string(),
            target_branch: base.map(|base| base.branch.clone()).unwrap_or_default(),
            base_commit: base.map(|base| base.commit.clone()).unwrap_or_default(),
            worktree: self.worktree.clone(),
            worktree_deleted: false,
            in_place: self.in_place,
            setup_completed_at: None,
            session: None,
            prompt: self.prompt.clone(),
            manner: self.manner,
            usage: Usage::default(),
            created_at: self.at,
            updated_at: self.at,
        }
    }
}

/// A task as it will be, for its prompt and its row.
pub(crate) fn shown(body: &TaskBody, project: ProjectId) -> Task {
    Task {
        id: TaskId::random(),
        project,
        title: body.title.clone(),
        description: body.description.clone(),
        status: TaskStatus::Todo,
        parent: body.parent,
        dev_server: None,
        created_at: Time::from_millis(0),
        updated_at: Time::from_millis(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::conn::args;

    fn intent(worktree: &str) -> Intent {
        let branch = format!("forge{worktree}");
        Intent {
            attempt: AttemptId::random(),
            run: RunId::random(),
            project: ProjectId::random(),
            repository: "/repository".into(),
            worktree: worktree.into(),
            profile: ProfileId::new("SCRIPTED", None).unwrap(),
            prompt: "hi".into(),
            session: None,
            forked: false,
            memo: None,
            in_place: false,
            script: None,
            then: None,
            note: None,
            images: Vec::new(),
            comments: Vec::new(),
            manner: Manner::default(),
            what: What::Attempt {
                task: Some(TaskId::random()),
                new_task: None,
                branch,
                base: None,
                held: false,
            },
            key: None,
            at: Time::from_millis(0),
        }
    }

    #[tokio::test]
    async fn a_name_that_a_start_under_way_has_drawn_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let taken = store.write(|tx| {
            let first = intent("/6a0c-a-task");
            assert!(!first.name_taken(tx.conn())?);
            first.insert(tx)?;
            Ok((intent("/6a0c-a-task").name_taken(tx.conn())?, intent("/6a0d-a-task").name_taken(tx.conn())?))
        });
        assert_eq!(taken.await.unwrap(), (true, false));
    }

    #[tokio::test]
    async fn the_names_of_a_start_that_cannot_be_read_are_taken_and_so_are_those_that_an_older_forge_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let taken = store.write(|tx| {
            let (unreadable, older) = (intent("/6a0c-a-task"), intent("/6a0d-a-task"));
            unreadable.insert(tx)?;
            older.insert(tx)?;
            tx.conn()
                .execute("update starts set body = 'of tomorrow' where run_id = $1", args![unreadable.run])?;
            let nothing =
                "update starts set project_id = null, worktree = null, branch = null, in_place = null
                where run_id = $1";
            tx.conn().execute(nothing, args![older.run])?;
            let mut same_branch = intent("/6a0e-a-task");
            same_branch.project = older.project;
            if let What::Attempt { branch, .. } = &mut same_branch.what {
                "forge/6a0d-a-task".clone_into(branch);
            }
            let names = [intent("/6a0c-a-task"), intent("/6a0d-a-task"), same_branch, intent("/6a0f-a-task")];
            let marks = starts::marks(tx.conn())?;
            assert_eq!(marks.len(), 2);
            assert!(marks.iter().all(|mark| mark.worktree.is_some() && mark.project.is_some()));
            names.iter().map(|name| name.name_taken(tx.conn())).collect::<Result<Vec<_>, _>>()
        });
        assert_eq!(taken.await.unwrap(), [true, true, true, false]);
    }
}
