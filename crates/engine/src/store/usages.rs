//! What turns used, and sums of it.

use forge_model::{Run, Time, Usage};

use super::conn::{Conn, Error, Row, args};
use super::statements;
use crate::AttemptView;
use crate::usage::{TurnUsage, UsageBy, UsageOf, UsageSum};

// A parameter that may be null keeps an index out, so each narrowing has a statement of its own: the narrowest that is
// given chooses the index, and what is given besides is looked at in the rows that it finds.
macro_rules! sums {
    ($key:literal, $order:literal, $narrowed:literal) => {
        concat!(
            "select ",
            $key,
            ", count(*), cast(sum(input_tokens) as bigint), cast(sum(output_tokens) as bigint),
                cast(sum(cache_creation_tokens) as bigint), cast(sum(cache_read_tokens) as bigint),
                cast(sum(cost_micros) as bigint), max(at)
             from usages where at >= $1",
            $narrowed,
            " group by 1 order by ",
            $order
        )
    };
    ($key:literal, $order:literal) => {
        [
            sums!($key, $order, ""),
            sums!($key, $order, " and project_id = $2"),
            sums!($key, $order, " and task_id = $3 and ($2 is null or project_id = $2)"),
            sums!(
                $key,
                $order,
                " and attempt_id = $4 and ($2 is null or project_id = $2) and ($3 is null or task_id = $3)"
            ),
        ]
    };
}

// Each of all, of a project, of a task and of an attempt. The number of a day is in UTC, since 1970. A key that stands
// alone would tempt SQLite to walk through the whole of that key's index, because it is in order there.
const BY_DAY: [&str; 4] = sums!("cast(at / 86400000 as text)", "min(at)");
const BY_AGENT: [&str; 4] = sums!("agent", "1");
const BY_PROJECT: [&str; 4] = sums!("coalesce(project_id, '')", "7 desc, 3 desc, 1");
const BY_TASK: [&str; 4] = sums!("coalesce(task_id, '')", "7 desc, 3 desc, 1");
const BY_ATTEMPT: [&str; 4] = sums!("coalesce(attempt_id, '')", "7 desc, 3 desc, 1");
const BY_TURN: [&str; 4] = sums!("run_id || '#' || cast(turn as text)", "min(at), min(turn), 1");

statements! {
    PUT = "insert into usages (run_id, turn, attempt_id, project_id, task_id, agent, at, input_tokens, output_tokens,
            cache_creation_tokens, cache_read_tokens, cost_micros)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        on conflict (run_id, turn) do update set at = excluded.at, input_tokens = excluded.input_tokens,
            output_tokens = excluded.output_tokens, cache_creation_tokens = excluded.cache_creation_tokens,
            cache_read_tokens = excluded.cache_read_tokens, cost_micros = excluded.cost_micros";
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
    let sql = statement(of);
    let since = of.since.unwrap_or(Time::from_millis(0));
    let rows = conn.query(sql, args![since, of.project, of.task, of.attempt])?;
    let mut sums: Vec<UsageSum> = rows.iter().map(sum).collect::<Result<_, _>>()?;
    if of.by == UsageBy::Day {
        for sum in &mut sums {
            sum.key = sum.last_at.day();
        }
    }
    Ok(sums)
}

/// Chooses the statement that sums up what is asked for.
fn statement(of: &UsageOf) -> &'static str {
    let [all, of_project, of_task, of_attempt] = match of.by {
        UsageBy::Day => BY_DAY,
        UsageBy::Agent => BY_AGENT,
        UsageBy::Project => BY_PROJECT,
        UsageBy::Task => BY_TASK,
        UsageBy::Attempt => BY_ATTEMPT,
        UsageBy::Turn => BY_TURN,
    };
    match (of.project, of.task, of.attempt) {
        (_, _, Some(_)) => of_attempt,
        (_, Some(_), None) => of_task,
        (Some(_), None, None) => of_project,
        (None, None, None) => all,
    }
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

#[cfg(test)]
mod tests {
    use forge_model::{AttemptId, ProjectId, TaskId};

    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn every_sum_of_usage_is_looked_up_by_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let (project, task, attempt) = (ProjectId::random(), TaskId::random(), AttemptId::random());
        let mut asked = Vec::new();
        for by in
            [UsageBy::Day, UsageBy::Agent, UsageBy::Project, UsageBy::Task, UsageBy::Attempt, UsageBy::Turn]
        {
            for narrowed in 0..8 {
                let given = |bit: u32| narrowed & (1 << bit) != 0;
                asked.push(UsageOf {
                    project: given(0).then_some(project),
                    task: given(1).then_some(task),
                    attempt: given(2).then_some(attempt),
                    since: None,
                    by,
                });
            }
        }
        store
            .read(move |conn| {
                for of in asked {
                    let sql = format!("explain query plan {}", statement(&of));
                    let plan = conn.query(&sql, args![0_i64, of.project, of.task, of.attempt])?;
                    let plan: Vec<String> = plan.iter().map(|row| row.text(3)).collect::<Result<_, _>>()?;
                    let wanted = match (of.project, of.task, of.attempt) {
                        (_, _, Some(_)) => "usages_attempt (attempt_id=? AND at>?)",
                        (_, Some(_), None) => "usages_task (task_id=? AND at>?)",
                        (Some(_), None, None) => "usages_project (project_id=? AND at>?)",
                        (None, None, None) => "usages_at (at>?)",
                    };
                    let looked_up = format!("SEARCH usages USING INDEX {wanted}");
                    assert!(plan.contains(&looked_up), "{of:?}: {plan:?}");
                    assert!(!plan.iter().any(|step| step.starts_with("SCAN")), "{of:?}: {plan:?}");
                }
                Ok(())
            })
            .await
            .unwrap();
    }
}
