//! A project: a git repository known to Forge.

use std::path::PathBuf;

use crate::{ProjectId, Time};

/// A git repository known to Forge, and how its attempts are prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    /// The top of the person's checkout, absolute.
    pub path: PathBuf,
    pub setup_script: Option<String>,
    pub dev_script: Option<String>,
    pub cleanup_script: Option<String>,
    /// Globs of ignored files to copy into a new worktree, parted by commas.
    pub copy_files: Option<String>,
    pub commit_prompt: Option<String>,
    pub default_base_branch: Option<String>,
    /// The person has looked at the filters that the repository's own config defines, and lets them run.
    pub trust_filters: bool,
    pub created_at: Time,
    pub updated_at: Time,
}
