//! A run's output as it was written, as JSON Patch frames over a WebSocket.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use forge_engine::{ChunkStream, LogBatch, LogEnd, LogTail};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use schemars::JsonSchema;
use serde::Serialize;

use crate::closing::StreamGuard;
use crate::wire::PatchOp;

/// How long a client may take to read the last frame and to answer the close.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a message of this stream is.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawLogMessage {
    Patch(Frame),
    /// The run is over and everything was sent.
    Finished {
        finished: bool,
        r#type: &'static str,
    },
    /// Everything that is there was sent; nothing more was asked for.
    CaughtUp {
        caught_up: bool,
    },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RawLogPatch")]
pub(crate) struct Frame {
    #[serde(rename = "JsonPatch")]
    patch: Vec<PatchOp<Piece>>,
    /// Where to resume: `?from=` this.
    position: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RawLogPiece")]
pub(crate) struct Piece {
    r#type: &'static str,
    content: String,
}

/// Sends a run's output until the run ends, the client goes away or the server closes.
///
/// Each frame is awaited before the next is read, so that a slow client holds one batch in memory, no more.
pub(crate) async fn raw_logs(socket: WebSocket, log: LogTail, mut guard: StreamGuard) {
    let (mut sink, mut source) = socket.split();
    let farewell = tokio::select! {
        farewell = send_all(&mut sink, log) => farewell,
        () = until_gone(&mut source) => return,
        () = guard.closed() => Some((close_code::AWAY, "the server is closing")),
    };
    let Some((code, reason)) = farewell else { return };
    let parting = async {
        let close = CloseFrame { code, reason: reason.into() };
        if sink.send(Message::Close(Some(close))).await.is_ok() {
            until_gone(&mut source).await;
        }
    };
    // A client that does not answer in time is simply hung up on.
    let _ = tokio::time::timeout(FAREWELL, parting).await;
}

/// Sends everything there is and comes; returns how to close, or none when the client is gone.
async fn send_all(sink: &mut SplitSink<WebSocket, Message>, mut log: LogTail) -> Option<(u16, &'static str)> {
    let mut sent = 0;
    loop {
        match log.next().await {
            Ok(Some(batch)) => sink.send(frame(batch, &mut sent)?).await.ok()?,
            Ok(None) => break,
            Err(error) => {
                tracing::error!("could not read a log: {error}");
                return Some((close_code::ERROR, "the log could not be read"));
            }
        }
    }
    let end = match log.end() {
        LogEnd::Over => RawLogMessage::Finished { finished: true, r#type: "finished" },
        LogEnd::CaughtUp => RawLogMessage::CaughtUp { caught_up: true },
    };
    sink.send(message(&end)?).await.ok()?;
    Some((close_code::NORMAL, ""))
}

/// Reads what the client sends, which answers its pings, until it closes or breaks off.
async fn until_gone(source: &mut SplitStream<WebSocket>) {
    while let Some(Ok(_)) = source.next().await {}
}

/// Encodes a batch; `sent` counts the entries of this connection. What follows on the same stream is one
/// entry, because a log of short lines would else be mostly paths.
fn frame(batch: LogBatch, sent: &mut u64) -> Option<Message> {
    let mut pieces: Vec<Piece> = Vec::new();
    for chunk in batch.chunks {
        let r#type = match chunk.stream {
            ChunkStream::Stdout => "STDOUT",
            ChunkStream::Stderr => "STDERR",
        };
        match pieces.last_mut() {
            Some(last) if last.r#type == r#type => last.content.push_str(&chunk.text),
            _ => pieces.push(Piece { r#type, content: chunk.text }),
        }
    }
    let first = *sent;
    *sent += pieces.len() as u64;
    let patch =
        (first..).zip(pieces).map(|(n, piece)| PatchOp::add(format!("/entries/{n}"), piece)).collect();
    message(&RawLogMessage::Patch(Frame { patch, position: batch.position }))
}

fn message(message: &RawLogMessage) -> Option<Message> {
    serde_json::to_string(message).ok().map(Message::text)
}

#[cfg(test)]
mod tests {
    use forge_engine::Chunk;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_batch_is_one_frame_whose_entries_are_counted_on_across_frames() {
        let batch = |text: &str, position| LogBatch {
            chunks: vec![
                Chunk { stream: ChunkStream::Stdout, text: text.to_string() },
                Chunk { stream: ChunkStream::Stdout, text: "more\n".to_string() },
                Chunk { stream: ChunkStream::Stderr, text: "oh".to_string() },
            ],
            position,
        };
        let mut sent = 0;
        frame(batch("one\n", 10), &mut sent).unwrap();
        let second = frame(batch("two\n", 20), &mut sent).unwrap();
        let second: Value = serde_json::from_str(second.to_text().unwrap()).unwrap();
        let expected = json!({
            "JsonPatch": [
                {"op": "add", "path": "/entries/2", "value": {"type": "STDOUT", "content": "two\nmore\n"}},
                {"op": "add", "path": "/entries/3", "value": {"type": "STDERR", "content": "oh"}},
            ],
            "position": 20,
        });
        assert_eq!(second, expected);
    }
}
