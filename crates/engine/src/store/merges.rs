//! Merges in the store: work that reached its target, or is on its way there in a pull request.

use forge_model::{AttemptId, Merge, MergeId, MergeKind, PullRequest, PullRequestStatus, Time};

use super::conn::{Conn, Error, Row, args};
use super::statements;

macro_rules! whole {
    ($tail:literal) => {
        concat!(
            "select id, attempt_id, kind, target_branch, commit_oid, tip, pr_number, pr_url, pr_status, merged_at,
                created_at, pr_checks from merges ",
            $tail
        )
    };
}

statements! {
    OF_ATTEMPT = whole!("where attempt_id = $1 order by created_at desc, id");
    INSERT = "insert into merges (id, attempt_id, kind, target_branch, commit_oid, tip, pr_number, pr_url, pr_status,
        merged_at, created_at, updated_at, pr_checks) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12)";
    OPEN = whole!("where pr_status = 'open' order by created_at, id");
    SETTLE = "update merges set target_branch = $2, commit_oid = $3, pr_url = $4, pr_status = $5, merged_at = $6,
        updated_at = $7, pr_checks = $8 where id = $1 and kind = 'pr' and pr_status <> 'merged'";
    FORGET_CHECKS = "update merges set pr_checks = null where attempt_id = $1 and pr_checks is not null
        and pr_status = 'open'";
    DELETE_ONE = "delete from merges where id = $1";
    DELETE = "delete from merges where attempt_id = $1";
}

/// Returns the merges of an attempt, newest first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<Merge>, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?.iter().map(merge).collect()
}

/// Adds a merge.
pub(crate) fn insert(conn: &Conn, m: &Merge) -> Result<(), Error> {
    let (id, attempt, target, at) = (m.id, m.attempt, &m.target_branch, m.created_at);
    let none = None::<String>;
    match &m.how {
        MergeKind::Direct { commit, tip } => {
            let (number, merged_at) = (None::<i64>, None::<Time>);
            conn.execute(
                INSERT,
                args![
                    id,
                    attempt,
                    "direct",
                    target,
                    commit,
                    tip.clone(),
                    number,
                    none.clone(),
                    none.clone(),
                    merged_at,
                    at,
                    none
                ],
            )
        }
        MergeKind::PullRequest(pr) => conn.execute(
            INSERT,
            args![
                id,
                attempt,
                "pr",
                target,
                pr.commit.clone(),
                none,
                pr.number,
                &pr.url,
                pr.status,
                pr.merged_at,
                at,
                checks(pr)
            ],
        ),
    }
    .map(drop)
}

/// Returns the pull requests that are open, oldest first.
pub(crate) fn open_requests(conn: &Conn) -> Result<Vec<Merge>, Error> {
    conn.query(OPEN, &[])?.iter().map(merge).collect()
}

/// Writes down what became of a pull request; says whether it was not merged before.
pub(crate) fn settle(
    conn: &Conn,
    id: MergeId,
    target: &str,
    request: &PullRequest,
    now: Time,
) -> Result<bool, Error> {
    let (commit, url, merged_at) = (request.commit.clone(), &request.url, request.merged_at);
    let values = args![id, target, commit, url, request.status, merged_at, now, checks(request)];
    Ok(conn.execute(SETTLE, values)? == 1)
}

/// Forgets what the checks of an attempt's open pull requests came to; says whether anything was known.
pub(crate) fn forget_checks(conn: &Conn, attempt: AttemptId) -> Result<bool, Error> {
    Ok(conn.execute(FORGET_CHECKS, args![attempt])? > 0)
}

/// Deletes a merge that was undone.
pub(crate) fn delete_one(conn: &Conn, id: MergeId) -> Result<(), Error> {
    conn.execute(DELETE_ONE, args![id]).map(drop)
}

/// Deletes the merges of an attempt.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE, args![attempt]).map(drop)
}

fn checks(request: &PullRequest) -> Option<String> {
    request.checks.map(|checks| checks.to_string())
}

fn merge(row: &Row) -> Result<Merge, Error> {
    let how = match row.text(2)?.as_str() {
        "direct" => MergeKind::Direct { commit: row.text(4)?, tip: row.maybe_text(5)? },
        _ => MergeKind::PullRequest(PullRequest {
            number: row.int(6)?,
            url: row.text(7)?,
            status: row.maybe_parse(8)?.unwrap_or(PullRequestStatus::Unknown),
            merged_at: row.maybe_int(9)?.map(Time::from_millis),
            commit: row.maybe_text(4)?,
            checks: row.maybe_text(11)?.and_then(|told| told.parse().ok()),
        }),
    };
    Ok(Merge {
        id: row.parse(0)?,
        attempt: row.parse(1)?,
        target_branch: row.text(3)?,
        how,
        created_at: Time::from_millis(row.int(10)?),
    })
}

#[cfg(test)]
mod tests {
    use forge_model::Checks;

    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn a_merge_is_read_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let attempt = AttemptId::random();
        let read = store.write(move |tx| {
            tx.conn().batch(
                "insert into projects (id, name, path, created_at, updated_at) values ('p', 'p', '/p', 0, 0);",
            )?;
            tx.conn().execute(
                "insert into attempts (id, project_id, agent, state, branch, target_branch, base_commit, worktree,
                    worktree_deleted, prompt, created_at, updated_at)
                    values ($1, 'p', 'A', 'running', 'b', 'm', 'c', '/w', 0, 'hi', 0, 0)",
                args![attempt],
            )?;
            let of = |how, at| Merge {
                id: MergeId::random(),
                attempt,
                target_branch: "main".into(),
                how,
                created_at: Time::from_millis(at),
            };
            let direct = of(MergeKind::Direct { commit: "c".into(), tip: Some("t".into()) }, 1);
            let pr = of(
                MergeKind::PullRequest(PullRequest {
                    number: 7,
                    url: "https://example.org/7".into(),
                    status: PullRequestStatus::Open,
                    merged_at: None,
                    commit: None,
                    checks: Some(Checks { passed: 3, failed: 1, waiting: 0 }),
                }),
                2,
            );
            insert(tx.conn(), &direct)?;
            insert(tx.conn(), &pr)?;
            Ok((vec![pr, direct], of_attempt(tx.conn(), attempt)?))
        });
        let (written, read) = read.await.unwrap();
        assert_eq!(written, read);
    }
}
