//! Turns bytes into lines, so that the size of the chunks they come in never matters, and no line costs much memory.

use std::io::BufRead;

use crate::cut::MARK;

/// The longest message of a protocol that is kept whole. An agent may send a picture in one; nothing sane sends more.
const LONGEST: usize = 16 * 1024 * 1024;

/// The longest line that is no such message: more than an entry shows of it.
const LONGEST_PLAIN: usize = 1024 * 1024;

/// How much is kept of each text in a message that is longer than [`LONGEST`].
const LONGEST_TEXT: usize = 256 * 1024;

/// A line without its line ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'l> {
    pub text: &'l str,
    /// Something of it was left out: it can be shown, and must not be acted upon.
    pub is_cut: bool,
}

/// Cuts a stream of bytes into lines of text.
///
/// Bytes that are no UTF-8 are replaced line by line, so a character split between two chunks is kept. Of a message
/// of JSON that is longer than 16 MB, the long texts are cut, so that it can still be understood; of a plain line, what
/// is over 1 MB.
#[derive(Debug)]
pub struct Lines {
    /// The beginning of a line whose end has not come yet.
    carry: Vec<u8>,
    /// Cuts the texts of the line that is carried, once that is too long.
    shorter: Option<Shorter>,
    longest: Longest,
}

/// How long a line may be.
#[derive(Debug, Clone, Copy)]
struct Longest {
    message: usize,
    plain: usize,
    text: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// Starts at the beginning of a stream.
    pub const fn new() -> Self {
        Self::after(Vec::new())
    }

    /// Goes on where [`Lines::unfinished`] was.
    pub const fn after(unfinished: Vec<u8>) -> Self {
        let longest = Longest { message: LONGEST, plain: LONGEST_PLAIN, text: LONGEST_TEXT };
        Self { carry: unfinished, shorter: None, longest }
    }

    /// Returns the beginning of a line whose end has not come yet; none when something of it was left out already.
    pub fn unfinished(&self) -> Option<&[u8]> {
        let is_whole = self.shorter.is_none() && self.carry.len() < self.longest.plain;
        is_whole.then_some(self.carry.as_slice())
    }

    /// Takes the next bytes and calls `each` for every line they complete.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(through_newline(bytes));
            bytes = rest;
            match piece.strip_suffix(b"\n") {
                Some(whole) if self.carry.is_empty() && whole.len() <= self.longest.plain => {
                    give(whole, false, &mut each);
                }
                Some(end) => {
                    self.keep(end);
                    self.end(&mut each);
                }
                None => self.keep(piece),
            }
        }
    }

    /// Gives the last line when the stream ended without a newline.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.carry.is_empty() {
            self.end(&mut each);
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if let Some(shorter) = &mut self.shorter {
            shorter.take(piece, &mut self.carry, self.longest);
            return;
        }
        if self.carry.len() + piece.len() <= self.longest.plain {
            self.carry.extend_from_slice(piece);
            return;
        }
        let room = self.longest.plain.saturating_sub(self.carry.len());
        let (piece, over) = piece.split_at(piece.len().min(room));
        self.carry.extend_from_slice(piece);
        if !self.is_message() {
            self.shorter = Some(Shorter::Plain);
            return;
        }
        let room = self.longest.message.saturating_sub(self.carry.len());
        let (over, rest) = over.split_at(over.len().min(room));
        self.carry.extend_from_slice(over);
        if !rest.is_empty() {
            let mut texts = Texts::default();
            let whole = std::mem::take(&mut self.carry);
            texts.take(&whole, &mut self.carry, self.longest);
            texts.take(rest, &mut self.carry, self.longest);
            self.shorter = Some(Shorter::Texts(texts));
        }
    }

    fn is_message(&self) -> bool {
        is_meant_as_json(&self.carry)
    }

    fn end(&mut self, each: &mut impl FnMut(Line<'_>)) {
        give(&self.carry, self.shorter.is_some(), each);
        self.shorter = None;
        self.carry.clear();
        // One huge line must not cost its memory for the rest of the stream.
        self.carry.shrink_to(64 * 1024);
    }
}

/// How a line that is too long is kept.
#[derive(Debug)]
enum Shorter {
    /// Nothing more of it is.
    Plain,
    Texts(Texts),
}

impl Shorter {
    fn take(&mut self, piece: &[u8], kept: &mut Vec<u8>, longest: Longest) {
        if let Shorter::Texts(texts) = self {
            texts.take(piece, kept, longest);
        }
    }
}

/// Where in JSON the bytes are that come next: all but the rest of long texts is kept.
#[derive(Debug, Default)]
struct Texts {
    is_within: bool,
    /// How much of the text there was.
    length: usize,
    is_cut: bool,
    /// The byte before begins an escape.
    is_escaped: bool,
    /// How many digits of an escape are still to come.
    digits: u8,
    /// The escape before is the first half of a character.
    is_half: bool,
}

impl Texts {
    fn take(&mut self, mut bytes: &[u8], kept: &mut Vec<u8>, longest: Longest) {
        loop {
            if self.is_cut && !self.is_escaped && self.digits == 0 {
                let next = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                bytes = &bytes[next.unwrap_or(bytes.len())..];
            }
            let Some((&byte, rest)) = bytes.split_first() else { return };
            bytes = rest;
            let was_cut = self.is_cut;
            if !self.keeps(byte, longest.text) {
                continue;
            }
            if was_cut && kept.len() < longest.message {
                kept.extend_from_slice(MARK.as_bytes());
            }
            // What is too long without its texts too is broken off, and is shown as such.
            if kept.len() < longest.message {
                kept.push(byte);
            }
        }
    }

    /// Goes on by a byte; says whether it is kept. A text is cut where neither a character nor an escape is broken.
    fn keeps(&mut self, byte: u8, longest: usize) -> bool {
        if !self.is_within {
            *self = Self { is_within: byte == b'"', ..Self::default() };
            return true;
        }
        self.length += 1;
        if std::mem::take(&mut self.is_escaped) {
            self.digits = if byte == b'u' { 4 } else { 0 };
        } else if self.digits > 0 {
            match self.digits {
                4 => self.is_half = matches!(byte, b'd' | b'D'),
                3 => self.is_half &= matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B'),
                _ => {}
            }
            self.digits -= 1;
        } else if byte == b'"' {
            *self = Self::default();
            return true;
        } else {
            self.is_escaped = byte == b'\\';
            let is_within_character = byte & 0xC0 == 0x80 || std::mem::take(&mut self.is_half);
            self.is_cut |= self.length > longest && !is_within_character;
        }
        !self.is_cut
    }
}

/// Says whether a line is meant as JSON by how it begins.
fn is_meant_as_json(line: &[u8]) -> bool {
    match line.trim_ascii_start() {
        [b'[', rest @ ..] => rest.trim_ascii_start().first().is_none_or(|first| b"{[\"]".contains(first)),
        line => line.first() == Some(&b'{'),
    }
}

/// Counts the bytes up to and including the first newline; all of them when there is none.
fn through_newline(bytes: &[u8]) -> usize {
    // A slice never fails to be read; std's search is the fast one.
    let mut reader = bytes;
    reader.skip_until(b'\n').unwrap_or(bytes.len())
}

fn give(line: &[u8], is_cut: bool, each: &mut impl FnMut(Line<'_>)) {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    each(Line { text: &text, is_cut });
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn lines_of(mut lines: Lines, bytes: &[u8], size: usize) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        for chunk in bytes.chunks(size) {
            lines.push(chunk, |line| all.push((line.text.to_string(), line.is_cut)));
        }
        lines.finish(|line| all.push((line.text.to_string(), line.is_cut)));
        all
    }

    fn whole(lines: &[&str]) -> Vec<(String, bool)> {
        lines.iter().map(|line| (line.to_string(), false)).collect()
    }

    fn short(message: usize, plain: usize, text: usize) -> Lines {
        Lines { longest: Longest { message, plain, text }, ..Lines::new() }
    }

    #[test]
    fn any_chunk_size_gives_the_same_lines() {
        let bytes = "first\r\n\nzwölf 🦀 crabs\nlast without an end".as_bytes();
        let lines = lines_of(Lines::new(), bytes, bytes.len());
        assert_eq!(lines, whole(&["first", "", "zwölf 🦀 crabs", "last without an end"]));
        for size in 1..bytes.len() {
            assert_eq!(lines_of(Lines::new(), bytes, size), lines, "in chunks of {size}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_spoil_only_their_own_line() {
        let bytes = b"good\nb\xff\xfed\ngood again\n";
        for size in 1..bytes.len() {
            let lines = lines_of(Lines::new(), bytes, size);
            assert_eq!(lines, whole(&["good", "b\u{fffd}\u{fffd}d", "good again"]));
        }
    }

    #[test]
    fn the_rest_of_a_plain_line_that_is_too_long_is_dropped() {
        let bytes = b"0123456789\nnext\n01234567\n  {no} 567\n[x] 45678901234567890";
        let cut = |text: &str| (text.to_string(), true);
        let expected = [
            cut("01234567"),
            ("next".to_string(), false),
            ("01234567".to_string(), false),
            cut("  {no} 5"),
            cut("[x] 4567"),
        ];
        for size in 1..=bytes.len() {
            let lines = lines_of(short(8, 8, 8), bytes, size);
            assert_eq!(lines, expected, "in chunks of {size}");
        }
    }

    #[test]
    fn of_a_message_that_is_too_long_the_long_texts_are_cut_and_it_stays_a_message() {
        let long = "word \" \\ \n \u{1} ü 🦀 ".repeat(40);
        let message =
            json!({"id": 7, "long": long, "all": [{"short": "\"", "crabs": "🦀".repeat(200) + " end"}]});
        let escaped = message.to_string().replace('🦀', "\\ud83e\\udd80").replace('ü', "\\u00fc");
        for text in [message.to_string(), escaped] {
            let bytes = format!("{text}\nnext\n").into_bytes();
            let mut results = Vec::new();
            for text_size in 20..60 {
                for size in [1, 2, 3, 7, 100, bytes.len()] {
                    let lines = lines_of(short(600, 16, text_size), &bytes, size);
                    assert_eq!(lines[1], ("next".to_string(), false));
                    let (line, is_cut) = &lines[0];
                    assert!(is_cut);
                    let read: Value =
                        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                    assert_eq!((&read["id"], &read["all"][0]["short"]), (&json!(7), &json!("\"")));
                    let kept = read["long"].as_str().unwrap().strip_suffix(MARK).unwrap();
                    assert!(long.starts_with(kept) && kept.len() >= 10, "{kept}");
                    results.push((text_size, line.clone()));
                }
            }
            results.dedup();
            assert_eq!(results.len(), 40, "the size of chunks matters");
        }
    }

    #[test]
    fn a_message_that_is_too_long_without_its_texts_is_broken_off() {
        let bytes = format!("[[{}]\nnext\n", "1,".repeat(1000));
        let lines = lines_of(short(100, 16, 16), bytes.as_bytes(), 7);
        assert_eq!((lines[0].0.len(), lines[0].1), (100, true));
        assert_eq!(lines[1], ("next".to_string(), false));
    }

    #[test]
    fn a_line_of_any_length_takes_little_memory() {
        let mut lines = Lines::new();
        let chunk = [b'x'; 64 * 1024];
        for _ in 0..1000 {
            lines.push(&chunk, |_| panic!("it has no end"));
        }
        assert!(lines.carry.capacity() <= 2 * LONGEST_PLAIN);
        assert_eq!(lines.unfinished(), None);
        lines.push(b"\n{\"text\": \"", |_| {});
        for _ in 0..1000 {
            lines.push(&chunk, |_| panic!("it has no end"));
        }
        assert!(lines.carry.len() <= LONGEST_TEXT + 100, "{}", lines.carry.len());
        let mut read = None;
        lines.push(b"\"}\n", |line| read = serde_json::from_str::<Value>(line.text).ok());
        assert!(read.unwrap()["text"].as_str().unwrap().ends_with(MARK));
    }
}
