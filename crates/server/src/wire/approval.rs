//! An ask on the wire, where it is called an approval, and the answers people send.

use std::collections::BTreeMap;

use axum::Json;
use axum::response::{IntoResponse, Response};
use forge_engine::{AskFilter, NewAsk};
use forge_model::{Answer, Ask, AskId, AskKind, AskState, AttemptId, RunId, Time};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::api::{Body, may, need};
use crate::decode::{Fields, Query, names};
use crate::error::Problem;

/// An ask never times out; clients that show a deadline are told one that never comes.
const A_YEAR: i64 = 365 * 24 * 60 * 60 * 1000;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Approval {
    approval_id: AskId,
    execution_process_id: RunId,
    tool_name: String,
    requested_at: Time,
    timeout_at: Time,
    // From here on, additions to the contract.
    task_attempt_id: AttemptId,
    kind: AskKind,
    text: String,
    input: Value,
    status: ApprovalStatus,
    /// Where it stands, more exactly than the status: cancelled and expired are two things.
    state: AskState,
    /// Who answered: a person and by which way, or a rule.
    answered_by: Option<String>,
    answered_at: Option<Time>,
    /// The words that were given, or the reason of a refusal.
    answer: Option<String>,
    /// The answers to several questions, by question.
    answers: BTreeMap<String, String>,
    /// The answer holds for the like of it in the agent's session.
    for_session: bool,
}

/// Where an ask stands, in the contract's words.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum ApprovalStatus {
    Pending,
    Approved,
    Denied { reason: Option<String> },
    TimedOut,
}

/// An approval's status inside the envelope and beside it: clients of either kind find it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Responded {
    success: bool,
    data: ApprovalStatus,
    error_data: Value,
    message: Option<String>,
    #[serde(flatten)]
    bare: ApprovalStatus,
    /// Where it stands, more exactly than the status: cancelled and expired are two things.
    state: AskState,
}

impl From<Ask> for Approval {
    fn from(ask: Ask) -> Self {
        let status = ApprovalStatus::from(&ask);
        let (answer, answers, for_session) = match ask.answer {
            Some(Answer::Approve { text, answers, for_session }) => (text, answers, for_session),
            Some(Answer::Deny { reason }) => (reason, BTreeMap::new(), false),
            None => (None, BTreeMap::new(), false),
        };
        Self {
            approval_id: ask.id,
            execution_process_id: ask.run,
            tool_name: ask.tool,
            requested_at: ask.created_at,
            timeout_at: ask.created_at.plus_millis(A_YEAR),
            task_attempt_id: ask.attempt,
            kind: ask.kind,
            text: ask.text,
            input: ask.input,
            status,
            state: ask.state,
            answered_by: ask.answered_by,
            answered_at: ask.answered_at,
            answer,
            answers,
            for_session,
        }
    }
}

impl From<&Ask> for ApprovalStatus {
    fn from(ask: &Ask) -> Self {
        match ask.state {
            AskState::Open => ApprovalStatus::Pending,
            AskState::Approved => ApprovalStatus::Approved,
            AskState::Denied => {
                let reason = match &ask.answer {
                    Some(Answer::Deny { reason }) => reason.clone(),
                    Some(Answer::Approve { .. }) | None => None,
                };
                ApprovalStatus::Denied { reason }
            }
            // The contract has one word for an ask that ended without an answer.
            AskState::Cancelled | AskState::Expired => ApprovalStatus::TimedOut,
        }
    }
}

impl From<Ask> for Responded {
    fn from(ask: Ask) -> Self {
        let status = ApprovalStatus::from(&ask);
        Self {
            success: true,
            data: status.clone(),
            error_data: Value::Null,
            message: None,
            bare: status,
            state: ask.state,
        }
    }
}

impl IntoResponse for Responded {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

/// An ask that somebody beside the agent made, in the shape that its asker knows.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedApproval {
    id: AskId,
    tool_name: String,
    tool_input: Value,
    session_id: String,
    tool_call_id: Option<String>,
    execution_process_id: RunId,
    created_at: Time,
    timeout_at: Time,
}

impl CreatedApproval {
    /// Encodes what was asked, and what for.
    pub(crate) fn new(asked: NewAsk, ask: Ask) -> Self {
        Self {
            id: ask.id,
            tool_name: ask.tool,
            tool_input: ask.input,
            session_id: asked.session,
            tool_call_id: asked.call,
            execution_process_id: ask.run,
            created_at: ask.created_at,
            timeout_at: ask.created_at.plus_millis(A_YEAR),
        }
    }
}

pub(crate) const CREATE_APPROVAL: Body = Body::new(
    "CreateApproval",
    &[need(names::TOOL_NAME), may(names::TOOL_INPUT), need(names::SESSION_ID), may(names::TOOL_CALL_ID)],
);

impl TryFrom<Fields> for NewAsk {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(NewAsk {
            session: fields.line(names::SESSION_ID)?,
            tool: fields.line(names::TOOL_NAME)?,
            input: fields.value(names::TOOL_INPUT).clone(),
            call: fields.filled_text(names::TOOL_CALL_ID)?,
        })
    }
}

/// Reads which run the caller believes an ask to be of.
pub(crate) fn run_of_answer(fields: &Fields) -> Result<Option<RunId>, Problem> {
    fields.optional_id(names::EXECUTION_PROCESS_ID)
}

pub(crate) const RESPOND: Body = Body::new(
    "ApprovalResponse",
    &[
        may(names::EXECUTION_PROCESS_ID),
        may(names::STATUS),
        may(names::APPROVED),
        may(names::REASON),
        may(names::TEXT),
        may(names::ANSWERS),
        may(names::ANSWER_SCOPE),
    ],
);

/// Reads which asks to list.
pub(crate) fn ask_filter(query: &Query) -> Result<AskFilter, Problem> {
    Ok(AskFilter {
        attempt: query.optional(names::TASK_ATTEMPT_ID.name)?,
        project: query.optional(names::PROJECT_ID.name)?,
        state: query.optional(names::ASK_STATE.name)?,
        limit: query.optional::<u32>(names::LIMIT.name)?.map(i64::from),
    })
}

/// Reads an answer as either kind of client sends it: `{approved, comment}`, or `{status}` where the status
/// is a name or an object that holds the name and the reason.
impl TryFrom<Fields> for Answer {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let nested = match fields.value(names::STATUS) {
            Value::Object(_) => Some(fields.object(names::STATUS)?),
            _ => None,
        };
        let approved = match fields.flag(names::APPROVED)? {
            Some(approved) => approved,
            None => match nested.as_ref().unwrap_or(&fields).line(names::STATUS)?.as_str() {
                "approved" => true,
                "denied" => false,
                _ => return Err(fields.refuse(names::STATUS, "must be `approved` or `denied`")),
            },
        };
        let text = fields.filled_text(names::TEXT)?;
        let reason = match nested {
            Some(nested) => nested.filled_text(names::REASON)?,
            None => None,
        };
        let reason = reason.or(fields.filled_text(names::REASON)?);
        let answers = fields.text_map(names::ANSWERS)?;
        let for_session = match fields.filled_text(names::ANSWER_SCOPE)?.as_deref() {
            None | Some("once") => false,
            Some("session") => true,
            Some(_) => return Err(fields.refuse(names::ANSWER_SCOPE, "must be `once` or `session`")),
        };
        Ok(match approved {
            true => Answer::Approve { text: text.or(reason), answers, for_session },
            false => Answer::Deny { reason: reason.or(text) },
        })
    }
}
