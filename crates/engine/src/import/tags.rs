//! Foreign tags, and the templates that were there before them. A tag is its name and its text: the ids of those that
//! come with a product are drawn anew by every installation.

use forge_model::{Tag, TagId, Time};

use super::bring::{Outcome, hash};
use super::source::Source;
use crate::Result;
use crate::store::imports::{self, Hashes, Origin};
use crate::store::{Error as StoreError, Tx, tags};

/// Reads tags and templates: name and text.
pub(super) fn read(source: &Source) -> Result<Vec<(String, String, Time)>> {
    let mut all = Vec::new();
    for row in source.rows("tags", &["tag_name", "content", "created_at"])? {
        let (Some(name), Some(content)) = (row[0].some_text(), row[1].some_text()) else { continue };
        all.push((name, content, row[2].time()));
    }
    for row in source.rows("task_templates", &["template_name", "title", "description", "created_at"])? {
        let Some(name) = row[0].some_text() else { continue };
        let Some(content) = row[2].some_text().or_else(|| row[1].some_text()) else { continue };
        all.push((name.to_lowercase(), content, row[3].time()));
    }
    let plain = |name: String| name.split_whitespace().collect::<Vec<_>>().join("_");
    Ok(all
        .into_iter()
        .map(|(name, content, at)| (plain(name), content, at.unwrap_or(Time::from_millis(0))))
        .collect())
}

/// Brings a tag over; one of the same name and another text gets a number.
pub(super) fn bring(
    tx: &mut Tx<'_>,
    name: &str,
    content: &str,
    at: Time,
    dry: bool,
) -> std::result::Result<Outcome, StoreError> {
    let key = format!("{name}/{}", hash(content));
    let all = tags::all(tx.conn())?;
    if let Some(origin) = imports::one(tx.conn(), "tag", &key)? {
        let is_here = all.iter().any(|tag| tag.id.to_string() == origin.ours);
        return Ok(if is_here { Outcome::Same } else { Outcome::RemovedHere });
    }
    let same = all.iter().find(|tag| tag.content == content && base(&tag.name) == base(name));
    let (ours, outcome) = match same {
        Some(tag) => (tag.id, Outcome::Same),
        None => {
            let numbered = (2..).map(|number| format!("{name}_{number}"));
            let mut names = std::iter::once(name.to_string()).chain(numbered);
            let free = names.find(|name| all.iter().all(|tag| tag.name != *name));
            let tag = Tag {
                id: TagId::random(),
                name: free.unwrap_or_else(|| name.to_string()),
                content: content.to_string(),
                created_at: at,
                updated_at: at,
            };
            if !dry {
                tags::insert(tx.conn(), &tag)?;
            }
            (tag.id, Outcome::Added)
        }
    };
    if !dry {
        let origin = Origin { ours: ours.to_string(), fields: Hashes::new() };
        imports::put(tx.conn(), "tag", &key, &origin, tx.now())?;
    }
    Ok(outcome)
}

/// A name without the number that an import gave it.
fn base(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((base, number)) if number.parse::<u32>().is_ok() => base,
        _ => name,
    }
}
