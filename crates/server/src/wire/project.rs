//! A project on the wire, and what creates and changes one.

use std::path::PathBuf;

use forge_engine::{NewProject, ProjectChange};
use forge_model::{ProjectId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Project {
    id: ProjectId,
    name: String,
    git_repo_path: String,
    setup_script: Option<String>,
    dev_script: Option<String>,
    cleanup_script: Option<String>,
    copy_files: Option<String>,
    commit_prompt: Option<String>,
    default_base_branch: Option<String>,
    created_at: Time,
    updated_at: Time,
    // An addition to the contract.
    trust_filters: bool,
}

impl From<forge_model::Project> for Project {
    fn from(project: forge_model::Project) -> Self {
        Self {
            id: project.id,
            name: project.name,
            git_repo_path: project.path.to_string_lossy().into_owned(),
            setup_script: project.setup_script,
            dev_script: project.dev_script,
            cleanup_script: project.cleanup_script,
            copy_files: project.copy_files,
            commit_prompt: project.commit_prompt,
            default_base_branch: project.default_base_branch,
            created_at: project.created_at,
            updated_at: project.updated_at,
            trust_filters: project.trust_filters,
        }
    }
}

pub(crate) const CREATE_PROJECT: Body = Body::new(
    "CreateProject",
    &[
        need(names::NAME),
        need(names::GIT_REPO_PATH),
        may(names::USE_EXISTING_REPO),
        may(names::SETUP_SCRIPT),
        may(names::DEV_SCRIPT),
        may(names::CLEANUP_SCRIPT),
        may(names::COPY_FILES),
        may(names::COMMIT_PROMPT),
        may(names::DEFAULT_BASE_BRANCH),
        may(names::TRUST_FILTERS),
    ],
);

pub(crate) const UPDATE_PROJECT: Body = Body::new(
    "UpdateProject",
    &[
        may(names::NAME),
        may(names::GIT_REPO_PATH),
        may(names::SETUP_SCRIPT),
        may(names::DEV_SCRIPT),
        may(names::CLEANUP_SCRIPT),
        may(names::COPY_FILES),
        may(names::COMMIT_PROMPT),
        may(names::DEFAULT_BASE_BRANCH),
        may(names::TRUST_FILTERS),
    ],
);

impl TryFrom<Fields> for NewProject {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(NewProject {
            name: fields.line(names::NAME)?,
            path: PathBuf::from(fields.text(names::GIT_REPO_PATH)?),
            create: !fields.flag(names::USE_EXISTING_REPO)?.unwrap_or(true),
            setup_script: fields.filled_text(names::SETUP_SCRIPT)?,
            dev_script: fields.filled_text(names::DEV_SCRIPT)?,
            cleanup_script: fields.filled_text(names::CLEANUP_SCRIPT)?,
            copy_files: fields.filled_text(names::COPY_FILES)?,
            commit_prompt: fields.filled_text(names::COMMIT_PROMPT)?,
            default_base_branch: fields.filled_text(names::DEFAULT_BASE_BRANCH)?,
            trust_filters: fields.flag(names::TRUST_FILTERS)?.unwrap_or(false),
        })
    }
}

impl TryFrom<Fields> for ProjectChange {
    type Error = Problem;

    fn try_from(fields: Fields) -> Result<Self, Problem> {
        Ok(ProjectChange {
            name: fields.optional_line(names::NAME)?,
            path: fields.filled_text(names::GIT_REPO_PATH)?.map(PathBuf::from),
            setup_script: fields.change(names::SETUP_SCRIPT)?,
            dev_script: fields.change(names::DEV_SCRIPT)?,
            cleanup_script: fields.change(names::CLEANUP_SCRIPT)?,
            copy_files: fields.change(names::COPY_FILES)?,
            commit_prompt: fields.change(names::COMMIT_PROMPT)?,
            default_base_branch: fields.change(names::DEFAULT_BASE_BRANCH)?,
            trust_filters: fields.flag(names::TRUST_FILTERS)?,
        })
    }
}
