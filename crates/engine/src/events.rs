//! What changed since a position: the durable tail behind every stream.

use std::collections::BTreeMap;

use forge_model::{Ask, AskId, AttemptId, Noun, Op, Project, ProjectId, Run, RunId, TaskId};

use crate::store::{Conn, Error as StoreError, asks, attempts, events, projects, runs, tasks};
use crate::{AttemptView, Engine, Result, TaskView};

/// How many events one look takes in.
const AT_ONCE: i64 = 2000;

/// Everything that changed after a position, each thing once and in its newest form.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// The position after these changes.
    pub seq: i64,
    /// The position asked for is unknown or expired: start over from a snapshot.
    pub resync: bool,
    pub items: Vec<Change>,
}

/// One thing that changed; no value means that it was removed.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "they live for one batch; a box each would cost more")]
pub enum Change {
    Project { id: ProjectId, added: bool, value: Option<Project> },
    Task { id: TaskId, added: bool, value: Option<TaskView> },
    Attempt { id: AttemptId, added: bool, value: Option<AttemptView> },
    Run { id: RunId, added: bool, value: Option<Run> },
    Ask { id: AskId, added: bool, value: Option<Ask> },
}

impl Engine {
    /// Rings with the newest position after every commit that changed something.
    pub fn bell(&self) -> tokio::sync::watch::Receiver<i64> {
        self.inner.store.bell()
    }

    /// Returns what changed after a position, as it is now. Things that changed often appear once, so a slow
    /// reader catches up without missing anything.
    pub async fn changes(&self, after: i64) -> Result<Changes> {
        Ok(self.inner.store.read(move |conn| changes(conn, after)).await?)
    }
}

fn changes(conn: &Conn, after: i64) -> std::result::Result<Changes, StoreError> {
    let newest = events::newest(conn)?;
    let forgotten = events::oldest(conn)?.is_some_and(|oldest| after < oldest - 1);
    if after > newest || after < 0 || forgotten {
        return Ok(Changes { seq: newest, resync: true, items: Vec::new() });
    }
    let list = events::after(conn, after, AT_ONCE)?;
    let seq = list.last().map_or(newest, |event| event.seq);
    let mut changed: Vec<(Noun, String)> = Vec::new();
    let mut added: BTreeMap<String, bool> = BTreeMap::new();
    for event in &list {
        if !added.contains_key(&event.id) {
            changed.push((event.noun, event.id.clone()));
        }
        *added.entry(event.id.clone()).or_default() |= event.op == Op::Add;
    }
    let mut items = Vec::with_capacity(changed.len());
    for (noun, id) in changed {
        let added = added.get(&id).copied().unwrap_or_default();
        items.extend(newest_form(conn, noun, &id, added)?);
    }
    Ok(Changes { seq, resync: false, items })
}

/// Fetches what a thing is now. An id that cannot be read belongs to a newer Forge and is passed over.
fn newest_form(
    conn: &Conn,
    noun: Noun,
    id: &str,
    added: bool,
) -> std::result::Result<Option<Change>, StoreError> {
    Ok(match noun {
        Noun::Project => match id.parse() {
            Ok(id) => Some(Change::Project { id, added, value: projects::one(conn, id)? }),
            Err(_) => None,
        },
        Noun::Task => match id.parse() {
            Ok(id) => Some(Change::Task { id, added, value: tasks::one(conn, id)? }),
            Err(_) => None,
        },
        Noun::Attempt => match id.parse() {
            Ok(id) => Some(Change::Attempt { id, added, value: attempts::one(conn, id)? }),
            Err(_) => None,
        },
        Noun::Run => match id.parse() {
            Ok(id) => Some(Change::Run { id, added, value: runs::one(conn, id)?.map(|live| live.run) }),
            Err(_) => None,
        },
        Noun::Ask => match id.parse() {
            Ok(id) => Some(Change::Ask { id, added, value: asks::one(conn, id)? }),
            Err(_) => None,
        },
        Noun::Queue => None,
    })
}
