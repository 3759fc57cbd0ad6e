//! Foreign attempts and their runs, as history: each is at rest here, whatever it was doing there.
//!
//! Their worktrees belong to the other product and are not looked at. An attempt that is told more here gets one of
//! ours, made of its branch.

use std::path::PathBuf;

use forge_model::{
    Attempt, AttemptState, Manner, ProfileId, ProjectId, Run, RunKind, RunState, Task, Time, Usage, slug,
};

use super::action::{self, Action};
use super::logs::LogPlace;
use super::report::Tally;
use super::source::{Cells, Source};
use super::tasks::Reader;
use crate::Result;

/// Why a run that was under way there is over here.
const WAS_RUNNING: &str = "it was running when it was imported";

/// An attempt and its runs, oldest first.
#[derive(Debug)]
pub(super) struct FoundAttempt {
    pub(super) attempt: Attempt,
    pub(super) runs: Vec<FoundRun>,
}

/// A run, and where its log lies.
#[derive(Debug)]
pub(super) struct FoundRun {
    pub(super) run: Run,
    pub(super) log: LogPlace,
}

/// What an attempt belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) project: ProjectId,
    pub(super) task: Option<&'a Task>,
}

/// The columns of an attempt, under all their names.
const COLUMNS: &[&str] = &[
    "id",
    "executor",
    "profile",
    "branch",
    "target_branch",
    "base_branch",
    "created_at",
    "updated_at",
    "name",
    "archived",
    "project_id",
    "variant",
    "prompt",
];

/// The columns of a run, under all their names.
const RUN: &[&str] = &[
    "id",
    "run_reason",
    "process_type",
    "status",
    "exit_code",
    "executor_action",
    "dropped",
    "before_head_commit",
    "after_head_commit",
    "started_at",
    "completed_at",
    "created_at",
    "rowid",
    "session_id",
];

/// The table of attempts.
pub(super) fn table(source: &Source) -> &'static str {
    if source.has("workspaces") { "workspaces" } else { "task_attempts" }
}

pub(super) fn rows_of_task(source: &Source, task: &str) -> Result<Vec<Cells>> {
    let mut rows = source.rows_of(table(source), COLUMNS, "task_id", task)?;
    rows.sort_by_key(|row| row[6].time());
    Ok(rows)
}

pub(super) fn row(source: &Source, id: &str) -> Result<Option<Cells>> {
    Ok(source.rows_of(table(source), COLUMNS, "id", id)?.into_iter().next())
}

pub(super) fn loose_row(source: &Source, id: &str) -> Result<Option<Cells>> {
    Ok(source.rows_of("execution_runs", COLUMNS, "id", id)?.into_iter().next())
}

pub(super) fn project_of_loose(row: &Cells) -> Option<String> {
    row[10].id()
}

pub(super) fn name_of(row: &Cells) -> Option<String> {
    row[8].some_text()
}

pub(super) fn branch_of(row: &Cells) -> String {
    row[3].some_text().unwrap_or_else(|| "(no branch)".to_string())
}

pub(super) fn is_archived(row: &Cells) -> bool {
    row[9].flag()
}

pub(super) fn times(row: &Cells) -> (Time, Time) {
    let created = row[6].time().unwrap_or(Time::from_millis(0));
    (created, row[7].time().unwrap_or(created))
}

/// The repository that an attempt's agent works in: the one its sessions name, or the first.
pub(super) fn primary_repo(reader: &Reader<'_>, row: &Cells) -> Result<Option<String>> {
    let Some(id) = row[0].id() else { return Ok(None) };
    let repos = repos_of(reader.source, &id)?;
    let sessions = reader.source.rows_of("sessions", &["agent_working_dir"], "workspace_id", &id)?;
    let named = sessions.iter().filter_map(|session| session[0].some_text()).find_map(|dir| {
        let first = dir.split('/').find(|part| !part.is_empty())?.to_string();
        repos.iter().find(|(repo, _)| reader.repos.get(repo) == Some(&first)).map(|(repo, _)| repo.clone())
    });
    Ok(named.or_else(|| repos.into_iter().next().map(|(repo, _)| repo)))
}

/// The repositories of an attempt, each with its target branch.
fn repos_of(source: &Source, id: &str) -> Result<Vec<(String, Option<String>)>> {
    let (table, column) = match source.has("workspace_repos") {
        true => ("workspace_repos", "workspace_id"),
        false => ("attempt_repos", "attempt_id"),
    };
    let rows = source.rows_of(table, &["repo_id", "target_branch"], column, id)?;
    Ok(rows.into_iter().filter_map(|row| Some((row[0].id()?, row[1].some_text()))).collect())
}

/// Reads an attempt with its runs.
pub(super) fn read(
    reader: &Reader<'_>,
    row: &Cells,
    owner: Owner<'_>,
    tally: &mut Tally,
) -> Result<Option<FoundAttempt>> {
    let Some((text, id)) = row[0].id().and_then(|text| text.parse().ok().map(|id| (text, id))) else {
        tally.skipped("attempts", "a row", "their id cannot be read");
        return Ok(None);
    };
    let (created_at, updated_at) = times(row);
    let repo = primary_repo(reader, row)?;
    let repos = repos_of(reader.source, &text)?;
    if repos.len() > 1 {
        tally.about(
            "These attempts worked in several repositories; they are attempts in the first, and the others are not \
             carried over",
            &branch_of(row),
        );
    }
    let column = row[1].some_text().or_else(|| row[2].some_text());
    let sessions = reader.source.rows_of("sessions", &["id", "executor"], "workspace_id", &text)?;
    if sessions.len() > 1 {
        tally.about(
            "These attempts had several sessions, which are one sequence of runs now",
            &branch_of(row),
        );
    }
    let column = column.or_else(|| sessions.iter().find_map(|session| session[1].some_text()));
    let mut raw = match (owner.task, reader.source.has("sessions")) {
        (None, _) => reader.source.rows_of("execution_processes", RUN, "execution_run_id", &text)?,
        (Some(_), false) => reader.source.rows_of("execution_processes", RUN, "task_attempt_id", &text)?,
        (Some(_), true) => {
            let mut all = Vec::new();
            for session in sessions.iter().filter_map(|session| session[0].id()) {
                all.extend(reader.source.rows_of("execution_processes", RUN, "session_id", &session)?);
            }
            all
        }
    };
    raw.sort_by_key(|run| (run[9].time().or_else(|| run[11].time()), run[12].int()));
    let told: Vec<Told> = raw.iter().map(|run| Told::read(reader.source, run)).collect::<Result<_>>()?;
    let first = told.iter().find_map(|told| told.action.profile.clone());
    let profile = match column {
        Some(column) => {
            let profile = action::profile(&column, row[11].some_text().as_deref());
            // For a while the variant stood only in what the agent was told.
            match first.filter(|first| profile.variant.is_none() && first.agent == profile.agent) {
                Some(first) => first,
                None => profile,
            }
        }
        None => first.unwrap_or_else(|| action::profile("", None)),
    };
    if !action::is_known(&profile) {
        tally.about(
            format!(
                "No agent here is called {}: these attempts can be read, and not gone on with",
                profile.agent
            ),
            &branch_of(row),
        );
    }
    let mut runs = Vec::new();
    for (row, told) in raw.iter().zip(&told) {
        match run(
            reader,
            row,
            told,
            id,
            owner.task.map(|task| task.id),
            &profile,
            repo.as_deref(),
            created_at,
            tally,
        )? {
            Some(found) => runs.push(found),
            None => tally.skipped("runs", &branch_of_text(&text), "their id cannot be read"),
        }
    }
    let of_repo = repo.as_ref().and_then(|repo| repos.iter().find(|(one, _)| one == repo)?.1.clone());
    let target_branch =
        row[4].some_text().or_else(|| row[5].some_text()).or(of_repo).unwrap_or_else(|| "main".to_string());
    let title = owner.task.map(|task| task.title.clone()).unwrap_or_default();
    let prompt =
        runs.iter().find(|found| found.run.kind == RunKind::Agent).map(|found| found.run.prompt.clone());
    let prompt =
        prompt.or_else(|| row[12].some_text()).or_else(|| owner.task.map(Task::prompt)).unwrap_or_default();
    let branch = row[3].some_text().unwrap_or_else(|| format!("forge/{}", name(&text, &title)));
    if branch == target_branch {
        tally.about(
            "The branch of these attempts is their target: they can be read, and not gone on with",
            &title,
        );
    }
    let (state, reason) = state(&runs);
    let attempt = Attempt {
        id,
        project: owner.project,
        task: owner.task.map(|task| task.id),
        profile,
        state,
        reason,
        branch,
        target_branch,
        base_commit: runs.iter().find_map(|found| found.run.before_head.clone()).unwrap_or_default(),
        worktree: reader.worktrees.join(name(&text, &title)),
        worktree_deleted: true,
        in_place: false,
        setup_completed_at: None,
        session: told.iter().rev().find_map(|told| told.session.clone()),
        prompt,
        manner: Manner::default(),
        usage: Usage::default(),
        created_at,
        updated_at,
    };
    Ok(Some(FoundAttempt { attempt, runs }))
}

/// What a worktree of ours would be called. Eight digits tell thousands of the same title apart.
fn name(id: &str, title: &str) -> String {
    let slug = slug::slug(title);
    match slug.is_empty() {
        true => id[..8].to_string(),
        false => format!("{}-{slug}", &id[..8]),
    }
}

fn branch_of_text(id: &str) -> String {
    format!("of attempt {id}")
}

/// What a run was told, from its own row and the row of its conversation.
struct Told {
    action: Action,
    /// The conversation that it had.
    session: Option<String>,
    prompt: Option<String>,
}

impl Told {
    fn read(source: &Source, row: &Cells) -> Result<Self> {
        let action = action::read(&row[5].text().unwrap_or_default());
        let (mut session, mut prompt) = (None, None);
        if let Some(id) = row[0].id() {
            let old = source.rows_of(
                "executor_sessions",
                &["session_id", "prompt"],
                "execution_process_id",
                &id,
            )?;
            let columns = ["agent_session_id", "prompt"];
            let new = source.rows_of("coding_agent_turns", &columns, "execution_process_id", &id)?;
            for row in old.iter().chain(&new) {
                session = row[0].some_text().or(session);
                prompt = prompt.or_else(|| row[1].some_text());
            }
        }
        Ok(Self { action, session, prompt })
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "a run is where everything that is known of its attempt comes together"
)]
fn run(
    reader: &Reader<'_>,
    row: &Cells,
    told: &Told,
    attempt: forge_model::AttemptId,
    task: Option<forge_model::TaskId>,
    profile: &ProfileId,
    repo: Option<&str>,
    fallback: Time,
    tally: &mut Tally,
) -> Result<Option<FoundRun>> {
    let Some((text, id)) = row[0].id().and_then(|text| text.parse().ok().map(|id| (text, id))) else {
        return Ok(None);
    };
    let reason = row[1].some_text().or_else(|| row[2].some_text()).unwrap_or_default();
    let kind = match reason.as_str() {
        "setupscript" => RunKind::Setup,
        "cleanupscript" | "archivescript" => RunKind::Cleanup,
        "devserver" => RunKind::DevServer,
        _ => RunKind::Agent,
    };
    let (state, why) = match row[3].text().unwrap_or_default().as_str() {
        "completed" => (RunState::Completed, None),
        "killed" => (RunState::Killed, None),
        "running" => {
            tally.about(
                "These runs were under way, and have failed here; nothing was started or stopped",
                &text,
            );
            (RunState::Failed, Some(WAS_RUNNING.to_string()))
        }
        _ => (RunState::Failed, None),
    };
    let (mut before, mut after) = (row[7].some_text(), row[8].some_text());
    if let Some(repo) = repo {
        let columns = ["repo_id", "before_head_commit", "after_head_commit"];
        let states = reader.source.rows_of(
            "execution_process_repo_states",
            &columns,
            "execution_process_id",
            &text,
        )?;
        if let Some(state) = states.iter().find(|state| state[0].id().as_deref() == Some(repo)) {
            before = before.or_else(|| state[1].some_text());
            after = after.or_else(|| state[2].some_text());
        }
    }
    let created_at = row[11].time().or_else(|| row[9].time()).unwrap_or(fallback);
    let started_at = row[9].time().unwrap_or(created_at);
    let completed_at = row[10].time().or(Some(started_at).filter(|_| why.is_some()));
    let run = Run {
        id,
        attempt,
        task,
        kind,
        state,
        profile: told.action.profile.clone().unwrap_or_else(|| profile.clone()),
        prompt: told.action.prompt.clone().or_else(|| told.prompt.clone()).unwrap_or_default(),
        resumed_session: told.action.session.clone(),
        forked: false,
        memo: None,
        before_head: before,
        after_head: after,
        exit_code: row[4].int(),
        signal: None,
        reason: why,
        next: None,
        dropped: row[6].flag(),
        log_deleted_at: None,
        started_at,
        completed_at,
        created_at,
        updated_at: completed_at.unwrap_or(started_at),
    };
    let log = log_place(reader, &text, row)?;
    Ok(Some(FoundRun { run, log }))
}

/// Finds a log: a file, or rows of a table, or columns of the run's own row. One that is both a file and a row was
/// being moved, and the file is whole.
fn log_place(reader: &Reader<'_>, run: &str, row: &Cells) -> Result<LogPlace> {
    if let Some(session) = row[13].id() {
        let place =
            PathBuf::from(&session[..2]).join(&session).join("processes").join(format!("{run}.jsonl"));
        let file = reader.data.join("sessions").join(place);
        if file.is_file() {
            return Ok(LogPlace::File(file));
        }
    }
    let mut rows =
        reader.source.rows_of("execution_process_logs", &["rowid", "inserted_at"], "execution_id", run)?;
    if rows.is_empty() {
        let in_columns = reader.source.has_column("execution_processes", "stdout");
        return Ok(match row[12].int().filter(|_| in_columns) {
            Some(row) => LogPlace::Columns(row),
            None => LogPlace::Nowhere,
        });
    }
    // Those of one millisecond stay in the order they have.
    rows.sort_by_key(|row| row[1].time());
    Ok(LogPlace::Rows(rows.iter().filter_map(|row| row[0].int()).collect()))
}

/// What an attempt has come to: as its newest run that counts.
fn state(runs: &[FoundRun]) -> (AttemptState, Option<String>) {
    let newest = runs.iter().rev().find(|found| !found.run.dropped && found.run.kind != RunKind::DevServer);
    let Some(FoundRun { run, .. }) = newest else {
        return (AttemptState::Stopped, Some("it had no run when it was imported".to_string()));
    };
    match run.state {
        RunState::Completed => (AttemptState::Finished, None),
        RunState::Killed => (AttemptState::Stopped, None),
        _ => (AttemptState::Failed, run.reason.clone()),
    }
}
