//! Looking at an attempt, its runs and what was said, and putting it aside.

use std::path::PathBuf;

use clap::Subcommand;
use forge_model::ProfileId;
use serde_json::{Value, json};

use super::landing::at;
use crate::client::Client;
use crate::commands::open::Editor;
use crate::commands::project::told;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable, short};
use crate::query::query;
use crate::table::{Table, details, items, number, text};
use crate::wire::{Attempt, short_id};
use crate::{browser, ids};

#[derive(Debug, Subcommand)]
pub(super) enum Act {
    /// Show what is known of an attempt
    Show {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Print where its worktree is
    Path {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Find the attempt whose worktree is at a path
    At {
        #[arg(value_name = "DIR", default_value = ".")]
        dir: PathBuf,
    },
    /// Open its worktree in an editor on the server's machine, or its page in a browser here
    Open {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// Its page in a browser
        #[arg(long, conflicts_with_all = ["editor", "file"])]
        browser: bool,
        #[command(flatten)]
        editor: Editor,
    },
    /// List its runs, oldest first
    Runs {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// Those that were taken back as well
        #[arg(long)]
        all: bool,
    },
    /// Show what was said and done, a window at a time
    Entries {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// Tell where this text is found instead, newest first
        #[arg(long, value_name = "TEXT")]
        find: Option<String>,
        /// Those before this place
        #[arg(long, value_name = "PLACE")]
        before: Option<String>,
        /// Those after this place
        #[arg(long, value_name = "PLACE", conflicts_with_all = ["before", "around", "find"])]
        after: Option<String>,
        /// Those around this place
        #[arg(long, value_name = "PLACE", conflicts_with_all = ["before", "find"])]
        around: Option<String>,
        /// At most this many
        #[arg(long, value_name = "COUNT")]
        limit: Option<u32>,
    },
    /// List the tasks that grew out of it, and its own parent
    Children {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Compare a commit with what it has checked out
    Commit {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        sha: String,
    },
    /// Say whether an agent is ready to go on with it, or what a person must do first
    Setup {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        #[arg(long, value_name = "AGENT", default_value = "CLAUDE_CODE")]
        agent: String,
    },
    /// Note that you looked at it
    Seen {
        #[arg(value_name = "ATTEMPT")]
        id: String,
    },
    /// Note that you are done with it, for now or until a time
    Dismiss {
        #[arg(value_name = "ATTEMPT")]
        id: String,
        /// Until this time, as 2026-01-31T09:00:00Z
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Not after all
        #[arg(long, conflicts_with = "until")]
        undo: bool,
    },
}

pub(super) fn run(client: &Client, output: &Output, act: &Act) -> Result<Exit> {
    match act {
        Act::Show { id } => show(client, output, id),
        Act::Path { id } => {
            let attempt = ids::attempt(client, id)?;
            let path = attempt.worktree_path.clone().ok_or_else(|| {
                Failure::conflict(format!(
                    "{} has no worktree right now; its branch is {}",
                    attempt.short(),
                    attempt.branch
                ))
            })?;
            told(output, &json!({"worktree_path": path}), &path)
        }
        Act::At { dir } => {
            let dir = dir.canonicalize().map_err(|error| {
                Failure::invalid(format!("could not open the directory {}: {error}", dir.display()))
            })?;
            let found = client
                .get(&format!("/api/containers/info{}", query(&[("ref", Some(&dir.to_string_lossy()))])))?;
            told(output, &found, text(&found, "attempt_id"))
        }
        Act::Open { id, browser, editor } => {
            let attempt = ids::attempt(client, id)?;
            if *browser {
                let url = page(client, &attempt)?;
                browser::open_now(&url);
                return told(output, &json!({"url": url}), &url);
            }
            editor.open(client, output, &at(&attempt, "open-editor"))
        }
        Act::Runs { id, all } => runs(client, output, id, *all),
        Act::Entries { id, find, before, after, around, limit } => {
            let limit = limit.map(|limit| limit.to_string());
            let query = query(&[
                ("find", find.as_deref()),
                ("before", before.as_deref()),
                ("after", after.as_deref()),
                ("around", around.as_deref()),
                ("limit", limit.as_deref()),
            ]);
            let attempt = ids::attempt(client, id)?;
            entries(output, &client.get(&format!("{}{query}", at(&attempt, "entries")))?)
        }
        Act::Children { id } => children(client, output, id),
        Act::Commit { id, sha } => commit(client, output, id, sha),
        Act::Setup { id, agent } => {
            let profile: ProfileId =
                agent.parse().map_err(|error| Failure::invalid(format!("--agent: {error}")))?;
            let path = at(&ids::attempt(client, id)?, "run-agent-setup");
            let ready = client.post(&path, Some(&json!({"executor_profile_id": profile})))?;
            told(output, &ready, &format!("{agent} is ready"))
        }
        Act::Seen { id } => {
            let seen = client.post(&at(&ids::attempt(client, id)?, "seen"), None)?;
            told(output, &seen, "noted")
        }
        Act::Dismiss { id, until, undo } => {
            let attempt = ids::attempt(client, id)?;
            let body = json!({"until": until, "undo": undo});
            let put = client.post(&at(&attempt, "dismiss"), Some(&body))?;
            let words = if *undo { "is back" } else { "is put aside" };
            told(output, &put, &format!("{} {words}", attempt.short()))
        }
    }
}

/// Returns the address of an attempt's page on the board.
fn page(client: &Client, attempt: &Attempt) -> Result<String> {
    let value = client.get(&format!("/api/task-attempts/{}", attempt.id))?;
    let task = attempt.task_id.as_deref().ok_or_else(|| {
        Failure::conflict(format!("{} has no task, so the board has no page for it", attempt.short()))
    })?;
    Ok(format!(
        "{}/projects/{}/tasks/{task}/attempts/{}",
        client.url(),
        text(&value, "project_id"),
        attempt.id
    ))
}

fn show(client: &Client, output: &Output, typed: &str) -> Result<Exit> {
    let id = ids::attempt(client, typed)?.id;
    let attempt = client.get(&format!("/api/task-attempts/{id}"))?;
    if output.json {
        output.value(&attempt)?;
        return Ok(Exit::Ok);
    }
    let counted = match attempt["files_changed"].as_i64() {
        Some(files) => {
            format!(
                "{files} files, +{} -{}",
                number(&attempt, "lines_added"),
                number(&attempt, "lines_deleted")
            )
        }
        None => String::new(),
    };
    let agent = match text(&attempt["executor_profile_id"], "variant") {
        "" => text(&attempt, "executor").to_string(),
        variant => format!("{}:{variant}", text(&attempt, "executor")),
    };
    let asks = attempt["open_asks"].as_i64().filter(|asks| *asks > 0).map(|asks| asks.to_string());
    details(
        output,
        &[
            ("attempt", &id),
            ("task", text(&attempt["task"], "title")),
            ("agent", &agent),
            ("state", text(&attempt, "state")),
            ("since", text(&attempt, "state_since")),
            ("reason", text(&attempt, "reason")),
            ("doing", text(&attempt, "activity")),
            ("stalled", text(&attempt, "stalled")),
            ("limited until", text(&attempt, "limited_until")),
            ("asks", asks.as_deref().unwrap_or_default()),
            ("branch", text(&attempt, "branch")),
            ("target", text(&attempt, "target_branch")),
            ("worktree", text(&attempt, "worktree_path")),
            ("changes", &counted),
            ("turns", &number(&attempt, "turns")),
            ("dev server", text(&attempt["dev_server"], "url")),
            ("pull request", text(&attempt["pull_request"], "url")),
        ],
    )?;
    Ok(Exit::Ok)
}

fn runs(client: &Client, output: &Output, typed: &str, all: bool) -> Result<Exit> {
    let attempt = ids::attempt(client, typed)?;
    let path = format!("/api/execution-processes?task_attempt_id={}&show_soft_deleted={all}", attempt.id);
    let runs = client.get(&path)?;
    if output.json {
        output.value(&runs)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["RUN", "WHAT", "STATUS", "EXIT", "STARTED"]);
    for run in items(&runs) {
        let exit = number(run, "exit_code");
        table.row([
            text(run, "id"),
            text(run, "run_reason"),
            text(run, "status"),
            &exit,
            text(run, "started_at"),
        ]);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

fn entries(output: &Output, answer: &Value) -> Result<Exit> {
    if output.json {
        output.value(answer)?;
        return Ok(Exit::Ok);
    }
    for hit in items(&answer["hits"]) {
        let run = short_id(text(hit, "execution_process_id"));
        output.line(format_args!("{run}#{}  {}", number(hit, "index"), short(text(hit, "snippet"), 160)))?;
    }
    for entry in items(&answer["entries"]) {
        let said = &entry["entry"];
        let kind = said["entry_type"]["type"].as_str().unwrap_or_default();
        output.line(format_args!("[{kind}] {}", printable(text(said, "content")).trim_end()))?;
    }
    for (key, words) in [("before", "older ones: --before"), ("after", "newer ones: --after")] {
        let more = if key == "before" { &answer["has_more"] } else { &answer["has_newer"] };
        if let (true, Some(place)) = (more == &Value::Bool(true), answer[key].as_str()) {
            output.remark(format_args!("{words} {place}"));
        }
    }
    Ok(Exit::Ok)
}

fn children(client: &Client, output: &Output, typed: &str) -> Result<Exit> {
    let related = client.get(&at(&ids::attempt(client, typed)?, "children"))?;
    if output.json {
        output.value(&related)?;
        return Ok(Exit::Ok);
    }
    if related["parent_task"].is_object() {
        let parent = &related["parent_task"];
        details(
            output,
            &[("grew out of", &format!("{}  {}", short_id(text(parent, "id")), text(parent, "title")))],
        )?;
    }
    let mut table = Table::new(&["TASK", "STATUS", "TITLE"]);
    for task in items(&related["children"]) {
        table.row([short_id(text(task, "id")), text(task, "status"), text(task, "title")]);
    }
    if table.is_empty() {
        output.remark("no task grew out of it");
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

fn commit(client: &Client, output: &Output, typed: &str, sha: &str) -> Result<Exit> {
    let attempt = ids::attempt(client, typed)?;
    let sha = query(&[("sha", Some(sha))]);
    let info = client.get(&format!("{}{sha}", at(&attempt, "commit-info")))?;
    let compared = client.get(&format!("{}{sha}", at(&attempt, "commit-compare")))?;
    if output.json {
        output.value(&json!({"info": info, "compare": compared}))?;
        return Ok(Exit::Ok);
    }
    let head = format!(
        "{} ahead, {} behind",
        number(&compared, "ahead_from_head"),
        number(&compared, "behind_from_head")
    );
    details(output, &[("commit", text(&info, "sha")), ("subject", text(&info, "subject")), ("head", &head)])?;
    Ok(Exit::Ok)
}
