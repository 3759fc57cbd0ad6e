//! The command line as it is typed. What the words mean is in `commands`, one file a verb.

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    agents, answer, api, approve, asks, attempt, backup, completions, config, deny, diff, disk, doctor,
    events, findings, follow_up, gc, github, hooks, image, import, link, list, logs, man, mcp, migrate,
    notices, project, queue, recover, restore, resume, rules, run, serve, snapshots, state, status, stop,
    tag, task, template, top, trace, trust, usage, view, wait,
};
use crate::exit::{Exit, Result};
use crate::output::Output;

/// Run many coding agents on your git repositories, each on a branch and in a worktree of its own.
#[derive(Debug, Parser)]
#[command(
    name = "forge",
    version,
    arg_required_else_help = true,
    after_help = "Example:\n  forge run --agent CLAUDE_CODE \"Make the tests pass\""
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Globals {
    /// Print JSON: one value, a list as an array; a stream prints one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Talk to the server at this URL
    #[arg(long, global = true, value_name = "URL", conflicts_with_all = ["host", "port"])]
    pub(crate) url: Option<String>,
    /// Talk to the server at this host; with `serve`, listen on this IP address
    #[arg(long, global = true, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Talk to the server at this port; with `serve`, listen on it (0 takes any free one)
    #[arg(long, short, global = true, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Keep data in this directory instead of FORGE_HOME
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    List(list::Args),
    Status(status::Args),
    Logs(logs::Args),
    Diff(diff::Args),
    Wait(wait::Args),
    Stop(stop::Args),
    FollowUp(follow_up::Args),
    #[command(after_help = "Example:\n  forge merge 6a0c2f1e --wait")]
    Merge(attempt::landing::Merge),
    #[command(after_help = "Example:\n  forge rebase 6a0c2f1e")]
    Rebase(attempt::landing::Rebase),
    #[command(after_help = "Example:\n  forge push 6a0c2f1e")]
    Push(attempt::landing::Push),
    Top(top::Args),
    Resume(resume::Args),
    View(view::Args),
    Asks(asks::Args),
    Answer(answer::Args),
    Approve(approve::Args),
    Deny(deny::Args),
    Queue(queue::Args),
    Rules(rules::Args),
    Project(project::Args),
    Task(task::Args),
    Attempt(attempt::Args),
    Image(image::Args),
    Tag(tag::Args),
    Template(template::Args),
    Snapshots(snapshots::Args),
    Restore(restore::Args),
    Findings(findings::Args),
    Recover(recover::Args),
    Import(import::Args),
    Serve(serve::Args),
    Doctor(doctor::Args),
    Agents(agents::Args),
    Config(config::Args),
    Github(github::Args),
    Notices(notices::Args),
    Trust(trust::Args),
    Usage(usage::Args),
    Disk(disk::Args),
    Gc(gc::Args),
    Backup(backup::Args),
    State(state::Args),
    Link(link::Args),
    Hooks(hooks::Args),
    Trace(trace::Args),
    Migrate(migrate::Args),
    Mcp(mcp::Args),
    Events(events::Args),
    Api(api::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// What the commands are for, in the order of the help: the common ones first. Every command is in one group.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Work with agents",
        &[
            "run",
            "list",
            "status",
            "logs",
            "diff",
            "wait",
            "stop",
            "follow-up",
            "merge",
            "rebase",
            "push",
            "top",
            "resume",
            "view",
        ],
    ),
    ("Answer them", &["asks", "answer", "approve", "deny", "queue", "rules"]),
    ("Projects, tasks and attempts", &["project", "task", "attempt", "image", "tag", "template", "import"]),
    ("Go back", &["snapshots", "restore", "findings", "recover"]),
    (
        "The server and this machine",
        &[
            "serve", "doctor", "agents", "config", "github", "notices", "trust", "usage", "disk", "gc",
            "backup",
        ],
    ),
    ("Commits and the Genie workflow", &["state", "link", "hooks", "trace", "migrate"]),
    ("For programs and shells", &["mcp", "events", "api", "completions", "man"]),
];

/// Reads the command line of this process; help, mistakes and the version end it here.
pub(crate) fn parse() -> Cli {
    let matches = command().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Returns the whole command line, its help in groups.
pub(crate) fn command() -> clap::Command {
    let root = Cli::command();
    let groups = grouped(&root);
    root.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options of every command:\n{{options}}{{after-help}}"
    ))
}

fn grouped(root: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {:<12} {about}\n", command.get_name()));
        }
        text.push('\n');
    }
    text
}

impl Cli {
    /// Does what was typed.
    pub(crate) fn run(&self) -> Result<Exit> {
        let globals = &self.globals;
        let output = &Output::new(globals.json);
        match &self.command {
            Command::Run(args) => run::run(globals, output, args),
            Command::List(args) => list::run(globals, output, args),
            Command::Status(args) => status::run(globals, output, args),
            Command::Logs(args) => logs::run(globals, output, args),
            Command::Diff(args) => diff::run(globals, output, args),
            Command::Wait(args) => wait::run(globals, output, args),
            Command::Stop(args) => stop::run(globals, output, args),
            Command::FollowUp(args) => follow_up::run(globals, output, args),
            Command::Merge(args) => attempt::merge(globals, output, args),
            Command::Rebase(args) => attempt::rebase(globals, output, args),
            Command::Push(args) => attempt::push(globals, output, args),
            Command::Top(args) => top::run(globals, output, args),
            Command::Resume(args) => resume::run(globals, output, args),
            Command::View(args) => view::run(globals, output, args),
            Command::Asks(args) => asks::run(globals, output, args),
            Command::Answer(args) => answer::run(globals, output, args),
            Command::Approve(args) => approve::run(globals, output, args),
            Command::Deny(args) => deny::run(globals, output, args),
            Command::Queue(args) => queue::run(globals, output, args),
            Command::Rules(args) => rules::run(globals, output, args),
            Command::Project(args) => project::run(globals, output, args),
            Command::Task(args) => task::run(globals, output, args),
            Command::Attempt(args) => attempt::run(globals, output, args),
            Command::Image(args) => image::run(globals, output, args),
            Command::Tag(args) => tag::run(globals, output, args),
            Command::Template(args) => template::run(globals, output, args),
            Command::Snapshots(args) => snapshots::run(globals, output, args),
            Command::Restore(args) => restore::run(globals, output, args),
            Command::Findings(args) => findings::run(globals, output, args),
            Command::Recover(args) => recover::run(globals, output, args),
            Command::Serve(args) => serve::run(globals, output, args),
            Command::Doctor(args) => doctor::run(globals, output, args),
            Command::Agents(args) => agents::run(globals, output, args),
            Command::Config(args) => config::run(globals, output, args),
            Command::Github(args) => github::run(globals, output, args),
            Command::Notices(args) => notices::run(globals, output, args),
            Command::Trust(args) => trust::run(globals, output, args),
            Command::Usage(args) => usage::run(globals, output, args),
            Command::Disk(args) => disk::run(globals, output, args),
            Command::Gc(args) => gc::run(globals, output, args),
            Command::Backup(args) => backup::run(globals, output, args),
            Command::Import(args) => import::run(globals, output, args),
            Command::Mcp(args) => mcp::run(globals, output, args),
            Command::Events(args) => events::run(globals, output, args),
            Command::Api(args) => api::run(globals, output, args),
            Command::Completions(args) => completions::run(output, args),
            Command::Man(args) => man::run(output, args),
            Command::State(args) => state::run(globals, output, args),
            Command::Link(args) => link::run(globals, output, args),
            Command::Hooks(args) => hooks::run(globals, output, args),
            Command::Trace(args) => trace::run(globals, output, args),
            Command::Migrate(args) => migrate::run(globals, output, args),
        }
    }
}

#[cfg(test)]
mod page;

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_exactly_one_group_of_the_help() {
        let grouped: Vec<&str> = super::GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let root = super::Cli::command();
        let mut seen = std::collections::BTreeSet::new();
        for name in &grouped {
            assert!(seen.insert(*name), "{name} is in two groups");
            assert!(root.find_subcommand(name).is_some(), "there is no command {name}");
        }
        for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(seen.contains(command.get_name()), "{} is in no group of the help", command.get_name());
        }
    }
}
