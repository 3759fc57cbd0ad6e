//! What the operating system is asked for. Linux is tested; elsewhere the same questions are
//! answered with an error that says so.

#[cfg(target_os = "linux")]
mod inotify;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(target_os = "linux")]
mod processes;

#[cfg(target_os = "linux")]
pub(crate) use {inotify::*, linux::*, processes::*};

#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

/// A file of a watched directory changed.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody gives notice there yet"))]
pub(crate) enum Notice<'a> {
    Changed {
        watch: i32,
        name: &'a str,
        closed: bool,
    },
    /// The directory is no longer watched: it was removed, or nobody asks any more.
    Forgotten {
        watch: i32,
    },
    /// Notices were lost; everything may have changed.
    Overflow,
}
