//! An ask: something the agent waits for. It has no time limit and survives the server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::state::named;
use crate::{AskId, AttemptId, RunId, Time};

/// Something the agent waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub id: AskId,
    pub run: RunId,
    pub attempt: AttemptId,
    /// The agent's own name for the ask, unique within the run.
    pub key: String,
    pub kind: AskKind,
    /// The tool that wants permission, or `question`, or `plan`.
    pub tool: String,
    /// What is asked, in words.
    pub text: String,
    /// The tool's input, as the agent gave it.
    pub input: serde_json::Value,
    pub state: AskState,
    pub answer: Option<Answer>,
    pub created_at: Time,
    /// Who answered: a person and by which way, or a rule.
    pub answered_by: Option<String>,
    pub answered_at: Option<Time>,
}

named! {
    /// What kind of thing is asked.
    AskKind {
        Permission = "permission",
        Question = "question",
        Plan = "plan",
    }
}

named! {
    /// Where an ask stands. Denied by a person, cancelled by a stop or the agent, and expired because its
    /// process ended first are three different things.
    AskState {
        Open = "open",
        Approved = "approved",
        Denied = "denied",
        Cancelled = "cancelled",
        Expired = "expired",
    }
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Yes; with the words that answer a question.
    Approve {
        text: Option<String>,
        /// The answers of an ask that holds several questions, by question.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        answers: BTreeMap<String, String>,
        /// The agent need not ask again for the like of it in this session.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_session: bool,
    },
    /// No; with the reason the agent is told.
    Deny { reason: Option<String> },
}

impl Answer {
    /// A plain yes.
    pub const fn yes() -> Self {
        Answer::Approve { text: None, answers: BTreeMap::new(), for_session: false }
    }

    /// Yes, in these words.
    pub fn words(text: impl Into<String>) -> Self {
        Answer::Approve { text: Some(text.into()), answers: BTreeMap::new(), for_session: false }
    }

    /// Returns the state an ask has once this answer is given.
    pub fn state(&self) -> AskState {
        match self {
            Answer::Approve { .. } => AskState::Approved,
            Answer::Deny { .. } => AskState::Denied,
        }
    }
}
