//! What changed since a position: the durable tail behind every stream.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forge_model::{
    Ask, AskId, AttemptId, Draft, DraftKind, Event, Noun, Op, Project, ProjectId, Run, RunId, TaskId,
};

use crate::store::{
    Conn, Error as StoreError, asks, attempts, drafts, events, projects, removed, runs, tasks,
};
use crate::turns::Turns;
use crate::{AttemptView, Engine, Result, TaskView};

/// How many events one look takes in.
const AT_ONCE: i64 = 2000;

/// How many looks are kept for readers that stand at the same place, and how far behind the newest event a
/// reader may be to share them. Whoever is further behind is better off with one look at everything.
const KEPT: usize = 16;
const NEAR: i64 = 128;

/// Everything that changed after a position, each thing once and in its newest form.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// The position after these changes.
    pub seq: i64,
    /// The position asked for is unknown or expired: start over from a snapshot.
    pub resync: bool,
    pub items: Vec<Changed>,
}

/// One thing that changed, and the project it belongs or belonged to.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    pub project: Option<ProjectId>,
    pub change: Change,
}

/// One thing that changed; no value means that it was removed.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "they live for one batch; a box each would cost more")]
pub enum Change {
    Project {
        id: ProjectId,
        added: bool,
        value: Option<Project>,
    },
    Task {
        id: TaskId,
        added: bool,
        value: Option<TaskView>,
    },
    /// `loose` says that it has, or had, no task.
    Attempt {
        id: AttemptId,
        added: bool,
        loose: bool,
        value: Option<AttemptView>,
    },
    Run {
        id: RunId,
        added: bool,
        value: Option<Run>,
    },
    Ask {
        id: AskId,
        added: bool,
        value: Option<Ask>,
    },
    Draft {
        attempt: AttemptId,
        kind: DraftKind,
        added: bool,
        value: Option<Draft>,
    },
}

impl Engine {
    /// Rings with the newest position after every commit that changed something.
    pub fn bell(&self) -> tokio::sync::watch::Receiver<i64> {
        self.inner.store.bell()
    }

    /// Returns what changed after a position, as it is now. Things that changed often appear once, so a slow
    /// reader catches up without missing anything.
    ///
    /// What an attempt's runs, asks and queue say about it belongs to its form, and so does what its attempts
    /// say about a task: a change below tells of the attempt and the task too.
    ///
    /// Readers that stand at the same place share one look. It may be a little older than the newest event;
    /// [`Changes::seq`] says how far it goes.
    pub async fn changes(&self, after: i64) -> Result<Arc<Changes>> {
        let look = || async {
            let mut seen = self.inner.store.read(move |conn| changes(conn, after)).await?;
            let views = seen.items.iter_mut().filter_map(|item| match &mut item.change {
                Change::Attempt { value, .. } => value.as_mut(),
                _ => None,
            });
            self.lay_stalled(views).await;
            Result::Ok(seen)
        };
        if self.inner.store.bell().borrow().saturating_sub(after) > NEAR {
            return Ok(Arc::new(look().await?));
        }
        let recent = &self.inner.recent;
        if let Some(seen) = recent.after(after) {
            return Ok(seen);
        }
        // Of a crowd that hears the bell one reads, and the others at its place wait for it.
        let _turn = recent.turns.take(after).await;
        if let Some(seen) = recent.after(after) {
            return Ok(seen);
        }
        let seen = Arc::new(look().await?);
        // "Nothing yet" is true for a moment only.
        if seen.seq > after && !seen.resync {
            recent.keep(after, seen.clone());
        }
        Ok(seen)
    }
}

/// The newest looks at what changed, by the position they start after.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    seen: Mutex<VecDeque<(i64, Arc<Changes>)>>,
    /// Who looks, by the position.
    turns: Turns,
}

impl Recent {
    fn after(&self, after: i64) -> Option<Arc<Changes>> {
        self.seen().iter().find(|(from, _)| *from == after).map(|(_, seen)| seen.clone())
    }

    fn keep(&self, after: i64, seen: Arc<Changes>) {
        let mut recent = self.seen();
        recent.truncate(KEPT - 1);
        recent.push_front((after, seen));
    }

    fn seen(&self) -> MutexGuard<'_, VecDeque<(i64, Arc<Changes>)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
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
    let mut touched = Touched::default();
    for event in &list {
        touched.note(event.noun, event.id.clone(), event.project, event.op == Op::Add);
    }
    for Event { noun, project, attempt, .. } in &list {
        // A draft is nobody's business but its composer's.
        let shows = matches!(noun, Noun::Attempt | Noun::Run | Noun::Ask | Noun::Queue);
        if let Some(attempt) = attempt.filter(|_| shows) {
            touched.note(Noun::Attempt, attempt.to_string(), *project, false);
        }
    }
    let mut items = Vec::with_capacity(touched.things.len());
    let mut next = 0;
    // Grows while it is gone through: the task of an attempt is known once the attempt is.
    while let Some(Thing { noun, id, project, added }) = touched.things.get(next).cloned() {
        next += 1;
        let Some(change) = newest_form(conn, noun, &id, added)? else { continue };
        if let Change::Attempt { value: Some(view), .. } = &change
            && let Some(task) = view.attempt.task
        {
            touched.note(Noun::Task, task.to_string(), project, false);
        }
        items.push(Changed { project, change });
    }
    Ok(Changes { seq, resync: false, items })
}

/// What a stretch of events touched, each thing once, in the order of its first event.
#[derive(Debug, Default)]
struct Touched {
    things: Vec<Thing>,
    places: HashMap<(Noun, String), usize>,
}

#[derive(Debug, Clone)]
struct Thing {
    noun: Noun,
    id: String,
    project: Option<ProjectId>,
    added: bool,
}

impl Touched {
    fn note(&mut self, noun: Noun, id: String, project: Option<ProjectId>, added: bool) {
        let next = self.things.len();
        let place = *self.places.entry((noun, id.clone())).or_insert(next);
        match self.things.get_mut(place) {
            Some(thing) => thing.added |= added,
            None => self.things.push(Thing { noun, id, project, added }),
        }
    }
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
            Ok(id) => {
                let value = attempts::one(conn, id)?;
                let loose = match &value {
                    Some(view) => view.attempt.task.is_none(),
                    None => removed::was_loose(conn, id)?,
                };
                Some(Change::Attempt { id, added, loose, value })
            }
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
        Noun::Draft => match drafts::named(id) {
            Some((attempt, kind)) => {
                Some(Change::Draft { attempt, kind, added, value: drafts::one(conn, attempt, kind)? })
            }
            None => None,
        },
        Noun::Queue => None,
    })
}
