//! Tags: short names for texts that people put into prompts.

use forge_model::{Tag, TagId};

use crate::store::tags;
use crate::{Engine, Error, Result};

/// A tag to add.
#[derive(Debug, Clone)]
pub struct NewTag {
    pub name: String,
    pub content: String,
}

/// What to change of a tag; none keeps.
#[derive(Debug, Clone, Default)]
pub struct TagChange {
    pub name: Option<String>,
    pub content: Option<String>,
}

impl Engine {
    /// Returns the tags whose name contains a text, whatever its case; all when none is given. By name.
    pub async fn tags(&self, search: Option<String>) -> Result<Vec<Tag>> {
        let mut found = self.inner.store.read(tags::all).await?;
        // Compared here, because a database's own idea of case may end with ASCII.
        if let Some(wanted) = search.map(|text| text.to_lowercase()) {
            found.retain(|tag| tag.name.to_lowercase().contains(&wanted));
        }
        Ok(found)
    }

    /// Returns one tag.
    pub async fn tag(&self, id: TagId) -> Result<Tag> {
        let found = self.inner.store.read(move |conn| tags::one(conn, id)).await?;
        found.ok_or_else(|| no_tag(id))
    }

    /// Adds a tag.
    pub async fn create_tag(&self, new: NewTag) -> Result<Tag> {
        let (name, content) = (checked_name(&new.name)?, checked_content(new.content)?);
        let written = self.inner.store.write(move |tx| {
            let id = TagId::random();
            let tag = Tag { id, name, content, created_at: tx.now(), updated_at: tx.now() };
            tags::insert(tx.conn(), &tag)?;
            Ok(tag)
        });
        Ok(written.await?)
    }

    /// Changes a tag.
    pub async fn update_tag(&self, id: TagId, change: TagChange) -> Result<Tag> {
        let name = change.name.as_deref().map(checked_name).transpose()?;
        let content = change.content.map(checked_content).transpose()?;
        let written = self.inner.store.write(move |tx| {
            let Some(mut tag) = tags::one(tx.conn(), id)? else { return Ok(None) };
            tag.name = name.unwrap_or(tag.name);
            tag.content = content.unwrap_or(tag.content);
            tag.updated_at = tx.now();
            tags::update(tx.conn(), &tag)?;
            Ok(Some(tag))
        });
        written.await?.ok_or_else(|| no_tag(id))
    }

    /// Deletes a tag.
    pub async fn delete_tag(&self, id: TagId) -> Result<()> {
        match self.inner.store.write(move |tx| tags::delete(tx.conn(), id)).await? {
            true => Ok(()),
            false => Err(no_tag(id)),
        }
    }
}

fn no_tag(id: TagId) -> Error {
    Error::not_found(format!("there is no tag {id}"))
}

/// Trims a name and refuses one that could not be told from the words around it in a prompt.
fn checked_name(name: &str) -> Result<String> {
    match name.trim() {
        "" => Err(Error::invalid("`tag_name` must be a text that is not blank")),
        name if name.contains(char::is_whitespace) => {
            Err(Error::invalid(format!("`tag_name` must not contain blanks, and {name:?} does")))
        }
        name => Ok(name.to_string()),
    }
}

fn checked_content(content: String) -> Result<String> {
    if content.trim().is_empty() {
        return Err(Error::invalid("`content` must be a text that is not blank"));
    }
    Ok(content)
}
