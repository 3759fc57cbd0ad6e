//! `forge list`: every attempt, newest first; or the agents there are, or the tasks.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::Globals;
use crate::client::Client;
use crate::commands::run::known_project;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, Tone, printable, short};
use crate::wire::{self, Attempt, short_id};
use crate::{agent_name, autostart, older_sessions, repository};

/// List all attempts, newest first
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Example:\n  forge list --running")]
pub(crate) struct Args {
    /// What to list instead: the agents of Forge and of this repository, its attempts with the sessions of older
    /// tools, or its tasks
    #[arg(value_enum)]
    pub(crate) what: Option<What>,
    /// List only attempts with a running agent
    #[arg(long)]
    pub(crate) running: bool,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    Agents,
    Sessions,
    Tasks,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    match args.what {
        None => attempts(globals, output, args.running, None),
        Some(What::Sessions) => {
            // Outside a repository there is nobody's older store to look at.
            let here = repository::find(Path::new(".")).ok();
            attempts(globals, output, args.running, here.as_ref().map(|here| here.top.as_path()))
        }
        Some(What::Agents) => agents(globals, output),
        Some(What::Tasks) => tasks(globals, output),
    }
}

/// Lists attempts, those without a task among them; with a repository, the sessions in its older stores too.
pub(crate) fn attempts(
    globals: &Globals,
    output: &Output,
    running: bool,
    older: Option<&Path>,
) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let mut found = Vec::new();
    for path in ["/api/task-attempts", "/api/execution-runs"] {
        for value in client.get(path)?.as_array().into_iter().flatten() {
            let attempt: Attempt = wire::read(value)?;
            if attempt.is_live() || !running {
                found.push((attempt, value.clone()));
            }
        }
    }
    // Each list is in this order already; only the two must be put together.
    found.sort_by(|(one, _), (other, _)| other.created_at.cmp(&one.created_at));
    let older = match older {
        Some(repository) => older_sessions::read(repository)?.sessions,
        None => Vec::new(),
    };
    if output.json {
        let older = older.iter().map(|session| {
            json!({"id": session.id, "name": session.name, "agent": session.agent, "state": session.status,
                "created_at": session.created, "older": true})
        });
        output.value(&found.into_iter().map(|(_, value)| value).chain(older).collect())?;
        return Ok(Exit::Ok);
    }
    if found.is_empty() && older.is_empty() {
        output.remark(match running {
            true => "no agent runs; `forge list` shows all attempts",
            false => "there is no attempt yet; begin one with `forge run \"PROMPT\"`",
        });
        return Ok(Exit::Ok);
    }
    for (attempt, _) in &found {
        output.line(line(attempt))?;
    }
    for session in &older {
        let id = short(&session.id, 24);
        output.line(format_args!("{id}  {}  {}  (older)", session.status, printable(&session.agent)))?;
    }
    if !older.is_empty() {
        output.remark(
            "those marked as older are in the files of an older tool; `forge migrate` moves them here",
        );
    }
    Ok(Exit::Ok)
}

fn agents(globals: &Globals, output: &Output) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let files = match repository::find(Path::new(".")) {
        Err(_) => forge_engine::AgentFiles::default(),
        Ok(here) => match project_here(&client, &here)? {
            Some(project) => agent_name::files(&client, &project)?,
            // Its files can be read without making it a project.
            None => {
                forge_engine::agent_files_at(&here.top).map_err(|error| Failure::away(error.to_string()))?
            }
        },
    };
    let shown: Vec<_> = files.agents.iter().filter(|file| !file.hidden).collect();
    if output.json {
        let files = shown.iter().map(|file| {
            json!({"id": file.qualified(), "name": file.name, "description": file.description,
                "executor_profile_id": file.profile, "model": file.model, "path": file.path,
                "background": file.background})
        });
        let known = forge_agents::AGENTS.iter().map(|agent| json!({"id": agent.name(), "path": null}));
        output.value(&files.chain(known).collect())?;
    } else {
        for file in shown {
            let about = file.description.as_deref().or(file.name.as_deref()).unwrap_or_default();
            let (id, profile) = (file.qualified(), file.profile.to_string());
            output.line(format!("{id:<28}  {profile:<32}  {}", short(about, 60)).trim_end())?;
        }
        for agent in forge_agents::AGENTS {
            output.line(output.tone(Tone::Dim, agent.name()))?;
        }
    }
    for warning in &files.warnings {
        output.remark(format_args!("{}: {}", printable(&warning.path), printable(&warning.message)));
    }
    Ok(Exit::Ok)
}

fn tasks(globals: &Globals, output: &Output) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let here = repository::find(Path::new(".")).ok();
    let project = here.map(|here| project_here(&client, &here)).transpose()?.flatten();
    let projects = match project {
        Some(project) => vec![project],
        None => {
            let all = client.get("/api/projects")?;
            all.as_array().into_iter().flatten().map(|project| project["id"].clone()).collect()
        }
    };
    let mut tasks: Vec<Value> = Vec::new();
    for project in projects {
        let id = project.as_str().unwrap_or_default();
        let mut found = client.get(&format!("/api/tasks?project_id={id}"))?;
        tasks.extend(found.as_array_mut().map(std::mem::take).unwrap_or_default());
    }
    if output.json {
        output.value(&tasks.into())?;
        return Ok(Exit::Ok);
    }
    for task in &tasks {
        let text = |key: &str| task[key].as_str().unwrap_or_default();
        output.line(format!(
            "{}  {:<10}  {}",
            short_id(text("id")),
            text("status"),
            short(text("title"), 80)
        ))?;
    }
    if tasks.is_empty() {
        output.remark("there is no task yet; `forge run \"PROMPT\"` makes one and starts it");
    }
    Ok(Exit::Ok)
}

/// Returns the project of the repository somebody stands in, a worktree of it included, when it is one.
pub(crate) fn project_here(client: &Client, here: &repository::Repository) -> Result<Option<Value>> {
    match (known_project(client, &here.top)?, &here.main) {
        (None, Some(main)) => known_project(client, main),
        (found, _) => Ok(found),
    }
}

fn line(attempt: &Attempt) -> String {
    let state = match (attempt.open_asks, attempt.queue_place) {
        (0, Some(place)) if attempt.state == "queued" => format!("queued {place}"),
        (0, _) if attempt.stalled.is_some() => "stalled".to_string(),
        (0, _) => attempt.state.clone(),
        _ => "asks".to_string(),
    };
    let more = match (&attempt.stalled, &attempt.limited_until) {
        (Some(stalled), _) => format!("  ({})", printable(stalled)),
        (None, Some(until)) => format!("  (until {})", printable(until)),
        (None, None) => String::new(),
    };
    format!(
        "{}  {state:<8}  {:<12}  {:<28}  {}{more}",
        attempt.short(),
        attempt.executor,
        attempt.branch,
        short(attempt.title(), 60)
    )
}
