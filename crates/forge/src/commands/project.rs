//! `forge project`: the repositories that Forge works on.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::cli::Globals;
use crate::client::Client;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::table::{Table, details, items, text};
use crate::wire::short_id;
use crate::{autostart, named};

mod look;

pub(crate) use look::{notices, shown_status};

/// Show and change the projects: the repositories that agents work on
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A project is named by its name, the first digits of its id, or a directory in it; without any, the one this \
                  directory is in.\n\n\
                  Example:\n  forge project add ~/code/shop\n  forge project set shop --setup-script \"npm ci\"\n  \
                  forge project remove shop"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List all projects, newest first
    List,
    /// Make a repository a project
    Add(Add),
    /// Show what is known of a project
    Show { project: Option<String> },
    /// Change a project; an empty text takes a setting away
    Set(Set),
    /// Forget a project with its tasks; the repository stays as it is, and `forge recover` brings it back
    Remove { project: String },
    #[command(flatten)]
    Look(look::Act),
    /// Make the demo: a small project with attempts in every state
    Demo,
}

#[derive(Debug, clap::Args)]
struct Add {
    /// The repository, or a directory in it
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Call it this instead of what its directory is called
    #[arg(long)]
    name: Option<String>,
    /// Make the directory and a repository in it first
    #[arg(long)]
    init: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Debug, clap::Args)]
struct Set {
    project: Option<String>,
    /// Call it this
    #[arg(long)]
    name: Option<String>,
    /// The repository has moved here
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Debug, clap::Args)]
struct Settings {
    /// Start attempts from this branch when nobody names one
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Run this in a worktree before its agent
    #[arg(long, value_name = "SCRIPT")]
    setup_script: Option<String>,
    /// Run this in a worktree as its dev server
    #[arg(long, value_name = "SCRIPT")]
    dev_script: Option<String>,
    /// Run this in a worktree after each turn of its agent
    #[arg(long, value_name = "SCRIPT")]
    cleanup_script: Option<String>,
    /// Copy these files of the checkout into each worktree, with commas between them
    #[arg(long, value_name = "FILES")]
    copy_files: Option<String>,
    /// Let the agent write the message when an attempt lands, told so
    #[arg(long, value_name = "TEXT")]
    commit_prompt: Option<String>,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    match &args.act {
        None | Some(Act::List) => list(&client, output),
        Some(Act::Add(args)) => add(&client, output, args),
        Some(Act::Show { project }) => {
            show(&client, output, &named::project_id(&client, project.as_deref())?)
        }
        Some(Act::Set(args)) => set(&client, output, args),
        Some(Act::Remove { project }) => remove(&client, output, project),
        Some(Act::Look(act)) => look::run(&client, output, act),
        Some(Act::Demo) => {
            let made = client.post("/api/demo", None)?;
            told(
                output,
                &made,
                &format!("the demo is project {}; its tasks follow within seconds", name(&made)),
            )
        }
    }
}

fn list(client: &Client, output: &Output) -> Result<Exit> {
    let projects = client.get("/api/projects")?;
    if output.json {
        output.value(&projects)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["PROJECT", "NAME", "REPOSITORY"]);
    for project in items(&projects) {
        table.row([short_id(text(project, "id")), text(project, "name"), text(project, "git_repo_path")]);
    }
    if table.is_empty() {
        output.remark("there is no project yet; `forge project add DIR` makes one of a repository");
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

fn add(client: &Client, output: &Output, args: &Add) -> Result<Exit> {
    let (path, called) = match args.init {
        true => {
            let path = std::path::absolute(&args.dir).map_err(|error| {
                Failure::invalid(format!("could not make {} absolute: {error}", args.dir.display()))
            })?;
            let called = path.file_name().map(|name| name.to_string_lossy().into_owned());
            (path, called)
        }
        false => {
            let top = crate::repository::find(&args.dir)?.top;
            let called = top.file_name().map(|name| name.to_string_lossy().into_owned());
            (top, called)
        }
    };
    let mut body = Map::new();
    let called = args.name.clone().or(called).unwrap_or_else(|| "repository".to_string());
    body.insert("name".into(), json!(called));
    body.insert("git_repo_path".into(), json!(path));
    body.insert("use_existing_repo".into(), json!(!args.init));
    args.settings.put_into(&mut body);
    let made = client.post("/api/projects", Some(&Value::Object(body)))?;
    told(
        output,
        &made,
        &format!("{} is a project now; `forge task add \"TITLE\"` wants something in it", name(&made)),
    )
}

fn show(client: &Client, output: &Output, id: &str) -> Result<Exit> {
    let project = client.get(&format!("/api/projects/{id}"))?;
    if output.json {
        output.value(&project)?;
        return Ok(Exit::Ok);
    }
    let tasks = client.get(&format!("/api/tasks?project_id={id}"))?;
    details(
        output,
        &[
            ("project", id),
            ("name", text(&project, "name")),
            ("repository", text(&project, "git_repo_path")),
            ("base branch", text(&project, "default_base_branch")),
            ("setup script", text(&project, "setup_script")),
            ("dev script", text(&project, "dev_script")),
            ("cleanup script", text(&project, "cleanup_script")),
            ("copied files", text(&project, "copy_files")),
            ("commit prompt", text(&project, "commit_prompt")),
            ("own filters", if project["trust_filters"] == true { "trusted" } else { "" }),
            ("tasks", &items(&tasks).len().to_string()),
        ],
    )?;
    Ok(Exit::Ok)
}

fn set(client: &Client, output: &Output, args: &Set) -> Result<Exit> {
    let id = named::project_id(client, args.project.as_deref())?;
    let mut body = Map::new();
    if let Some(name) = &args.name {
        body.insert("name".into(), json!(name));
    }
    if let Some(path) = &args.path {
        let path = crate::repository::find(path)?.top;
        body.insert("git_repo_path".into(), json!(path));
    }
    args.settings.put_into(&mut body);
    if body.is_empty() {
        return Err(Failure::invalid(
            "nothing is to be changed; `forge project set --help` shows what can be",
        ));
    }
    let changed = client.put(&format!("/api/projects/{id}"), &Value::Object(body))?;
    told(output, &changed, &format!("{} is changed", name(&changed)))
}

fn remove(client: &Client, output: &Output, typed: &str) -> Result<Exit> {
    let project = named::project(client, Some(typed))?;
    let gone = client.delete(&format!("/api/projects/{}", text(&project, "id")))?;
    let short = short_id(text(&project, "id"));
    let words = format!("{} is forgotten; `forge recover {short}` brings it back", name(&project));
    told(output, &gone, &words)
}

impl Settings {
    /// Puts what was given into a body; an empty text clears.
    fn put_into(&self, body: &mut Map<String, Value>) {
        let given = [
            ("default_base_branch", &self.base),
            ("setup_script", &self.setup_script),
            ("dev_script", &self.dev_script),
            ("cleanup_script", &self.cleanup_script),
            ("copy_files", &self.copy_files),
            ("commit_prompt", &self.commit_prompt),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                let value = if value.is_empty() { Value::Null } else { json!(value) };
                body.insert(key.to_string(), value);
            }
        }
    }
}

/// Prints what the server answered, or a sentence about it.
pub(crate) fn told(output: &Output, answer: &Value, words: &str) -> Result<Exit> {
    match output.json {
        true => output.value(answer)?,
        false => output.line(crate::output::printable(words))?,
    }
    Ok(Exit::Ok)
}

fn name(project: &Value) -> &str {
    text(project, "name")
}
