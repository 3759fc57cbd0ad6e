//! The tasks of a project as a map. Chats with agents are in no such map: a task that becomes one leaves it.

use forge_engine::{Change, Changed, Engine, Positioned};
use forge_model::{ProjectId, TaskId};

use super::{Document, News, Whole};
use crate::wire::TaskWithAttemptStatus;

/// The tasks of a project.
#[derive(Debug)]
pub(crate) struct Tasks(pub(crate) ProjectId);

impl Document for Tasks {
    type Id = TaskId;
    type Value = TaskWithAttemptStatus;
    const NAME: &'static str = "tasks";

    async fn whole(&self, engine: &Engine) -> forge_engine::Result<Whole<TaskId, TaskWithAttemptStatus>> {
        let Positioned { seq, items } = engine.tasks_and_position(self.0).await?;
        Ok(Positioned { seq, items: items.into_iter().map(|view| (view.task.id, view.into())).collect() })
    }

    fn news(&self, changes: &[Changed]) -> Vec<News<TaskId, TaskWithAttemptStatus>> {
        let ours = changes.iter().filter(|changed| changed.project == Some(self.0));
        let news = ours.filter_map(|changed| match &changed.change {
            Change::Task { id, value: Some(view), .. } if !view.is_chat => {
                Some(News::Is(*id, view.clone().into()))
            }
            Change::Task { id, .. } => Some(News::IsNot(*id)),
            _ => None,
        });
        news.collect()
    }
}
