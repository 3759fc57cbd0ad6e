//! What the card of an attempt shows, in the store: read with the attempt, written by whoever learns it.

use forge_model::{AttemptId, ProjectId, PullRequest, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;
use crate::{Card, ChangeSum, Todos};

statements! {
    PROJECT = "select project_id from attempts where id = $1";
    SET_CHANGES = "update attempts set files_changed = $2, lines_added = $3, lines_deleted = $4 where id = $1
        and (files_changed is null or files_changed <> $2 or lines_added <> $3 or lines_deleted <> $4)";
    SET_TODOS = "update attempts set todos_done = $2, todos_total = $3 where id = $1
        and (todos_total is null or todos_done <> $2 or todos_total <> $3)";
    SEEN = "update attempts set seen_at = $2 where id = $1";
    DISMISS = "update attempts set dismissed_at = $2, later_until = $3 where id = $1";
}

/// Returns the project of an attempt; none when there is no such attempt.
pub(crate) fn project(conn: &Conn, id: AttemptId) -> Result<Option<ProjectId>, Error> {
    conn.query(PROJECT, args![id])?.first().map(|row| row.parse(0)).transpose()
}

/// Writes down what the diff of an attempt comes to; says whether that is news.
pub(crate) fn set_changes(conn: &Conn, id: AttemptId, sum: ChangeSum) -> Result<bool, Error> {
    Ok(conn.execute(SET_CHANGES, args![id, sum.files, sum.added, sum.deleted])? == 1)
}

/// Writes down how far the to-do list of an attempt is; says whether that is news.
pub(crate) fn set_todos(conn: &Conn, id: AttemptId, todos: Todos) -> Result<bool, Error> {
    Ok(conn.execute(SET_TODOS, args![id, todos.done, todos.total])? == 1)
}

/// Writes down that a person looked at an attempt.
pub(crate) fn seen(conn: &Conn, id: AttemptId, now: Time) -> Result<(), Error> {
    conn.execute(SEEN, args![id, now]).map(drop)
}

/// Writes down that an attempt is put aside, and until when; or neither.
pub(crate) fn dismiss(
    conn: &Conn,
    id: AttemptId,
    dismissed: Option<Time>,
    until: Option<Time>,
) -> Result<(), Error> {
    conn.execute(DISMISS, args![id, dismissed, until]).map(drop)
}

/// Reads a card from the columns that begin at `at`.
pub(crate) fn card(row: &Row, at: usize) -> Result<Card, Error> {
    let time = |column: usize| Ok::<_, Error>(row.maybe_int(at + column)?.map(Time::from_millis));
    let int = |column: usize| row.maybe_int(at + column);
    let todos = int(1)?.zip(int(2)?).map(|(done, total)| Todos { done, total });
    let changes = match (int(3)?, int(4)?, int(5)?) {
        (Some(files), Some(added), Some(deleted)) => Some(ChangeSum { files, added, deleted }),
        _ => None,
    };
    let script = row.maybe_text(at + 14)?;
    Ok(Card {
        state_since: Time::from_millis(row.int(at)?),
        activity: None,
        preparing: script.map(|script| first_line(&script)),
        todos,
        changes,
        pull_request: row.maybe_text(at + 10)?.and_then(|told| pull_request(&told)),
        seen_at: time(6)?,
        dismissed_at: time(7)?,
        later_until: time(8)?,
        comments: row.int(at + 9)?,
        dev_server: row.maybe_text(at + 11)?.and_then(|told| {
            let (run, port) = told.split_once(' ')?;
            Some((run.parse().ok()?, port.parse().ok()?))
        }),
        last_run: row.maybe_parse(at + 12)?,
        turns: row.int(at + 13)?,
    })
}

/// Reads a pull request from its number, status, checks and address in one text; an address may hold blanks.
fn pull_request(told: &str) -> Option<PullRequest> {
    let mut words = told.splitn(4, ' ');
    Some(PullRequest {
        number: words.next()?.parse().ok()?,
        status: words.next()?.parse().ok()?,
        checks: words.next()?.parse().ok(),
        url: words.next()?.to_string(),
        merged_at: None,
        commit: None,
    })
}

/// The first line of a script that does something; a script of comments alone gives its first.
fn first_line(script: &str) -> String {
    let lines = || script.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| !line.starts_with('#')).or_else(|| lines().next()).unwrap_or_default();
    line.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_told_by_its_first_line_that_does_something() {
        assert_eq!(first_line("#!/bin/sh\n# prepares\n\n  npm ci\nnpm run build\n"), "npm ci");
        assert_eq!(first_line("# nothing\n"), "# nothing");
        assert_eq!(first_line(&"x".repeat(1000)).len(), 200);
    }
}
