//! Turns what a run printed into what a person reads: the agent's words plainly, its tool calls as one short
//! line each. Knows no server; shows the same for the same bytes, however they were cut.

use std::collections::VecDeque;

use forge_agents::{Conversation, Lines, Step, Turn};
use forge_model::Entry;
use forge_model::entry::{Action, CommandResult, EntryType, ExitStatus, ToolStatus};
use serde_json::Value;

use crate::asked::Wanted;
use crate::exit::Result;
use crate::output::{Output, Tone, marked, printable, short};
use crate::wire::{LogChunk, Run};

/// How long the line of a tool call may be.
const LONGEST_LINE: usize = 110;
/// How many entries are remembered to recognise what changed in one; agents change only recent ones.
const REMEMBERED: usize = 64;

/// Shows the output of one run.
pub(crate) struct Renderer {
    output: Output,
    form: Form,
    stdout: Lines,
    stderr: Lines,
}

/// In which form output is shown.
enum Form {
    /// The bytes as they were printed.
    Raw,
    /// The wire's own objects, one a line.
    Json,
    /// Line by line: scripts, and agents this version does not know.
    Plain,
    /// As entries of the agent's conversation.
    Entries(Box<Entries>),
}

impl Renderer {
    /// Prepares to show a run.
    pub(crate) fn new(output: &Output, run: &Run, worktree: Option<&str>, raw: bool) -> Self {
        let form = match (output.json, raw) {
            (true, _) => Form::Json,
            (false, true) => Form::Raw,
            (false, false) => match conversation(run, worktree) {
                Some(conversation) => Form::Entries(Box::new(Entries::new(conversation))),
                None => Form::Plain,
            },
        };
        Self { output: *output, form, stdout: Lines::new(), stderr: Lines::new() }
    }

    /// Says what kind of run follows, where that is not plain.
    pub(crate) fn heading(&mut self, run: &Run) -> Result<()> {
        if matches!(self.form, Form::Raw | Form::Json) {
            return Ok(());
        }
        let action = &run.executor_action["typ"];
        let text = match run.run_reason.as_str() {
            "setupscript" => "— setup script —".to_string(),
            "cleanupscript" => "— cleanup script —".to_string(),
            "devserver" => "— dev server —".to_string(),
            _ if action["type"] == "CodingAgentFollowUpRequest" => {
                format!("> {}", short(action["prompt"].as_str().unwrap_or_default(), LONGEST_LINE))
            }
            _ => return Ok(()),
        };
        self.output.line(self.output.tone(Tone::Bold, &text))
    }

    /// Shows a piece of the run's output.
    pub(crate) fn print(&mut self, chunks: &[LogChunk]) -> Result<()> {
        let mut text = String::new();
        for chunk in chunks {
            let is_error = chunk.stream == "STDERR";
            match &mut self.form {
                Form::Raw if is_error => {}
                Form::Raw => text.push_str(&chunk.content),
                Form::Json => {
                    text.push_str(&serde_json::to_string(chunk).unwrap_or_default());
                    text.push('\n');
                }
                form => {
                    let lines = if is_error { &mut self.stderr } else { &mut self.stdout };
                    lines.push(chunk.content.as_bytes(), |line| {
                        form.line(&self.output, line.text, is_error, &mut text);
                    });
                }
            }
        }
        match text.is_empty() {
            true => Ok(()),
            false => self.output.write(text.as_bytes()),
        }
    }

    /// Shows what is left when the run is over: a last line without an end.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let mut text = String::new();
        let (output, form) = (&self.output, &mut self.form);
        if !matches!(form, Form::Raw | Form::Json) {
            self.stdout.finish(|line| form.line(output, line.text, false, &mut text));
            self.stderr.finish(|line| form.line(output, line.text, true, &mut text));
        }
        if let Form::Entries(entries) = form {
            entries.close(&mut text);
        }
        match text.is_empty() {
            true => Ok(()),
            false => self.output.write(text.as_bytes()),
        }
    }
}

impl Form {
    fn line(&mut self, output: &Output, line: &str, is_error: bool, text: &mut String) {
        match self {
            Form::Entries(entries) if !is_error => entries.read(output, line, text),
            form => {
                if let Form::Entries(entries) = form {
                    entries.close(text);
                }
                let tone = if is_error { Tone::Dim } else { Tone::Plain };
                text.push_str(&output.tone(tone, &printable(line)));
                text.push('\n');
            }
        }
    }
}

/// An agent's conversation, and how much of its newest entries has been shown.
struct Entries {
    conversation: Box<dyn Conversation>,
    /// The newest entries as they were shown, by index.
    shown: VecDeque<(usize, Entry)>,
    /// The entry whose last line is not ended yet, because the agent may go on with it.
    open: Option<usize>,
}

impl Entries {
    fn new(mut conversation: Box<dyn Conversation>) -> Self {
        // What it would send is the engine's business; here it only has to know that it began.
        conversation.start();
        Self { conversation, shown: VecDeque::new(), open: None }
    }

    fn read(&mut self, output: &Output, line: &str, text: &mut String) {
        // A plain line is whole; what comes as JSON may be the beginning of something longer.
        let mut whole = !line.starts_with('{');
        for step in self.conversation.read(line) {
            match step {
                Step::Entry { index, entry } => self.show(output, index, entry, text),
                Step::Done { .. } => whole = true,
                _ => {}
            }
        }
        if whole {
            self.close(text);
        }
    }

    fn show(&mut self, output: &Output, index: usize, entry: Entry, text: &mut String) {
        let before = self.shown.iter().position(|(known, _)| *known == index);
        match before.and_then(|place| self.shown.remove(place)) {
            None => self.show_new(output, index, &entry, text),
            Some((_, before)) => self.show_change(output, index, &before, &entry, text),
        }
        self.shown.push_back((index, entry));
        if self.shown.len() > REMEMBERED {
            self.shown.pop_front();
        }
    }

    fn show_new(&mut self, output: &Output, index: usize, entry: &Entry, text: &mut String) {
        self.close(text);
        match &entry.entry_type {
            EntryType::Loading => {}
            EntryType::ToolUse { action_type, status, .. } => {
                let line = format!("• {}", action_line(action_type, &entry.content));
                text.push_str(&output.tone(Tone::Plain, &line));
                text.push('\n');
                push_outcome(output, action_type, status, text);
            }
            kind => {
                text.push_str(&output.tone(tone_of(kind), &words(kind, &entry.content)));
                self.open = Some(index);
            }
        }
    }

    fn show_change(&mut self, output: &Output, index: usize, before: &Entry, now: &Entry, text: &mut String) {
        if let EntryType::ToolUse { action_type, status, .. } = &now.entry_type {
            let unchanged =
                matches!(&before.entry_type, EntryType::ToolUse { status: old, .. } if old == status);
            if !unchanged {
                self.close(text);
                push_outcome(output, action_type, status, text);
            }
            return;
        }
        // Words that grow are continued where they stopped; words that changed are said again.
        match now.content.strip_prefix(&before.content) {
            Some("") => {}
            Some(more) if self.open == Some(index) => {
                text.push_str(&output.tone(tone_of(&now.entry_type), &printable(more)));
            }
            _ => self.show_new(output, index, now, text),
        }
    }

    /// Ends the line that was left open.
    fn close(&mut self, text: &mut String) {
        if self.open.take().is_some() {
            text.push('\n');
        }
    }
}

/// Shows one entry that is whole; nothing when there is nothing to see.
pub(crate) fn entry(output: &Output, entry: &Entry) -> String {
    let mut text = String::new();
    match &entry.entry_type {
        EntryType::Loading => {}
        EntryType::ToolUse { action_type, status, .. } => {
            text.push_str(&format!("• {}\n", action_line(action_type, &entry.content)));
            push_outcome(output, action_type, status, &mut text);
        }
        kind => text.push_str(&output.tone(tone_of(kind), &words(kind, &entry.content))),
    }
    text.trim_end().to_string()
}

fn conversation(run: &Run, worktree: Option<&str>) -> Option<Box<dyn Conversation>> {
    if run.run_reason != "codingagent" {
        return None;
    }
    let action = &run.executor_action["typ"];
    let profile = &action["executor_profile_id"];
    let text = |value: &Value| value.as_str().map(str::to_string);
    let turn = Turn {
        prompt: text(&action["prompt"]).unwrap_or_default(),
        session: text(&action["session_id"]),
        variant: text(&profile["variant"]),
        worktree: worktree.unwrap_or_default().to_string(),
        ..Turn::default()
    };
    Some(forge_agents::agent(profile["executor"].as_str()?)?.conversation(&turn))
}

fn tone_of(kind: &EntryType) -> Tone {
    match kind {
        EntryType::Thinking | EntryType::SystemMessage => Tone::Dim,
        EntryType::ErrorMessage { .. } => Tone::Red,
        EntryType::UserMessage | EntryType::UserFeedback { .. } => Tone::Bold,
        _ => Tone::Plain,
    }
}

fn words(kind: &EntryType, content: &str) -> String {
    let content = printable(content);
    match kind {
        EntryType::UserMessage => format!("> {content}"),
        EntryType::UserFeedback { denied_tool } => format!("> no {denied_tool}: {content}"),
        _ => content,
    }
}

/// Says in one short line what a tool call does.
fn action_line(action: &Action, content: &str) -> String {
    let line = match action {
        Action::FileRead { path } => format!("read {}", marked(path)),
        Action::FileEdit { path, .. } => format!("edit {}", marked(path)),
        Action::CommandRun { command, .. } => format!("$ {}", short(&marked(command), LONGEST_LINE)),
        Action::Search { query } => format!("search {query}"),
        Action::WebFetch { url } => format!("fetch {}", marked(url)),
        Action::Tool { tool_name, arguments, .. } => {
            let said = content.trim_matches('`').trim();
            let object = arguments.as_ref().and_then(|input| Wanted::of(input).line());
            match object.filter(|object| !said.contains(object.as_str())) {
                None if said.is_empty() => format!("use {}", marked(tool_name)),
                None => format!("{}: {said}", marked(tool_name)),
                Some(object) if said.is_empty() => format!("{}: {object}", marked(tool_name)),
                Some(object) => format!("{}: {} ({object})", marked(tool_name), said.replace('\n', " ")),
            }
        }
        Action::TaskCreate { description } => format!("task: {description}"),
        // A plan is what the person decides about, so it is shown whole.
        Action::PlanPresentation { plan } => return format!("plan:\n{}", printable(plan)),
        Action::TodoManagement { todos, .. } => {
            let done = todos.iter().filter(|todo| todo.status == "completed").count();
            format!("to-do list: {done} of {} done", todos.len())
        }
        Action::Other { description } if description.is_empty() => content.to_string(),
        Action::Other { description } => description.clone(),
    };
    short(&line, LONGEST_LINE)
}

/// Says how a tool call ended, when that is worth a line.
fn push_outcome(output: &Output, action: &Action, status: &ToolStatus, text: &mut String) {
    let line = match status {
        ToolStatus::Created | ToolStatus::Success | ToolStatus::PendingApproval { .. } => return,
        ToolStatus::Failed => match action {
            Action::CommandRun { result: Some(result), .. } => failed_command(result),
            _ => "failed".to_string(),
        },
        ToolStatus::Denied { reason: Some(reason) } => format!("refused: {}", short(reason, LONGEST_LINE)),
        ToolStatus::Denied { reason: None } => "refused".to_string(),
        ToolStatus::TimedOut => "not answered in time".to_string(),
    };
    text.push_str(&output.tone(Tone::Red, &format!("  {line}")));
    text.push('\n');
}

fn failed_command(result: &CommandResult) -> String {
    let code = match &result.exit_status {
        Some(ExitStatus::ExitCode { code }) => format!("failed with exit code {code}"),
        _ => "failed".to_string(),
    };
    match result
        .output
        .as_deref()
        .and_then(|output| output.lines().rev().find(|line| !line.trim().is_empty()))
    {
        Some(last) => format!("{code}: {}", short(last, LONGEST_LINE)),
        None => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_model::entry::ErrorType;

    fn shown(entries: Vec<(usize, Entry)>) -> String {
        struct Silent;
        impl Conversation for Silent {
            fn start(&mut self) -> Vec<Step> {
                Vec::new()
            }
            fn read(&mut self, _: &str) -> Vec<Step> {
                Vec::new()
            }
            fn read_error(&mut self, _: &str) -> Vec<Step> {
                Vec::new()
            }
            fn say(&mut self, _: &str) -> Vec<Step> {
                Vec::new()
            }
            fn answer(&mut self, _: &str, _: &forge_model::Answer) -> Vec<Step> {
                Vec::new()
            }
            fn interrupt(&mut self) -> Vec<Step> {
                Vec::new()
            }
            fn state(&self) -> Value {
                Value::Null
            }
        }
        let output = Output::new(false);
        let mut shown = Entries::new(Box::new(Silent));
        let mut text = String::new();
        for (index, entry) in entries {
            shown.show(&output, index, entry, &mut text);
        }
        shown.close(&mut text);
        text
    }

    fn said(text: &str) -> Entry {
        Entry::new(EntryType::AssistantMessage, text)
    }

    fn command(status: ToolStatus, result: Option<CommandResult>) -> Entry {
        let action_type = Action::CommandRun { command: "cargo test\n--all".into(), result };
        Entry::new(EntryType::ToolUse { tool_name: "Bash".into(), action_type, status }, "`cargo test`")
    }

    #[test]
    fn words_that_grow_are_shown_once() {
        let text =
            shown(vec![(0, said("Let")), (0, said("Let me")), (0, said("Let me see.")), (1, said("Done."))]);
        assert_eq!(text, "Let me see.\nDone.\n");
    }

    #[test]
    fn words_that_changed_are_said_again() {
        assert_eq!(shown(vec![(0, said("Lets")), (0, said("Let us"))]), "Lets\nLet us\n");
    }

    #[test]
    fn a_tool_call_is_one_line_and_its_failure_another() {
        let failed = CommandResult {
            exit_status: Some(ExitStatus::ExitCode { code: 101 }),
            output: Some("a lot\nerror: 2 tests failed\n\n".into()),
        };
        let text = shown(vec![
            (0, said("I try.")),
            (1, command(ToolStatus::Created, None)),
            (1, command(ToolStatus::Failed, Some(failed))),
            (2, command(ToolStatus::Created, None)),
            (2, command(ToolStatus::Success, None)),
        ]);
        let expected = "I try.\n• $ cargo test …\n  failed with exit code 101: error: 2 tests failed\n• $ cargo test …\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn errors_and_people_are_told_apart() {
        let error = EntryType::ErrorMessage { error_type: ErrorType::Other };
        let text = shown(vec![
            (0, Entry::new(EntryType::UserMessage, "go on")),
            (1, Entry::new(error, "no\x1b[31m space")),
            (2, Entry::new(EntryType::Loading, "")),
        ]);
        assert_eq!(text, "> go on\nno[31m space\n");
    }
}
