//! The first hop: the shim's life from its start to the exit record.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;

use rustix::process::Pid;
use signal_hook::consts::SIGCHLD;

use super::agent::Agent;
use super::catch;
use super::exec::Order;
use super::input::Inputs;
use super::journal::Journal;
use super::output::{Output, Outputs};
use super::serve::{self, Served};
use crate::frame::Stream;
use crate::layout::{CONTROL, EXIT, MARKER, SHIM, VERSION};
use crate::os::{self, Process};
use crate::protocol::{VERSIONS, write_line};
use crate::spawn::Report;
use crate::spec::{Spec, Stored};
use crate::sweep::ShimRecord;
use crate::{Exit, LogWriter, lock};

/// The run's directory, which is the shim's working directory: it may have any length, and may move.
const HERE: &str = ".";

pub(super) fn run(dir: &Path) -> ExitCode {
    end_with_any_thread();
    match start(dir) {
        Ok(run) => {
            report(&Report::Started { shim_pid: std::process::id(), agent_pid: pid(run.served.agent.pid) });
            match run.finish() {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("the run was not brought to its end: {error}");
                    ExitCode::FAILURE
                }
            }
        }
        Err(failure) => {
            report(&failure);
            ExitCode::FAILURE
        }
    }
}

/// A run under way.
struct Run {
    marker: String,
    served: Arc<Served>,
    outputs: Outputs,
    reserved: File,
    /// Held until the process ends.
    _lock: File,
}

/// The agent's process, fresh from its exec.
struct Started {
    pid: Pid,
    stdin: ChildStdin,
    outputs: Vec<Output>,
}

fn start(dir: &Path) -> Result<Run, Report> {
    os::close_inherited(None).map_err(failed("close inherited descriptors"))?;
    // A parent that ignores its children would keep this process from hearing how its own ended.
    catch(&[SIGCHLD]);
    rustix::process::setsid().map_err(failed("begin a session"))?;
    os::become_subreaper().map_err(failed("become the reaper"))?;
    std::env::set_current_dir(dir).map_err(failed("enter the run's directory"))?;

    let here = Path::new(HERE);
    let lock = lock::exclusive(here).map_err(failed("take the lock"))?;
    if here.join(SHIM).exists() || here.join(EXIT).exists() {
        return Err(Report::Failed { message: "this directory has had its run".into() });
    }
    let stored = Stored::read(here).map_err(failed("read the spec"))?;
    let journal = LogWriter::create(here, stored.spec.segment_bytes).map_err(failed("begin the log"))?;
    let journal = Arc::new(Journal::new(journal));
    let reserved = Exit::reserve(here).map_err(failed("reserve the exit record"))?;
    // Of a shim that ended before it had an agent.
    let _ = fs::remove_file(CONTROL);
    let listener = UnixListener::bind(CONTROL).map_err(failed("open the control socket"))?;

    let started = start_agent(&stored)?;
    // From here on a failure ends this process, and the agent dies with it.
    record(started.pid).map_err(failed("record the pids"))?;
    let served = Arc::new(Served { agent: Agent::new(started.pid), inputs: Inputs::default(), journal });
    let untold = |problem| Report::Failed { message: format!("could not tell it: {problem:?}") };
    let mut next = 1;
    for text in stored.spec.inputs {
        served.inputs.input(&served.journal, next, text).map_err(untold)?;
        next += 1;
    }
    if stored.spec.close_input {
        served.inputs.close(&served.journal, next).map_err(untold)?;
    }
    let outputs = Outputs::drain(started.outputs, &served.journal).map_err(failed("start a thread"))?;
    let each = || Arc::clone(&served);
    start_thread("feed stdin", each(), move |served| served.inputs.feed(started.stdin, &served.journal))?;
    start_thread("sync the log", each(), |served| served.journal.keep_synced(Path::new(HERE)))?;
    start_thread("control", each(), move |served| serve::accept(&listener, &served))?;
    Ok(Run { marker: stored.spec.run, served, outputs, reserved, _lock: lock })
}

impl Run {
    /// Waits for the agent, ends what it left behind, and records the exit after the last byte.
    fn finish(self) -> io::Result<()> {
        let agent = &self.served.agent;
        let journal = &self.served.journal;
        let ended = agent.wait()?;
        let swept = agent.sweep(&self.marker).unwrap_or_else(|error| {
            // Whatever escaped, the run itself is over and must be recorded.
            eprintln!("could not sweep: {error}");
            0
        });
        self.outputs.finish();
        let log_end = journal.close();
        let exit = Exit {
            code: ended.code,
            signal: ended.signal,
            stopped: ended.stopped,
            at_ms: ended.at_ms,
            log_end,
            swept,
        };
        journal.patiently(|| exit.write(Path::new(HERE), &self.reserved));
        agent.announce(exit);
        // Nobody answers there any more; a socket that stays does no harm.
        let _ = fs::remove_file(CONTROL);
        Ok(())
    }
}

/// Starts the second hop and hears whether it became the agent.
fn start_agent(stored: &Stored) -> Result<Started, Report> {
    let spec = &stored.spec;
    let (mut heard, said) = os::inheritable_pipe().map_err(failed("open the report pipe"))?;
    let order = Order {
        report: said.as_raw_fd(),
        parent: std::process::id(),
        cwd: spec.cwd.clone(),
        argv: spec.argv.iter().map(Into::into).collect(),
    };
    let mut command = Command::new(os::own_program());
    // What this process was given as its environment is the agent's; the shim itself reads none of it.
    if let Some(environment) = stored.written_environment() {
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    }
    let spawned = command
        .args(&stored.launcher_args)
        .args(order.into_args())
        .env(MARKER, &spec.run)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    drop(said);
    let mut child = match spawned {
        Ok(child) => child,
        // The arguments or the environment are too long for any program.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::TOOBIG.raw_os_error()) => {
            return Err(Report::Exec { errno: rustix::io::Errno::TOOBIG.raw_os_error() });
        }
        Err(error) => return Err(failed("start the agent's process")(error)),
    };
    let mut report = Vec::new();
    heard.read_to_end(&mut report).map_err(failed("hear from the agent's process"))?;
    if !report.is_empty() {
        return Err(serde_json::from_slice(&report).unwrap_or_else(failed("understand the agent's process")));
    }
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Report::Failed { message: "the agent has no pipes".into() });
    };
    let limit = Some(spec.limit.unwrap_or(Spec::LIMIT));
    let outputs = vec![
        Output { stream: Stream::Stdout, pipe: stdout.into(), limit: limit.filter(|_| spec.limit_stdout) },
        Output { stream: Stream::Stderr, pipe: OwnedFd::from(stderr), limit },
    ];
    Ok(Started { pid: Pid::from_child(&child), stdin, outputs })
}

fn record(agent: Pid) -> io::Result<()> {
    let record = ShimRecord {
        layout: VERSION,
        protocol: VERSIONS,
        shim_pid: std::process::id(),
        agent_pid: pid(agent),
        start: Process::find(std::process::id()).map_or(0, |process| process.start),
        world: os::pid_world()?,
    };
    let partial = format!("{SHIM}.tmp");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
    file.write_all(&serde_json::to_vec(&record)?)?;
    fs::rename(&partial, SHIM)
}

/// Tells the server, which may be gone, and lets go of its pipe.
fn report(report: &Report) {
    // The run goes on without anybody to tell: its directory says the same.
    let _ = write_line(&mut io::stdout(), report);
    let _ = File::options().write(true).open("/dev/null").map(rustix::stdio::dup2_stdout);
}

/// A shim that lost a thread would hold its agent for ever; one that is gone is noticed.
fn end_with_any_thread() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        std::process::abort();
    }));
}

fn start_thread(
    name: &str,
    served: Arc<Served>,
    life: impl FnOnce(Arc<Served>) + Send + 'static,
) -> Result<(), Report> {
    let started = thread::Builder::new().name(name.into()).spawn(move || life(served));
    started.map(drop).map_err(failed("start a thread"))
}

fn failed<E: std::error::Error>(act: &str) -> impl FnOnce(E) -> Report {
    move |error| {
        let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        Report::Failed { message: format!("could not {act}: {error}{cause}") }
    }
}

fn pid(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get() as u32
}
