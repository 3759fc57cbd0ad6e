//! Where the engine keeps its things, and which binary plays its shim.

use std::path::PathBuf;

/// How an engine is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory.
    pub home: PathBuf,
    /// Where worktrees go; none means `worktrees` in the data directory.
    pub worktrees: Option<PathBuf>,
    /// The forge binary, which plays the shim and the scripted agent.
    pub forge: PathBuf,
    pub seam: Seam,
}

/// A place between two steps where a test makes the server die or wait. Empty in ordinary life.
#[derive(Debug, Clone, Default)]
pub struct Seam {}
