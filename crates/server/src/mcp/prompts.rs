//! The Genie prompts: files beside this one, each with its arguments at its head.
//!
//! A line of a prompt that speaks of an argument which was not given is left out.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prompt {
    pub(super) name: &'static str,
    file: &'static str,
}

/// An argument of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) is_needed: bool,
}

/// Every prompt.
pub(super) const ALL: &[Prompt] = &[
    Prompt { name: "plan", file: include_str!("prompts/plan.md") },
    Prompt { name: "wish", file: include_str!("prompts/wish.md") },
    Prompt { name: "forge", file: include_str!("prompts/forge.md") },
    Prompt { name: "review", file: include_str!("prompts/review.md") },
    Prompt { name: "genie", file: include_str!("prompts/genie.md") },
    Prompt { name: "consensus", file: include_str!("prompts/consensus.md") },
    Prompt { name: "debug", file: include_str!("prompts/debug.md") },
    Prompt { name: "thinkdeep", file: include_str!("prompts/thinkdeep.md") },
    Prompt { name: "analyze", file: include_str!("prompts/analyze.md") },
    Prompt { name: "prompt", file: include_str!("prompts/prompt.md") },
];

impl Prompt {
    /// Finds a prompt by its name.
    pub(super) fn named(name: &str) -> Option<&'static Prompt> {
        ALL.iter().find(|prompt| prompt.name == name)
    }

    /// Says what it is for.
    pub(super) fn about(&self) -> &'static str {
        self.head().next().unwrap_or_default()
    }

    /// Returns its arguments: lines `name!: about` where it is needed, `name: about` where not.
    pub(super) fn arguments(&self) -> Vec<Argument> {
        let read = |line: &'static str| {
            let (name, about) = line.split_once(": ")?;
            let is_needed = name.ends_with('!');
            Some(Argument { name: name.trim_end_matches('!'), about, is_needed })
        };
        self.head().skip(1).filter_map(read).collect()
    }

    /// Fills it in, or says which argument is missing or no text.
    pub(super) fn filled(&self, given: &Map<String, Value>) -> Result<String, String> {
        let mut texts = BTreeMap::new();
        for argument in self.arguments() {
            let name = argument.name;
            match given.get(name) {
                Some(Value::String(text)) if !text.trim().is_empty() => drop(texts.insert(name, text.trim())),
                None | Some(Value::Null | Value::String(_)) if !argument.is_needed => {}
                None | Some(Value::Null | Value::String(_)) => {
                    return Err(format!("`{name}` must be a text that is not blank"));
                }
                Some(_) => return Err(format!("`{name}` must be a text")),
            }
        }
        let (_, body) = self.file.split_once("\n---\n").unwrap_or_default();
        let lines = body.trim().lines().filter_map(|line| {
            let mut line = line.to_string();
            for argument in self.arguments() {
                let place = format!("{{{}}}", argument.name);
                if line.contains(&place) {
                    line = line.replace(&place, texts.get(argument.name)?);
                }
            }
            Some(line)
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    fn head(&self) -> impl Iterator<Item = &'static str> {
        self.file.split("\n---\n").next().unwrap_or_default().lines()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn every_prompt_says_what_it_is_for_and_uses_each_of_its_arguments() {
        for prompt in ALL {
            assert!(prompt.about().ends_with('.'), "{}", prompt.name);
            let arguments = prompt.arguments();
            assert!(arguments.iter().any(|argument| argument.is_needed), "{}", prompt.name);
            let all: Map<String, Value> =
                arguments.iter().map(|it| (it.name.to_string(), json!(format!("<{}>", it.name)))).collect();
            let text = prompt.filled(&all).unwrap();
            for argument in &arguments {
                assert!(text.contains(&format!("<{}>", argument.name)), "{}: {}", prompt.name, argument.name);
            }
            assert!(!text.contains('{'), "{}: {text}", prompt.name);
        }
    }

    #[test]
    fn an_argument_that_is_missing_is_named_and_one_that_need_not_be_there_leaves_no_trace() {
        let plan = Prompt::named("plan").unwrap();
        assert!(plan.filled(&given(json!({}))).unwrap_err().contains("`idea`"));
        assert!(plan.filled(&given(json!({"idea": 7}))).unwrap_err().contains("`idea`"));
        let text = plan.filled(&given(json!({"idea": "a kite"}))).unwrap();
        assert!(text.contains("a kite") && !text.contains("{context}"), "{text}");
    }
}
