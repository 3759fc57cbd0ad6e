//! Changing one key of JSON text, comments and trailing commas welcome, and leaving the rest byte by byte.
//!
//! The text is never written anew: pieces of it are taken out and pieces are put in, so that whatever is not touched
//! stays by construction. A comment always stays, even beside a server that goes.

use jsonc_parser::ast::{self, Object, ObjectProp};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

/// What people write in settings: JSON with comments and a comma too many, and no other dialect.
const DIALECT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads the object that a text holds; an empty text holds an empty one.
pub(super) fn read(text: &str) -> Result<Map<String, Value>, String> {
    match parse(text)?.map(Value::from) {
        None => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map),
        Some(_) => Err("it must hold a JSON object".to_string()),
    }
}

/// Puts the servers under the key.
pub(super) fn edit(text: &str, key: &str, servers: &Map<String, Value>) -> Result<String, String> {
    let mut edits = Edits { text, style: Style::of(text), pieces: Vec::new() };
    match parse(text)? {
        None => {
            let whole =
                Value::Object([(key.to_string(), Value::Object(servers.clone()))].into_iter().collect());
            let newline = edits.style.newline;
            let before = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            let written = edits.style.write(&whole, "");
            edits.put(text.len(), text.len(), format!("{before}{written}{newline}"));
        }
        Some(ast::Value::Object(root)) => {
            match root.properties.iter().find(|known| known.name.as_str() == key) {
                None => {
                    let added = [(key, Value::Object(servers.clone()))];
                    edits.change(&root, &[], &added);
                }
                Some(ObjectProp { value: ast::Value::Object(object), .. }) => edits.lay(object, servers),
                Some(other) => edits.replace(&other.value, &Value::Object(servers.clone())),
            }
        }
        Some(_) => return Err("it must hold a JSON object".to_string()),
    }
    Ok(edits.made())
}

fn parse(text: &str) -> Result<Option<ast::Value<'_>>, String> {
    match parse_to_ast(text, &CollectOptions::default(), &DIALECT) {
        Ok(parsed) => Ok(parsed.value),
        // The text may hold secrets, so only the place is told.
        Err(error) => {
            Err(format!("it is not JSON (line {}, column {})", error.line_display(), error.column_display()))
        }
    }
}

/// How a text is laid out.
struct Style {
    newline: &'static str,
    indent: &'static str,
}

impl Style {
    fn of(text: &str) -> Self {
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            indent: match () {
                () if text.contains("\n\t") => "\t",
                () if text.contains("\n    \"") && !text.contains("\n  \"") => "    ",
                () => "  ",
            },
        }
    }

    /// Writes a value over several lines, all but the first behind a margin.
    fn write(&self, value: &Value, margin: &str) -> String {
        let (deeper, newline) = (format!("{margin}{}", self.indent), self.newline);
        let lines: Vec<String> = match value {
            Value::Object(map) if !map.is_empty() => map
                .iter()
                .map(|(key, value)| {
                    format!("{deeper}{}: {}", Value::from(key.as_str()), self.write(value, &deeper))
                })
                .collect(),
            Value::Array(items) if !items.is_empty() => {
                items.iter().map(|value| format!("{deeper}{}", self.write(value, &deeper))).collect()
            }
            other => return other.to_string(),
        };
        let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
        format!("{open}{newline}{}{newline}{margin}{close}", lines.join(&format!(",{newline}")))
    }
}

/// Pieces of a text to be replaced, each by its range.
struct Edits<'a> {
    text: &'a str,
    style: Style,
    pieces: Vec<(usize, usize, String)>,
}

impl Edits<'_> {
    fn put(&mut self, start: usize, end: usize, text: String) {
        self.pieces.push((start, end, text));
    }

    /// Makes an object equal to what is wanted, touching only what differs.
    fn lay(&mut self, object: &Object<'_>, wanted: &Map<String, Value>) {
        let mut gone = Vec::new();
        for (at, property) in object.properties.iter().enumerate() {
            let name = property.name.as_str();
            // What stands there twice is meant once: the last one counts.
            let again = object.properties[at + 1..].iter().any(|later| later.name.as_str() == name);
            match (wanted.get(name), &property.value) {
                (None, _) => gone.push(at),
                _ if again => gone.push(at),
                (Some(value), known) if Value::from(known.clone()) == *value => {}
                (Some(Value::Object(wanted)), ast::Value::Object(inner)) => self.lay(inner, wanted),
                (Some(value), known) => self.replace(known, value),
            }
        }
        let known = |name: &str| object.properties.iter().any(|property| property.name.as_str() == name);
        let added: Vec<(&str, Value)> = wanted
            .iter()
            .filter(|(name, _)| !known(name))
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        if !gone.is_empty() || !added.is_empty() {
            self.change(object, &gone, &added);
        }
    }

    fn replace(&mut self, known: &ast::Value<'_>, value: &Value) {
        let range = known.range();
        let line = self.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let margin: String = self.text[line..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        let written = match self.text[range.start..range.end].contains('\n') || value.is_object() {
            true => self.style.write(value, &margin),
            false => value.to_string(),
        };
        self.put(range.start, range.end, written);
    }

    /// Takes members out of an object, by their place, and puts members in behind the last one.
    fn change(&mut self, object: &Object<'_>, gone: &[usize], added: &[(&str, Value)]) {
        let members = &object.properties;
        let commas: Vec<Option<usize>> =
            members.iter().map(|member| self.comma_after(member.range.end)).collect();
        let last_kept = (0..members.len()).rev().find(|at| !gone.contains(at));
        let trailing = commas.last().copied().flatten().is_some();
        let close = object.range.end - 1;
        for at in gone {
            let (range, comma) = (members[*at].range, commas[*at]);
            // What is put in comes right behind the last member, so that its line stays.
            let line_stays = at + 1 == members.len() && !added.is_empty();
            let end = comma.map_or(range.end, |comma| comma + 1);
            let alone = self.text[range.end..comma.unwrap_or(range.end)].trim().is_empty();
            match self.whole_lines(range.start, end).filter(|_| alone && !line_stays) {
                Some((start, end)) => self.put(start, end, String::new()),
                None => {
                    self.put(range.start, range.end, String::new());
                    if let Some(comma) = comma {
                        self.put(comma, comma + 1, String::new());
                    }
                }
            }
        }
        if let Some(kept) = last_kept {
            match commas[kept] {
                // It stood before one that has gone, and would be one too many.
                Some(comma) if added.is_empty() && !trailing => self.put(comma, comma + 1, String::new()),
                None if !added.is_empty() => {
                    let end = members[kept].range.end;
                    self.put(end, end, ",".to_string());
                }
                _ => {}
            }
        }
        if added.is_empty() {
            return;
        }
        let behind = match (members.last(), commas.last().copied().flatten()) {
            (_, Some(comma)) => comma + 1,
            (Some(last), None) => last.range.end,
            (None, None) => object.range.start + 1,
        };
        let place = self.after_comments(behind, close);
        let inline = !members.is_empty() && !self.text[object.range.start..object.range.end].contains('\n');
        let newline = self.style.newline;
        let margin = self.margin(object);
        let write = |(name, value): &(&str, Value)| match inline {
            true => format!(" {}: {value}", Value::from(*name)),
            false => format!("{newline}{margin}{}: {}", Value::from(*name), self.style.write(value, &margin)),
        };
        let mut written = added.iter().map(write).collect::<Vec<_>>().join(",");
        if trailing {
            written.push(',');
        }
        if !inline && !self.text[place..close].contains('\n') {
            let outer = margin.strip_suffix(self.style.indent).unwrap_or_default();
            written.push_str(&format!("{newline}{outer}"));
        }
        self.put(place, place, written);
    }

    /// The white space before the members of an object that stand on lines of their own.
    fn margin(&self, object: &Object<'_>) -> String {
        let own_line = |at: usize| {
            let line = self.text[..at].rfind('\n').map(|at| at + 1)?;
            let before = &self.text[line..at];
            before.chars().all(|c| matches!(c, ' ' | '\t')).then(|| before.to_string())
        };
        if let Some(margin) = object.properties.first().and_then(|first| own_line(first.range.start)) {
            return margin;
        }
        let line = self.text[..object.range.start].rfind('\n').map_or(0, |at| at + 1);
        let outer: String = self.text[line..].chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        format!("{outer}{}", self.style.indent)
    }

    /// The comma that follows a member, past white space and comments.
    fn comma_after(&self, at: usize) -> Option<usize> {
        let mut at = at;
        loop {
            let (next, is_comment) = self.trivia(at)?;
            if !is_comment {
                return (self.text.as_bytes().get(next) == Some(&b',')).then_some(next);
            }
            at = next;
        }
    }

    /// The end of the last comment between two places, or the first place.
    fn after_comments(&self, from: usize, to: usize) -> usize {
        let (mut place, mut at) = (from, from);
        while let Some((next, true)) = self.trivia(at) {
            if next > to {
                break;
            }
            (place, at) = (next, next);
        }
        place
    }

    /// Skips white space, and a comment when there is one: where it ends, and whether it was one. The newline that
    /// ends a comment is not part of it.
    fn trivia(&self, at: usize) -> Option<(usize, bool)> {
        let rest = self.text.get(at..)?;
        let blank = rest.len() - rest.trim_start().len();
        let (start, rest) = (at + blank, &rest[blank..]);
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let end = if rest[..end].ends_with('\r') { end - 1 } else { end };
            return Some((start + end, true));
        }
        if rest.starts_with("/*") {
            return Some((start + rest.find("*/").map_or(rest.len(), |end| end + 2), true));
        }
        Some((start, false))
    }

    /// The lines that a piece fills by itself, when it does.
    fn whole_lines(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let line = self.text[..start].rfind('\n').map(|at| at + 1)?;
        let rest = &self.text[end..];
        let newline = rest.find('\n')?;
        let alone = self.text[line..start].trim().is_empty() && rest[..newline].trim().is_empty();
        alone.then_some((line, end + newline + 1))
    }

    fn made(mut self) -> String {
        self.pieces.sort_by_key(|(start, end, _)| (*start, *end));
        let (mut made, mut at) = (String::with_capacity(self.text.len()), 0);
        for (start, end, piece) in self.pieces {
            // Two pieces never overlap; were it so, the check of the result would refuse it.
            made.push_str(self.text.get(at..start).unwrap_or_default());
            made.push_str(&piece);
            at = at.max(end);
        }
        made.push_str(self.text.get(at..).unwrap_or_default());
        made
    }
}
