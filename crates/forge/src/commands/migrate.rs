//! `forge migrate`: moves the sessions of the older Genie command line here. Recent ones become tasks, old ones go to an
//! archive beside their store, and what was there before is kept byte for byte, so that all of it can be undone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use forge_model::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cli::Globals;
use crate::client::Client;
use crate::commands::run::project;
use crate::exit::{Exit, Failure, Result};
use crate::older_sessions::{self, Older, Session};
use crate::output::{Output, short};
use crate::{autostart, repository, session_state};

/// Sessions that ended longer ago go to the archive.
const RECENT: i64 = 7 * 24 * 60 * 60 * 1000;
/// What is written down about a move, and the archive.
const JOURNAL: &str = ".genie/state/agents/migration.json";
const ARCHIVE: &str = ".genie/state/agents/sessions-archive.json";

/// Move the sessions of the older Genie command line here
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Sessions at work, and those that ended in the last seven days, become tasks; older ones go to \
                  .genie/state/agents/sessions-archive.json.\n\n\
                  Example:\n  forge migrate --dry-run"
)]
pub(crate) struct Args {
    #[command(flatten)]
    act: Act,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Act {
    /// Tell what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do it; the stores are kept beside themselves first
    #[arg(long)]
    execute: bool,
    /// Put the stores back as they were; tasks that were made are listed and stay
    #[arg(long)]
    rollback: bool,
}

/// What is written down about a move, from its beginning on.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Journal {
    /// When it was begun, which is part of the names of what was kept.
    at: String,
    /// Each file that is changed, and where its bytes are kept; null when there was no such file.
    kept: BTreeMap<String, Option<String>>,
    /// The task of each session that has one.
    tasks: BTreeMap<String, String>,
    finished: bool,
}

/// What is to be done with the sessions.
#[derive(Debug, Default)]
struct Plan {
    create: Vec<Session>,
    archive: Vec<Session>,
}

/// What was done, or would be.
#[derive(Debug, Default, Serialize)]
struct Counts {
    processed: usize,
    created: usize,
    archived: usize,
    /// Those that had a task from an earlier try.
    skipped: usize,
    errors: usize,
    warnings: Vec<String>,
    /// Where the stores are kept.
    backups: Vec<String>,
    /// The tasks that were made.
    tasks: Vec<String>,
    dry_run: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let here = repository::find(Path::new("."))?;
    if args.act.rollback {
        return rollback(output, &here.top);
    }
    let older = older_sessions::read(&here.top)?;
    if let Some(journal) = journal(&here.top)?.filter(|journal| journal.finished) {
        return Err(Failure::conflict(format!(
            "the sessions were moved at {}; `forge migrate --rollback` undoes that",
            journal.at
        )));
    }
    if older.stores.is_empty() {
        return Err(Failure::not_found(format!(
            "there is no {} and no {} in {}",
            older_sessions::SESSIONS,
            older_sessions::TASKS,
            here.top.display()
        )));
    }
    let plan = planned(&older, now());
    let mut counts = Counts {
        processed: older.sessions.len() + older.malformed.len(),
        created: plan.create.len(),
        archived: plan.archive.len() + older.malformed.len(),
        dry_run: args.act.dry_run,
        ..Counts::default()
    };
    for (value, why) in &older.malformed {
        counts
            .warnings
            .push(format!("{}: {why}; it goes to the archive", short(&value["key"].to_string(), 60)));
    }
    if !args.act.dry_run {
        let mut client = autostart::connect(globals, output)?;
        let project = project(&client, &here, here.main.is_some())?;
        execute(&mut client, &here.top, &project, &older, &plan, &mut counts)?;
    }
    tell(output, &counts, &plan)?;
    Ok(Exit::Ok)
}

fn tell(output: &Output, counts: &Counts, plan: &Plan) -> Result<()> {
    if output.json {
        return output.value(&json!(counts));
    }
    if counts.dry_run {
        for session in &plan.create {
            output.line(format_args!(
                "task     {}  {}",
                short(&session.id, 40),
                short(&title(session), 60)
            ))?;
        }
        for session in &plan.archive {
            output.line(format_args!("archive  {}", short(&session.id, 40)))?;
        }
    }
    for id in &counts.tasks {
        output.line(format_args!("made task {id}"))?;
    }
    for backup in &counts.backups {
        output.line(format_args!("kept {backup}"))?;
    }
    let (would, Counts { processed, created, archived, skipped, errors, .. }) =
        (if counts.dry_run { "would be " } else { "" }, counts);
    output.line(format_args!(
        "{processed} sessions: {created} {would}created, {archived} {would}archived, {skipped} skipped, {errors} errors"
    ))?;
    for warning in &counts.warnings {
        output.remark(warning);
    }
    Ok(())
}

/// Sorts the sessions: those at work, and those that ended lately, become tasks.
fn planned(older: &Older, now: i64) -> Plan {
    let mut plan = Plan::default();
    for session in &older.sessions {
        let at_work =
            matches!(session.status.as_str(), "running" | "starting" | "pending" | "pending-completion");
        let last = session.last_used.as_deref().unwrap_or(&session.created);
        // A date that cannot be read is no reason to put a session away.
        let is_recent = moment(last).is_none_or(|at| now - at <= RECENT);
        match at_work || is_recent {
            true => plan.create.push(session.clone()),
            false => plan.archive.push(session.clone()),
        }
    }
    plan
}

fn execute(
    client: &mut Client,
    top: &Path,
    project: &Value,
    older: &Older,
    plan: &Plan,
    counts: &mut Counts,
) -> Result<()> {
    let mut journal = match journal(top)? {
        Some(begun) => begun,
        None => begin(top, older)?,
    };
    counts.backups = journal.kept.values().flatten().cloned().collect();
    counts.created = 0;
    // A try that was broken off between a task and its line in the journal is found by what the task says.
    let id = project.as_str().unwrap_or_default();
    let there = client.get(&format!("/api/tasks?project_id={id}"))?;
    for session in &plan.create {
        let mark = mark(session);
        let known = there.as_array().into_iter().flatten().find(|task| {
            task["description"].as_str().is_some_and(|text| text.lines().any(|line| line == mark))
        });
        let known = known.and_then(|task| task["id"].as_str());
        let made = match known.or(journal.tasks.get(&session.id).map(String::as_str)) {
            Some(task) => {
                counts.skipped += 1;
                task.to_string()
            }
            None => {
                let task = create(client, project, session, &mark)?;
                counts.created += 1;
                task
            }
        };
        journal.tasks.insert(session.id.clone(), made);
        keep(top, &journal)?;
    }
    counts.tasks = journal.tasks.values().cloned().collect();
    let mut archive: Vec<Value> = match fs::read(top.join(ARCHIVE)) {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    archive.extend(plan.archive.iter().map(|session| session.value.clone()));
    archive.extend(
        older
            .malformed
            .iter()
            .map(|(value, why)| json!({"key": value["key"], "entry": value["entry"], "malformed": why})),
    );
    if archive.is_empty() && !top.join(ARCHIVE).exists() {
        journal.kept.remove(ARCHIVE);
    } else {
        write(&top.join(ARCHIVE), &json!(archive))?;
    }
    for store in &older.stores {
        let empty = json!({"version": store.version.max(2), "sessions": {}, "migrated": {"at": journal.at, "journal": JOURNAL}});
        write(&store.path, &empty)?;
    }
    journal.finished = true;
    keep(top, &journal)
}

/// Keeps every file that will change, and writes down that a move has begun.
fn begin(top: &Path, older: &Older) -> Result<Journal> {
    let at = Time::from_millis(now()).to_string();
    let suffix: String = at.chars().filter(char::is_ascii_digit).take(14).collect();
    let mut journal = Journal { at, ..Journal::default() };
    let mut files: Vec<(PathBuf, Option<Vec<u8>>)> =
        older.stores.iter().map(|store| (store.path.clone(), Some(store.bytes.clone()))).collect();
    files.push((top.join(ARCHIVE), fs::read(top.join(ARCHIVE)).ok()));
    for (path, bytes) in files {
        let kept = match bytes {
            None => None,
            Some(bytes) => {
                let kept = PathBuf::from(format!("{}.backup-{suffix}", path.display()));
                session_state::replace(&kept, &bytes).map_err(|error| cannot(&kept, &error))?;
                Some(relative(top, &kept))
            }
        };
        journal.kept.insert(relative(top, &path), kept);
    }
    keep(top, &journal)?;
    Ok(journal)
}

fn create(client: &mut Client, project: &Value, session: &Session, mark: &str) -> Result<String> {
    let told = session.prompt.as_deref().unwrap_or_default();
    let executor = session.executor.as_deref().map(|name| format!("\nExecutor: {name}")).unwrap_or_default();
    let created = &session.created;
    let description = format!("{told}\n\nAgent: {}{executor}\nCreated: {created}\n{mark}", session.agent);
    let body =
        json!({"project_id": project, "title": title(session), "description": description.trim_start()});
    let task = client.post("/api/tasks", Some(&body))?;
    let id = task["id"].as_str().unwrap_or_default().to_string();
    let status = match session.status.as_str() {
        "completed" => "done",
        "stopped" => "cancelled",
        "failed" => "inreview",
        // Nothing of it runs here, so it waits to be started.
        _ => return Ok(id),
    };
    client.put(&format!("/api/tasks/{id}"), &json!({"status": status}))?;
    Ok(id)
}

/// The line of a task's description by which it is known again.
fn mark(session: &Session) -> String {
    format!("Moved from Genie session {}", session.id)
}

fn title(session: &Session) -> String {
    let name = session.name.clone().or_else(|| session.prompt.as_deref().map(|prompt| short(prompt, 80)));
    format!("{}: {}", session.agent, name.unwrap_or_else(|| session.id.clone()))
}

fn rollback(output: &Output, top: &Path) -> Result<Exit> {
    let Some(journal) = journal(top)? else {
        return Err(Failure::not_found("nothing was moved here that could be undone"));
    };
    for (file, kept) in &journal.kept {
        let path = top.join(file);
        match kept {
            Some(kept) => {
                let bytes = fs::read(top.join(kept)).map_err(|error| cannot(&top.join(kept), &error))?;
                session_state::replace(&path, &bytes).map_err(|error| cannot(&path, &error))?;
            }
            // There was none, and what is there is what the move made.
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(cannot(&path, &error));
                }
                _ => {}
            },
        }
    }
    let aside = top.join(format!("{JOURNAL}.undone"));
    fs::rename(top.join(JOURNAL), &aside).map_err(|error| cannot(&aside, &error))?;
    if output.json {
        let tasks: Vec<&String> = journal.tasks.values().collect();
        output.value(&json!({"restored": journal.kept.keys().collect::<Vec<_>>(), "tasks": tasks}))?;
        return Ok(Exit::Ok);
    }
    for file in journal.kept.iter().filter(|(_, kept)| kept.is_some()).map(|(file, _)| file) {
        output.line(format_args!("put back {file}"))?;
    }
    for (session, task) in &journal.tasks {
        output.line(format_args!(
            "task {task} of session {session} stays; remove it on the board if it is not wanted"
        ))?;
    }
    Ok(Exit::Ok)
}

fn journal(top: &Path) -> Result<Option<Journal>> {
    let path = top.join(JOURNAL);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        Failure::conflict(format!("{} cannot be read: {error}; what was kept lies beside it", path.display()))
    })
}

fn keep(top: &Path, journal: &Journal) -> Result<()> {
    write(&top.join(JOURNAL), &json!(journal))
}

fn write(path: &Path, value: &Value) -> Result<()> {
    let text = format!("{value:#}\n");
    session_state::replace(path, text.as_bytes()).map_err(|error| cannot(path, &error))
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::conflict(format!("{} could not be kept or put back: {error}", path.display()))
}

fn relative(top: &Path, path: &Path) -> String {
    path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned()
}

fn moment(text: &str) -> Option<i64> {
    text.parse::<Time>().ok().map(Time::millis)
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
