//! A world of its own for each test: data, home, git settings, temporary files and a repository, all below one
//! directory. Whatever was started in it has ended when the world does.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Long enough for a machine that does a hundred other things.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// A world of its own.
pub(crate) struct World {
    root: TempDir,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let world = Self { root };
        for directory in ["person", "temporary", "repository"] {
            fs::create_dir(world.path(directory)).unwrap();
        }
        let settings =
            "[user]\n\tname = Ada\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n";
        fs::write(world.path("gitconfig"), settings).unwrap();
        fs::write(world.path("repository/README.md"), "hello\n").unwrap();
        world.git(&["init", "--quiet"]);
        world.git(&["add", "--all"]);
        world.git(&["commit", "--quiet", "--message=first"]);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.program("git").args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns forge as a person in this world would call it, in the repository. `CI` is set, so that no server
    /// is started by the way.
    pub(crate) fn forge(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_forge"));
        command.args(args);
        command
    }

    /// Returns any program as a person in this world would call it, in the repository.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.path("person"));
        command.env("TMPDIR", self.path("temporary"));
        command.env("GIT_CONFIG_GLOBAL", self.path("gitconfig"));
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("FORGE_HOME", self.home());
        command.env("CI", "1");
        command.current_dir(self.repository());
        command.stdin(Stdio::null());
        command
    }

    /// Runs forge to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        Running::start(self.forge(args)).end()
    }

    /// Runs forge to its end and returns the JSON it printed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let ended = self.run(&[&["--json"], args].concat());
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
    }

    /// Starts forge and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::start(self.forge(args))
    }

    /// Starts a server on any free port and waits until it serves.
    pub(crate) fn serve(&self) -> Running {
        self.serve_with(&["--port", "0"])
    }

    pub(crate) fn serve_with(&self, args: &[&str]) -> Running {
        let mut server = self.start(&[&["serve"], args].concat());
        server.line_with("Forge 0.1.0 on http://");
        server
    }

    /// Starts an attempt of the scripted agent and returns its id.
    pub(crate) fn attempt(&self, script: &str) -> String {
        let ended = self.run(&["run", "--agent", "SCRIPTED", "--detach", script]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout.trim().to_string()
    }

    /// Waits until an attempt is in a state.
    pub(crate) fn until_state(&self, attempt: &str, state: &str) {
        eventually(&format!("{attempt} is {state}"), || {
            let attempts = self.json(&["list"]);
            let mut attempts = attempts.as_array().into_iter().flatten();
            attempts.any(|one| one["id"] == *attempt && one["state"] == *state).then_some(())
        });
    }

    /// Reads what the server of this world wrote about itself.
    pub(crate) fn server_file(&self) -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(self.home().join("server.json")).ok()?).ok()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A test that failed half-way leaves agents behind; a world that never had data has nothing to end.
        if self.home().exists() {
            let ended = self.run(&["serve", "--stop", "--all"]);
            if ended.code != Some(0) {
                eprintln!("the world did not end well: {ended:?}");
            }
        }
    }
}

/// A command that runs.
pub(crate) struct Running {
    child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    lines: Receiver<Line>,
    /// Everything printed so far, and how much of each stream has been looked at.
    stdout: Printed,
    stderr: Printed,
}

#[derive(Debug, Default)]
struct Printed {
    text: String,
    looked_at: usize,
}

impl Printed {
    /// Returns the first new line that holds `text`. The two streams come in no order to each other, so what was
    /// looked at is counted for each.
    fn line_with(&mut self, text: &str) -> Option<String> {
        let found = self.text[self.looked_at..].split_inclusive('\n').position(|line| line.contains(text))?;
        let line = self.text[self.looked_at..].split_inclusive('\n').nth(found)?.trim_end().to_string();
        let upto: usize =
            self.text[self.looked_at..].split_inclusive('\n').take(found + 1).map(|line| line.len()).sum();
        self.looked_at += upto;
        Some(line)
    }
}

enum Line {
    Out(String),
    Err(String),
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let out = sender.clone();
        read_lines(child.stdout.take().unwrap(), move |line| drop(out.send(Line::Out(line))));
        read_lines(child.stderr.take().unwrap(), move |line| drop(sender.send(Line::Err(line))));
        let stdin = child.stdin.take();
        Self { child, stdin, lines, stdout: Printed::default(), stderr: Printed::default() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id() as i32).unwrap(), signal).unwrap();
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for a line on either stream that holds `text`, and returns it.
    pub(crate) fn line_with(&mut self, text: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(line) = self.stdout.line_with(text).or_else(|| self.stderr.line_with(text)) {
                return line;
            }
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.keep(line),
                Err(_) => panic!("no line with {text:?} came; {:?} {:?}", self.stdout, self.stderr),
            }
        }
    }

    /// Ends its standard input and waits until it ends.
    pub(crate) fn end(mut self) -> Ended {
        drop(self.stdin.take());
        self.wait_open()
    }

    /// Waits until it ends, with its standard input open.
    pub(crate) fn wait_open(mut self) -> Ended {
        let deadline = Instant::now() + DEADLINE;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.keep(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it does not end; {:?} {:?}", self.stdout, self.stderr)
                }
            }
        }
        let status = self.wait();
        let (stdout, stderr) = (std::mem::take(&mut self.stdout.text), std::mem::take(&mut self.stderr.text));
        Ended { code: status.code(), stdout, stderr }
    }

    fn wait(&mut self) -> ExitStatus {
        eventually("the process ends", || self.child.try_wait().unwrap())
    }

    fn keep(&mut self, line: Line) {
        match line {
            Line::Out(line) => self.stdout.text.push_str(&line),
            Line::Err(line) => self.stderr.text.push_str(&line),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn read_lines(stream: impl Read + Send + 'static, give: impl Fn(String) + Send + 'static) {
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            give(String::from_utf8_lossy(&line).into_owned());
            line.clear();
        }
    });
}

/// Waits until something is there.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it never came to be that {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns a port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
