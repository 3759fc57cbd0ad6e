//! One call of a tool: who makes it, what with, and a way to say how far it is.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use forge_model::ProfileId;
use futures_util::future::BoxFuture;

use super::names;
use crate::access::Caller;
use crate::decode::Fields;
use crate::decode::names::{EXECUTOR, Name, VARIANT};
use crate::error::Problem;
use crate::state::App;

/// One call of a tool.
pub(super) struct Call {
    pub(super) app: App,
    pub(super) caller: Caller,
    pub(super) fields: Fields,
    pub(super) progress: Progress,
    /// Where the caller works, which says which project it means.
    pub(super) directory: Option<PathBuf>,
}

/// Tells a caller that waits how far its call is; one that did not ask is told nothing.
#[derive(Clone)]
pub(super) struct Progress(pub(super) Option<Arc<Tell>>);

/// Tells one step: how many there were, and what it is, in words.
pub(super) type Tell = dyn Fn(u64, String) -> BoxFuture<'static, ()> + Send + Sync;

impl Progress {
    pub(super) async fn tell(&self, step: u64, message: impl Into<String>) {
        if let Some(tell) = &self.0 {
            tell(step, message.into()).await;
        }
    }
}

impl Call {
    /// Returns an id that must be there.
    pub(super) fn id<T: FromStr>(&self, name: Name) -> Result<T, Problem> {
        self.fields.id(name)
    }

    /// Returns the attempt that the call is about.
    pub(super) fn attempt(&self) -> Result<forge_model::AttemptId, Problem> {
        self.fields.id(names::ATTEMPT_ID)
    }

    /// Returns the agent and its variant, which tools take side by side.
    pub(super) fn profile(&self) -> Result<ProfileId, Problem> {
        let (agent, variant) = (self.fields.line(EXECUTOR)?, self.fields.filled_text(VARIANT)?);
        let profile = match (agent.contains(':'), variant) {
            (true, None) => agent.parse(),
            (_, variant) => ProfileId::new(&agent, variant.as_deref()),
        };
        profile.map_err(|error| self.fields.refuse(EXECUTOR, &format!("must name an agent: {error}")))
    }

    /// Says who calls, for the record of an answer.
    pub(super) fn who(&self) -> String {
        match self.caller {
            Caller::Owner => "owner (MCP)".to_string(),
            Caller::Attempt(id) => format!("attempt {id} (MCP)"),
        }
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("caller", &self.caller).field("fields", &self.fields).finish()
    }
}
