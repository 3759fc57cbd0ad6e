//! Checks of a commit: what ran for it, or was told about it, and how that ended.
//!
//! GitHub has two ways to tell: check runs, which Actions and apps make, and the older statuses. Both count.

use serde::Deserialize;

use super::{Error, GitHub, Repository};
use crate::Secret;

const RUNS: &str = "look at check runs";
const STATUSES: &str = "look at statuses";

/// As many as GitHub tells at once. Whoever has more learns about these.
const MOST: &str = "100";

/// How many checks of a commit ended well, ended badly, and have not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checks {
    pub passed: u32,
    pub failed: u32,
    pub waiting: u32,
}

#[derive(Deserialize)]
struct Runs {
    check_runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    /// None while it has not ended.
    conclusion: Option<String>,
}

#[derive(Deserialize)]
struct Combined {
    statuses: Vec<Status>,
}

#[derive(Deserialize)]
struct Status {
    state: String,
}

impl GitHub {
    /// Counts the checks of a commit. None at all is what a repository without any has.
    pub fn checks(&self, token: &Secret, repository: &Repository, commit: &str) -> Result<Checks, Error> {
        let commit = format!("/repos/{}/{}/commits/{commit}", repository.owner, repository.name);
        let runs: Runs = self
            .ask_for(
                RUNS,
                &format!("{commit}/check-runs"),
                &[("filter", "latest"), ("per_page", MOST)],
                token,
            )?
            .read_for()?;
        let combined: Combined =
            self.ask_for(STATUSES, &format!("{commit}/status"), &[("per_page", MOST)], token)?.read_for()?;
        let mut checks = Checks::default();
        for run in runs.check_runs {
            checks.count(run.conclusion.as_deref());
        }
        for status in combined.statuses {
            checks.count(Some(status.state.as_str()).filter(|state| *state != "pending"));
        }
        Ok(checks)
    }
}

impl Checks {
    /// Counts one by how it ended. What GitHub lets a pull request be merged with has passed; a word that is not known
    /// yet is looked at by a person.
    fn count(&mut self, ended: Option<&str>) {
        match ended {
            None => self.waiting += 1,
            Some("success" | "neutral" | "skipped") => self.passed += 1,
            Some(_) => self.failed += 1,
        }
    }
}
