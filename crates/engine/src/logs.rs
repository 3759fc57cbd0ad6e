//! Reading a run's log from a position, and following it while the run lives.

use forge_model::RunId;

use crate::{Engine, Result};

/// A reader that follows a run's log.
#[derive(Debug)]
pub struct LogTail {}

/// Some output, and the position after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogBatch {
    pub chunks: Vec<Chunk>,
    /// Where to resume.
    pub position: u64,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub stream: ChunkStream,
    pub text: String,
}

/// Where a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkStream {
    Stdout,
    Stderr,
}

impl Engine {
    pub async fn log(&self, _run: RunId, _from: u64) -> Result<LogTail> {
        todo!()
    }
}

impl LogTail {
    pub async fn next(&mut self) -> Result<Option<LogBatch>> {
        todo!()
    }
}
