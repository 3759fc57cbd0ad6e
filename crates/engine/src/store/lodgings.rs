//! What the store knows of the worktrees of attempts: which there are, which may go, which came back.

use forge_model::{AttemptId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    BACK = "update attempts set worktree_deleted = 0, tidied_at = null, updated_at = $2 where id = $1";
    SET_UP_AGAIN = "update attempts set setup_completed_at = null where id = $1";
    TIP = "select coalesce(
            (select s.head from snapshots s where s.attempt_id = $1 and s.head is not null
                order by s.created_at desc, s.id desc limit 1),
            (select r.after_head from runs r where r.attempt_id = $1 and r.after_head is not null
                order by r.started_at desc, r.id desc limit 1),
            (select a.base_commit from attempts a where a.id = $1))";
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
