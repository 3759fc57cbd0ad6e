//! A run's output over a WebSocket, from any position.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use anyhow::{Context, bail};
use serde::Deserialize;
use tungstenite::{Message, WebSocket};

use crate::random::Random;

/// How long the server may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// A connection that gives a run's output.
#[derive(Debug)]
pub(crate) struct RawLog {
    socket: WebSocket<TcpStream>,
}

/// Some output, and where to go on after it.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) stdout: String,
    pub(crate) position: u64,
}

/// What a look at a connection gave.
#[derive(Debug)]
pub(crate) enum Read {
    Piece(Piece),
    /// Nothing that counts, or nothing yet.
    Nothing,
    /// The run is over and everything was given.
    End,
}

#[derive(Deserialize)]
struct Frame {
    #[serde(rename = "JsonPatch", default)]
    patch: Vec<Operation>,
    position: Option<u64>,
    #[serde(default)]
    finished: bool,
}

#[derive(Deserialize)]
struct Operation {
    value: Content,
}

#[derive(Deserialize)]
struct Content {
    r#type: String,
    content: String,
}

impl RawLog {
    /// Opens a run's log at a position; 0 is the beginning.
    pub(crate) fn open(port: u16, run: &str, from: u64) -> anyhow::Result<Self> {
        Self::open_with(port, run, from, SILENCE)
    }

    /// Opens a run's log; fails to give more when the server is silent for longer than that.
    pub(crate) fn open_with(port: u16, run: &str, from: u64, silence: Duration) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("could not connect for a log")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(silence))?;
        let url = format!("ws://127.0.0.1:{port}/api/execution-processes/{run}/raw-logs/ws?from={from}");
        let opened = tungstenite::client(&url, stream);
        let (socket, _) = opened.map_err(|error| anyhow::anyhow!("could not open {url}: {error}"))?;
        Ok(Self { socket })
    }

    /// Waits for output; none when the run is over and everything was given.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<Piece>> {
        loop {
            match read(self.socket.read())? {
                Read::Piece(piece) => return Ok(Some(piece)),
                Read::End => return Ok(None),
                Read::Nothing => {}
            }
        }
    }

    /// Makes reading wait for nothing from now on: [`next_there`](Self::next_there) is to be called.
    pub(crate) fn without_waiting(self) -> anyhow::Result<Self> {
        self.socket.get_ref().set_nonblocking(true).context("could not change a socket")?;
        Ok(self)
    }

    /// Takes what is there; nothing only when all of it was taken.
    pub(crate) fn next_there(&mut self) -> anyhow::Result<Read> {
        loop {
            let message = match self.socket.read() {
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Read::Nothing);
                }
                message => message,
            };
            match read(message)? {
                Read::Nothing => {}
                some => return Ok(some),
            }
        }
    }
}

impl AsFd for RawLog {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.get_ref().as_fd()
    }
}

fn read(message: tungstenite::Result<Message>) -> anyhow::Result<Read> {
    let text = match message.context("the log broke off")? {
        Message::Text(text) => text,
        Message::Close(why) => bail!("the log was closed before its end: {why:?}"),
        _ => return Ok(Read::Nothing),
    };
    let frame: Frame =
        serde_json::from_str(&text).with_context(|| format!("a frame of a log is wrong: {text}"))?;
    if frame.finished {
        return Ok(Read::End);
    }
    let position = frame.position.context("a frame of a log without a position")?;
    let mut stdout = String::new();
    for operation in frame.patch {
        if operation.value.r#type == "STDOUT" {
            stdout.push_str(&operation.value.content);
        }
    }
    Ok(Read::Piece(Piece { stdout, position }))
}

/// Reads a finished run's output in one go.
pub(crate) fn read_whole(port: u16, run: &str) -> anyhow::Result<String> {
    let mut log = RawLog::open(port, run, 0)?;
    let mut whole = String::new();
    while let Some(piece) = log.next()? {
        whole.push_str(&piece.stdout);
    }
    Ok(whole)
}

/// Reads a finished run's output over many connections, each left after a few frames.
pub(crate) fn read_in_pieces(port: u16, run: &str, random: &mut Random) -> anyhow::Result<String> {
    let mut whole = String::new();
    let mut position = 0;
    loop {
        let mut log = RawLog::open(port, run, position)?;
        for _ in 0..random.between(1, 4) {
            let Some(piece) = log.next()? else { return Ok(whole) };
            whole.push_str(&piece.stdout);
            position = piece.position;
        }
    }
}
