//! Finding files of a project by a part of their name: for people who write one in a prompt or in settings.
//!
//! Only names are looked at, never what is in a file. What a name matches best comes first, and among equals what
//! a commit touched last; the history is read once for each commit that is checked out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use forge_git::Repo;
use forge_model::ProjectId;

use crate::background::blocking;
use crate::{Engine, Error, Result};

/// The most files that are shown: a person chooses from a short list or writes more.
const MOST: usize = 10;

/// How many commits say what was touched last.
const COMMITS: usize = 1000;

/// The most projects whose history is kept; each may have some megabytes of names.
const MOST_HISTORIES: usize = 8;

/// What files are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchFor {
    /// To name in a prompt: what git tracks, and what it would.
    #[default]
    Prompt,
    /// To name in settings: ignored files too, because those are what a worktree lacks.
    Settings,
}

/// A file or a directory whose name matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// The path from the top of the project.
    pub path: String,
    pub is_file: bool,
    pub matched: Matched,
}

/// What of a path matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    FileName,
    DirectoryName,
    FullPath,
}

/// The histories that were read, by the path of their project.
#[derive(Debug, Default)]
pub(crate) struct Histories(Mutex<HashMap<PathBuf, Arc<History>>>);

/// When paths were touched last, counted back from a commit.
#[derive(Debug)]
struct History {
    head: Option<String>,
    ages: HashMap<String, usize>,
}

/// How well a name matches; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Exact,
    Begins,
    Holds,
    Path,
}

impl Engine {
    /// Finds files and directories of a project by a part of their name or path, whatever its case.
    pub async fn search_files(&self, id: ProjectId, text: &str, what: SearchFor) -> Result<Vec<FoundFile>> {
        let text = text.trim().to_lowercase();
        if text.is_empty() {
            return Err(Error::invalid("Query parameter 'q' is required and cannot be empty"));
        }
        let project = self.project(id).await?;
        let engine = self.clone();
        blocking(move || {
            let repo = engine.repo(&project.path)?;
            let history = engine.inner.histories.of(&project.path, &repo)?;
            let mut listing = repo.files()?;
            if what == SearchFor::Settings {
                listing.paths.extend(repo.ignored_files()?.paths);
            }
            if listing.is_cut {
                tracing::info!("{} has more files than are searched", project.path.display());
            }
            Ok(best(&project.path, &listing.paths, &text, &history))
        })
        .await?
    }
}

impl Histories {
    fn of(&self, path: &Path, repo: &Repo) -> Result<Arc<History>> {
        let head = repo.head()?;
        let known = |histories: &HashMap<PathBuf, Arc<History>>| histories.get(path).cloned();
        let kept = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(kept) = kept.filter(|history| history.head == head) {
            return Ok(kept);
        }
        let history = Arc::new(History::read(repo, head)?);
        let mut histories = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if histories.len() >= MOST_HISTORIES && !histories.contains_key(path) {
            histories.clear();
        }
        histories.insert(path.to_path_buf(), history.clone());
        Ok(history)
    }
}

impl History {
    fn read(repo: &Repo, head: Option<String>) -> Result<Self> {
        let touched = match &head {
            Some(head) => repo.touched_files(head, COMMITS)?,
            None => Vec::new(),
        };
        let mut ages = HashMap::new();
        for (age, path) in touched.into_iter().enumerate() {
            // A directory is as young as the youngest of its files.
            for (at, _) in path.match_indices('/').collect::<Vec<_>>().into_iter().rev() {
                ages.entry(path[..at].to_string()).or_insert(age);
            }
            ages.entry(path).or_insert(age);
        }
        Ok(Self { head, ages })
    }

    /// What was never touched by one of the commits is the oldest.
    fn age(&self, path: &str) -> usize {
        self.ages.get(path).copied().unwrap_or(usize::MAX)
    }
}

/// Chooses the best matches among paths and the directories they lie in.
fn best(top: &Path, paths: &[String], text: &str, history: &History) -> Vec<FoundFile> {
    let mut fitting: Vec<(Fit, usize, usize, &str)> = Vec::new();
    let look = |path: &str, lower: &str| fit(lower, text).map(|fit| (fit, history.age(path), path.len()));
    let mut last = "";
    for whole in paths {
        let path = whole.trim_end_matches('/');
        let lower = path.to_lowercase();
        if let Some((fit, age, length)) = look(path, &lower) {
            fitting.push((fit, age, length, path));
        }
        // Paths are sorted, so a directory that the one before lies in as well was looked at there.
        for (at, _) in path.match_indices('/') {
            let directory = &path[..at];
            if last.starts_with(&path[..=at]) {
                continue;
            }
            if let Some((fit, age, length)) = look(directory, &directory.to_lowercase()) {
                fitting.push((fit, age, length, directory));
            }
        }
        last = path;
    }
    fitting.sort_unstable();
    fitting.dedup();
    let found = fitting.into_iter().filter_map(|(fit, _, _, path)| {
        // A tracked file may have been removed from the disk.
        let is_file = !top.join(path).symlink_metadata().ok()?.is_dir();
        let matched = match (fit, is_file) {
            (Fit::Path, _) => Matched::FullPath,
            (_, true) => Matched::FileName,
            (_, false) => Matched::DirectoryName,
        };
        Some(FoundFile { path: path.to_string(), is_file, matched })
    });
    found.take(MOST).collect()
}

/// Says how a text fits a path, both in lower case.
fn fit(path: &str, text: &str) -> Option<Fit> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if name == text || stem == text || path == text {
        Some(Fit::Exact)
    } else if name.starts_with(text) {
        Some(Fit::Begins)
    } else if name.contains(text) {
        Some(Fit::Holds)
    } else {
        path.contains(text).then_some(Fit::Path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_better_the_more_of_it_is_meant() {
        let fits = ["src/lib.rs", "src/library.rs", "src/mylib.rs", "lib/x.rs"].map(|path| fit(path, "lib"));
        assert_eq!(fits, [Some(Fit::Exact), Some(Fit::Begins), Some(Fit::Holds), Some(Fit::Path)]);
        assert_eq!(fit("src/main.rs", "src/ma"), Some(Fit::Path));
        assert_eq!(fit("src/main.rs", "lib"), None);
        assert!(Fit::Exact < Fit::Path);
    }
}
