//! `forge image`: pictures that tasks show to their agents.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::Value;

use crate::cli::Globals;
use crate::client::Client;
use crate::commands::gc::in_words;
use crate::commands::project::told;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::table::{Table, items, text};
use crate::wire::short_id;
use crate::{autostart, ids, named};

/// Keep pictures for tasks, and get them back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge image add screenshot.png --task 6a0c\n  forge image list 6a0c")]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Keep a picture, for a task or for one to come
    Add {
        file: PathBuf,
        /// Give it to this task
        #[arg(long)]
        task: Option<String>,
    },
    /// List the pictures of a task
    List { task: String },
    /// Get the bytes of a picture by its whole id
    Get {
        image: String,
        /// Write them to this file instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Delete a picture by its whole id
    Delete { image: String },
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    match &args.act {
        Act::Add { file, task } => {
            let task = task.as_ref().map(|typed| named::task(&client, typed)).transpose()?;
            let kept = add(&client, file, task.as_ref().map(|task| text(task, "id")))?;
            told(output, &kept, text(&kept, "id"))
        }
        Act::List { task } => list(&client, output, task),
        Act::Get { image, output: file } => get(&client, output, image, file.as_deref()),
        Act::Delete { image } => {
            let gone = client.delete(&format!("/api/images/{}", whole(image)?))?;
            told(output, &gone, "the picture is deleted")
        }
    }
}

/// Keeps a picture on the server, for a task if one is named.
pub(crate) fn add(client: &Client, file: &Path, task: Option<&str>) -> Result<Value> {
    let shown = file.display();
    let bytes =
        fs::read(file).map_err(|error| Failure::invalid(format!("could not read {shown}: {error}")))?;
    let name = file.file_name().map_or_else(|| "image".into(), |name| name.to_string_lossy());
    match task {
        Some(task) => client.upload(&format!("/api/images/task/{task}/upload"), &name, &bytes),
        None => client.upload("/api/images/upload", &name, &bytes),
    }
}

fn list(client: &Client, output: &Output, typed: &str) -> Result<Exit> {
    let task = named::task(client, typed)?;
    let images = client.get(&format!("/api/images/task/{}", text(&task, "id")))?;
    if output.json {
        output.value(&images)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["IMAGE", "SIZE", "NAME"]);
    for image in items(&images) {
        let size = in_words(image["size_bytes"].as_u64().unwrap_or_default());
        table.row([text(image, "id"), &size, text(image, "original_name")]);
    }
    if table.is_empty() {
        output.remark(format_args!("task {} has no pictures", short_id(text(&task, "id"))));
        return Ok(Exit::Ok);
    }
    table.print(output)?;
    Ok(Exit::Ok)
}

fn get(client: &Client, output: &Output, typed: &str, file: Option<&Path>) -> Result<Exit> {
    if file.is_none() && io::stdout().is_terminal() {
        return Err(Failure::invalid("a terminal shows no pictures; name a file with --output"));
    }
    let mut bytes = Vec::new();
    let mut reader = client.download(&format!("/api/images/{}/file", whole(typed)?))?;
    reader
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::away(format!("the picture broke off: {error}")))?;
    match file {
        None => output.write(&bytes)?,
        Some(path) => {
            let written = fs::File::create(path).and_then(|mut file| file.write_all(&bytes));
            written
                .map_err(|error| Failure::invalid(format!("could not write {}: {error}", path.display())))?;
        }
    }
    Ok(Exit::Ok)
}

fn whole(typed: &str) -> Result<String> {
    ids::whole(typed).ok_or_else(|| {
        Failure::invalid(format!(
            "{typed:?} is not the whole id of a picture; `forge image list TASK` shows them"
        ))
    })
}
