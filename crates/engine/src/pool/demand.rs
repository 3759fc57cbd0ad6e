//! How many worktrees of a project are wanted at the moment: a stream of starts wants more of them waiting than a start
//! now and then, because each takes a while to be made and a second to settle.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forge_model::ProjectId;

/// As many wait as were started in this time: it is about twice what one takes until it is ready.
const WINDOW: Duration = Duration::from_secs(3);
/// Starts closer together than this count once: many at once are no stream, and none may follow. With the window, it is
/// what bounds the reserve: fifteen.
const APART: Duration = Duration::from_millis(200);
/// With fewer starts in the window there is no stream.
const STREAM: usize = 4;
/// For so long after a stream its reserve is kept, because the stream may go on. No more are made for it meanwhile.
const KEPT: Duration = Duration::from_secs(60);

/// The starts of each project.
#[derive(Debug, Default)]
pub(super) struct Demand(Mutex<HashMap<ProjectId, Starts>>);

#[derive(Debug)]
struct Starts {
    recent: VecDeque<Instant>,
    last: Instant,
    /// The largest reserve of late, and when it was last wanted.
    most: (usize, Instant),
}

/// How many worktrees a stream of starts wants.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reserve {
    /// So many are made.
    pub(super) made: usize,
    /// So many are kept once they are there.
    pub(super) kept: usize,
}

impl Demand {
    /// Notes a start.
    pub(super) fn note(&self, project: ProjectId, now: Instant) {
        let mut projects = self.lock();
        let starts = projects.entry(project).or_insert_with(|| Starts {
            recent: VecDeque::new(),
            last: now,
            most: (0, now),
        });
        let is_apart = starts.recent.back().is_none_or(|last| now.duration_since(*last) >= APART);
        if is_apart {
            starts.recent.push_back(now);
        }
        starts.last = now;
        starts.reserve(now);
    }

    /// Returns the reserve of a project.
    pub(super) fn reserve(&self, project: ProjectId, now: Instant) -> Reserve {
        self.lock().get_mut(&project).map(|starts| starts.reserve(now)).unwrap_or_default()
    }

    /// Says whether starts of any project come in a stream.
    pub(super) fn is_stream(&self, now: Instant) -> bool {
        let mut projects = self.lock();
        projects.retain(|_, starts| now.duration_since(starts.last) < KEPT * 2);
        projects.values_mut().any(|starts| starts.reserve(now).made > 0)
    }

    /// Says whether a reserve is kept that may be given up without anything happening.
    pub(super) fn is_kept(&self, now: Instant) -> bool {
        self.lock().values_mut().any(|starts| starts.reserve(now).kept > 0)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectId, Starts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Starts {
    fn reserve(&mut self, now: Instant) -> Reserve {
        while self.recent.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.recent.pop_front();
        }
        let made = if self.recent.len() < STREAM { 0 } else { self.recent.len() };
        if made >= self.most.0 || now.duration_since(self.most.1) > KEPT {
            self.most = (made, now);
        }
        Reserve { made, kept: self.most.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(demand: &Demand, project: ProjectId, begin: Instant, count: u32, every: Duration) -> Instant {
        for number in 0..count {
            demand.note(project, begin + every * number);
        }
        begin + every * count
    }

    #[test]
    fn the_reserve_grows_with_a_stream_is_kept_a_minute_and_shrinks() {
        let (demand, project, begin) = (Demand::default(), ProjectId::random(), Instant::now());
        let end = starts(&demand, project, begin, 60, Duration::from_millis(350));
        let reserve = demand.reserve(project, end);
        assert!((8..=9).contains(&reserve.made) && (8..=9).contains(&reserve.kept), "{reserve:?}");
        assert_eq!(demand.reserve(ProjectId::random(), end), Reserve::default());
        let later = end + Duration::from_secs(10);
        assert_eq!(demand.reserve(project, later), Reserve { made: 0, kept: reserve.kept });
        assert!(!demand.is_stream(later) && demand.is_kept(later));
        let over = end + KEPT * 2;
        assert_eq!(demand.reserve(project, over), Reserve::default());
        assert!(!demand.is_stream(over) && !demand.is_kept(over));
        assert!(demand.lock().is_empty());
    }

    #[test]
    fn neither_many_at_once_nor_one_now_and_then_are_a_stream_and_the_reserve_is_bounded() {
        let project = ProjectId::random();
        for (every, count, made) in [(0, 20, 0..=0), (1100, 20, 0..=0), (1, 60_000, 12..=15)] {
            let demand = Demand::default();
            let end = starts(&demand, project, Instant::now(), count, Duration::from_millis(every));
            let reserve = demand.reserve(project, end);
            assert!(made.contains(&reserve.made) && made.contains(&reserve.kept), "{every}: {reserve:?}");
        }
    }
}
