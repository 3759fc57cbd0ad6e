//! Telling what waits to the process that is there: an agent whose turn has ended, and which takes another one, is
//! told the next follow-up instead of being ended and started again.
//!
//! Until that moment the follow-up stands in the queue, where people change and move it.

use forge_model::{Noun, Op, ProfileId, Run, RunState, with_absolute_images};

use crate::input::Input;
use crate::store::{Conn, Error, Tx, attempts, inputs, projects, queue, runs};
use crate::{drafts, launch};

/// Says whether what waits first for an attempt can be told to a run whose turn has ended.
pub(crate) fn can(conn: &Conn, run: &Run) -> Result<bool, Error> {
    let goes_on = launch::agent(&run.profile).is_ok_and(|agent| agent.capabilities().go_on);
    let Some(view) = attempts::one(conn, run.attempt)?.filter(|_| goes_on) else { return Ok(false) };
    let Some(waiting) = queue::next(conn, run.attempt)? else { return Ok(false) };
    let live = runs::one(conn, run.id)?;
    let open =
        live.is_some_and(|live| live.run.state == RunState::Running && !live.closing && !live.stop_requested);
    // The variant that a run of its own would have.
    let variant = waiting.variant.as_deref().or(view.attempt.profile.variant.as_deref());
    let same_variant =
        ProfileId::new(&run.profile.agent, variant).is_ok_and(|profile| profile == run.profile);
    // Pictures are brought into the worktree by a start, and these two happen between two runs.
    let has_images = waiting.images.is_some_and(|images| !images.is_empty());
    let cleans_up = projects::one(conn, view.attempt.project)?
        .is_some_and(|project| project.cleanup_script.is_some() && !view.attempt.in_place);
    Ok(open && same_variant && !has_images && !cleans_up && !view.is_conflicted)
}

/// Gives what waits first to a run, unless it was told something more meanwhile; says whether it was given.
pub(crate) fn tell_next(tx: &mut Tx<'_>, run: &Run, told: i64) -> Result<bool, Error> {
    if !can(tx.conn(), run)? || !inputs::after(tx.conn(), run.id, told)?.is_empty() {
        return Ok(false);
    }
    let Some(view) = attempts::one(tx.conn(), run.attempt)? else { return Ok(false) };
    let Some(waiting) = queue::next(tx.conn(), run.attempt)? else { return Ok(false) };
    let prompt = match view.attempt.in_place {
        true => waiting.prompt,
        false => with_absolute_images(&waiting.prompt, &view.attempt.worktree.to_string_lossy()),
    };
    let input = Input::Turn { prompt, variant: waiting.variant, images: Vec::new() };
    inputs::add(tx.conn(), run.id, &input.write(), tx.now())?;
    queue::sent(tx.conn(), &waiting.id, run.id)?;
    let project = view.attempt.project;
    drafts::item_sent(tx, &waiting.id, project)?;
    tx.changed(Noun::Attempt, run.attempt, Op::Change, Some(project), Some(run.attempt));
    Ok(true)
}
