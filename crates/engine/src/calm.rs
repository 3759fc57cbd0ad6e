//! Lets work that nobody waits for stand back while somebody waits for a start or for the end of a run, and never for
//! long.

use std::time::Duration;

use tokio::sync::watch;

/// How many starts are under way, and how many ends whose work is being kept.
#[derive(Debug)]
pub(crate) struct Calm(watch::Sender<Counts>);

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    starts: usize,
    ends: usize,
}

/// A start or an end that is under way.
#[derive(Debug)]
pub(crate) struct UnderWay<'a> {
    calm: &'a Calm,
    which: fn(&mut Counts) -> &mut usize,
}

impl Default for Calm {
    fn default() -> Self {
        Self(watch::Sender::new(Counts::default()))
    }
}

impl Calm {
    /// Says that a start is under way until the answer is dropped.
    pub(crate) fn start(&self) -> UnderWay<'_> {
        self.begin(|counts| &mut counts.starts)
    }

    /// Says that the work of a run is being kept until the answer is dropped.
    pub(crate) fn end(&self) -> UnderWay<'_> {
        self.begin(|counts| &mut counts.ends)
    }

    /// Returns when no start is under way, or after so long.
    pub(crate) async fn wait(&self, at_most: Duration) {
        self.wait_for(at_most, |counts| counts.starts == 0).await;
    }

    /// Returns when neither a start nor an end is under way, or after so long.
    pub(crate) async fn wait_for_all(&self, at_most: Duration) {
        self.wait_for(at_most, |counts| counts.starts + counts.ends == 0).await;
    }

    fn begin(&self, which: fn(&mut Counts) -> &mut usize) -> UnderWay<'_> {
        self.0.send_modify(|counts| *which(counts) += 1);
        UnderWay { calm: self, which }
    }

    async fn wait_for(&self, at_most: Duration, is_calm: fn(&Counts) -> bool) {
        let mut counts = self.0.subscribe();
        // Whether it became calm or the time is over makes no difference, and the sender lives as long as we do.
        let _is_calm = tokio::time::timeout(at_most, counts.wait_for(is_calm)).await;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.calm.0.send_modify(|counts| *(self.which)(counts) -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[tokio::test]
    async fn work_stands_back_until_the_last_start_is_over_and_no_longer_than_it_said() {
        let calm = Calm::default();
        calm.wait(Duration::from_secs(60)).await;
        let (first, second) = (calm.start(), calm.start());
        drop(first);
        let begun = Instant::now();
        calm.wait(Duration::from_millis(20)).await;
        assert!(begun.elapsed() >= Duration::from_millis(20));
        drop(second);
        calm.wait(Duration::from_secs(60)).await;
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[tokio::test]
    async fn an_end_waits_for_starts_and_not_for_ends_and_the_rest_waits_for_both() {
        let calm = Calm::default();
        let end = calm.end();
        calm.wait(Duration::from_secs(60)).await;
        let begun = Instant::now();
        calm.wait_for_all(Duration::from_millis(20)).await;
        assert!(begun.elapsed() >= Duration::from_millis(20));
        drop(end);
        calm.wait_for_all(Duration::from_secs(60)).await;
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
