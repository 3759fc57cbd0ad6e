//! Contents of blobs, from one git that stays for as long as somebody asks.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::time::Instant;

use crate::binary::Git;
use crate::call::Call;
use crate::checkout::Checkout;
use crate::error::{Failure, Result};
use crate::limit::{Running, Timed};
use crate::names::is_oid;

/// What became of the question for a blob.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Blob {
    Bytes(Vec<u8>),
    TooLong,
    /// It is not here: a partial clone never fetched it.
    Missing,
}

/// Reads blobs of a repository.
#[derive(Debug)]
pub(super) struct Blobs {
    git: Git,
    common_dir: PathBuf,
    talk: Option<Talk>,
}

/// A `git cat-file` that waits for names. It ends when its input does, whatever becomes of us.
#[derive(Debug)]
struct Talk {
    input: ChildStdin,
    output: BufReader<Timed<ChildStdout>>,
    /// Ended when the talk is over: it reads only, so there is nothing that it could leave half-done.
    running: Running,
}

impl Blobs {
    pub(super) fn of(checkout: &Checkout) -> Blobs {
        Blobs { git: checkout.git.clone(), common_dir: checkout.common_dir.clone(), talk: None }
    }

    /// Reads a blob that is no longer than `most`.
    pub(super) fn read(&mut self, oid: &str, most: u64) -> Result<Blob> {
        if !is_oid(oid) {
            return Ok(Blob::Missing);
        }
        let first = self.ask(oid, most);
        // Git may have been ended in the meantime; a second one is asked before that counts.
        let answer = first.or_else(|failure| match failure {
            // What did not answer in time will not do so now.
            Failure::TimeUp { .. } | Failure::Stopped { .. } => Err(failure),
            _ => {
                self.talk = None;
                self.ask(oid, most)
            }
        });
        answer.map_err(|failure| {
            self.talk = None;
            failure.during(format!("read blob {oid}"))
        })
    }

    fn ask(&mut self, oid: &str, most: u64) -> Result<Blob, Failure> {
        let talk = match self.talk.take() {
            Some(talk) => talk,
            None => self.begin()?,
        };
        let talk = self.talk.insert(talk);
        let limit = talk.running.limit();
        let (git, common_dir) = (&self.git, &self.common_dir);
        let broken = |source: io::Error| match source.kind() {
            io::ErrorKind::TimedOut => {
                git.calls().was_overdue();
                Failure::time_up("cat-file", common_dir, limit)
            }
            _ => Failure::answer("cat-file", &source.to_string()),
        };
        let Some(bytes) = talk.header(&format!("info {oid}\n")).map_err(broken)? else {
            return Ok(Blob::Missing);
        };
        if bytes > most {
            return Ok(Blob::TooLong);
        }
        let Some(bytes) = talk.header(&format!("contents {oid}\n")).map_err(broken)? else {
            return Ok(Blob::Missing);
        };
        talk.body(bytes).map(Blob::Bytes).map_err(broken)
    }

    fn begin(&self) -> Result<Talk, Failure> {
        let call = Call::new(&self.git, "cat-file").from(&self.common_dir);
        let call = call.global_path("--git-dir=", &self.common_dir);
        let mut running = call.arg("--batch-command=%(objecttype) %(objectsize)").talk()?;
        let Some((input, output)) = running.pipes() else {
            return Err(Failure::answer("cat-file", "nothing"));
        };
        let output = Timed { pipe: output, until: Instant::now() };
        Ok(Talk { input, output: BufReader::new(output), running })
    }
}

impl Talk {
    /// Asks, and reads how long the answer is; none when there is no such blob.
    fn header(&mut self, question: &str) -> io::Result<Option<u64>> {
        // A question is shorter than what a pipe holds, so asking it waits for nobody.
        self.output.get_mut().until = Instant::now() + self.running.limit();
        self.input.write_all(question.as_bytes())?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line.ends_with(" missing\n") {
            return Ok(None);
        }
        let size = line.trim_end().strip_prefix("blob ").and_then(|size| size.parse().ok());
        size.map(Some).ok_or_else(|| io::Error::other(line))
    }

    fn body(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        let read = self.output.by_ref().take(bytes + 1).read_to_end(&mut body)?;
        match body.pop() {
            Some(b'\n') if read as u64 == bytes + 1 => Ok(body),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
