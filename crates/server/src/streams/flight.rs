//! Frames on their way to clients: how much of them is in memory, and that those who read the same hold the same.
//!
//! A frame is kept once, however many clients read it, and goes out in small pieces. All frames together have a bound. When
//! it is reached, clients that have not taken theirs for a while are hung up on: they come back with their position
//! and miss nothing, and those who do read go on.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// How much of frames there may be in memory.
const MOST: usize = 64 << 20;

/// A frame that is not longer is neither shared nor counted.
const SMALL: usize = 4 << 10;

/// How long a client may take for a frame when there is no room for those of others.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked who has had their time.
const LOOK: Duration = Duration::from_secs(1);

/// How much room one permit is.
const UNIT: usize = 1 << 10;

/// All frames that are on their way. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Flight(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    most: usize,
    patience: Duration,
    room: Arc<Semaphore>,
    /// The frames by what they say.
    kept: Mutex<HashMap<u64, Weak<Kept>>>,
    /// The clients that have not taken their frame yet, the oldest first.
    reading: Mutex<BTreeMap<u64, (Instant, Arc<Notify>)>>,
    next: Mutex<u64>,
}

/// A frame in memory.
#[derive(Debug)]
struct Kept {
    text: String,
    _room: OwnedSemaphorePermit,
}

/// A frame, as one of those who read it holds it.
struct Shared(Arc<Kept>);

/// A client that is being sent a frame.
pub(super) struct Reading {
    flight: Flight,
    number: u64,
    hang_up: Arc<Notify>,
}

impl Flight {
    pub(crate) fn new() -> Self {
        Self::within(MOST, PATIENCE)
    }

    fn within(most: usize, patience: Duration) -> Self {
        Self(Arc::new(Inner {
            most,
            patience,
            room: Arc::new(Semaphore::new(most / UNIT)),
            kept: Mutex::default(),
            reading: Mutex::default(),
            next: Mutex::default(),
        }))
    }

    /// Returns a frame that says this: one that is on its way to somebody else already, if there is one, and else a new
    /// one, when there is room.
    pub(super) async fn frame(&self, text: String) -> Bytes {
        if text.len() <= SMALL {
            return Bytes::from(text);
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let name = hasher.finish();
        if let Some(same) = self.known(name, &text) {
            return same;
        }
        let room = self.room(text.len()).await;
        // Somebody else may have waited with the same.
        if let Some(same) = self.known(name, &text) {
            return same;
        }
        let frame = Arc::new(Kept { text, _room: room });
        let mut kept = lock(&self.0.kept);
        if kept.len() >= 1024 {
            kept.retain(|_, frame| frame.strong_count() > 0);
        }
        kept.insert(name, Arc::downgrade(&frame));
        Bytes::from_owner(Shared(frame))
    }

    fn known(&self, name: u64, text: &str) -> Option<Bytes> {
        let same = lock(&self.0.kept).get(&name).and_then(Weak::upgrade);
        same.filter(|frame| frame.text == text).map(|frame| Bytes::from_owner(Shared(frame)))
    }

    /// Waits for room, and has those hung up on that have had their time.
    async fn room(&self, bytes: usize) -> OwnedSemaphorePermit {
        // One frame alone may be as long as it is.
        let units = u32::try_from(bytes.min(self.0.most) / UNIT).unwrap_or(u32::MAX);
        let mut room = std::pin::pin!(self.0.room.clone().acquire_many_owned(units));
        loop {
            match tokio::time::timeout(LOOK.min(self.0.patience), &mut room).await {
                Ok(Ok(room)) => return room,
                // The semaphore is never closed.
                Ok(Err(_)) => std::future::pending().await,
                Err(_) => self.hang_up_on_the_slow(),
            }
        }
    }

    fn hang_up_on_the_slow(&self) {
        let reading = lock(&self.0.reading);
        let slow = reading.values().filter(|(since, _)| since.elapsed() >= self.0.patience);
        for (_, hang_up) in slow {
            hang_up.notify_one();
        }
    }

    /// Notes that a client is being sent a frame, until that is dropped; none for one that takes no room.
    pub(super) fn reading(&self, frame: &[u8]) -> Option<Reading> {
        if frame.len() <= SMALL {
            return None;
        }
        let number = {
            let mut next = lock(&self.0.next);
            *next += 1;
            *next
        };
        let hang_up = Arc::new(Notify::new());
        lock(&self.0.reading).insert(number, (Instant::now(), hang_up.clone()));
        Some(Reading { flight: self.clone(), number, hang_up })
    }
}

impl Reading {
    /// Resolves when the client has had its time and others wait.
    pub(super) async fn over(reading: Option<&Self>) {
        match reading {
            Some(reading) => reading.hang_up.notified().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        lock(&self.flight.0.reading).remove(&self.number);
    }
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.text.as_bytes()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(of: char) -> String {
        of.to_string().repeat(100 * UNIT)
    }

    #[tokio::test]
    async fn those_who_read_the_same_hold_the_same() {
        let flight = Flight::within(150 * UNIT, PATIENCE);
        let first = flight.frame(long('a')).await;
        // There is no room for two.
        let second = flight.frame(long('a')).await;
        assert_eq!(first.as_ptr(), second.as_ptr());
        assert_eq!(flight.frame("short".to_string()).await, "short");
        let mut other = Box::pin(flight.frame(long('b')));
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut other).await.is_err());
        drop(first);
        assert!(tokio::time::timeout(Duration::from_millis(50), &mut other).await.is_err());
        drop(second);
        assert_eq!(other.await, long('b'));
    }

    #[tokio::test]
    async fn who_does_not_take_a_frame_is_hung_up_on_when_another_waits_for_room_and_not_before() {
        let flight = Flight::within(150 * UNIT, Duration::from_millis(100));
        let frame = flight.frame(long('a')).await;
        let slow = flight.reading(&frame);
        assert!(slow.is_some() && flight.reading(b"short").is_none());
        let over = Reading::over(slow.as_ref());
        assert!(tokio::time::timeout(Duration::from_millis(300), over).await.is_err());
        let (other, ()) = tokio::join!(flight.frame(long('b')), async {
            Reading::over(slow.as_ref()).await;
            drop((frame, slow));
        });
        assert_eq!(other, long('b'));
    }

    #[tokio::test]
    async fn a_frame_that_is_longer_than_all_room_goes_alone() {
        let flight = Flight::within(10 * UNIT, PATIENCE);
        assert_eq!(flight.frame(long('a')).await, long('a'));
    }
}
