//! What was removed, whole, so that it can be brought back.

use forge_model::{AttemptId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    INSERT = "insert into removed (kind, id, body, snapshot, worktree, repository, removed_at)
        values ($1, $2, $3, $4, $5, $6, $7)";
    WORKTREES = "select worktree, repository from removed where worktree is not null and repository is not null";
    // A text inside the body has its quotes escaped, so that only the column itself looks like this.
    WAS_LOOSE = "select exists (select 1 from removed where kind = 'attempt' and id = $1
        and body like '%\"task_id\":null%')";
    TRASHED = "update removed set worktree = null where worktree = $1";
    PROJECT_ROW = "select * from projects where id = $1";
    TEMPLATE_ROWS = "select * from templates where project_id = $1";
    SETTINGS_ROW = "select * from settings where scope = $1";
    STANDING_ROWS = "select * from standing_agents where task_id = $1";
    IMAGE_ROWS = "select * from task_images where task_id = $1";
    TASK_ROW = "select * from tasks where id = $1";
    ATTEMPT_ROW = "select * from attempts where id = $1";
    RUN_ROWS = "select * from runs where attempt_id = $1";
    ASK_ROWS = "select * from asks where attempt_id = $1";
    INPUT_ROWS = "select i.* from inputs i join runs r on r.id = i.run_id where r.attempt_id = $1";
    DRAFT_ROWS = "select * from drafts where attempt_id = $1";
    MERGE_ROWS = "select * from merges where attempt_id = $1";
    QUEUE_ROWS = "select * from queue where attempt_id = $1";
}

/// Which rows belong to something that is removed, by table.
const OF_PROJECT: &[(&str, &str)] =
    &[("projects", PROJECT_ROW), ("templates", TEMPLATE_ROWS), ("settings", SETTINGS_ROW)];
const OF_TASK: &[(&str, &str)] =
    &[("tasks", TASK_ROW), ("standing_agents", STANDING_ROWS), ("task_images", IMAGE_ROWS)];
const OF_ATTEMPT: &[(&str, &str)] = &[
    ("attempts", ATTEMPT_ROW),
    ("runs", RUN_ROWS),
    ("asks", ASK_ROWS),
    ("inputs", INPUT_ROWS),
    ("drafts", DRAFT_ROWS),
    ("queue", QUEUE_ROWS),
    ("merges", MERGE_ROWS),
];

/// Something that is removed.
#[derive(Debug, Clone)]
pub(crate) struct Removed {
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    pub(crate) snapshot: Option<String>,
    /// A worktree that is still to be moved to the trash, and its repository.
    pub(crate) worktree: Option<String>,
    pub(crate) repository: Option<String>,
}

impl Removed {
    /// Something without files of its own.
    pub(crate) fn plain(kind: &'static str, id: impl ToString) -> Self {
        Self { kind, id: id.to_string(), snapshot: None, worktree: None, repository: None }
    }
}

/// Keeps the rows of what is about to be deleted, whole: each table's rows as JSON objects.
pub(crate) fn keep(conn: &Conn, r: &Removed, now: Time) -> Result<(), Error> {
    let tables = match r.kind {
        "project" => OF_PROJECT,
        "task" => OF_TASK,
        _ => OF_ATTEMPT,
    };
    let mut body = serde_json::Map::new();
    for (table, sql) in tables {
        body.insert((*table).to_string(), conn.query_json(sql, args![&r.id])?);
    }
    let body = serde_json::Value::Object(body).to_string();
    conn.execute(
        INSERT,
        args![r.kind, &r.id, body, r.snapshot.clone(), r.worktree.clone(), r.repository.clone(), now],
    )?;
    Ok(())
}

/// Returns worktrees that are still to be moved to the trash, each with its repository.
pub(crate) fn worktrees(conn: &Conn) -> Result<Vec<(String, String)>, Error> {
    conn.query(WORKTREES, &[])?.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
}

/// Says whether an attempt that was removed had no task.
pub(crate) fn was_loose(conn: &Conn, id: AttemptId) -> Result<bool, Error> {
    conn.query(WAS_LOOSE, args![id])?[0].flag(0)
}

/// Records that a worktree is in the trash.
pub(crate) fn trashed(conn: &Conn, worktree: &str) -> Result<(), Error> {
    conn.execute(TRASHED, args![worktree]).map(drop)
}
