//! What all WebSockets share: the upgrade, the ear for a client that leaves, and the goodbye.

use std::time::Duration;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};

use crate::error::Problem;

pub(crate) type Sink = SplitSink<WebSocket, Message>;
pub(crate) type Source = SplitStream<WebSocket>;

/// How a stream closes: a code and a reason.
pub(crate) type Farewell = (u16, &'static str);

/// How every stream closes when the server does.
pub(crate) const CLOSING: Farewell = (close_code::AWAY, "the server is closing");

/// How often a silent connection is asked for a sign of life. Proxies hang up on one that is silent for a
/// minute.
pub(crate) const PING: Duration = Duration::from_secs(30);

/// How long a client may take to read the last frame and to answer the close.
const FAREWELL: Duration = Duration::from_secs(1);

/// Returns the upgrade to a WebSocket, or why there is none.
pub(crate) fn upgraded(
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<WebSocketUpgrade, Problem> {
    // What clients send is short, or read only to be ignored, so that nothing long is worth holding.
    const LONGEST: usize = 64 * 1024;
    match upgrade {
        Ok(upgrade) => Ok(upgrade.max_message_size(LONGEST).max_frame_size(LONGEST)),
        Err(error) => Err(Problem::bad_request(format!("this path speaks WebSocket only: {error}"))),
    }
}

/// Reads what the client sends, which answers its pings, until it closes or breaks off.
pub(crate) async fn until_gone(source: &mut Source) {
    while let Some(Ok(_)) = source.next().await {}
}

/// Closes with a code and a reason. A client that does not answer in time is simply hung up on.
pub(crate) async fn part(sink: &mut Sink, source: &mut Source, (code, reason): Farewell) {
    let parting = async {
        let close = CloseFrame { code, reason: reason.into() };
        if sink.send(Message::Close(Some(close))).await.is_ok() {
            until_gone(source).await;
        }
    };
    let _ = tokio::time::timeout(FAREWELL, parting).await;
}
