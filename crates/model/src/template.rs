//! A template: what a new task may begin as.

use crate::{ProjectId, TemplateId, Time};

/// What a new task may begin as, in one project or in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub id: TemplateId,
    /// The project it is for; none makes it one for all.
    pub project: Option<ProjectId>,
    /// What people choose it by.
    pub name: String,
    /// The title of the task.
    pub title: String,
    pub description: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
}
