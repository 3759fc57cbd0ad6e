//! Reads a run's log over a WebSocket, from a position, and resumes after the server was away: no line is
//! missed and none comes twice.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{HandshakeError, Message, WebSocket};

use crate::client::Client;
use crate::exit::Failure;
use crate::wire::{LogChunk, LogFrame};

/// How long to wait before another try; short, because a restart takes a fraction of a second.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(2);
/// How long the server may take to open the log.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// How a log ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The run is over and everything was given.
    Over,
    /// The run goes on; everything there was has been given.
    CaughtUp,
    /// Whoever takes the output wants no more.
    Unwanted,
}

/// Gives the whole log of a run to `take`, piece by piece, until the run is over. `take` returns false to end
/// it. Waits for the server as long as it is away.
pub(crate) fn follow(
    client: &Client,
    run: &str,
    take: impl FnMut(Vec<LogChunk>) -> bool,
) -> Result<End, Failure> {
    read(client, run, true, take)
}

/// Gives what is there of a run's log to `take`, without waiting for more.
pub(crate) fn read_once(
    client: &Client,
    run: &str,
    take: impl FnMut(Vec<LogChunk>) -> bool,
) -> Result<End, Failure> {
    read(client, run, false, take)
}

fn read(
    client: &Client,
    run: &str,
    wait: bool,
    mut take: impl FnMut(Vec<LogChunk>) -> bool,
) -> Result<End, Failure> {
    let mut client = client.clone();
    let mut position = 0;
    loop {
        match open(&client, run, position, wait) {
            Ok(mut socket) => {
                if let Some(end) = drain(&mut socket, &mut position, &mut take)? {
                    return Ok(end);
                }
            }
            Err(Opening::NoLog) => return Ok(End::Over),
            Err(Opening::Refused(failure)) => return Err(failure),
            Err(Opening::Away) if !wait => return Err(client.is_away()),
            Err(Opening::Away) => {}
        }
        std::thread::sleep(PAUSE);
        client.relocate();
    }
}

/// Reads frames until the log or the connection ends; none means that the connection did.
fn drain(
    socket: &mut WebSocket<TcpStream>,
    position: &mut u64,
    take: &mut impl FnMut(Vec<LogChunk>) -> bool,
) -> Result<Option<End>, Failure> {
    loop {
        let text = match socket.read() {
            Ok(Message::Text(text)) => text,
            Ok(_) => continue,
            // A signal that was handled is no reason to give up a connection.
            Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return Ok(None),
        };
        let frame: LogFrame = serde_json::from_str(&text)
            .map_err(|error| Failure::away(format!("a frame of the log is not understood: {error}")))?;
        if frame.finished {
            // The server ends the connection; answering its goodbye is politeness, not necessity.
            let _ = socket.close(None);
            return Ok(Some(End::Over));
        }
        if frame.caught_up {
            let _ = socket.close(None);
            return Ok(Some(End::CaughtUp));
        }
        *position = frame.position.unwrap_or(*position);
        if !frame.patch.is_empty() && !take(frame.patch.into_iter().map(|patch| patch.value).collect()) {
            return Ok(Some(End::Unwanted));
        }
    }
}

/// Why a log could not be opened.
enum Opening {
    /// The server is not there right now.
    Away,
    /// The run has no log.
    NoLog,
    Refused(Failure),
}

fn open(client: &Client, run: &str, position: u64, wait: bool) -> Result<WebSocket<TcpStream>, Opening> {
    let refused = |message: String| Opening::Refused(Failure::away(message));
    let authority = client.url().strip_prefix("http://").unwrap_or(client.url());
    let address = if authority.contains(':') { authority.to_string() } else { format!("{authority}:80") };
    let address = address.to_socket_addrs().ok().and_then(|mut found| found.next()).ok_or(Opening::Away)?;
    let stream = TcpStream::connect_timeout(&address, CONNECT).map_err(|_| Opening::Away)?;
    // Neither can fail on a connection that was just made; without them it is merely slower, or waits longer.
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(Some(HANDSHAKE));

    let url =
        format!("ws://{authority}/api/execution-processes/{run}/raw-logs/ws?from={position}&follow={wait}");
    let mut request = url.into_client_request().map_err(|error| refused(format!("{error}")))?;
    if let Some(token) = client.token_in_use() {
        let value = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| refused("the token holds characters that cannot be sent".to_string()))?;
        request.headers_mut().insert("Authorization", value);
    }
    // One line of an agent may be tens of megabytes, and it is sent in one frame.
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    match tungstenite::client::client_with_config(request, stream, Some(config)) {
        Ok((socket, _)) => {
            let _ = socket.get_ref().set_read_timeout(None);
            Ok(socket)
        }
        Err(HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            match response.status().as_u16() {
                404 => Err(Opening::NoLog),
                // The server is on its way out, or on its way in.
                500..=599 => Err(Opening::Away),
                status => Err(refused(format!("the server refused to show the log of run {run}: {status}"))),
            }
        }
        Err(_) => Err(Opening::Away),
    }
}
