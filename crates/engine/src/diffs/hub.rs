//! One attempt's diff for all who look at it: listens, waits a moment, compares, tells.

use std::sync::Arc;
use std::time::Duration;

use forge_git::{TreeWatch, Watched};
use forge_model::AttemptId;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};

use crate::background::blocking;
use crate::{Change, Engine, Result};

use super::plan::{Facts, Files, Plan};
use super::{DiffOf, DiffSet, State};

/// How long is waited after the first of several changes: an editor, a formatter and a `git checkout` write more than
/// once. It is not waited for silence, so one who writes on and on is seen all the same.
const GATHER: Duration = Duration::from_millis(120);

/// After a comparison that took long, it is waited this many times as long before the next, so that a large tree in
/// which much happens takes up a third of a core and no more.
const REST: u32 = 2;
const LONGEST_REST: Duration = Duration::from_secs(3);

/// How often it is looked when the system has no room for watches.
const POLL: Duration = Duration::from_secs(3);

/// Looks after the diff of an attempt until nobody looks at it any more.
pub(super) async fn tend(engine: Engine, id: AttemptId, hub: watch::Sender<State>) {
    let mut place = Place { engine: engine.clone(), id, hub: hub.clone(), is_open: true };
    let mut news = AttemptNews::now(&engine, id);
    loop {
        let outcome = match engine.plan_diff(id).await {
            Ok((facts, Plan::Still(of, diff))) => {
                place.tell(Arc::new(engine.inner.diffs.computed(of, &diff))).await;
                if of == DiffOf::Landing {
                    // Nothing more comes, and every viewer knows it by that.
                    return;
                }
                // No files are listened to, so what comes is something else.
                place
                    .wait(&facts, &mut news, &Notify::new(), None)
                    .await
                    .map(|next| next.unwrap_or(Next::PlanAgain))
            }
            Ok((facts, Plan::Files(files))) => match follow(&mut place, *files, &facts, &mut news).await {
                // The files went while they were compared; then there is something else to compare.
                Err(_) if !facts.is_there_still() => Ok(Next::PlanAgain),
                outcome => outcome,
            },
            Err(error) => Err(error),
        };
        match outcome {
            Ok(Next::PlanAgain) => {}
            Ok(Next::Leave) => return,
            Err(error) => {
                // Viewers hear of it and go; whoever comes back has it tried again.
                tracing::warn!(attempt.id = %id, "the diff of attempt {id} cannot be computed: {error}");
                place.close();
                hub.send_replace(Some(Err(Arc::new(error))));
                return;
            }
        }
    }
}

enum Next {
    PlanAgain,
    Leave,
}

/// What one comparison after another needs.
struct Looking {
    files: Files,
    tree: Option<TreeWatch>,
}

/// A comparison that was made.
struct Looked {
    looking: Looking,
    took: Duration,
    /// Nothing differs.
    is_empty: bool,
}

/// Follows the files of a worktree until there is something else to compare, or nobody looks.
async fn follow(place: &mut Place, files: Files, facts: &Facts, news: &mut AttemptNews) -> Result<Next> {
    let heard = Arc::new(Notify::new());
    let bell = heard.clone();
    let watcher = place.engine.inner.diffs.watcher();
    let tree = watcher.map(|watcher| watcher.tree(move || bell.notify_one()));
    // The first look is told before the tree is gone through for watches, which takes as long again.
    let Looked { mut looking, mut is_empty, .. } = place.look(Looking { files, tree }).await?;
    let (mut looking, mut watched) = blocking(move || {
        let watched = looking.cover();
        (looking, watched)
    })
    .await?;
    if watched == Watched::None {
        tracing::warn!(
            attempt.id = %place.id,
            "there is no room to watch the files of attempt {}; looking every {} s instead (see \
             fs.inotify.max_user_watches)",
            place.id,
            POLL.as_secs()
        );
    }
    let mut took = Duration::ZERO;
    let mut matters = true;
    let mut ended = Instant::now();
    loop {
        if matters {
            let was_empty = is_empty;
            Looked { looking, took, is_empty } = place.look(looking).await?;
            ended = Instant::now();
            if is_empty && !was_empty && facts.has_landed() {
                // What was done after the landing was taken back; then the landing is what there is to show.
                return Ok(Next::PlanAgain);
            }
        }
        let next_look = (watched == Watched::None).then(|| ended + POLL);
        if let Some(next) = place.wait(facts, news, &heard, next_look).await? {
            return Ok(next);
        }
        let rest = (took * REST).min(LONGEST_REST);
        sleep_until((Instant::now() + GATHER).max(ended + rest)).await;
        (looking, matters, watched) = blocking(move || {
            let (matters, watched) = looking.take_in();
            (looking, matters, watched)
        })
        .await?;
    }
}

impl Looking {
    fn cover(&mut self) -> Watched {
        let target = self.files.target.as_deref();
        self.tree.as_mut().map_or(Watched::None, |tree| tree.cover(&self.files.differ, target))
    }

    fn take_in(&mut self) -> (bool, Watched) {
        let target = self.files.target.as_deref();
        match &mut self.tree {
            Some(tree) => tree.take_in(&mut self.files.differ, target),
            None => {
                self.files.differ.forget_base();
                (true, Watched::None)
            }
        }
    }
}

/// A hub's place among those of the engine; given up when it is dropped.
struct Place {
    engine: Engine,
    id: AttemptId,
    hub: watch::Sender<State>,
    is_open: bool,
}

impl Place {
    /// Compares, and tells what came of it.
    async fn look(&mut self, mut looking: Looking) -> Result<Looked> {
        let begun = Instant::now();
        let engine = self.engine.clone();
        let (looking, set) = blocking(move || -> Result<_> {
            let diff = looking.files.differ.diff(&looking.files.base)?;
            let set = engine.inner.diffs.computed(DiffOf::Files, &diff);
            if let Some(tree) = &mut looking.tree {
                tree.learn(&looking.files.differ, &diff);
            }
            Ok((looking, set))
        })
        .await??;
        let is_empty = set.files.is_empty();
        self.tell(Arc::new(set)).await;
        Ok(Looked { looking, took: begun.elapsed(), is_empty })
    }

    async fn tell(&mut self, set: Arc<DiffSet>) {
        if set.of == DiffOf::Landing {
            // Whoever comes from now on gets a hub of their own.
            self.close();
        }
        self.hub.send_replace(Some(Ok(set.clone())));
        // After those who look were told: nobody waits for it.
        self.engine.tell_sum(self.id, set).await;
    }

    /// Waits until files changed, or until a time. Something else may come first: there is something else to compare,
    /// or nobody looks.
    async fn wait(
        &mut self,
        facts: &Facts,
        news: &mut AttemptNews,
        heard: &Notify,
        until: Option<Instant>,
    ) -> Result<Option<Next>> {
        loop {
            let hub = self.hub.clone();
            tokio::select! {
                () = heard.notified() => return Ok(None),
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return Ok(None),
                () = hub.closed() => if self.try_leave() {
                    return Ok(Some(Next::Leave));
                },
                () = news.next() => if self.engine.diff_facts(self.id).await? != *facts {
                    return Ok(Some(Next::PlanAgain));
                },
            }
        }
    }

    /// Leaves when nobody looks. Somebody may have come in the meantime.
    fn try_leave(&mut self) -> bool {
        let mut hubs = self.engine.inner.diffs.hubs();
        if self.hub.receiver_count() > 0 {
            return false;
        }
        hubs.remove(&self.id);
        self.is_open = false;
        true
    }

    fn close(&mut self) {
        let mut hubs = self.engine.inner.diffs.hubs();
        if std::mem::take(&mut self.is_open)
            && hubs.get(&self.id).is_some_and(|hub| hub.same_channel(&self.hub))
        {
            hubs.remove(&self.id);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.close();
    }
}

/// Hears when an attempt changes in the store.
struct AttemptNews {
    engine: Engine,
    id: AttemptId,
    bell: watch::Receiver<i64>,
    after: i64,
}

impl AttemptNews {
    fn now(engine: &Engine, id: AttemptId) -> AttemptNews {
        let bell = engine.bell();
        let after = *bell.borrow();
        AttemptNews { engine: engine.clone(), id, bell, after }
    }

    /// Waits for a change. May be dropped while it waits; nothing is lost.
    async fn next(&mut self) {
        loop {
            if *self.bell.borrow_and_update() != self.after {
                match self.engine.changes(self.after).await {
                    Ok(seen) => {
                        self.after = seen.seq;
                        let ours =
                            |change: &Change| matches!(change, Change::Attempt { id, .. } if *id == self.id);
                        if seen.resync || seen.items.iter().any(|item| ours(&item.change)) {
                            return;
                        }
                        continue;
                    }
                    // The store is in trouble, and others say so; in a while it is asked again.
                    Err(_) => drop(timeout(POLL, self.bell.changed()).await),
                }
            } else if self.bell.changed().await.is_err() {
                // The store is closed, and the end of this task is near.
                std::future::pending::<()>().await;
            }
        }
    }
}
