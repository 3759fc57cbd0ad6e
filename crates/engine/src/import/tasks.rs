//! Foreign tasks, one at a time with all their attempts: a batch is read, written, and forgotten before the next.
//!
//! Newer releases of one product have attempts without a task; a task is made for each, named after its work. Attempts
//! that never had one come as what they are here too: loose.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use forge_model::{ProjectId, Task, TaskStatus, Time};

use super::attempts::{self, FoundAttempt, Owner};
use super::cell::Cell;
use super::projects::ProjectMap;
use super::report::Tally;
use super::source::{Cells, Source};
use crate::Result;

/// What is read together, by its id at the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unit {
    Task(String),
    /// An attempt whose task is missing.
    Stray(String),
    /// An attempt that was made without a task.
    Loose(String),
}

/// A task with its attempts; a loose attempt has no task.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) project: ProjectId,
    pub(super) task: Option<Task>,
    pub(super) attempts: Vec<FoundAttempt>,
}

/// What reading a task takes.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) data: &'a Path,
    /// Where worktrees of ours go.
    pub(super) worktrees: &'a Path,
    pub(super) projects: &'a ProjectMap,
    /// What files of images are called here.
    pub(super) images: &'a HashMap<String, String>,
    /// Notes that people wrote beside an attempt.
    pub(super) notes: HashMap<String, String>,
    /// Attempts whose work reached its target.
    pub(super) landed: HashSet<String>,
    /// The names of repositories, by their id.
    pub(super) repos: HashMap<String, String>,
    /// All attempts that there are.
    pub(super) known: HashSet<String>,
}

/// Lists what is to be read, oldest first.
pub(super) fn units(source: &Source, tally: &mut Tally) -> Result<Vec<Unit>> {
    let mut timed = Vec::new();
    let mut tasks = HashSet::new();
    for row in source.rows("tasks", &["id", "created_at"])? {
        match row[0].id() {
            Some(id) => {
                tasks.insert(id.clone());
                timed.push((row[1].time(), Unit::Task(id)));
            }
            None => tally.skipped("tasks", "a row", "its id cannot be read"),
        }
    }
    let table = attempts::table(source);
    for row in source.rows(table, &["id", "task_id", "created_at"])? {
        let Some(id) = row[0].id() else {
            tally.skipped("attempts", "a row", "its id cannot be read");
            continue;
        };
        if !row[1].id().is_some_and(|task| tasks.contains(&task)) {
            timed.push((row[2].time(), Unit::Stray(id)));
        }
    }
    for row in source.rows("execution_runs", &["id", "created_at"])? {
        match row[0].id() {
            Some(id) => timed.push((row[1].time(), Unit::Loose(id))),
            None => tally.skipped("attempts", "a row", "its id cannot be read"),
        }
    }
    // Rows of the same moment stay in the order they have.
    timed.sort_by_key(|(at, _)| *at);
    Ok(timed.into_iter().map(|(_, unit)| unit).collect())
}

impl Reader<'_> {
    /// Reads one of them; none when it cannot be carried over, which is told.
    pub(super) fn read(&self, unit: &Unit, tally: &mut Tally) -> Result<Option<Found>> {
        match unit {
            Unit::Task(id) => self.task(id, tally),
            Unit::Stray(id) => self.stray(id, tally),
            Unit::Loose(id) => self.loose(id, tally),
        }
    }

    fn task(&self, id: &str, tally: &mut Tally) -> Result<Option<Found>> {
        let columns = [
            "project_id",
            "title",
            "description",
            "status",
            "parent_task_attempt",
            "parent_workspace_id",
            "created_at",
            "updated_at",
        ];
        let rows = self.source.rows_of("tasks", &columns, "id", id)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let title = title(&row[1]);
        let of = row[0].id();
        let Some(first) = of.as_deref().and_then(|of| self.projects.of_project(of)) else {
            tally.skipped("tasks", &title, "the project they belong to is missing");
            return Ok(None);
        };
        let rows = attempts::rows_of_task(self.source, id)?;
        let project = self.project_of(of.as_deref(), &rows)?.unwrap_or(first);
        let (Ok(task_id), created_at) = (id.parse(), row[6].time().unwrap_or(Time::from_millis(0))) else {
            return Ok(None);
        };
        let status = row[3].text().unwrap_or_default();
        let status = TaskStatus::read(&status).unwrap_or_else(|_| {
            tally.about(
                format!("These tasks had the status {status:?}, which is not known, and are to do now"),
                &title,
            );
            TaskStatus::Todo
        });
        let parent = row[4].id().or_else(|| row[5].id());
        let mut task = Task {
            id: task_id,
            project,
            title,
            description: row[2].some_text().map(|text| self.with_images(&text)),
            status,
            parent: parent
                .filter(|parent| self.known.contains(parent))
                .and_then(|parent| parent.parse().ok()),
            dev_server: None,
            created_at,
            updated_at: row[7].time().unwrap_or(created_at),
        };
        for row in &rows {
            self.add_notes(&mut task, row);
        }
        let owner = Owner { project, task: Some(&task) };
        let attempts = rows.iter().filter_map(|row| attempts::read(self, row, owner, tally).transpose());
        let attempts = attempts.collect::<Result<Vec<_>>>()?;
        Ok(Some(Found { project, task: Some(task), attempts }))
    }

    /// Makes a task for an attempt whose own is missing.
    fn stray(&self, id: &str, tally: &mut Tally) -> Result<Option<Found>> {
        let Some(row) = attempts::row(self.source, id)? else { return Ok(None) };
        let Some(project) = self.project_of(None, std::slice::from_ref(&row))? else {
            tally.skipped(
                "attempts",
                &attempts::branch_of(&row),
                "neither their task nor their repository is there",
            );
            return Ok(None);
        };
        let Ok(task_id) = id.parse() else { return Ok(None) };
        let (created_at, updated_at) = attempts::times(&row);
        let status = match (attempts::is_archived(&row), self.landed.contains(id)) {
            (true, _) => TaskStatus::Archived,
            (false, true) => TaskStatus::Done,
            (false, false) => TaskStatus::InReview,
        };
        let mut task = Task {
            id: task_id,
            project,
            title: String::new(),
            description: None,
            status,
            parent: None,
            dev_server: None,
            created_at,
            updated_at,
        };
        let found = attempts::read(self, &row, Owner { project, task: Some(&task) }, tally)?;
        let prompt = found.as_ref().map(|found| found.attempt.prompt.clone()).unwrap_or_default();
        let first_line = prompt.lines().next().map(str::trim).filter(|line| !line.is_empty());
        task.title = attempts::name_of(&row)
            .or_else(|| first_line.map(|line| line.chars().take(120).collect()))
            .unwrap_or_else(|| attempts::branch_of(&row));
        self.add_notes(&mut task, &row);
        tally.about("There was no task for these attempts, so one was made for each", &task.title);
        Ok(Some(Found { project, task: Some(task), attempts: found.into_iter().collect() }))
    }

    fn loose(&self, id: &str, tally: &mut Tally) -> Result<Option<Found>> {
        let Some(row) = attempts::loose_row(self.source, id)? else { return Ok(None) };
        let Some(project) = attempts::project_of_loose(&row).and_then(|of| self.projects.of_project(&of))
        else {
            tally.skipped("attempts", &attempts::branch_of(&row), "the project they belong to is missing");
            return Ok(None);
        };
        let found = attempts::read(self, &row, Owner { project, task: None }, tally)?;
        Ok(Some(Found { project, task: None, attempts: found.into_iter().collect() }))
    }

    /// The project of the repository that attempts work in; none when they name no repository.
    fn project_of(&self, of: Option<&str>, rows: &[Cells]) -> Result<Option<ProjectId>> {
        for row in rows {
            let Some(repo) = attempts::primary_repo(self, row)? else { continue };
            let found = of.and_then(|of| self.projects.of_pair(of, &repo)).or_else(|| match of {
                Some(_) => None,
                None => self.projects.of_repo(&repo),
            });
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn add_notes(&self, task: &mut Task, row: &Cells) {
        if let Some(notes) = row[0].id().and_then(|id| self.notes.get(&id)) {
            let before =
                task.description.as_deref().map(|text| format!("{text}\n\n---\n\n")).unwrap_or_default();
            task.description = Some(format!("{before}{notes}"));
        }
    }

    /// Makes the images in a text be found here.
    pub(super) fn with_images(&self, text: &str) -> String {
        let mut out = text.to_string();
        for directory in [".vibe-images/", ".vibe-attachments/", ".forge-images/"] {
            if !out.contains(directory) {
                continue;
            }
            for (file, ours) in self.images {
                out = out.replace(&format!("{directory}{file}"), &format!(".forge-images/{ours}"));
            }
        }
        out.replace(".vibe-images/", ".forge-images/").replace(".vibe-attachments/", ".forge-images/")
    }
}

fn title(cell: &Cell) -> String {
    cell.some_text().unwrap_or_else(|| "(no title)".to_string())
}
