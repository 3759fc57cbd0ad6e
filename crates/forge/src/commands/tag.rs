//! `forge tag`: texts that are put into prompts by their names.

use clap::Subcommand;
use serde_json::{Map, Value, json};

use crate::cli::Globals;
use crate::commands::project::told;
use crate::exit::{Exit, Failure, Result};
use crate::output::{Output, printable};
use crate::query::query;
use crate::table::{Table, items, text};
use crate::wire::short_id;
use crate::{autostart, named, prompt};

/// Keep texts that prompts use by their names
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge tag add tests \"Run the tests before you stop\"\n  forge tag list")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List all, or those whose name contains a text
    List { search: Option<String> },
    /// Print what one stands for
    Show { tag: String },
    /// Add one
    Add {
        name: String,
        /// What it stands for; `-` reads it from standard input
        content: String,
    },
    /// Change one
    Edit {
        tag: String,
        #[arg(long)]
        name: Option<String>,
        /// What it stands for; `-` reads it from standard input
        #[arg(long, value_name = "TEXT")]
        content: Option<String>,
    },
    /// Delete one
    Delete { tag: String },
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let id = |typed: &str| -> Result<String> {
        let tags = client.get("/api/tags")?;
        Ok(text(named::one(&tags, typed, "tag", "tag_name", "forge tag")?, "id").to_string())
    };
    match &args.act {
        None => list(output, &client.get("/api/tags")?),
        Some(Act::List { search }) => {
            list(output, &client.get(&format!("/api/tags{}", query(&[("search", search.as_deref())])))?)
        }
        Some(Act::Show { tag }) => {
            let tag = client.get(&format!("/api/tags/{}", id(tag)?))?;
            told(output, &tag, text(&tag, "content"))
        }
        Some(Act::Add { name, content }) => {
            let body = json!({"tag_name": name, "content": prompt::read(content)?});
            let made = client.post("/api/tags", Some(&body))?;
            told(output, &made, &format!("@{} stands for it now", text(&made, "tag_name")))
        }
        Some(Act::Edit { tag, name, content }) => {
            let mut body = Map::new();
            if let Some(name) = name {
                body.insert("tag_name".into(), json!(name));
            }
            if let Some(content) = content {
                body.insert("content".into(), json!(prompt::read(content)?));
            }
            if body.is_empty() {
                return Err(Failure::invalid("nothing is to be changed; give --name or --content"));
            }
            let changed = client.put(&format!("/api/tags/{}", id(tag)?), &Value::Object(body))?;
            told(output, &changed, &format!("@{} is changed", text(&changed, "tag_name")))
        }
        Some(Act::Delete { tag }) => {
            told(output, &client.delete(&format!("/api/tags/{}", id(tag)?))?, "it is deleted")
        }
    }
}

fn list(output: &Output, tags: &Value) -> Result<Exit> {
    if output.json {
        output.value(tags)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["TAG", "NAME", "STANDS FOR"]);
    for tag in items(tags) {
        table.row([short_id(text(tag, "id")), text(tag, "tag_name"), &printable(text(tag, "content"))]);
    }
    if table.is_empty() {
        output.remark("there is no tag; `forge tag add NAME TEXT` adds one");
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}
