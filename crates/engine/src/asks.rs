//! Answering what agents ask.

use forge_model::state::AttemptHappened;
use forge_model::{Answer, Ask, AskId, AskState, Noun, Op};

use crate::background::detached;
use crate::input::Input;
use crate::store::{asks, attempts, inputs};
use crate::{Engine, Error, Result, moves};

impl Engine {
    /// Returns what waits for an answer, oldest first.
    pub async fn open_asks(&self) -> Result<Vec<Ask>> {
        Ok(self.inner.store.read(asks::open).await?)
    }

    /// Returns one ask.
    pub async fn ask(&self, id: AskId) -> Result<Ask> {
        let found = self.inner.store.read(move |conn| asks::one(conn, id)).await?;
        found.ok_or_else(|| Error::not_found(format!("there is no ask {id}")))
    }

    /// Answers an ask, once. The answer is durable when this returns and reaches the agent exactly once, even
    /// if the server dies in between.
    pub async fn answer(&self, id: AskId, answer: Answer, by: &str) -> Result<Ask> {
        let (engine, by) = (self.clone(), by.to_string());
        detached(async move { engine.give_answer(id, answer, by).await }).await
    }

    async fn give_answer(&self, id: AskId, answer: Answer, by: String) -> Result<Ask> {
        let ask = self.ask(id).await?;
        let (run, attempt, key) = (ask.run, ask.attempt, ask.key);
        let answered = self.inner.store.write(move |tx| {
            if !asks::answer(tx.conn(), id, &answer, &by, tx.now())? {
                return Ok(false);
            }
            let input = Input::Answer { ask: key, answer };
            inputs::add(tx.conn(), run, &input.write(), tx.now())?;
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
