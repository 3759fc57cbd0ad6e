//! Who makes the entries of a run, and how those who read them hear of more. One at a time makes them: the task that
//! looks after the run while it lives, and whoever needs them afterwards.

use std::collections::HashMap;
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
#[derive(Debug)]
pub(crate) struct Room {
    turn: Arc<tokio::sync::Mutex<()>>,
    news: watch::Sender<News>,
}

/// The turn of whoever makes the entries of a run; dropping it is the end of it.
#[derive(Debug)]
pub(crate) struct Claim {
    room: Arc<Room>,
    _turn: OwnedMutexGuard<()>,
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
        let room = Arc::new(Room { turn: Arc::default(), news: watch::Sender::default() });
        rooms.insert(run, Arc::downgrade(&room));
        room
    }
}

impl Room {
    /// Waits for the turn to make the entries.
    pub(crate) async fn claim(self: &Arc<Self>) -> Claim {
        let turn = self.turn.clone().lock_owned().await;
        let claim = Claim { room: self.clone(), _turn: turn };
        claim.begin();
        claim
    }

    /// Takes the turn to make the entries, when nobody has it.
    pub(super) fn try_claim(self: &Arc<Self>) -> Option<Claim> {
        let turn = self.turn.clone().try_lock_owned().ok()?;
        Some(Claim { room: self.clone(), _turn: turn })
    }

    /// Says whether somebody has the turn.
    pub(super) fn is_claimed(&self) -> bool {
        self.turn.try_lock().is_err()
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
        // Whoever still waits looks again, and may take over.
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
