//! Streams: the tail of something durable from a position. None of them keeps a queue; a slow reader slows
//! its own stream and nothing else, and all of them end when the server closes.

mod changes;
mod diffs;
mod entries;
mod events;
mod flight;
mod live;
mod raw_logs;
pub(crate) mod socket;

pub(crate) use changes::ChangesTail;
pub(crate) use diffs::{DiffMessage, diffs};
pub(crate) use entries::{EntriesMessage, entries};
pub(crate) use events::{Position, events};
pub(crate) use flight::Flight;
pub(crate) use live::{LiveMessage, live};
pub(crate) use raw_logs::{PlainLogMessage, RawLogMessage, plain_logs, raw_logs};
pub(crate) use socket::{Socket, Upgrade};
