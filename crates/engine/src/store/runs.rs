//! Runs in the store.

use forge_model::{AttemptId, FirstTurn, ProfileId, Run, RunId, RunState, Time, Usage};

use super::conn::{Conn, Error, Row, args};
use super::statements;

macro_rules! columns {
    ($tail:literal) => {
        concat!(
            "select id, attempt_id, kind, state, agent, variant, prompt, resumed_session, before_head, after_head,
                exit_code, signal, reason, dropped, started_at, completed_at, created_at, updated_at, closing,
                stop_requested, (select a.task_id from attempts a where a.id = runs.attempt_id),
                (select a.prompt from attempts a where a.id = runs.attempt_id and runs.kind = 'setup'
                    and not exists (select 1 from runs e where e.attempt_id = a.id and e.kind = 'agent'
                        and e.started_at < runs.started_at)), forked, memo,
                (select d.deleted_at from deleted_logs d where d.run_id = runs.id) from runs ",
            $tail
        )
    };
}

statements! {
    OF_ATTEMPT = columns!("where attempt_id = $1 order by started_at, id");
    ONE = columns!("where id = $1");
    LIVE = columns!("where state in ('pending', 'running') order by started_at, id");
    LIVE_OF_ATTEMPT = columns!("where attempt_id = $1 and state in ('pending', 'running') order by started_at, id");
    INSERT = "insert into runs (id, attempt_id, kind, state, agent, variant, prompt, resumed_session, before_head,
        dropped, closing, stop_requested, started_at, created_at, updated_at, reason, forked, memo)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, 0, $10, $10, $10, $11, $12, $13)";
    MARK_FOREIGN = "update attempts set reason = $1
        where exists (select 1 from runs r where r.attempt_id = attempts.id and r.state in ('pending', 'running'))";
    UNMARK_FOREIGN = "update attempts set reason = null where reason like $1";
    END = "update runs set state = $2, after_head = $3, exit_code = $4, signal = $5, reason = $6, completed_at = $7,
        updated_at = $7 where id = $1 and state = 'running'";
    // The next three change nothing that people see of a run, so they tell nobody, and leave its time as it is:
    // a time that moved without an event would differ from what followers were told.
    // Closing the input and being told something more exclude each other: whoever commits first wins.
    CLOSE = "update runs set closing = 1 where id = $1 and state = 'running' and closing = 0
        and (select count(*) from inputs i where i.run_id = $1) = $2";
    SET_USAGE = "update runs set input_tokens = $2, output_tokens = $3, cache_creation_tokens = $4,
        cache_read_tokens = $5, cost_micros = $6 where id = $1";
    SET_REASON = "update runs set reason = $2, updated_at = $3 where id = $1 and state not in ('pending', 'running')";
    REQUEST_STOP = "update runs set stop_requested = 1 where id = $1 and state = 'running'";
    DROP = "update runs set dropped = 1, updated_at = $4 where attempt_id = $1 and dropped = 0
        and (started_at > $2 or id = $3) returning id";
    DELETE = "delete from runs where attempt_id = $1";
}

/// A run and how far its input is.
#[derive(Debug, Clone)]
pub(crate) struct LiveRun {
    pub(crate) run: Run,
    /// Nothing more can be told to this process.
    pub(crate) closing: bool,
    /// A person asked for it to be stopped.
    pub(crate) stop_requested: bool,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) state: RunState,
    pub(crate) after_head: Option<String>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) signal: Option<i64>,
    pub(crate) reason: Option<String>,
}

/// Returns the runs of an attempt, oldest first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<Run>, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?.iter().map(|row| Ok(live_run(row)?.run)).collect()
}

/// Returns one run.
pub(crate) fn one(conn: &Conn, id: RunId) -> Result<Option<LiveRun>, Error> {
    conn.query(ONE, args![id])?.first().map(live_run).transpose()
}

/// Returns every run that is not over.
pub(crate) fn live(conn: &Conn) -> Result<Vec<LiveRun>, Error> {
    conn.query(LIVE, &[])?.iter().map(live_run).collect()
}

/// Returns the runs of an attempt that are not over.
pub(crate) fn live_of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<LiveRun>, Error> {
    conn.query(LIVE_OF_ATTEMPT, args![attempt])?.iter().map(live_run).collect()
}

/// Says on each attempt with a run that is not over why nothing happens to it here.
pub(crate) fn mark_foreign(conn: &Conn, reason: &str) -> Result<(), Error> {
    conn.execute(MARK_FOREIGN, args![reason]).map(drop)
}

/// Takes that back; `like` is how these reasons look.
pub(crate) fn unmark_foreign(conn: &Conn, like: &str) -> Result<(), Error> {
    conn.execute(UNMARK_FOREIGN, args![like]).map(drop)
}

/// Adds a run that has just been started.
pub(crate) fn insert(conn: &Conn, r: &Run) -> Result<(), Error> {
    conn.execute(
        INSERT,
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
            r.started_at,
            r.reason.clone(),
            r.forked,
            r.memo.clone(),
        ],
    )?;
    Ok(())
}

/// Records how a run ended; says whether it was still running.
pub(crate) fn end(conn: &Conn, id: RunId, end: &End, now: Time) -> Result<bool, Error> {
    let touched = conn.execute(
        END,
        args![id, end.state, end.after_head.clone(), end.exit_code, end.signal, end.reason.clone(), now],
    )?;
    Ok(touched == 1)
}

/// Closes a run to further input, unless more than `told` inputs are there by now.
pub(crate) fn close(conn: &Conn, id: RunId, told: i64) -> Result<bool, Error> {
    Ok(conn.execute(CLOSE, args![id, told])? == 1)
}

/// Keeps what a run has used so far.
pub(crate) fn set_usage(conn: &Conn, id: RunId, u: Usage) -> Result<(), Error> {
    conn.execute(
        SET_USAGE,
        args![
            id,
            u.input_tokens,
            u.output_tokens,
            u.cache_creation_tokens,
            u.cache_read_tokens,
            u.cost_micros
        ],
    )?;
    Ok(())
}

/// Changes what is said of a run that has ended.
pub(crate) fn set_reason(conn: &Conn, id: RunId, reason: Option<String>, now: Time) -> Result<(), Error> {
    conn.execute(SET_REASON, args![id, reason, now]).map(drop)
}

/// Notes that a person wants a run stopped; says whether it was still running.
pub(crate) fn request_stop(conn: &Conn, id: RunId) -> Result<bool, Error> {
    Ok(conn.execute(REQUEST_STOP, args![id])? == 1)
}

/// Drops a run and all that were started after it, and returns which.
pub(crate) fn drop_from(conn: &Conn, attempt: AttemptId, run: &Run, now: Time) -> Result<Vec<RunId>, Error> {
    let rows = conn.query(DROP, args![attempt, run.started_at, run.id, now])?;
    rows.iter().map(|row| row.parse(0)).collect()
}

/// Deletes the rows of an attempt's runs.
pub(crate) fn delete(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(DELETE, args![attempt]).map(drop)
}

fn live_run(row: &Row) -> Result<LiveRun, Error> {
    let profile = ProfileId { agent: row.text(4)?, variant: row.maybe_text(5)? };
    let run = Run {
        id: row.parse(0)?,
        attempt: row.parse(1)?,
        task: row.maybe_parse(20)?,
        kind: row.parse(2)?,
        state: row.parse(3)?,
        next: row.maybe_text(21)?.map(|prompt| FirstTurn { prompt, profile: profile.clone() }),
        profile,
        prompt: row.text(6)?,
        resumed_session: row.maybe_text(7)?,
        forked: row.flag(22)?,
        memo: row.maybe_text(23)?,
        before_head: row.maybe_text(8)?,
        after_head: row.maybe_text(9)?,
        exit_code: row.maybe_int(10)?,
        signal: row.maybe_int(11)?,
        reason: row.maybe_text(12)?,
        dropped: row.flag(13)?,
        log_deleted_at: row.maybe_int(24)?.map(Time::from_millis),
        started_at: Time::from_millis(row.int(14)?),
        completed_at: row.maybe_int(15)?.map(Time::from_millis),
        created_at: Time::from_millis(row.int(16)?),
        updated_at: Time::from_millis(row.int(17)?),
    };
    Ok(LiveRun { run, closing: row.flag(18)?, stop_requested: row.flag(19)? })
}
