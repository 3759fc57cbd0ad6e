//! Bringing one thing over: added when it is new, brought up to date where nobody edited it here, left alone otherwise.
//!
//! Of every field the hash of the value that came is kept. A field that is otherwise here than it came was edited here,
//! and stays; one that nobody touched follows its source. What was removed here stays removed.

use forge_model::{Attempt, Draft, Merge, MergeKind, Noun, Op, Project, Run, StandingAgent, Task};
use sha2::{Digest, Sha256};

use crate::store::imports::{self, Hashes, Origin};
use crate::store::{
    Conn, Error as StoreError, Tx, attempts, drafts, merges, projects, runs, standing_agents, tasks,
};

type StoreResult<T> = std::result::Result<T, StoreError>;

/// What became of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Added,
    Same,
    Updated,
    /// These fields were edited on both sides.
    Kept(Vec<String>),
    RemovedHere,
}

/// Something that comes over row by row.
pub(super) trait Thing: Sized {
    /// What it is called among the imported.
    const KIND: &'static str;
    fn ours(&self) -> String;
    /// Its fields that may change at the source.
    fn fields(&self) -> Vec<(&'static str, String)>;
    /// Takes a field over from another form of it.
    fn take(&mut self, field: &str, from: &Self);
    /// The form that it has here.
    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>>;
    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()>;
    fn change(&mut self, tx: &mut Tx<'_>) -> StoreResult<()>;
}

/// Brings a thing over; with `dry`, only says what would become of it.
pub(super) fn bring<T: Thing>(tx: &mut Tx<'_>, source: &str, found: &T, dry: bool) -> StoreResult<Outcome> {
    let origin = imports::one(tx.conn(), T::KIND, source)?;
    let is_known = origin.is_some();
    let came = hashes(found);
    let here = found.here(tx.conn())?;
    let (mut here, known) = match (here, origin) {
        (None, Some(_)) => return Ok(Outcome::RemovedHere),
        (None, None) => {
            if !dry {
                found.add(tx)?;
                imports::put(
                    tx.conn(),
                    T::KIND,
                    source,
                    &Origin { ours: found.ours(), fields: came },
                    tx.now(),
                )?;
            }
            return Ok(Outcome::Added);
        }
        // It came by another way, or from a copy of the source: what is here counts as edited.
        (Some(here), None) => (here, Hashes::new()),
        (Some(here), Some(origin)) => (here, origin.fields),
    };
    let ours = hashes(&here);
    let (mut kept, mut taken, mut now) = (Vec::new(), false, known.clone());
    for (field, value) in &came {
        if known.get(field) == Some(value) {
            continue;
        }
        if ours.get(field) == Some(value) {
            now.insert(field.clone(), value.clone());
        } else if known.contains_key(field) && known.get(field) == ours.get(field) {
            here.take(field, found);
            taken = true;
            now.insert(field.clone(), value.clone());
        } else {
            kept.push(field.clone());
        }
    }
    if !dry {
        if taken {
            here.change(tx)?;
        }
        if now != known || !is_known {
            imports::put(tx.conn(), T::KIND, source, &Origin { ours: here.ours(), fields: now }, tx.now())?;
        }
    }
    Ok(match (kept.is_empty(), taken) {
        (false, _) => Outcome::Kept(kept),
        (true, true) => Outcome::Updated,
        (true, false) => Outcome::Same,
    })
}

fn hashes<T: Thing>(thing: &T) -> Hashes {
    thing.fields().into_iter().map(|(field, value)| (field.to_string(), hash(&value))).collect()
}

/// Half of a hash is plenty to tell two values of one field apart.
pub(super) fn hash(value: &str) -> String {
    format!("{:x}", Sha256::digest(value.as_bytes()))[..32].to_string()
}

fn maybe<T: ToString>(value: Option<&T>) -> String {
    value.map_or_else(String::new, |value| format!("={}", value.to_string()))
}

impl Thing for Project {
    const KIND: &'static str = "project";

    fn ours(&self) -> String {
        self.id.to_string()
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("name", self.name.clone()),
            ("path", self.path.to_string_lossy().into_owned()),
            ("setup script", maybe(self.setup_script.as_ref())),
            ("dev script", maybe(self.dev_script.as_ref())),
            ("cleanup script", maybe(self.cleanup_script.as_ref())),
            ("files to copy", maybe(self.copy_files.as_ref())),
            ("commit prompt", maybe(self.commit_prompt.as_ref())),
        ]
    }

    fn take(&mut self, field: &str, from: &Self) {
        match field {
            "name" => self.name.clone_from(&from.name),
            "path" => self.path.clone_from(&from.path),
            "setup script" => self.setup_script.clone_from(&from.setup_script),
            "dev script" => self.dev_script.clone_from(&from.dev_script),
            "cleanup script" => self.cleanup_script.clone_from(&from.cleanup_script),
            "files to copy" => self.copy_files.clone_from(&from.copy_files),
            _ => self.commit_prompt.clone_from(&from.commit_prompt),
        }
    }

    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>> {
        projects::one(conn, self.id)
    }

    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        projects::insert(tx.conn(), self)?;
        tx.changed(Noun::Project, self.id, Op::Add, Some(self.id), None);
        Ok(())
    }

    fn change(&mut self, tx: &mut Tx<'_>) -> StoreResult<()> {
        self.updated_at = tx.now();
        projects::update(tx.conn(), self)?;
        tx.changed(Noun::Project, self.id, Op::Change, Some(self.id), None);
        Ok(())
    }
}

impl Thing for Task {
    const KIND: &'static str = "task";

    fn ours(&self) -> String {
        self.id.to_string()
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("title", self.title.clone()),
            ("description", maybe(self.description.as_ref())),
            ("status", self.status.to_string()),
            ("parent", maybe(self.parent.as_ref())),
        ]
    }

    fn take(&mut self, field: &str, from: &Self) {
        match field {
            "title" => self.title.clone_from(&from.title),
            "description" => self.description.clone_from(&from.description),
            "status" => self.status = from.status,
            _ => self.parent = from.parent,
        }
    }

    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>> {
        tasks::bare(conn, self.id)
    }

    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        tasks::insert(tx.conn(), self)?;
        tx.changed(Noun::Task, self.id, Op::Add, Some(self.project), None);
        Ok(())
    }

    fn change(&mut self, tx: &mut Tx<'_>) -> StoreResult<()> {
        self.updated_at = tx.now();
        tasks::update(tx.conn(), self)?;
        tx.changed(Noun::Task, self.id, Op::Change, Some(self.project), None);
        Ok(())
    }
}

impl Thing for Attempt {
    const KIND: &'static str = "attempt";

    fn ours(&self) -> String {
        self.id.to_string()
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("state", format!("{} {}", self.state, maybe(self.reason.as_ref()))),
            ("conversation", maybe(self.session.as_ref())),
            ("branch", self.branch.clone()),
            ("target branch", self.target_branch.clone()),
        ]
    }

    fn take(&mut self, field: &str, from: &Self) {
        match field {
            "state" => {
                self.state = from.state;
                self.reason.clone_from(&from.reason);
            }
            "conversation" => self.session.clone_from(&from.session),
            "branch" => self.branch.clone_from(&from.branch),
            _ => self.target_branch.clone_from(&from.target_branch),
        }
    }

    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>> {
        Ok(attempts::one(conn, self.id)?.map(|view| view.attempt))
    }

    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        attempts::insert(tx.conn(), self)?;
        imports::rested(tx.conn(), self)?;
        tx.changed(Noun::Attempt, self.id, Op::Add, Some(self.project), Some(self.id));
        Ok(())
    }

    fn change(&mut self, tx: &mut Tx<'_>) -> StoreResult<()> {
        self.updated_at = tx.now();
        imports::update_attempt(tx.conn(), self)?;
        tx.changed(Noun::Attempt, self.id, Op::Change, Some(self.project), Some(self.id));
        Ok(())
    }
}

/// A run with the project that its events name.
#[derive(Debug)]
pub(super) struct PlacedRun<'a> {
    pub(super) run: std::borrow::Cow<'a, Run>,
    pub(super) project: forge_model::ProjectId,
}

impl Thing for PlacedRun<'_> {
    const KIND: &'static str = "run";

    fn ours(&self) -> String {
        self.run.id.to_string()
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let run = &self.run;
        vec![
            ("state", format!("{} {}", run.state, maybe(run.reason.as_ref()))),
            ("exit code", maybe(run.exit_code.as_ref())),
            ("commits", format!("{} {}", maybe(run.before_head.as_ref()), maybe(run.after_head.as_ref()))),
            ("end", maybe(run.completed_at.as_ref())),
            ("place in the history", run.dropped.to_string()),
            ("prompt", run.prompt.clone()),
        ]
    }

    fn take(&mut self, field: &str, from: &Self) {
        let (run, from) = (self.run.to_mut(), &from.run);
        match field {
            "state" => {
                run.state = from.state;
                run.reason.clone_from(&from.reason);
            }
            "exit code" => run.exit_code = from.exit_code,
            "commits" => {
                run.before_head.clone_from(&from.before_head);
                run.after_head.clone_from(&from.after_head);
            }
            "end" => run.completed_at = from.completed_at,
            "place in the history" => run.dropped = from.dropped,
            _ => run.prompt.clone_from(&from.prompt),
        }
    }

    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>> {
        let found = runs::one(conn, self.run.id)?;
        Ok(found.map(|live| Self { run: std::borrow::Cow::Owned(live.run), project: self.project }))
    }

    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        imports::insert_run(tx.conn(), &self.run)?;
        tx.changed(Noun::Run, self.run.id, Op::Add, Some(self.project), Some(self.run.attempt));
        Ok(())
    }

    fn change(&mut self, tx: &mut Tx<'_>) -> StoreResult<()> {
        self.run.to_mut().updated_at = tx.now();
        imports::update_run(tx.conn(), &self.run)?;
        tx.changed(Noun::Run, self.run.id, Op::Change, Some(self.project), Some(self.run.attempt));
        Ok(())
    }
}

impl Thing for Draft {
    const KIND: &'static str = "draft";

    fn ours(&self) -> String {
        drafts::name(self.attempt, self.kind)
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let images = self.images.iter().flatten().map(ToString::to_string).collect::<Vec<_>>();
        vec![
            ("text", self.prompt.clone()),
            ("variant", maybe(self.variant.as_ref())),
            ("images", images.join(",")),
        ]
    }

    fn take(&mut self, field: &str, from: &Self) {
        match field {
            "text" => self.prompt.clone_from(&from.prompt),
            "variant" => self.variant.clone_from(&from.variant),
            _ => self.images.clone_from(&from.images),
        }
    }

    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>> {
        drafts::one(conn, self.attempt, self.kind)
    }

    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        drafts::put(tx.conn(), self)?;
        told(tx, self, Op::Add)
    }

    fn change(&mut self, tx: &mut Tx<'_>) -> StoreResult<()> {
        self.version += 1;
        self.updated_at = tx.now();
        drafts::put(tx.conn(), self)?;
        told(tx, self, Op::Change)
    }
}

fn told(tx: &mut Tx<'_>, draft: &Draft, op: Op) -> StoreResult<()> {
    let attempt = attempts::one(tx.conn(), draft.attempt)?;
    let project = attempt.map(|view| view.attempt.project);
    tx.changed(Noun::Draft, drafts::name(draft.attempt, draft.kind), op, project, Some(draft.attempt));
    Ok(())
}

impl Thing for Merge {
    const KIND: &'static str = "merge";

    fn ours(&self) -> String {
        self.id.to_string()
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let how = match &self.how {
            MergeKind::Direct { commit, .. } => commit.clone(),
            MergeKind::PullRequest(pr) => {
                format!("{} {} {}", pr.status, maybe(pr.merged_at.as_ref()), maybe(pr.commit.as_ref()))
            }
        };
        vec![("outcome", how), ("target branch", self.target_branch.clone())]
    }

    fn take(&mut self, field: &str, from: &Self) {
        match field {
            "outcome" => self.how = from.how.clone(),
            _ => self.target_branch.clone_from(&from.target_branch),
        }
    }

    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>> {
        let all = merges::of_attempt(conn, self.attempt)?;
        Ok(all.into_iter().find(|merge| merge.id == self.id))
    }

    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        merges::insert(tx.conn(), self)?;
        attempt_changed(tx, self)
    }

    fn change(&mut self, tx: &mut Tx<'_>) -> StoreResult<()> {
        imports::update_merge(tx.conn(), self, tx.now())?;
        attempt_changed(tx, self)
    }
}

/// A merge is seen on its attempt and on its task.
fn attempt_changed(tx: &mut Tx<'_>, merge: &Merge) -> StoreResult<()> {
    if let Some(view) = attempts::one(tx.conn(), merge.attempt)? {
        let project = Some(view.attempt.project);
        tx.changed(Noun::Attempt, merge.attempt, Op::Change, project, Some(merge.attempt));
        if let Some(task) = view.attempt.task {
            tx.changed(Noun::Task, task, Op::Change, project, None);
        }
    }
    Ok(())
}

impl Thing for StandingAgent {
    const KIND: &'static str = "standing_agent";

    fn ours(&self) -> String {
        self.id.to_string()
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![("kind", self.kind.clone())]
    }

    fn take(&mut self, _: &str, _: &Self) {
        // Nothing of it can change: its kind is what it is.
    }

    fn here(&self, conn: &Conn) -> StoreResult<Option<Self>> {
        let all = standing_agents::of_project(conn, self.project)?;
        Ok(all.into_iter().find(|agent| agent.id == self.id || agent.kind == self.kind))
    }

    fn add(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        standing_agents::insert(tx.conn(), self)
    }

    fn change(&mut self, _: &mut Tx<'_>) -> StoreResult<()> {
        Ok(())
    }
}
