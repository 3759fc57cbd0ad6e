//! What opens an editor, and the answer.

use forge_engine::OpenEditor;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may};
use crate::decode::{Fields, names};
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OpenEditorResponse {
    /// Where an editor on the person's own machine finds it; null when one was started on the server's.
    url: Option<String>,
}

impl From<Option<String>> for OpenEditorResponse {
    fn from(url: Option<String>) -> Self {
        Self { url }
    }
}

pub(crate) const OPEN_EDITOR: Body =
    Body::new("OpenEditorRequest", &[may(names::EDITOR_TYPE), may(names::FILE_PATH), may(names::LINE)]);

impl TryFrom<Fields> for OpenEditor {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let line = fields.number(names::LINE)?.map(|line| {
            let line = u32::try_from(line).ok().filter(|line| *line > 0);
            line.ok_or_else(|| fields.refuse(names::LINE, "must be the number of a line, from 1"))
        });
        Ok(Self {
            editor: fields.filled_text(names::EDITOR_TYPE)?,
            file: fields.filled_text(names::FILE_PATH)?.map(Into::into),
            line: line.transpose()?,
        })
    }
}
