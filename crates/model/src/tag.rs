//! A tag: a short name for a text that people put into prompts.

use crate::{TagId, Time};

/// A short name, without blanks, for a text that people put into prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub id: TagId,
    pub name: String,
    pub content: String,
    pub created_at: Time,
    pub updated_at: Time,
}
