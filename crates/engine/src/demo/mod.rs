//! Something to look at: a small project with an attempt in every state, played by the scripted agent.
//!
//! Made once. While a project lies in the demo's folder, the demo is there, and what a person did to it stays; only one
//! that broke off on the way is gone on with, task by task. Removing the project leaves its repository where it is, as
//! with any other project, and the next demo gets a repository of its own.

mod files;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forge_git::Git;
use forge_model::{AttemptId, AttemptState, Manner, ProfileId, Project, ProjectId};
use tracing::{info, warn};

use crate::background::{blocking, detached};
use crate::error::io_error;
use crate::{AttemptView, Engine, Error, Land, NewProject, NewTask, RebaseRequest, Result, StartTask};
use files::{CONFLICTED, FILES, LANDED, READY, RUNNING, Story, WAITING, WISHES};

/// How long one of the quick scripts may take: a second as a rule, more on a machine that has much to do.
const QUICK: Duration = Duration::from_secs(300);

/// The demo, and whether it was made just now.
#[derive(Debug, Clone, PartialEq)]
pub struct Demo {
    pub project: Project,
    pub is_new: bool,
}

/// Who makes the demo.
#[derive(Debug, Default)]
pub(crate) struct Makers {
    /// Held while it is looked for and its project is made.
    looking: tokio::sync::Mutex<()>,
    /// Held while its tasks are made and played.
    telling: Arc<tokio::sync::Mutex<()>>,
    /// Says, and then rings, that no further task is to be started.
    is_left: AtomicBool,
    leave: tokio::sync::Notify,
}

impl Engine {
    /// Returns the demo's project, making it when there is none. Its tasks come by themselves, within seconds.
    pub async fn demo(&self) -> Result<Demo> {
        let engine = self.clone();
        detached(async move {
            let _one = engine.inner.demo.looking.lock().await;
            let folder = engine.home().join("demo");
            let demo = match engine.demo_project(folder.clone()).await? {
                Some(project) => Demo { project, is_new: false },
                None => Demo { project: engine.make_demo_project(folder.clone()).await?, is_new: true },
            };
            engine.tell_aside(demo.project.id, unfinished(&folder));
            Ok(demo)
        })
        .await
    }

    /// Has nothing more of the demo started, for a person who wants everything to stop. The next call goes on with it.
    pub(crate) async fn leave_demo(&self) {
        let makers = &self.inner.demo;
        makers.is_left.store(true, Ordering::SeqCst);
        makers.leave.notify_waiters();
        let _nobody = makers.telling.lock().await;
        makers.is_left.store(false, Ordering::SeqCst);
    }

    /// Finds the project whose repository lies in the demo's folder.
    async fn demo_project(&self, folder: PathBuf) -> Result<Option<Project>> {
        // A folder that is not there yet holds no repository.
        let real = blocking(move || folder.canonicalize().unwrap_or(folder)).await?;
        Ok(self.projects().await?.into_iter().find(|project| project.path.parent() == Some(&*real)))
    }

    async fn make_demo_project(&self, folder: PathBuf) -> Result<Project> {
        let git = self.inner.git.clone();
        let path = blocking(move || make_repository(&git, &folder)).await??;
        let new = NewProject { name: "Demo shop".to_string(), path, ..NewProject::default() };
        self.create_project(new).await
    }

    /// Makes and plays the tasks that an unfinished demo lacks, unless somebody is at it.
    fn tell_aside(&self, project: ProjectId, unfinished: PathBuf) {
        let Ok(turn) = self.inner.demo.telling.clone().try_lock_owned() else { return };
        let engine = self.clone();
        self.aside(async move {
            let _turn = turn;
            if let Err(error) = engine.finish_demo(project, unfinished).await {
                warn!("the demo could not be made whole: {error}");
            }
        });
    }

    async fn finish_demo(&self, project: ProjectId, unfinished: PathBuf) -> Result<()> {
        let mark = unfinished.clone();
        if !blocking(move || mark.exists()).await? {
            return Ok(());
        }
        self.tell_stories(project).await?;
        info!("the demo is there");
        blocking(move || fs::remove_file(&unfinished).map_err(io_error("remove", &unfinished))).await?
    }

    async fn tell_stories(&self, project: ProjectId) -> Result<()> {
        let first = self.begin_story(project, LANDED).await?;
        let second = self.begin_story(project, CONFLICTED).await?;
        for wish in WISHES {
            if self.told(project, wish).await?.is_none() {
                self.create_task(wish.task(project)).await?;
            }
        }
        self.part_ways(first, second).await?;
        // These begin where the merged one ended, so that they can be merged as they are.
        for story in [READY, WAITING, RUNNING] {
            self.begin_story(project, story).await?;
        }
        Ok(())
    }

    /// Merges one attempt, and rebases another that changed the same lines.
    async fn part_ways(&self, first: Option<AttemptId>, second: Option<AttemptId>) -> Result<()> {
        let first = self.played(first).await?.filter(|view| !view.is_merged);
        let second = self.played(second).await?.filter(|view| !view.is_conflicted);
        if let Some(view) = first {
            self.land(view.attempt.id, Land { skip_hooks: true }).await?;
        }
        if let Some(view) = second {
            let request = RebaseRequest { skip_hooks: true, ..RebaseRequest::default() };
            self.rebase(view.attempt.id, request).await?;
        }
        Ok(())
    }

    /// Starts a task of the demo, unless it is there; returns its attempt, if it has one.
    async fn begin_story(&self, project: ProjectId, story: Story) -> Result<Option<AttemptId>> {
        if let Some(known) = self.told(project, story).await? {
            return Ok(known);
        }
        self.refuse_left()?;
        let profile = ProfileId { agent: "SCRIPTED".to_string(), variant: None };
        let (task, manner) = (story.task(project), Manner::default());
        let start = StartTask { task, profile, base_branch: None, use_worktree: true, manner };
        Ok(Some(self.create_and_start(start, None).await?.attempt.attempt.id))
    }

    /// Says whether a task of the demo is there, and which attempt it has.
    async fn told(&self, project: ProjectId, story: Story) -> Result<Option<Option<AttemptId>>> {
        let tasks = self.tasks(project).await?;
        Ok(tasks.iter().find(|view| view.task.title == story.title).map(|view| view.last_attempt))
    }

    /// Waits until an attempt is at rest, and returns it if it has finished.
    async fn played(&self, id: Option<AttemptId>) -> Result<Option<AttemptView>> {
        let Some(id) = id else { return Ok(None) };
        let mut bell = self.bell();
        let waits = async {
            loop {
                let left = self.inner.demo.leave.notified();
                self.refuse_left()?;
                bell.borrow_and_update();
                let view = self.attempt(id).await?;
                if !view.state().is_live() && view.state() != AttemptState::Queued {
                    return Ok(Some(view).filter(|view| view.state() == AttemptState::Finished));
                }
                tokio::select! {
                    _ = bell.changed() => {}
                    () = left => {}
                }
            }
        };
        let late = || Error::unavailable(format!("attempt {id} of the demo does not come to its end"));
        tokio::time::timeout(QUICK, waits).await.unwrap_or_else(|_| Err(late()))
    }

    fn refuse_left(&self) -> Result<()> {
        match self.inner.demo.is_left.load(Ordering::SeqCst) {
            true => Err(Error::unavailable("somebody wants everything to stop")),
            false => Ok(()),
        }
    }
}

impl Story {
    fn task(self, project: ProjectId) -> NewTask {
        let (title, description) = (self.title.to_string(), Some(self.description.to_string()));
        NewTask { project, title, description, parent: None, images: Vec::new() }
    }
}

/// The file that says that a demo lacks something.
fn unfinished(folder: &Path) -> PathBuf {
    folder.join("unfinished")
}

/// Makes the repository under a name that is free, beside its place first, so that half of one is never found.
fn make_repository(git: &Git, folder: &Path) -> Result<PathBuf> {
    let draft = folder.join("draft");
    if draft.exists() {
        // Left by a server that ended on the way; nobody has been told of it.
        fs::remove_dir_all(&draft).map_err(io_error("remove", &draft))?;
    }
    for (path, content) in FILES {
        let path = draft.join(path);
        let place = path.parent().unwrap_or(&draft);
        fs::create_dir_all(place).map_err(io_error("make", place))?;
        fs::write(&path, content).map_err(io_error("write", &path))?;
    }
    git.init_with_files(&draft, "A small shop")?;
    let mark = unfinished(folder);
    fs::write(&mark, "").map_err(io_error("write", &mark))?;
    let names = std::iter::once("shop".to_string()).chain((2..).map(|number| format!("shop-{number}")));
    let place = names.map(|name| folder.join(name)).find(|place| place.symlink_metadata().is_err());
    let place = place.ok_or_else(|| Error::internal("every name for the demo is taken"))?;
    fs::rename(&draft, &place).map_err(io_error("make", &place))?;
    Ok(place)
}
