//! A run's entries as JSON Patch frames over a WebSocket.
//!
//! An entry that is new to the connection is an `add` in its newest form, one that it has is a `replace`; a frame has
//! one operation for each path. Each frame is awaited before more is read, so that a slow client holds one batch.

use std::pin::pin;

use axum::extract::ws::close_code;
use forge_engine::{EntryBatch, EntryTail};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::raw_logs::End;
use super::socket::{CLOSING, Farewell, PING, Sink, Socket, part, until_gone};
use crate::wire::{NormalizedLogEntry, PatchOp};

/// What a message of this stream is.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum EntriesMessage {
    Patch {
        #[serde(rename = "JsonPatch")]
        patch: Vec<PatchOp<NormalizedLogEntry>>,
    },
    End(End),
}

/// Sends a run's entries until the run ends, the client goes away or the server closes.
pub(crate) async fn entries(socket: Socket, tail: EntryTail) {
    let Socket { mut sink, mut source, mut guard } = socket;
    let farewell = tokio::select! {
        farewell = send_all(&mut sink, tail) => farewell,
        () = until_gone(&mut source) => return,
        () = guard.closed() => Some(CLOSING),
    };
    if let Some(farewell) = farewell {
        part(&mut sink, &mut source, farewell).await;
    }
}

/// Sends everything there is and comes; returns how to close, or none when the client is gone.
async fn send_all(sink: &mut Sink, mut tail: EntryTail) -> Option<Farewell> {
    let mut ping = interval_at(Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut given = 0;
    let end = loop {
        // A read that is broken off would lose its place, so it goes on after a ping.
        let batch = {
            let mut next = pin!(tail.next());
            loop {
                tokio::select! {
                    batch = &mut next => break batch,
                    _ = ping.tick() => sink.ping().await?,
                }
            }
        };
        match batch {
            Ok(Some(batch)) => sink.send(&frame(batch, &mut given)).await?,
            Ok(None) => break tail.end(),
            Err(error) => {
                tracing::warn!("entries cannot be followed any more: {error}");
                return Some((close_code::ERROR, "the entries could not be read"));
            }
        }
    };
    sink.send(&EntriesMessage::End(End::from(end))).await?;
    Some((close_code::NORMAL, ""))
}

/// Makes operations of a batch; `given` is the index after those that the connection has.
fn frame(batch: EntryBatch, given: &mut u64) -> EntriesMessage {
    let operations = batch.entries.into_iter().map(|(index, entry)| {
        let path = format!("/entries/{index}");
        if index < *given {
            return PatchOp::replace(path, entry.into());
        }
        *given = index + 1;
        PatchOp::add(path, entry.into())
    });
    EntriesMessage::Patch { patch: operations.collect() }
}
