//! Standing agents: kinds of agents with a task of their own in a project, which stands on no board.

use forge_model::{Noun, Op, ProjectId, StandingAgent, StandingAgentId, Task, TaskId, TaskStatus};

use crate::store::{Error as StoreError, Tx, projects, standing_agents, tasks};
use crate::{Engine, Error, Result};

/// The title of every standing agent's task; older clients look for it.
const TITLE: &str = "Genie";

/// The kind of which a project may have many: each is a conversation.
const CHAT: &str = "genie_chat";

/// What became of adding one.
enum Added {
    Made(StandingAgent),
    NoProject,
    Taken,
}

/// Writes down that a task is a conversation in the person's checkout, in the transaction that makes the task.
pub(crate) fn add_chat(tx: &Tx<'_>, project: ProjectId, task: TaskId) -> std::result::Result<(), StoreError> {
    let (id, kind, at) = (StandingAgentId::random(), CHAT.to_string(), tx.now());
    let agent = StandingAgent { id, project, kind, task, created_at: at, updated_at: at };
    standing_agents::insert(tx.conn(), &agent)
}

impl Engine {
    /// Returns the standing agents of a project, oldest first: all, or those of a kind.
    pub async fn standing_agents(
        &self,
        project: ProjectId,
        kind: Option<String>,
    ) -> Result<Vec<StandingAgent>> {
        let mut found = self.inner.store.read(move |conn| standing_agents::of_project(conn, project)).await?;
        if let Some(kind) = kind {
            found.retain(|agent| agent.kind == kind);
        }
        Ok(found)
    }

    /// Adds a standing agent with its task, both or neither.
    pub async fn create_standing_agent(&self, project: ProjectId, kind: &str) -> Result<StandingAgent> {
        let kind = kind.trim().to_string();
        if kind.is_empty() {
            return Err(Error::invalid("`agent_type` must be a text that is not blank"));
        }
        let wanted = kind.clone();
        let added = self.inner.store.write(move |tx| {
            if projects::one(tx.conn(), project)?.is_none() {
                return Ok(Added::NoProject);
            }
            if kind != CHAT && standing_agents::exists(tx.conn(), project, &kind)? {
                return Ok(Added::Taken);
            }
            let task = Task {
                id: TaskId::random(),
                project,
                title: TITLE.to_string(),
                description: None,
                status: TaskStatus::Agent,
                parent: None,
                dev_server: None,
                created_at: tx.now(),
                updated_at: tx.now(),
            };
            tasks::insert(tx.conn(), &task)?;
            tx.changed(Noun::Task, task.id, Op::Add, Some(project), None);
            let id = StandingAgentId::random();
            let (task, at) = (task.id, tx.now());
            let agent = StandingAgent { id, project, kind, task, created_at: at, updated_at: at };
            standing_agents::insert(tx.conn(), &agent)?;
            Ok(Added::Made(agent))
        });
        match added.await? {
            Added::Made(agent) => Ok(agent),
            Added::NoProject => Err(Error::not_found(format!("there is no project {project}"))),
            Added::Taken => {
                Err(Error::conflict(format!("project {project} has a {wanted} agent already; use that one")))
            }
        }
    }
}
