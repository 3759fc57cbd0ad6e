//! Looking around in and around a project, and the little that is done to its checkout.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::told;
use crate::client::Client;
use crate::commands::open::Editor;
use crate::exit::{Exit, Failure, Result};
use crate::named;
use crate::output::Output;
use crate::query::query;
use crate::table::{Table, details, items, number, text};

#[derive(Debug, Subcommand)]
pub(super) enum Act {
    /// List a project's branches, the current one first
    Branches { project: Option<String> },
    /// Find files by a part of their name
    Search {
        /// The part
        text: String,
        #[arg(long)]
        project: Option<String>,
        /// Rank by what a task would want, or by what the settings would
        #[arg(long, value_enum)]
        mode: Option<Mode>,
    },
    /// Compare the checkout with its remote, after a fetch
    Status {
        project: Option<String>,
        /// Compare with this branch instead
        #[arg(long, value_name = "BRANCH")]
        base: Option<String>,
    },
    /// Move the checkout forward to where its remote is, or say why nothing has moved
    Pull { project: Option<String> },
    /// Open a project in an editor on the server's machine
    Open {
        project: Option<String>,
        #[command(flatten)]
        editor: Editor,
    },
    /// Show or change how notices about a project are sent: `enabled`, and keys of the gateway
    Notices {
        #[arg(long)]
        project: Option<String>,
        /// What to change; an empty value takes a setting away
        #[arg(value_name = "KEY=VALUE")]
        changes: Vec<String>,
    },
    /// List a project's standing agents, or add one
    Agents {
        #[arg(long)]
        project: Option<String>,
        /// Add one of this kind, with a task of its own
        #[arg(long, value_name = "KIND")]
        add: Option<String>,
    },
    /// List the profiles that can be used in a project, those of its own agent files included
    Profiles { project: Option<String> },
    /// Find repositories below a directory of the server's machine
    Find {
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// List a directory of the server's machine
    Browse {
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Mode {
    Task,
    Settings,
}

pub(super) fn run(client: &Client, output: &Output, act: &Act) -> Result<Exit> {
    let id = |typed: &Option<String>| named::project_id(client, typed.as_deref());
    match act {
        Act::Branches { project } => branches(client, output, &id(project)?),
        Act::Search { text, project, mode } => search(client, output, &id(project)?, text, *mode),
        Act::Status { project, base } => {
            let path = format!("/api/forge/projects/{}/branch-status", id(project)?);
            let status = client.get(&format!("{path}{}", query(&[("base", base.as_deref())])))?;
            shown_status(output, &status)
        }
        Act::Pull { project } => pull(client, output, &id(project)?),
        Act::Open { project, editor } => {
            let path = format!("/api/projects/{}/open-editor", id(project)?);
            editor.open(client, output, &path)
        }
        Act::Notices { project, changes } => {
            let path = format!("/api/forge/projects/{}/settings", id(project)?);
            notices(client, output, &path, changes)
        }
        Act::Agents { project, add } => agents(client, output, &id(project)?, add.as_deref()),
        Act::Profiles { project } => {
            let answer = client.get(&format!("/api/forge/projects/{}/profiles", id(project)?))?;
            profiles(output, &answer)
        }
        Act::Find { dir } => {
            let found = client.get(&format!("/api/filesystem/git-repos{}", below(dir.as_ref())?))?;
            listed(output, &found, &found)
        }
        Act::Browse { dir } => {
            let found = client.get(&format!("/api/filesystem/directory{}", below(dir.as_ref())?))?;
            listed(output, &found, &found["entries"])
        }
    }
}

fn branches(client: &Client, output: &Output, id: &str) -> Result<Exit> {
    let branches = client.get(&format!("/api/projects/{id}/branches"))?;
    if output.json {
        output.value(&branches)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["", "BRANCH", "LAST COMMIT"]);
    for branch in items(&branches) {
        let mark = match (&branch["is_current"], &branch["is_remote"]) {
            (Value::Bool(true), _) => "*",
            (_, Value::Bool(true)) => "r",
            _ => "",
        };
        table.row([mark, text(branch, "name"), text(branch, "last_commit_date")]);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

fn search(client: &Client, output: &Output, id: &str, part: &str, mode: Option<Mode>) -> Result<Exit> {
    let mode = mode.map(|mode| match mode {
        Mode::Task => "taskform",
        Mode::Settings => "settings",
    });
    let query = query(&[("q", Some(part)), ("mode", mode)]);
    let found = client.get(&format!("/api/projects/{id}/search{query}"))?;
    if output.json {
        output.value(&found)?;
        return Ok(Exit::Ok);
    }
    for one in items(&found) {
        let slash = if one["is_file"] == false { "/" } else { "" };
        output.line(format_args!("{}{slash}", crate::output::printable(text(one, "path"))))?;
    }
    Ok(Exit::Ok)
}

/// Prints how a checkout or a branch stands.
pub(crate) fn shown_status(output: &Output, status: &Value) -> Result<Exit> {
    if output.json {
        output.value(status)?;
        return Ok(Exit::Ok);
    }
    let pair = |ahead: &str, behind: &str| match (&status[ahead], &status[behind]) {
        (Value::Null, Value::Null) => String::new(),
        _ => format!("{} ahead, {} behind", number(status, ahead), number(status, behind)),
    };
    let conflicts = items(&status["conflicted_files"]).iter().filter_map(Value::as_str).collect::<Vec<_>>();
    let uncommitted = match (status["uncommitted_count"].as_u64(), status["untracked_count"].as_u64()) {
        (Some(changed), Some(new)) if changed + new > 0 => format!("{changed} changed, {new} new"),
        (Some(_), Some(_)) => "nothing".to_string(),
        _ => String::new(),
    };
    let merges: Vec<String> = items(&status["merges"]).iter().map(landed).collect();
    details(
        output,
        &[
            ("target", text(status, "target_branch_name")),
            ("to target", &pair("commits_ahead", "commits_behind")),
            ("to remote", &pair("remote_commits_ahead", "remote_commits_behind")),
            ("head", text(status, "head_oid")),
            ("uncommitted", &uncommitted),
            ("in progress", text(status, "conflict_op")),
            ("conflicts", &conflicts.join(" ")),
            ("landed", &merges.join("; ")),
        ],
    )?;
    Ok(Exit::Ok)
}

/// Says how an attempt went to its target.
fn landed(merge: &Value) -> String {
    let target = text(merge, "target_branch_name");
    match merge["pr_info"].is_object() {
        true => {
            let pr = &merge["pr_info"];
            format!(
                "pull request {} to {target}: {} {}",
                number(pr, "number"),
                text(pr, "status"),
                text(pr, "url")
            )
        }
        false => format!("{} on {target}", crate::wire::short_id(text(merge, "merge_commit"))),
    }
}

fn pull(client: &Client, output: &Output, id: &str) -> Result<Exit> {
    let answer = client.bare("POST", &format!("/api/forge/projects/{id}/pull"), None)?;
    if answer["success"] == false {
        let more = match text(&answer, "details") {
            "" => String::new(),
            details => format!(": {}", crate::output::short(details, 200)),
        };
        return Err(Failure::conflict(format!("{}{more}", text(&answer, "message"))));
    }
    told(output, &answer, text(&answer, "message"))
}

/// Shows settings about notices, or changes them.
pub(crate) fn notices(client: &Client, output: &Output, path: &str, changes: &[String]) -> Result<Exit> {
    let settings = match changes.is_empty() {
        true => client.get(path)?,
        false => client.put(path, &change(changes)?)?,
    };
    if output.json {
        output.value(&settings)?;
        return Ok(Exit::Ok);
    }
    let gateway = &settings["omni_config"];
    details(
        output,
        &[
            ("enabled", if settings["omni_enabled"] == true { "yes" } else { "no" }),
            ("host", text(gateway, "host")),
            ("instance", text(gateway, "instance")),
            ("recipient", text(gateway, "recipient")),
            ("recipient_type", text(gateway, "recipient_type")),
            ("api_key", text(gateway, "api_key")),
        ],
    )?;
    Ok(Exit::Ok)
}

fn change(changes: &[String]) -> Result<Value> {
    let mut body = Map::new();
    let mut gateway = Map::new();
    for change in changes {
        let (key, value) = change.split_once('=').ok_or_else(|| {
            Failure::invalid(format!("{change:?} is no change; write KEY=VALUE, as in enabled=true"))
        })?;
        match key {
            "enabled" => {
                let on = matches!(value, "true" | "yes" | "on" | "1");
                body.insert("omni_enabled".into(), json!(on));
            }
            key => {
                let value = if value.is_empty() { Value::Null } else { json!(value) };
                gateway.insert(key.to_string(), value);
            }
        }
    }
    if !gateway.is_empty() {
        body.insert("omni_config".into(), Value::Object(gateway));
    }
    Ok(Value::Object(body))
}

fn agents(client: &Client, output: &Output, id: &str, add: Option<&str>) -> Result<Exit> {
    if let Some(kind) = add {
        let made = client.post("/api/forge/agents", Some(&json!({"project_id": id, "agent_type": kind})))?;
        let task = crate::wire::short_id(text(&made, "task_id"));
        return told(output, &made, &format!("{kind} stands by, with task {task}"));
    }
    let agents = client.get(&format!("/api/forge/agents?project_id={id}"))?;
    if output.json {
        output.value(&agents)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["KIND", "TASK"]);
    for agent in items(&agents) {
        table.row([text(agent, "agent_type"), text(agent, "task_id")]);
    }
    if table.is_empty() {
        output.remark("no agent stands by; `forge project agents --add KIND` adds one");
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

/// Lists agents with the names of their profiles.
fn profiles(output: &Output, answer: &Value) -> Result<Exit> {
    if output.json {
        output.value(answer)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["AGENT", "PROFILES"]);
    for (agent, of_agent) in answer["executors"].as_object().into_iter().flatten() {
        let names = of_agent.as_object().map(|names| names.keys().cloned().collect::<Vec<_>>());
        table.row([agent, &names.unwrap_or_default().join(" ")]);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

/// Writes a directory as the server understands it: it is not where this command is.
fn below(dir: Option<&PathBuf>) -> Result<String> {
    let Some(dir) = dir else { return Ok(String::new()) };
    let dir = std::path::absolute(dir)
        .map_err(|error| Failure::invalid(format!("could not make {} absolute: {error}", dir.display())))?;
    Ok(query(&[("path", Some(&dir.to_string_lossy()))]))
}

fn listed(output: &Output, answer: &Value, entries: &Value) -> Result<Exit> {
    if output.json {
        output.value(answer)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["", "NAME", "PATH"]);
    for entry in items(entries) {
        let mark = match (&entry["is_git_repo"], &entry["is_directory"]) {
            (Value::Bool(true), _) => "git",
            (_, Value::Bool(true)) => "dir",
            _ => "",
        };
        table.row([mark, text(entry, "name"), text(entry, "path")]);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}
