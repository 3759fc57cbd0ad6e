//! A task: something wanted in a project.

use crate::{AttemptId, ProjectId, RunId, TaskId, TaskStatus, Time};

/// Something wanted in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub project: ProjectId,
    pub title: String,
    pub description: Option<String>,
    pub status: TaskStatus,
    /// The attempt this task grew out of.
    pub parent: Option<AttemptId>,
    /// The newest dev server of its attempts that runs.
    pub dev_server: Option<RunId>,
    pub created_at: Time,
    pub updated_at: Time,
}

impl Task {
    /// Returns what an agent is told: the title, then the description after a blank line.
    pub fn prompt(&self) -> String {
        prompt(&self.title, self.description.as_deref())
    }
}

/// Joins a title and a description into what an agent is told.
fn prompt(title: &str, description: Option<&str>) -> String {
    match description.map(str::trim).filter(|text| !text.is_empty()) {
        Some(description) => format!("{title}\n\n{description}"),
        None => title.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_description_adds_nothing_to_the_prompt() {
        assert_eq!(prompt("Fix it", Some("  ")), "Fix it");
        assert_eq!(prompt("Fix it", None), "Fix it");
        assert_eq!(prompt("Fix it", Some("now\n")), "Fix it\n\nnow");
    }
}
