//! The runs of an attempt as a map, with or without those that a retry left out of the history.

use forge_engine::{Change, Changed, Engine, Positioned};
use forge_model::{AttemptId, Run, RunId};

use super::{Document, News, Whole};
use crate::wire::ExecutionProcess;

/// The runs of an attempt.
#[derive(Debug)]
pub(crate) struct Processes {
    pub(crate) attempt: AttemptId,
    pub(crate) with_dropped: bool,
}

impl Processes {
    fn has(&self, run: &Run) -> bool {
        run.attempt == self.attempt && (self.with_dropped || !run.dropped)
    }
}

impl Document for Processes {
    type Id = RunId;
    type Value = ExecutionProcess;
    const NAME: &'static str = "execution_processes";

    async fn whole(&self, engine: &Engine) -> forge_engine::Result<Whole<RunId, ExecutionProcess>> {
        let Positioned { seq, items } = engine.runs_and_position(self.attempt).await?;
        let ours = items.into_iter().filter(|run| self.has(run));
        Ok(Positioned { seq, items: ours.map(|run| (run.id, run.into())).collect() })
    }

    fn news(&self, changes: &[Changed]) -> Vec<News<RunId, ExecutionProcess>> {
        let news = changes.iter().filter_map(|changed| match &changed.change {
            Change::Run { id, value: Some(run), .. } if self.has(run) => {
                Some(News::Is(*id, run.clone().into()))
            }
            Change::Run { id, .. } => Some(News::IsNot(*id)),
            _ => None,
        });
        news.collect()
    }
}
