//! Starting a run: the directory, the shim, and the news that the agent really runs.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::descriptors;
use crate::layout::{MARKER, SHIM_ERRORS};
use crate::spec::{Spec, Stored};

/// Two execs take milliseconds. This is for a machine that pages, or a program on a dead network disk.
const REPORT: Duration = Duration::from_secs(30);

/// How to call the shim: a program and the arguments before the shim's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    pub program: PathBuf,
    pub args: Vec<String>,
}

/// A run that was started by this process.
#[derive(Debug)]
pub struct Spawned {
    pub shim_pid: u32,
    pub agent_pid: u32,
    child: Child,
}

impl Spawned {
    /// Waits until the shim has ended, and takes it off the process table.
    pub fn reap(mut self) {
        // The directory tells how the run ended; that the shim is somebody else's child changes nothing.
        let _ = self.child.wait();
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("could not run {program}")]
    Exec { program: String, errno: i32, source: io::Error },
    #[error("the shim for {} did not start: {message}", dir.display())]
    Shim { dir: PathBuf, message: String },
    #[error("could not {act} {}", path.display())]
    Io { act: &'static str, path: PathBuf, source: io::Error },
}

impl SpawnError {
    /// Whether the program is not installed, or not on the `PATH` it was given.
    pub fn is_missing_program(&self) -> bool {
        matches!(self, Self::Exec { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// What the shim says on its stdout, once.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    Started {
        shim_pid: u32,
        agent_pid: u32,
    },
    Exec {
        errno: i32,
    },
    /// The working directory could not be entered.
    Cwd {
        errno: i32,
    },
    Failed {
        message: String,
    },
}

/// Starts a run in a new directory. Returns when the agent's program was executed; when it could
/// not be, the answer says why and the directory is removed again.
pub fn spawn(launcher: &Launcher, dir: &Path, spec: &Spec) -> Result<Spawned, SpawnError> {
    let dir = std::path::absolute(dir).map_err(|source| io_error("resolve", dir, source))?;
    if let Some(parent) = dir.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
        made.map_err(|source| io_error("create", parent, source))?;
    }
    DirBuilder::new().mode(0o700).create(&dir).map_err(|source| io_error("create", &dir, source))?;
    start(launcher, &dir, spec).inspect_err(|_| {
        // The reason for the failure is worth more than that of a leftover directory.
        let _ = fs::remove_dir_all(&dir);
    })
}

fn start(launcher: &Launcher, dir: &Path, spec: &Spec) -> Result<Spawned, SpawnError> {
    Stored::write(dir, &launcher.args, spec).map_err(|source| io_error("write the spec in", dir, source))?;
    let errors = dir.join(SHIM_ERRORS);
    let created = File::options().append(true).create(true).mode(0o600).open(&errors);
    let stderr = created.map_err(|source| io_error("create", &errors, source))?;
    let mut command = Command::new(&launcher.program);
    command.args(&launcher.args).arg("run").arg(dir).current_dir("/");
    command.args(descriptors::former().map(|former| former.to_string()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
    // The shim hands its environment on to the agent. It is no process of the run itself, and carries no marker.
    let environment = spec.env.iter().filter(|(name, _)| name != MARKER);
    command.env_clear().envs(environment.map(|(name, value)| (name, value)));
    let program = || spec.argv.first().cloned().unwrap_or_default();
    let mut child = command.spawn().map_err(|source| match source.raw_os_error() {
        // No program takes an environment as long as this.
        Some(errno) if errno == Errno::TOOBIG.raw_os_error() => {
            SpawnError::Exec { program: program(), errno, source }
        }
        _ => io_error("start the shim by", &launcher.program, source),
    })?;

    let report = hear_report(&mut child);
    if let Ok(Report::Started { shim_pid, agent_pid }) = report {
        return Ok(Spawned { shim_pid, agent_pid, child });
    }
    // It has nothing left to do, or is stuck before the agent was there.
    let _ = child.kill();
    let _ = child.wait();
    let failed = |message: String| SpawnError::Shim { dir: dir.to_owned(), message };
    Err(match report {
        Ok(Report::Exec { errno }) => {
            SpawnError::Exec { program: program(), errno, source: io::Error::from_raw_os_error(errno) }
        }
        Ok(Report::Cwd { errno }) => {
            io_error("enter the working directory", &spec.cwd, io::Error::from_raw_os_error(errno))
        }
        Ok(Report::Failed { message }) => failed(message),
        Ok(Report::Started { .. }) => failed("it started after all".into()),
        Err(source) => {
            let said = fs::read_to_string(&errors).unwrap_or_default();
            failed(format!("{source}. {}", said.trim()).trim_end_matches([' ', '.']).to_owned())
        }
    })
}

fn hear_report(child: &mut Child) -> io::Result<Report> {
    let mut stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let deadline = Instant::now() + REPORT;
    let mut said = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it said nothing"));
        }
        let ready = poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Timespec::try_from(left).ok().as_ref());
        match ready {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut chunk = [0; 4096];
        let read = stdout.read(&mut chunk)?;
        said.extend_from_slice(&chunk[..read]);
        if let Some(end) = said.iter().position(|byte| *byte == b'\n') {
            return Ok(serde_json::from_slice(&said[..end])?);
        }
        if read == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended without a report"));
        }
    }
}

fn io_error(act: &'static str, path: &Path, source: io::Error) -> SpawnError {
    SpawnError::Io { act, path: path.to_owned(), source }
}
