//! What the store knows that a diff depends on.

use forge_model::AttemptId;

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    LANDED = "select commit_oid from merges where attempt_id = $1 order by created_at desc, id desc limit 1";
}

/// Returns the commit of an attempt's newest landing, when that has one.
pub(crate) fn landed(conn: &Conn, attempt: AttemptId) -> Result<Option<String>, Error> {
    conn.query(LANDED, args![attempt])?.first().map_or(Ok(None), |row| row.maybe_text(0))
}
