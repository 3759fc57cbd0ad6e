//! `forge trust`: lets the filters that a repository's own config defines run for its project, or no longer.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::Globals;
use crate::commands::run::project;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::{autostart, repository};

/// Let the filters that a repository's own config defines run, as git-crypt needs it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Look at them first:\n  git config --get-regexp '^filter\\.'\n\nExample:\n  forge trust ~/code/shop"
)]
pub(crate) struct Args {
    /// The repository
    #[arg(value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Take the trust back
    #[arg(long)]
    no_longer: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let repository = repository::find(&args.project)?;
    let client = autostart::connect(globals, output)?;
    let id = project(&client, &repository, true)?;
    let id = id.as_str().ok_or_else(|| Failure::away("the server names no project"))?;
    let changed = client.put(&format!("/api/projects/{id}"), &json!({"trust_filters": !args.no_longer}))?;
    if output.json {
        output.value(&changed)?;
        return Ok(Exit::Ok);
    }
    let path = changed["git_repo_path"].as_str().unwrap_or_default();
    output.line(match changed["trust_filters"].as_bool() {
        Some(true) => format!("the filters of {path} run from now on"),
        _ => format!("the filters of {path} do not run any more"),
    })?;
    Ok(Exit::Ok)
}
