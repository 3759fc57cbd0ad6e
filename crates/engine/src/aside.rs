//! What the engine does of itself, beside its verbs: it begins when the engine opens, and ends when it closes.
//!
//! A task that is broken off may have a step on a thread of its own which nothing can break off. Whoever closes waits
//! for those too, so that an engine that is closed writes nothing any more.

use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::Engine;

tokio::task_local! {
    /// Held by everything that is done aside. Nothing is ever sent: what counts is that somebody could.
    static AT_WORK: mpsc::Sender<()>;
}

/// What is being done aside.
#[derive(Debug)]
pub(crate) struct Aside {
    /// None once the engine is closed.
    at_work: Mutex<Option<mpsc::Sender<()>>>,
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
    tasks: Mutex<Vec<AbortHandle>>,
}

impl Default for Aside {
    fn default() -> Self {
        let (at_work, ended) = mpsc::channel(1);
        Self {
            at_work: Mutex::new(Some(at_work)),
            ended: tokio::sync::Mutex::new(ended),
            tasks: Mutex::default(),
        }
    }
}

impl Engine {
    /// Ends what the engine does of itself: nothing of it begins any more, and nothing of it is under way when this
    /// returns. Agents run on, and verbs still work.
    pub async fn close(&self) {
        let aside = &self.inner.aside;
        // Whoever begins something looks at this under its lock, so nothing is begun after it.
        aside.at_work.lock().unwrap_or_else(PoisonError::into_inner).take();
        for task in aside.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
        // Nobody sends, so this is the end of the last one that could.
        while aside.ended.lock().await.recv().await.is_some() {}
    }

    /// Has something done for as long as it takes, or until the engine closes.
    pub(crate) fn aside(&self, work: impl Future<Output = ()> + Send + 'static) {
        let aside = &self.inner.aside;
        let at_work = aside.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(held) = at_work.clone() else { return };
        let task = tokio::spawn(AT_WORK.scope(held, work));
        let mut tasks = aside.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task.abort_handle());
    }
}

/// What a step of something done aside holds until it has ended; none for a step of a verb.
pub(crate) fn at_work() -> Option<mpsc::Sender<()>> {
    AT_WORK.try_with(Clone::clone).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::background::blocking;

    #[tokio::test]
    async fn what_is_under_way_on_a_thread_holds_the_end_back() {
        let aside = Aside::default();
        let done = Arc::new(AtomicBool::new(false));
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let held = aside.at_work.lock().unwrap().take().unwrap();
        let flag = done.clone();
        let task = tokio::spawn(AT_WORK.scope(held, async move {
            let step = blocking(move || {
                begun.send(()).unwrap();
                gone.recv().unwrap();
                flag.store(true, Ordering::SeqCst);
            });
            step.await.unwrap();
        }));
        begins.await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        go.send(()).unwrap();
        assert!(aside.ended.lock().await.recv().await.is_none());
        assert!(done.load(Ordering::SeqCst));
    }
}
