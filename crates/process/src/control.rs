//! The client of a shim's control socket.

use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::protocol::{self, Accepted, Ladder, Problem, Reply, Request, Signal, Status, VERSIONS};
use crate::{Error, Exit, Liveness, Result, frame, liveness, os};

/// A shim that lives answers within microseconds, or within seconds on a machine that pages; one
/// that is stuck must not hold up a restart.
const CONNECT: Duration = Duration::from_secs(5);
/// Journalling a long input waits for the disk at worst.
const ANSWER: Duration = Duration::from_secs(30);
/// Beyond the ladder itself a stop sweeps, drains the pipes and syncs the log.
const FINISH: Duration = Duration::from_secs(30);

/// A connection to the shim of a run, or the exit record of a run that has ended.
#[derive(Debug)]
pub struct Control {
    dir: PathBuf,
    /// One question at a time; `None` once the run has ended.
    stream: Mutex<Option<BufReader<UnixStream>>>,
}

impl Control {
    /// Connects to the shim of the run in `dir`.
    ///
    /// A run that has ended can be connected to as well: it answers `stop` from its exit record and
    /// refuses the rest with [`Error::Ended`]. Without a shim and without a record the answer is
    /// [`Error::Gone`].
    pub fn connect(dir: &Path) -> Result<Self> {
        Self::connect_within(dir, CONNECT)
    }

    /// Connects to a shim that may take longer to answer, because somebody waits for just this.
    pub fn connect_within(dir: &Path, patience: Duration) -> Result<Self> {
        let greeted = os::connect_control(dir, patience).and_then(|stream| {
            let mut stream = BufReader::new(stream);
            let hello = Request::Hello { min: VERSIONS.0, max: VERSIONS.1 };
            let reply = exchange(&mut stream, &hello, patience)?;
            Ok((stream, reply))
        });
        let unheard = |source| match liveness(dir)? {
            Liveness::Exited(_) => Ok(Self { dir: dir.to_owned(), stream: Mutex::new(None) }),
            Liveness::Gone => Err(Error::Gone { dir: dir.to_owned() }),
            Liveness::Alive => Err(Error::io("connect to the shim in", dir, source)),
        };
        match greeted {
            Ok((stream, Reply::Hello { .. })) => {
                Ok(Self { dir: dir.to_owned(), stream: Mutex::new(Some(stream)) })
            }
            Ok((_, Reply::Refused { min, max })) => {
                Err(Error::Protocol { ours: VERSIONS, theirs: (min, max) })
            }
            Ok((_, other)) => Err(unexpected(dir, &other)),
            Err(source) => unheard(source),
        }
    }

    /// Sends text to the agent's stdin. Ordinals count from 1 without a gap, so that asking twice
    /// sends once; the answer comes when the text is journalled, not when the agent reads it.
    pub fn input(&self, ordinal: u64, text: &str) -> Result<Accepted> {
        check_length(text)?;
        self.submit(&Request::Input { ordinal, text: text.to_owned() })
    }

    /// Journals a note in the log. Notes have ordinals of their own.
    pub fn note(&self, ordinal: u64, text: &str) -> Result<Accepted> {
        check_length(text)?;
        self.submit(&Request::Note { ordinal, text: text.to_owned() })
    }

    /// Closes the agent's stdin after what was sent before. Takes its turn among the inputs.
    pub fn close_input(&self, ordinal: u64) -> Result<Accepted> {
        self.submit(&Request::CloseInput { ordinal })
    }

    pub fn status(&self) -> Result<Status> {
        match self.ask(&Request::Status {}, ANSWER)? {
            Reply::Status(status) => Ok(status),
            other => Err(unexpected(&self.dir, &other)),
        }
    }

    /// Signals the agent's process group.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        match self.ask(&Request::Signal { signal }, ANSWER)? {
            Reply::Signalled {} => Ok(()),
            other => Err(unexpected(&self.dir, &other)),
        }
    }

    /// Ends the run: INT, TERM, KILL as far as needed, then whatever is left of it. Returns once the
    /// exit is recorded and nothing remains. The shim climbs the ladder by itself, so it is climbed
    /// to the end even if the caller dies.
    pub fn stop(&self, ladder: &Ladder) -> Result<Exit> {
        let patience = Duration::from_millis(ladder.int_ms.saturating_add(ladder.term_ms)) + FINISH;
        match self.ask(&Request::Stop(*ladder), patience) {
            Ok(Reply::Exit(exit)) => Ok(exit),
            Ok(other) => Err(unexpected(&self.dir, &other)),
            Err(Error::Ended { .. }) => self.exit(),
            Err(error) => Err(error),
        }
    }

    fn submit(&self, request: &Request) -> Result<Accepted> {
        match self.ask(request, ANSWER)? {
            Reply::Accepted { already: false } => Ok(Accepted::New),
            Reply::Accepted { already: true } => Ok(Accepted::Duplicate),
            other => Err(unexpected(&self.dir, &other)),
        }
    }

    fn ask(&self, request: &Request, patience: Duration) -> Result<Reply> {
        let mut held = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stream) = held.as_mut() else {
            return Err(self.hung_up(io::ErrorKind::NotConnected.into()));
        };
        match exchange(stream, request, patience) {
            Ok(Reply::Error(problem)) => Err(self.problem(problem)),
            Ok(reply) => Ok(reply),
            Err(source) => {
                // The answer to this question may still arrive and must not be taken for the next one's.
                *held = None;
                Err(self.hung_up(source))
            }
        }
    }

    /// What it means that no answer comes. The directory says whether the run ended.
    fn hung_up(&self, source: io::Error) -> Error {
        match liveness(&self.dir) {
            Ok(Liveness::Exited(_)) => Error::Ended { dir: self.dir.clone() },
            Ok(Liveness::Gone) => Error::Gone { dir: self.dir.clone() },
            Ok(Liveness::Alive) => Error::io("hear from the shim in", &self.dir, source),
            Err(error) => error,
        }
    }

    fn problem(&self, problem: Problem) -> Error {
        let dir = self.dir.clone();
        match problem {
            Problem::Ordinal { given, expected } => Error::Ordinal { given, expected },
            Problem::InputClosed {} => Error::InputClosed { dir },
            Problem::Ended {} => Error::Ended { dir },
            Problem::Other { message } => Error::Shim { dir, message },
        }
    }

    fn exit(&self) -> Result<Exit> {
        Exit::read(&self.dir)?.ok_or_else(|| Error::Ended { dir: self.dir.clone() })
    }
}

/// Asks and waits for the answer; `patience` is for each silence of the other side.
fn exchange(stream: &mut BufReader<UnixStream>, request: &Request, patience: Duration) -> io::Result<Reply> {
    let socket = stream.get_mut();
    socket.set_write_timeout(Some(patience))?;
    socket.set_read_timeout(Some(patience))?;
    protocol::write_line(socket, request)?;
    let line = protocol::read_line(stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(serde_json::from_slice(&line)?)
}

fn unexpected(dir: &Path, reply: &Reply) -> Error {
    Error::Shim { dir: dir.to_owned(), message: format!("{reply:?}, which was not asked for") }
}

fn check_length(text: &str) -> Result<()> {
    // The ordinal stands before the text in the same record.
    let most = frame::MAX_PAYLOAD - 8;
    if text.len() > most { Err(Error::TooLong { len: text.len(), most }) } else { Ok(()) }
}
