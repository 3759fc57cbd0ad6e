//! Supervision from outside: real processes, real files, real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod control;
mod disk;
mod fixtures;
mod install;
mod log;
mod lost;
mod output;
mod spawn;
mod stage;
mod stop;
mod watch;
