//! One socket for everything that a tab follows: topics, each the tail of something durable from a position.
//!
//! Nothing is queued here: a topic is read when the client has taken what came before, and topics take turns, so
//! a long log keeps no event waiting for more than a frame. `docs/live.md` is the protocol for people.

mod entries;
mod topic;

use std::collections::HashMap;

use forge_engine::{DiffStep, Engine, LogTail};
use forge_model::{AttemptId, ProjectId, RunId};
use futures_util::stream::{AbortHandle, BoxStream, SelectAll, abortable, once, unfold};
use futures_util::{Stream, StreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::ChangesTail;
use super::diffs::operations;
use super::raw_logs::{Piece, pieces};
use super::socket::{CLOSING, Message, PING, Sink, Socket, Source, part};
use crate::wire::{DiffValue, IndexedEntry, Patch, PatchOp};
use topic::Topic;

/// How many topics one socket may follow at once.
const MOST: usize = 64;

/// After how many events that concern nobody the position is told all the same, so that it does not expire.
const FAR: i64 = 500;

/// The answer to a ping. It is of no topic, and only whoever asks is sent it.
const PONG: &str = "{\"pong\":true}";

/// What the server sends.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LiveMessage {
    /// Something new. `finished` is there, and true, when nothing more will come.
    Value {
        topic: String,
        position: i64,
        value: LiveValue,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        finished: bool,
    },
    /// The position that was asked for is unknown or has expired: start over; what follows is after this one.
    Resync { topic: String, resync: bool, position: i64 },
    /// The topic cannot be followed, or not any more. Without a topic, the message was not understood.
    Refused { topic: Option<String>, error: String },
}

/// What a topic tells.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum LiveValue {
    Changes(Patch),
    Output(Vec<Piece>),
    Entries(Vec<IndexedEntry>),
    Diff(Vec<PatchOp<DiffValue>>),
}

/// What a client sends: one of the three.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    Subscribe {
        topic: String,
        after: Option<i64>,
    },
    Unsubscribe {
        topic: String,
    },
    /// Asks for a sign of life: a page is not shown the pings of the protocol itself.
    Ping {},
}

/// Serves one socket until the client goes away or the server closes.
pub(crate) async fn live(socket: Socket, engine: Engine) {
    let Socket { mut sink, mut source, mut guard } = socket;
    tokio::select! {
        _ = serve(&mut sink, &mut source, engine) => return,
        () = guard.closed() => {}
    }
    part(&mut sink, &mut source, CLOSING).await;
}

/// Answers and tells until the client is gone.
async fn serve(sink: &mut Sink, source: &mut Source, engine: Engine) -> Option<()> {
    let mut topics = Topics { engine, following: SelectAll::new(), handles: HashMap::new() };
    let mut ping = interval_at(Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            heard = source.next() => match heard?.ok()? {
                Message::Text(text) => match topics.hear(&text) {
                    Some(answer) => answer,
                    None => continue,
                },
                Message::Binary(_) => text_of(&refused(None, "messages are texts that hold JSON"))?,
                Message::Close(_) => return None,
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            },
            Some(told) = topics.following.next(), if !topics.following.is_empty() => {
                topics.note(&told);
                text_of(&told)?
            }
            _ = ping.tick() => {
                sink.ping().await?;
                continue;
            }
        };
        sink.send_text(message).await?;
    }
}

fn text_of(message: &LiveMessage) -> Option<String> {
    serde_json::to_string(message).ok()
}

/// What a socket follows.
struct Topics {
    engine: Engine,
    following: SelectAll<BoxStream<'static, LiveMessage>>,
    handles: HashMap<String, AbortHandle>,
}

impl Topics {
    /// Does what a client asks; returns what there is to answer, as a rule why not.
    fn hear(&mut self, text: &str) -> Option<String> {
        let refused = match serde_json::from_str(text) {
            Ok(Request::Ping {}) => return Some(PONG.to_string()),
            Ok(Request::Subscribe { topic, after }) => self.subscribe(topic, after).err(),
            Ok(Request::Unsubscribe { topic }) => {
                self.forget(&topic);
                None
            }
            Err(_) => Some(refused(
                None,
                "a message is {\"subscribe\": {\"topic\": …, \"after\": …}}, {\"unsubscribe\": {\"topic\": …}} or \
                 {\"ping\": {}}",
            )),
        };
        text_of(&refused?)
    }

    /// Follows a topic; one that is followed already begins anew from the position that is asked for now.
    fn subscribe(&mut self, name: String, after: Option<i64>) -> Result<(), LiveMessage> {
        let topic = match Topic::read(&name) {
            Ok(topic) => topic,
            Err(error) => return Err(refused(Some(name), error)),
        };
        self.forget(&name);
        if self.handles.len() >= MOST {
            return Err(refused(Some(name), format!("one socket follows {MOST} topics at most")));
        }
        let engine = self.engine.clone();
        let stream = match topic {
            Topic::Events(project) => events(name.clone(), engine, project, after),
            Topic::Log(run) => log(name.clone(), engine, run, after),
            Topic::Entries(run) => entries::entries(name.clone(), engine, run, after),
            Topic::Diff { attempt, stats_only } => diff(name.clone(), engine, attempt, stats_only),
        };
        let (stream, handle) = abortable(stream);
        self.handles.insert(name, handle);
        self.following.push(stream.boxed());
        Ok(())
    }

    fn forget(&mut self, topic: &str) {
        if let Some(handle) = self.handles.remove(topic) {
            handle.abort();
        }
    }

    /// Notes that a topic has ended.
    fn note(&mut self, told: &LiveMessage) {
        match told {
            LiveMessage::Value { topic, finished: true, .. }
            | LiveMessage::Refused { topic: Some(topic), .. } => self.forget(topic),
            _ => {}
        }
    }
}

fn refused(topic: Option<String>, error: impl Into<String>) -> LiveMessage {
    LiveMessage::Refused { topic, error: error.into() }
}

/// Tells what changes. Without a position it begins now, and says where that is.
fn events(
    topic: String,
    engine: Engine,
    project: Option<ProjectId>,
    after: Option<i64>,
) -> BoxStream<'static, LiveMessage> {
    let changes = move |topic: &str, position, patch: Patch| LiveMessage::Value {
        topic: topic.to_string(),
        position,
        value: LiveValue::Changes(patch),
        finished: false,
    };
    let (tail, first) = match after {
        Some(after) => (ChangesTail::after(engine, after), None),
        None => {
            let tail = ChangesTail::now(engine);
            let first = changes(&topic, tail.position(), Patch::from_iter([]));
            (tail, Some(first))
        }
    };
    let told = tail.position();
    let rest = unfold(Some((tail, topic, told)), move |state| async move {
        let (mut tail, topic, mut told) = state?;
        loop {
            let Some(seen) = tail.next().await else {
                return Some((refused(Some(topic), "what changed could not be read"), None));
            };
            let position = seen.seq;
            if seen.resync {
                let message = LiveMessage::Resync { topic: topic.clone(), resync: true, position };
                return Some((message, Some((tail, topic, position))));
            }
            let ours: Vec<_> =
                seen.items.iter().filter(|item| project.is_none() || item.project == project).collect();
            if !ours.is_empty() || position.saturating_sub(told) >= FAR {
                told = position;
                let message = changes(&topic, position, ours.into_iter().collect());
                return Some((message, Some((tail, topic, told))));
            }
        }
    });
    futures_util::stream::iter(first).chain(rest).boxed()
}

/// Tells what a run prints, from the beginning or a position, until the run is over.
fn log(topic: String, engine: Engine, run: RunId, after: Option<i64>) -> BoxStream<'static, LiveMessage> {
    once(open(topic, engine, run, after))
        .flat_map(|opened| match opened {
            Err(error) => futures_util::stream::iter([error]).boxed(),
            Ok((topic, log, first)) => {
                let rest = unfold(Some((topic, log)), |state| async move {
                    let (topic, mut log, position) = state.map(|(topic, log)| {
                        let position = log.position().unwrap_or_default();
                        (topic, log, position)
                    })?;
                    Some(match log.next().await {
                        Ok(Some(batch)) => {
                            (output(&topic, batch.position, pieces(batch.chunks), false), Some((topic, log)))
                        }
                        Ok(None) => (output(&topic, position, Vec::new(), true), None),
                        Err(error) => (refused(Some(topic), error.to_string()), None),
                    })
                });
                futures_util::stream::iter(first).chain(rest).boxed()
            }
        })
        .boxed()
}

fn output(topic: &str, position: u64, value: Vec<Piece>, finished: bool) -> LiveMessage {
    let position = i64::try_from(position).unwrap_or(i64::MAX);
    LiveMessage::Value { topic: topic.to_string(), position, value: LiveValue::Output(value), finished }
}

/// Tells what an attempt has changed: first that nothing is known, then everything, then what changes. Where it stood
/// before does not matter, because it is computed anew.
fn diff(
    topic: String,
    engine: Engine,
    attempt: AttemptId,
    stats_only: bool,
) -> BoxStream<'static, LiveMessage> {
    let opened = async move { (engine.follow_diff(attempt, stats_only).await, topic) };
    let told = once(opened).flat_map(|(opened, topic)| match opened {
        Err(error) => futures_util::stream::iter([refused(Some(topic), error.to_string())]).boxed(),
        Ok(view) => unfold(Some((view, topic, true)), |state| async move {
            let (mut view, topic, is_first) = state?;
            let (messages, is_last) = match view.next().await {
                Ok(Some(step)) => {
                    let is_last = step.is_last;
                    (diff_messages(topic.clone(), step, is_first).boxed(), is_last)
                }
                Ok(None) => return None,
                Err(error) => {
                    let refused = refused(Some(topic.clone()), error.to_string());
                    (futures_util::stream::iter([refused]).boxed(), true)
                }
            };
            let next = (!is_last).then_some((view, topic, false));
            Some((messages, next))
        })
        .flatten()
        .boxed(),
    });
    told.boxed()
}

/// Makes messages of a step, one at a time; the first step begins with an empty document.
fn diff_messages(topic: String, step: DiffStep, is_first: bool) -> impl Stream<Item = LiveMessage> {
    let position = i64::try_from(step.generation).unwrap_or(i64::MAX);
    let nothing = PatchOp::replace("/entries".to_string(), DiffValue::Whole(Default::default()));
    let empty = is_first.then(|| (vec![nothing], false));
    let end = step.is_last.then(|| (Vec::new(), true));
    let lots = empty.into_iter().chain(operations(step).map(|lot| (lot, false))).chain(end);
    futures_util::stream::iter(lots.map(move |(lot, finished)| LiveMessage::Value {
        topic: topic.clone(),
        position,
        value: LiveValue::Diff(lot),
        finished,
    }))
}

/// Opens a log; with a position that it does not have, from the beginning, after the news of it.
async fn open(
    topic: String,
    engine: Engine,
    run: RunId,
    after: Option<i64>,
) -> Result<(String, LogTail, Option<LiveMessage>), LiveMessage> {
    let from = u64::try_from(after.unwrap_or(0));
    let opened = async {
        let mut log = engine.log(run, from.unwrap_or(0)).await?;
        let known = from.is_ok_and(|from| log.position().is_some_and(|position| position >= from));
        if !known {
            log = engine.log(run, 0).await?;
        }
        forge_engine::Result::Ok((log, known))
    };
    match opened.await {
        Ok((log, known)) => {
            let resync = LiveMessage::Resync { topic: topic.clone(), resync: true, position: 0 };
            Ok((topic, log, (!known).then_some(resync)))
        }
        Err(error) => Err(refused(Some(topic), error.to_string())),
    }
}
