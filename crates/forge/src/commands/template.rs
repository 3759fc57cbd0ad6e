//! `forge template`: tasks that are wanted again and again.

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::cli::Globals;
use crate::commands::project::told;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable};
use crate::query::query;
use crate::table::{Table, details, items, text};
use crate::wire::short_id;
use crate::{autostart, named, prompt};

/// Keep templates of tasks that are wanted again and again
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  forge template add release --title \"Make a release\" --description -\n  \
                  forge template list"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List all
    List {
        /// Only those of this project
        #[arg(long)]
        project: Option<String>,
        /// Only those for every project
        #[arg(long, conflicts_with = "project")]
        global: bool,
    },
    /// Show one
    Show { template: String },
    /// Add one
    Add {
        name: String,
        /// The title of its tasks
        #[arg(long)]
        title: Option<String>,
        /// What its tasks say; `-` reads it from standard input
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// For this project alone
        #[arg(long)]
        project: Option<String>,
    },
    /// Change one
    Edit {
        template: String,
        #[arg(long)]
        name: Option<String>,
        #[arg(long)]
        title: Option<String>,
        /// What its tasks say; `-` reads it from standard input, an empty text takes it away
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Delete one
    Delete { template: String },
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let id = |typed: &str| -> Result<String> {
        let all = client.get("/api/templates")?;
        Ok(text(named::one(&all, typed, "template", "template_name", "forge template")?, "id").to_string())
    };
    match &args.act {
        None => list(output, &client.get("/api/templates")?),
        Some(Act::List { project, global }) => {
            let project =
                project.as_ref().map(|typed| named::project_id(&client, Some(typed))).transpose()?;
            let query = query(&[("project_id", project.as_deref()), ("global", global.then_some("true"))]);
            list(output, &client.get(&format!("/api/templates{query}"))?)
        }
        Some(Act::Show { template }) => {
            show(output, &client.get(&format!("/api/templates/{}", id(template)?))?)
        }
        Some(Act::Add { name, title, description, project }) => {
            let mut body = Map::new();
            body.insert("template_name".into(), json!(name));
            body.insert("title".into(), json!(title.as_ref().unwrap_or(name)));
            put_description(&mut body, description.as_deref())?;
            if let Some(project) = project {
                body.insert("project_id".into(), json!(named::project_id(&client, Some(project))?));
            }
            let made = client.post("/api/templates", Some(&Value::Object(body)))?;
            told(output, &made, &format!("template {} is added", text(&made, "template_name")))
        }
        Some(Act::Edit { template, name, title, description }) => {
            let mut body = Map::new();
            for (key, value) in [("template_name", name), ("title", title)] {
                if let Some(value) = value {
                    body.insert(key.into(), json!(value));
                }
            }
            put_description(&mut body, description.as_deref())?;
            if body.is_empty() {
                return Err(Failure::invalid(
                    "nothing is to be changed; give --name, --title or --description",
                ));
            }
            let changed = client.put(&format!("/api/templates/{}", id(template)?), &Value::Object(body))?;
            told(output, &changed, &format!("template {} is changed", text(&changed, "template_name")))
        }
        Some(Act::Delete { template }) => {
            told(output, &client.delete(&format!("/api/templates/{}", id(template)?))?, "it is deleted")
        }
    }
}

fn put_description(body: &mut Map<String, Value>, given: Option<&str>) -> Result<()> {
    let value = match given {
        None => return Ok(()),
        Some("") => Value::Null,
        Some(given) => json!(prompt::read(given)?),
    };
    body.insert("description".into(), value);
    Ok(())
}

fn list(output: &Output, templates: &Value) -> Result<Exit> {
    if output.json {
        output.value(templates)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["TEMPLATE", "FOR", "NAME", "TITLE"]);
    for one in items(templates) {
        let whose = match text(one, "project_id") {
            "" => "all",
            project => short_id(project),
        };
        table.row([short_id(text(one, "id")), whose, text(one, "template_name"), text(one, "title")]);
    }
    if table.is_empty() {
        output.remark("there is no template; `forge template add NAME` adds one");
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

fn show(output: &Output, template: &Value) -> Result<Exit> {
    if output.json {
        output.value(template)?;
        return Ok(Exit::Ok);
    }
    details(output, &[("name", text(template, "template_name")), ("title", text(template, "title"))])?;
    if !text(template, "description").is_empty() {
        output.line(format_args!("\n{}", printable(text(template, "description")).trim_end()))?;
    }
    Ok(Exit::Ok)
}
