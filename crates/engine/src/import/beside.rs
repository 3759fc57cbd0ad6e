//! What lies beside foreign attempts: drafts, merges, pull requests, standing agents and notes.
//!
//! A draft that waited to be sent arrives as one that does not: importing never starts an agent.

use std::collections::{HashMap, HashSet};

use forge_model::{
    AttemptId, Draft, DraftKind, ImageId, Merge, MergeKind, PullRequest, PullRequestStatus, StandingAgent,
    Time,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::cell::Cell;
use super::projects::ProjectMap;
use super::report::Tally;
use super::source::Source;
use super::tasks::Reader;
use crate::Result;

/// Reads the drafts that somebody wrote, each with the key it is known by.
pub(super) fn drafts(
    reader: &Reader<'_>,
    images: &HashMap<String, ImageId>,
    tally: &mut Tally,
) -> Result<Vec<(String, Draft)>> {
    let source = reader.source;
    let columns = [
        "task_attempt_id",
        "draft_type",
        "retry_process_id",
        "prompt",
        "queued",
        "variant",
        "image_ids",
        "version",
        "created_at",
        "updated_at",
    ];
    let mut all: Vec<Draft> = Vec::new();
    let mut rows = source.rows("drafts", &columns)?;
    rows.extend(source.rows("follow_up_drafts", &columns)?);
    for row in rows {
        let Some(prompt) = row[3].some_text() else { continue };
        let Some(attempt) = row[0].id().filter(|id| reader.known.contains(id)) else {
            tally.skipped("drafts", &prompt, "their attempt is missing");
            continue;
        };
        let kind =
            if row[1].text().as_deref() == Some("retry") { DraftKind::Retry } else { DraftKind::FollowUp };
        let Ok(attempt) = attempt.parse::<AttemptId>() else { continue };
        let at = row[8].time().unwrap_or(Time::from_millis(0));
        if row[4].flag() {
            tally
                .about("These drafts waited to be sent; they are drafts here, and nothing was sent", &prompt);
        }
        let named: Option<Vec<String>> = row[6].text().and_then(|text| serde_json::from_str(&text).ok());
        all.push(Draft {
            retry: row[2].id().and_then(|id| id.parse().ok()),
            prompt: reader.with_images(&prompt),
            variant: row[5].some_text(),
            images: named
                .map(|ids| ids.iter().filter_map(|id| images.get(&id.to_lowercase()).copied()).collect()),
            version: row[7].int().unwrap_or(1).max(1),
            updated_at: row[9].time().unwrap_or(at),
            ..Draft::empty(attempt, kind, at)
        });
    }
    all.extend(from_scratch(reader, tally)?);
    let mut seen = HashSet::new();
    Ok(all
        .into_iter()
        .map(|draft| (crate::store::drafts::name(draft.attempt, draft.kind), draft))
        // An attempt has one of each kind; several sessions could have more.
        .filter(|(key, _)| seen.insert(key.clone()))
        .collect())
}

/// Drafts of newer releases are kept by the session they are for.
fn from_scratch(reader: &Reader<'_>, tally: &mut Tally) -> Result<Vec<Draft>> {
    let mut all = Vec::new();
    for row in scratch(reader.source, "DRAFT_FOLLOW_UP")? {
        let data = &row.data;
        let Some(prompt) = data.get("message").and_then(Value::as_str).filter(|text| !text.trim().is_empty())
        else {
            continue;
        };
        let sessions = reader.source.rows_of("sessions", &["workspace_id"], "id", &row.id)?;
        let attempt = sessions.first().and_then(|session| session[0].id());
        let Some(attempt) = attempt.and_then(|id| id.parse::<AttemptId>().ok()) else {
            tally.skipped("drafts", prompt, "their attempt is missing");
            continue;
        };
        let named = ["executor_config", "executor_profile_id"].iter().find_map(|key| data.get(*key));
        let variant = named.and_then(|config| config.get("variant")).or_else(|| data.get("variant"));
        all.push(Draft {
            prompt: reader.with_images(prompt),
            variant: variant.and_then(Value::as_str).map(str::to_string),
            version: 1,
            updated_at: row.updated_at,
            ..Draft::empty(attempt, DraftKind::FollowUp, row.created_at)
        });
    }
    Ok(all)
}

/// Something that a newer release noted down.
struct Scratch {
    id: String,
    data: Value,
    created_at: Time,
    updated_at: Time,
}

fn scratch(source: &Source, kind: &str) -> Result<Vec<Scratch>> {
    let columns = ["id", "scratch_type", "payload", "created_at", "updated_at"];
    let rows = source.rows("scratch", &columns)?;
    let of_kind = rows.into_iter().filter(|row| row[1].text().as_deref() == Some(kind));
    Ok(of_kind
        .filter_map(|row| {
            let payload: Value = serde_json::from_str(&row[2].text()?).ok()?;
            let created_at = row[3].time().unwrap_or(Time::from_millis(0));
            let updated_at = row[4].time().unwrap_or(created_at);
            Some(Scratch { id: row[0].id()?, data: payload.get("data")?.clone(), created_at, updated_at })
        })
        .collect())
}

/// Reads notes by the attempt they were written beside.
pub(super) fn notes(source: &Source) -> Result<HashMap<String, String>> {
    let notes = scratch(source, "WORKSPACE_NOTES")?.into_iter().filter_map(|row| {
        let text = row.data.get("content").and_then(Value::as_str)?.trim().to_string();
        Some((row.id, text)).filter(|(_, text)| !text.is_empty())
    });
    Ok(notes.collect())
}

/// Counts drafts of tasks and the like, which have no place here.
pub(super) fn left_behind(source: &Source, tally: &mut Tally) -> Result<()> {
    for kind in ["DRAFT_TASK", "DRAFT_WORKSPACE", "DRAFT_ISSUE"] {
        let count = scratch(source, kind)?.len();
        if count > 0 {
            tally.note(format!("{count} unfinished new task(s) ({kind}) were not carried over."));
        }
    }
    let counted = [
        ("forge_omni_notifications", "notifications that were sent"),
        ("migration_state", "notes about a move to its cloud"),
    ];
    for (table, what) in counted {
        let count = source.count(table)?;
        if count > 0 {
            tally.note(format!("{count} {what} were not carried over."));
        }
    }
    let settings = source.rows("forge_global_settings", &["forge_config"])?;
    if settings.iter().any(|row| row[0].text().is_some_and(|text| text.contains("api_key"))) {
        tally.note("Settings of Omni notifications were not carried over: they hold a secret.");
    }
    Ok(())
}

/// Reads merges and pull requests, each with the key it is known by.
pub(super) fn merges(
    source: &Source,
    known: &HashSet<String>,
    tally: &mut Tally,
) -> Result<Vec<(String, Merge)>> {
    let columns = [
        "id",
        "task_attempt_id",
        "workspace_id",
        "merge_type",
        "merge_commit",
        "pr_number",
        "pr_url",
        "pr_status",
        "pr_merged_at",
        "pr_merge_commit_sha",
        "target_branch_name",
        "created_at",
    ];
    let mut all = Vec::new();
    for row in source.rows("merges", &columns)? {
        let attempt = row[1].id().or_else(|| row[2].id());
        let is_request = row[3].text().as_deref() == Some("pr");
        let kind = if is_request { "pull requests" } else { "merges" };
        let name = if is_request { row[6].text() } else { row[4].text() }.unwrap_or_default();
        let how = match is_request {
            true => request(&row[5], &row[6], &row[7], &row[8], &row[9]),
            false => row[4].some_text().map(|commit| MergeKind::Direct { commit, tip: None }),
        };
        let key = row[0].id();
        all.extend(merge(key, attempt, how, &row[10], &row[11], known, (kind, &name), tally));
    }
    let columns = [
        "id",
        "workspace_id",
        "pr_number",
        "pr_url",
        "pr_status",
        "merged_at",
        "merge_commit_sha",
        "target_branch_name",
        "created_at",
    ];
    for row in source.rows("pull_requests", &columns)? {
        let name = row[3].text().unwrap_or_default();
        if row[1].id().is_none() {
            tally.skipped("pull requests", &name, "no attempt belongs to them");
            continue;
        }
        let how = request(&row[2], &row[3], &row[4], &row[5], &row[6]);
        let key = row[0].id();
        all.extend(merge(key, row[1].id(), how, &row[7], &row[8], known, ("pull requests", &name), tally));
    }
    if !source.has("merges") {
        all.extend(of_attempts(source, known, tally)?);
    }
    Ok(all)
}

/// The oldest releases kept what became of an attempt in its own row.
fn of_attempts(source: &Source, known: &HashSet<String>, tally: &mut Tally) -> Result<Vec<(String, Merge)>> {
    let columns = [
        "id",
        "merge_commit",
        "pr_number",
        "pr_url",
        "pr_status",
        "pr_merged_at",
        "base_branch",
        "updated_at",
    ];
    let mut all = Vec::new();
    for row in source.rows("task_attempts", &columns)? {
        let attempt = row[0].id();
        let derived = |what: &str| attempt.as_ref().map(|id| derived_id(id, what));
        if let Some(commit) = row[1].some_text() {
            let (key, how) =
                (derived("merge"), Some(MergeKind::Direct { commit: commit.clone(), tip: None }));
            all.extend(merge(key, attempt.clone(), how, &row[6], &row[7], known, ("merges", &commit), tally));
        }
        if let Some(url) = row[3].some_text() {
            let (key, how) = (derived("pr"), request(&row[2], &row[3], &row[4], &row[5], &Cell::Null));
            all.extend(merge(
                key,
                attempt.clone(),
                how,
                &row[6],
                &row[7],
                known,
                ("pull requests", &url),
                tally,
            ));
        }
    }
    Ok(all)
}

/// An id that follows from another, for what had none of its own.
fn derived_id(id: &str, what: &str) -> String {
    let digits = format!("{:x}", Sha256::digest(format!("{id} {what}").as_bytes()));
    Cell::Bytes(digits.as_bytes()[..32].to_vec()).id().unwrap_or_default()
}

fn request(number: &Cell, url: &Cell, status: &Cell, merged_at: &Cell, commit: &Cell) -> Option<MergeKind> {
    Some(MergeKind::PullRequest(PullRequest {
        number: number.int()?,
        url: url.some_text()?,
        status: status.text().and_then(|text| text.parse().ok()).unwrap_or(PullRequestStatus::Unknown),
        merged_at: merged_at.time(),
        commit: commit.some_text(),
        checks: None,
    }))
}

#[expect(clippy::too_many_arguments, reason = "the rows of three ages become one thing here")]
fn merge(
    key: Option<String>,
    attempt: Option<String>,
    how: Option<MergeKind>,
    target: &Cell,
    at: &Cell,
    known: &HashSet<String>,
    (kind, name): (&'static str, &str),
    tally: &mut Tally,
) -> Option<(String, Merge)> {
    let attempt = attempt.filter(|attempt| known.contains(attempt)).and_then(|attempt| attempt.parse().ok());
    let id = key.as_ref().and_then(|key| key.parse().ok());
    let (Some(attempt), Some(id), Some(how), Some(key)) = (attempt, id, how, key) else {
        tally.skipped(kind, name, "their attempt is missing, or the row is not whole");
        return None;
    };
    let target_branch = target.some_text().unwrap_or_else(|| "main".to_string());
    let created_at = at.time().unwrap_or(Time::from_millis(0));
    Some((key, Merge { id, attempt, target_branch, how, created_at }))
}

/// Reads standing agents, each with the key it is known by.
pub(super) fn standing_agents(
    source: &Source,
    projects: &ProjectMap,
    tally: &mut Tally,
) -> Result<Vec<(String, StandingAgent)>> {
    let columns = ["id", "project_id", "agent_type", "task_id", "created_at", "updated_at"];
    let mut all = Vec::new();
    for row in source.rows("forge_agents", &columns)? {
        let kind = row[2].some_text().unwrap_or_default();
        let key = row[0].id();
        let id = key.as_ref().and_then(|key| key.parse().ok());
        let project = row[1].id().and_then(|id| projects.of_project(&id));
        let task = row[3].id().and_then(|id| id.parse().ok());
        let (Some(key), Some(id), Some(project), Some(task)) = (key, id, project, task) else {
            tally.skipped("standing agents", &kind, "their project or their task is missing");
            continue;
        };
        let created_at = row[4].time().unwrap_or(Time::from_millis(0));
        let updated_at = row[5].time().unwrap_or(created_at);
        all.push((key, StandingAgent { id, project, kind, task, created_at, updated_at }));
    }
    Ok(all)
}
