//! What an agent asks, as a terminal shows it: all of what a permission is for, the id of the ask, and the command that
//! answers it.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::output::{marked, short};
use crate::wire::{Ask, short_id};

/// The keys under which tools are given what they act on, the most telling first.
const OBJECTS: [&str; 10] = [
    "command",
    "cmd",
    "script",
    "file_path",
    "path",
    "notebook_path",
    "target_file",
    "url",
    "pattern",
    "query",
];
/// The keys under which agents say why.
const REASONS: [&str; 2] = ["description", "reason"];
/// How long the line of an ask may be in a list.
const LONGEST_LINE: usize = 110;

/// What an agent asks for.
#[derive(Debug, PartialEq)]
pub(crate) struct Wanted {
    /// The command, path or address, whole.
    object: Option<String>,
    /// Everything else that the tool is given, as JSON.
    rest: Option<String>,
    /// Why, as the agent says.
    reason: Option<String>,
}

impl Wanted {
    /// Reads what a tool is given.
    pub(crate) fn of(input: &Value) -> Self {
        let nothing = Map::new();
        let input = input.as_object().unwrap_or(&nothing);
        let key = OBJECTS.into_iter().find(|key| input.contains_key(*key));
        let is_text = |name: &str| input.get(name).is_some_and(Value::is_string);
        let why = REASONS.into_iter().find(|why| Some(*why) != key && is_text(why));
        let rest: Map<String, Value> = input
            .iter()
            .filter(|(name, _)| Some(name.as_str()) != key && Some(name.as_str()) != why)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        Self {
            object: key.map(|key| marked(&text_of(&input[key]))),
            rest: (!rest.is_empty())
                .then(|| marked(&serde_json::to_string_pretty(&rest).unwrap_or_default())),
            reason: why.map(|why| marked(&text_of(&input[why]))),
        }
    }

    /// All of it, each line indented.
    pub(crate) fn lines(&self) -> String {
        let mut text = String::new();
        for part in [&self.object, &self.rest].into_iter().flatten() {
            for line in part.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        if let Some(reason) = &self.reason {
            let _ = writeln!(text, "    why: {}", reason.replace('\n', " "));
        }
        text
    }

    /// Its first line, and how many follow.
    pub(crate) fn line(&self) -> Option<String> {
        let whole = self.object.clone().or_else(|| self.rest.as_ref().map(|rest| rest.replace('\n', " ")))?;
        let count = whole.lines().count();
        let line = short(whole.lines().next().unwrap_or_default(), LONGEST_LINE);
        Some(if count > 1 { format!("{line} … ({count} lines)") } else { line })
    }
}

impl Ask {
    /// Says whether a yes or a no is wanted, not words.
    pub(crate) fn is_permission(&self) -> bool {
        self.kind != "question"
    }

    /// Returns what is asked, in words.
    pub(crate) fn question(&self) -> String {
        match marked(self.text.trim()) {
            text if text.is_empty() => format!("may {} be used?", marked(&self.tool_name)),
            text => text,
        }
    }

    /// Returns the form of the id that people type.
    pub(crate) fn short(&self) -> &str {
        short_id(&self.approval_id)
    }

    /// One line of what is asked: for a permission, the tool and what it acts on.
    pub(crate) fn line(&self) -> String {
        let wanted = (self.kind == "permission").then(|| Wanted::of(&self.input).line()).flatten();
        match wanted {
            Some(line) => format!("{}: {line}", marked(&self.tool_name)),
            None => short(&self.question(), LONGEST_LINE),
        }
    }

    /// All of what a permission is for, one indented line after the other; nothing for a question or a plan, whose
    /// words say everything.
    pub(crate) fn whole(&self) -> String {
        match self.kind.as_str() {
            "permission" => Wanted::of(&self.input).lines(),
            _ => String::new(),
        }
    }

    /// The commands that answer it.
    pub(crate) fn how(&self) -> String {
        let id = self.short();
        match self.kind.as_str() {
            "question" => format!("answer with `forge answer {id} \"TEXT\"`"),
            "plan" => {
                format!(
                    "approve it with `forge approve {id}`, or ask for changes with `forge deny {id} \"CHANGES\"`"
                )
            }
            _ => format!("allow it with `forge approve {id}`, refuse it with `forge deny {id} \"REASON\"`"),
        }
    }
}

/// A value as text: a list of words with spaces between them.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(words) if words.iter().all(Value::is_string) => {
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(kind: &str, input: Value) -> Ask {
        crate::wire::read(&json!({
            "approval_id": "2eea834d-0000", "execution_process_id": "r", "kind": kind, "tool_name": "Bash",
            "text": "Allow Bash?", "input": input,
        }))
        .unwrap()
    }

    #[test]
    fn a_permission_shows_all_of_what_it_is_for() {
        let asked = ask(
            "permission",
            json!({"command": "cd /tmp\nrm -rf x", "description": "clean up", "timeout": 5}),
        );
        assert_eq!(asked.line(), "Bash: cd /tmp … (2 lines)");
        assert_eq!(
            asked.whole(),
            "    cd /tmp\n    rm -rf x\n    {\n      \"timeout\": 5\n    }\n    why: clean up\n"
        );
        assert!(asked.how().contains("`forge approve 2eea834d`"), "{}", asked.how());
    }

    #[test]
    fn what_is_hidden_in_a_command_is_marked() {
        let asked = ask("permission", json!({"command": ["rm", "a\u{202e}b\u{200b}\x1b[2J"]}));
        assert_eq!(asked.line(), "Bash: rm a<U+202E>b<U+200B><U+001B>[2J");
    }

    #[test]
    fn a_question_is_its_own_words() {
        let asked = ask("question", json!({"questions": []}));
        assert_eq!((asked.line().as_str(), asked.whole().as_str()), ("Allow Bash?", ""));
    }
}
