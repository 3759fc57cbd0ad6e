//! The older streams: maps of things as JSON Patch over a WebSocket, made from the sources that everything
//! else follows.
//!
//! A stream begins with the whole map, as the `replace` of it, and goes on with what changed since. An
//! operation is made by what this connection has been given: a thing that is new to it is an `add` in its newest form,
//! one that it has is a `replace`, and a `remove` is sent only of what it has. A frame has at most one
//! operation for each path, because the older board keeps the last one and forgets the others.

mod drafts;
mod processes;
mod tasks;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::future::Future;
use std::hash::Hash;

use axum::extract::ws::close_code;
use forge_engine::{Changed, Engine, ErrorKind, Positioned};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::streams::socket::{CLOSING, Farewell, PING, Sink, part, until_gone};
use crate::streams::{ChangesTail, Socket};
use crate::wire::PatchOp;

pub(crate) use drafts::{DraftValue, Drafts};
pub(crate) use processes::Processes;
pub(crate) use tasks::Tasks;

/// About how much JSON one frame of changes has.
const FRAME: usize = 32 * 1024;

/// A map that a stream keeps up to date at the client.
pub(crate) trait Document: Send + Sync + 'static {
    type Id: Copy + Eq + Hash + Display + Send + Sync + 'static;
    type Value: Serialize + Send + Sync + 'static;

    /// The name of the map: the first step of every path.
    const NAME: &'static str;

    /// Reads the whole map, and the position it is true at.
    fn whole(
        &self,
        engine: &Engine,
    ) -> impl Future<Output = forge_engine::Result<Whole<Self::Id, Self::Value>>> + Send;

    /// Tells what changes say about this map.
    fn news(&self, changes: &[Changed]) -> Vec<News<Self::Id, Self::Value>>;
}

/// What a message of such a stream is.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MapOf{V}")]
pub(crate) struct MapMessage<V> {
    #[serde(rename = "JsonPatch")]
    patch: Vec<PatchOp<MapValue<V>>>,
}

/// The whole map under its name, or one thing under its id.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "MapValueOf{V}")]
pub(crate) enum MapValue<V> {
    One(V),
    Whole(BTreeMap<String, V>),
}

/// Everything in a map, and the position it is true at.
pub(crate) type Whole<I, V> = Positioned<(I, V)>;

/// What a change says about one thing of a map.
#[derive(Debug)]
pub(crate) enum News<I, V> {
    /// It is in the map, and this is what it is now.
    Is(I, V),
    /// It is in the map; only a client that does not have it need be told.
    Exists(I, V),
    /// A part of it, under a name, is now this.
    Part(I, &'static str, V),
    /// It is not in the map, or not any more.
    IsNot(I),
}

/// Sends a map and what changes in it, until the client goes away or the server closes.
///
/// Each frame is awaited before more changes are read. What changed in the meantime is read as it is then, each
/// thing once, so a client that stalls costs one batch and misses nothing.
pub(crate) async fn follow<D: Document>(
    socket: Socket,
    engine: Engine,
    document: D,
    first: Whole<D::Id, D::Value>,
) {
    let Socket { mut sink, mut source, mut guard } = socket;
    let farewell = tokio::select! {
        farewell = send_all(&mut sink, engine, document, first) => farewell,
        () = until_gone(&mut source) => return,
        () = guard.closed() => Some(CLOSING),
    };
    if let Some(farewell) = farewell {
        part(&mut sink, &mut source, farewell).await;
    }
}

/// Sends for as long as it can; returns how to close, or none when the client is gone.
async fn send_all<D: Document>(
    sink: &mut Sink,
    engine: Engine,
    document: D,
    first: Whole<D::Id, D::Value>,
) -> Option<Farewell> {
    const UNREADABLE: Farewell = (close_code::ERROR, "what changed could not be read");
    let mut tail = ChangesTail::after(engine.clone(), first.seq);
    let mut given = HashSet::new();
    sink.send_text(snapshot::<D>(first, &mut given)?).await?;
    let mut ping = interval_at(Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let changes = tokio::select! {
            changes = tail.next() => changes,
            _ = ping.tick() => {
                sink.ping().await?;
                continue;
            }
        };
        let Some(changes) = changes else { return Some(UNREADABLE) };
        if changes.resync {
            let whole = match document.whole(&engine).await {
                Ok(whole) => whole,
                // What the map is about was removed in the meantime.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Positioned { seq: changes.seq, items: Vec::new() }
                }
                Err(error) => {
                    tracing::error!("could not read {}: {error}", D::NAME);
                    return Some(UNREADABLE);
                }
            };
            tail = ChangesTail::after(engine.clone(), whole.seq);
            sink.send_text(snapshot::<D>(whole, &mut given)?).await?;
            continue;
        }
        for frame in frames(operations::<D>(document.news(&changes.items), &mut given)) {
            sink.send_text(frame).await?;
        }
    }
}

/// Encodes the whole map, and notes what it gives.
fn snapshot<D: Document>(whole: Whole<D::Id, D::Value>, given: &mut HashSet<D::Id>) -> Option<String> {
    *given = whole.items.iter().map(|(id, _)| *id).collect();
    let all = whole.items.into_iter().map(|(id, value)| (id.to_string(), value)).collect();
    let patch = vec![PatchOp::replace(format!("/{}", D::NAME), MapValue::Whole(all))];
    serde_json::to_string(&MapMessage { patch }).ok()
}

/// Makes an operation of each piece of news, encoded.
fn operations<D: Document>(news: Vec<News<D::Id, D::Value>>, given: &mut HashSet<D::Id>) -> Vec<String> {
    let path = |id: D::Id| format!("/{}/{id}", D::NAME);
    let mut fresh = HashSet::new();
    let operation = |news| match news {
        News::Exists(id, value) => given.insert(id).then(|| {
            fresh.insert(id);
            PatchOp::add(path(id), MapValue::One(value))
        }),
        // What was added just now came with its newest parts.
        News::Part(id, part, value) => (given.contains(&id) && !fresh.contains(&id))
            .then(|| PatchOp::replace(format!("{}/{part}", path(id)), MapValue::One(value))),
        News::Is(id, value) if given.insert(id) => Some(PatchOp::add(path(id), MapValue::One(value))),
        News::Is(id, value) => Some(PatchOp::replace(path(id), MapValue::One(value))),
        News::IsNot(id) => given.remove(&id).then(|| PatchOp::remove(path(id))),
    };
    // What is encoded here are texts and numbers under texts; there is nothing that JSON cannot say.
    news.into_iter().filter_map(operation).filter_map(|op| serde_json::to_string(&op).ok()).collect()
}

/// Puts operations into as few frames as are not too long.
fn frames(operations: Vec<String>) -> Vec<String> {
    let mut frames: Vec<String> = Vec::new();
    for operation in operations {
        match frames.last_mut() {
            Some(frame) if frame.len() < FRAME => {
                frame.push(',');
                frame.push_str(&operation);
            }
            _ => frames.push(format!("{{\"JsonPatch\":[{operation}")),
        }
    }
    for frame in &mut frames {
        frame.push_str("]}");
    }
    frames
}

#[cfg(test)]
mod tests {
    use forge_model::TaskId;
    use serde_json::{Value, json};

    use super::*;

    struct Numbers;

    impl Document for Numbers {
        type Id = TaskId;
        type Value = i64;
        const NAME: &'static str = "numbers";

        async fn whole(&self, _: &Engine) -> forge_engine::Result<Whole<TaskId, i64>> {
            Ok(Positioned { seq: 0, items: Vec::new() })
        }

        fn news(&self, _: &[Changed]) -> Vec<News<TaskId, i64>> {
            Vec::new()
        }
    }

    #[test]
    fn an_operation_is_made_by_what_the_connection_was_given() {
        let (old, new, other) = (TaskId::random(), TaskId::random(), TaskId::random());
        let mut given = HashSet::new();
        let first = Positioned { seq: 1, items: vec![(old, 1)] };
        let frame = snapshot::<Numbers>(first, &mut given).unwrap();
        let frame: Value = serde_json::from_str(&frame).unwrap();
        let whole = json!([{"op": "replace", "path": "/numbers", "value": {old.to_string(): 1}}]);
        assert_eq!(frame, json!({ "JsonPatch": whole }));

        let news = vec![News::Is(old, 2), News::Is(new, 3), News::IsNot(other)];
        let told = operations::<Numbers>(news, &mut given);
        let replace = format!("{{\"op\":\"replace\",\"path\":\"/numbers/{old}\",\"value\":2}}");
        let add = format!("{{\"op\":\"add\",\"path\":\"/numbers/{new}\",\"value\":3}}");
        assert_eq!(told, [replace, add], "what it never had is not removed");

        let told = operations::<Numbers>(vec![News::IsNot(old)], &mut given);
        assert_eq!(told, [format!("{{\"op\":\"remove\",\"path\":\"/numbers/{old}\"}}")]);
        let told = operations::<Numbers>(vec![News::Is(old, 4)], &mut given);
        assert!(told[0].contains("\"add\""), "what comes back is new again: {told:?}");
    }

    #[test]
    fn many_short_operations_share_a_frame_and_a_long_one_ends_it() {
        let operations: Vec<String> =
            vec!["1".into(), "2".into(), format!("\"{}\"", "x".repeat(FRAME)), "3".into()];
        let frames: Vec<Value> =
            frames(operations).iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
        let lengths: Vec<usize> =
            frames.iter().map(|frame| frame["JsonPatch"].as_array().unwrap().len()).collect();
        assert_eq!(lengths, [3, 1]);
        assert!(super::frames(Vec::new()).is_empty());
    }
}
