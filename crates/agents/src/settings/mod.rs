//! The settings every agent's profile may hold. An unknown key is somebody else's and is left alone.

mod check;
pub mod types;

use serde_json::Value;

pub use check::{check_settings, schemas};

use crate::{CommandSpec, Program, Turn};

impl Turn {
    /// Returns a text setting, when it is there and not blank.
    pub(crate) fn text_setting(&self, key: &str) -> Option<&str> {
        self.settings.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    /// Returns a yes-or-no setting, when it is there.
    pub(crate) fn flag_setting(&self, key: &str) -> Option<bool> {
        self.settings.get(key)?.as_bool()
    }

    /// Returns the program to run: the pinned package where the profile says `install: npx` and there is one, else
    /// the named program on PATH.
    pub(crate) fn program(&self, name: &'static str, install: &'static str, npx: Option<&str>) -> Program {
        match npx {
            Some(package) if self.text_setting("install") == Some("npx") => {
                Program::Given { argv: ["npx", "-y", package].map(str::to_string).into() }
            }
            _ => Program::Named { name, install },
        }
    }

    /// Returns a command that a setting gives, as one text or word by word; empty where it gives none.
    pub(crate) fn command_setting(&self, key: &str) -> Vec<String> {
        self.settings.get(key).map(argv).unwrap_or_default()
    }

    /// Returns what the profile wants added to every prompt, exactly as it is written there.
    pub(crate) fn append_prompt(&self) -> &str {
        self.settings.get("append_prompt").and_then(Value::as_str).unwrap_or_default()
    }
}

impl CommandSpec {
    /// Lays the profile's own wishes over a command: another program, more arguments, more environment.
    pub(crate) fn with_settings(mut self, turn: &Turn) -> Self {
        let argv = turn.command_setting("base_command_override");
        if !argv.is_empty() {
            self.program = Program::Given { argv };
        }
        if let Some(more) = turn.settings.get("additional_params").and_then(Value::as_array) {
            self.args.extend(more.iter().filter_map(Value::as_str).map(str::to_string));
        }
        if let Some(env) = turn.settings.get("env").and_then(Value::as_object) {
            let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_string()));
            self.env.extend(env.iter().filter_map(text));
        }
        self
    }
}

/// Reads a command that is written as one text or as a list.
fn argv(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => words(text),
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_string).collect(),
        _ => Vec::new(),
    }
}

/// Splits a text into words as a shell does: quotes keep spaces, a backslash keeps the next character.
/// A quote that is never closed reaches to the end.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (_, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        assert_eq!(words("npx  -y claude"), ["npx", "-y", "claude"]);
        assert_eq!(words(r#"'/my tools/claude' --a="b c" \" ''"#), ["/my tools/claude", "--a=b c", "\"", ""]);
        assert_eq!(words("'never closed "), ["never closed "]);
        assert!(words("  ").is_empty());
    }
}
