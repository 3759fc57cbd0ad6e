//! Contents of blobs, from one git that stays for as long as somebody asks.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::binary::Git;
use crate::call::Call;
use crate::checkout::Checkout;
use crate::error::{Failure, Result};
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
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
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
        let answer = first.or_else(|_| {
            self.talk = None;
            self.ask(oid, most)
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
        let broken = |source: io::Error| Failure::answer("cat-file", &source.to_string());
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
        let mut command = call.arg("--batch-command=%(objecttype) %(objectsize)").command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = |source| Failure::Start { program: self.git.program().to_path_buf(), source };
        let mut child = command.spawn().map_err(start)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Talk { child, input, output: BufReader::new(output) }),
            _ => Err(Failure::answer("cat-file", "nothing")),
        }
    }
}

impl Talk {
    /// Asks, and reads how long the answer is; none when there is no such blob.
    fn header(&mut self, question: &str) -> io::Result<Option<u64>> {
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

impl Drop for Talk {
    fn drop(&mut self) {
        // It reads only, so there is nothing that it could leave half-done; one that has ended is only reaped.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
