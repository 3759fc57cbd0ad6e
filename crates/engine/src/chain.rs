//! What an attempt does next: its setup script, its first turn, what waits for it, its cleanup script.
//!
//! Nothing remembers a place in a chain. What comes next follows from the rows: which runs there were, how the
//! newest ended, what the project's scripts are, what waits. So a server that was killed between two links finds
//! the next one again. Dev servers run beside all this and count for none of it.

use forge_model::{AttemptId, AttemptState, ProfileId, Project, Run, RunId, RunKind, RunState};

use crate::follow_up::FollowUp;
use crate::held::{hold_follow_up, may_run};
use crate::intent::{Intent, Script, What};
use crate::limits::Limits;
use crate::once::Key;
use crate::store::queue::{self, Waiting};
use crate::store::{Conn, Error, Tx, acts, attempts, held, projects, runs, starts};
use crate::{AttemptView, drafts};

type Answer<T> = std::result::Result<T, Error>;

/// Returns the run that is at work for an attempt: its agent, or a script before or after it.
pub(crate) fn work_run(conn: &Conn, id: AttemptId) -> Answer<Option<runs::LiveRun>> {
    let live = runs::live_of_attempt(conn, id)?;
    Ok(live.into_iter().find(|live| live.run.kind != RunKind::DevServer))
}

/// Says whether the start of such a run is under way, or something that is done to the worktree: that comes first,
/// and when it is over, what waits is started.
pub(crate) fn is_starting(conn: &Conn, id: AttemptId) -> Answer<bool> {
    if acts::under_way(conn, id)? {
        return Ok(true);
    }
    // A start that cannot be read is somebody's all the same.
    let is_work = |body: &String| serde_json::from_str::<Intent>(body).map_or(true, |it| !it.is_dev_server());
    Ok(starts::bodies(conn, id)?.iter().any(is_work))
}

/// Writes down the start of what an attempt does next, if there is anything. While a run is at work or about to
/// be there is nothing to do: two agents never share a worktree, and the chain goes on when that one is over.
pub(crate) fn intend_next(tx: &mut Tx<'_>, id: AttemptId, key: Option<Key>) -> Answer<Option<Intent>> {
    if work_run(tx.conn(), id)?.is_some() || is_starting(tx.conn(), id)? {
        return Ok(None);
    }
    let Some(desk) = Desk::read(tx.conn(), id)? else { return Ok(None) };
    if let Some(script) = desk.cleanup_due() {
        return desk.script(tx, script, key).map(Some);
    }
    let waiting = queue::next(tx.conn(), id)?;
    let live = desk.view.attempt.state.is_live();
    let first = desk.never_told() && (live || waiting.is_some());
    if !first && waiting.is_none() {
        return Ok(None);
    }
    if let Some(script) = desk.setup_due() {
        return desk.script(tx, script, key).map(Some);
    }
    let intent = match waiting {
        Some(waiting) if !first => {
            let images = waiting.images.unwrap_or_default();
            let follow = FollowUp { variant: waiting.variant, images, ..FollowUp::new(waiting.prompt) };
            let intent = desk.turn(tx, &follow, Some(waiting.id.clone()), key)?;
            queue::sending(tx.conn(), &waiting.id)?;
            drafts::item_moved(tx, &waiting.id, intent.project)?;
            intent
        }
        _ => desk.turn(tx, &desk.first_turn(), None, key)?,
    };
    intent.insert(tx)?;
    Ok(Some(intent))
}

/// Writes down the start of what an attempt does next, as [`intend_next`]; one at rest for which there is no room
/// takes its place in the line instead.
pub(crate) fn intend_next_within(
    tx: &mut Tx<'_>,
    id: AttemptId,
    key: Option<Key>,
    limits: Limits,
) -> Answer<Option<Intent>> {
    let Some(AttemptView { attempt, .. }) = attempts::one(tx.conn(), id)? else { return Ok(None) };
    if attempt.state == AttemptState::Queued || held::has(tx.conn(), id)? {
        return Ok(None);
    }
    if !attempt.state.is_live()
        && !may_run(tx.conn(), limits, attempt.project, id)?
        && queue::next(tx.conn(), id)?.is_some()
    {
        hold_follow_up(tx, id, attempt.project)?;
        return Ok(None);
    }
    intend_next(tx, id, key)
}

/// Writes down the start of a follow-up of an attempt at rest. What has to come first, a setup script or a first
/// turn that never was, does so, and the follow-up waits behind it.
pub(crate) fn intend_follow_up(
    tx: &mut Tx<'_>,
    id: AttemptId,
    follow: &FollowUp,
    item: String,
    key: Option<Key>,
) -> Answer<Option<Intent>> {
    let Some(desk) = Desk::read(tx.conn(), id)? else { return Ok(None) };
    let mut intent = match desk.setup_due() {
        Some(script) => desk.described(tx, key, desk.view.attempt.profile.clone()).with(script),
        None if desk.never_told() => desk.turn(tx, &desk.first_turn(), None, key)?,
        None => desk.turn(tx, follow, None, key)?,
    };
    if intent.script.is_some() || desk.never_told() {
        let images = Some(follow.images.clone()).filter(|images| !images.is_empty());
        let (prompt, variant) = (follow.prompt.clone(), follow.variant.clone());
        intent.then = Some(Waiting { id: item, prompt, variant, images });
    }
    intent.comments = follow.comments.clone();
    intent.insert(tx)?;
    Ok(Some(intent))
}

/// Describes a turn of an attempt; it is not written down yet.
pub(crate) fn turn(
    tx: &Tx<'_>,
    id: AttemptId,
    follow: &FollowUp,
    key: Option<Key>,
) -> Answer<Option<Intent>> {
    Desk::read(tx.conn(), id)?.map(|desk| desk.turn(tx, follow, None, key)).transpose()
}

/// Looks at a turn that is about to start once more, because its worktree may just have been made anew: then the
/// setup script goes first, and what the agent was to be told waits behind it.
pub(crate) fn set_up_first(tx: &mut Tx<'_>, intent: &Intent) -> Answer<Intent> {
    let Some(desk) = Desk::read(tx.conn(), intent.attempt)? else { return Ok(intent.clone()) };
    let Some(script) = desk.setup_due() else { return Ok(intent.clone()) };
    let mut intent = intent.clone();
    if let What::Run { queued: Some(item), .. } = &intent.what {
        queue::not_sent(tx.conn(), item)?;
        drafts::item_moved(tx, item, intent.project)?;
    } else if !desk.never_told() {
        let images = Some(std::mem::take(&mut intent.images)).filter(|images| !images.is_empty());
        let (prompt, variant) = (std::mem::take(&mut intent.prompt), intent.profile.variant.clone());
        intent.then = Some(Waiting { id: RunId::random().to_string(), prompt, variant, images });
    }
    intent.what = What::Run { queued: None, before_head: None, task: desk.view.attempt.task };
    let intent = intent.with(script);
    intent.update(tx)?;
    Ok(intent)
}

/// Describes the start of an attempt's dev server; it is not written down yet.
pub(crate) fn dev_server(tx: &Tx<'_>, id: AttemptId) -> Answer<Option<(Intent, Project)>> {
    let Some(desk) = Desk::read(tx.conn(), id)? else { return Ok(None) };
    let text = desk.project.dev_script.clone().unwrap_or_default();
    let intent = desk.described(tx, None, desk.view.attempt.profile.clone());
    Ok(Some((intent.with(Script { kind: RunKind::DevServer, text }), desk.project)))
}

/// An attempt with its project and what has run for it, dev servers left out, oldest first.
struct Desk {
    view: AttemptView,
    project: Project,
    runs: Vec<Run>,
    /// The newest of all its runs.
    newest: Option<forge_model::Time>,
}

impl Desk {
    fn read(conn: &Conn, id: AttemptId) -> Answer<Option<Self>> {
        let Some(view) = attempts::one(conn, id)? else { return Ok(None) };
        let Some(project) = projects::one(conn, view.attempt.project)? else { return Ok(None) };
        let mut runs = runs::of_attempt(conn, id)?;
        let newest = runs.last().map(|run| run.started_at);
        runs.retain(|run| run.kind != RunKind::DevServer);
        Ok(Some(Self { view, project, runs, newest }))
    }

    /// Says whether the agent has not heard its first prompt.
    fn never_told(&self) -> bool {
        !self.runs.iter().any(|run| run.kind == RunKind::Agent)
    }

    fn first_turn(&self) -> FollowUp {
        let attempt = &self.view.attempt;
        FollowUp::new(&attempt.prompt)
    }

    /// The setup script, when it has to run before the agent does: never in the person's own checkout, and not
    /// in a worktree that an agent had before there was such a script.
    fn setup_due(&self) -> Option<Script> {
        let attempt = &self.view.attempt;
        let had_one = self.runs.iter().any(|run| run.kind == RunKind::Setup);
        let undone = attempt.setup_completed_at.is_none() && (had_one || self.never_told());
        let text = self.project.setup_script.clone()?;
        (!attempt.in_place && undone).then_some(Script { kind: RunKind::Setup, text })
    }

    /// The cleanup script, when the agent's turn has just ended well and has left commits.
    fn cleanup_due(&self) -> Option<Script> {
        let last = self.runs.last()?;
        let well = last.kind == RunKind::Agent && last.state == RunState::Completed;
        let committed = last.after_head.is_some() && last.after_head != last.before_head;
        let attempt = &self.view.attempt;
        let text = self.project.cleanup_script.clone()?;
        (well && committed && attempt.state.is_live() && !attempt.in_place)
            .then_some(Script { kind: RunKind::Cleanup, text })
    }

    fn script(&self, tx: &Tx<'_>, script: Script, key: Option<Key>) -> Answer<Intent> {
        let intent = self.described(tx, key, self.view.attempt.profile.clone()).with(script);
        intent.insert(tx)?;
        Ok(intent)
    }

    fn turn(
        &self,
        tx: &Tx<'_>,
        follow: &FollowUp,
        queued: Option<String>,
        key: Option<Key>,
    ) -> Answer<Intent> {
        let attempt = &self.view.attempt;
        let variant = follow.variant.as_deref().or(attempt.profile.variant.as_deref());
        let profile = ProfileId::new(&attempt.profile.agent, variant)
            .map_err(|error| Error::Other(error.to_string()))?;
        let (session, forked) = match (&attempt.session, attempt.manner.forked_from) {
            // Its first turn branches off another's conversation.
            (None, Some(source)) if self.never_told() => {
                let source = attempts::one(tx.conn(), source)?;
                (source.and_then(|source| source.attempt.session), true)
            }
            (session, _) => (session.clone(), false),
        };
        Ok(Intent {
            prompt: follow.prompt.clone(),
            forked: forked && session.is_some(),
            session,
            images: follow.images.clone(),
            what: What::Run { queued, before_head: None, task: attempt.task },
            ..self.described(tx, key, profile)
        })
    }

    /// Describes a further run of the attempt.
    fn described(&self, tx: &Tx<'_>, key: Option<Key>, profile: ProfileId) -> Intent {
        let attempt = &self.view.attempt;
        // The newest run is the one that started last, also when the clock was set back in between.
        let after = self.newest.map(|newest| newest.plus_millis(1));
        Intent {
            attempt: attempt.id,
            run: RunId::random(),
            project: attempt.project,
            repository: self.project.path.clone(),
            worktree: attempt.worktree.clone(),
            profile,
            prompt: String::new(),
            session: None,
            forked: false,
            memo: None,
            in_place: attempt.in_place,
            script: None,
            then: None,
            note: None,
            images: Vec::new(),
            comments: Vec::new(),
            manner: attempt.manner,
            what: What::Run { queued: None, before_head: None, task: attempt.task },
            key,
            at: after.map_or(tx.now(), |after| after.max(tx.now())),
        }
    }
}

impl Intent {
    fn with(self, script: Script) -> Self {
        Self { script: Some(script), ..self }
    }
}
