//! The Genie tools: agents by their names, and sessions, which are attempts.
//!
//! A session's id is the attempt's; nothing is kept here, and nothing is launched but by the verb that starts tasks.

use std::time::Duration;

use forge_engine::{AttemptView, FollowUp, NewTask, StartTask};
use forge_model::{AttemptId, AttemptState, Manner, ProjectId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::call::Call;
use super::super::names::{AGENT, EXECUTOR, FULL, MODEL, MONITOR, SESSION, SESSION_NAME};
use super::super::tool::{Arg, Tool, changes, destroys, may, need, reads};
use super::super::transcript;
use super::{meant, reading};
use crate::decode::names::{PROJECT_ID, PROMPT, VARIANT};
use crate::error::Problem;

/// How many sessions that are over are listed beside those that are not.
const OVER: usize = 10;

/// How many entries of a conversation are shown: in short, and in full.
const IN_SHORT: usize = 20;
const IN_FULL: usize = 1000;

/// How long a session is watched that is to be monitored; whoever needs longer waits again.
const MONITORED: Duration = Duration::from_secs(600);

/// How many characters of a prompt become a title.
const TITLE: usize = 80;

pub(super) fn tools() -> Vec<Tool> {
    let runs = |name, title| {
        changes(
            name,
            title,
            "Starts an agent on a prompt, in a worktree of its own, and answers with the id of its session. An agent is one \
             of Forge's, as CLAUDE_CODE, or one of the project's agent files; `list_agents` tells.",
        )
        .takes(&[
            need(AGENT, "The agent."),
            need(PROMPT, "What it is told."),
            may(SESSION_NAME, "What the session is called; made from the prompt without."),
            may(EXECUTOR, "Plays the agent with this one of Forge's."),
            may(VARIANT, "A variant of the agent's settings."),
            may(MODEL, "Plays the agent with the variant that has this model."),
            may(MONITOR, "True waits until it is done, ten minutes at most."),
            may(PROJECT_ID, "The project; without, the one that the caller stands in, or the only one."),
        ])
        .does(run)
    };
    let resumes = |name, title| {
        changes(name, title, "Tells the agent of a session something more.").takes(&continued()).does(resume)
    };
    let views = |name, title| {
        reads(name, title, "Returns where a session stands and what was said in it.")
            .takes(&[
                need(SESSION, "The session: its id or its name."),
                may(FULL, "True returns all that was said."),
            ])
            .does(view)
    };
    vec![
        reads(
            "list_agents",
            "List agents",
            "Lists the agents that can be started: Forge's own, with whether they are installed, and the project's agent files.",
        )
        .takes(&[may(PROJECT_ID, "Also the agent files of this project.")])
        .does(agents),
        reads(
            "list_sessions",
            "List sessions",
            "Lists sessions: those that are under way, and the last ten that are over.",
        )
        .takes(&[may(PROJECT_ID, "Only sessions in this project.")])
        .does(sessions),
        runs("run", "Run agent"),
        runs("task", "Start agent task"),
        resumes("resume", "Resume session"),
        resumes("continue_task", "Continue task"),
        views("view", "View session"),
        views("view_task", "View task"),
        destroys("stop", "Stop session", "Stops a session, and answers when no process is left; its work stays.")
            .takes(&[need(SESSION, "The session: its id or its name.")])
            .idempotent()
            .does(stop),
    ]
}

fn continued() -> [Arg; 2] {
    [need(SESSION, "The session: its id or its name."), need(PROMPT, "What the agent is told.")]
}

#[derive(Debug, Serialize, JsonSchema)]
struct Agents {
    agents: Vec<AgentName>,
    count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AgentName {
    /// What it is started by.
    name: String,
    title: String,
    /// The agent of Forge that plays it.
    executor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    /// It is here and could start.
    is_installed: bool,
    /// What is missing, and what a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Sessions {
    sessions: Vec<Session>,
    count: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Session {
    id: AttemptId,
    name: String,
    agent: String,
    status: &'static str,
    created: Time,
    last_used: Time,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Running {
    /// The session: the attempt's id under the name that older clients look for.
    task_id: AttemptId,
    session_id: AttemptId,
    attempt_id: AttemptId,
    /// Where the board shows it, below the server's address.
    task_url: String,
    agent: String,
    executor: String,
    status: String,
    message: String,
    /// What the agent said last, where it was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Resumed {
    success: bool,
    session_id: AttemptId,
    /// A new turn was `started`, the agent was told at once (`injected`), or it waits for the turn's end (`queued`).
    delivered: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Viewed {
    session_id: AttemptId,
    name: String,
    agent: String,
    status: &'static str,
    branch: String,
    transcript: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Stopped {
    stopped: bool,
    session_id: AttemptId,
}

impl From<AttemptView> for Session {
    fn from(view: AttemptView) -> Self {
        Self {
            id: view.attempt.id,
            name: name(&view),
            agent: view.attempt.profile.to_string(),
            status: status(view.state()),
            created: view.attempt.created_at,
            last_used: view.attempt.updated_at,
        }
    }
}

/// What an attempt is called: as its task, or by its prompt.
pub(super) fn name(view: &AttemptView) -> String {
    view.task.as_ref().map_or_else(|| title(&view.attempt.prompt), |task| task.title.clone())
}

/// Where a session stands, in the words of Genie.
fn status(state: AttemptState) -> &'static str {
    match state {
        AttemptState::Queued => "starting",
        AttemptState::Finished => "completed",
        other => other.as_str(),
    }
}

fn title(prompt: &str) -> String {
    prompt
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("Session")
        .trim()
        .chars()
        .take(TITLE)
        .collect()
}

async fn agents(call: Call) -> Result<Agents, Problem> {
    let project = call.fields.optional_id(PROJECT_ID)?;
    let mut agents: Vec<AgentName> = Vec::new();
    for known in call.app.engine.availability().await? {
        agents.push(AgentName {
            name: known.agent.to_string(),
            title: known.title.to_string(),
            executor: known.agent.to_string(),
            variant: None,
            is_installed: known.is_installed(),
            remedy: known.remedy(),
        });
    }
    if let Some(project) = project {
        for file in call.app.engine.agent_files(project).await?.agents {
            let executor = file.profile.agent.clone();
            let is_installed = agents.iter().any(|agent| agent.name == executor && agent.is_installed);
            agents.push(AgentName {
                name: file.qualified(),
                title: file.description.unwrap_or_else(|| format!("an agent file, played by {executor}")),
                executor,
                variant: file.profile.variant,
                is_installed,
                remedy: None,
            });
        }
    }
    Ok(Agents { count: agents.len(), agents })
}

async fn sessions(call: Call) -> Result<Sessions, Problem> {
    let project: Option<ProjectId> = call.fields.optional_id(PROJECT_ID)?;
    let mut over = 0;
    let mut views = call.app.engine.attempts(None).await?;
    views.retain(|view| project.is_none_or(|project| view.attempt.project == project));
    views.retain(|view| {
        let is_over = !view.attempt.state.is_live() && view.attempt.state != AttemptState::Queued;
        over += usize::from(is_over);
        !is_over || over <= OVER
    });
    let sessions: Vec<Session> = crate::wire::list(views);
    Ok(Sessions { count: sessions.len(), sessions })
}

async fn run(call: Call) -> Result<Running, Problem> {
    let monitor = call.fields.flag(MONITOR)?.unwrap_or(false);
    let (agent, prompt) = (call.fields.line(AGENT)?, call.fields.text(PROMPT)?);
    let project = meant::project(&call).await?;
    let profile = meant::profile(&call, &project, &agent).await?;
    let title = call.fields.optional_line(SESSION_NAME)?.unwrap_or_else(|| title(&prompt));
    let task =
        NewTask { project: project.id, title, description: Some(prompt), parent: None, images: Vec::new() };
    let start = StartTask { task, profile, base_branch: None, use_worktree: true, manner: Manner::default() };
    let started = call.app.engine.create_and_start(start, None).await?;
    let (task, attempt) = (started.task.task, started.attempt.attempt);
    let mut running = Running {
        task_id: attempt.id,
        session_id: attempt.id,
        attempt_id: attempt.id,
        task_url: format!("/projects/{}/tasks/{}/attempts/{}?view=diffs", project.id, task.id, attempt.id),
        agent,
        executor: attempt.profile.to_string(),
        status: "started".to_string(),
        message: format!("{} runs on branch {}", attempt.profile, attempt.branch),
        result: None,
    };
    if monitor {
        let waited = reading::until_rest(&call, attempt.id, MONITORED, true).await?;
        running.status = status(waited.state()).to_string();
        running.result = waited.last_message().map(str::to_string);
    }
    Ok(running)
}

async fn resume(call: Call) -> Result<Resumed, Problem> {
    let session_id = meant::session(&call).await?;
    let follow = FollowUp::new(call.fields.text(PROMPT)?);
    let told = call.app.engine.follow_up(session_id, follow, None).await?;
    Ok(Resumed { success: true, session_id, delivered: told.delivered.as_str() })
}

async fn view(call: Call) -> Result<Viewed, Problem> {
    let session_id = meant::session(&call).await?;
    let full = call.fields.flag(FULL)?.unwrap_or(false);
    let view = call.app.engine.attempt(session_id).await?;
    let limit = if full { IN_FULL } else { IN_SHORT };
    let transcript = transcript::text(&call.app.engine, session_id, limit).await?;
    Ok(Viewed {
        session_id,
        name: name(&view),
        agent: view.attempt.profile.to_string(),
        status: status(view.state()),
        branch: view.attempt.branch,
        transcript,
    })
}

async fn stop(call: Call) -> Result<Stopped, Problem> {
    let session_id = meant::session(&call).await?;
    call.app.engine.stop_attempt(session_id).await?;
    Ok(Stopped { stopped: true, session_id })
}
