//! The head of an agent file: YAML between two `---`, read into texts by their paths. What a stranger wrote there
//! is never followed: no alias is expanded, and depth has a bound.

use saphyr_parser::{Event, Parser};

/// How deep the maps and lists of a head may lie in one another.
const DEEPEST: usize = 16;
/// How many lines may stand before the head; some tools write the date there.
const LONGEST_PREAMBLE: usize = 40;

/// What a head says: each text under its path, `genie.executor`. A list counts by its first item.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Head {
    texts: Vec<(String, String)>,
    /// Why it could not be read as YAML, and was read line by line instead.
    pub(super) damage: Option<String>,
}

impl Head {
    /// Returns the first of these keys that has a text.
    pub(super) fn text(&self, keys: &[&str]) -> Option<&str> {
        let found = keys.iter().find_map(|key| self.texts.iter().find(|(known, _)| known == key));
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the first of these keys that says yes or no.
    pub(super) fn flag(&self, keys: &[&str]) -> Option<bool> {
        match self.text(keys)?.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }
}

/// Splits a file into its head and its body; none when it has no head.
pub(super) fn split(text: &str) -> Option<(Head, &str)> {
    let text = text.trim_start_matches('\u{feff}');
    let mut at = 0;
    let mut begin = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        match begin {
            None if line.trim_end() == "---" => begin = Some(at),
            None if number >= LONGEST_PREAMBLE => return None,
            None => {}
            Some(begin) if matches!(line.trim_end(), "---" | "...") => {
                return Some((parse(&text[begin..at - line.len()]), text[at..].trim()));
            }
            Some(_) => {}
        }
    }
    None
}

fn parse(head: &str) -> Head {
    match texts(head) {
        Ok(texts) => Head { texts, damage: None },
        Err(why) => Head { texts: lines(head), damage: Some(why) },
    }
}

/// What the parser is inside of.
enum Level {
    /// A map, with the key whose value comes next.
    Map(Option<String>),
    /// A list, and how many items it has had.
    List(usize),
}

fn texts(head: &str) -> Result<Vec<(String, String)>, String> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    for event in Parser::new_from_str(head) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        match event {
            Event::MappingStart(..) => levels.push(Level::Map(None)),
            Event::SequenceStart(..) => levels.push(Level::List(0)),
            Event::MappingEnd | Event::SequenceEnd => {
                levels.pop();
                done(&mut levels);
            }
            Event::Alias(_) => return Err("it uses an alias, and none is followed here".to_string()),
            Event::Scalar(text, ..) => {
                if let Some(Level::Map(key @ None)) = levels.last_mut() {
                    *key = Some(text.into_owned());
                    continue;
                }
                if let Some(path) = path(&levels) {
                    found.push((path, text.trim().to_string()));
                }
                done(&mut levels);
            }
            _ => {}
        }
        if levels.len() > DEEPEST {
            return Err("it is too deep".to_string());
        }
    }
    Ok(found)
}

/// A value is over: its map waits for a key again, its list for another item.
fn done(levels: &mut [Level]) {
    match levels.last_mut() {
        Some(Level::Map(key)) => *key = None,
        Some(Level::List(count)) => *count += 1,
        None => {}
    }
}

/// The path of a value; none when it is a later item of a list, or in no map.
fn path(levels: &[Level]) -> Option<String> {
    let mut keys = Vec::new();
    for level in levels {
        match level {
            Level::Map(key) => keys.push(key.as_deref()?),
            Level::List(0) => {}
            Level::List(_) => return None,
        }
    }
    (!keys.is_empty()).then(|| keys.join("."))
}

/// Reads `key: value` line by line, for a head that is no YAML: what its author most likely meant.
fn lines(head: &str) -> Vec<(String, String)> {
    let pairs = head.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-']));
    let pairs = pairs.filter_map(|line| line.split_once(':'));
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_string();
    pairs.map(|(key, value)| (plain(key), plain(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Head {
        split(text).unwrap().0
    }

    #[test]
    fn texts_are_found_by_their_paths() {
        let head = "---\nname: x\ngenie:\n  executor: [claude, codex]\n  model: sonnet # fast\n  background: yes\n\
                    forge:\n  CODEX: {model: \"o3\", sandbox: read-only}\ntext: |\n  two\n  lines\n---\nbody";
        let head = read(head);
        assert_eq!(head.text(&["genie.executor"]), Some("claude"));
        assert_eq!(head.text(&["nobody", "genie.model"]), Some("sonnet"));
        assert_eq!(head.text(&["forge.CODEX.sandbox"]), Some("read-only"));
        assert_eq!(head.text(&["text"]), Some("two\nlines"));
        assert_eq!(head.flag(&["genie.background"]), Some(true));
        assert_eq!(head.damage, None);
    }

    #[test]
    fn a_preamble_before_the_head_is_tolerated_and_a_long_one_is_no_preamble() {
        let (head, body) = split("**Last Updated:** today\n\n---\nname: x\n---\n\nBe kind.\n").unwrap();
        assert_eq!((head.text(&["name"]), body), (Some("x"), "Be kind."));
        assert!(split(&format!("{}---\nname: x\n---\n", "line\n".repeat(100))).is_none());
        assert!(split("\u{feff}---\r\nname: x\r\n---\r\nbody").is_some());
        assert!(split("---\nname: x\n").is_none(), "a head that never ends");
        assert!(split("just text").is_none());
    }

    #[test]
    fn garbage_is_read_line_by_line_and_never_breaks() {
        let head = read("---\nname: 'x\nexecutor: [a\n\tb: c\n---\n");
        assert!(head.damage.is_some(), "{head:?}");
        let head = read("---\nexecutor: codex\nbad: : :\n  - [}\n---\n");
        assert_eq!(head.text(&["executor"]), Some("codex"));
        let bomb = "---\na: &a [x, x]\nb: [*a, *a]\n---\n";
        assert!(read(bomb).damage.unwrap().contains("alias"));
        for text in
            ["---\n{{{{{{\n---\n", "---\n&\n---\n", "---\n? ? ?\n---\n", "---\n\u{0}\u{1}: \u{7f}\n---\n"]
        {
            let _ = split(text);
        }
        let deep = format!("---\na: {}{}\n---\n", "[".repeat(3000), "]".repeat(3000));
        assert!(read(&deep).damage.is_some());
        // Whatever is cut off or turned round in a good head, nothing breaks.
        let good = "---\nname: \"x\"\ngenie: {executor: [claude, 'codex'], model: |\n  a\n  }\n---\n";
        for end in (0..good.len()).filter(|end| good.is_char_boundary(*end)) {
            let _ = split(&format!("{}\n---\n", &good[..end]));
            let turned: String = good[4..end.max(4)].chars().rev().collect();
            let _ = split(&format!("---\n{turned}\n---\n"));
        }
    }
}
