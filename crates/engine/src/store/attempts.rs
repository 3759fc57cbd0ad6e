//! Attempts in the store, with what their runs say about them.

use std::collections::HashSet;
use std::path::PathBuf;

use forge_model::{
    Attempt, AttemptId, AttemptState, Manner, ProfileId, ProjectId, Task, TaskId, Time, Usage,
};

use super::conn::{Conn, Error, Row, args};
use super::{cards, statements, tasks};
use crate::{AttemptView, Card, Limited};

macro_rules! view {
    ($tail:literal) => {
        concat!(
            "select a.id, a.project_id, a.task_id, a.agent, a.variant, a.state, a.reason, a.branch,
                a.target_branch, a.base_commit, a.worktree, a.worktree_deleted, a.session, a.prompt,
                a.input_tokens, a.output_tokens, a.cache_creation_tokens, a.cache_read_tokens, a.cost_micros,
                a.created_at, a.updated_at, a.in_place, a.setup_completed_at,
                (select r.state from runs r where r.attempt_id = a.id and r.kind = 'agent'
                    order by r.started_at desc, r.id limit 1),
                (select count(*) from asks k where k.attempt_id = a.id and k.state = 'open'),
                (select count(*) from queue q where q.attempt_id = a.id
                    and q.state in ('queued', 'sending')),
                exists (select 1 from merges m where m.attempt_id = a.id
                    and (m.kind = 'direct' or m.pr_status = 'merged')),
                (select count(*) from queued_starts h join queued_starts p on p.place <= h.place
                    where h.attempt_id = a.id
                    and not exists (select 1 from starts s where s.attempt_id = h.attempt_id)
                    and not exists (select 1 from starts s where s.attempt_id = p.attempt_id)),
                (select o.created_at from acts o where o.attempt_id = a.id and o.kind = 'rebase.open'
                    order by o.created_at desc, o.id limit 1),
                (select count(*) from findings f where f.attempt_id = a.id and f.state = 'seen'),
                a.unattended, a.resume_when_limited, a.forked_from,
                (select l.created_at from limited l where l.attempt_id = a.id),
                (select l.until from limited l where l.attempt_id = a.id),
                coalesce(a.state_since, a.updated_at), a.todos_done, a.todos_total, a.files_changed, a.lines_added,
                a.lines_deleted, a.seen_at, a.dismissed_at, a.later_until,
                (select count(*) from comments c where c.attempt_id = a.id and c.sent_at is null),
                (select m.pr_number || ' ' || coalesce(m.pr_status, 'unknown') || ' ' || coalesce(m.pr_checks, '-')
                    || ' ' || m.pr_url from merges m
                    where m.attempt_id = a.id and m.kind = 'pr' order by m.created_at desc, m.id limit 1),
                (select r.id || ' ' || p.port from runs r join ports p on p.attempt_id = r.attempt_id and p.slot = 0
                    where r.attempt_id = a.id and r.kind = 'dev_server' and r.state in ('pending', 'running')
                    order by r.started_at desc, r.id limit 1),
                (select r.id from runs r where r.attempt_id = a.id and r.kind <> 'dev_server'
                    order by r.started_at desc, r.id limit 1),
                (select count(*) from runs r where r.attempt_id = a.id and r.kind = 'agent' and r.dropped = 0)
                    + (select count(*) from runs r join inputs i on i.run_id = r.id where r.attempt_id = a.id
                        and r.kind = 'agent' and r.dropped = 0 and i.body like '{\"kind\":\"turn\"%'),
                (select r.prompt from runs r where r.attempt_id = a.id and r.kind = 'setup'
                    and r.state in ('pending', 'running') limit 1)
             from attempts a ",
            $tail
        )
    };
}

statements! {
    ALL = view!("where a.task_id is not null order by a.created_at desc, a.id");
    LOOSE = view!("where a.task_id is null order by a.created_at desc, a.id");
    AT = view!("where a.worktree = $1 order by a.created_at desc, a.id limit 1");
    IN_SESSION = view!("where a.session = $1 and exists (select 1 from runs r where r.attempt_id = a.id
        and r.kind = 'agent' and r.state = 'running') order by a.created_at desc, a.id limit 1");
    OF_TASK = view!("where a.task_id = $1 order by a.created_at desc, a.id");
    ONE = view!("where a.id = $1");
    LIVE = view!("where a.state in ('queued', 'running', 'waiting', 'limited') order by a.created_at, a.id");
    IDS = "select id from attempts";
    IDS_OF_TASK = "select id from attempts where task_id = $1";
    IDS_OF_PROJECT = "select id from attempts where project_id = $1";
    BIRTHS = "select id, created_at from attempts where project_id = $1 order by created_at, id";
    INSERT = "insert into attempts (id, project_id, task_id, agent, variant, state, reason, branch, target_branch,
        base_commit, worktree, worktree_deleted, session, prompt, created_at, updated_at, in_place, unattended,
        resume_when_limited, forked_from, state_since)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $15)";
    MOVE = "update attempts set state = $3, reason = $4, updated_at = $5,
        state_since = case when state = $3 then state_since else $5 end where id = $1 and state = $2";
    SET_REASON = "update attempts set reason = $2, updated_at = $3 where id = $1";
    BEGIN = "update attempts set target_branch = $2, base_commit = $3, updated_at = $4 where id = $1";
    NEVER_MADE = "update attempts set worktree_deleted = 1 where id = $1 and in_place = 0";
    SET_TARGET = "update attempts set target_branch = $2, updated_at = $3 where id = $1";
    BEGIN_ON = "update attempts set branch = $2 where id = $1";
    IN_PLACE = "select exists (select 1 from attempts a where a.project_id = $1 and a.in_place = 1 and a.id <> $2
        and (a.state in ('queued', 'running', 'waiting', 'limited')
            or exists (select 1 from starts s where s.attempt_id = a.id)
            or exists (select 1 from queued_starts q where q.attempt_id = a.id)))";
    SET_SESSION = "update attempts set session = $2, updated_at = $3
        where id = $1 and (session is null or session <> $2)";
    FORGET_SESSION = "update attempts set session = null, updated_at = $2 where id = $1";
    SET_SETUP = "update attempts set setup_completed_at = $2 where id = $1";
    SUM_USAGE = "update attempts set
        input_tokens = (select cast(sum(r.input_tokens) as bigint) from runs r where r.attempt_id = $1),
        output_tokens = (select cast(sum(r.output_tokens) as bigint) from runs r where r.attempt_id = $1),
        cache_creation_tokens =
            (select cast(sum(r.cache_creation_tokens) as bigint) from runs r where r.attempt_id = $1),
        cache_read_tokens = (select cast(sum(r.cache_read_tokens) as bigint) from runs r where r.attempt_id = $1),
        cost_micros = (select cast(sum(r.cost_micros) as bigint) from runs r where r.attempt_id = $1),
        updated_at = $2 where id = $1";
    BRANCH_TAKEN = "select exists (select 1 from attempts where project_id = $1 and branch = $2)
        or exists (select 1 from attempts where worktree = $3)";
    DELETE = "delete from attempts where id = $1";
    COUNT_BELOW = "select count(*) from attempts a join tasks t on t.id = a.task_id where t.parent_attempt_id = $1";
    BY_STATE = "select state, count(*) from attempts group by state";
    COUNTS = "select count(*),
        count(case when state in ('running', 'waiting', 'limited') then 1 end),
        count(case when state = 'waiting' then 1 end) from attempts";
}

/// Returns attempts, newest first: all that have a task, or those of a task.
pub(crate) fn all(conn: &Conn, task: Option<TaskId>) -> Result<Vec<AttemptView>, Error> {
    let Some(task) = task else {
        // Asked for each of thousands, their tasks would take longer than they do.
        let tasks = tasks::with_attempts(conn)?;
        let whole = |row: &Row| {
            let attempt = attempt(row)?;
            let task = attempt.task.and_then(|task| tasks.get(&task).cloned());
            view(attempt, task, row)
        };
        return conn.query(ALL, &[])?.iter().map(whole).collect();
    };
    let rows = conn.query(OF_TASK, args![task])?;
    let task = tasks::bare(conn, task)?;
    rows.iter().map(|row| view(attempt(row)?, task.clone(), row)).collect()
}

/// Returns all attempts that have a task, newest first, and their tasks but for those that are known.
pub(crate) fn beside(conn: &Conn, known: &HashSet<TaskId>) -> Result<Vec<AttemptView>, Error> {
    let whole = |row: &Row| {
        let attempt = attempt(row)?;
        let task = match attempt.task.filter(|task| !known.contains(task)) {
            Some(task) => tasks::bare(conn, task)?,
            None => None,
        };
        view(attempt, task, row)
    };
    conn.query(ALL, &[])?.iter().map(whole).collect()
}

/// Returns the attempts without a task, newest first.
pub(crate) fn loose(conn: &Conn) -> Result<Vec<AttemptView>, Error> {
    conn.query(LOOSE, &[])?.iter().map(|row| with_task(conn, row)).collect()
}

/// Returns the attempt whose worktree is at a path.
pub(crate) fn at(conn: &Conn, worktree: &str) -> Result<Option<AttemptView>, Error> {
    conn.query(AT, args![worktree])?.first().map(|row| with_task(conn, row)).transpose()
}

/// Returns the newest attempt whose running agent has a conversation.
pub(crate) fn in_session(conn: &Conn, session: &str) -> Result<Option<AttemptView>, Error> {
    conn.query(IN_SESSION, args![session])?.first().map(|row| with_task(conn, row)).transpose()
}

/// Returns one attempt.
pub(crate) fn one(conn: &Conn, id: AttemptId) -> Result<Option<AttemptView>, Error> {
    conn.query(ONE, args![id])?.first().map(|row| with_task(conn, row)).transpose()
}

/// Returns the attempts that are not at rest.
pub(crate) fn live(conn: &Conn) -> Result<Vec<AttemptView>, Error> {
    conn.query(LIVE, &[])?.iter().map(|row| with_task(conn, row)).collect()
}

/// Returns the ids of all attempts.
pub(crate) fn ids(conn: &Conn) -> Result<Vec<AttemptId>, Error> {
    conn.query(IDS, &[])?.iter().map(|row| row.parse(0)).collect()
}

/// Returns the ids of all attempts at a task.
pub(crate) fn ids_of_task(conn: &Conn, task: TaskId) -> Result<Vec<AttemptId>, Error> {
    conn.query(IDS_OF_TASK, args![task])?.iter().map(|row| row.parse(0)).collect()
}

/// Returns the ids of all attempts in a project.
pub(crate) fn ids_of_project(conn: &Conn, project: ProjectId) -> Result<Vec<AttemptId>, Error> {
    conn.query(IDS_OF_PROJECT, args![project])?.iter().map(|row| row.parse(0)).collect()
}

/// Returns the attempts in a project and when each was made.
pub(crate) fn births(conn: &Conn, project: ProjectId) -> Result<Vec<(AttemptId, Time)>, Error> {
    let rows = conn.query(BIRTHS, args![project])?;
    rows.iter().map(|row| Ok((row.parse(0)?, Time::from_millis(row.int(1)?)))).collect()
}

/// Adds an attempt.
pub(crate) fn insert(conn: &Conn, a: &Attempt) -> Result<(), Error> {
    conn.execute(
        INSERT,
        args![
            a.id,
            a.project,
            a.task,
            &a.profile.agent,
            a.profile.variant.clone(),
            a.state,
            a.reason.clone(),
            &a.branch,
            &a.target_branch,
            &a.base_commit,
            a.worktree.to_string_lossy().into_owned(),
            a.worktree_deleted,
            a.session.clone(),
            &a.prompt,
            a.created_at,
            a.updated_at,
            a.in_place,
            a.manner.unattended,
            a.manner.resume_when_limited,
            a.manner.forked_from,
        ],
    )?;
    Ok(())
}

/// Moves an attempt from one state to another; says whether it was still in the first.
pub(crate) fn shift(
    conn: &Conn,
    id: AttemptId,
    from: AttemptState,
    to: AttemptState,
    reason: Option<String>,
    now: Time,
) -> Result<bool, Error> {
    Ok(conn.execute(MOVE, args![id, from, to, reason, now])? == 1)
}

/// Changes what is said of an attempt in the state that it is in.
pub(crate) fn set_reason(conn: &Conn, id: AttemptId, reason: Option<String>, now: Time) -> Result<(), Error> {
    conn.execute(SET_REASON, args![id, reason, now]).map(drop)
}

/// Changes the target branch of an attempt.
pub(crate) fn set_target(conn: &Conn, id: AttemptId, target: &str, now: Time) -> Result<(), Error> {
    conn.execute(SET_TARGET, args![id, target, now]).map(drop)
}

/// Writes down what an attempt starts from: its target branch, and the commit.
pub(crate) fn begin(conn: &Conn, id: AttemptId, target: &str, commit: &str, now: Time) -> Result<(), Error> {
    conn.execute(BEGIN, args![id, target, commit, now]).map(drop)
}

/// Writes down which branch the person's checkout is on.
pub(crate) fn begin_on(conn: &Conn, id: AttemptId, branch: &str) -> Result<(), Error> {
    conn.execute(BEGIN_ON, args![id, branch]).map(drop)
}

/// Says whether another attempt of a project works in the person's checkout, or waits to.
pub(crate) fn other_in_place(conn: &Conn, project: ProjectId, but: AttemptId) -> Result<bool, Error> {
    conn.query(IN_PLACE, args![project, but])?[0].flag(0)
}

/// Writes down that an attempt which was held back never got its worktree.
pub(crate) fn never_made(conn: &Conn, id: AttemptId) -> Result<(), Error> {
    conn.execute(NEVER_MADE, args![id]).map(drop)
}

/// Keeps the agent's conversation id; says whether it was new.
pub(crate) fn set_session(conn: &Conn, id: AttemptId, session: &str, now: Time) -> Result<bool, Error> {
    Ok(conn.execute(SET_SESSION, args![id, session, now])? == 1)
}

/// Forgets the conversation of an attempt, which its agent does not know any more.
pub(crate) fn forget_session(conn: &Conn, id: AttemptId, now: Time) -> Result<(), Error> {
    conn.execute(FORGET_SESSION, args![id, now]).map(drop)
}

/// Records when the setup script was done in an attempt's worktree; none when it is to be done again.
pub(crate) fn set_setup(conn: &Conn, id: AttemptId, at: Option<Time>) -> Result<(), Error> {
    conn.execute(SET_SETUP, args![id, at]).map(drop)
}

/// Adds up what the runs of an attempt have used.
pub(crate) fn sum_usage(conn: &Conn, id: AttemptId, now: Time) -> Result<(), Error> {
    conn.execute(SUM_USAGE, args![id, now]).map(drop)
}

/// Says whether a branch of the project or a worktree path belongs to an attempt already.
pub(crate) fn name_taken(
    conn: &Conn,
    project: ProjectId,
    branch: &str,
    worktree: &str,
) -> Result<bool, Error> {
    conn.query(BRANCH_TAKEN, args![project, branch, worktree])?[0].flag(0)
}

/// Deletes an attempt's row.
pub(crate) fn delete(conn: &Conn, id: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE, args![id]).map(drop)
}

/// Counts the attempts at the tasks that grew out of an attempt.
pub(crate) fn count_below(conn: &Conn, parent: AttemptId) -> Result<usize, Error> {
    let count = conn.query(COUNT_BELOW, args![parent])?[0].int(0)?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Counts attempts: all, live, waiting.
pub(crate) fn counts(conn: &Conn) -> Result<(i64, i64, i64), Error> {
    let rows = conn.query(COUNTS, &[])?;
    Ok((rows[0].int(0)?, rows[0].int(1)?, rows[0].int(2)?))
}

/// Counts attempts in each state, also in those that none is in.
pub(crate) fn by_state(conn: &Conn) -> Result<Vec<(AttemptState, i64)>, Error> {
    let mut counts: Vec<_> = AttemptState::ALL.iter().map(|state| (*state, 0)).collect();
    for row in conn.query(BY_STATE, &[])? {
        let state: AttemptState = row.parse(0)?;
        if let Some(count) = counts.iter_mut().find(|(known, _)| *known == state) {
            count.1 = row.int(1)?;
        }
    }
    Ok(counts)
}

fn with_task(conn: &Conn, row: &Row) -> Result<AttemptView, Error> {
    let attempt = attempt(row)?;
    let task = match attempt.task {
        Some(task) => tasks::bare(conn, task)?,
        None => None,
    };
    view(attempt, task, row)
}

fn view(attempt: Attempt, task: Option<Task>, row: &Row) -> Result<AttemptView, Error> {
    let conflicted = row.maybe_int(28)?.map(Time::from_millis);
    let card = cards::card(row, 35)?;
    Ok(AttemptView {
        attempt,
        task,
        status: row.maybe_parse(23)?,
        open_asks: row.int(24)?,
        queued: row.int(25)?,
        is_merged: row.flag(26)?,
        place: Some(row.int(27)?).filter(|place| *place > 0),
        is_conflicted: conflicted.is_some(),
        findings: row.int(29)?,
        limited: match row.maybe_int(33)? {
            Some(_) => Some(Limited { until: row.maybe_int(34)?.map(Time::from_millis) }),
            None => None,
        },
        stalled: None,
        // A conflict is a state of its own, though it is derived: who put the attempt aside before has not seen it.
        card: Card { state_since: card.state_since.max(conflicted.unwrap_or(card.state_since)), ..card },
    })
}

fn attempt(row: &Row) -> Result<Attempt, Error> {
    Ok(Attempt {
        id: row.parse(0)?,
        project: row.parse(1)?,
        task: row.maybe_parse(2)?,
        profile: ProfileId { agent: row.text(3)?, variant: row.maybe_text(4)? },
        state: row.parse(5)?,
        reason: row.maybe_text(6)?,
        branch: row.text(7)?,
        target_branch: row.text(8)?,
        base_commit: row.text(9)?,
        worktree: PathBuf::from(row.text(10)?),
        worktree_deleted: row.flag(11)?,
        in_place: row.flag(21)?,
        setup_completed_at: row.maybe_int(22)?.map(Time::from_millis),
        session: row.maybe_text(12)?,
        prompt: row.text(13)?,
        manner: Manner {
            unattended: row.flag(30)?,
            resume_when_limited: row.maybe_int(31)?.map(|flag| flag != 0),
            forked_from: row.maybe_parse(32)?,
        },
        usage: Usage {
            input_tokens: row.maybe_int(14)?,
            output_tokens: row.maybe_int(15)?,
            cache_creation_tokens: row.maybe_int(16)?,
            cache_read_tokens: row.maybe_int(17)?,
            cost_micros: row.maybe_int(18)?,
        },
        created_at: Time::from_millis(row.int(19)?),
        updated_at: Time::from_millis(row.int(20)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn a_list_says_of_each_attempt_what_is_said_of_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let project = ProjectId::random();
        let written = store.write(move |tx| {
            let conn = tx.conn();
            conn.execute(
                "insert into projects (id, name, path, created_at, updated_at) values ($1, 'p', '/p', 0, 0)",
                args![project],
            )?;
            for number in 0..40_i64 {
                let (task, id) = (TaskId::random(), AttemptId::random());
                conn.execute(
                    "insert into tasks (id, project_id, title, status, created_at, updated_at)
                        values ($1, $2, 't', 'todo', $3, 0)",
                    args![task, project, number],
                )?;
                conn.execute(
                    "insert into attempts (id, project_id, task_id, agent, state, branch, target_branch, base_commit,
                        worktree, worktree_deleted, prompt, created_at, updated_at, files_changed, lines_added,
                        lines_deleted, todos_done, todos_total)
                        values ($1, $2, $3, 'A', 'running', $1, 'm', 'c', $1, 0, 'hi', $4, 7, $4, 2, 3, 1, 4)",
                    args![id, project, task, number],
                )?;
                for (kind, state) in [("setup", "running"), ("agent", "completed"), ("dev_server", "running")] {
                    conn.execute(
                        "insert into runs (id, attempt_id, kind, state, agent, prompt, dropped, closing,
                            stop_requested, started_at, created_at, updated_at)
                            values ($1, $2, $3, $4, 'A', 'npm ci', 0, 0, 0, $5, 0, 0)",
                        args![forge_model::RunId::random(), id, kind, state, number],
                    )?;
                }
                conn.execute(
                    "insert into ports (port, attempt_id, slot, created_at) values ($1, $2, 0, 0)",
                    args![20_000 + number, id],
                )?;
                conn.execute(
                    "insert into merges (id, attempt_id, kind, target_branch, pr_number, pr_url, pr_status, pr_checks,
                        created_at, updated_at)
                        values ($1, $1, 'pr', 'm', 42, 'https://example.org/a b', 'open', '2/0/1', 0, 0)",
                    args![id],
                )?;
            }
            let list = all(conn, None)?;
            let alone: Vec<_> = list.iter().map(|it| one(conn, it.attempt.id)).collect::<Result<_, _>>()?;
            let of_tasks: Vec<_> = (list.iter().filter_map(|it| it.attempt.task))
                .map(|task| all(conn, Some(task)))
                .collect::<Result<_, _>>()?;
            Ok((list, alone, of_tasks))
        });
        let (list, alone, of_tasks) = written.await.unwrap();
        assert_eq!(list.len(), 40);
        assert_eq!(list, alone.into_iter().flatten().collect::<Vec<_>>());
        assert_eq!(list, of_tasks.concat());
        let card = &list[0].card;
        assert_eq!(
            card.pull_request.as_ref().map(|it| (it.number, it.url.as_str(), it.checks)),
            Some((42, "https://example.org/a b", "2/0/1".parse().ok()))
        );
        assert_eq!(card.dev_server.map(|(_, port)| port), Some(20_039));
        assert_eq!((card.preparing.as_deref(), card.turns), (Some("npm ci"), 1));
        assert_eq!(card.state_since, Time::from_millis(7));
    }
}
