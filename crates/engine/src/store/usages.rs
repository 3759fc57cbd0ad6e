//! What turns used, and sums of it.

use forge_model::{Run, Time, Usage};

use super::conn::{Conn, Error, Row, args};
use super::statements;
use crate::AttemptView;
use crate::usage::{TurnUsage, UsageBy, UsageOf, UsageSum};

macro_rules! sums {
    ($key:literal, $order:literal) => {
        concat!(
            "select ",
            $key,
            ", count(*), cast(sum(input_tokens) as bigint), cast(sum(output_tokens) as bigint),
                cast(sum(cache_creation_tokens) as bigint), cast(sum(cache_read_tokens) as bigint),
                cast(sum(cost_micros) as bigint), max(at)
             from usages where ($1 is null or project_id = $1) and ($2 is null or task_id = $2)
                and ($3 is null or attempt_id = $3) group by 1 order by ",
            $order
        )
    };
}

statements! {
    PUT = "insert into usages (run_id, turn, attempt_id, project_id, task_id, agent, at, input_tokens, output_tokens,
            cache_creation_tokens, cache_read_tokens, cost_micros)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        on conflict (run_id, turn) do update set at = excluded.at, input_tokens = excluded.input_tokens,
            output_tokens = excluded.output_tokens, cache_creation_tokens = excluded.cache_creation_tokens,
            cache_read_tokens = excluded.cache_read_tokens, cost_micros = excluded.cost_micros";
    // The number of the day in UTC, since 1970.
    BY_DAY = sums!("cast(at / 86400000 as text)", "min(at)");
    BY_AGENT = sums!("agent", "1");
    BY_PROJECT = sums!("project_id", "7 desc, 3 desc, 1");
    BY_TASK = sums!("coalesce(task_id, '')", "7 desc, 3 desc, 1");
    BY_ATTEMPT = sums!("attempt_id", "7 desc, 3 desc, 1");
    BY_TURN = sums!("run_id || '#' || cast(turn as text)", "min(at), min(turn), 1");
}

/// Keeps what a turn has used so far. The log is folded again after a restart, and tells the same.
pub(crate) fn put(conn: &Conn, view: &AttemptView, run: &Run, used: &TurnUsage) -> Result<(), Error> {
    let u = used.usage;
    conn.execute(
        PUT,
        args![
            run.id,
            i64::try_from(used.turn).unwrap_or(i64::MAX),
            run.attempt,
            view.attempt.project,
            view.attempt.task,
            &run.profile.agent,
            used.at,
            u.input_tokens,
            u.output_tokens,
            u.cache_creation_tokens,
            u.cache_read_tokens,
            u.cost_micros,
        ],
    )?;
    Ok(())
}

/// Returns sums of what was used.
pub(crate) fn sums(conn: &Conn, of: &UsageOf) -> Result<Vec<UsageSum>, Error> {
    let sql = match of.by {
        UsageBy::Day => BY_DAY,
        UsageBy::Agent => BY_AGENT,
        UsageBy::Project => BY_PROJECT,
        UsageBy::Task => BY_TASK,
        UsageBy::Attempt => BY_ATTEMPT,
        UsageBy::Turn => BY_TURN,
    };
    let rows = conn.query(sql, args![of.project, of.task, of.attempt])?;
    let mut sums: Vec<UsageSum> = rows.iter().map(sum).collect::<Result<_, _>>()?;
    if of.by == UsageBy::Day {
        for sum in &mut sums {
            sum.key = sum.last_at.day();
        }
    }
    Ok(sums)
}

fn sum(row: &Row) -> Result<UsageSum, Error> {
    Ok(UsageSum {
        key: row.text(0)?,
        turns: row.int(1)?,
        usage: Usage {
            input_tokens: row.maybe_int(2)?,
            output_tokens: row.maybe_int(3)?,
            cache_creation_tokens: row.maybe_int(4)?,
            cache_read_tokens: row.maybe_int(5)?,
            cost_micros: row.maybe_int(6)?,
        },
        last_at: Time::from_millis(row.int(7)?),
    })
}
