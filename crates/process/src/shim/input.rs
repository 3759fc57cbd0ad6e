//! The agent's stdin, and the ordinals by which inputs and notes are accepted exactly once.
//!
//! An input is journalled, queued and acknowledged; a thread of its own writes the queue into the
//! pipe, so an agent that does not read holds up nobody but itself.

use std::collections::VecDeque;
use std::io::Write;
use std::process::ChildStdin;
use std::sync::{Condvar, Mutex, PoisonError};

use super::journal::{Journal, Refused};
use super::lock;
use crate::frame::Stream;
use crate::protocol::{Accepted, Problem};

#[derive(Debug, Default)]
pub(super) struct Inputs {
    state: Mutex<State>,
    queued: Condvar,
    notes: Mutex<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// The ordinal of the last one accepted.
    last: u64,
    closed: bool,
    queue: VecDeque<Item>,
}

#[derive(Debug)]
enum Item {
    Text(Vec<u8>),
    Close,
}

impl Inputs {
    pub(super) fn input(&self, journal: &Journal, ordinal: u64, text: String) -> Result<Accepted, Problem> {
        self.accept(journal, ordinal, Stream::Input, Item::Text(text.into_bytes()))
    }

    pub(super) fn close(&self, journal: &Journal, ordinal: u64) -> Result<Accepted, Problem> {
        self.accept(journal, ordinal, Stream::InputClosed, Item::Close)
    }

    pub(super) fn note(&self, journal: &Journal, ordinal: u64, text: &str) -> Result<Accepted, Problem> {
        let mut last = lock(&self.notes);
        if is_known(ordinal, *last)? {
            return Ok(Accepted::Duplicate);
        }
        journal.append(Stream::Note, Some(ordinal), text.as_bytes()).map_err(problem)?;
        *last = ordinal;
        Ok(Accepted::New)
    }

    /// The last ordinals of inputs and notes, and whether stdin takes no more.
    pub(super) fn counts(&self) -> (u64, u64, bool) {
        let notes = *lock(&self.notes);
        let state = lock(&self.state);
        (state.last, notes, state.closed)
    }

    /// Writes what is queued until stdin is closed, by us or by the agent.
    pub(super) fn feed(&self, mut stdin: ChildStdin, journal: &Journal) {
        loop {
            let mut state = lock(&self.state);
            let item = loop {
                if let Some(item) = state.queue.pop_front() {
                    break item;
                }
                state = self.queued.wait(state).unwrap_or_else(PoisonError::into_inner);
            };
            drop(state);
            let written = match item {
                Item::Text(text) => stdin.write_all(&text),
                Item::Close => return,
            };
            if let Err(error) = written {
                let mut state = lock(&self.state);
                state.closed = true;
                state.queue.clear();
                drop(state);
                let notice = serde_json::json!({ "input_lost": error.to_string() });
                // A run that is over needs no notice, and a full disk shows elsewhere.
                let _ = journal.append(Stream::Shim, None, notice.to_string().as_bytes());
                return;
            }
        }
    }

    fn accept(
        &self,
        journal: &Journal,
        ordinal: u64,
        stream: Stream,
        item: Item,
    ) -> Result<Accepted, Problem> {
        // Held throughout: the journal, the queue and the ordinals have one order.
        let mut state = lock(&self.state);
        if is_known(ordinal, state.last)? {
            return Ok(Accepted::Duplicate);
        }
        if state.closed {
            return Err(Problem::InputClosed {});
        }
        let text = match &item {
            Item::Text(text) => &text[..],
            Item::Close => &[],
        };
        journal.append(stream, Some(ordinal), text).map_err(problem)?;
        state.last = ordinal;
        state.closed = matches!(item, Item::Close);
        state.queue.push_back(item);
        self.queued.notify_one();
        Ok(Accepted::New)
    }
}

/// Whether this ordinal was accepted before; the only new one is the next.
fn is_known(ordinal: u64, last: u64) -> Result<bool, Problem> {
    let expected = last + 1;
    if ordinal == 0 || ordinal > expected {
        return Err(Problem::Ordinal { given: ordinal, expected });
    }
    Ok(ordinal < expected)
}

fn problem(refused: Refused) -> Problem {
    match refused {
        Refused::Closed => Problem::Ended {},
        Refused::Failed(error) => Problem::Other { message: in_full(&error) },
    }
}

/// An error with its cause, for the other side of a socket where the cause cannot follow.
fn in_full(error: &crate::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
