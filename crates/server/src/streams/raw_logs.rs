//! A run's output as it was written, as JSON Patch frames over a WebSocket.

use axum::extract::ws::close_code;
use forge_engine::{Chunk, ChunkStream, LogBatch, LogEnd, LogTail};
use schemars::JsonSchema;
use serde::Serialize;

use super::socket::{CLOSING, Farewell, Sink, Socket, part, until_gone};
use crate::wire::PatchOp;

/// What a message of this stream is.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RawLogMessage {
    Patch(Frame),
    End(End),
}

/// How a log says that nothing more comes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LogEnd")]
#[serde(untagged)]
pub(crate) enum End {
    /// The run is over and everything was sent.
    Finished { finished: bool, r#type: &'static str },
    /// Everything that is there was sent; nothing more was asked for.
    CaughtUp { caught_up: bool },
}

impl From<LogEnd> for End {
    fn from(end: LogEnd) -> Self {
        match end {
            LogEnd::Over => End::Finished { finished: true, r#type: "finished" },
            LogEnd::CaughtUp => End::CaughtUp { caught_up: true },
        }
    }
}

/// What a message of the plainer stream is; it ends as the other does.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PlainLogMessage {
    Stdout {
        #[serde(rename = "Stdout")]
        text: String,
    },
    Stderr {
        #[serde(rename = "Stderr")]
        text: String,
    },
    End(End),
}

/// What there is to encode: some output, or that there is no more.
enum Part {
    Batch(LogBatch),
    End(End),
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RawLogPatch")]
pub(crate) struct Frame {
    #[serde(rename = "JsonPatch")]
    patch: Vec<PatchOp<Piece>>,
    /// Where to resume: `?from=` this.
    position: u64,
}

/// What a run printed on one of its streams.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RawLogPiece")]
pub(crate) struct Piece {
    r#type: &'static str,
    content: String,
}

/// Sends a run's output until the run ends, the client goes away or the server closes.
///
/// Each frame is awaited before the next is read, so that a slow client holds one batch in memory, no more.
pub(crate) async fn raw_logs(socket: Socket, log: LogTail) {
    let mut sent = 0;
    let encode = move |part| match part {
        Part::Batch(batch) => Some(vec![frame(batch, &mut sent)?]),
        Part::End(end) => Some(vec![message(&RawLogMessage::End(end))?]),
    };
    send(socket, log, encode).await;
}

/// Sends a run's output as [`raw_logs`] does, in frames that are not patches.
pub(crate) async fn plain_logs(socket: Socket, log: LogTail) {
    let encode = |part| match part {
        Part::Batch(batch) => batch.chunks.into_iter().map(plain).collect(),
        Part::End(end) => Some(vec![message(&PlainLogMessage::End(end))?]),
    };
    send(socket, log, encode).await;
}

async fn send(socket: Socket, log: LogTail, encode: impl FnMut(Part) -> Option<Vec<String>>) {
    let Socket { mut sink, mut source, mut guard } = socket;
    let farewell = tokio::select! {
        farewell = send_all(&mut sink, log, encode) => farewell,
        () = until_gone(&mut source) => return,
        () = guard.closed() => Some(CLOSING),
    };
    if let Some(farewell) = farewell {
        part(&mut sink, &mut source, farewell).await;
    }
}

/// Sends everything there is and comes; returns how to close, or none when the client is gone.
async fn send_all(
    sink: &mut Sink,
    mut log: LogTail,
    mut encode: impl FnMut(Part) -> Option<Vec<String>>,
) -> Option<Farewell> {
    loop {
        match log.next().await {
            Ok(Some(batch)) => {
                for message in encode(Part::Batch(batch))? {
                    sink.send_text(message).await?;
                }
            }
            Ok(None) => break,
            Err(error) => {
                tracing::error!("could not read a log: {error}");
                return Some((close_code::ERROR, "the log could not be read"));
            }
        }
    }
    for message in encode(Part::End(log.end().into()))? {
        sink.send_text(message).await?;
    }
    Some((close_code::NORMAL, ""))
}

/// Encodes a batch; `sent` counts the entries of this connection.
fn frame(batch: LogBatch, sent: &mut u64) -> Option<String> {
    let pieces = pieces(batch.chunks);
    let first = *sent;
    *sent += pieces.len() as u64;
    let patch =
        (first..).zip(pieces).map(|(n, piece)| PatchOp::add(format!("/entries/{n}"), piece)).collect();
    message(&RawLogMessage::Patch(Frame { patch, position: batch.position }))
}

/// Joins what follows on the same stream, because a log of short lines would else be mostly paths.
pub(super) fn pieces(chunks: Vec<Chunk>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for chunk in chunks {
        let r#type = match chunk.stream {
            ChunkStream::Stdout => "STDOUT",
            ChunkStream::Stderr => "STDERR",
        };
        match pieces.last_mut() {
            Some(last) if last.r#type == r#type => last.content.push_str(&chunk.text),
            _ => pieces.push(Piece { r#type, content: chunk.text }),
        }
    }
    pieces
}

/// Encodes a piece of output by itself.
fn plain(chunk: Chunk) -> Option<String> {
    let frame = match chunk.stream {
        ChunkStream::Stdout => PlainLogMessage::Stdout { text: chunk.text },
        ChunkStream::Stderr => PlainLogMessage::Stderr { text: chunk.text },
    };
    message(&frame)
}

fn message(message: &impl Serialize) -> Option<String> {
    serde_json::to_string(message).ok()
}

#[cfg(test)]
mod tests {
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
        let second: Value = serde_json::from_str(&second).unwrap();
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
