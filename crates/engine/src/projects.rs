//! Projects: the repositories Forge knows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use forge_git::Repo;
use forge_model::{Noun, Op, Project, ProjectId, Time};

use crate::background::blocking;
use crate::background::detached;
use crate::store::{Error as StoreError, projects};
use crate::{Engine, Error, Result, copied_files, script};

/// A project to register.
#[derive(Debug, Clone, Default)]
pub struct NewProject {
    pub name: String,
    pub path: PathBuf,
    /// Make the directory and the repository when they are missing.
    pub create: bool,
    pub setup_script: Option<String>,
    pub dev_script: Option<String>,
    pub cleanup_script: Option<String>,
    pub copy_files: Option<String>,
    pub commit_prompt: Option<String>,
    pub default_base_branch: Option<String>,
    pub trust_filters: bool,
}

/// What to change of a project: none keeps, some none clears.
#[derive(Debug, Clone, Default)]
pub struct ProjectChange {
    pub name: Option<String>,
    pub path: Option<PathBuf>,
    pub setup_script: Option<Option<String>>,
    pub dev_script: Option<Option<String>>,
    pub cleanup_script: Option<Option<String>>,
    pub copy_files: Option<Option<String>>,
    pub commit_prompt: Option<Option<String>>,
    pub default_base_branch: Option<Option<String>>,
    pub trust_filters: Option<bool>,
}

/// A branch of a project's repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    pub name: String,
    pub is_current: bool,
    pub is_remote: bool,
    pub last_commit: Time,
}

impl Engine {
    /// Returns every project, newest first.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        Ok(self.inner.store.read(projects::all).await?)
    }

    /// Returns one project.
    pub async fn project(&self, id: ProjectId) -> Result<Project> {
        let found = self.inner.store.read(move |conn| projects::one(conn, id)).await?;
        found.ok_or_else(|| Error::not_found(format!("there is no project {id}")))
    }

    /// Registers a repository, making it first when that is wanted.
    pub async fn create_project(&self, new: NewProject) -> Result<Project> {
        let engine = self.clone();
        detached(async move {
            let name = checked_name(&new.name)?;
            script::check("setup_script", new.setup_script.as_deref())?;
            script::check("dev_script", new.dev_script.as_deref())?;
            script::check("cleanup_script", new.cleanup_script.as_deref())?;
            copied_files::check(new.copy_files.as_deref())?;
            let path = engine.repository(new.path, new.create).await?;
            engine.check_base_branch(&path, new.default_base_branch.as_deref()).await?;
            let now = crate::store::now();
            let project = Project {
                id: ProjectId::random(),
                name,
                path,
                setup_script: new.setup_script,
                dev_script: new.dev_script,
                cleanup_script: new.cleanup_script,
                copy_files: new.copy_files,
                commit_prompt: new.commit_prompt,
                default_base_branch: new.default_base_branch,
                trust_filters: new.trust_filters,
                created_at: now,
                updated_at: now,
            };
            let row = project.clone();
            let written = engine.inner.store.write(move |tx| {
                projects::insert(tx.conn(), &row)?;
                tx.changed(Noun::Project, row.id, Op::Add, Some(row.id), None);
                Ok(())
            });
            written.await.map_err(path_taken)?;
            engine.read_trust().await?;
            // A worktree is made for its first start.
            engine.inner.pool.poke();
            Ok(project)
        })
        .await
    }

    /// Changes a project.
    pub async fn update_project(&self, id: ProjectId, change: ProjectChange) -> Result<Project> {
        let name = change.name.as_deref().map(checked_name).transpose()?;
        script::check("setup_script", change.setup_script.as_ref().and_then(Option::as_deref))?;
        script::check("dev_script", change.dev_script.as_ref().and_then(Option::as_deref))?;
        script::check("cleanup_script", change.cleanup_script.as_ref().and_then(Option::as_deref))?;
        copied_files::check(change.copy_files.as_ref().and_then(Option::as_deref))?;
        let path = match change.path.clone() {
            Some(path) => Some(self.repository(path, false).await?),
            None => None,
        };
        if let Some(Some(branch)) = &change.default_base_branch {
            let place = match &path {
                Some(path) => path.clone(),
                None => self.project(id).await?.path,
            };
            self.check_base_branch(&place, Some(branch)).await?;
        }
        let written = self.inner.store.write(move |tx| {
            let Some(mut project) = projects::one(tx.conn(), id)? else { return Ok(None) };
            project.name = name.unwrap_or(project.name);
            project.path = path.unwrap_or(project.path);
            project.setup_script = change.setup_script.unwrap_or(project.setup_script);
            project.dev_script = change.dev_script.unwrap_or(project.dev_script);
            project.cleanup_script = change.cleanup_script.unwrap_or(project.cleanup_script);
            project.copy_files = change.copy_files.unwrap_or(project.copy_files);
            project.commit_prompt = change.commit_prompt.unwrap_or(project.commit_prompt);
            project.default_base_branch = change.default_base_branch.unwrap_or(project.default_base_branch);
            project.trust_filters = change.trust_filters.unwrap_or(project.trust_filters);
            project.updated_at = tx.now();
            projects::update(tx.conn(), &project)?;
            tx.changed(Noun::Project, id, Op::Change, Some(id), None);
            Ok(Some(project))
        });
        let project = written.await.map_err(path_taken)?;
        self.read_trust().await?;
        project.ok_or_else(|| Error::not_found(format!("there is no project {id}")))
    }

    /// Returns the branches of a project: the current one first, then the newest.
    pub async fn branches(&self, id: ProjectId) -> Result<Vec<Branch>> {
        let project = self.project(id).await?;
        let engine = self.clone();
        let branches =
            blocking(move || -> Result<_> { Ok(engine.repo(&project.path)?.branches()?) }).await??;
        Ok(branches
            .into_iter()
            .map(|branch| Branch {
                name: branch.name,
                is_current: branch.is_current,
                is_remote: branch.is_remote,
                last_commit: Time::from_millis(branch.last_commit_secs.saturating_mul(1000)),
            })
            .collect())
    }

    /// Finds the top of the repository at a path, making it first when that is wanted.
    async fn repository(&self, path: PathBuf, create: bool) -> Result<PathBuf> {
        let (git, paths, home) =
            (self.inner.git.clone(), self.inner.paths.clone(), self.inner.user_home.clone());
        blocking(move || {
            let path = absolute(&path, home.as_deref())?;
            if create && !path.join(".git").exists() {
                check_new_place(&git, &path, &paths.home)?;
                std::fs::create_dir_all(&path).map_err(|error| {
                    Error::invalid(format!("Failed to create directory: {error}: {}", path.display()))
                })?;
                git.init(&path)?;
            }
            let repo = git.open(&path).map_err(as_clients_know_it)?;
            let is_below = |root: &PathBuf| {
                let root = root.canonicalize();
                root.is_ok_and(|root| repo.top().starts_with(root))
            };
            if paths.roots.iter().any(is_below) {
                return Err(Error::invalid(format!(
                    "The specified directory is a worktree of a Forge attempt: {}; use the repository it belongs to",
                    repo.top().display()
                )));
            }
            Ok(repo.top().to_path_buf())
        })
        .await?
    }

    /// Refuses a default branch that is not there. A repository without commits has none yet.
    async fn check_base_branch(&self, path: &Path, branch: Option<&str>) -> Result<()> {
        let Some(branch) = branch.map(str::to_string) else { return Ok(()) };
        let (engine, path) = (self.clone(), path.to_path_buf());
        blocking(move || match engine.repo(&path)?.resolve_branch(&branch) {
            Ok(_) | Err(forge_git::Error::NoCommits { .. }) => Ok(()),
            Err(error) => Err(Error::invalid(format!("`default_base_branch`: {}", Error::from(error)))),
        })
        .await?
    }
}

impl Engine {
    /// Opens a project's repository. It is looked up once and kept for as long as it stays where it is.
    pub(crate) fn repo(&self, path: &Path) -> Result<Repo> {
        let (known, place) = (self.repos().get(path).cloned(), path.to_path_buf());
        // Nobody is held up while its disk is looked at: it may not answer.
        let known = self.inner.silent.look(path, move || {
            let is_there = place.join(".git").exists();
            known.filter(|repo| is_there && repo.common_dir().is_dir())
        })?;
        let repo = match known {
            Some(repo) => repo,
            None => {
                let repo = self.inner.git.open(path)?;
                self.repos().insert(path.to_path_buf(), repo.clone());
                repo
            }
        };
        Ok(repo.trusting_filters(self.trusts_filters(path)))
    }

    fn repos(&self) -> MutexGuard<'_, HashMap<PathBuf, Repo>> {
        self.inner.repos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers in which repositories the person trusts the filters: whoever opens one asks no database.
    pub(crate) async fn read_trust(&self) -> Result<()> {
        let known = self.inner.store.read(projects::all).await?;
        let trusted = known.into_iter().filter(|project| project.trust_filters).map(|project| project.path);
        *self.inner.trusted.lock().unwrap_or_else(PoisonError::into_inner) = trusted.collect();
        Ok(())
    }

    fn trusts_filters(&self, path: &Path) -> bool {
        self.inner.trusted.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }
}

/// Refuses to make a repository where one would do harm: at the top of the disk, in Forge's own data, or inside
/// another repository.
fn check_new_place(git: &forge_git::Git, path: &Path, home: &Path) -> Result<()> {
    let refuse = |why: &str| {
        Error::invalid(format!(
            "Failed to initialize git repository: {} {why}; choose another path",
            path.display()
        ))
    };
    let clean: PathBuf = path.components().collect();
    if clean.parent().is_none() || clean.components().any(|part| part.as_os_str() == "..") {
        return Err(refuse("is no place for a repository"));
    }
    // The path itself may not be there yet; what it would lie in is.
    let nearest = clean.ancestors().find(|place| place.is_dir()).unwrap_or(Path::new("/"));
    let nearest = nearest.canonicalize().unwrap_or_else(|_| nearest.to_path_buf());
    if nearest.starts_with(home) {
        return Err(refuse("is in Forge's own data directory"));
    }
    match git.open(&nearest) {
        Err(forge_git::Error::NotARepository { .. }) => Ok(()),
        Ok(repo) => Err(refuse(&format!("is inside the repository {}", repo.top().display()))),
        Err(_) => Err(refuse("is inside another repository")),
    }
}

/// Expands `~` and refuses what is not absolute after that.
fn absolute(path: &Path, home: Option<&Path>) -> Result<PathBuf> {
    let expanded = match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    };
    if expanded.is_absolute() {
        Ok(expanded)
    } else {
        Err(Error::invalid(format!(
            "`git_repo_path` must be an absolute path, and {:?} is not",
            path.display().to_string()
        )))
    }
}

fn checked_name(name: &str) -> Result<String> {
    match name.trim() {
        "" => Err(Error::invalid("`name` must be a text that is not blank")),
        name => Ok(name.to_string()),
    }
}

/// Says what is wrong with a path in the words that clients know, and then what can be done.
fn as_clients_know_it(error: forge_git::Error) -> Error {
    use forge_git::Error as Git;
    match &error {
        Git::NoSuchPath { path } => {
            Error::invalid(format!("The specified path does not exist: {}", path.display()))
        }
        Git::NotADirectory { path } => {
            Error::invalid(format!("The specified path is not a directory: {}", path.display()))
        }
        Git::NotARepository { path } => Error::invalid(format!(
            "The specified directory is not a git repository: {}; run `git init` there first",
            path.display()
        )),
        _ => error.into(),
    }
}

fn path_taken(error: StoreError) -> Error {
    match error {
        StoreError::Unique => Error::conflict("A project with this git repository path already exists"),
        error => error.into(),
    }
}
