//! The order of tasks by hand: each has a number, and between two there is room for another. Where the room is used
//! up, the tasks below make some.

use forge_model::{ProjectId, TaskId};

use super::conn::{Conn, Error, Row, args};
use super::statements;

/// How far apart tasks stand at first: twenty times the middle between two can be taken.
pub(crate) const GAP: i64 = 1 << 20;

/// How many tasks make room at first.
const SOME: i64 = 32;

statements! {
    PLACE = "select position, created_at from tasks where id = $1";
    LAST = "select max(position) from tasks where id <> $1";
    // The newest comes first among those with the same number.
    ABOVE = "select position from tasks where id <> $4 and (position < $1
        or (position = $1 and (created_at > $2 or (created_at = $2 and id < $3))))
        order by position desc limit 1";
    FROM = "select id, project_id, position from tasks where id <> $4 and (position > $1
        or (position = $1 and (created_at < $2 or (created_at = $2 and id >= $3))))
        order by position, created_at desc, id limit $5";
    SET = "update tasks set position = $2 where id = $1";
}

/// Puts a task below all others.
pub(crate) fn put_last(conn: &Conn, id: TaskId) -> Result<(), Error> {
    let last = conn.query(LAST, args![id])?[0].maybe_int(0)?.unwrap_or(0);
    set(conn, id, last + GAP)
}

/// Puts a task right above another, and returns those that had to make room; none when the other is not there.
pub(crate) fn put_above(
    conn: &Conn,
    id: TaskId,
    other: TaskId,
) -> Result<Option<Vec<(TaskId, ProjectId)>>, Error> {
    let rows = conn.query(PLACE, args![other])?;
    let Some(place) = rows.first() else { return Ok(None) };
    if id == other {
        return Ok(Some(Vec::new()));
    }
    let (position, created_at) = (place.int(0)?, place.int(1)?);
    let above = conn.query(ABOVE, args![position, created_at, other, id])?;
    let above = above.first().map_or(Ok(position - 2 * GAP), |row| row.int(0))?;
    if position - above >= 2 {
        set(conn, id, above + (position - above) / 2)?;
        return Ok(Some(Vec::new()));
    }
    let mut most = SOME;
    loop {
        let below = conn.query(FROM, args![position, created_at, other, id, most + 1])?;
        let (moved, step) = match below.len() as i64 > most {
            true => {
                let (end, moved) = below
                    .split_last()
                    .map_or((above, &[][..]), |(end, moved)| (end.int(2).unwrap_or(above), moved));
                (moved, (end - above) / (most + 2))
            }
            // There is nobody below them, and room without end.
            false => (&below[..], GAP),
        };
        if step >= 2 {
            set(conn, id, above + step)?;
            let spread = |(at, row): (i64, &Row)| {
                let task = row.parse(0)?;
                set(conn, task, above + at * step)?;
                Ok((task, row.parse(1)?))
            };
            return (2..).zip(moved).map(spread).collect::<Result<_, Error>>().map(Some);
        }
        most = most.saturating_mul(8);
    }
}

fn set(conn: &Conn, id: TaskId, position: i64) -> Result<(), Error> {
    conn.execute(SET, args![id, position]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn a_task_can_be_put_above_another_any_number_of_times() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let project = ProjectId::random();
        let tasks: Vec<TaskId> = (0..60).map(|_| TaskId::random()).collect();
        let wanted = store.write(move |tx| {
            let conn = tx.conn();
            conn.execute(
                "insert into projects (id, name, path, created_at, updated_at) values ($1, 'p', '/p', 0, 0)",
                args![project],
            )?;
            for task in &tasks {
                // All at one place, as rows of an older Forge that were put back are.
                conn.execute(
                    "insert into tasks (id, project_id, title, status, created_at, updated_at)
                        values ($1, $2, 't', 'todo', 0, 0)",
                    args![*task, project],
                )?;
            }
            let order = |conn: &Conn| -> Result<Vec<TaskId>, Error> {
                let rows = conn.query("select id from tasks order by position, created_at desc, id", &[])?;
                rows.iter().map(|row| row.parse(0)).collect()
            };
            let mut wanted = order(conn)?;
            for turn in 0..2000_usize {
                // Mostly above the same one, so that the room there is used up again and again.
                let other = if turn % 5 == 0 { wanted[turn * 7 % 60] } else { tasks[11] };
                let task = tasks[turn * 13 % 60];
                put_above(conn, task, other)?.unwrap();
                if task != other {
                    wanted.retain(|it| *it != task);
                    let at = wanted.iter().position(|it| *it == other).unwrap();
                    wanted.insert(at, task);
                }
                assert_eq!(order(conn)?, wanted, "turn {turn}");
            }
            put_last(conn, tasks[3])?;
            assert_eq!(order(conn)?.last(), Some(&tasks[3]));
            put_above(conn, tasks[3], TaskId::random())
        });
        assert_eq!(wanted.await.unwrap(), None, "one that is not there is above nobody");
    }
}
