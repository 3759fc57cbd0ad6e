//! Foreign projects: each is a repository here, whichever way the product of the day tied the two together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use forge_model::{Project, ProjectId, Time};

use super::cell::Cell;
use super::source::{Cells, Source};
use crate::Result;

/// A name that says that its product had not thought of one yet.
const UNNAMED: &str = "__NEEDS_BACKFILL__";

/// A project to be, and what it stands for at the source.
#[derive(Debug)]
pub(super) struct FoundProject {
    /// What it is called there: a project's id, or a repository's.
    pub(super) key: String,
    pub(super) project: Project,
    /// The pair that it stands for, where a project has repositories.
    pub(super) of: Option<String>,
    pub(super) repo: Option<String>,
}

/// Which of our projects things of the source belong to.
#[derive(Debug, Default)]
pub(super) struct ProjectMap {
    by_project: HashMap<String, ProjectId>,
    by_pair: HashMap<(String, String), ProjectId>,
    by_repo: HashMap<String, ProjectId>,
}

impl ProjectMap {
    /// Remembers what a project became.
    pub(super) fn put(&mut self, found: &FoundProject, ours: ProjectId) {
        if let Some(of) = &found.of {
            self.by_project.entry(of.clone()).or_insert(ours);
        }
        if let Some(repo) = &found.repo {
            self.by_repo.entry(repo.clone()).or_insert(ours);
            if let Some(of) = &found.of {
                self.by_pair.insert((of.clone(), repo.clone()), ours);
            }
        }
    }

    pub(super) fn of_project(&self, project: &str) -> Option<ProjectId> {
        self.by_project.get(project).copied()
    }

    pub(super) fn of_pair(&self, project: &str, repo: &str) -> Option<ProjectId> {
        self.by_pair.get(&(project.to_string(), repo.to_string())).copied()
    }

    pub(super) fn of_repo(&self, repo: &str) -> Option<ProjectId> {
        self.by_repo.get(repo).copied()
    }
}

/// Reads all projects; rows whose id cannot be read are counted.
pub(super) fn read(source: &Source) -> Result<(Vec<FoundProject>, usize)> {
    let columns = [
        "id",
        "name",
        "git_repo_path",
        "setup_script",
        "dev_script",
        "cleanup_script",
        "copy_files",
        "commit_prompt",
        "created_at",
        "updated_at",
    ];
    let rows = source.rows("projects", &columns)?;
    let mut bad = rows.iter().filter(|row| row[0].id().is_none()).count();
    let named: Vec<(String, Cells)> =
        rows.into_iter().filter_map(|row| row[0].id().map(|id| (id, row))).collect();
    if !source.has("repos") {
        let found = named.into_iter().filter_map(|(key, row)| {
            let path = row[2].some_text().unwrap_or_else(|| nowhere(&key));
            let project = project(&key, &row, &path, &[])?;
            Some(FoundProject { of: Some(key.clone()), repo: None, key, project })
        });
        return Ok((found.collect(), bad));
    }
    let (found, unread) = of_repos(source, &named)?;
    bad += unread;
    Ok((found, bad))
}

/// Makes a project of every pair of a project and a repository, and of every repository without one.
fn of_repos(source: &Source, projects: &[(String, Cells)]) -> Result<(Vec<FoundProject>, usize)> {
    let columns = [
        "id",
        "display_name",
        "path",
        "setup_script",
        "dev_server_script",
        "cleanup_script",
        "copy_files",
        "name",
        "created_at",
        "updated_at",
    ];
    let rows = source.rows("repos", &columns)?;
    let bad = rows.iter().filter(|row| row[0].id().is_none()).count();
    let repos: Vec<(String, Cells)> =
        rows.into_iter().filter_map(|row| row[0].id().map(|id| (id, row))).collect();
    let columns = ["project_id", "repo_id", "setup_script", "cleanup_script", "copy_files"];
    let pairs: Vec<(String, String, Cells)> = source
        .rows("project_repos", &columns)?
        .into_iter()
        .filter_map(|row| Some((row[0].id()?, row[1].id()?, row)))
        .collect();
    let mut all = Vec::new();
    for (id, row) in projects {
        let mut is_first = true;
        for (_, repo, pair) in pairs.iter().filter(|(of, _, _)| of == id) {
            let Some((_, place)) = repos.iter().find(|(key, _)| key == repo) else { continue };
            let key = if is_first { id.clone() } else { repo.clone() };
            let path = place[2].some_text().unwrap_or_else(|| nowhere(&key));
            let scripts = [
                first(&[&place[3], &pair[2], &row[3]]),
                first(&[&place[4], &row[4]]),
                first(&[&place[5], &pair[3], &row[5]]),
                first(&[&place[6], &pair[4], &row[6]]),
            ];
            let Some(mut project) = project(&key, row, &path, &scripts) else { continue };
            if !is_first {
                project.name = format!("{} ({})", project.name, repo_name(place, &path));
            }
            all.push(FoundProject { key, project, of: Some(id.clone()), repo: Some(repo.clone()) });
            is_first = false;
        }
        if is_first {
            let path = nowhere(id);
            let Some(project) = project(id, row, &path, &[]) else { continue };
            all.push(FoundProject { key: id.clone(), project, of: Some(id.clone()), repo: None });
        }
    }
    for (id, row) in &repos {
        if pairs.iter().any(|(of, repo, _)| repo == id && projects.iter().any(|(key, _)| key == of)) {
            continue;
        }
        let path = row[2].some_text().unwrap_or_else(|| nowhere(id));
        let scripts = [first(&[&row[3]]), first(&[&row[4]]), first(&[&row[5]]), first(&[&row[6]])];
        let Some(mut project) = project(id, row, &path, &scripts) else { continue };
        project.name = repo_name(row, &path);
        all.push(FoundProject { key: id.clone(), project, of: None, repo: Some(id.clone()) });
    }
    Ok((all, bad))
}

/// A path that leads nowhere, for a project that has none: its tasks are worth having.
fn nowhere(key: &str) -> String {
    format!("/no-repository/{key}")
}

fn first(cells: &[&Cell]) -> Option<String> {
    cells.iter().find_map(|cell| cell.some_text())
}

fn repo_name(row: &Cells, path: &str) -> String {
    let last = || Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let shown = row[1].some_text().filter(|name| name != UNNAMED);
    shown
        .or_else(|| row[7].some_text().filter(|name| name != UNNAMED))
        .or_else(last)
        .unwrap_or_else(|| path.into())
}

/// Makes a project of a row; scripts may come from elsewhere.
fn project(key: &str, row: &Cells, path: &str, scripts: &[Option<String>]) -> Option<Project> {
    let script = |at: usize| match scripts.get(at) {
        Some(script) => script.clone(),
        None => row[3 + at].some_text(),
    };
    let created_at = row[8].time().unwrap_or(Time::from_millis(0));
    Some(Project {
        id: key.parse().ok()?,
        name: row[1].some_text().unwrap_or_else(|| path.to_string()),
        path: PathBuf::from(path.trim_end_matches('/')),
        setup_script: script(0),
        dev_script: script(1),
        cleanup_script: script(2),
        copy_files: script(3),
        commit_prompt: if scripts.is_empty() { row[7].some_text() } else { None },
        default_base_branch: None,
        trust_filters: false,
        created_at,
        updated_at: row[9].time().unwrap_or(created_at),
    })
}
