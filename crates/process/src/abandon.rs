//! Giving up a run: whatever runs in its directory is ended, nothing can begin there any more, and it is gone.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::sweep::sweep_held;
use crate::{Control, Error, Ladder, Result, lock};

/// How long a shim may take to end, or to come far enough to be told.
const GIVE_UP: Duration = Duration::from_secs(10);

/// At once, by the last step of the ladder.
const AT_ONCE: Ladder = Ladder { int_ms: 0, term_ms: 0 };

/// Ends a run and removes its directory; fine when there is none.
///
/// A shim may be in any state: running, only now starting, or never started. The lock settles it: while it is
/// held here, a shim that comes late finds it taken and ends.
pub fn abandon(run: &str, dir: &Path, owners: &[String]) -> Result<()> {
    let deadline = Instant::now() + GIVE_UP;
    while dir.exists() {
        match lock::exclusive(dir) {
            Ok(_held) => {
                sweep_held(run, dir, owners)?;
                return fs::remove_dir_all(dir).map_err(|source| Error::io("remove", dir, source));
            }
            Err(Error::Alive { .. }) if Instant::now() < deadline => {
                // One that does not answer has only just begun, or is about to end: look again.
                if Control::connect(dir).and_then(|control| control.stop(&AT_ONCE)).is_err() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
