//! `forge rules`: what the agents of a project may do without asking, or not at all.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::cli::Globals;
use crate::commands::run::known_project;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::{autostart, repository};

/// Show and change what a project's agents may do without asking, or not at all
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The first rule that fits counts; where none fits, you are asked. A command is allowed by its first \
                  words, and only as a single command: `git status; rm x` is asked.\n\n\
                  Example:\n  forge rules add allow read-only\n  forge rules add allow command \"git status\"\n  \
                  forge rules add deny tool WebFetch --at 1\n  forge rules remove 2"
)]
pub(crate) struct Args {
    /// The project whose repository holds this directory
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    project: PathBuf,
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show the rules, in their order
    List,
    /// Add a rule at the end, or at a place
    Add {
        effect: Effect,
        about: About,
        /// The first words of a command, or the name of a tool; `*` at its end stands for the rest
        pattern: Option<String>,
        /// Put it at this place, counted from 1
        #[arg(long, value_name = "PLACE")]
        at: Option<usize>,
    },
    /// Remove the rule at a place, counted from 1
    Remove { place: usize },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Effect {
    Allow,
    Deny,
    Ask,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum About {
    /// Tools that only read, below the worktree
    ReadOnly,
    /// A command by its first words
    Command,
    /// A tool by its name
    Tool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let repository = repository::find(&args.project)?;
    let client = autostart::connect(globals, output)?;
    let known = match known_project(&client, &repository.top)? {
        Some(id) => Some(id),
        None => repository.main.as_ref().map(|main| known_project(&client, main)).transpose()?.flatten(),
    };
    let project = known.as_ref().and_then(Value::as_str).ok_or_else(|| {
        Failure::not_found(format!(
            "{} is no project yet; `forge run` makes it one",
            repository.top.display()
        ))
    })?;
    let path = format!("/api/projects/{project}/rules");
    let rules = client.get(&path)?;
    let mut rules = rules.as_array().cloned().unwrap_or_default();
    let rules = match &args.act {
        None | Some(Act::List) => Value::Array(rules),
        Some(Act::Add { effect, about, pattern, at }) => {
            let place = at.map_or(rules.len(), |at| at.saturating_sub(1).min(rules.len()));
            rules.insert(place, rule(*effect, *about, pattern.as_deref()));
            client.put(&path, &json!({"rules": rules}))?
        }
        Some(Act::Remove { place }) => {
            if *place == 0 || *place > rules.len() {
                return Err(Failure::not_found(format!(
                    "there is no rule {place}; `forge rules` shows them all"
                )));
            }
            rules.remove(place - 1);
            client.put(&path, &json!({"rules": rules}))?
        }
    };
    if output.json {
        output.value(&rules)?;
        return Ok(Exit::Ok);
    }
    let rules = rules.as_array().map_or(&[][..], Vec::as_slice);
    for (at, rule) in rules.iter().enumerate() {
        output.line(format_args!("{:>3}  {}", at + 1, rule["text"].as_str().unwrap_or_default()))?;
    }
    output.remark(match rules.is_empty() {
        true => "there are no rules: you are asked whatever the agents ask",
        false => "whatever else the agents ask, you are asked",
    });
    Ok(Exit::Ok)
}

fn rule(effect: Effect, about: About, pattern: Option<&str>) -> Value {
    let effect = match effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
        Effect::Ask => "ask",
    };
    let about = match about {
        About::ReadOnly => "read_only",
        About::Command => "command",
        About::Tool => "tool",
    };
    json!({"effect": effect, "about": about, "pattern": pattern})
}
