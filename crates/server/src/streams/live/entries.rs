//! The topic of a run's entries: each in its newest form, in the order in which they were written, so that whoever
//! comes back with a position misses nothing.

use forge_engine::{Engine, EntriesFrom, EntryBatch, EntryTail};
use forge_model::RunId;
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, iter, once, unfold};

use super::{LiveMessage, LiveValue, refused};
use crate::wire::IndexedEntry;

/// Tells what an agent's run becomes, from the beginning or a position, until the run is over.
pub(super) fn entries(
    topic: String,
    engine: Engine,
    run: RunId,
    after: Option<i64>,
) -> BoxStream<'static, LiveMessage> {
    let opened = async move { (engine.entries(run, EntriesFrom::Change(after)).await, topic) };
    let told = once(opened).flat_map(move |(opened, topic)| match opened {
        Err(error) => iter([refused(Some(topic), error.to_string())]).boxed(),
        Ok(tail) => {
            let state = Following { topic, tail, position: after.unwrap_or(0) };
            unfold(Some(state), next).flat_map(iter).boxed()
        }
    });
    told.boxed()
}

struct Following {
    topic: String,
    tail: EntryTail,
    position: i64,
}

async fn next(state: Option<Following>) -> Option<(Vec<LiveMessage>, Option<Following>)> {
    let mut state = state?;
    Some(match state.tail.next().await {
        Ok(Some(batch)) => {
            state.position = batch.position;
            (messages(&state.topic, batch), Some(state))
        }
        Ok(None) => (vec![value(&state.topic, state.position, Vec::new(), true)], None),
        Err(error) => (vec![refused(Some(state.topic), error.to_string())], None),
    })
}

fn messages(topic: &str, batch: EntryBatch) -> Vec<LiveMessage> {
    let resync = LiveMessage::Resync { topic: topic.to_string(), resync: true, position: 0 };
    let entries = batch.entries.into_iter().map(|(index, entry)| IndexedEntry { index, entry }).collect();
    let told = value(topic, batch.position, entries, false);
    batch.is_anew.then_some(resync).into_iter().chain([told]).collect()
}

fn value(topic: &str, position: i64, entries: Vec<IndexedEntry>, finished: bool) -> LiveMessage {
    LiveMessage::Value { topic: topic.to_string(), position, value: LiveValue::Entries(entries), finished }
}
