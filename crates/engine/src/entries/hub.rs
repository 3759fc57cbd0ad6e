//! Who makes the entries of a run, and how those who read them hear of more. One at a time makes them: the task that
//! looks after the run while it lives, and whoever needs them afterwards.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use forge_model::RunId;
use tokio::sync::{OwnedMutexGuard, Semaphore, watch};

/// How many logs are folded at once only because somebody wants to read their entries.
const AT_ONCE: usize = 4;

/// The runs whose entries are made or read.
#[derive(Debug)]
pub(crate) struct Hub {
    rooms: Mutex<HashMap<RunId, Weak<Room>>>,
    /// Permits to fold what is over.
    pub(super) places: Arc<Semaphore>,
}

/// One run whose entries are made or read.
#[derive(Debug, Default)]
pub(crate) struct Room {
    turn: Arc<tokio::sync::Mutex<()>>,
    is_claimed: AtomicBool,
    news: watch::Sender<News>,
}

/// The turn of whoever makes the entries of a run; dropping it is the end of it.
#[derive(Debug)]
pub(crate) struct Claim {
    room: Arc<Room>,
    turn: Option<OwnedMutexGuard<()>>,
}

/// What is known of a run's entries without looking at them.
#[derive(Debug, Clone, Default)]
pub(crate) struct News {
    /// Counts up, so that there is news even when nothing else differs.
    count: u64,
    /// The cache that is written, by its number.
    pub(super) number: Option<u64>,
    /// Everything that the log has was folded.
    pub(super) caught_up: bool,
    /// Why there will be none.
    pub(super) trouble: Option<String>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { rooms: Mutex::default(), places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl Hub {
    /// Returns the room of a run.
    pub(crate) fn room(&self, run: RunId) -> Arc<Room> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms.get(&run).and_then(Weak::upgrade) {
            return room;
        }
        rooms.retain(|_, room| room.strong_count() > 0);
        let room = Arc::new(Room::default());
        rooms.insert(run, Arc::downgrade(&room));
        room
    }
}

impl Room {
    /// Waits for the turn to make the entries, and begins to.
    pub(crate) async fn claim(self: &Arc<Self>) -> Claim {
        let claim = self.wait_for_turn().await;
        claim.begin();
        claim
    }

    /// Waits for the turn to make the entries.
    pub(super) async fn wait_for_turn(self: &Arc<Self>) -> Claim {
        let turn = self.turn.clone().lock_owned().await;
        self.claimed(turn)
    }

    /// Takes the turn to make the entries, when nobody has it.
    pub(super) fn try_claim(self: &Arc<Self>) -> Option<Claim> {
        let turn = self.turn.clone().try_lock_owned().ok()?;
        Some(self.claimed(turn))
    }

    fn claimed(self: &Arc<Self>, turn: OwnedMutexGuard<()>) -> Claim {
        self.is_claimed.store(true, Ordering::SeqCst);
        Claim { room: self.clone(), turn: Some(turn) }
    }

    /// Says whether somebody has the turn. To ask does not take it, so nobody else is refused meanwhile.
    pub(super) fn is_claimed(&self) -> bool {
        self.is_claimed.load(Ordering::SeqCst)
    }

    /// Tells those who read why there will be nothing.
    pub(super) fn trouble(&self, trouble: String) {
        self.news.send_modify(|news| {
            news.trouble(trouble);
            news.count += 1;
        });
    }

    pub(super) fn listen(&self) -> watch::Receiver<News> {
        self.news.subscribe()
    }
}

impl Claim {
    /// Forgets what was known of an earlier turn.
    pub(super) fn begin(&self) {
        self.tell(|news| *news = News { count: news.count, ..News::default() });
    }

    /// Tells those who read that there may be more.
    pub(crate) fn tell(&self, change: impl FnOnce(&mut News)) {
        self.room.news.send_modify(|news| {
            change(news);
            news.count += 1;
        });
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Whoever still waits looks again, and may take over: that is told when it is true, for it is told once.
        self.room.is_claimed.store(false, Ordering::SeqCst);
        self.turn = None;
        self.tell(|_| {});
    }
}

impl News {
    pub(crate) fn caught_up(&mut self) {
        self.caught_up = true;
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.number = Some(number);
    }

    pub(crate) fn trouble(&mut self, trouble: String) {
        self.trouble = Some(trouble);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_hears_that_a_turn_is_over_can_take_it() {
        let room = Arc::new(Room::default());
        for time in 0..2000 {
            let claim = room.claim().await;
            assert!(room.is_claimed() && room.try_claim().is_none());
            let (mut news, waiting) = (room.listen(), room.clone());
            let next = tokio::spawn(async move {
                news.changed().await.unwrap();
                !waiting.is_claimed() && waiting.try_claim().is_some()
            });
            drop(claim);
            assert!(next.await.unwrap(), "the {time}th time");
        }
    }
}
