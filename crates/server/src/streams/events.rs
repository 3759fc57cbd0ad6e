//! Everything that changes, as server-sent events: the tail of the event numbers from a position.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use forge_engine::{Change, Changes, Engine};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Serialize;
use serde_json::json;

use super::ChangesTail;
use crate::closing::StreamGuard;
use crate::wire::{AttemptUpdate, Patch};

/// Where a stream starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// With what happens from now on.
    Now,
    /// After an event.
    After(i64),
    /// After something that is no event of ours: the client must start over.
    Unknown,
}

impl Position {
    /// Reads a `Last-Event-ID`. One that makes no sense is not refused: an EventSource would never try again.
    pub(crate) fn told(value: &HeaderValue) -> Self {
        match value.to_str().map(|text| text.trim().parse()) {
            Ok(Ok(seq)) => Position::After(seq),
            _ => Position::Unknown,
        }
    }
}

/// Follows changes from a position until the client goes away or the server closes.
pub(crate) fn events(
    engine: Engine,
    position: Position,
    guard: StreamGuard,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (tail, first) = match position {
        // An id without data reaches no listener, but a client that comes back before anything happened
        // tells it, and misses nothing.
        Position::Now => {
            let tail = ChangesTail::now(engine);
            let first = Event::default().id(tail.position().to_string()).comment("from now on");
            (tail, Some(first))
        }
        Position::After(seq) => (ChangesTail::after(engine, seq), None),
        Position::Unknown => {
            let tail = ChangesTail::now(engine);
            let first = resync(tail.position());
            (tail, Some(first))
        }
    };
    let told = Told { tail, guard, ready: first.into_iter().collect() };
    let stream = unfold(told, |mut told| async move { told.next().await.map(|event| (Ok(event), told)) });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

struct Told {
    tail: ChangesTail,
    guard: StreamGuard,
    /// The rest of a batch.
    ready: VecDeque<Event>,
}

impl Told {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            tokio::select! {
                biased;
                () = self.guard.closed() => return None,
                changes = self.tail.next() => self.ready = batch(changes?.as_ref()),
            }
        }
    }
}

/// Encodes what changed. The position stands on the last event of a batch only: a client that was cut off
/// within a batch comes back with the position before it, and hears the whole batch.
fn batch(changes: &Changes) -> VecDeque<Event> {
    if changes.resync {
        return VecDeque::from([resync(changes.seq)]);
    }
    let updates = changes.items.iter().filter_map(|item| match &item.change {
        Change::Attempt { value: Some(view), .. } => Some(AttemptUpdate::from(view)),
        _ => None,
    });
    let updates = updates.filter_map(|update| named("task_attempt_update", &update));
    let patch = named("json_patch", &changes.items.iter().collect::<Patch>());
    let patch = patch.map(|event| event.id(changes.seq.to_string()));
    updates.chain(patch).collect()
}

fn named(name: &str, data: &impl Serialize) -> Option<Event> {
    // What is encoded here are texts and numbers under texts; there is nothing that JSON cannot say.
    serde_json::to_string(data).ok().map(|data| Event::default().event(name).data(data))
}

fn resync(seq: i64) -> Event {
    Event::default().id(seq.to_string()).event("resync").data(json!({ "seq": seq }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_event_id_that_makes_no_sense_is_an_unknown_position() {
        assert_eq!(Position::told(&HeaderValue::from_static("42")), Position::After(42));
        assert_eq!(Position::told(&HeaderValue::from_static("abc")), Position::Unknown);
        assert_eq!(Position::told(&HeaderValue::from_static("")), Position::Unknown);
    }
}
