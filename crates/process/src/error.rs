//! What can go wrong on the server's side of a run directory.

use std::io;
use std::path::{Path, PathBuf};

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not {act} {}", path.display())]
    Io { act: &'static str, path: PathBuf, source: io::Error },
    #[error("could not understand {}", path.display())]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("the log in {} has a record of layout {found}, and this program reads layout 1", dir.display())]
    Layout { dir: PathBuf, found: u8 },
    #[error("{} is of layout {found}, and this program reads layouts 1 and 2", path.display())]
    Spec { path: PathBuf, found: u8 },
    #[error("a shim still holds the run in {}", dir.display())]
    Alive { dir: PathBuf },
    #[error(
        "the run in {} is held by process {shim}, which holds it in another directory: this one is a copy, and nothing \
         is ended",
        dir.display()
    )]
    Elsewhere { dir: PathBuf, shim: u32 },
    #[error("no shim holds the run in {}, and it left no exit record", dir.display())]
    Gone { dir: PathBuf },
    #[error("the run in {} has ended", dir.display())]
    Ended { dir: PathBuf },
    #[error("the input of the run in {} is closed", dir.display())]
    InputClosed { dir: PathBuf },
    #[error("ordinal {given} is out of turn, expected {expected}")]
    Ordinal { given: u64, expected: u64 },
    #[error("{len} bytes are too many for one record, the most is {most}")]
    TooLong { len: usize, most: usize },
    #[error(
        "no common protocol version: this program speaks {} to {}, the shim speaks {} to {}",
        ours.0, ours.1, theirs.0, theirs.1
    )]
    Protocol { ours: (u32, u32), theirs: (u32, u32) },
    #[error("the shim in {} answered: {message}", dir.display())]
    Shim { dir: PathBuf, message: String },
}

impl Error {
    pub(crate) fn io(act: &'static str, path: impl AsRef<Path>, source: impl Into<io::Error>) -> Self {
        Self::Io { act, path: path.as_ref().to_owned(), source: source.into() }
    }
}
