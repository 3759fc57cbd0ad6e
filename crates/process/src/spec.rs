//! What to run, as the shim finds it in the directory.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::layout::{SPEC, VERSION, VERSION_WITH_ENVIRONMENT};
use crate::{Error, Result};

/// One agent, script or dev server to run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The program and its arguments. Without a slash it is looked up on the `PATH` in `env`.
    pub argv: Vec<String>,
    /// The whole environment; nothing is inherited. `FORGE_RUN` is added. It may hold secrets, so that it is
    /// handed to the shim as its own environment and stands in no file.
    #[serde(default, skip_serializing)]
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
    /// The run's marker: the value of `FORGE_RUN` in the environment of everything it starts.
    pub run: String,
    /// How many bytes of a limited stream are kept; 256 MB unless said otherwise.
    pub limit: Option<u64>,
    /// Whether the limit holds for stdout too. An agent's stdout is its conversation and has none.
    pub limit_stdout: bool,
    /// The size at which the log begins a new file; 64 MB unless said otherwise.
    pub segment_bytes: Option<u64>,
    /// What it is told first, as inputs 1 to n. It hears this even if its starter dies at once.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Its stdin is closed after those: it hears nothing more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close_input: bool,
}

impl Spec {
    pub(crate) const LIMIT: u64 = 256 * 1024 * 1024;
}

/// Names the variables and keeps their values, which may be secrets, out of logs.
impl fmt::Debug for Spec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Spec")
            .field("argv", &self.argv)
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("run", &self.run)
            .field("limit", &self.limit)
            .field("limit_stdout", &self.limit_stdout)
            .field("segment_bytes", &self.segment_bytes)
            .field("inputs", &self.inputs.len())
            .field("close_input", &self.close_input)
            .finish()
    }
}

/// `spec.json`: the spec, and what the shim needs to call itself again.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) layout: u8,
    pub(crate) launcher_args: Vec<String>,
    #[serde(flatten)]
    pub(crate) spec: Spec,
}

impl Stored {
    pub(crate) fn write(dir: &Path, launcher_args: &[String], spec: &Spec) -> io::Result<()> {
        let stored = Self { layout: VERSION, launcher_args: launcher_args.to_vec(), spec: spec.clone() };
        let bytes = serde_json::to_vec(&stored)?;
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(dir.join(SPEC))?.write_all(&bytes)
    }

    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(SPEC);
        let bytes = fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        let stored: Self =
            serde_json::from_slice(&bytes).map_err(|source| Error::Malformed { path, source })?;
        if ![VERSION_WITH_ENVIRONMENT, VERSION].contains(&stored.layout) {
            return Err(Error::Spec { path: dir.join(SPEC), found: stored.layout });
        }
        Ok(stored)
    }

    /// The environment that a spec of the first layout holds.
    pub(crate) fn written_environment(&self) -> Option<&[(String, String)]> {
        (self.layout == VERSION_WITH_ENVIRONMENT).then_some(&self.spec.env)
    }
}
