//! Ids as types, so that a task can never be looked up by the id of an attempt.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an id; an id looks like 6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c")]
pub struct IdError {
    text: String,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Uuid);

        impl $name {
            /// Draws a new random id.
            pub fn random() -> Self {
                Self(Uuid::new_v4())
            }

            /// Returns the first four hex digits, which name branches and worktrees.
            pub fn short(&self) -> String {
                self.0.simple().to_string()[..4].to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::parse_str(text).map(Self).map_err(|_| IdError { text: text.to_string() })
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "format": "uuid" })
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }
    )*};
}

ids! {
    /// Names a project.
    ProjectId
    /// Names a task.
    TaskId
    /// Names an attempt.
    AttemptId
    /// Names a run.
    RunId
    /// Names an ask.
    AskId
    /// Names a finding.
    FindingId
    /// Names a standing agent.
    StandingAgentId
    /// Names a notice.
    NoticeId
    /// Names a tag.
    TagId
    /// Names an image.
    ImageId
    /// Names a template.
    TemplateId
    /// Names a draft.
    DraftId
    /// Names a merge.
    MergeId
    /// Names a review comment.
    CommentId
}

impl DraftId {
    /// Returns the id of an attempt's draft. It follows from the attempt, so that a draft has its name before
    /// anybody has written it, and two looks at it are the same.
    pub(crate) fn of(attempt: AttemptId, salt: u8) -> Self {
        let mut bytes = *attempt.0.as_bytes();
        bytes[15] ^= salt;
        Self(Uuid::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_json_and_text() {
        let id = TaskId::random();
        assert_eq!(id.to_string().parse::<TaskId>(), Ok(id));
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, format!("\"{id}\""));
        assert_eq!(serde_json::from_str::<TaskId>(&json).unwrap(), id);
    }

    #[test]
    fn a_text_that_is_no_id_is_refused_by_name() {
        let error = "banana".parse::<RunId>().unwrap_err();
        assert!(error.to_string().contains("\"banana\" is not an id"));
    }

    #[test]
    fn the_short_form_is_four_hex_digits() {
        let id: AttemptId = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c".parse().unwrap();
        assert_eq!(id.short(), "6a0c");
    }
}
