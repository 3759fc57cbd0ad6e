//! A memo of an earlier conversation, for an agent that cannot go on with it: what was said, the newest first until it
//! is enough, told before the next prompt.
//!
//! It is made of the logs, and bounded in every direction, however long the conversation was.

use std::collections::BTreeMap;

use forge_model::entry::{Action, EntryType};
use forge_model::{AttemptId, Entry, Run, RunKind};
use forge_process::LogReader;

use crate::background::blocking;
use crate::fold::Fold;
use crate::intent::Intent;
use crate::store::{attempts, runs};
use crate::{Engine, Result, launch};

/// How much of a conversation is told again, in bytes.
const MOST: usize = 24 * 1024;

/// How much of one text, and of one tool call, in characters.
const LONGEST_TEXT: usize = 4000;
const LONGEST_CALL: usize = 200;

/// How many entries of a run are looked at: more would not fit.
const MOST_ENTRIES: usize = 500;

/// How much of a log is read at a time.
const READ_AT_ONCE: usize = 1 << 20;

const BEGIN: &str = "You worked on this before, in a conversation that cannot be opened any more. This is what was said \
                     in it, shortened; the files are as that work left them.";

impl Engine {
    /// Gives a turn a memo when its agent cannot go on with what was said before, and says so.
    pub(crate) async fn remember(&self, intent: &mut Intent) -> Result<()> {
        if intent.script.is_some() {
            return Ok(());
        }
        if !launch::agent(&intent.profile)?.capabilities().resume {
            intent.session = None;
        }
        if intent.session.is_some() {
            return Ok(());
        }
        intent.memo = self.memo(intent.attempt).await?;
        if let Some(memo) = &intent.memo {
            let note = format!(
                "its earlier conversation could not be gone on with; it was told {} kB of what was said in it",
                memo.len().div_ceil(1000)
            );
            intent.note = Some(intent.note.take().map_or(note.clone(), |first| format!("{first}; {note}")));
        }
        let row = intent.clone();
        Ok(self.inner.store.write(move |tx| row.update(tx)).await?)
    }

    /// Writes down what an attempt's agent was told and said so far; none when there was nothing. An attempt that
    /// branched off another's conversation has that one's before its own.
    pub(crate) async fn memo(&self, attempt: AttemptId) -> Result<Option<String>> {
        let mut found = self
            .inner
            .store
            .read(move |conn| {
                let mut all = runs::of_attempt(conn, attempt)?;
                let source = attempts::one(conn, attempt)?.and_then(|view| view.attempt.manner.forked_from);
                if let Some(source) = source {
                    let own = std::mem::replace(&mut all, runs::of_attempt(conn, source)?);
                    all.extend(own);
                }
                Ok(all)
            })
            .await?;
        found.retain(|run| run.kind == RunKind::Agent && !run.dropped);
        let (mut lines, mut room) = (Vec::new(), MOST);
        for run in found.iter().rev() {
            if run.log_deleted_at.is_some() {
                // Those before it are older still, and shorter of room.
                if !lines.is_empty() {
                    lines.push("[what was said before that is not kept any more]".to_string());
                }
                break;
            }
            let entries = self.last_entries(run).await?;
            // A turn that never came to be because the conversation was gone is told again, not remembered.
            if run.resumed_session.is_some() && !entries.iter().any(is_the_agents) {
                continue;
            }
            for entry in entries.iter().rev() {
                let Some(line) = line(entry) else { continue };
                if line.len() + 1 > room {
                    room = 0;
                    break;
                }
                room -= line.len() + 1;
                lines.push(line);
            }
            if room == 0 {
                lines.push("[what was said before that is left out]".to_string());
                break;
            }
        }
        if lines.is_empty() {
            return Ok(None);
        }
        lines.reverse();
        Ok(Some(format!("{BEGIN}\n\n{}\n\nNow you are told:", lines.join("\n"))))
    }

    /// Folds a run's log and returns the last of its entries. One whose log is gone has none.
    async fn last_entries(&self, run: &Run) -> Result<Vec<Entry>> {
        let dir = self.inner.paths.run(run.id);
        let (turn, agent) = (self.turn(run).await?, launch::agent(&run.profile)?);
        blocking(move || {
            let mut entries = BTreeMap::new();
            let (mut fold, first) = Fold::begin(agent.conversation(&turn));
            let mut keep = |shown: Vec<(usize, Entry)>| {
                entries.extend(shown);
                while entries.len() > MOST_ENTRIES {
                    entries.pop_first();
                }
            };
            keep(first.entries);
            let Ok(mut reader) = LogReader::open(&dir, 0) else { return Ok(Vec::new()) };
            loop {
                match reader.read(READ_AT_ONCE) {
                    Ok(records) if records.is_empty() => break,
                    Ok(records) => keep(fold.read(&records).entries),
                    // What could be read is worth more than nothing.
                    Err(_) => break,
                }
            }
            keep(fold.end().entries);
            Ok(entries.into_values().collect())
        })
        .await?
    }
}

fn is_the_agents(entry: &Entry) -> bool {
    matches!(entry.entry_type, EntryType::AssistantMessage | EntryType::ToolUse { .. } | EntryType::Thinking)
}

/// Writes an entry as a line or a few of a memo; none for what is not worth telling again.
fn line(entry: &Entry) -> Option<String> {
    let text = |who: &str| {
        let said = cut(entry.content.trim(), LONGEST_TEXT);
        // Marked line by line, so that nothing that was said looks like something that is told.
        (!said.is_empty()).then(|| format!("{who}: {}", said.replace('\n', "\n  | ")))
    };
    match &entry.entry_type {
        EntryType::UserMessage => text("Person"),
        EntryType::UserFeedback { .. } => text("Person, refusing"),
        EntryType::AssistantMessage => text("You"),
        EntryType::ToolUse { tool_name, action_type, .. } => {
            let what = match action_type {
                Action::CommandRun { command, .. } => format!("ran `{command}`"),
                Action::FileEdit { path, .. } => format!("changed {path}"),
                Action::FileRead { path } => format!("read {path}"),
                Action::PlanPresentation { plan } => format!("planned: {}", cut(plan, LONGEST_TEXT)),
                _ => format!("used {tool_name}: {}", entry.content),
            };
            let longest = match action_type {
                Action::PlanPresentation { .. } => LONGEST_TEXT,
                _ => LONGEST_CALL,
            };
            Some(format!("[you {}]", cut(&what.replace('\n', " "), longest)))
        }
        EntryType::SystemMessage
        | EntryType::ErrorMessage { .. }
        | EntryType::Thinking
        | EntryType::Loading => None,
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_model::entry::ToolStatus;

    #[test]
    fn what_was_said_is_told_in_words_and_a_tool_call_in_one_line() {
        let said = Entry::new(EntryType::AssistantMessage, " two\nlines ");
        assert_eq!(line(&said).unwrap(), "You: two\n  | lines");
        let action_type =
            Action::CommandRun { command: format!("echo '{}'\nls", "é".repeat(500)), result: None };
        let kind = EntryType::ToolUse { tool_name: "run".into(), action_type, status: ToolStatus::Success };
        let ran = line(&Entry::new(kind, "x")).unwrap();
        assert!(
            ran.starts_with("[you ran `echo 'éé") && ran.ends_with("[…]]") && !ran.contains('\n'),
            "{ran}"
        );
        assert_eq!(line(&Entry::new(EntryType::Thinking, "hm")), None);
        assert_eq!(line(&Entry::new(EntryType::AssistantMessage, " ")), None);
    }
}
