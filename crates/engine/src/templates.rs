//! Templates: what a new task may begin as.

use forge_model::{ProjectId, Template, TemplateId};

use crate::store::templates;
use crate::{Engine, Error, Result};

/// A template to add.
#[derive(Debug, Clone)]
pub struct NewTemplate {
    /// The project it is for; none makes it one for all.
    pub project: Option<ProjectId>,
    pub name: String,
    pub title: String,
    pub description: Option<String>,
}

/// What to change of a template; none keeps.
#[derive(Debug, Clone, Default)]
pub struct TemplateChange {
    pub name: Option<String>,
    pub title: Option<String>,
    /// Some none clears it.
    pub description: Option<Option<String>>,
}

/// Which templates are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct TemplatesOf {
    pub global: Option<bool>,
    pub project: Option<ProjectId>,
}

impl Engine {
    /// Returns templates by name: those for every project, those of one, or both kinds, in this order.
    pub async fn templates(&self, of: TemplatesOf) -> Result<Vec<Template>> {
        let found = self.inner.store.read(move |conn| match (of.global, of.project) {
            (Some(true), Some(_)) => Ok(None),
            (Some(true), None) => templates::global(conn).map(Some),
            (_, Some(project)) => templates::of_project(conn, project).map(Some),
            // Not the ones for all, and no project named: clients know this as an empty list.
            (Some(false), None) => Ok(Some(Vec::new())),
            (None, None) => templates::all(conn).map(Some),
        });
        let both = "`global` and `project_id` exclude each other; give one of them";
        found.await?.ok_or_else(|| Error::invalid(both))
    }

    /// Returns one template.
    pub async fn template(&self, id: TemplateId) -> Result<Template> {
        let found = self.inner.store.read(move |conn| templates::one(conn, id)).await?;
        found.ok_or_else(|| no_template(id))
    }

    /// Adds a template.
    pub async fn create_template(&self, new: NewTemplate) -> Result<Template> {
        let (name, title) = (filled("template_name", &new.name)?, filled("title", &new.title)?);
        if let Some(project) = new.project {
            self.project(project).await?;
        }
        let written = self.inner.store.write(move |tx| {
            let template = Template {
                id: TemplateId::random(),
                project: new.project,
                name,
                title,
                description: new.description.filter(|text| !text.trim().is_empty()),
                created_at: tx.now(),
                updated_at: tx.now(),
            };
            templates::insert(tx.conn(), &template)?;
            Ok(template)
        });
        Ok(written.await?)
    }

    /// Changes a template; it stays with its project.
    pub async fn update_template(&self, id: TemplateId, change: TemplateChange) -> Result<Template> {
        let name = change.name.as_deref().map(|name| filled("template_name", name)).transpose()?;
        let title = change.title.as_deref().map(|title| filled("title", title)).transpose()?;
        let written = self.inner.store.write(move |tx| {
            let Some(mut template) = templates::one(tx.conn(), id)? else { return Ok(None) };
            template.name = name.unwrap_or(template.name);
            template.title = title.unwrap_or(template.title);
            if let Some(description) = change.description {
                template.description = description.filter(|text| !text.trim().is_empty());
            }
            template.updated_at = tx.now();
            templates::update(tx.conn(), &template)?;
            Ok(Some(template))
        });
        written.await?.ok_or_else(|| no_template(id))
    }

    /// Deletes a template.
    pub async fn delete_template(&self, id: TemplateId) -> Result<()> {
        match self.inner.store.write(move |tx| templates::delete(tx.conn(), id)).await? {
            true => Ok(()),
            false => Err(no_template(id)),
        }
    }
}

fn no_template(id: TemplateId) -> Error {
    Error::not_found(format!("there is no template {id}"))
}

/// Trims a text and refuses a blank one by the name of its field.
fn filled(field: &str, text: &str) -> Result<String> {
    match text.trim() {
        "" => Err(Error::invalid(format!("`{field}` must be a text that is not blank"))),
        text => Ok(text.to_string()),
    }
}
