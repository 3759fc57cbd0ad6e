//! Laying asks over the entries that name them. An entry is a function of the log; what became of its ask, whoever
//! answered or did not, is known to the store alone, and looked up whenever the entry is read.

use std::collections::HashMap;

use forge_model::entry::{EntryType, ToolStatus};
use forge_model::{Answer, Ask, AskState, Entry, RunId};
use serde_json::{Value, json};

use crate::store::asks;
use crate::{Engine, Result};

/// An ask has no time limit; clients want a moment all the same, so they are given one a year away.
const A_YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;

impl Engine {
    /// Returns the keys of what a run asked and nobody answered.
    pub(super) async fn unanswered(&self, run: RunId) -> Result<Vec<String>> {
        Ok(self.inner.store.read(move |conn| asks::unanswered(conn, run)).await?)
    }

    /// Lays asks over entries; says of each entry whether it waits for an answer.
    pub(super) async fn with_asks(
        &self,
        run: RunId,
        entries: Vec<(u32, Entry)>,
    ) -> Result<Vec<(u32, Entry, bool)>> {
        let keys: Vec<String> =
            entries.iter().filter_map(|(_, entry)| key(entry).map(str::to_string)).collect();
        if keys.is_empty() {
            return Ok(entries.into_iter().map(|(index, entry)| (index, entry, false)).collect());
        }
        let found = self.inner.store.read(move |conn| {
            let asks = keys.into_iter().map(|key| Ok(asks::of_key(conn, run, &key)?.map(|ask| (key, ask))));
            asks.filter_map(std::result::Result::transpose).collect::<std::result::Result<HashMap<_, _>, _>>()
        });
        let found = found.await?;
        let laid =
            entries.into_iter().map(|(index, entry)| match key(&entry).and_then(|key| found.get(key)) {
                Some(ask) => (index, laid_over(entry, ask), ask.state == AskState::Open),
                None => (index, entry, false),
            });
        Ok(laid.collect())
    }
}

/// Returns the ask that a tool call waits for, or waited for, by its key.
pub(super) fn key(entry: &Entry) -> Option<&str> {
    match &entry.entry_type {
        EntryType::ToolUse { status: ToolStatus::Created, .. } => {
            entry.metadata.as_ref()?.get("ask")?.as_str()
        }
        _ => None,
    }
}

fn laid_over(mut entry: Entry, ask: &Ask) -> Entry {
    let EntryType::ToolUse { status, .. } = &mut entry.entry_type else { return entry };
    *status = match ask.state {
        AskState::Open => ToolStatus::PendingApproval {
            approval_id: ask.id.to_string(),
            requested_at: ask.created_at,
            timeout_at: ask.created_at.plus_millis(A_YEAR_MS),
        },
        AskState::Approved => ToolStatus::Created,
        AskState::Denied => ToolStatus::Denied {
            reason: match &ask.answer {
                Some(Answer::Deny { reason }) => reason.clone(),
                _ => None,
            },
        },
        // Nobody said no: it was taken back, by the agent or by a stop.
        AskState::Cancelled => ToolStatus::Failed,
        AskState::Expired => ToolStatus::TimedOut,
    };
    if let Some(Value::Object(metadata)) = &mut entry.metadata {
        // Clients know fewer ends than there are; this tells them apart.
        metadata.insert("ask_state".to_string(), json!(ask.state.to_string()));
    }
    entry
}
