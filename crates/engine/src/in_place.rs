//! Attempts that work in the person's checkout, because they asked for no worktree. Nothing there is ours.

use forge_model::Attempt;

use crate::{Error, Result};

/// Refuses an act that would write to the files, the index or the branch of the person's checkout. `act` is a verb
/// as it stands after "it does not" and before "it": "merge", "rebase", "push".
pub fn refuse_in_place(attempt: &Attempt, act: &str) -> Result<()> {
    if !attempt.in_place {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "attempt {} works in your own checkout {}, where Forge changes nothing, so it does not {act} it; \
         use git there yourself",
        attempt.id,
        attempt.worktree.display()
    ))
    .with_code("in_place"))
}
