//! Answering what agents ask.

use forge_model::state::AttemptHappened;
use forge_model::{Answer, Ask, AskId, AskKind, AskState, AttemptId, Noun, Op, ProjectId, RunId, RunKind};

use crate::ask_rules::{self, BESIDE};
use crate::background::detached;
use crate::input::Input;
use crate::store::{asks, attempts, inputs, runs};
use crate::{Engine, Error, Result, moves};

/// How many asks are listed at most.
const MOST: i64 = 1000;

/// Which asks to list; none narrows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskFilter {
    pub attempt: Option<AttemptId>,
    pub project: Option<ProjectId>,
    pub state: Option<AskState>,
    pub limit: Option<i64>,
}

/// What a program beside a running agent asks.
#[derive(Debug, Clone)]
pub struct NewAsk {
    /// The agent's own conversation id.
    pub session: String,
    pub tool: String,
    pub input: serde_json::Value,
    /// The call of the tool, where it has a name.
    pub call: Option<String>,
}

impl Engine {
    /// Returns what waits for an answer, oldest first.
    pub async fn open_asks(&self) -> Result<Vec<Ask>> {
        Ok(self.inner.store.read(asks::open).await?)
    }

    /// Returns asks, newest first, answered ones too: who answered what, and when.
    pub async fn asks(&self, filter: AskFilter) -> Result<Vec<Ask>> {
        let limit = filter.limit.unwrap_or(MOST).clamp(0, MOST);
        Ok(self.inner.store.read(move |conn| asks::list(conn, &filter, limit)).await?)
    }

    /// Returns one ask.
    pub async fn ask(&self, id: AskId) -> Result<Ask> {
        let found = self.inner.store.read(move |conn| asks::one(conn, id)).await?;
        found.ok_or_else(|| Error::not_found(format!("there is no ask {id}")))
    }

    /// Answers an ask, once. The answer is durable when this returns and reaches the agent exactly once, even
    /// if the server dies in between.
    pub async fn answer(&self, id: AskId, answer: Answer, by: &str) -> Result<Ask> {
        self.answer_in(None, id, answer, by).await
    }

    /// Answers an ask, once, if it belongs to the run that the caller believes it does.
    pub async fn answer_in(&self, run: Option<RunId>, id: AskId, answer: Answer, by: &str) -> Result<Ask> {
        let (engine, by) = (self.clone(), by.to_string());
        detached(async move {
            let ask = engine.ask(id).await?;
            if let Some(run) = run.filter(|run| *run != ask.run) {
                let own = ask.run;
                return Err(Error::conflict(format!(
                    "`execution_process_id`: ask {id} is of run {own}, not of {run}"
                )));
            }
            engine.give_answer(ask, answer, by).await
        })
        .await
    }

    /// Asks on behalf of a program beside a running agent, which is found by its conversation. Whoever asks reads
    /// the answer; the agent itself is told nothing. The same call of a tool asks once.
    pub async fn ask_beside(&self, new: NewAsk) -> Result<Ask> {
        let session = new.session.clone();
        let written = self.inner.store.write(move |tx| {
            let Some(view) = attempts::in_session(tx.conn(), &new.session)? else { return Ok(None) };
            let id = view.attempt.id;
            let live = runs::live_of_attempt(tx.conn(), id)?;
            let Some(live) = live.into_iter().find(|live| live.run.kind == RunKind::Agent) else {
                return Ok(None);
            };
            let call = new.call.unwrap_or_else(|| AskId::random().to_string());
            let ask = Ask {
                id: AskId::random(),
                run: live.run.id,
                attempt: id,
                key: format!("{BESIDE}{call}"),
                kind: AskKind::Permission,
                text: format!("Allow {}?", new.tool),
                tool: new.tool,
                input: new.input,
                state: AskState::Open,
                answer: None,
                created_at: tx.now(),
                answered_by: None,
                answered_at: None,
            };
            let (run, key) = (ask.run, ask.key.clone());
            ask_rules::open(tx, &view, ask)?;
            asks::of_key(tx.conn(), run, &key)
        });
        let asked = written.await?;
        asked.ok_or_else(|| {
            Error::not_found(format!("`session_id`: no running agent has session {session:?}"))
        })
    }

    async fn give_answer(&self, ask: Ask, answer: Answer, by: String) -> Result<Ask> {
        let (id, run, attempt, key) = (ask.id, ask.run, ask.attempt, ask.key);
        let answered = self.inner.store.write(move |tx| {
            if !asks::answer(tx.conn(), id, &answer, &by, tx.now())? {
                return Ok(false);
            }
            if !key.starts_with(BESIDE) {
                let input = Input::Answer { ask: key, answer };
                inputs::add(tx.conn(), run, &input.write(), tx.now())?;
            }
            let project = attempts::one(tx.conn(), attempt)?.map(|view| view.attempt.project);
            tx.changed(Noun::Ask, id, Op::Change, project, Some(attempt));
            let still_open = asks::open_of_attempt(tx.conn(), attempt)? > 0;
            moves::attempt(tx, attempt, AttemptHappened::Answered { still_open }, None)?;
            Ok(true)
        });
        let answered = answered.await?;
        let ask = self.ask(id).await?;
        if !answered {
            let already = match ask.state {
                AskState::Approved | AskState::Denied => "was answered already",
                AskState::Cancelled => "was taken back before it was answered",
                AskState::Expired => "expired: the agent that asked has ended",
                AskState::Open => "could not be answered",
            };
            return Err(Error::conflict(format!("ask {id} {already}")));
        }
        self.inner.seam.pass("answer.recorded", "").await;
        self.tell(run);
        Ok(ask)
    }
}
