//! A conversation as text, for readers that want no JSON.

use forge_engine::{Engine, WindowAt};
use forge_model::AttemptId;
use forge_model::entry::{Entry, EntryType};

use crate::error::Problem;

/// How many entries are looked through for the last thing that an agent said.
const LOOKED_THROUGH: usize = 100;

/// Returns what an attempt's agent said last.
pub(super) async fn last_message(engine: &Engine, id: AttemptId) -> Result<Option<String>, Problem> {
    let window = engine.attempt_entries(id, WindowAt::Last, LOOKED_THROUGH).await?;
    let said = window.entries.into_iter().rev().find(|placed| {
        matches!(placed.entry.entry_type, EntryType::AssistantMessage) && !placed.entry.content.is_empty()
    });
    Ok(said.map(|placed| placed.entry.content))
}

/// Returns the last entries of an attempt as text.
pub(super) async fn text(engine: &Engine, id: AttemptId, limit: usize) -> Result<String, Problem> {
    let window = engine.attempt_entries(id, WindowAt::Last, limit).await?;
    let mut text = String::new();
    if window.has_more {
        text.push_str("... earlier entries are left out\n\n");
    }
    for placed in &window.entries {
        text.push_str(&line(&placed.entry));
        text.push_str("\n\n");
    }
    Ok(text.trim_end().to_string())
}

fn line(entry: &Entry) -> String {
    let who = match &entry.entry_type {
        EntryType::UserMessage => "user".to_string(),
        EntryType::UserFeedback { denied_tool } => format!("user denied {denied_tool}"),
        EntryType::AssistantMessage => "agent".to_string(),
        EntryType::ToolUse { tool_name, .. } => format!("tool {tool_name}"),
        EntryType::SystemMessage => "system".to_string(),
        EntryType::ErrorMessage { .. } => "error".to_string(),
        EntryType::Thinking => "thinking".to_string(),
        EntryType::Loading => "loading".to_string(),
    };
    format!("[{who}] {}", entry.content)
}
