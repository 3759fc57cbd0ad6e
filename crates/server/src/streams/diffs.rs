//! What an attempt has changed, as JSON Patch frames over a WebSocket.
//!
//! A file is an `add` under its path, however often it changes; one that does not differ any more is a `remove`. Each
//! frame is awaited before more is asked for, so a slow client is told the newest and holds one step in memory.

use axum::extract::ws::close_code;
use forge_engine::{DiffStep, DiffView};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::socket::{CLOSING, Farewell, PING, Sink, Socket, part, until_gone};
use crate::wire::{DiffEntry, DiffValue, PatchOp};

/// About how much JSON one frame has.
const FRAME: usize = 32 * 1024;

/// What a message of this stream is.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DiffMessage {
    Patch {
        #[serde(rename = "JsonPatch")]
        patch: Vec<PatchOp<DiffValue>>,
    },
    /// What landed was told; nothing more comes.
    End { finished: bool },
}

/// Sends what an attempt has changed until that is final, the client goes away or the server closes.
pub(crate) async fn diffs(socket: Socket, view: DiffView) {
    let Socket { mut sink, mut source, mut guard } = socket;
    let farewell = tokio::select! {
        farewell = send_all(&mut sink, view) => farewell,
        () = until_gone(&mut source) => return,
        () = guard.closed() => Some(CLOSING),
    };
    if let Some(farewell) = farewell {
        part(&mut sink, &mut source, farewell).await;
    }
}

/// Sends for as long as it can; returns how to close, or none when the client is gone.
async fn send_all(sink: &mut Sink, mut view: DiffView) -> Option<Farewell> {
    let mut ping = interval_at(Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let step = tokio::select! {
            step = view.next() => step,
            _ = ping.tick() => {
                sink.ping().await?;
                continue;
            }
        };
        match step {
            Ok(Some(step)) => {
                let is_last = step.is_last;
                for patch in operations(step) {
                    sink.send(&DiffMessage::Patch { patch }).await?;
                }
                if is_last {
                    sink.send(&DiffMessage::End { finished: true }).await?;
                }
            }
            Ok(None) => return Some((close_code::NORMAL, "")),
            Err(error) => {
                tracing::warn!("a diff cannot be followed any more: {error}");
                return Some((close_code::ERROR, "the diff could not be computed"));
            }
        }
    }
}

/// Makes operations of a step, so many together as are not too long. They are made one lot at a time: a step may
/// hold more than anybody wants twice in memory.
pub(super) fn operations(step: DiffStep) -> impl Iterator<Item = Vec<PatchOp<DiffValue>>> {
    let mut gone = step.gone.into_iter();
    let mut files = step.files.into_iter();
    std::iter::from_fn(move || {
        let (mut some, mut bytes) = (Vec::new(), 0);
        while bytes < FRAME {
            if let Some(path) = gone.next() {
                bytes += path.len() + 50;
                some.push(PatchOp::remove(pointer(&path)));
            } else if let Some(file) = files.next() {
                let contents = if file.with_content { file.change.content_bytes() } else { 0 };
                bytes += file.path.len() + 300 + usize::try_from(contents).unwrap_or(usize::MAX);
                some.push(PatchOp::add(
                    pointer(&file.path),
                    DiffValue::One(Box::new(DiffEntry::from(&file))),
                ));
            } else {
                break;
            }
        }
        (!some.is_empty()).then_some(some)
    })
}

/// The place of a file in the document.
fn pointer(path: &str) -> String {
    format!("/entries/{}", path.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_step_of_a_pointer_whatever_it_holds() {
        assert_eq!(pointer("a/b~c/~1"), "/entries/a~1b~0c~1~01");
    }
}
