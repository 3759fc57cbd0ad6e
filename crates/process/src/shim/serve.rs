//! The control socket's side of the shim: one thread a connection, question and answer in turn.

use std::io::{self, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::agent::Agent;
use super::input::Inputs;
use super::journal::Journal;
use crate::os;
use crate::protocol::{Accepted, Ladder, Problem, Reply, Request, Status, VERSIONS, read_line, write_line};

/// A client that does not take its answer is left to itself.
const SLOW: Duration = Duration::from_secs(5);
/// How long a stop waits for room on a full disk after the agent is gone.
const NO_ROOM: Duration = Duration::from_secs(5);

/// What a connection may ask about.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) agent: Agent,
    pub(super) inputs: Inputs,
    pub(super) journal: Arc<Journal>,
}

/// Takes connections for the rest of the shim's life.
pub(super) fn accept(listener: &UnixListener, served: &Arc<Served>) {
    for stream in listener.incoming() {
        let served = Arc::clone(served);
        let answered = stream.and_then(|stream| {
            thread::Builder::new().name("control".into()).spawn(move || {
                if let Err(error) = served.converse(stream) {
                    eprintln!("a control connection failed: {error}");
                }
            })
        });
        if let Err(error) = answered {
            // Too many connections at once. Those there are will end.
            eprintln!("could not take a control connection: {error}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Served {
    /// Answers until the client hangs up. What it sent before it died is done all the same.
    fn converse(&self, stream: UnixStream) -> io::Result<()> {
        if os::peer_uid(&stream)? != rustix::process::geteuid().as_raw() {
            return Ok(());
        }
        stream.set_write_timeout(Some(SLOW))?;
        let mut lines = BufReader::new(stream.try_clone()?);
        let mut client = Client { stream, deaf: false };
        let mut greeted = false;
        while let Some(line) = read_line(&mut lines)? {
            let reply = match serde_json::from_slice(&line) {
                Ok(Request::Hello { min, max }) => {
                    let reply = greet(min, max);
                    greeted = matches!(reply, Reply::Hello { .. });
                    reply
                }
                Ok(Request::Stop(ladder)) if greeted => {
                    self.stop(&mut client, ladder);
                    continue;
                }
                Ok(request) if greeted => self.answer(request).unwrap_or_else(Reply::Error),
                Ok(_) => other("say hello first"),
                Err(error) => other(&format!("could not understand the request: {error}")),
            };
            client.tell(&reply);
            if !greeted {
                return Ok(());
            }
        }
        Ok(())
    }

    fn answer(&self, request: Request) -> Result<Reply, Problem> {
        let accepted = match request {
            Request::Input { ordinal, text } => self.inputs.input(&self.journal, ordinal, text)?,
            Request::CloseInput { ordinal } => self.inputs.close(&self.journal, ordinal)?,
            Request::Note { ordinal, text } => self.inputs.note(&self.journal, ordinal, &text)?,
            Request::Status {} => return Ok(Reply::Status(self.status())),
            Request::Signal { signal } => {
                return match self.agent.signal(signal) {
                    Ok(true) => Ok(Reply::Signalled {}),
                    Ok(false) => Err(Problem::Ended {}),
                    Err(error) => Err(Problem::Other { message: format!("could not signal: {error}") }),
                };
            }
            // Answered where they are heard.
            Request::Hello { .. } | Request::Stop(_) => return Ok(other("not now")),
        };
        Ok(Reply::Accepted { already: accepted == Accepted::Duplicate })
    }

    /// Climbs the ladder and tells of the exit. The client may be gone by then; the agent is too.
    fn stop(&self, client: &mut Client, ladder: Ladder) {
        if let Err(error) = self.agent.stop(ladder) {
            return client.tell(&other(&format!("could not signal: {error}")));
        }
        let no_room = || self.journal.blocked().is_some_and(|blocked| blocked.since.elapsed() > NO_ROOM);
        if let Some(exit) = self.agent.wait_for_exit(no_room) {
            client.tell(&Reply::Exit(exit));
            self.agent.told();
        } else {
            let reason = self.journal.blocked().map_or_else(String::new, |blocked| blocked.reason);
            client.tell(&other(&format!("the agent has ended, but its log waits for the disk: {reason}")));
        }
    }

    fn status(&self) -> Status {
        let (inputs, notes, input_closed) = self.inputs.counts();
        Status {
            running: self.agent.is_running(),
            notes,
            inputs,
            input_closed,
            log_end: self.journal.end(),
            blocked: self.journal.blocked().map(|blocked| blocked.reason),
            agent_pid: self.agent.pid.as_raw_nonzero().get() as u32,
        }
    }
}

/// The other end of a connection.
struct Client {
    stream: UnixStream,
    deaf: bool,
}

impl Client {
    /// Says it, unless the client has stopped listening, which is its own affair.
    fn tell(&mut self, reply: &Reply) {
        self.deaf = self.deaf || write_line(&mut self.stream, reply).is_err();
    }
}

fn greet(min: u32, max: u32) -> Reply {
    let version = max.min(VERSIONS.1);
    if version >= min.max(VERSIONS.0) {
        Reply::Hello { version }
    } else {
        Reply::Refused { min: VERSIONS.0, max: VERSIONS.1 }
    }
}

fn other(message: &str) -> Reply {
    Reply::Error(Problem::Other { message: message.to_owned() })
}
