//! A supervised child as a directory: the shim, both sides.
//!
//! The shim owns one agent and lives as long as the agent does, whatever happens to the server that
//! started it. Everything it knows stands in the run's directory, so the server side of this crate
//! only reads files, follows them, and speaks to one socket. There is no async runtime here, no
//! database, and no word about tasks or attempts: a run is a directory and a marker.
//!
//! | file | what it is |
//! |---|---|
//! | `spec.json` | what to run: arguments, working directory, limits; the environment is never written |
//! | `lock` | held by the shim for its life; liveness is this lock, never a pid |
//! | `shim.json` | pids, start time and boot, as hints for a sweep |
//! | `log-<start offset>.flog` | the log: framed records addressed by byte offset |
//! | `ctl` | the control socket: input, notes, signals, stop |
//! | `exit.json` | how it ended; written once, by rename, after the last byte of the log |

mod abandon;
mod binary;
mod control;
mod descriptors;
mod ended;
mod error;
mod exit;
mod frame;
mod frozen;
mod layout;
mod liveness;
mod lock;
mod missing;
mod os;
mod protocol;
mod reader;
mod recover;
mod scan;
mod segments;
mod shim;
mod spawn;
mod spec;
mod sweep;
mod unheld;
mod watch;
mod writer;

pub use abandon::abandon;
pub use binary::{install_binary, install_launcher};
pub use control::Control;
pub use descriptors::{give_back_descriptors, raise_descriptors};
pub use ended::{EndedLog, settle};
pub use error::{Error, Result};
pub use exit::Exit;
pub use frame::{MAX_PAYLOAD, Stream};
pub use frozen::{kill_shim, thaw};
pub use layout::OWNER;
pub use liveness::{Liveness, liveness};
pub use missing::missing;
pub use protocol::{Accepted, Ladder, Signal, Status};
pub use reader::{LogReader, Record};
pub use recover::{Recovered, log_end, recover};
pub use shim::shim_main;
pub use spawn::{Launcher, SpawnError, Spawned, spawn};
pub use spec::Spec;
pub use sweep::{Supervisor, held_elsewhere, shims, sweep};
pub use unheld::{Unheld, unheld};
pub use watch::{Watch, Watcher};
pub use writer::LogWriter;
