//! A tag on the wire, and what creates and changes one.

use forge_engine::{NewTag, TagChange};
use forge_model::{TagId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tag {
    id: TagId,
    tag_name: String,
    content: String,
    created_at: Time,
    updated_at: Time,
}

impl From<forge_model::Tag> for Tag {
    fn from(tag: forge_model::Tag) -> Self {
        Self {
            id: tag.id,
            tag_name: tag.name,
            content: tag.content,
            created_at: tag.created_at,
            updated_at: tag.updated_at,
        }
    }
}

pub(crate) const CREATE_TAG: Body = Body::new("CreateTag", &[need(names::TAG_NAME), need(names::CONTENT)]);

pub(crate) const UPDATE_TAG: Body = Body::new("UpdateTag", &[may(names::TAG_NAME), may(names::CONTENT)]);

impl TryFrom<Fields> for NewTag {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(NewTag { name: fields.line(names::TAG_NAME)?, content: fields.text(names::CONTENT)? })
    }
}

impl TryFrom<Fields> for TagChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(TagChange {
            name: fields.optional_line(names::TAG_NAME)?,
            content: fields.optional_text(names::CONTENT)?,
        })
    }
}
