//! Foreign logs, read a piece at a time and written as our own, however long they are.
//!
//! They are lines of JSON, each a chunk of what came through a pipe: `{"Stdout": "..."}`. A line that cannot be read is
//! counted and passed over; a line that is longer than memory should hold is taken in parts.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use forge_process::Stream;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::source::Source;
use crate::error::io_error;
use crate::{Error, Result};

/// How much is read at a time.
const PIECE: usize = 64 << 10;

/// From where on a line is not gathered any more, but taken in parts.
const LONG: usize = 1 << 20;

/// Where the log of a run lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LogPlace {
    Nowhere,
    File(PathBuf),
    /// Rows of `execution_process_logs`, in their order.
    Rows(Vec<i64>),
    /// The columns `stdout` and `stderr` of a run's own row, as the oldest releases had it.
    Columns(i64),
}

/// What a log came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LogFacts {
    /// How long the source is.
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// Records of the source that could be read, output or not.
    pub(super) records: u64,
    /// Of them, those that are no output.
    pub(super) other: u64,
    /// Lines that could not be read.
    pub(super) bad: u64,
}

/// Takes the pieces of output.
pub(super) type Sink<'a> = dyn FnMut(Stream, &[u8]) -> Result<()> + 'a;

/// Reads a log to its end. `prefix` is the length of an earlier form: its hash is told too, when the log is longer.
pub(super) fn read(
    source: &Source,
    place: &LogPlace,
    prefix: Option<u64>,
    sink: &mut Sink<'_>,
) -> Result<(LogFacts, Option<String>)> {
    let mut hashed = Hashed { whole: Sha256::new(), bytes: 0, prefix, at_prefix: None };
    let mut lines = Lines::default();
    match place {
        LogPlace::Nowhere => {}
        LogPlace::File(path) => {
            let file = File::open(path).map_err(io_error("open", path))?;
            pour(file, &mut |piece| {
                hashed.update(piece);
                lines.push(piece, sink)
            })
            .map_err(|trouble| trouble.at(io_error("read", path)))?;
            lines.end(sink)?;
        }
        LogPlace::Rows(rows) => {
            for (at, row) in rows.iter().enumerate() {
                if at > 0 {
                    hashed.update(b"\n");
                    lines.push(b"\n", sink)?;
                }
                let text = source.long_text("execution_process_logs", "logs", *row)?;
                pour(text, &mut |piece| {
                    hashed.update(piece);
                    lines.push(piece, sink)
                })
                .map_err(|trouble| trouble.at(unreadable))?;
            }
            lines.end(sink)?;
        }
        LogPlace::Columns(row) => {
            for (column, stream) in [("stdout", Stream::Stdout), ("stderr", Stream::Stderr)] {
                // A column that is null or missing has no output.
                let Ok(text) = source.long_text("execution_processes", column, *row) else { continue };
                pour(text, &mut |piece| {
                    hashed.update(piece);
                    lines.facts.records += 1;
                    sink(stream, piece)
                })
                .map_err(|trouble| trouble.at(unreadable))?;
            }
        }
    }
    let Hashed { whole, bytes, at_prefix, .. } = hashed;
    Ok((LogFacts { bytes, sha256: format!("{:x}", whole.finalize()), ..lines.facts }, at_prefix))
}

fn unreadable(error: std::io::Error) -> Error {
    Error::unavailable(format!("a log of the database could not be read: {error}"))
}

/// What ended reading: the source, or who took it.
enum Trouble {
    Reading(std::io::Error),
    Taking(Error),
}

impl Trouble {
    fn at(self, reading: impl FnOnce(std::io::Error) -> Error) -> Error {
        match self {
            Trouble::Reading(error) => reading(error),
            Trouble::Taking(error) => error,
        }
    }
}

fn pour(mut from: impl Read, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> std::result::Result<(), Trouble> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece).map_err(Trouble::Reading)? {
            0 => return Ok(()),
            length => take(&piece[..length]).map_err(Trouble::Taking)?,
        }
    }
}

struct Hashed {
    whole: Sha256,
    bytes: u64,
    prefix: Option<u64>,
    at_prefix: Option<String>,
}

impl Hashed {
    fn update(&mut self, piece: &[u8]) {
        let end = self.bytes + piece.len() as u64;
        if let Some(prefix) = self.prefix.filter(|prefix| (self.bytes..=end).contains(prefix)) {
            let (before, after) = piece.split_at((prefix - self.bytes) as usize);
            self.whole.update(before);
            self.at_prefix = Some(format!("{:x}", self.whole.clone().finalize()));
            self.whole.update(after);
        } else {
            self.whole.update(piece);
        }
        self.bytes = end;
    }
}

/// A chunk of output.
#[derive(Deserialize)]
enum Record<'a> {
    #[serde(borrow)]
    Stdout(Cow<'a, str>),
    #[serde(borrow)]
    Stderr(Cow<'a, str>),
}

/// Lines on their way to output.
#[derive(Default)]
struct Lines {
    gathered: Vec<u8>,
    long: Long,
    facts: LogFacts,
}

/// Whether a line is being taken in parts.
#[derive(Default, Clone, Copy)]
enum Long {
    #[default]
    No,
    /// Its text is being taken.
    In(Stream),
    /// Its text is over, and what follows it does not matter.
    Over,
}

impl Lines {
    fn push(&mut self, piece: &[u8], sink: &mut Sink<'_>) -> Result<()> {
        let mut rest = piece;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.gathered.extend_from_slice(&rest[..at]);
            self.line(sink)?;
            rest = &rest[at + 1..];
        }
        self.gathered.extend_from_slice(rest);
        if self.gathered.len() > LONG {
            self.part(sink)?;
        }
        Ok(())
    }

    /// The source is over; a line that was not finished is told of, unless it is whole by chance.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        self.line(sink)
    }

    fn line(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        if !matches!(self.long, Long::No) {
            self.part(sink)?;
            // A line whose text never ended is damaged.
            self.facts.bad += u64::from(matches!(self.long, Long::In(_)));
            self.facts.records += u64::from(matches!(self.long, Long::Over));
            self.long = Long::No;
            self.gathered.clear();
            return Ok(());
        }
        let line = std::mem::take(&mut self.gathered);
        let outcome = self.whole_line(&line, sink);
        self.gathered = line;
        self.gathered.clear();
        outcome
    }

    fn whole_line(&mut self, line: &[u8], sink: &mut Sink<'_>) -> Result<()> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let lossy = String::from_utf8_lossy(line);
        match serde_json::from_str(&lossy) {
            Ok(Record::Stdout(text)) => emit(Stream::Stdout, &text, sink)?,
            Ok(Record::Stderr(text)) => emit(Stream::Stderr, &text, sink)?,
            Err(_) if serde_json::from_str::<serde::de::IgnoredAny>(&lossy).is_ok() => self.facts.other += 1,
            Err(_) => {
                self.facts.bad += 1;
                return Ok(());
            }
        }
        self.facts.records += 1;
        Ok(())
    }

    /// Takes what is gathered of a long line, up to where it can be cut.
    fn part(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        if matches!(self.long, Long::No) {
            let begins = [(Stream::Stdout, &b"{\"Stdout\":\""[..]), (Stream::Stderr, &b"{\"Stderr\":\""[..])];
            match begins.iter().find(|(_, begin)| self.gathered.starts_with(begin)) {
                Some((stream, begin)) => {
                    self.gathered.drain(..begin.len());
                    self.long = Long::In(*stream);
                }
                // Something else that is as long is nothing that people would look at.
                None => self.long = Long::Over,
            }
        }
        if let Long::In(stream) = self.long {
            let (end, is_over) = cut(&self.gathered);
            let quoted = [b"\"", &self.gathered[..end], b"\""].concat();
            match serde_json::from_slice::<Cow<'_, str>>(&quoted) {
                Ok(text) => emit(stream, &text, sink)?,
                Err(_) => self.facts.bad += 1,
            }
            self.gathered.drain(..end);
            if is_over {
                self.long = Long::Over;
            }
        }
        if matches!(self.long, Long::Over) {
            self.gathered.clear();
        }
        Ok(())
    }
}

fn emit(stream: Stream, text: &str, sink: &mut Sink<'_>) -> Result<()> {
    for part in text.as_bytes().chunks(LONG) {
        sink(stream, part)?;
    }
    Ok(())
}

/// Finds how much of a JSON text can be read by itself, and whether it ends there by its quote.
fn cut(bytes: &[u8]) -> (usize, bool) {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let length = match byte {
            b'"' => return (at, true),
            b'\\' if bytes.get(at + 1) == Some(&b'u') => {
                // The two halves of a pair belong together.
                let is_half = matches!(
                    bytes.get(at + 2..at + 4),
                    Some([b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B'])
                );
                if is_half { 12 } else { 6 }
            }
            b'\\' => 2,
            0..=0x7f => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            0x80..=0xbf => 1,
        };
        if at + length > bytes.len() {
            return (at, false);
        }
        at += length;
    }
    (at, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn poured(text: &[u8], cut: usize) -> (String, String, LogFacts) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut lines = Lines::default();
        let mut sink = |stream: Stream, piece: &[u8]| {
            match stream {
                Stream::Stdout => out.extend_from_slice(piece),
                _ => err.extend_from_slice(piece),
            }
            Ok(())
        };
        for piece in text.chunks(cut) {
            lines.push(piece, &mut sink).unwrap();
        }
        lines.end(&mut sink).unwrap();
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap(), lines.facts)
    }

    #[test]
    fn records_are_output_and_what_is_none_is_counted() {
        let log = "{\"Stdout\":\"half \"}\nnot json\n\n{\"SessionId\":\"x\"}\n\"Finished\"\n{\"Stderr\":\"oh\"}\n\
            {\"Stdout\":\"line\\n\"}\n{\"Stdout\":\"cut o";
        for cut in [1, 7, 4096] {
            let (out, err, facts) = poured(log.as_bytes(), cut);
            assert_eq!((out.as_str(), err.as_str()), ("half line\n", "oh"));
            assert_eq!((facts.records, facts.other, facts.bad), (5, 2, 2));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]
        #[test]
        fn a_line_longer_than_is_gathered_comes_out_whole(unit in "[\\\\\"\\n a-zäß😀]{1,40}", cut in 1000usize..70000) {
            let text = unit.repeat(2 * LONG / unit.len() + 1);
            let ascii: String = serde_json::to_string(&text).unwrap().chars().map(|c| match c {
                c if c.is_ascii() => c.to_string(),
                c => c.encode_utf16(&mut [0; 2]).iter().map(|half| format!("\\u{half:04x}")).collect(),
            }).collect();
            for quoted in [serde_json::to_string(&text).unwrap(), ascii] {
                let log = format!("{{\"Stderr\":{quoted}}}\n{{\"Stdout\":\"after\"}}\n");
                let (out, err, facts) = poured(log.as_bytes(), cut);
                prop_assert!(err == text);
                prop_assert_eq!(out, "after");
                prop_assert_eq!((facts.records, facts.bad), (2, 0));
            }
        }
    }

    #[test]
    fn a_long_line_that_breaks_off_is_kept_as_far_as_it_goes_and_counted() {
        let log = format!("{{\"Stdout\":\"{}", "x".repeat(3 * LONG));
        let (out, _, facts) = poured(log.as_bytes(), 65536);
        assert_eq!((out.len(), facts.bad, facts.records), (3 * LONG, 1, 0));
    }
}
