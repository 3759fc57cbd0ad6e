//! Turns bytes into lines, so that the size of the chunks they come in never matters.

use std::io::BufRead;

/// The longest line that is kept whole. An agent may print a picture in one line; nothing sane prints more.
const LONGEST: usize = 64 * 1024 * 1024;

/// Cuts a stream of bytes into lines of text.
///
/// Bytes that are no UTF-8 are replaced line by line, so a character split between two chunks is kept. Of a
/// line longer than 64 MB the rest is dropped.
#[derive(Debug)]
pub struct Lines {
    /// The beginning of a line whose end has not come yet.
    carry: Vec<u8>,
    longest: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// Starts at the beginning of a stream.
    pub const fn new() -> Self {
        Self { carry: Vec::new(), longest: LONGEST }
    }

    /// Goes on where [`Lines::unfinished`] was.
    pub const fn after(unfinished: Vec<u8>) -> Self {
        Self { carry: unfinished, longest: LONGEST }
    }

    /// Returns the beginning of a line whose end has not come yet.
    pub fn unfinished(&self) -> &[u8] {
        &self.carry
    }

    /// Takes the next bytes and calls `each` for every line they complete, without its line ending.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&str)) {
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(through_newline(bytes));
            bytes = rest;
            match piece.strip_suffix(b"\n") {
                Some(whole) if self.carry.is_empty() => {
                    give(&whole[..whole.len().min(self.longest)], &mut each);
                }
                Some(end) => {
                    self.keep(end);
                    give(&self.carry, &mut each);
                    self.reset();
                }
                None => self.keep(piece),
            }
        }
    }

    /// Gives the last line when the stream ended without a newline.
    pub fn finish(&mut self, mut each: impl FnMut(&str)) {
        if !self.carry.is_empty() {
            give(&self.carry, &mut each);
            self.reset();
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = self.longest - self.carry.len();
        self.carry.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn reset(&mut self) {
        self.carry.clear();
        // One huge line must not cost its memory for the rest of the stream.
        self.carry.shrink_to(64 * 1024);
    }
}

/// Counts the bytes up to and including the first newline; all of them when there is none.
fn through_newline(bytes: &[u8]) -> usize {
    // A slice never fails to be read; std's search is the fast one.
    let mut reader = bytes;
    reader.skip_until(b'\n').unwrap_or(bytes.len())
}

fn give(line: &[u8], each: &mut impl FnMut(&str)) {
    each(&String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(mut lines: Lines, bytes: &[u8], size: usize) -> Vec<String> {
        let mut all = Vec::new();
        for chunk in bytes.chunks(size) {
            lines.push(chunk, |line| all.push(line.to_string()));
        }
        lines.finish(|line| all.push(line.to_string()));
        all
    }

    #[test]
    fn any_chunk_size_gives_the_same_lines() {
        let bytes = "first\r\n\nzwölf 🦀 crabs\nlast without an end".as_bytes();
        let whole = lines_of(Lines::new(), bytes, bytes.len());
        assert_eq!(whole, ["first", "", "zwölf 🦀 crabs", "last without an end"]);
        for size in 1..bytes.len() {
            assert_eq!(lines_of(Lines::new(), bytes, size), whole, "in chunks of {size}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_spoil_only_their_own_line() {
        let bytes = b"good\nb\xff\xfed\ngood again\n";
        for size in 1..bytes.len() {
            let lines = lines_of(Lines::new(), bytes, size);
            assert_eq!(lines, ["good", "b\u{fffd}\u{fffd}d", "good again"]);
        }
    }

    #[test]
    fn the_rest_of_a_line_that_is_too_long_is_dropped() {
        let bytes = b"0123456789\nnext\n01234567890123456789";
        for size in 1..=bytes.len() {
            let short = Lines { carry: Vec::new(), longest: 8 };
            assert_eq!(lines_of(short, bytes, size), ["01234567", "next", "01234567"]);
        }
    }
}
