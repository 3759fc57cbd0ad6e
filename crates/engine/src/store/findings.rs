//! What was found changed outside attempts' worktrees.

use std::path::{Path, PathBuf};

use forge_model::{AttemptId, Finding, FindingId, FindingState, ProjectId, Side, Time};

use super::conn::{Conn, Error, Row, args};
use super::{starts, statements};

macro_rules! columns {
    ($tail:literal) => {
        concat!(
            "select f.id, f.attempt_id, f.run_id, f.kind, f.subject, f.before, f.after, f.state, f.created_at,
                f.settled_at from findings f ",
            $tail
        )
    };
}

statements! {
    OF_ATTEMPT = columns!("where f.attempt_id = $1 order by f.created_at, f.kind, f.subject, f.id");
    ONE = columns!("where f.id = $1");
    INSERT = "insert into findings (id, attempt_id, run_id, kind, subject, before, after, state, created_at,
        settled_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    SETTLE = "update findings set state = $2, settled_at = $3 where id = $1 and state = 'seen'";
    // Attempts that ran at once have all seen the same change.
    SAME = "select f.id, f.attempt_id from findings f join attempts a on a.id = f.attempt_id
        where a.project_id = $1 and f.kind = $2 and f.subject = $3 and f.state = 'seen'
        and coalesce(f.before, '') = coalesce($4, '') and coalesce(f.after, '') = coalesce($5, '')";
    ATTEMPTS = "select a.id, a.branch, a.worktree, a.worktree_deleted, a.updated_at >= $2
        or exists (select 1 from runs r where r.attempt_id = a.id
            and (r.completed_at is null or r.completed_at >= $2))
        or exists (select 1 from acts t where t.attempt_id = a.id)
        from attempts a where a.project_id = $1";
    LANDED = "select m.target_branch, m.commit_oid from merges m join attempts a on a.id = m.attempt_id
        where a.project_id = $1 and m.commit_oid is not null and m.updated_at >= $2";
    // An act that only waits for somebody moves nothing.
    LANDING = "select distinct a.target_branch from acts t join attempts a on a.id = t.attempt_id
        where a.project_id = $1 and t.kind not like '%.open'";
    READY = "select path from ready_worktrees where project_id = $1";
}

/// What Forge itself knows about the changes of a repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) attempts: Vec<AttemptFact>,
    /// Branches of attempts that are being made.
    pub(crate) starting: Vec<String>,
    /// Branches that something landed on, and the commit.
    pub(crate) landed: Vec<(String, String)>,
    /// Branches that something is landing on right now.
    pub(crate) landing: Vec<String>,
    /// Worktrees of attempts that are being made, or wait for one.
    places: Vec<PathBuf>,
}

/// What matters of an attempt to others in its repository.
#[derive(Debug, Clone)]
pub(crate) struct AttemptFact {
    pub(crate) id: String,
    pub(crate) branch: String,
    pub(crate) worktree: PathBuf,
    pub(crate) worktree_deleted: bool,
    /// Something of it ran or was done with it since.
    pub(crate) was_at_work: bool,
}

impl Facts {
    /// The branches of attempts that there are or are being made.
    pub(crate) fn branches(&self) -> Vec<String> {
        let made = self.attempts.iter().map(|attempt| attempt.branch.clone());
        made.chain(self.starting.iter().cloned()).collect()
    }

    /// Says whether a worktree lies where Forge makes them.
    pub(crate) fn is_our_place(&self, path: &Path) -> bool {
        let made = self.attempts.iter().map(|attempt| &attempt.worktree);
        made.chain(&self.places)
            .any(|ours| ours == path || (ours.parent().is_some() && ours.parent() == path.parent()))
    }
}

/// Returns what Forge itself knows about the changes of a project's repository since a moment.
pub(crate) fn facts(conn: &Conn, project: ProjectId, since: i64) -> Result<Facts, Error> {
    let mut facts = Facts::default();
    for row in conn.query(ATTEMPTS, args![project, since])? {
        facts.attempts.push(AttemptFact {
            id: row.text(0)?,
            branch: row.text(1)?,
            worktree: PathBuf::from(row.text(2)?),
            worktree_deleted: row.flag(3)?,
            was_at_work: row.flag(4)?,
        });
    }
    for start in starts::marks(conn)?.into_iter().filter(|start| start.project == Some(project)) {
        facts.starting.extend(start.branch);
        facts.places.extend(start.worktree);
    }
    for row in conn.query(LANDED, args![project, since])? {
        facts.landed.push((row.text(0)?, row.text(1)?));
    }
    for row in conn.query(LANDING, args![project])? {
        facts.landing.push(row.text(0)?);
    }
    for row in conn.query(READY, args![project])? {
        facts.places.push(PathBuf::from(row.text(0)?));
    }
    Ok(facts)
}

/// Returns what was found during an attempt's runs, oldest first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<Finding>, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?.iter().map(finding).collect()
}

/// Returns one finding.
pub(crate) fn one(conn: &Conn, id: FindingId) -> Result<Option<Finding>, Error> {
    conn.query(ONE, args![id])?.first().map(finding).transpose()
}

/// Adds a finding.
pub(crate) fn insert(conn: &Conn, f: &Finding) -> Result<(), Error> {
    let (before, after) = (body(&f.before)?, body(&f.after)?);
    let values =
        args![f.id, f.attempt, f.run, f.kind, &f.subject, before, after, f.state, f.created_at, f.settled_at];
    conn.execute(INSERT, values).map(drop)
}

/// Settles a finding; says whether it was open still.
pub(crate) fn settle(conn: &Conn, id: FindingId, state: FindingState, now: Time) -> Result<bool, Error> {
    Ok(conn.execute(SETTLE, args![id, state, now])? == 1)
}

/// Returns the open findings of a project that tell of the same change, with their attempts.
pub(crate) fn same(
    conn: &Conn,
    project: ProjectId,
    f: &Finding,
) -> Result<Vec<(FindingId, AttemptId)>, Error> {
    let (before, after) = (body(&f.before)?, body(&f.after)?);
    let rows = conn.query(SAME, args![project, f.kind, &f.subject, before, after])?;
    rows.iter().map(|row| Ok((row.parse(0)?, row.parse(1)?))).collect()
}

fn body(side: &Option<Side>) -> Result<Option<String>, Error> {
    let text = side.as_ref().map(serde_json::to_string).transpose();
    text.map_err(|error| Error::Other(error.to_string()))
}

fn finding(row: &Row) -> Result<Finding, Error> {
    let side = |column: usize| -> Result<Option<Side>, Error> {
        let text = row.maybe_text(column)?;
        let side = text.as_deref().map(serde_json::from_str).transpose();
        side.map_err(|error| Error::Other(error.to_string()))
    };
    Ok(Finding {
        id: row.parse(0)?,
        attempt: row.parse(1)?,
        run: row.maybe_parse(2)?,
        kind: row.parse(3)?,
        subject: row.text(4)?,
        before: side(5)?,
        after: side(6)?,
        state: row.parse(7)?,
        created_at: Time::from_millis(row.int(8)?),
        settled_at: row.maybe_int(9)?.map(Time::from_millis),
    })
}
