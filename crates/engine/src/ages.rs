//! How old things are, by time that has been seen to pass.
//!
//! What is deleted for good by age is deleted by this clock, and never by the difference of two readings of the wall
//! clock: that one jumps, by years when a battery is empty or a hand slips. The wall clock is split into stretches in
//! which it went as fast as the clock that nobody can set; what it jumps between two of them makes nothing older. The
//! stretches are kept in the store, because what is to be deleted is older than the server.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use forge_model::Time;
use serde::{Deserialize, Serialize};

use crate::store::settings;
use crate::{Engine, Error, Result};

/// Where the stretches are kept.
const SCOPE: &str = "ages";

/// How far the two clocks may come apart before that is a jump: an adjustment over the network is none.
const APART: i64 = 60_000;

/// What an absence counts for at most when only the wall clock tells of it: the machine was off.
const ABSENCE: i64 = 24 * 60 * 60 * 1000;

/// How many stretches are remembered. Most machines need one; one that is off at weekends begins one a week.
const MOST: usize = 256;

/// What the clocks said at one moment, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reading {
    wall: i64,
    /// The clock that nobody can set, from the machine's start, and counting while it sleeps.
    ticks: i64,
    /// Which start of the machine that was.
    boot: String,
}

/// A time in which the wall clock went as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    from: i64,
    to: i64,
    /// The wall clock less the time that has been seen to pass.
    ahead: i64,
}

/// The clock of ages, as far as it has been read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ages {
    /// In the order in which they were; the first one has no beginning, whatever it says.
    stretches: Vec<Stretch>,
    last: Reading,
}

impl Engine {
    /// Reads the clocks, and remembers what they said.
    pub(crate) async fn ages(&self) -> Result<Ages> {
        let read = self.inner.store.write(|tx| {
            let known =
                settings::one(tx.conn(), SCOPE)?.and_then(|body| serde_json::from_str::<Ages>(&body).ok());
            let reading = Reading::now(tx.now());
            let ages = match known {
                Some(known) => known.read_on(reading),
                None => Ages::begin(reading),
            };
            let body = serde_json::to_string(&ages);
            if let Ok(body) = &body {
                settings::put(tx.conn(), SCOPE, body, tx.now())?;
            }
            Ok(body.map(|_| ages))
        });
        read.await?
            .map_err(|error| Error::internal(format!("the clocks' readings cannot be written: {error}")))
    }
}

impl Reading {
    fn now(wall: Time) -> Self {
        let (ticks, boot) = since_boot(Path::new("/proc")).unwrap_or_else(since_start);
        Self { wall: wall.millis(), ticks, boot }
    }
}

/// Reads how long the machine has been up, sleep included, and which start that was; none where the system has no such
/// files.
fn since_boot(proc: &Path) -> Option<(i64, String)> {
    let boot = std::fs::read_to_string(proc.join("sys/kernel/random/boot_id")).ok()?;
    let uptime = std::fs::read_to_string(proc.join("uptime")).ok()?;
    let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    Some(((seconds * 1000.0) as i64, boot.trim().to_string()))
}

/// Tells how long this process has been there: what is known everywhere.
fn since_start() -> (i64, String) {
    static START: OnceLock<(Instant, String)> = OnceLock::new();
    let (at, name) = START.get_or_init(|| (Instant::now(), forge_model::RunId::random().to_string()));
    (i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX), name.clone())
}

impl Ages {
    fn begin(reading: Reading) -> Self {
        let stretch = Stretch { from: reading.wall, to: reading.wall, ahead: 0 };
        Self { stretches: vec![stretch], last: reading }
    }

    /// A clock that was never seen to jump.
    #[cfg(test)]
    pub(crate) fn right_at(now: Time) -> Self {
        Self::begin(Reading { wall: now.millis(), ticks: 0, boot: String::new() })
    }

    /// The same clock a moment later, when the wall clock has been set.
    #[cfg(test)]
    pub(crate) fn jumped_to(self, wall: Time) -> Self {
        let now = Reading { wall: wall.millis(), ..self.last.clone() };
        self.read_on(now)
    }

    fn read_on(mut self, now: Reading) -> Self {
        let passed = if now.boot == self.last.boot {
            now.ticks.saturating_sub(self.last.ticks).max(0)
        } else {
            now.wall.saturating_sub(self.last.wall).clamp(0, ABSENCE)
        };
        let ahead = now.wall.saturating_sub(self.now().saturating_add(passed));
        self.last = now;
        let wall = self.last.wall;
        match self.stretches.last_mut() {
            Some(stretch) if stretch.ahead.abs_diff(ahead) <= APART.unsigned_abs() => {
                stretch.to = stretch.to.max(wall);
            }
            _ => self.stretches.push(Stretch { from: wall, to: wall, ahead }),
        }
        let spare = self.stretches.len().saturating_sub(MOST);
        self.stretches.drain(..spare);
        self
    }

    /// Returns what the clock of ages says now.
    fn now(&self) -> i64 {
        self.stretches.last().map_or(self.last.wall, |last| last.to.saturating_sub(last.ahead))
    }

    /// Returns how old something is that the wall clock gave a date, in milliseconds: less than nothing when that is
    /// ahead of every reading. What may be of two moments, or is of none that was seen, is of the later one.
    pub(crate) fn of(&self, at: Time) -> i64 {
        self.now().saturating_sub(self.born(at.millis()))
    }

    /// Returns how old something is that a file system gave a date.
    pub(crate) fn of_file(&self, at: SystemTime) -> i64 {
        let millis = |since: Duration| i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        self.of(Time::from_millis(match at.duration_since(UNIX_EPOCH) {
            Ok(since) => millis(since),
            Err(before) => -millis(before.duration()),
        }))
    }

    fn born(&self, at: i64) -> i64 {
        let stretches = self.stretches.iter().enumerate().rev();
        let within = stretches.clone().find(|(nth, one)| (*nth == 0 || one.from <= at) && at <= one.to);
        if let Some((_, one)) = within {
            return at.saturating_sub(one.ahead);
        }
        // It fell between two readings, so it is at most as old as the one that came next.
        let Some((nth, before)) = stretches.filter(|(_, one)| one.to <= at).max_by_key(|(_, one)| one.to)
        else {
            return self.now();
        };
        match self.stretches.get(nth + 1) {
            Some(next) => next.from.saturating_sub(next.ahead),
            None => at.saturating_sub(before.ahead),
        }
    }

    /// Returns a date of the wall clock: everything from before it is older than so many milliseconds.
    pub(crate) fn before(&self, millis: i64) -> Time {
        let limit = self.now().saturating_sub(millis);
        let starts = |one: &Stretch| one.from.saturating_sub(one.ahead);
        let young = self.stretches.iter().enumerate().flat_map(|(nth, one)| {
            let from = if nth == 0 { i64::MIN } else { one.from };
            let within = (one.to.saturating_sub(one.ahead) >= limit)
                .then(|| from.max(limit.saturating_add(one.ahead)));
            let next = self.stretches.get(nth + 1);
            let after = next.filter(|next| starts(next) >= limit).map(|_| one.to.saturating_add(1));
            [within, after].into_iter().flatten()
        });
        Time::from_millis(young.min().unwrap_or(self.last.wall))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * 60 * 1000;
    const DAY: i64 = 24 * HOUR;
    const YEARS: i64 = 3650 * DAY;
    /// When the machine was started, in the tests' wall clock.
    const ZERO: i64 = 20_000 * DAY;

    /// A machine whose clocks are turned by hand.
    struct Machine {
        ages: Ages,
        now: Reading,
    }

    impl Machine {
        fn new() -> Self {
            let now = Reading { wall: ZERO, ticks: 0, boot: "first".into() };
            Self { ages: Ages::begin(now.clone()), now }
        }

        /// Lets time pass, with a reading each hour.
        fn wait(&mut self, millis: i64) {
            for _ in 0..millis / HOUR {
                self.now.wall += HOUR;
                self.now.ticks += HOUR;
                self.read();
            }
        }

        fn jump(&mut self, millis: i64) {
            self.now.wall += millis;
            self.read();
        }

        fn reboot(&mut self, away: i64) {
            self.now.wall += away;
            self.now.ticks = 0;
            self.now.boot.push('+');
            self.read();
        }

        fn read(&mut self) {
            // As a server does: what is kept is JSON.
            let kept: Ages = serde_json::from_str(&serde_json::to_string(&self.ages).unwrap()).unwrap();
            self.ages = kept.read_on(self.now.clone());
        }

        fn date(&self) -> Time {
            Time::from_millis(self.now.wall)
        }

        /// Says whether something is older, after a look whether both questions are answered alike.
        fn is_older(&self, at: Time, millis: i64) -> bool {
            let older = self.ages.of(at) > millis;
            if at < self.ages.before(millis) {
                assert!(older, "{at:?} is deleted, and is no older than {}", self.ages.of(at));
            }
            older
        }
    }

    #[test]
    fn while_the_clock_goes_right_an_age_is_the_difference_of_two_dates() {
        let mut machine = Machine::new();
        let (old, made) = (Time::from_millis(ZERO - 3 * DAY), machine.date());
        machine.wait(5 * DAY);
        assert_eq!((machine.ages.of(old), machine.ages.of(made)), (8 * DAY, 5 * DAY));
        assert_eq!(machine.ages.before(2 * DAY), Time::from_millis(ZERO + 3 * DAY));
        assert_eq!(machine.ages.stretches.len(), 1);
    }

    #[test]
    fn a_clock_that_jumps_ahead_makes_nothing_older() {
        let mut machine = Machine::new();
        let made = machine.date();
        machine.wait(3 * DAY);
        let late = machine.date();
        machine.jump(YEARS);
        assert!(!machine.is_older(made, 7 * DAY) && machine.ages.before(7 * DAY) <= made);
        assert_eq!((machine.ages.of(made), machine.ages.of(late)), (3 * DAY, 0));
        let after = machine.date();
        machine.wait(5 * DAY);
        assert!(machine.is_older(made, 7 * DAY) && machine.ages.before(7 * DAY) > made);
        assert!(!machine.is_older(late, 7 * DAY) && !machine.is_older(after, 7 * DAY));
        assert_eq!((machine.ages.of(late), machine.ages.of(after)), (5 * DAY, 5 * DAY));
        machine.wait(3 * DAY);
        assert!(machine.ages.before(7 * DAY) > late);
    }

    #[test]
    fn a_clock_that_is_put_back_keeps_things_no_longer_than_their_time() {
        let mut machine = Machine::new();
        let made = machine.date();
        machine.wait(3 * DAY);
        machine.jump(-YEARS);
        let after = machine.date();
        assert!(!machine.is_older(made, 2 * YEARS) && !machine.is_older(made, 7 * DAY));
        machine.wait(5 * DAY);
        assert_eq!((machine.ages.of(made), machine.ages.of(after)), (8 * DAY, 5 * DAY));
        // By a date alone nothing can be told of the two apart, so what is left waits.
        assert!(machine.ages.before(7 * DAY) <= after);
        machine.wait(5 * DAY);
        assert!(machine.ages.before(7 * DAY) > after);
    }

    #[test]
    fn there_and_back_again_loses_nothing() {
        let mut machine = Machine::new();
        let made = machine.date();
        machine.wait(DAY);
        machine.jump(YEARS);
        let wrong = machine.date();
        machine.wait(DAY);
        machine.jump(-YEARS);
        machine.wait(DAY);
        assert_eq!((machine.ages.of(made), machine.ages.of(wrong)), (3 * DAY, 2 * DAY));
        for limit in [HOUR, DAY, 2 * DAY, 7 * DAY, YEARS] {
            machine.is_older(made, limit);
            machine.is_older(wrong, limit);
        }
    }

    #[test]
    fn a_server_that_was_away_on_a_machine_that_was_up_or_asleep_missed_no_time() {
        let mut machine = Machine::new();
        let made = machine.date();
        machine.now.wall += 30 * DAY;
        machine.now.ticks += 30 * DAY;
        machine.read();
        assert_eq!(machine.ages.of(made), 30 * DAY);
        // It was away, and the clock jumped meanwhile.
        machine.now.ticks += DAY;
        machine.now.wall += YEARS;
        machine.read();
        assert_eq!(machine.ages.of(made), 31 * DAY);
    }

    #[test]
    fn a_machine_that_was_off_counts_a_day_at_most_each_time() {
        let mut machine = Machine::new();
        let made = machine.date();
        machine.reboot(10 * HOUR);
        assert_eq!(machine.ages.of(made), 10 * HOUR);
        machine.reboot(YEARS);
        assert_eq!(machine.ages.of(made), 34 * HOUR);
        // An empty battery: it starts long ago, and hears the time a little later.
        machine.reboot(-2 * YEARS);
        machine.jump(2 * YEARS);
        assert_eq!(machine.ages.of(made), 34 * HOUR);
        assert!(machine.ages.before(7 * DAY) <= made);
    }

    #[test]
    fn what_fell_between_two_readings_is_never_too_old() {
        let mut machine = Machine::new();
        machine.wait(DAY);
        // Half an hour after a reading something was made; then the clock jumped, and was read.
        let unseen = Time::from_millis(machine.now.wall + HOUR / 2);
        machine.now.ticks += HOUR;
        machine.jump(YEARS);
        assert_eq!(machine.ages.of(unseen), 0);
        machine.wait(2 * DAY);
        assert_eq!(machine.ages.of(unseen), 2 * DAY);
        assert!(!machine.is_older(unseen, 3 * DAY));
    }

    #[test]
    fn a_clock_that_is_set_a_little_begins_no_stretch_and_many_are_not_kept() {
        let mut machine = Machine::new();
        for _ in 0..100 {
            machine.wait(HOUR);
            machine.jump(if machine.ages.stretches.len().is_multiple_of(2) { 500 } else { -500 });
        }
        assert!(machine.ages.stretches.len() < 5, "{}", machine.ages.stretches.len());
        for _ in 0..1000 {
            machine.jump(HOUR);
        }
        assert_eq!(machine.ages.stretches.len(), MOST);
    }

    #[test]
    fn the_machines_own_clocks_can_be_read() {
        let now = Reading::now(crate::store::now());
        assert!(now.ticks >= 0 && !now.boot.is_empty());
        let ages = Ages::begin(now).read_on(Reading::now(crate::store::now()));
        assert!(ages.of(Time::from_millis(ages.last.wall)) < 60_000);
        assert!(since_start().0 >= 0 && since_boot(Path::new("/nowhere")).is_none());
    }
}
