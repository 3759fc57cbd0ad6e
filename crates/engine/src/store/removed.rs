//! What was removed, whole, so that it can be brought back.

use forge_model::{AttemptId, Time};

use super::conn::{Conn, Error, Value, args};
use super::{held, statements};

statements! {
    INSERT = "insert into removed (kind, id, body, snapshot, worktree, repository, removed_at)
        values ($1, $2, $3, $4, $5, $6, $7)";
    WORKTREES = "select worktree, repository from removed where worktree is not null and repository is not null";
    // A text inside the body has its quotes escaped, so that only the column itself looks like this.
    WAS_LOOSE = "select exists (select 1 from removed where kind = 'attempt' and id = $1
        and body like '%\"task_id\":null%')";
    TRASHED = "update removed set worktree = null, trash = $2 where worktree = $1";
    ALL = "select kind, id, body, snapshot, worktree, repository, trash, removed_at from removed
        order by removed_at desc, kind, id";
    // One whose worktree could not be moved to the trash yet stays.
    FORGET = "delete from removed where kind = $1 and id = $2 and removed_at = $3 and worktree is null";
    PUT_BACK = "delete from removed where kind = $1 and id = $2";
    ADOPT = "update tasks set parent_attempt_id = $2 where id = $1 and parent_attempt_id is null";
    HAS_IMAGE = "select exists (select 1 from images where id = $1)";
    CHILD_ROWS = "select id from tasks where parent_attempt_id = $1";
    FINDING_ROWS = "select * from findings where attempt_id = $1";
    DELETE_FINDINGS = "delete from findings where attempt_id = $1";
    PROJECT_ROW = "select * from projects where id = $1";
    TEMPLATE_ROWS = "select * from templates where project_id = $1";
    SETTINGS_ROW = "select * from settings where scope = $1";
    STANDING_ROWS = "select * from standing_agents where task_id = $1";
    IMAGE_ROWS = "select * from task_images where task_id = $1";
    RULE_ROWS = "select * from rules where project_id = $1";
    TASK_ROW = "select * from tasks where id = $1";
    ATTEMPT_ROW = "select * from attempts where id = $1";
    RUN_ROWS = "select * from runs where attempt_id = $1";
    ASK_ROWS = "select * from asks where attempt_id = $1";
    INPUT_ROWS = "select i.* from inputs i join runs r on r.id = i.run_id where r.attempt_id = $1";
    COMMENT_ROWS = "select * from comments where attempt_id = $1";
    DRAFT_ROWS = "select * from drafts where attempt_id = $1";
    MERGE_ROWS = "select * from merges where attempt_id = $1";
    QUEUE_ROWS = "select * from queue where attempt_id = $1";
    WAITING_ROWS = "select attempt_id, project_id, body, created_at from queued_starts where attempt_id = $1";
}

/// Which rows belong to something that is removed, by table.
const OF_PROJECT: &[(&str, &str)] = &[
    ("projects", PROJECT_ROW),
    ("templates", TEMPLATE_ROWS),
    ("settings", SETTINGS_ROW),
    ("rules", RULE_ROWS),
];
const OF_TASK: &[(&str, &str)] =
    &[("tasks", TASK_ROW), ("standing_agents", STANDING_ROWS), ("task_images", IMAGE_ROWS)];
const OF_ATTEMPT: &[(&str, &str)] = &[
    ("attempts", ATTEMPT_ROW),
    ("runs", RUN_ROWS),
    ("asks", ASK_ROWS),
    ("inputs", INPUT_ROWS),
    ("drafts", DRAFT_ROWS),
    ("comments", COMMENT_ROWS),
    ("queue", QUEUE_ROWS),
    ("findings", FINDING_ROWS),
    // No table: the tasks that grew out of it, which are freed of it.
    (CHILDREN, CHILD_ROWS),
    // No table either: its place in the line is somebody else's by now.
    (WAITING, WAITING_ROWS),
    ("merges", MERGE_ROWS),
];

const CHILDREN: &str = "children";
const WAITING: &str = "waiting";

/// What kind of thing was removed. In this order they are put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Project,
    Task,
    Attempt,
}

impl Kind {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Project => "project",
            Kind::Task => "task",
            Kind::Attempt => "attempt",
        }
    }

    /// The table that its own row is in.
    pub(crate) const fn table(self) -> &'static str {
        match self {
            Kind::Project => "projects",
            Kind::Task => "tasks",
            Kind::Attempt => "attempts",
        }
    }

    const fn tables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Project => OF_PROJECT,
            Kind::Task => OF_TASK,
            Kind::Attempt => OF_ATTEMPT,
        }
    }

    fn read(text: &str) -> Option<Kind> {
        [Kind::Project, Kind::Task, Kind::Attempt].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Something that was removed, as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Aside {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    body: serde_json::Value,
    pub(crate) snapshot: Option<String>,
    pub(crate) repository: Option<String>,
    /// Where its worktree lies in the trash.
    pub(crate) trash: Option<String>,
    pub(crate) removed_at: Time,
}

impl Aside {
    /// Returns the rows that were in a table.
    pub(crate) fn rows(&self, table: &str) -> &[serde_json::Value] {
        self.body.get(table).and_then(serde_json::Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns a text of the first row that was in a table.
    pub(crate) fn text(&self, table: &str, column: &str) -> Option<String> {
        Some(self.rows(table).first()?.get(column)?.as_str()?.to_string())
    }

    /// Returns a number of the first row that was in a table.
    pub(crate) fn int(&self, table: &str, column: &str) -> Option<i64> {
        self.rows(table).first()?.get(column)?.as_i64()
    }
}

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

/// Records that a worktree is in the trash, and where.
pub(crate) fn trashed(conn: &Conn, worktree: &str, trash: Option<String>) -> Result<(), Error> {
    conn.execute(TRASHED, args![worktree, trash]).map(drop)
}

/// Deletes what was found about an attempt.
pub(crate) fn delete_findings(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE_FINDINGS, args![attempt]).map(drop)
}

/// Returns everything that was removed, newest first.
pub(crate) fn all(conn: &Conn) -> Result<Vec<Aside>, Error> {
    let mut all = Vec::new();
    for row in conn.query(ALL, &[])? {
        let Some(kind) = Kind::read(&row.text(0)?) else { continue };
        all.push(Aside {
            kind,
            id: row.text(1)?,
            body: serde_json::from_str(&row.text(2)?).unwrap_or_default(),
            snapshot: row.maybe_text(3)?,
            repository: row.maybe_text(5)?,
            trash: row.maybe_text(6)?,
            removed_at: Time::from_millis(row.int(7)?),
        });
    }
    Ok(all)
}

/// Forgets something removed, unless its worktree is still where it was; says whether it did.
pub(crate) fn forget(conn: &Conn, aside: &Aside) -> Result<bool, Error> {
    Ok(conn.execute(FORGET, args![aside.kind.as_str(), &aside.id, aside.removed_at])? == 1)
}

/// Puts the rows of something removed back where they were. A column that a table has gained since gets its default,
/// and one that it has lost is forgotten.
pub(crate) fn put_back(conn: &Conn, aside: &Aside) -> Result<(), Error> {
    for (table, _) in aside.kind.tables().iter().filter(|(table, _)| ![CHILDREN, WAITING].contains(table)) {
        if aside.rows(table).is_empty() {
            continue;
        }
        let known = conn.columns(&format!("select * from {table} where 1 = 0"))?;
        for row in aside.rows(table) {
            let Some(row) = row.as_object() else { continue };
            // A picture may be gone by now; the task is worth having without it.
            let image = row.get("image_id").and_then(serde_json::Value::as_str);
            if let Some(image) = image.filter(|_| *table == "task_images")
                && !conn.query(HAS_IMAGE, args![image])?[0].flag(0)?
            {
                continue;
            }
            let cells: Vec<_> = row.iter().filter(|(column, _)| known.contains(column)).collect();
            let names: Vec<&str> = cells.iter().map(|(column, _)| column.as_str()).collect();
            let places: Vec<String> = (1..=cells.len()).map(|at| format!("${at}")).collect();
            let values: Vec<Value> = cells.iter().map(|(_, cell)| Value::from(*cell)).collect();
            let sql = format!("insert into {table} ({}) values ({})", names.join(", "), places.join(", "));
            conn.execute(&sql, &values)?;
        }
    }
    for child in aside.rows(CHILDREN).iter().filter_map(|row| row.get("id")?.as_str()) {
        conn.execute(ADOPT, args![child, &aside.id])?;
    }
    for row in aside.rows(WAITING) {
        let text = |column: &str| row.get(column).and_then(serde_json::Value::as_str).unwrap_or_default();
        let (Ok(attempt), Ok(project)) = (text("attempt_id").parse(), text("project_id").parse()) else {
            continue;
        };
        let waiter = held::Waiter { attempt, project, body: text("body").to_string() };
        let since = row.get("created_at").and_then(serde_json::Value::as_i64).unwrap_or_default();
        held::add(conn, &waiter, Time::from_millis(since))?;
    }
    conn.execute(PUT_BACK, args![aside.kind.as_str(), &aside.id]).map(drop)
}
