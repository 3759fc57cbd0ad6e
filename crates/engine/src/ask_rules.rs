//! Opening an ask: a person is asked, unless a rule of the project, or that nobody is there, answers at once.
//!
//! What answers at once does so in the transaction that opens the ask, so nobody ever sees it open.

use forge_agents::is_cut;
use forge_model::state::AttemptHappened;
use forge_model::{Answer, Ask, AskKind, Noun, Op};

use crate::input::Input;
use crate::rules::{Verdict, Wish, verdict};
use crate::store::{Error, Tx, asks, inputs, rules};
use crate::{AttemptView, moves};

/// What the key of an ask begins with that did not come from the agent's own output.
pub(crate) const BESIDE: &str = "beside:";

/// Who answers when nobody is there.
pub(crate) const UNATTENDED: &str = "--yes";

/// What an agent that asks in words is told when nobody is there.
pub(crate) const NOBODY: &str = "nobody is there to answer; decide yourself and say what you assumed";

/// What became of an ask that an agent opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// It is known already.
    Known,
    /// A person is asked.
    Open,
    /// It is answered.
    Answered,
}

/// Opens an ask, or answers it at once.
pub(crate) fn open(tx: &mut Tx<'_>, view: &AttemptView, mut ask: Ask) -> Result<Opened, Error> {
    // Asks of one moment are shown in the order in which they were asked, also when the clock was set back.
    if let Some(before) = asks::newest(tx.conn(), ask.run)? {
        ask.created_at = ask.created_at.max(before.plus_millis(1));
    }
    if !asks::insert(tx.conn(), &ask)? {
        // The log is folded again after a restart.
        return Ok(Opened::Known);
    }
    let (attempt, project) = (ask.attempt, view.attempt.project);
    tx.changed(Noun::Ask, ask.id, Op::Add, Some(project), Some(attempt));
    let Some((answer, by)) = answer_at_once(tx, view, &ask)? else {
        moves::attempt(tx, attempt, AttemptHappened::Asked, Some(ask.text))?;
        return Ok(Opened::Open);
    };
    asks::answer(tx.conn(), ask.id, &answer, &by, tx.now())?;
    if !ask.key.starts_with(BESIDE) {
        let input = Input::Answer { ask: ask.key, answer };
        inputs::add(tx.conn(), ask.run, &input.write(), tx.now())?;
    }
    Ok(Opened::Answered)
}

fn answer_at_once(tx: &Tx<'_>, view: &AttemptView, ask: &Ask) -> Result<Option<(Answer, String)>, Error> {
    let alone = view.attempt.manner.unattended;
    let yes = || Some((Answer::yes(), UNATTENDED.to_string()));
    let deny =
        |rule: &String| Answer::Deny { reason: Some(format!("this project does not allow it ({rule})")) };
    Ok(match ask.kind {
        AskKind::Question if alone => {
            Some((Answer::Deny { reason: Some(NOBODY.into()) }, UNATTENDED.to_string()))
        }
        AskKind::Plan if alone => yes(),
        AskKind::Question | AskKind::Plan => None,
        AskKind::Permission => {
            let rules = rules::of_project(tx.conn(), view.attempt.project)?;
            let wish = Wish { tool: &ask.tool, input: &ask.input, worktree: &view.attempt.worktree };
            match verdict(&rules, wish) {
                // A rule has read a part of what was cut, and allows the whole of nothing.
                Verdict::Allow(rule) if !is_cut(&ask.input) => Some((Answer::yes(), rule)),
                Verdict::Deny(rule) => Some((deny(&rule), rule)),
                // With nobody to ask, what a rule may forbid is forbidden.
                Verdict::Unsure(rule) if alone => Some((deny(&rule), rule)),
                Verdict::Allow(_) | Verdict::Ask if alone => yes(),
                Verdict::Allow(_) | Verdict::Unsure(_) | Verdict::Ask => None,
            }
        }
    })
}
