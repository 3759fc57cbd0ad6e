//! Any command as an agent: its profile names the command, the prompt is its input, and what it prints is what it
//! says. It cannot be asked, told more or resumed; its exit code judges it.

use forge_model::Answer;
use forge_model::entry::EntryType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::{remembered, resumed};
use crate::entries::Entries;
use crate::{About, Agent, Capabilities, CommandSpec, Conversation, Program, Step, Turn};

/// Stands for the prompt in a word of the command; without it the prompt is the command's standard input.
const PROMPT: &str = "{prompt}";

/// Every further line shows the entry again, so that one entry holds few lines and little text.
const ENTRY_LINES: usize = 60;
const ENTRY_BYTES: usize = 8 * 1024;

/// A blank line ends an entry that has this many lines, so that paragraphs stay whole.
const PARAGRAPHS: usize = 20;

/// The adapter of whatever command a profile names.
#[derive(Debug)]
pub(crate) struct Raw;

impl Agent for Raw {
    fn name(&self) -> &'static str {
        "COMMAND"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { inject: false, go_on: false, interrupt: false, resume: false, fork: false }
    }

    fn command(&self, turn: &Turn) -> CommandSpec {
        let mut spec = written(turn);
        let prompt = whole_prompt(turn);
        let words = match &mut spec.program {
            Program::Given { argv } => argv,
            _ => &mut Vec::new(),
        };
        for word in words.iter_mut().chain(&mut spec.args) {
            *word = word.replace(PROMPT, &prompt);
        }
        spec
    }

    fn about(&self) -> About {
        let install = "name a command in its profile: docs/agents.md";
        About { title: "Any command", program: None, install, npx: None, login: &[], tried: true }
    }

    fn conversation(&self, turn: &Turn) -> Box<dyn Conversation> {
        let input = if takes_argument(&written(turn)) { String::new() } else { whole_prompt(turn) };
        Box::new(Talk { prompt: turn.prompt.clone(), input, ..Talk::default() })
    }

    fn conversation_at(&self, state: &Value) -> Option<Box<dyn Conversation>> {
        resumed::<Talk>(state)
    }
}

/// The command as the profile writes it, the placeholder included.
fn written(turn: &Turn) -> CommandSpec {
    let argv = turn.command_setting("command");
    let program = match argv.is_empty() {
        true => Program::Unnamed { setting: "command" },
        false => Program::Given { argv },
    };
    CommandSpec { program, args: Vec::new(), env: Vec::new(), unset: Vec::new() }.with_settings(turn)
}

fn takes_argument(spec: &CommandSpec) -> bool {
    let words = match &spec.program {
        Program::Given { argv } => argv.as_slice(),
        _ => &[],
    };
    words.iter().chain(&spec.args).any(|word| word.contains(PROMPT))
}

fn whole_prompt(turn: &Turn) -> String {
    format!("{}{}", turn.prompt, turn.append_prompt())
}

/// A conversation with a command.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Talk {
    prompt: String,
    /// What its standard input holds.
    input: String,
    entries: Entries,
    /// The newest entry when it is made of printed lines: the next such line joins it.
    said: Option<Said>,
    summary: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Said {
    index: usize,
    text: String,
    lines: usize,
}

impl Conversation for Talk {
    fn start(&mut self) -> Vec<Step> {
        let mut steps = vec![self.entries.show(EntryType::UserMessage, std::mem::take(&mut self.prompt))];
        let mut input = std::mem::take(&mut self.input);
        if !input.is_empty() {
            input.push('\n');
            steps.push(Step::Send(input));
        }
        steps.push(Step::CloseInput);
        steps
    }

    fn read(&mut self, line: &str) -> Vec<Step> {
        self.say_line(&plain(line)).into_iter().collect()
    }

    fn read_error(&mut self, line: &str) -> Vec<Step> {
        let step = self.entries.show_error_line(&plain(line));
        if step.is_some() {
            self.settle();
        }
        step.into_iter().collect()
    }

    fn say(&mut self, _: &str) -> Vec<Step> {
        vec![Step::Note("a command hears nothing after its prompt".to_string())]
    }

    fn answer(&mut self, ask: &str, _: &Answer) -> Vec<Step> {
        vec![Step::Note(format!("a command asks nothing, so that nobody answers {ask}"))]
    }

    fn interrupt(&mut self) -> Vec<Step> {
        Vec::new()
    }

    fn ended(&mut self) -> Vec<Step> {
        self.settle();
        // Whether it went well is for its exit code to say.
        vec![Step::Done { ok: true, error: None, summary: self.summary.take() }]
    }

    fn state(&self) -> Value {
        remembered(self)
    }
}

impl Talk {
    fn say_line(&mut self, line: &str) -> Option<Step> {
        let blank = line.trim().is_empty();
        if let Some(said) = &mut self.said {
            let lines = if blank { PARAGRAPHS } else { ENTRY_LINES };
            if said.lines < lines && said.text.len() + line.len() <= ENTRY_BYTES {
                said.text.push('\n');
                said.text.push_str(line);
                said.lines += 1;
                // A blank line is shown together with what follows it.
                return (!blank).then(|| show(said));
            }
            self.settle();
        }
        if blank {
            return None;
        }
        let (index, step) = self.entries.add(forge_model::Entry::new(EntryType::AssistantMessage, line));
        self.said = Some(Said { index, text: line.to_string(), lines: 1 });
        Some(step)
    }

    /// Ends the entry that grows; it is the last thing that was said.
    fn settle(&mut self) {
        if let Some(said) = self.said.take() {
            self.summary = Some(said.text.trim_end().to_string());
        }
    }
}

fn show(said: &Said) -> Step {
    let entry = forge_model::Entry::new(EntryType::AssistantMessage, said.text.clone());
    Step::Entry { index: said.index, entry }
}

/// Returns a line as a person would read it: without colours, cursor movements and titles, and of a line that was
/// written over, what was written last.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => match characters.next() {
                // Parameters, and one letter that ends them.
                Some('[') => {
                    let _ = characters.find(|c| ('\u{40}'..='\u{7e}').contains(c));
                }
                // A title or a link: up to the bell, or up to the escape and the backslash that end it.
                Some(']' | 'P' | '_' | '^') => {
                    let _ = characters.find(|c| matches!(c, '\u{7}' | '\u{1b}'));
                    characters.next_if_eq(&'\\');
                }
                // The choice of a character set has one more.
                Some('(' | ')' | '#') => {
                    characters.next();
                }
                _ => {}
            },
            '\r' if characters.peek().is_some() => text.clear(),
            '\t' => text.push('\t'),
            control if control.is_control() => {}
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn turn(settings: Value) -> Turn {
        Turn { prompt: "do $x; 'it'".to_string(), settings, ..Turn::default() }
    }

    fn sent(settings: Value) -> (Vec<String>, Vec<Step>) {
        let turn = turn(settings);
        let spec = Raw.command(&turn);
        let Program::Given { mut argv } = spec.program else { panic!("{spec:?}") };
        argv.extend(spec.args);
        (argv, Raw.conversation(&turn).start().split_off(1))
    }

    #[test]
    fn the_prompt_is_the_input_unless_a_word_has_a_place_for_it() {
        let (argv, told) = sent(json!({"command": "tool --quiet", "append_prompt": " now"}));
        assert_eq!(argv, ["tool", "--quiet"]);
        assert_eq!(told, [Step::Send("do $x; 'it' now\n".into()), Step::CloseInput]);
        let (argv, told) = sent(
            json!({"command": ["tool", "--say={prompt}"], "additional_params": ["{prompt}", "{other}"]}),
        );
        assert_eq!(argv, ["tool", "--say=do $x; 'it'", "do $x; 'it'", "{other}"]);
        assert_eq!(told, [Step::CloseInput]);
    }

    #[test]
    fn a_profile_that_names_no_command_is_told_apart() {
        assert_eq!(Raw.command(&turn(json!({}))).program, Program::Unnamed { setting: "command" });
        let spec = Raw.command(&turn(json!({"command": "a", "base_command_override": "b c"})));
        assert_eq!(spec.program, Program::Given { argv: vec!["b".into(), "c".into()] });
    }

    #[test]
    fn what_a_terminal_would_not_show_is_left_out() {
        assert_eq!(plain("\u{1b}[1;31mred\u{1b}[0m and \u{1b}[2Kplain"), "red and plain");
        assert_eq!(
            plain("\u{1b}]0;title\u{7}text\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\"),
            "textlink"
        );
        assert_eq!(plain("10%\r50%\r100% done\r"), "100% done");
        assert_eq!(plain("a\tb\u{8}\u{0}\u{1b}(Bc\u{1b}"), "a\tbc");
        assert_eq!(plain("\u{1b}[31"), "");
    }

    #[test]
    fn printed_lines_are_few_entries_that_stay_small() {
        let mut talk = Talk::default();
        let (mut shown, mut printed, mut last) = (0, 0, 0);
        for n in 0..10_000 {
            let line = format!("line {n}");
            printed += line.len();
            for step in talk.read(&line) {
                let Step::Entry { index, entry } = step else { panic!() };
                assert!(entry.content.len() <= ENTRY_BYTES);
                (shown, last) = (shown + entry.content.len(), index);
            }
        }
        assert!(last < 10_000 / PARAGRAPHS && shown < ENTRY_LINES * printed, "{last} {shown}");
        let Some(Step::Done { ok: true, summary: Some(summary), .. }) = talk.ended().pop() else { panic!() };
        assert!(summary.ends_with("line 9999"));
    }
}
