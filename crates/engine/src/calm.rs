//! Lets work that nobody waits for stand back while somebody waits for a start, and never for long.

use std::time::Duration;

use tokio::sync::watch;

/// How many starts are under way.
#[derive(Debug)]
pub(crate) struct Calm(watch::Sender<usize>);

/// A start that is under way.
#[derive(Debug)]
pub(crate) struct UnderWay<'a>(&'a Calm);

impl Default for Calm {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Calm {
    /// Says that a start is under way until the answer is dropped.
    pub(crate) fn start(&self) -> UnderWay<'_> {
        self.0.send_modify(|starts| *starts += 1);
        UnderWay(self)
    }

    /// Returns when no start is under way, or after so long.
    pub(crate) async fn wait(&self, at_most: Duration) {
        let mut starts = self.0.subscribe();
        // Whether it became calm or the time is over makes no difference, and the sender lives as long as we do.
        let _is_calm = tokio::time::timeout(at_most, starts.wait_for(|starts| *starts == 0)).await;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|starts| *starts -= 1);
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
}
