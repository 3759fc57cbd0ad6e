//! What a person reads: answers on standard output, remarks on standard error, colours only where they are
//! seen. Text from agents and repositories never reaches a terminal with its control characters.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use serde_json::Value;

use crate::environment;
use crate::exit::{Failure, Result};

/// How a piece of text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// Beside the point: thoughts, standard error, headings.
    Dim,
    /// Something went wrong.
    Red,
    /// Somebody is asked something.
    Bold,
}

/// Where a command prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    colour: bool,
}

impl Output {
    /// Looks at the terminal and at `NO_COLOR` once.
    pub(crate) fn new(json: bool) -> Self {
        let colour = io::stdout().is_terminal() && !environment::is_present(environment::NO_COLOR);
        Self { json, colour }
    }

    /// Prints a line on standard output.
    pub(crate) fn line(&self, text: impl Display) -> Result<()> {
        self.write(format!("{text}\n").as_bytes())
    }

    /// Prints a value on standard output as one line of JSON.
    pub(crate) fn value(&self, value: &Value) -> Result<()> {
        self.line(value)
    }

    /// Prints bytes on standard output as they are.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::output_closed()),
            Err(error) => Err(Failure::away(format!("could not write to standard output: {error}"))),
        }
    }

    /// Prints a remark on standard error. Nobody reading it is no reason to stop.
    pub(crate) fn remark(&self, text: impl Display) {
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Prints lines on standard error as they are.
    pub(crate) fn remark_whole(&self, lines: &str) {
        let _ = write!(io::stderr(), "{lines}");
    }

    /// Colours text for standard output, where colours are seen.
    pub(crate) fn tone(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.colour => return text.to_string(),
            Tone::Plain => return text.to_string(),
            Tone::Dim => "2",
            Tone::Red => "31",
            Tone::Bold => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Takes out what could steer a terminal: control characters other than the newline and the tab. What turns a text
/// round is shown as a mark.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ if character.is_control() => {}
            _ if turns_round(character) => push_mark(&mut shown, character),
            _ => shown.push(character),
        }
    }
    shown
}

/// Shows every character that cannot be seen, or that turns a text round, as a mark with its number: what somebody
/// allows is what they could read.
pub(crate) fn marked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ if character.is_control() || turns_round(character) || is_unseen(character) => {
                push_mark(&mut shown, character);
            }
            _ => shown.push(character),
        }
    }
    shown
}

fn push_mark(shown: &mut String, character: char) {
    shown.push_str(&format!("<U+{:04X}>", u32::from(character)));
}

/// Marks and overrides of the direction.
fn turns_round(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters without a width, separators of lines that are drawn as spaces, fillers and tags.
fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// Makes one short line of a text: its first line that is not blank, cut at `longest` characters.
pub(crate) fn short(text: &str, longest: usize) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = printable(lines.next().unwrap_or_default());
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None if lines.next().is_some() => format!("{line} …"),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_cannot_steer_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\r\n\tc\u{9b}d\x07"), "a[2Jb\n\tcd");
        assert_eq!(printable("a\u{202e}b\u{200d}c"), "a<U+202E>b\u{200d}c");
    }

    #[test]
    fn a_long_text_becomes_one_short_line() {
        assert_eq!(short("\n  one \n", 10), "one");
        assert_eq!(short("one\ntwo", 10), "one …");
        assert_eq!(short("0123456789abc", 10), "0123456789…");
    }
}
