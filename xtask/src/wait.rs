//! Waiting for a condition with a deadline, never for a time.

use std::time::{Duration, Instant};

use anyhow::bail;

/// How long something that should come at once may take on a machine that does much else.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Looks until `look` finds something; fails with what was waited for when the time is over.
pub(crate) fn eventually<T>(
    within: Duration,
    what: &str,
    mut look: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if Instant::now() > deadline {
            bail!("waited {} s for {what}", within.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
