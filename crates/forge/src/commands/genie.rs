//! The command line under its older name, `genie`: the first word is the agent, the rest is what it is told. It is a
//! face of the same commands; it keeps nothing of its own, and the id of a session is the id of an attempt.

use std::path::Path;
use std::time::Instant;

use clap::{Parser, Subcommand};
use serde_json::{Value, json};

use crate::cli::Globals;
use crate::commands::run::{Beginning, Begun, begin};
use crate::commands::{hooks, link, list, migrate, resume, state, status, stop, trace, view};
use crate::exit::{Exit, Failure, Result};
use crate::follow::{self, Wishes};
use crate::output::Output;
use crate::{autostart, ids, prompt};

/// What the title of a task begins with, so that it is seen where it comes from.
const MARK: &str = "[🧞]";
/// How many words of a prompt make a title.
const TITLE_WORDS: usize = 6;
/// Words that say nothing in a title.
const SMALL_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "has", "have", "i", "in",
    "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please", "so", "that", "the", "then",
    "this", "to", "was", "we", "will", "with", "you", "your",
];
/// Commands of the older tool that set that tool up; there is nothing of it here to set up.
const RETIRED: &[&str] =
    &["init", "update", "rollback", "model", "dashboard", "talk", "helper", "cleanup", "statusline"];

/// The command line as `genie` has it.
#[derive(Debug, Parser)]
#[command(
    name = "genie",
    version,
    arg_required_else_help = true,
    about = "Run agents by name: the first word is the agent, the rest is what it is told",
    after_help = "Example:\n  genie run reviewer look at the last commit"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start an agent; it is left running, and its id is printed
    Run(Start),
    /// Start an agent and print what became of that as JSON; `task monitor ID` follows one
    Task(Start),
    /// Go on with a session
    Resume(resume::Args),
    /// List sessions, agents or tasks
    List(list::Args),
    /// Show a session
    View(view::Args),
    /// Stop a session
    Stop(stop::Args),
    /// Show where the server is and what runs
    Status(status::Args),
    /// Write SESSION-STATE.md
    State(state::Args),
    /// Link this worktree to its wish
    Link(link::Args),
    /// Set the hook up that links commits
    Hooks(hooks::Args),
    /// Show where a commit comes from
    Trace(trace::Args),
    /// Move the sessions of older versions here
    Migrate(migrate::Args),
    #[command(external_subcommand)]
    Agent(Vec<String>),
}

/// Start an agent
#[derive(Debug, clap::Args)]
pub(crate) struct Start {
    /// Leave it running; that is what happens anyway unless its file says otherwise
    #[arg(short, long)]
    background: bool,
    /// Follow it to its end
    #[arg(long, conflicts_with = "background")]
    wait: bool,
    /// What to call the task
    #[arg(short, long)]
    name: Option<String>,
    /// The agent of Forge that plays it, where it is not the one its file names
    #[arg(short = 'x', short_alias = 'e', long)]
    executor: Option<String>,
    /// The model: that of its file, or of a variant of an agent of Forge
    #[arg(short, long)]
    model: Option<String>,
    /// Print the id alone
    #[arg(long)]
    raw: bool,
    /// Print no hints
    #[arg(long)]
    quiet: bool,
    /// The agent
    agent: String,
    /// What it is told
    #[arg(required = true)]
    prompt: Vec<String>,
}

impl Cli {
    /// Does what was typed.
    pub(crate) fn run(&self) -> Result<Exit> {
        let globals = &self.globals;
        let output = &Output::new(globals.json);
        match &self.command {
            Command::Run(start) => run(globals, output, start),
            Command::Task(start) if start.agent == "monitor" => {
                monitor(globals, output, &start.prompt.join(" "))
            }
            Command::Task(start) => task(globals, output, start),
            Command::Resume(args) => resume::run(globals, output, args),
            // The newer tool says tasks for what the older one called sessions.
            Command::List(args) if args.what == Some(list::What::Tasks) => {
                list::attempts(globals, output, args.running, None)
            }
            Command::List(args) => list::run(globals, output, args),
            Command::View(args) => view::run(globals, output, args),
            Command::Stop(args) => stop::run(globals, output, args),
            Command::Status(args) => status::run(globals, output, args),
            Command::State(args) => state::run(globals, output, args),
            Command::Link(args) => link::run(globals, output, args),
            Command::Hooks(args) => hooks::run(globals, output, args),
            Command::Trace(args) => trace::run(globals, output, args),
            Command::Migrate(args) => migrate::run(globals, output, args),
            Command::Agent(words) => by_name(globals, output, words),
        }
    }
}

/// `genie reviewer look at it`: an agent by its name alone.
fn by_name(globals: &Globals, output: &Output, words: &[String]) -> Result<Exit> {
    let Some((agent, prompt)) = words.split_first() else {
        return Err(Failure::invalid("name an agent and what it is told"));
    };
    if RETIRED.contains(&agent.as_str()) {
        return Err(Failure::invalid(format!(
            "`genie {agent}` set the older tool up, and there is nothing of it to set up here; agents are files below \
             .genie, and `forge agents` shows what they run on"
        )));
    }
    if prompt.is_empty() {
        return Err(Failure::invalid(format!("say what {agent} is to do: genie {agent} \"PROMPT\"")));
    }
    let start = Start {
        background: false,
        wait: false,
        name: None,
        executor: None,
        model: None,
        raw: false,
        quiet: false,
        agent: agent.clone(),
        prompt: prompt.to_vec(),
    };
    run(globals, output, &start)
}

fn run(globals: &Globals, output: &Output, start: &Start) -> Result<Exit> {
    let Begun { client, value, attempt, meant } = started(globals, output, start)?;
    let follows = start.wait || (meant.background == Some(false) && !start.background && !start.raw);
    if !follows {
        match (output.json, start.raw) {
            (true, _) => output.value(&value)?,
            (false, true) => output.line(&attempt.id)?,
            (false, false) => {
                let id = &attempt.id;
                output.line(format_args!("Session ID: {id}"))?;
                if !start.quiet {
                    output.line(format_args!("  View:   genie view {id}"))?;
                    output.line(format_args!("  Resume: genie resume {id} \"PROMPT\""))?;
                    output.line(format_args!("  Stop:   genie stop {id}"))?;
                }
            }
        }
        return Ok(Exit::Ok);
    }
    output.remark(format_args!("Session ID: {}", attempt.id));
    let wishes = Wishes { logs: !output.json, raw: false, answer_here: true, until_ask: false };
    let followed = follow::follow(&client, output, &attempt.id, wishes)?;
    if output.json {
        output.value(&followed.value)?;
    }
    Ok(followed.exit)
}

/// Starts an agent and tells what became of that as JSON, also when nothing did.
fn task(globals: &Globals, output: &Output, start: &Start) -> Result<Exit> {
    let begun = match started(globals, output, start) {
        Ok(begun) => begun,
        Err(failure) => {
            let hint = if failure.exit == Exit::Away { "forge serve" } else { "genie list agents" };
            output.remark(json!({"error": failure.message, "hint": hint}));
            return Ok(Exit::AttemptFailed);
        }
    };
    if start.raw {
        output.line(&begun.attempt.id)?;
        return Ok(Exit::Ok);
    }
    let mut told = json!({
        "task_id": begun.attempt.id,
        "task_url": view::page(begun.client.url(), &begun.value),
        "agent": begun.meant.name,
        "executor": executor(&begun.value),
        "status": "started",
        "message": format!("{} was started; `genie view {}` shows it", begun.meant.name, begun.attempt.short()),
    });
    if let Some(model) = &begun.meant.model {
        told["model"] = json!(model);
    }
    output.value(&told)?;
    Ok(Exit::Ok)
}

/// Follows a session to its end, shows what it does on standard error, and tells how it ended as JSON.
fn monitor(globals: &Globals, output: &Output, typed: &str) -> Result<Exit> {
    let began = Instant::now();
    let client = autostart::connect(globals, output)?;
    let attempt = ids::attempt(&client, typed)?;
    let followed = follow::follow(&client, output, &attempt.id, Wishes::default())?;
    let entries = client.get(&format!("/api/task-attempts/{}/entries?limit=20", attempt.id))?;
    let said = |entry: &&Value| entry["entry"]["entry_type"]["type"] == "assistant_message";
    let last = entries["entries"].as_array().into_iter().flatten().rev().find(said);
    let ended_well = followed.exit == Exit::Ok;
    let mut told = json!({
        "task_url": view::page(client.url(), &followed.value),
        "result": last.map_or(Value::Null, |entry| entry["entry"]["content"].clone()),
        "status": if ended_well { "completed" } else { followed.attempt.state.as_str() },
        "duration_ms": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        "attempt_id": attempt.id,
    });
    if !ended_well {
        told["error"] = json!(follow::ending(&followed.attempt));
    }
    output.value(&told)?;
    Ok(if ended_well { Exit::Ok } else { Exit::AttemptFailed })
}

fn started(globals: &Globals, output: &Output, start: &Start) -> Result<Begun> {
    let prompt = prompt::read(&start.prompt.join(" "))?;
    let title = title(start.name.as_deref(), &prompt);
    begin(
        globals,
        output,
        &Beginning {
            project: Path::new("."),
            base: None,
            agent: &start.agent,
            player: start.executor.as_deref(),
            model: start.model.as_deref(),
            prompt: &prompt,
            title: Some(title),
            yes: false,
            resume_when_limited: false,
            fork: None,
        },
    )
}

/// `KEY:VARIANT`, the way the newer tool writes it.
fn executor(attempt: &Value) -> String {
    let profile = &attempt["executor_profile_id"];
    let text = |key: &str, without: &str| profile[key].as_str().unwrap_or(without).to_string();
    format!("{}:{}", text("executor", ""), text("variant", "DEFAULT"))
}

/// The title of a task: its name, or the first words of the prompt that say something.
fn title(name: Option<&str>, prompt: &str) -> String {
    if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
        return format!("{MARK} {name}");
    }
    let words = prompt.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.map(str::to_lowercase).filter(|word| !SMALL_WORDS.contains(&word.as_str()));
    let words: Vec<String> = words.take(TITLE_WORDS).collect();
    match words.is_empty() {
        true => format!("{MARK} session"),
        false => format!("{MARK} {}", words.join("-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_name_or_six_words_that_say_something() {
        assert_eq!(title(Some("mine"), "x"), "[🧞] mine");
        assert_eq!(
            title(None, "Please fix the login bug in the new auth module, and then test it well"),
            "[🧞] fix-login-bug-new-auth-module"
        );
        assert_eq!(title(None, "the a of"), "[🧞] session");
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
