//! An attempt that branches off another's conversation: a new branch and a worktree of its own, from where the other's
//! branch is, and an agent that remembers what was said there. The other stays as it is.

use crate::start::Wanted;
use crate::{AttemptView, Engine, Error, Result, launch};

impl Engine {
    /// Completes a start that is to branch off another attempt's conversation, or refuses it.
    pub(crate) async fn branching_off(&self, mut wanted: Wanted) -> Result<Wanted> {
        let Some(id) = wanted.manner.forked_from else { return Ok(wanted) };
        let AttemptView { attempt: source, .. } = self.attempt(id).await?;
        let refuse = |why: String| Err(Error::invalid(format!("`fork_from`: {why}")));
        if source.project != wanted.project.id {
            return refuse(format!("attempt {id} is of another project"));
        }
        if source.profile.agent != wanted.profile.agent {
            return refuse(format!(
                "attempt {id} is one of {}, whose conversation {} cannot go on with",
                source.profile.agent, wanted.profile.agent
            ));
        }
        if !launch::agent(&wanted.profile)?.capabilities().fork {
            return refuse(format!("{} cannot branch off a conversation", wanted.profile.agent));
        }
        let Some(session) = source.session else {
            return refuse(format!("attempt {id} has no conversation yet"));
        };
        wanted.session = Some(session);
        if wanted.base_branch.is_none() && !source.in_place {
            // What the conversation speaks of is on that branch.
            wanted.base_branch = Some(source.branch);
        }
        Ok(wanted)
    }
}
