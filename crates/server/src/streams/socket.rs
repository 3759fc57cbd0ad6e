//! What all WebSockets share: the upgrade, how frames are sent, the ear for a client that leaves, and the goodbye.
//!
//! A long message is sent as small fragments of one frame that is shared by all who are sent the same, so that a client
//! that does not read holds one fragment of its own and no more.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocketUpgrade, close_code};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use super::flight::{Flight, Reading};
use crate::closing::StreamGuard;
use crate::error::Problem;
use crate::state::App;

pub(crate) use tokio_tungstenite::tungstenite::Message;

pub(crate) type Source = SplitStream<WebSocketStream<TokioIo<Upgraded>>>;

/// How a stream closes: a code and a reason.
pub(crate) type Farewell = (u16, &'static str);

/// How every stream closes when the server does.
pub(crate) const CLOSING: Farewell = (close_code::AWAY, "the server is closing");

/// How often a silent connection is asked for a sign of life. Proxies hang up on one that is silent for a
/// minute.
pub(crate) const PING: Duration = Duration::from_secs(30);

/// How long a client may take to read the last frame and to answer the close.
const FAREWELL: Duration = Duration::from_secs(1);

/// How much of a message is given to the connection at a time, which copies it.
const FRAGMENT: usize = 32 * 1024;

/// What clients send is short, or read only to be ignored, so that nothing long is worth holding.
const LONGEST: usize = 64 * 1024;

/// A request for a WebSocket.
pub(crate) struct Upgrade {
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    key: Option<HeaderValue>,
    upgrade: Option<OnUpgrade>,
}

/// An open WebSocket.
pub(crate) struct Socket {
    pub(crate) sink: Sink,
    pub(crate) source: Source,
    pub(crate) guard: StreamGuard,
}

/// Where messages to a client go.
pub(crate) struct Sink {
    sink: SplitSink<WebSocketStream<TokioIo<Upgraded>>, Message>,
    flight: Flight,
}

impl<S: Send + Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        // It takes the upgrade along and gives it to nobody, so it looks at a copy.
        let asked = WebSocketUpgrade::from_request_parts(&mut parts.clone(), state).await;
        let key = parts.headers.get(header::SEC_WEBSOCKET_KEY).cloned();
        Ok(Self { asked, key, upgrade: parts.extensions.remove() })
    }
}

impl Upgrade {
    /// Answers with the upgrade and serves the WebSocket, or says why there is none.
    pub(crate) fn serve<F: Future<Output = ()> + Send + 'static>(
        self,
        app: &App,
        serve: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Result<Response, Problem> {
        let none = |why: String| Problem::bad_request(format!("this path speaks WebSocket only: {why}"));
        if let Err(error) = &self.asked {
            return Err(none(error.to_string()));
        }
        let (Some(key), Some(upgrade)) = (self.key, self.upgrade) else {
            return Err(none("the connection cannot be upgraded".to_string()));
        };
        let (guard, flight) = (app.closing.guard(), app.flight.clone());
        tokio::spawn(async move {
            // A client that has gone meanwhile needs no answer.
            let Ok(upgraded) = upgrade.await else { return };
            let config = WebSocketConfig::default()
                .read_buffer_size(4 * 1024)
                .write_buffer_size(0)
                .max_message_size(Some(LONGEST))
                .max_frame_size(Some(LONGEST));
            let upgraded = TokioIo::new(upgraded);
            let socket = WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
            let (sink, source) = socket.split();
            serve(Socket { sink: Sink { sink, flight }, source, guard }).await;
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes()));
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept.map_err(|error| none(error.to_string()))?);
        Ok(response)
    }
}

impl Sink {
    /// Sends something as JSON, and waits until the client has taken it; none when the client is gone.
    pub(crate) async fn send(&mut self, message: &impl Serialize) -> Option<()> {
        self.send_text(serde_json::to_string(message).ok()?).await
    }

    pub(crate) async fn send_text(&mut self, text: String) -> Option<()> {
        let mut rest = self.flight.frame(text).await;
        let reading = self.flight.reading(&rest);
        let sent = async {
            let mut kind = Data::Text;
            loop {
                let fragment: Bytes = rest.split_to(rest.len().min(FRAGMENT));
                let is_last = rest.is_empty();
                let frame = Frame::message(fragment, OpCode::Data(kind), is_last);
                self.sink.send(Message::Frame(frame)).await.ok()?;
                if is_last {
                    return Some(());
                }
                kind = Data::Continue;
            }
        };
        tokio::select! {
            sent = sent => sent,
            () = Reading::over(reading.as_ref()) => None,
        }
    }

    /// Asks a silent client for a sign of life; none when it is gone.
    pub(crate) async fn ping(&mut self) -> Option<()> {
        self.sink.send(Message::Ping(Bytes::new())).await.ok()
    }
}

/// Reads what the client sends, which answers its pings, until it closes or breaks off.
pub(crate) async fn until_gone(source: &mut Source) {
    while let Some(Ok(_)) = source.next().await {}
}

/// Closes with a code and a reason. A client that does not answer in time is simply hung up on.
pub(crate) async fn part(sink: &mut Sink, source: &mut Source, (code, reason): Farewell) {
    let parting = async {
        let close = CloseFrame { code: code.into(), reason: reason.into() };
        if sink.sink.send(Message::Close(Some(close))).await.is_ok() {
            until_gone(source).await;
        }
    };
    let _ = tokio::time::timeout(FAREWELL, parting).await;
}
