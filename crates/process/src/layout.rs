//! The names in a run directory, layout version 1. A change here needs a new version.

pub(crate) const VERSION: u8 = 1;

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
