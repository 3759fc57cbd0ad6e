//! What the player prints: every line at once, and to the witness file first when there is one.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use forge_agents::scripted::{Event, reads_as_event};

/// Names a file that gets every printed line too, so that a test can compare what was printed with what arrived.
/// Where it names a directory, the file in it is called like the run, so that many players share the variable.
const WITNESS: &str = "FORGE_WITNESS";

/// Names the run that the player belongs to.
const RUN: &str = "FORGE_RUN";

/// How much a flood of lines prints at once.
const BLOCK: usize = 256 * 1024;

/// Standard output and its witness.
#[derive(Debug)]
pub(super) struct Output {
    stdout: File,
    witness: Option<File>,
}

impl Output {
    /// Takes standard output, and the witness that the environment names.
    pub(super) fn open() -> anyhow::Result<Self> {
        // A descriptor of our own has no buffer between a line and its reader.
        let stdout = io::stdout().as_fd().try_clone_to_owned().context("could not open standard output")?;
        let witness = match std::env::var_os(WITNESS).filter(|path| !path.is_empty()) {
            Some(path) => {
                let path = witness_file(PathBuf::from(path))?;
                let file = File::options().create(true).append(true).open(&path);
                Some(file.with_context(|| format!("could not open the witness {}", path.display()))?)
            }
            None => None,
        };
        Ok(Self { stdout: File::from(stdout), witness })
    }

    /// Prints plain text, a line for each of its lines.
    pub(super) fn say(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return self.print(b"\n");
        }
        for line in text.lines() {
            if reads_as_event(line) {
                self.event(&Event::Say { text: line.to_string() })?;
            } else {
                self.print(format!("{line}\n").as_bytes())?;
            }
        }
        Ok(())
    }

    /// Prints an event.
    pub(super) fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.print(&line)
    }

    /// Prints one numbered line with the time.
    pub(super) fn numbered(&mut self, number: u64) -> io::Result<()> {
        let mut line = Vec::with_capacity(48);
        push_numbered(&mut line, number);
        self.print(&line)
    }

    /// Prints numbered lines as fast as they are read.
    pub(super) fn flood(&mut self, count: u64) -> io::Result<()> {
        let mut block = Vec::with_capacity(BLOCK + 64);
        for number in 1..=count {
            push_numbered(&mut block, number);
            if block.len() >= BLOCK {
                self.print(&block)?;
                block.clear();
            }
        }
        self.print(&block)
    }

    fn print(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(witness) = &mut self.witness {
            witness.write_all(bytes)?;
        }
        self.stdout.write_all(bytes)
    }
}

fn witness_file(path: PathBuf) -> anyhow::Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path);
    }
    let run = std::env::var_os(RUN).filter(|run| !run.is_empty());
    let run =
        run.with_context(|| format!("{WITNESS} is a directory, and {RUN} does not name the file in it"))?;
    Ok(path.join(run))
}

/// Writes `T=1760000000.123456 line 1` by hand: a gigabyte of lines should take seconds.
fn push_numbered(line: &mut Vec<u8>, number: u64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    line.extend_from_slice(b"T=");
    push_number(line, now.as_secs(), 1);
    line.push(b'.');
    push_number(line, u64::from(now.subsec_micros()), 6);
    line.extend_from_slice(b" line ");
    push_number(line, number, 1);
    line.push(b'\n');
}

/// Writes a number in at least `width` digits.
fn push_number(line: &mut Vec<u8>, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while number > 0 || digits.len() - at < width {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    line.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: u64, width: usize) -> String {
        let mut line = Vec::new();
        push_number(&mut line, number, width);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for n in [0, 7, 10, 123_456, u64::MAX] {
            assert_eq!(number(n, 1), n.to_string());
        }
        assert_eq!(number(42, 6), "000042");
    }

    #[test]
    fn a_numbered_line_has_the_time_in_microseconds() {
        let mut line = Vec::new();
        push_numbered(&mut line, 3);
        let line = String::from_utf8(line).unwrap();
        let (time, rest) = line.strip_prefix("T=").unwrap().split_once(' ').unwrap();
        let (seconds, micros) = time.split_once('.').unwrap();
        assert!(seconds.parse::<u64>().unwrap() > 1_700_000_000);
        assert_eq!(micros.len(), 6);
        assert_eq!(rest, "line 3\n");
    }
}
