//! What the store knows of the worktrees of attempts: which there are, which may go, which came back.

use std::path::PathBuf;

use forge_model::{AttemptId, TaskStatus, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

statements! {
    // At rest is an attempt that nothing is under way for: no process, no start, no git work of several steps.
    AT_REST = "select a.id, p.path, a.worktree, a.branch, a.target_branch, t.status, a.tidied_at, t.updated_at,
            a.updated_at,
            (select max(r.completed_at) from runs r where r.attempt_id = a.id),
            (select max(s.created_at) from snapshots s where s.attempt_id = a.id and s.why <> $1)
        from attempts a join projects p on p.id = a.project_id left join tasks t on t.id = a.task_id
        where a.state in ('finished', 'failed', 'stopped') and a.worktree_deleted = 0 and a.in_place = 0
            and not exists (select 1 from runs r where r.attempt_id = a.id and r.state in ('pending', 'running'))
            and not exists (select 1 from starts s where s.attempt_id = a.id)
            and not exists (select 1 from acts c where c.attempt_id = a.id)
        order by a.created_at, a.id";
    HALF_REMOVED = "select a.id, p.path, a.worktree, a.branch, a.target_branch, null, null, null, a.updated_at, null, null
        from attempts a join projects p on p.id = a.project_id
        where a.worktree_deleted = 1 and a.worktree_gone = 0 and a.in_place = 0 order by a.created_at, a.id";
    IS_AT_REST = "select exists (select 1 from attempts a
        where a.id = $1 and a.state in ('finished', 'failed', 'stopped') and a.in_place = 0
            and not exists (select 1 from runs r where r.attempt_id = a.id and r.state in ('pending', 'running'))
            and not exists (select 1 from starts s where s.attempt_id = a.id)
            and not exists (select 1 from acts c where c.attempt_id = a.id))";
    DELETED = "update attempts set worktree_deleted = 1, worktree_gone = 0, updated_at = $2 where id = $1 and worktree_deleted = 0";
    GONE = "update attempts set worktree_gone = 1 where id = $1 and worktree_deleted = 1";
    TIDIED = "update attempts set tidied_at = $2 where id = $1";
    BACK = "update attempts set worktree_deleted = 0, worktree_gone = 0, tidied_at = null, updated_at = $2 where id = $1";
    SET_UP_AGAIN = "update attempts set setup_completed_at = null where id = $1";
    TIP = "select coalesce(
            (select s.head from snapshots s where s.attempt_id = $1 and s.head is not null
                order by s.created_at desc, s.id desc limit 1),
            (select r.after_head from runs r where r.attempt_id = $1 and r.after_head is not null
                order by r.started_at desc, r.id desc limit 1),
            (select a.base_commit from attempts a where a.id = $1))";
    LINKED = "select worktree from attempts where worktree_deleted = 0 and in_place = 0 and state <> 'queued'";
    WORKTREES = "select id, worktree from attempts where in_place = 0";
    MOVED = "update attempts set worktree = $2 where id = $1";
    KNOWN = "select worktree from attempts where worktree_deleted = 0
        union select worktree from removed where worktree is not null
        union select path from ready_worktrees";
}

/// Why the snapshot before a clean-up was taken: such a one is no sign of somebody's work.
pub(crate) const BEFORE_CLEANING: &str = "before its worktree was cleaned up";

/// An attempt at rest whose worktree is there.
#[derive(Debug, Clone)]
pub(crate) struct Lodging {
    pub(crate) attempt: AttemptId,
    pub(crate) repository: PathBuf,
    pub(crate) worktree: PathBuf,
    pub(crate) branch: String,
    pub(crate) target_branch: String,
    /// None for an attempt without a task.
    pub(crate) status: Option<TaskStatus>,
    pub(crate) is_tidied: bool,
    /// When its task last changed.
    pub(crate) task_changed: Option<Time>,
    /// When something last happened to the attempt, its runs or its files.
    pub(crate) active: Time,
}

/// Returns every attempt that has had a worktree, and where.
pub(crate) fn worktrees(conn: &Conn) -> Result<Vec<(AttemptId, PathBuf)>, Error> {
    let rows = conn.query(WORKTREES, &[])?;
    rows.iter().map(|row| Ok((row.parse(0)?, PathBuf::from(row.text(1)?)))).collect()
}

/// Records that a worktree is at another path now.
pub(crate) fn moved(conn: &Conn, id: AttemptId, worktree: &std::path::Path) -> Result<(), Error> {
    conn.execute(MOVED, args![id, worktree.to_string_lossy().as_ref()]).map(drop)
}

/// Returns the attempts at rest whose worktrees are there, oldest first.
pub(crate) fn at_rest(conn: &Conn) -> Result<Vec<Lodging>, Error> {
    conn.query(AT_REST, args![BEFORE_CLEANING])?.iter().map(lodging).collect()
}

/// Returns the attempts whose worktrees are said to be in the trash, which a crash may have kept from being true:
/// those that nobody has looked for since.
pub(crate) fn half_removed(conn: &Conn) -> Result<Vec<Lodging>, Error> {
    conn.query(HALF_REMOVED, &[])?.iter().map(lodging).collect()
}

/// Says whether nothing is under way for an attempt.
pub(crate) fn is_at_rest(conn: &Conn, id: AttemptId) -> Result<bool, Error> {
    conn.query(IS_AT_REST, args![id])?[0].flag(0)
}

/// Records that a worktree lies in the trash; says whether it was there before.
pub(crate) fn deleted(conn: &Conn, id: AttemptId, now: Time) -> Result<bool, Error> {
    Ok(conn.execute(DELETED, args![id, now])? == 1)
}

/// Records that a worktree that lies in the trash is where it was no more.
pub(crate) fn gone(conn: &Conn, id: AttemptId) -> Result<(), Error> {
    conn.execute(GONE, args![id]).map(drop)
}

/// Records that ignored directories lie in the trash.
pub(crate) fn tidied(conn: &Conn, id: AttemptId, now: Time) -> Result<(), Error> {
    conn.execute(TIDIED, args![id, now]).map(drop)
}

/// Records that a worktree is back; one that was made anew has to be set up anew.
pub(crate) fn back(conn: &Conn, id: AttemptId, is_new: bool, now: Time) -> Result<(), Error> {
    if is_new {
        conn.execute(SET_UP_AGAIN, args![id])?;
    }
    conn.execute(BACK, args![id, now]).map(drop)
}

/// Returns the last commit that an attempt's branch is known to have had.
pub(crate) fn tip(conn: &Conn, id: AttemptId) -> Result<Option<String>, Error> {
    conn.query(TIP, args![id])?[0].maybe_text(0)
}

/// Returns every path under which a worktree of ours may be.
pub(crate) fn known(conn: &Conn) -> Result<Vec<PathBuf>, Error> {
    conn.query(KNOWN, &[])?.iter().map(|row| row.text(0).map(PathBuf::from)).collect()
}

fn lodging(row: &Row) -> Result<Lodging, Error> {
    let active = [row.maybe_int(8)?, row.maybe_int(9)?, row.maybe_int(10)?];
    Ok(Lodging {
        attempt: row.parse(0)?,
        repository: PathBuf::from(row.text(1)?),
        worktree: PathBuf::from(row.text(2)?),
        branch: row.text(3)?,
        target_branch: row.text(4)?,
        status: row.maybe_parse(5)?,
        is_tidied: row.maybe_int(6)?.is_some(),
        task_changed: row.maybe_int(7)?.map(Time::from_millis),
        active: Time::from_millis(active.into_iter().flatten().max().unwrap_or_default()),
    })
}

/// Returns the worktrees that attempts have, in their own roots.
pub(crate) fn linked(conn: &Conn) -> Result<Vec<PathBuf>, Error> {
    conn.query(LINKED, &[])?.iter().map(|row| Ok(PathBuf::from(row.text(0)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn a_worktree_that_was_seen_to_be_gone_is_looked_for_again_only_when_it_goes_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let id = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c".parse().unwrap();
        let seen = store.write(move |tx| {
            let conn = tx.conn();
            conn.batch(
                "insert into projects (id, name, path, created_at, updated_at)
                    values ('0d1f2e3a-8f6b-4c1d-9a53-6a0c2f1e4b5c', 'p', '/p', 0, 0);
                 insert into attempts (id, project_id, agent, state, branch, target_branch, base_commit,
                    worktree, worktree_deleted, prompt, created_at, updated_at)
                    values ('6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c', '0d1f2e3a-8f6b-4c1d-9a53-6a0c2f1e4b5c', 'A',
                    'finished', 'b', 'm', 'c', '/w', 0, 'hi', 0, 0);",
            )?;
            let now = Time::from_millis(1);
            let mut seen = Vec::new();
            let mut look = || {
                seen.push(half_removed(conn)?.len());
                Ok::<_, Error>(())
            };
            gone(conn, id)?;
            look()?;
            deleted(conn, id, now)?;
            look()?;
            gone(conn, id)?;
            look()?;
            back(conn, id, false, now)?;
            look()?;
            deleted(conn, id, now)?;
            look()?;
            Ok(seen)
        });
        assert_eq!(seen.await.unwrap(), [0, 1, 0, 0, 1]);
    }
}
