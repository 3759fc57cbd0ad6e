//! Streams: the tail of something durable from a position. None of them keeps a queue; a slow reader slows
//! its own stream and nothing else, and all of them end when the server closes.

mod events;
mod raw_logs;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;

use crate::error::Problem;

pub(crate) use events::{Position, events};
pub(crate) use raw_logs::{RawLogMessage, raw_logs};

/// Returns the upgrade to a WebSocket, or why there is none.
pub(crate) fn upgraded(
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<WebSocketUpgrade, Problem> {
    // What clients send is read only to be ignored, so that nothing long is worth holding.
    const LONGEST: usize = 64 * 1024;
    match upgrade {
        Ok(upgrade) => Ok(upgrade.max_message_size(LONGEST).max_frame_size(LONGEST)),
        Err(error) => Err(Problem::bad_request(format!("this path speaks WebSocket only: {error}"))),
    }
}
