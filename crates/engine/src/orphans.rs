//! The git calls of a server that died: they run on without it.
//!
//! What such a call still makes could not be taken back, and what it holds locked could not be finished, so
//! nothing is touched before they have ended. They are never killed: git that is killed leaves its locks.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use forge_git::Git;

use crate::Result;

/// Marks every git call of a server, by its data directory.
const MARKER: &str = "FORGE_DATA";

/// Enough for the checkout of a large repository. A hook may take longer, but nobody waits that long for a
/// server.
const LONGEST: Duration = Duration::from_secs(10);

/// Finds git, and marks whatever it is called for.
pub(crate) fn marked_git(home: &Path) -> Result<Git> {
    let marker = (OsString::from(MARKER), home.as_os_str().to_owned());
    Ok(Git::find_in(std::env::vars_os().filter(|(name, _)| name != MARKER).chain([marker]))?)
}

/// Waits until no git call of an earlier server is under way. Blocks.
pub(crate) fn wait(home: &Path) {
    let deadline = Instant::now() + LONGEST;
    while is_under_way(home) {
        if Instant::now() > deadline {
            tracing::warn!("a git call of an earlier server does not end; going on without waiting for it");
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Looks through the processes; where there is no `/proc`, there is nothing to see.
fn is_under_way(home: &Path) -> bool {
    let marker = [MARKER.as_bytes(), b"=", home.as_os_str().as_bytes()].concat();
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        // Hooks have the marker too, and what they leave running is not git's.
        let is_git = std::fs::read(process.path().join("comm")).is_ok_and(|name| name.starts_with(b"git"));
        is_git
            && std::fs::read(process.path().join("environ"))
                .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|one| one == marker))
    })
}
