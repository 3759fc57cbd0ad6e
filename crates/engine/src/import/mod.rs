//! Moving in from Automagik Forge or vibe-kanban: what a person had there is here, under the ids it had.
//!
//! The other product is only read, and from a copy: nothing of it is started, stopped, moved or locked, and its
//! worktrees are not touched. Importing again changes nothing that was edited here, and never doubles anything.

mod action;
mod attempts;
mod beside;
mod bring;
mod carry;
mod cell;
mod copy;
mod images;
mod logs;
mod place;
mod projects;
mod report;
mod settings;
mod source;
mod tags;
mod tasks;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use forge_model::{Image, ImageId, MergeKind};

pub use report::{ImportCount, ImportReport, ImportedLogs};
pub use source::Product;

use bring::{Outcome, Thing};
use place::Place;
use projects::{FoundProject, ProjectMap};
use report::Tally;
use source::Source;
use tasks::Reader;

use crate::background::{blocking, detached};
use crate::config::defaults;
use crate::store::imports::{self, Hashes, Origin};
use crate::store::{self, Conn, Error as StoreError, Tx};
use crate::{ConfigChange, Engine, Error, Result};

/// What to import.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// Whose data: it says where to look. What is found there counts.
    pub product: Product,
    /// A data directory, a database or a home directory; none means where the product has its data.
    pub path: Option<PathBuf>,
    /// Where its images are, when they are not where they were.
    pub images: Option<PathBuf>,
    /// Only say what would come.
    pub dry_run: bool,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// Tasks that were carried over, of how many.
    pub done: usize,
    pub total: usize,
}

/// The import that is under way, if any.
#[derive(Debug, Default)]
pub(crate) struct Importing {
    turn: tokio::sync::Mutex<()>,
    progress: Mutex<Option<ImportProgress>>,
}

impl Engine {
    /// Imports what another product has, and says what came and what did not.
    pub async fn import(&self, request: ImportRequest) -> Result<ImportReport> {
        let engine = self.clone();
        detached(async move {
            let Ok(_turn) = engine.inner.importing.turn.try_lock() else {
                return Err(Error::conflict("an import is under way already; wait for it to end"));
            };
            let inner = engine.clone();
            let outcome = blocking(move || Importer::open(inner, &request)?.run(&request)).await;
            engine.set_progress(None);
            outcome?
        })
        .await
    }

    /// Says how far the import is that is under way; none when there is none.
    pub fn import_progress(&self) -> Option<ImportProgress> {
        *self.inner.importing.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_progress(&self, progress: Option<ImportProgress>) {
        *self.inner.importing.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

/// An import under way, on a thread where it may block.
struct Importer {
    engine: Engine,
    runtime: tokio::runtime::Handle,
    place: Place,
    dry: bool,
    tally: Tally,
}

impl Importer {
    fn open(engine: Engine, request: &ImportRequest) -> Result<Self> {
        let home = engine.inner.user_home.clone();
        let place = place::find(
            request.product,
            request.path.as_deref(),
            request.images.as_deref(),
            home.as_deref(),
        )?;
        engine.set_progress(Some(ImportProgress { done: 0, total: 0 }));
        let runtime = tokio::runtime::Handle::current();
        Ok(Self { engine, runtime, place, dry: request.dry_run, tally: Tally::default() })
    }

    fn run(mut self, request: &ImportRequest) -> Result<ImportReport> {
        let copied = copy::copy(&self.place.database, &self.staging())?;
        let source = Source::open(&copied.database, &self.place.database)?;
        for warning in &source.warnings {
            self.tally.note(warning.clone());
        }
        if source.product != request.product {
            self.tally.note(format!(
                "This is the data of {}, not of {}, and was imported as such.",
                source.product.as_str(),
                request.product.as_str()
            ));
        }
        let projects = self.projects(&source)?;
        self.pass("import.projects");
        let (files, image_ids) = self.images(&source)?;
        let (known, landed) = known_attempts(&source)?;
        let worktrees = self.engine.inner.paths.worktrees.clone();
        let data = self.place.data.clone();
        let names = source.rows("repos", &["id", "name"])?;
        let reader = Reader {
            source: &source,
            data: &data,
            worktrees: &worktrees,
            projects: &projects,
            images: &files,
            notes: beside::notes(&source)?,
            landed,
            repos: names.iter().filter_map(|row| Some((row[0].id()?, row[1].text()?))).collect(),
            known,
        };
        let units = tasks::units(&source, &mut self.tally)?;
        self.carry(&reader, &units)?;
        self.beside(&reader, &image_ids)?;
        self.tags(&source)?;
        self.settings()?;
        beside::left_behind(&source, &mut self.tally)?;
        let (things, logs, notes) = self.tally.end();
        Ok(ImportReport {
            product: source.product,
            database: self.place.database,
            migrations: source.migrations,
            newest_migration: source.newest_migration,
            dry_run: self.dry,
            things,
            logs,
            notes,
        })
    }

    /// Where the copy lies, and logs on their way.
    fn staging(&self) -> PathBuf {
        self.engine.inner.paths.home.join("import")
    }

    fn write<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Tx<'_>) -> std::result::Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        Ok(self.runtime.block_on(self.engine.inner.store.write(act))?)
    }

    fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Conn) -> std::result::Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        Ok(self.runtime.block_on(self.engine.inner.store.read(look))?)
    }

    fn pass(&self, seam: &str) {
        self.runtime.block_on(self.engine.inner.seam.pass(seam, ""));
    }

    fn progress(&self, done: usize, total: usize) {
        self.engine.set_progress(Some(ImportProgress { done, total }));
    }

    fn projects(&mut self, source: &Source) -> Result<ProjectMap> {
        let (mut found, bad) = projects::read(source)?;
        for _ in 0..bad {
            self.tally.skipped("projects", "a row", "their id cannot be read");
        }
        for one in &mut found {
            if !self.settle_path(&mut one.project.path) {
                self.tally.about("The repositories of these projects are not there", &one.project.name);
            }
        }
        let dry = self.dry;
        let (found, seen) = self.write(move |tx| {
            let mut seen = Vec::new();
            for one in &mut found {
                seen.push(bring_project(tx, one, dry)?);
            }
            Ok((found, seen))
        })?;
        let mut map = ProjectMap::default();
        for (one, (outcome, is_adopted)) in found.iter().zip(seen) {
            self.tally.saw("projects", &one.project.name, &outcome);
            if outcome != Outcome::RemovedHere {
                map.put(one, one.project.id);
            }
            if is_adopted {
                self.tally.about(
                    "The repositories of these projects were here already; their tasks join them",
                    &one.project.name,
                );
            }
        }
        if !self.dry {
            self.runtime.block_on(self.engine.read_trust())?;
        }
        Ok(map)
    }

    /// Makes a path the top of the repository it is in; says whether there is one.
    fn settle_path(&self, path: &mut PathBuf) -> bool {
        if !path.is_dir() {
            return false;
        }
        let opened = self.engine.inner.git.open(path);
        if let Ok(repo) = &opened {
            *path = repo.top().to_path_buf();
        }
        opened.is_ok()
    }

    /// Brings images over; returns what their files are called here, and their ids.
    fn images(&mut self, source: &Source) -> Result<(HashMap<String, String>, HashMap<String, ImageId>)> {
        let (mut files, mut ids) = (HashMap::new(), HashMap::new());
        for mut found in images::list(source, &mut self.tally)? {
            images::load(&mut found, &self.place.images, &mut self.tally);
            let (engine, dry) = (self.engine.clone(), self.dry);
            // Nobody cleans up between a file and its row.
            let _turn = engine.inner.images.blocking_lock();
            if let Some(bytes) = found.bytes.take().filter(|_| !dry) {
                crate::images::write(&engine.inner.paths.images(), &found.image.file, &bytes)?;
            }
            let (key, image) = (found.key.clone(), found.image.clone());
            let (ours, outcome) = self.write(move |tx| bring_image(tx, &key, image, dry))?;
            self.tally.saw("images", &found.image.original_name, &outcome);
            if let Some(ours) = ours {
                files.insert(found.file, ours.file);
                ids.insert(found.key, ours.id);
            }
        }
        Ok((files, ids))
    }

    /// Brings over what lies beside tasks and attempts, once those are here.
    fn beside(&mut self, reader: &Reader<'_>, images: &HashMap<String, ImageId>) -> Result<()> {
        let dry = self.dry;
        let drafts = beside::drafts(reader, images, &mut self.tally)?;
        let merges = beside::merges(reader.source, &reader.known, &mut self.tally)?;
        let agents = beside::standing_agents(reader.source, reader.projects, &mut self.tally)?;
        let mut of_tasks = images::of_tasks(reader.source)?;
        of_tasks.retain(|(_, image, _)| images.contains_key(image));
        let ids = images.clone();
        let seen = self.write(move |tx| {
            let mut seen = Vec::new();
            for (key, draft) in &drafts {
                if dry || store::attempts::one(tx.conn(), draft.attempt)?.is_some() {
                    seen.push(("drafts", draft.prompt.clone(), bring::bring(tx, key, draft, dry)?));
                }
            }
            for (key, merge) in &merges {
                let (kind, name) = match &merge.how {
                    MergeKind::Direct { commit, .. } => ("merges", commit.clone()),
                    MergeKind::PullRequest(request) => ("pull requests", request.url.clone()),
                };
                if dry || store::attempts::one(tx.conn(), merge.attempt)?.is_some() {
                    seen.push((kind, name, bring::bring(tx, key, merge, dry)?));
                }
            }
            for (key, agent) in &agents {
                if dry || imports::has_task(tx.conn(), agent.task)? {
                    seen.push(("standing agents", agent.kind.clone(), bring::bring(tx, key, agent, dry)?));
                }
            }
            for (task, image, at) in of_tasks.iter().filter(|_| !dry) {
                let key = format!("{task}/{image}");
                let is_new = imports::one(tx.conn(), "task_image", &key)?.is_none();
                if is_new && imports::has_task(tx.conn(), *task)? {
                    store::images::add_to_task(tx.conn(), *task, &[ids[image]], *at)?;
                    let origin = Origin { ours: ids[image].to_string(), fields: Hashes::new() };
                    imports::put(tx.conn(), "task_image", &key, &origin, tx.now())?;
                }
            }
            Ok(seen)
        })?;
        for (kind, name, outcome) in seen {
            self.tally.saw(kind, &name, &outcome);
        }
        Ok(())
    }

    fn tags(&mut self, source: &Source) -> Result<()> {
        let (tags, dry) = (tags::read(source)?, self.dry);
        let seen = self.write(move |tx| {
            tags.into_iter()
                .map(|(name, content, at)| Ok((name.clone(), tags::bring(tx, &name, &content, at, dry)?)))
                .collect::<std::result::Result<Vec<_>, StoreError>>()
        })?;
        for (name, outcome) in seen {
            self.tally.saw("tags", &name, &outcome);
        }
        Ok(())
    }

    fn settings(&mut self) -> Result<()> {
        if let Some(foreign) = settings::read(&self.place.data.join("config.json"), &mut self.tally) {
            let before = self.read(|conn| imports::one(conn, "config", "config"))?;
            let before = before.map(|origin| origin.fields).unwrap_or_default();
            let ours = self.engine.stored_config()?;
            let wanted = settings::wanted(&foreign, &ours, &defaults(), &before, &mut self.tally);
            for (name, outcome) in &wanted.outcomes {
                self.tally.saw("settings", name, outcome);
            }
            if !self.dry {
                if !wanted.change.is_empty() {
                    let change = ConfigChange::new(wanted.change)?;
                    self.runtime.block_on(self.engine.change_config(change))?;
                }
                if wanted.came != before {
                    let origin = Origin { ours: "config".to_string(), fields: wanted.came };
                    self.write(move |tx| imports::put(tx.conn(), "config", "config", &origin, tx.now()))?;
                }
            }
        }
        if let Some(foreign) = settings::read(&self.place.data.join("profiles.json"), &mut self.tally) {
            let Some(agents) = foreign.get("executors").and_then(serde_json::Value::as_object) else {
                self.tally.note("Its profiles.json has a shape that is long gone, and was not carried over.");
                return Ok(());
            };
            for (name, laid) in self.engine.lay_profiles(agents, self.dry)? {
                match laid {
                    Ok(is_new) => {
                        let outcome = match is_new {
                            Some(true) => Outcome::Added,
                            Some(false) => Outcome::Kept(vec!["settings".to_string()]),
                            None => Outcome::Same,
                        };
                        self.tally.saw("profiles", &name, &outcome);
                    }
                    Err(why) => self.tally.skipped("profiles", &name, &why),
                }
            }
        }
        Ok(())
    }
}

/// Lists all attempts there are, and those whose work reached its target.
fn known_attempts(source: &Source) -> Result<(HashSet<String>, HashSet<String>)> {
    let mut known = HashSet::new();
    for table in [attempts::table(source), "execution_runs"] {
        known.extend(source.rows(table, &["id"])?.iter().filter_map(|row| row[0].id()));
    }
    let mut landed = HashSet::new();
    let columns = ["task_attempt_id", "workspace_id", "merge_type", "pr_status"];
    for row in source.rows("merges", &columns)? {
        if row[2].text().as_deref() == Some("direct") || row[3].text().as_deref() == Some("merged") {
            landed.extend(row[0].id().or_else(|| row[1].id()));
        }
    }
    for row in source.rows("pull_requests", &["workspace_id", "pr_status"])? {
        landed.extend(row[0].id().filter(|_| row[1].text().as_deref() == Some("merged")));
    }
    Ok((known, landed))
}

/// Brings a project over. One whose repository is here already is that project, and stays as it is.
fn bring_project(
    tx: &mut Tx<'_>,
    found: &mut FoundProject,
    dry: bool,
) -> std::result::Result<(Outcome, bool), StoreError> {
    let origin = imports::one(tx.conn(), "project", &found.key)?;
    if let Some(ours) = origin.as_ref().and_then(|origin| origin.ours.parse().ok()) {
        found.project.id = ours;
    } else {
        let here = store::projects::all(tx.conn())?.into_iter().find(|one| one.path == found.project.path);
        if let Some(here) = here {
            let fields = found.project.fields().into_iter();
            let fields = fields.map(|(field, value)| (field.to_string(), bring::hash(&value))).collect();
            found.project.id = here.id;
            if !dry {
                let origin = Origin { ours: here.id.to_string(), fields };
                imports::put(tx.conn(), "project", &found.key, &origin, tx.now())?;
            }
            return Ok((Outcome::Same, true));
        }
    }
    Ok((bring::bring(tx, &found.key, &found.project, dry)?, false))
}

/// Brings the row of an image over: the same bytes are the same image. None when it was removed here.
fn bring_image(
    tx: &mut Tx<'_>,
    key: &str,
    mut image: Image,
    dry: bool,
) -> std::result::Result<(Option<Image>, Outcome), StoreError> {
    let here = store::images::by_hash(tx.conn(), &image.hash)?;
    let is_known = imports::one(tx.conn(), "image", key)?.is_some();
    let (ours, outcome) = match (here, is_known) {
        (Some(here), _) => (here, Outcome::Same),
        (None, true) => return Ok((None, Outcome::RemovedHere)),
        (None, false) => {
            // One that nothing refers to is kept for a while, as if it had just been given.
            image.updated_at = tx.now();
            if !dry {
                store::images::insert(tx.conn(), &image)?;
            }
            (image, Outcome::Added)
        }
    };
    if !dry && !is_known {
        let origin = Origin { ours: ours.id.to_string(), fields: Hashes::new() };
        imports::put(tx.conn(), "image", key, &origin, tx.now())?;
    }
    Ok((Some(ours), outcome))
}
