//! Forge's own tools for agents: the switch `forge_mcp` of a profile, and the command that an agent reaches them by.

use forge_model::{AttemptId, Run};
use serde_json::Value;

use crate::{Engine, Result};

impl Engine {
    /// Says whether the agent of an attempt has Forge's own tools, as its profile says now.
    pub async fn has_forge_tools(&self, attempt: AttemptId) -> Result<bool> {
        let attempt = self.attempt(attempt).await?.attempt;
        Ok(is_on(&self.settings(&attempt.profile, Some(attempt.project)).await?))
    }

    /// Returns the command by which a run's agent reaches Forge's own tools; none where the switch is off. The
    /// attempt is named and no secret is: the command makes the attempt's token itself.
    pub(crate) fn forge_tools(&self, run: &Run, settings: &Value) -> Option<Vec<String>> {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        is_on(settings).then(|| {
            let (forge, home) = (text(&self.inner.forge), text(&self.inner.paths.home));
            let attempt = run.attempt.to_string();
            vec![forge, "mcp".to_string(), "--attempt".to_string(), attempt, "--data".to_string(), home]
        })
    }
}

fn is_on(settings: &Value) -> bool {
    settings.get("forge_mcp").and_then(Value::as_bool).unwrap_or(false)
}
