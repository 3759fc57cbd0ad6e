//! A template on the wire, what creates and changes one, and which are listed.
//!
//! Older clients know one name for both the template and its task, and put the task into `task_template`.

use forge_engine::{NewTemplate, TemplateChange, TemplatesOf};
use forge_model::{ProjectId, TemplateId, Time};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::api::{Body, may, need};
use crate::decode::{Fields, Query, names};
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskTemplate {
    id: TemplateId,
    project_id: Option<ProjectId>,
    title: String,
    description: Option<String>,
    template_name: String,
    created_at: Time,
    updated_at: Time,
}

impl From<forge_model::Template> for TaskTemplate {
    fn from(template: forge_model::Template) -> Self {
        Self {
            id: template.id,
            project_id: template.project,
            title: template.title,
            description: template.description,
            template_name: template.name,
            created_at: template.created_at,
            updated_at: template.updated_at,
        }
    }
}

impl TryFrom<Query> for TemplatesOf {
    type Error = Problem;

    fn try_from(query: Query) -> Result<Self, Problem> {
        let project = match query.optional("project_id")? {
            Some(project) => Some(project),
            None => query.optional("projectId")?,
        };
        Ok(TemplatesOf { global: query.optional("global")?, project })
    }
}

pub(crate) const CREATE_TEMPLATE: Body = Body::new(
    "CreateTaskTemplate",
    &[
        need(names::TEMPLATE_NAME),
        may(names::TEMPLATE_TITLE),
        may(names::DESCRIPTION),
        may(names::TEMPLATE_PROJECT_ID),
    ],
);

pub(crate) const UPDATE_TEMPLATE: Body = Body::new(
    "UpdateTaskTemplate",
    &[may(names::TEMPLATE_NAME), may(names::TEMPLATE_TITLE), may(names::DESCRIPTION)],
);

impl TryFrom<Fields> for NewTemplate {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let change = TemplateChange::try_from(fields.clone())?;
        Ok(NewTemplate {
            project: fields.optional_id(names::TEMPLATE_PROJECT_ID)?,
            name: required(&fields, names::TEMPLATE_NAME, change.name)?,
            title: required(&fields, names::TEMPLATE_TITLE, change.title)?,
            description: change.description.flatten(),
        })
    }
}

impl TryFrom<Fields> for TemplateChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        let mut change = TemplateChange {
            name: fields.optional_line(names::TEMPLATE_NAME)?,
            title: fields.optional_line(names::TITLE)?,
            description: fields.change(names::DESCRIPTION)?,
        };
        // What the body says itself counts before what stands inside `task_template`.
        match fields.value(names::TASK_TEMPLATE) {
            Value::Object(_) => {
                let task = fields.object(names::TASK_TEMPLATE)?;
                change.title = change.title.or(task.optional_line(names::TITLE)?);
                change.description = change.description.or(task.change(names::DESCRIPTION)?);
            }
            _ => change.description = change.description.or(fields.change(names::TASK_TEMPLATE)?),
        }
        change.title = change.title.or(fields.optional_line(names::TEMPLATE_TITLE)?);
        Ok(change)
    }
}

fn required(fields: &Fields, name: names::Name, text: Option<String>) -> Result<String, Problem> {
    text.ok_or_else(|| fields.refuse(name, "must be a text that is not blank"))
}
