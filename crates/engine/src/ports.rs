//! Ports of an attempt's own, so that many dev servers run beside each other.
//!
//! Each attempt leases ten ports in a row. The store says which are given, and no port is given twice; a look at
//! the machine says which somebody else has. That look binds and never listens, so nobody can connect to it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use forge_model::{AttemptId, Time};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt};

use crate::store::{Conn, Error as StoreError, ports};
use crate::{Engine, Result};

/// How many ports an attempt has: `FORGE_DEV_PORT`, and `FORGE_DEV_PORT_1` to `FORGE_DEV_PORT_9`.
pub(crate) const EACH: u16 = 10;

/// The ports that may be leased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u16,
    pub(crate) last: u16,
}

impl Range {
    /// Below the ports that systems hand out by themselves (from 32768 on Linux), above what servers are used to
    /// have: room for a thousand attempts.
    pub(crate) const DEFAULT: Range = Range { first: 20_000, last: 29_999 };
}

impl Engine {
    /// Returns the ports of an attempt and leases them when it has none. When `for_server`, it gets others if
    /// somebody else listens on the first. None when every port in the range is taken.
    pub(crate) async fn lease(&self, attempt: AttemptId, for_server: bool) -> Result<Vec<u16>> {
        let found = self.inner.store.read(move |conn| ports::of_attempt(conn, attempt)).await?;
        if found.first().is_some_and(|first| !for_server || is_free(*first)) {
            return Ok(found);
        }
        let range = self.port_range().await;
        let leased = self.inner.store.write(move |tx| {
            ports::release(tx.conn(), attempt)?;
            lease(tx.conn(), attempt, range, tx.now())
        });
        Ok(leased.await?)
    }
}

/// Leases the next free ports for an attempt that has none; gives none when all are taken. Where attempts at rest
/// hold them all, the one that has had its ports longest gives them back: it gets others with its next run.
pub(crate) fn lease(
    conn: &Conn,
    attempt: AttemptId,
    range: Range,
    now: Time,
) -> std::result::Result<Vec<u16>, StoreError> {
    loop {
        if let Some(ports) = next(&ports::firsts(conn)?, range, is_free) {
            ports::insert(conn, attempt, &ports, now)?;
            return Ok(ports);
        }
        match ports::idle(conn)? {
            Some(idle) => ports::release(conn, idle)?,
            None => return Ok(Vec::new()),
        }
    }
}

/// Finds ports in a row that nobody leases, in steps of as many as a lease has, and that are free by a look.
fn next(firsts: &[u16], range: Range, is_free: impl Fn(u16) -> bool) -> Option<Vec<u16>> {
    let (mut first, mut leased) = (range.first, firsts.iter().peekable());
    while first.checked_add(EACH - 1).is_some_and(|last| last <= range.last) {
        // Leases from a range that has moved since may stand across a step.
        while leased.next_if(|other| other.saturating_add(EACH - 1) < first).is_some() {}
        let given = leased.peek().is_some_and(|other| **other < first.saturating_add(EACH));
        let ports = first..first + EACH;
        if !given && ports.clone().all(&is_free) {
            return Some(ports.collect());
        }
        first = first.checked_add(EACH)?;
    }
    None
}

/// Says whether nobody listens on a port, on any address of this machine.
pub(crate) fn is_free(port: u16) -> bool {
    let both = SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0));
    match can_bind(AddressFamily::INET6, both) {
        Err(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL) => {
            let only = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port));
            can_bind(AddressFamily::INET, only).is_ok()
        }
        bound => bound.is_ok(),
    }
}

fn can_bind(family: AddressFamily, address: SocketAddr) -> rustix::io::Result<()> {
    let socket = socket(family, SocketType::STREAM, None)?;
    // What a server that has just ended leaves behind for a minute is in nobody's way.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if family == AddressFamily::INET6 {
        sockopt::set_ipv6_v6only(&socket, false)?;
    }
    bind(&socket, &address)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::net::TcpListener;

    use super::*;
    use crate::store::Store;

    const RANGE: Range = Range { first: 100, last: 139 };

    #[test]
    fn ports_that_are_leased_or_taken_are_passed_over() {
        let all = |_: u16| true;
        assert_eq!(next(&[], RANGE, all).unwrap(), (100..110).collect::<Vec<_>>());
        assert_eq!(next(&[100, 110], RANGE, all).unwrap()[0], 120);
        assert_eq!(next(&[100], RANGE, |port| port != 117).unwrap()[0], 120);
        // A lease from another range that stands across two steps takes both.
        assert_eq!(next(&[95, 105], RANGE, all).unwrap()[0], 120);
        assert_eq!(next(&[100, 110, 120, 130], RANGE, all), None);
        assert_eq!(next(&[], Range { first: 65_530, last: 65_535 }, all), None);
    }

    #[test]
    fn a_port_that_somebody_listens_on_is_not_free_on_any_address() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            assert!(!is_free(port), "{address}");
            drop(listener);
            assert!(is_free(port), "{address}");
        }
    }

    #[tokio::test]
    async fn two_hundred_leases_at_once_clash_with_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let store = std::sync::Arc::new(Store::open(dir.path(), 0).unwrap());
        let range = Range { first: 23_000, last: 25_999 };
        // Somebody else's servers stand in the range, some of them on one address only.
        let listeners: Vec<_> = (0..40_u16)
            .filter_map(|nth| {
                let address = ["127.0.0.1", "[::1]", "127.0.0.2"][usize::from(nth % 3)];
                TcpListener::bind(format!("{address}:{}", range.first + nth * 37)).ok()
            })
            .collect();
        let foreign: HashSet<u16> = listeners.iter().map(|it| it.local_addr().unwrap().port()).collect();
        let leases: Vec<_> = (0..200)
            .map(|_| {
                let store = store.clone();
                let attempt = AttemptId::random();
                tokio::spawn(async move {
                    store.write(move |tx| lease(tx.conn(), attempt, range, tx.now())).await.unwrap()
                })
            })
            .collect();
        let mut given = HashSet::new();
        for lease in leases {
            let ports = lease.await.unwrap();
            assert_eq!(ports.len(), 10);
            for port in ports {
                assert!(given.insert(port), "port {port} was given twice");
                assert!(!foreign.contains(&port), "port {port} is somebody else's");
            }
        }
        assert_eq!(given.len(), 2000);
        assert!(foreign.len() > 20, "only {} of somebody else's servers could be made", foreign.len());
    }

    #[tokio::test]
    async fn when_all_are_leased_an_attempt_at_rest_gives_its_ports_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let range = Range { first: 26_000, last: 26_019 };
        let (busy, first, second) = (AttemptId::random(), AttemptId::random(), AttemptId::random());
        let leased = store.write(move |tx| {
            let mark = crate::store::starts::Mark {
                run: forge_model::RunId::random(),
                attempt: busy,
                project: None,
                worktree: None,
                branch: None,
                in_place: false,
            };
            crate::store::starts::insert(tx.conn(), &mark, "{}", tx.now())?;
            let of_busy = lease(tx.conn(), busy, range, Time::from_millis(1))?;
            let of_first = lease(tx.conn(), first, range, Time::from_millis(2))?;
            let of_second = lease(tx.conn(), second, range, Time::from_millis(3))?;
            Ok((of_busy, of_first, of_second, ports::of_attempt(tx.conn(), first)?))
        });
        let (of_busy, of_first, of_second, left) = leased.await.unwrap();
        assert_eq!(of_second, of_first, "the one at rest made room");
        assert_ne!(of_busy, of_second);
        assert!(left.is_empty());
    }
}
