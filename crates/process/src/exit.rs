//! The record of how a run ended.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::layout::{EXIT, EXIT_RESERVE};
use crate::writer::sync_dir;
use crate::{Error, Result};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The agent's exit code, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether somebody had asked it to stop.
    pub stopped: bool,
    /// When the agent was reaped, in milliseconds since 1970.
    pub at_ms: i64,
    /// The final end of the log.
    pub log_end: u64,
    /// How many processes the agent had left behind.
    pub swept: u32,
}

impl Exit {
    /// Reads the exit record of a run, if there is one.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(EXIT);
        match fs::read(&path) {
            Ok(bytes) => {
                let exit = serde_json::from_slice(&bytes);
                exit.map(Some).map_err(|source| Error::Malformed { path, source })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::io("read", path, source)),
        }
    }

    /// Claims the room for the record, so that a full disk cannot keep a run from ending.
    pub(crate) fn reserve(dir: &Path) -> Result<File> {
        let path = dir.join(EXIT_RESERVE);
        let claim = || -> io::Result<File> {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
            file.write_all(&[b' '; 1024])?;
            Ok(file)
        };
        claim().map_err(|source| Error::io("create", &path, source))
    }

    /// Writes the record into the reserved file and gives it its name.
    pub(crate) fn write(&self, dir: &Path, reserved: &File) -> Result<()> {
        let path = dir.join(EXIT);
        let write = || -> io::Result<()> {
            let bytes = serde_json::to_vec(self)?;
            reserved.write_all_at(&bytes, 0)?;
            reserved.set_len(bytes.len() as u64)?;
            reserved.sync_all()?;
            fs::rename(dir.join(EXIT_RESERVE), &path)?;
            sync_dir(dir)
        };
        write().map_err(|source| Error::io("write", &path, source))
    }
}
