//! The newest long list of tasks, kept until anything at all changes: a board of thousands is looked at far more
//! often than it changes. It is never older than what a caller was told: a write rings the bell before it answers.

use std::sync::{Arc, Mutex, PoisonError};

use forge_model::ProjectId;

use crate::TaskView;
use crate::maps::Positioned;

/// From how many tasks on a list is worth keeping.
const LONG: usize = 500;

/// One list at most is kept, of the project that was looked at last.
#[derive(Debug, Default)]
pub(crate) struct KeptTasks(Mutex<Option<(ProjectId, Arc<Positioned<TaskView>>)>>);

impl KeptTasks {
    /// Returns the list of a project, if it was read at this position.
    pub(crate) fn at(&self, project: ProjectId, seq: i64) -> Option<Arc<Positioned<TaskView>>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, list) = kept.as_ref()?;
        (*of == project && list.seq == seq).then(|| list.clone())
    }

    /// Keeps a list that is long enough, in the place of an older one.
    pub(crate) fn keep(&self, project: ProjectId, list: &Arc<Positioned<TaskView>>) {
        if list.items.len() >= LONG {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((project, list.clone()));
        }
    }
}
