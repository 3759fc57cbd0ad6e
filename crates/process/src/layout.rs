//! The names in a run directory, layout version 2. A change here needs a new version.
//!
//! Version 1 kept the agent's environment in `spec.json`. It may hold secrets, so that since version 2 it is
//! on no disk: the shim's own environment is what the agent gets. Everything else is as it was, the records of
//! the log too, which have a version of their own.

/// The version that is written.
pub(crate) const VERSION: u8 = 2;
/// The version whose spec holds the environment.
pub(crate) const VERSION_WITH_ENVIRONMENT: u8 = 1;
/// The version of a record of the log.
pub(crate) const RECORD: u8 = 1;

pub(crate) const SPEC: &str = "spec.json";
pub(crate) const LOCK: &str = "lock";
pub(crate) const SHIM: &str = "shim.json";
pub(crate) const SHIM_ERRORS: &str = "shim.err";
pub(crate) const CONTROL: &str = "ctl";
pub(crate) const EXIT: &str = "exit.json";
/// Written in full when the run starts, so that recording the exit needs no room on a full disk.
pub(crate) const EXIT_RESERVE: &str = "exit.json.tmp";

/// The variable by which every process of a run is known, however far it moved from the agent.
pub(crate) const MARKER: &str = "FORGE_RUN";
/// The variable that names the data directory which started a run. A copy of a data directory has runs of the same
/// ids, and nothing else in a process tells the two apart.
pub const OWNER: &str = "FORGE_OWNER";
