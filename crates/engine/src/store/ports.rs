//! Ports that attempts have leased.

use forge_model::{AttemptId, Time};

use super::conn::{Conn, Error, args};
use super::statements;

statements! {
    OF_ATTEMPT = "select port from ports where attempt_id = $1 order by slot";
    FIRSTS = "select port from ports where slot = 0 order by port";
    INSERT = "insert into ports (port, attempt_id, slot, created_at) values ($1, $2, $3, $4)";
    RELEASE = "delete from ports where attempt_id = $1";
    // An attempt that is removed gives its ports back itself; one that a crash left without a row has none.
    IDLE = "select p.attempt_id from ports p where p.slot = 0
        and not exists (select 1 from starts s where s.attempt_id = p.attempt_id)
        and not exists (select 1 from runs r where r.attempt_id = p.attempt_id and r.state in ('pending', 'running'))
        and not exists (select 1 from attempts a where a.id = p.attempt_id
            and a.state in ('queued', 'running', 'waiting', 'limited'))
        order by p.created_at, p.attempt_id limit 1";
}

/// Returns the ports of an attempt, the main one first.
pub(crate) fn of_attempt(conn: &Conn, attempt: AttemptId) -> Result<Vec<u16>, Error> {
    conn.query(OF_ATTEMPT, args![attempt])?.iter().map(|row| number(row.int(0)?)).collect()
}

/// Returns the first port of every lease, lowest first.
pub(crate) fn firsts(conn: &Conn) -> Result<Vec<u16>, Error> {
    conn.query(FIRSTS, &[])?.iter().map(|row| number(row.int(0)?)).collect()
}

/// Adds a lease of consecutive ports.
pub(crate) fn insert(conn: &Conn, attempt: AttemptId, ports: &[u16], now: Time) -> Result<(), Error> {
    for (slot, port) in (0_i64..).zip(ports) {
        conn.execute(INSERT, args![i64::from(*port), attempt, slot, now])?;
    }
    Ok(())
}

/// Gives the ports of an attempt back.
pub(crate) fn release(conn: &Conn, attempt: AttemptId) -> Result<(), Error> {
    conn.execute(RELEASE, args![attempt]).map(drop)
}

/// Returns the attempt that has leased its ports longest of those that nothing runs for.
pub(crate) fn idle(conn: &Conn) -> Result<Option<AttemptId>, Error> {
    conn.query(IDLE, &[])?.first().map(|row| row.parse(0)).transpose()
}

fn number(port: i64) -> Result<u16, Error> {
    u16::try_from(port).map_err(|_| Error::Other(format!("{port} is no port")))
}
