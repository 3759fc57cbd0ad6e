//! Tasks: what is wanted in a project.

use std::sync::Arc;

use forge_model::{AttemptId, ImageId, Noun, Op, ProjectId, Task, TaskId, TaskStatus};

use crate::maps::Positioned;
use crate::store::{attempts, events, images, order, projects, tasks};
use crate::{Engine, Error, Result, TaskView, subtasks};

/// A task to add.
#[derive(Debug, Clone)]
pub struct NewTask {
    pub project: ProjectId,
    pub title: String,
    pub description: Option<String>,
    pub parent: Option<AttemptId>,
    /// Pictures that belong to it.
    pub images: Vec<ImageId>,
}

impl NewTask {
    /// Trims the title and refuses a blank one; a blank description is none.
    pub(crate) fn checked(self) -> Result<Self> {
        let title = self.title.trim().to_string();
        if title.is_empty() {
            return Err(Error::invalid("`title` must be a text that is not blank"));
        }
        let description = self.description.filter(|text| !text.trim().is_empty());
        Ok(Self { title, description, ..self })
    }
}

/// What to change of a task; none keeps.
#[derive(Debug, Clone, Default)]
pub struct TaskChange {
    pub title: Option<String>,
    /// A blank text clears it.
    pub description: Option<String>,
    pub status: Option<TaskStatus>,
    pub parent: Option<AttemptId>,
    /// The pictures that it is to have, in place of those it has.
    pub images: Option<Vec<ImageId>>,
    /// Where it is to stand in the order by hand.
    pub place: Option<TaskPlace>,
}

/// A place in the order of tasks by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskPlace {
    /// Right above another task.
    Above(TaskId),
    /// Below all others.
    Last,
}

impl Engine {
    /// Returns the tasks of a project, newest first; none when there is no such project.
    pub async fn tasks(&self, project: ProjectId) -> Result<Vec<TaskView>> {
        // The position is looked at before the list is: a change in between makes the list newer, never older.
        let seq = *self.bell().borrow();
        if let Some(list) = self.inner.kept_tasks.at(project, seq) {
            return Ok(list.items.clone());
        }
        let list = self.inner.store.read(move |conn| {
            Ok(Positioned { seq: events::newest(conn)?, items: tasks::of_project(conn, project)? })
        });
        let list = Arc::new(list.await?);
        self.inner.kept_tasks.keep(project, &list);
        Ok(Arc::unwrap_or_clone(list).items)
    }

    /// Returns the tasks of all projects, newest first.
    pub async fn all_tasks(&self) -> Result<Vec<TaskView>> {
        let read = self.inner.store.read(|conn| {
            let mut all = Vec::new();
            for project in projects::all(conn)? {
                all.extend(tasks::of_project(conn, project.id)?);
            }
            Ok(all)
        });
        let mut all = read.await?;
        all.sort_by_key(|view| std::cmp::Reverse(view.task.created_at));
        Ok(all)
    }

    /// Returns one task.
    pub async fn task(&self, id: TaskId) -> Result<TaskView> {
        let found = self.inner.store.read(move |conn| tasks::one(conn, id)).await?;
        found.ok_or_else(|| Error::not_found(format!("there is no task {id}")))
    }

    /// Returns one task, if it is of a project.
    pub async fn task_in(&self, project: ProjectId, id: TaskId) -> Result<TaskView> {
        let view = self.task(id).await?;
        match view.task.project == project {
            true => Ok(view),
            false => Err(Error::not_found(format!("there is no task {id} in project {project}"))),
        }
    }

    /// Adds a task.
    pub async fn create_task(&self, new: NewTask) -> Result<TaskView> {
        self.add_task(new, None).await
    }

    /// Adds a task; for an agent, below its own attempt, unless that has too many.
    pub(crate) async fn add_task(&self, new: NewTask, agent: Option<AttemptId>) -> Result<TaskView> {
        let new = new.checked()?;
        self.project(new.project).await?;
        self.check_parent(new.parent).await?;
        self.check_images(&new.images).await?;
        let id = TaskId::random();
        let written = self.inner.store.write(move |tx| {
            if let Some(own) = agent
                && let Some(too_many) = subtasks::one_more(tx.conn(), own)?
            {
                return Ok(Some(too_many));
            }
            let task = Task {
                id,
                project: new.project,
                title: new.title,
                description: new.description,
                status: TaskStatus::Todo,
                parent: new.parent,
                dev_server: None,
                created_at: tx.now(),
                updated_at: tx.now(),
            };
            tasks::insert(tx.conn(), &task)?;
            images::add_to_task(tx.conn(), id, &new.images, tx.now())?;
            tx.changed(Noun::Task, id, Op::Add, Some(task.project), None);
            Ok(None)
        });
        match written.await? {
            Some(too_many) => Err(too_many.refusal(agent)),
            None => self.task(id).await,
        }
    }

    /// Changes a task.
    pub async fn update_task(&self, id: TaskId, change: TaskChange) -> Result<TaskView> {
        if change.title.as_deref().is_some_and(|title| title.trim().is_empty()) {
            return Err(Error::invalid("`title` must be a text that is not blank"));
        }
        self.check_parent(change.parent).await?;
        self.check_images(change.images.as_deref().unwrap_or_default()).await?;
        if let Some(TaskPlace::Above(other)) = change.place
            && self.inner.store.read(move |conn| tasks::bare(conn, other)).await?.is_none()
        {
            return Err(Error::invalid(format!("`position.before` names no task: {other}")));
        }
        let written = self.inner.store.write(move |tx| {
            let Some(TaskView { mut task, .. }) = tasks::one(tx.conn(), id)? else { return Ok(()) };
            if let Some(title) = change.title {
                task.title = title.trim().to_string();
            }
            if let Some(description) = change.description {
                task.description = Some(description).filter(|text| !text.trim().is_empty());
            }
            task.status = change.status.unwrap_or(task.status);
            task.parent = change.parent.or(task.parent);
            task.updated_at = tx.now();
            tasks::update(tx.conn(), &task)?;
            if let Some(given) = &change.images {
                images::replace_of_task(tx.conn(), id, given, tx.now())?;
            }
            match change.place {
                // One that is gone by now leaves the task where it is.
                Some(TaskPlace::Above(other)) => {
                    for (moved, project) in order::put_above(tx.conn(), id, other)?.unwrap_or_default() {
                        tx.changed(Noun::Task, moved, Op::Change, Some(project), None);
                    }
                }
                Some(TaskPlace::Last) => order::put_last(tx.conn(), id)?,
                None => {}
            }
            tx.changed(Noun::Task, id, Op::Change, Some(task.project), None);
            Ok(())
        });
        written.await?;
        let view = self.task(id).await?;
        if view.task.status == TaskStatus::Archived {
            let engine = self.clone();
            self.aside(async move { engine.sweep_aside().await });
        }
        Ok(view)
    }

    async fn check_parent(&self, parent: Option<AttemptId>) -> Result<()> {
        let Some(id) = parent else { return Ok(()) };
        match self.inner.store.read(move |conn| attempts::one(conn, id)).await? {
            Some(_) => Ok(()),
            None => Err(Error::invalid(format!("`parent_task_attempt` names no attempt: {id}"))),
        }
    }
}
