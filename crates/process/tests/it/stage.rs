//! What the tests stand on: a run in a temporary directory, and waiting for a condition.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use forge_process::{
    Control, Exit, Launcher, Liveness, LogReader, Record, Spawned, Spec, Stream, liveness, spawn,
};

pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `condition` gives something.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn launcher() -> Launcher {
    Launcher { program: env!("CARGO_BIN_EXE_forge-shim-for-tests").into(), args: vec![] }
}

/// A temporary directory and the name of a run in it. Ends what is left of the run when dropped.
pub(crate) struct Stage {
    pub(crate) temp: tempfile::TempDir,
    pub(crate) dir: PathBuf,
    pub(crate) run: String,
    started: Mutex<Option<Spawned>>,
}

/// The pids of a run that was started.
pub(crate) struct Running<'a> {
    stage: &'a Stage,
    pub(crate) shim_pid: u32,
    pub(crate) agent_pid: u32,
}

impl Running<'_> {
    /// Waits for the shim's end.
    pub(crate) fn reap(self) {
        self.stage.reap();
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let temp = tempfile::tempdir().unwrap();
        let run = format!("test-{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        Self { dir: temp.path().join("run"), temp, run, started: Mutex::default() }
    }

    pub(crate) fn spec(&self, argv: &[&str]) -> Spec {
        Spec {
            argv: argv.iter().map(ToString::to_string).collect(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: self.temp.path().to_owned(),
            run: self.run.clone(),
            limit: None,
            limit_stdout: false,
            segment_bytes: None,
            inputs: Vec::new(),
            close_input: false,
        }
    }

    pub(crate) fn sh(&self, script: &str) -> Spec {
        self.spec(&["sh", "-c", script])
    }

    pub(crate) fn start(&self, spec: &Spec) -> Running<'_> {
        self.start_by(&launcher(), spec)
    }

    pub(crate) fn start_by(&self, launcher: &Launcher, spec: &Spec) -> Running<'_> {
        let spawned = spawn(launcher, &self.dir, spec).unwrap();
        let (shim_pid, agent_pid) = (spawned.shim_pid, spawned.agent_pid);
        *self.started.lock().unwrap() = Some(spawned);
        Running { stage: self, shim_pid, agent_pid }
    }

    fn reap(&self) {
        if let Some(spawned) = self.started.lock().unwrap().take() {
            spawned.reap();
        }
    }

    pub(crate) fn control(&self) -> Control {
        Control::connect(&self.dir).unwrap()
    }

    pub(crate) fn exit(&self) -> Exit {
        eventually("the exit", || match liveness(&self.dir).unwrap() {
            Liveness::Exited(exit) => Some(exit),
            Liveness::Alive => None,
            Liveness::Gone => panic!("the shim is gone: {}", self.shim_errors()),
        })
    }

    pub(crate) fn shim_errors(&self) -> String {
        fs::read_to_string(self.dir.join("shim.err")).unwrap_or_default()
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        records(&self.dir, 0)
    }

    pub(crate) fn text(&self, stream: Stream) -> String {
        String::from_utf8(bytes(&self.records(), stream)).unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// Waits until a process has written its pid into a file.
    pub(crate) fn pid(&self, name: &str) -> u32 {
        let path = self.file(name);
        eventually(name, || fs::read_to_string(&path).ok()?.strip_suffix('\n')?.trim().parse().ok())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if matches!(liveness(&self.dir), Ok(Liveness::Alive)) {
            let ladder = forge_process::Ladder { int_ms: 0, term_ms: 0 };
            let _ = Control::connect(&self.dir).and_then(|control| control.stop(&ladder));
        } else {
            let _ = forge_process::sweep(&self.run, &self.dir, &[]);
        }
        // A zombie would outlive the tests where nobody reaps orphans. One that a failed test left
        // stuck is not waited for.
        if !matches!(liveness(&self.dir), Ok(Liveness::Alive)) {
            self.reap();
        }
    }
}

pub(crate) fn records(dir: &Path, from: u64) -> Vec<Record> {
    let mut reader = LogReader::open(dir, from).unwrap();
    let mut all = Vec::new();
    loop {
        let some = reader.read(64 * 1024).unwrap();
        if some.is_empty() {
            return all;
        }
        all.extend(some);
    }
}

pub(crate) fn bytes(records: &[Record], stream: Stream) -> Vec<u8> {
    records
        .iter()
        .filter(|record| record.stream == stream)
        .flat_map(|record| record.payload.clone())
        .collect()
}

/// Whether a process runs; one that only waits to be reaped does not.
pub(crate) fn is_running(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X']))
}

#[track_caller]
pub(crate) fn kill(pid: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}
