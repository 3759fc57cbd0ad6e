//! Counts refusals of each peer, so that guessing a token, or knocking without one, is answered ever more cheaply.
//!
//! The token is 256 bits, so that guessing is hopeless anyway; this keeps the log and the machine quiet. The
//! owner is never locked out of their own machine: there the right token is taken however often others failed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Peer;

/// How many refusals one window holds.
const MOST: u32 = 10;
/// How long a window is.
const WINDOW: Duration = Duration::from_secs(10);
/// How many peers are remembered; the one whose window began first is forgotten for a new one.
const PEERS: usize = 1024;

/// What a peer did. A page that has no token yet does not keep its address from bringing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Failure {
    NoToken,
    WrongToken,
    /// Not the token's failure, or another service's cookie would keep a page from bringing the token.
    WrongCookie,
}

#[derive(Debug, Default)]
pub(super) struct Failures {
    windows: Mutex<HashMap<(Peer, Failure), Window>>,
}

#[derive(Debug)]
struct Window {
    begun: Instant,
    count: u32,
}

impl Window {
    fn left(&self, now: Instant) -> Option<Duration> {
        WINDOW.checked_sub(now.saturating_duration_since(self.begun)).filter(|left| !left.is_zero())
    }
}

impl Failures {
    /// Counts a refusal; returns how long the peer should wait, when there were too many.
    pub(super) fn count(&self, peer: Peer, failure: Failure, now: Instant) -> Option<Duration> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (peer, failure);
        if windows.len() >= PEERS && !windows.contains_key(&key) {
            windows.retain(|_, window| window.left(now).is_some());
            let oldest = windows.iter().min_by_key(|(_, window)| window.begun).map(|(key, _)| *key);
            if let Some(oldest) = oldest.filter(|_| windows.len() >= PEERS) {
                windows.remove(&oldest);
            }
        }
        let window = windows.entry(key).or_insert(Window { begun: now, count: 0 });
        if window.left(now).is_none() {
            *window = Window { begun: now, count: 0 };
        }
        window.count = window.count.saturating_add(1);
        window.left(now).filter(|_| window.count > MOST)
    }

    /// Returns how long a peer should wait before anything it sends is looked at.
    pub(super) fn wait(&self, peer: Peer, failure: Failure, now: Instant) -> Option<Duration> {
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.get(&(peer, failure)).filter(|window| window.count > MOST)?;
        window.left(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u32) -> Peer {
        Peer::Address(std::net::Ipv4Addr::from(0x0a00_0000 + last).into())
    }

    #[test]
    fn the_eleventh_failure_within_ten_seconds_is_told_to_wait_for_the_rest_of_them() {
        let failures = Failures::default();
        let begun = Instant::now();
        for _ in 0..MOST {
            assert_eq!(failures.count(address(1), Failure::WrongToken, begun), None);
        }
        assert_eq!(failures.wait(address(1), Failure::WrongToken, begun), None);
        let later = begun + Duration::from_secs(4);
        assert_eq!(failures.count(address(1), Failure::WrongToken, later), Some(Duration::from_secs(6)));
        assert_eq!(failures.wait(address(1), Failure::WrongToken, later), Some(Duration::from_secs(6)));
        // Neither another peer nor another failure of the same one is meant.
        assert_eq!(failures.count(address(2), Failure::WrongToken, later), None);
        assert_eq!(failures.wait(address(1), Failure::NoToken, later), None);
        let over = begun + WINDOW;
        assert_eq!(failures.wait(address(1), Failure::WrongToken, over), None);
        assert_eq!(failures.count(address(1), Failure::WrongToken, over), None);
    }

    #[test]
    fn however_many_peers_fail_only_so_many_are_remembered() {
        let failures = Failures::default();
        let begun = Instant::now();
        for peer in 0..5000 {
            failures.count(address(peer), Failure::NoToken, begun + Duration::from_micros(peer.into()));
        }
        assert_eq!(failures.windows.lock().unwrap().len(), PEERS);
        assert!(failures.windows.lock().unwrap().contains_key(&(address(4999), Failure::NoToken)));
    }
}
