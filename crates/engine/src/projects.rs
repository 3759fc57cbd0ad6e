//! Projects: the repositories Forge knows.

use std::path::PathBuf;

use forge_model::{Project, ProjectId, Time};

use crate::{Engine, Result};

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
    pub async fn projects(&self) -> Result<Vec<Project>> {
        todo!()
    }
    pub async fn project(&self, _id: ProjectId) -> Result<Project> {
        todo!()
    }
    pub async fn create_project(&self, _new: NewProject) -> Result<Project> {
        todo!()
    }
    pub async fn update_project(&self, _id: ProjectId, _change: ProjectChange) -> Result<Project> {
        todo!()
    }
    pub async fn delete_project(&self, _id: ProjectId) -> Result<()> {
        todo!()
    }
    pub async fn branches(&self, _id: ProjectId) -> Result<Vec<Branch>> {
        todo!()
    }
}
