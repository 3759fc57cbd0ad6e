//! The entries of a run whose log was deleted: what its agent was told first, which is in the database, and that the
//! rest is not there any more.

use forge_model::entry::EntryType;
use forge_model::{Entry, Run};

use super::tail::{EntriesFrom, EntryBatch};
use crate::old_logs::notice;

/// The position after them. No cache has the number 0, so that it is the position of nothing else.
const POSITION: i64 = 1;

/// Returns the entries that stand for those of a deleted log; none when the log was not deleted.
pub(super) fn stand_in(run: &Run) -> Option<Vec<(u64, Entry)>> {
    let notice = Entry::new(EntryType::SystemMessage, notice(run)?);
    let prompt = (!run.prompt.trim().is_empty()).then(|| Entry::new(EntryType::UserMessage, &run.prompt));
    Some((0..).zip(prompt.into_iter().chain([notice])).collect())
}

/// Returns those of them that somebody wants who follows the run; none when the log was not deleted.
pub(super) fn batch(run: &Run, from: EntriesFrom) -> Option<Option<EntryBatch>> {
    let mut entries = stand_in(run)?;
    match from {
        EntriesFrom::Index(first) => entries.retain(|(index, _)| *index >= first),
        EntriesFrom::Last(last) => {
            let spare = entries.len().saturating_sub(usize::try_from(last).unwrap_or(usize::MAX));
            entries.drain(..spare);
        }
        EntriesFrom::Change(Some(POSITION)) => entries.clear(),
        EntriesFrom::Change(_) => {}
    }
    let is_anew = matches!(from, EntriesFrom::Change(Some(_)));
    Some((!entries.is_empty()).then_some(EntryBatch { entries, position: POSITION, is_anew }))
}
