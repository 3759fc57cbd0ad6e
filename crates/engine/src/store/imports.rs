//! What came from other products, in the store: where it is from, and rows that are written as they were there.
//!
//! Nothing happens to an attempt or a run that is imported: its state is history that is copied. So these are the
//! only statements that write a state without asking the state machine, and the guarded update names the state that
//! an earlier import left.

use std::collections::BTreeMap;

use forge_model::{Attempt, Merge, MergeKind, Run, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    ONE = "select our_id, fields from imported where kind = $1 and source_id = $2";
    PUT = "insert into imported (kind, source_id, our_id, fields, imported_at) values ($1, $2, $3, $4, $5)
        on conflict (kind, source_id) do update set our_id = $3, fields = $4, imported_at = $5";
    INSERT_RUN = "insert into runs (id, attempt_id, kind, state, agent, variant, prompt, resumed_session, before_head,
        after_head, exit_code, reason, dropped, closing, stop_requested, started_at, completed_at, created_at, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 1, 0, $14, $15, $16, $17)";
    UPDATE_RUN = "update runs set state = $2, before_head = $3, after_head = $4, exit_code = $5, reason = $6,
        dropped = $7, completed_at = $8, prompt = $9, updated_at = $10
        where id = $1 and state in ('completed', 'failed', 'killed')";
    UPDATE_ATTEMPT = "update attempts set state = $2, reason = $3, session = $4, branch = $5, target_branch = $6,
        updated_at = $7, state_since = case when state = $2 then state_since else $7 end
        where id = $1 and state in ('finished', 'failed', 'stopped')";
    RESTED = "update attempts set state_since = $2 where id = $1";
    UPDATE_MERGE = "update merges set target_branch = $2, commit_oid = $3, pr_url = $4, pr_status = $5, merged_at = $6,
        updated_at = $7 where id = $1";
    TASK_OF = "select project_id from tasks where id = $1";
}

/// Of each field, the hash of its value.
pub(crate) type Hashes = BTreeMap<String, String>;

/// Where something of ours comes from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) ours: String,
    pub(crate) fields: Hashes,
}

/// Returns what became of something when it was imported.
pub(crate) fn one(conn: &Conn, kind: &str, source: &str) -> Result<Option<Origin>, Error> {
    let rows = conn.query(ONE, args![kind, source])?;
    let Some(row) = rows.first() else { return Ok(None) };
    // Fields that cannot be read belong to a newer Forge: everything counts as edited here.
    let fields = serde_json::from_str(&row.text(1)?).unwrap_or_default();
    Ok(Some(Origin { ours: row.text(0)?, fields }))
}

/// Writes down what became of something.
pub(crate) fn put(conn: &Conn, kind: &str, source: &str, origin: &Origin, now: Time) -> Result<(), Error> {
    // Texts by texts, which JSON can always say.
    let fields = serde_json::to_string(&origin.fields).unwrap_or_default();
    conn.execute(PUT, args![kind, source, &origin.ours, fields, now]).map(drop)
}

/// Adds a run that is over.
pub(crate) fn insert_run(conn: &Conn, r: &Run) -> Result<(), Error> {
    conn.execute(
        INSERT_RUN,
        args![
            r.id,
            r.attempt,
            r.kind,
            r.state,
            &r.profile.agent,
            r.profile.variant.clone(),
            &r.prompt,
            r.resumed_session.clone(),
            r.before_head.clone(),
            r.after_head.clone(),
            r.exit_code,
            r.reason.clone(),
            r.dropped,
            r.started_at,
            r.completed_at,
            r.created_at,
            r.updated_at,
        ],
    )
    .map(drop)
}

/// Writes over what is known of a run that is over.
pub(crate) fn update_run(conn: &Conn, r: &Run) -> Result<(), Error> {
    conn.execute(
        UPDATE_RUN,
        args![
            r.id,
            r.state,
            r.before_head.clone(),
            r.after_head.clone(),
            r.exit_code,
            r.reason.clone(),
            r.dropped,
            r.completed_at,
            &r.prompt,
            r.updated_at,
        ],
    )
    .map(drop)
}

/// Writes over what is known of an attempt at rest.
pub(crate) fn update_attempt(conn: &Conn, a: &Attempt) -> Result<(), Error> {
    conn.execute(
        UPDATE_ATTEMPT,
        args![a.id, a.state, a.reason.clone(), a.session.clone(), &a.branch, &a.target_branch, a.updated_at],
    )
    .map(drop)
}

/// Records since when an attempt is in its state.
pub(crate) fn rested(conn: &Conn, a: &Attempt) -> Result<(), Error> {
    conn.execute(RESTED, args![a.id, a.updated_at]).map(drop)
}

/// Writes over what is known of a merge.
pub(crate) fn update_merge(conn: &Conn, m: &Merge, now: Time) -> Result<(), Error> {
    let (commit, url, status, merged_at) = match &m.how {
        MergeKind::Direct { commit, .. } => (Some(commit.clone()), None, None, None),
        MergeKind::PullRequest(pr) => {
            (pr.commit.clone(), Some(pr.url.clone()), Some(pr.status), pr.merged_at)
        }
    };
    conn.execute(UPDATE_MERGE, args![m.id, &m.target_branch, commit, url, status, merged_at, now]).map(drop)
}

/// Says whether a task is there.
pub(crate) fn has_task(conn: &Conn, task: forge_model::TaskId) -> Result<bool, Error> {
    Ok(!conn.query(TASK_OF, args![task])?.is_empty())
}
