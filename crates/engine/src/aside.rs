//! What the engine does of itself, beside its verbs: it begins when the engine opens, and ends when it closes.
//!
//! A task that is broken off may have a step on a thread of its own which nothing can break off. Whoever closes waits
//! for those too, so that an engine that is closed writes nothing any more.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

use crate::Engine;

/// How long what is under way when the engine closes may take, before the calls of git that it waits for are ended.
const PATIENCE: Duration = Duration::from_secs(5);

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
    /// returns. What was begun for somebody, such as a start whose turn came, is waited for, for some seconds. Then
    /// every call of git is ended, and none begins any more. Agents run on, and nobody looks after them.
    pub async fn close(&self) {
        let aside = &self.inner.aside;
        aside.stop();
        if tokio::time::timeout(PATIENCE, aside.ended()).await.is_err() {
            tracing::info!("something is under way still; its calls of git are ended");
        }
        let git = self.inner.git.clone();
        // On a thread that nobody at work here holds, or the end would wait for itself.
        let closed = tokio::task::spawn_blocking(move || git.close()).await;
        if let Err(error) = closed {
            tracing::warn!("calls of git run on: {error}");
        }
        aside.ended().await;
    }

    /// Has something done for as long as it takes, or until the engine closes. Says whether it was begun: an engine
    /// that is closed begins nothing.
    pub(crate) fn aside(&self, work: impl Future<Output = ()> + Send + 'static) -> bool {
        self.inner.aside.begin(work)
    }

    /// Has something done, and waits for it for a moment. What takes longer goes on aside.
    pub(crate) async fn aside_for_a_moment(&self, work: impl Future<Output = ()> + Send + 'static) {
        let (over, is_over) = tokio::sync::oneshot::channel::<()>();
        self.aside(async move {
            work.await;
            drop(over);
        });
        if tokio::time::timeout(A_MOMENT, is_over).await.is_err() {
            tracing::warn!(
                "what an earlier server left behind is taken up later: a repository does not answer yet"
            );
        }
    }
}

/// How long a server that starts waits for a repository that does not answer.
pub(crate) const A_MOMENT: Duration = Duration::from_secs(5);

impl Aside {
    fn begin(&self, work: impl Future<Output = ()> + Send + 'static) -> bool {
        let at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(held) = at_work.clone() else { return false };
        let task = tokio::spawn(AT_WORK.scope(held, work));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // Some of it is short, and begun again and again.
        tasks.retain(|task| !task.is_finished());
        tasks.push(task.abort_handle());
        true
    }

    /// Lets nothing begin any more, and breaks off what may be.
    fn stop(&self) {
        // Whoever begins something looks at this under its lock, so nothing is begun after it.
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner).take();
        for task in self.tasks.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            task.abort();
        }
    }

    /// Waits for the end of what cannot be broken off.
    async fn ended(&self) {
        // Nobody sends, so this is the end of the last one that could.
        while self.ended.lock().await.recv().await.is_some() {}
    }
}

/// Runs a verb on its own; one that was begun by something done aside holds the end back too.
pub(crate) fn along<T: Send + 'static>(verb: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    match at_work() {
        Some(held) => tokio::spawn(AT_WORK.scope(held, verb)),
        None => tokio::spawn(verb),
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
    use crate::background::{blocking, detached};

    #[tokio::test]
    async fn what_is_under_way_on_a_thread_holds_the_end_back() {
        let aside = Arc::new(Aside::default());
        let done = Arc::new(AtomicBool::new(false));
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let flag = done.clone();
        assert!(aside.begin(async move {
            let step = blocking(move || {
                begun.send(()).unwrap();
                gone.recv().unwrap();
                flag.store(true, Ordering::SeqCst);
            });
            step.await.unwrap();
        }));
        begins.await.unwrap();
        let closing = tokio::spawn({
            let aside = aside.clone();
            async move {
                aside.stop();
                aside.ended().await;
            }
        });
        while !aside.tasks.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(!closing.is_finished());
        go.send(()).unwrap();
        closing.await.unwrap();
        assert!(done.load(Ordering::SeqCst));
        assert!(!aside.begin(async {}), "nothing is begun by one that is closed");
    }

    #[tokio::test]
    async fn a_verb_that_was_begun_aside_is_not_broken_off_and_holds_the_end_back() {
        let aside = Arc::new(Aside::default());
        let done = Arc::new(AtomicBool::new(false));
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (go, gone) = tokio::sync::oneshot::channel::<()>();
        let flag = done.clone();
        aside.begin(async move {
            let verb = detached(async move {
                begun.send(()).unwrap();
                gone.await.unwrap();
                flag.store(true, Ordering::SeqCst);
                Ok(())
            });
            verb.await.unwrap();
        });
        begins.await.unwrap();
        tokio::spawn(async move { go.send(()) });
        aside.stop();
        aside.ended().await;
        assert!(done.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn what_has_ended_is_not_remembered() {
        let aside = Aside::default();
        for _ in 0..100 {
            aside.begin(async {});
            tokio::task::yield_now().await;
        }
        assert!(aside.tasks.lock().unwrap().len() < 10);
    }
}
