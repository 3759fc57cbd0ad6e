//! `forge task`: what is wanted in the projects.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use crate::cli::Globals;
use crate::client::Client;
use crate::commands::attempt::start::{self, How};
use crate::commands::{image, project::told};
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable};
use crate::table::{Table, details, items, number, text};
use crate::wire::short_id;
use crate::{autostart, ids, named, prompt};

/// Show and change the tasks: what is wanted in a project
#[derive(Debug, clap::Args)]
#[command(after_help = "A task is named by its id, or the first digits of it.\n\n\
                  Example:\n  forge task add \"Log in by a link\" --start CLAUDE_CODE --wait\n  \
                  forge task move 6a0c done\n  forge task delete 6a0c")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List the tasks of a project, newest first; outside a project, of all
    List {
        /// Of this project
        #[arg(long)]
        project: Option<String>,
        /// Of all projects
        #[arg(long, conflicts_with = "project")]
        all: bool,
        /// Only those with this status; may be repeated
        #[arg(long, value_enum)]
        status: Vec<Status>,
    },
    /// Add a task
    Add(Add),
    /// Show a task and its attempts
    Show { task: String },
    /// Change what a task says
    Edit(Edit),
    /// Give a task a status, or another place in the order by hand
    Move {
        task: String,
        #[arg(value_enum)]
        status: Option<Status>,
        /// Put it above this task
        #[arg(long, value_name = "TASK")]
        above: Option<String>,
        /// Put it below all others
        #[arg(long, conflicts_with = "above")]
        last: bool,
    },
    /// Delete a task and its attempts; `forge recover` brings them back
    Delete { task: String },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// What is wanted, in a line
    title: String,
    /// In this project
    #[arg(long)]
    project: Option<String>,
    /// Say more about it; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// It grew out of this attempt
    #[arg(long, value_name = "ATTEMPT")]
    parent: Option<String>,
    /// A picture for the agent to see; may be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Start an attempt at it by this agent
    #[arg(long, value_name = "AGENT")]
    start: Option<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Edit {
    task: String,
    /// What is wanted, in a line
    #[arg(long)]
    title: Option<String>,
    /// Say this about it; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// It grew out of this attempt
    #[arg(long, value_name = "ATTEMPT")]
    parent: Option<String>,
    /// Give it a picture; may be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    Todo,
    #[value(alias = "inprogress")]
    InProgress,
    #[value(alias = "inreview")]
    InReview,
    Done,
    Cancelled,
    Archived,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let mut client = autostart::connect(globals, output)?;
    match &args.act {
        None => list(&client, output, None, false, &[]),
        Some(Act::List { project, all, status }) => list(&client, output, project.as_deref(), *all, status),
        Some(Act::Add(args)) => add(&mut client, output, args),
        Some(Act::Show { task }) => show(&client, output, task),
        Some(Act::Edit(args)) => edit(&client, output, args),
        Some(Act::Move { task, status, above, last }) => {
            shift(&client, output, task, *status, above.as_deref(), *last)
        }
        Some(Act::Delete { task }) => {
            let task = named::task(&client, task)?;
            let id = text(&task, "id");
            let gone = client.delete(&format!("/api/tasks/{id}"))?;
            let words = format!(
                "{:?} is deleted; `forge recover {}` brings it back",
                text(&task, "title"),
                short_id(id)
            );
            told(output, &gone, &words)
        }
    }
}

fn list(
    client: &Client,
    output: &Output,
    project: Option<&str>,
    all: bool,
    status: &[Status],
) -> Result<Exit> {
    // Somebody who stands in no project and names none means all of them.
    let project = match (all, project) {
        (true, _) => None,
        (false, Some(typed)) => Some(named::project(client, Some(typed))?),
        (false, None) => named::project(client, None).ok(),
    };
    let tasks = match &project {
        Some(project) => client.get(&format!("/api/tasks?project_id={}", text(project, "id")))?,
        None => client.get("/api/board")?["tasks"].take(),
    };
    let wanted: Vec<&str> = status.iter().map(|status| status.word()).collect();
    let is_wanted = |task: &&Value| wanted.is_empty() || wanted.contains(&text(task, "status"));
    let tasks: Vec<&Value> = items(&tasks).iter().filter(is_wanted).collect();
    if output.json {
        output.value(&tasks.into_iter().cloned().collect())?;
        return Ok(Exit::Ok);
    }
    if tasks.is_empty() {
        output.remark("there is no such task; `forge task add \"TITLE\"` adds one");
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["TASK", "STATUS", "ATTEMPTS", "TITLE"]);
    for task in tasks {
        let attempts = match (number(task, "attempt_count"), &task["has_in_progress_attempt"]) {
            (count, Value::Bool(true)) => format!("{count}, running"),
            (count, _) => count,
        };
        table.row([short_id(text(task, "id")), text(task, "status"), &attempts, text(task, "title")]);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

fn add(client: &mut Client, output: &Output, args: &Add) -> Result<Exit> {
    let project = named::project(client, args.project.as_deref())?;
    let mut task = Map::new();
    task.insert("project_id".into(), project["id"].clone());
    task.insert("title".into(), json!(args.title));
    if let Some(description) = &args.description {
        task.insert("description".into(), json!(prompt::read(description)?));
    }
    if let Some(parent) = &args.parent {
        task.insert("parent_task_attempt".into(), json!(ids::attempt(client, parent)?.id));
    }
    if !args.image.is_empty() {
        task.insert("image_ids".into(), json!(images(client, &args.image)?));
    }
    let Some(agent) = &args.start else {
        let made = client.post("/api/tasks", Some(&Value::Object(task)))?;
        let id = short_id(text(&made, "id"));
        return told(
            output,
            &made,
            &format!("task {id} is added; `forge attempt start {id}` lets an agent try it"),
        );
    };
    let mut body = start::body(client, agent, &args.how)?;
    body.insert("task".into(), Value::Object(task));
    let mut started = client.post_once("/api/tasks/create-and-start", &Value::Object(body))?;
    start::started(client, output, &started["attempt"].take(), &args.how)
}

fn show(client: &Client, output: &Output, typed: &str) -> Result<Exit> {
    let id = text(&named::task(client, typed)?, "id").to_string();
    let task = client.get(&format!("/api/tasks/{id}"))?;
    if output.json {
        output.value(&task)?;
        return Ok(Exit::Ok);
    }
    let parent = text(&task, "parent_task_attempt");
    details(
        output,
        &[
            ("task", &id),
            ("title", text(&task, "title")),
            ("status", text(&task, "status")),
            ("added", text(&task, "created_at")),
            ("grew out of", parent),
        ],
    )?;
    let attempts = client.get(&format!("/api/task-attempts?task_id={id}"))?;
    for attempt in items(&attempts) {
        details(
            output,
            &[(
                "attempt",
                &format!(
                    "{}  {}  {}  {}",
                    short_id(text(attempt, "id")),
                    text(attempt, "state"),
                    text(attempt, "executor"),
                    text(attempt, "branch")
                ),
            )],
        )?;
    }
    if !text(&task, "description").is_empty() {
        output.line(format_args!("\n{}", printable(text(&task, "description")).trim_end()))?;
    }
    Ok(Exit::Ok)
}

fn edit(client: &Client, output: &Output, args: &Edit) -> Result<Exit> {
    let task = named::task(client, &args.task)?;
    let id = text(&task, "id");
    let mut body = Map::new();
    if let Some(title) = &args.title {
        body.insert("title".into(), json!(title));
    }
    if let Some(description) = &args.description {
        let description = match description.as_str() {
            "" => String::new(),
            given => prompt::read(given)?,
        };
        body.insert("description".into(), json!(description));
    }
    if let Some(parent) = &args.parent {
        body.insert("parent_task_attempt".into(), json!(ids::attempt(client, parent)?.id));
    }
    for file in &args.image {
        image::add(client, file, Some(id))?;
    }
    if body.is_empty() && args.image.is_empty() {
        return Err(Failure::invalid("nothing is to be changed; `forge task edit --help` shows what can be"));
    }
    let changed = client.put(&format!("/api/tasks/{id}"), &Value::Object(body))?;
    told(output, &changed, &format!("task {} is changed", short_id(id)))
}

fn shift(
    client: &Client,
    output: &Output,
    typed: &str,
    status: Option<Status>,
    above: Option<&str>,
    last: bool,
) -> Result<Exit> {
    let task = named::task(client, typed)?;
    let id = text(&task, "id");
    let mut body = Map::new();
    if let Some(status) = status {
        body.insert("status".into(), json!(status.word()));
    }
    if let Some(above) = above {
        body.insert("position".into(), json!({"before": named::task(client, above)?["id"]}));
    } else if last {
        body.insert("position".into(), json!({"before": null}));
    }
    if body.is_empty() {
        return Err(Failure::invalid("say where to: a status, --above TASK or --last"));
    }
    let changed = client.put(&format!("/api/tasks/{id}"), &Value::Object(body))?;
    told(output, &changed, &format!("task {} is {}", short_id(id), text(&changed, "status")))
}

/// Keeps pictures on the server and returns their ids.
fn images(client: &Client, files: &[PathBuf]) -> Result<Vec<Value>> {
    files.iter().map(|file| Ok(image::add(client, file, None)?["id"].take())).collect()
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Status::Todo => "todo",
            Status::InProgress => "inprogress",
            Status::InReview => "inreview",
            Status::Done => "done",
            Status::Cancelled => "cancelled",
            Status::Archived => "archived",
        }
    }
}
