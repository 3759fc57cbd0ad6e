//! The environment of a run: what it inherits from the person, and what Forge tells it.

use std::path::Path;

use forge_model::Run;

use crate::{Engine, Result};

/// Variables of the server that mean something else to an agent: the address of what it serves would be ours.
const OF_THE_SERVER: &[&str] = &["HOST", "PORT", "BACKEND_PORT"];

/// The only ones of our own that an agent inherits: where a `forge` that it calls finds its server, and where the
/// scripted agent's lines are witnessed.
const INHERITED: &[&str] = &["FORGE_HOME", "FORGE_WITNESS"];

impl Engine {
    /// Composes the environment of a run from the person's, what its agent wants set and unset, and our own; its
    /// git is guarded.
    pub(crate) async fn surroundings(
        &self,
        run: &Run,
        worktree: &Path,
        set: &[(String, String)],
        unset: &[String],
    ) -> Result<Vec<(String, String)>> {
        let mut env: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| is_inherited(name) && !unset.contains(name))
            .collect();
        for (name, value) in set {
            env.retain(|(known, _)| known != name);
            env.push((name.clone(), value.clone()));
        }
        env.push(("FORGE_ATTEMPT".to_string(), run.attempt.to_string()));
        env.extend(self.inner.agents.of(run.attempt));
        for (name, value) in self.belt(run, worktree, &env).await? {
            env.retain(|(known, _)| *known != name);
            env.push((name, value));
        }
        if let Some(owner) = self.owners().into_iter().next() {
            env.push((forge_process::OWNER.to_string(), owner));
        }
        Ok(env)
    }
}

/// Says whether an agent gets a variable of the server's. Its own git must find its own repository, and its own
/// Forge its own attempt.
fn is_inherited(name: &str) -> bool {
    if name.starts_with("FORGE_") {
        return INHERITED.contains(&name);
    }
    !name.starts_with("GIT_") && !OF_THE_SERVER.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_inherits_the_persons_variables_and_none_that_steers_the_server() {
        for name in ["PATH", "HOME", "ANTHROPIC_API_KEY", "FORGE_HOME", "GITHUB_TOKEN"] {
            assert!(is_inherited(name), "{name}");
        }
        let not = ["HOST", "PORT", "BACKEND_PORT", "GIT_DIR", "FORGE_SEAM", "FORGE_TOKEN", "FORGE_RUN"];
        for name in not.into_iter().chain(["FORGE_ATTEMPT", "FORGE_BASE_URL", "FORGE_WORKTREES", "FORGE_X"]) {
            assert!(!is_inherited(name), "{name}");
        }
    }
}
