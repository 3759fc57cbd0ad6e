//! Everything that changes, as server-sent events: the tail of the event numbers from a position.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use forge_engine::{Changes, Engine};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde_json::json;
use tokio::sync::watch;

use crate::closing::StreamGuard;
use crate::wire::Patch;

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
    let mut bell = engine.bell();
    let now = *bell.borrow_and_update();
    let (after, first) = match position {
        // An id without data reaches no listener, but a client that comes back before anything happened
        // tells it, and misses nothing.
        Position::Now => (now, Some(Event::default().id(now.to_string()).comment("from now on"))),
        Position::After(seq) => (seq, None),
        Position::Unknown => (now, Some(resync(now))),
    };
    let tail = Tail { engine, bell, guard, after, first, behind: matches!(position, Position::After(_)) };
    let stream = unfold(tail, |mut tail| async move { tail.next().await.map(|event| (Ok(event), tail)) });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

struct Tail {
    engine: Engine,
    bell: watch::Receiver<i64>,
    guard: StreamGuard,
    after: i64,
    first: Option<Event>,
    /// There may be changes that the bell will not ring for again.
    behind: bool,
}

impl Tail {
    async fn next(&mut self) -> Option<Event> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            // The bell is marked as heard before the changes are read, so that none falls in between.
            if !std::mem::take(&mut self.behind) {
                tokio::select! {
                    biased;
                    () = self.guard.closed() => return None,
                    rung = self.bell.changed() => rung.ok()?,
                }
            }
            match self.engine.changes(self.after).await {
                Ok(changes) => {
                    // A long tail comes in pieces, and the bell rings only once for all of it.
                    self.behind = changes.seq > self.after && changes.seq < *self.bell.borrow();
                    self.after = changes.seq;
                    if let Some(event) = event(&changes) {
                        return Some(event);
                    }
                }
                Err(error) => {
                    tracing::error!("could not read changes after event {}: {error}", self.after);
                    return None;
                }
            }
        }
    }
}

fn event(changes: &Changes) -> Option<Event> {
    if changes.resync {
        return Some(resync(changes.seq));
    }
    if changes.items.is_empty() {
        return None;
    }
    let data = serde_json::to_string(&changes.items.iter().collect::<Patch>()).ok()?;
    Some(Event::default().id(changes.seq.to_string()).event("json_patch").data(data))
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
