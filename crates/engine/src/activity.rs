//! What an agent does now, in a few plain words, and how far its to-do list is: both read from its entries.
//!
//! Nothing here is stored. The words are for the eye of somebody who glances at a card; the log has everything.

use forge_model::Entry;
use forge_model::entry::{Action, EntryType, FileChange};

use crate::Todos;

/// The most characters of a line that somebody reads in passing.
const LONGEST: usize = 80;

/// What the entries of a run show about its agent, as far as they were seen.
#[derive(Debug, Default)]
pub(crate) struct Doing {
    /// The index of the newest entry that says something.
    newest: usize,
    words: Option<String>,
}

impl Doing {
    /// Takes in entries by their index. An older one that only changes its form says nothing new.
    pub(crate) fn see(&mut self, entries: &[(usize, Entry)]) {
        let telling = entries.iter().rev().filter(|(index, _)| *index >= self.newest);
        if let Some((index, words)) = telling.filter_map(|(index, it)| Some((*index, words(it)?))).next() {
            (self.newest, self.words) = (index, Some(words));
        }
    }

    /// What the agent does, in words; none when nothing was seen yet.
    pub(crate) fn words(&self) -> Option<String> {
        self.words.clone()
    }
}

/// Finds how far the newest to-do list among entries is.
pub(crate) fn todos(entries: &[(usize, Entry)]) -> Option<Todos> {
    entries.iter().rev().find_map(|(_, entry)| match &entry.entry_type {
        EntryType::ToolUse { action_type: Action::TodoManagement { todos, .. }, .. } => {
            let is_done = |status: &str| status.eq_ignore_ascii_case("completed");
            let done = todos.iter().filter(|todo| is_done(&todo.status)).count();
            Some(Todos { done: count(done), total: count(todos.len()) })
        }
        _ => None,
    })
}

fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

fn words(entry: &Entry) -> Option<String> {
    let words = match &entry.entry_type {
        EntryType::ToolUse { action_type, tool_name, .. } => at_work(action_type, tool_name),
        EntryType::AssistantMessage => "Writing".to_string(),
        EntryType::UserMessage
        | EntryType::UserFeedback { .. }
        | EntryType::Thinking
        | EntryType::Loading => "Thinking".to_string(),
        EntryType::SystemMessage | EntryType::ErrorMessage { .. } => return None,
    };
    Some(short(&words))
}

fn at_work(action: &Action, tool: &str) -> String {
    match action {
        Action::FileRead { path } => format!("Reading {}", name(path)),
        Action::FileEdit { path, changes } => match changes.as_slice() {
            [FileChange::Write { .. }] => format!("Writing {}", name(path)),
            [FileChange::Delete] => format!("Deleting {}", name(path)),
            [FileChange::Rename { new_path }] => format!("Renaming {} to {}", name(path), name(new_path)),
            _ => format!("Editing {}", name(path)),
        },
        Action::CommandRun { command, .. } => format!("Running {}", command.trim()),
        Action::Search { query } => format!("Searching for {query}"),
        Action::WebFetch { url } => format!("Fetching {}", host(url)),
        Action::Tool { tool_name, .. } => format!("Using {tool_name}"),
        Action::TaskCreate { description } => format!("Delegating {description}"),
        Action::PlanPresentation { .. } => "Presenting a plan".to_string(),
        Action::TodoManagement { .. } => "Updating its to-do list".to_string(),
        Action::Other { description } if description.trim().is_empty() => format!("Using {tool}"),
        Action::Other { description } => description.clone(),
    }
}

/// The last part of a path.
fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// The host of an address; the whole text when it is none.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty()).unwrap_or(url)
}

/// One line that fits on a card.
fn short(words: &str) -> String {
    let mut lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let line: String = first.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let is_cut = lines.next().is_some() || line.chars().count() > LONGEST;
    match is_cut {
        true => format!("{}…", line.chars().take(LONGEST - 1).collect::<String>().trim_end()),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use forge_model::entry::{Todo, ToolStatus};

    use super::*;

    fn tool(action_type: Action) -> Entry {
        let status = ToolStatus::Created;
        Entry::new(EntryType::ToolUse { tool_name: "Tool".into(), action_type, status }, "")
    }

    fn told(entry: Entry) -> Option<String> {
        let mut doing = Doing::default();
        doing.see(&[(0, entry)]);
        doing.words()
    }

    #[test]
    fn what_an_agent_does_is_told_in_plain_words() {
        let edit = |changes: Vec<FileChange>| Action::FileEdit { path: "src/db.ts".into(), changes };
        let change = FileChange::Edit { unified_diff: String::new(), has_line_numbers: false };
        let cases = [
            (edit(vec![change]), "Editing db.ts"),
            (edit(vec![FileChange::Delete]), "Deleting db.ts"),
            (Action::FileRead { path: "/w/server.ts".into() }, "Reading server.ts"),
            (Action::CommandRun { command: "npm test".into(), result: None }, "Running npm test"),
            (Action::CommandRun { command: "cat <<E\nx\nE".into(), result: None }, "Running cat <<E…"),
            (Action::WebFetch { url: "https://example.org/a?b".into() }, "Fetching example.org"),
            (Action::Search { query: "fn main".into() }, "Searching for fn main"),
            (Action::Other { description: " ".into() }, "Using Tool"),
        ];
        for (action, words) in cases {
            assert_eq!(told(tool(action)).as_deref(), Some(words));
        }
        assert_eq!(told(Entry::new(EntryType::Thinking, "hm")).as_deref(), Some("Thinking"));
        assert_eq!(told(Entry::new(EntryType::AssistantMessage, "So.")).as_deref(), Some("Writing"));
        assert_eq!(told(Entry::new(EntryType::SystemMessage, "init")), None);
        let long = told(tool(Action::Search { query: "é".repeat(500) })).unwrap();
        assert!(long.chars().count() <= LONGEST && long.ends_with('…'), "{long}");
    }

    #[test]
    fn an_older_entry_that_changes_does_not_speak_for_the_present() {
        let mut doing = Doing::default();
        let read = |path: &str| tool(Action::FileRead { path: path.into() });
        doing.see(&[(3, read("old.ts")), (4, read("new.ts"))]);
        doing.see(&[(3, read("older.ts"))]);
        assert_eq!(doing.words().as_deref(), Some("Reading new.ts"));
        doing.see(&[(5, Entry::new(EntryType::SystemMessage, "noise"))]);
        assert_eq!(doing.words().as_deref(), Some("Reading new.ts"));
    }

    #[test]
    fn the_newest_list_counts() {
        let list = |statuses: &[&str]| {
            let todo =
                |status: &&str| Todo { content: "x".into(), status: status.to_string(), priority: None };
            let todos = statuses.iter().map(todo).collect();
            tool(Action::TodoManagement { todos, operation: "write".into() })
        };
        let entries = [(0, list(&["pending"])), (1, list(&["completed", "in_progress", "pending"]))];
        assert_eq!(todos(&entries), Some(Todos { done: 1, total: 3 }));
        assert_eq!(todos(&[]), None);
    }
}
