//! The player of the built-in scripted agent: a process of its own that does what its script says.
//!
//! The script is the prompt, one verb a line, or a file that the prompt names by `play PATH`. The player answers on
//! standard output by the protocol of `forge_agents::scripted`, and reads further turns and answers from standard input.
//! It uses no network and no account.

mod edit;
mod output;
mod script;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use forge_agents::scripted::{Event, Input};
use output::Output;
use script::Verb;

/// How much of a command's output is told. The rest is read and dropped.
const MOST_OUTPUT: u64 = 1024 * 1024;

/// What the name of a session begins with that cannot be gone on with.
const FORGOTTEN: &str = "forgotten-";

/// Plays turns until standard input ends, or does the one thing `--detach` asks for.
pub(crate) fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let played = match read_args(args) {
        Ok(Mode::Detach(argv)) => detach(&argv).map_err(Stop::Broken),
        Ok(Mode::Play { session }) => {
            Player::start(session).map_err(Stop::Broken).and_then(|mut player| player.play_all())
        }
        Err(error) => Err(Stop::Broken(error)),
    };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Exit(code)) => ExitCode::from(code),
        Err(Stop::Turn) => ExitCode::SUCCESS,
        Err(Stop::Broken(error)) => {
            eprintln!("forge scripted: {error:#}");
            ExitCode::FAILURE
        }
    }
}

enum Mode {
    Play { session: Option<String> },
    Detach(Vec<OsString>),
}

/// Why the player ends before its input does.
enum Stop {
    /// The script says so, or is wrong.
    Exit(u8),
    /// The turn is over, and what is left of its script is not played.
    Turn,
    Broken(anyhow::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Broken(anyhow::Error::new(error).context("could not write to standard output"))
    }
}

fn read_args(mut args: impl Iterator<Item = OsString>) -> anyhow::Result<Mode> {
    let Some(first) = args.next() else { return Ok(Mode::Play { session: None }) };
    match first.to_str() {
        Some("--session") => {
            let session = args.next().and_then(|id| id.into_string().ok());
            let session = session.context("--session needs an id")?;
            // A session that was branched off has a name of its own.
            let forks = args.next().is_some_and(|arg| arg == "--fork");
            Ok(Mode::Play { session: Some(session).filter(|session| !forks || is_forgotten(session)) })
        }
        Some("--detach") => Ok(Mode::Detach(args.skip_while(|arg| arg == "--").collect())),
        _ => bail!("unknown argument {}", first.display()),
    }
}

struct Player {
    output: Output,
    inputs: Receiver<Input>,
    /// Turns that came while another was played.
    waiting: VecDeque<String>,
    asks: u64,
    runs: u64,
}

impl Player {
    fn start(session: Option<String>) -> anyhow::Result<Self> {
        let mut output = Output::open()?;
        if session.as_deref().is_some_and(is_forgotten) {
            output.event(&Event::Unknown).context("could not write to standard output")?;
            bail!("the script that was played in this session said to forget it");
        }
        let id = session.unwrap_or_else(made_up_session);
        output.event(&Event::Session { id }).context("could not write to standard output")?;
        Ok(Self { output, inputs: read_inputs(), waiting: VecDeque::new(), asks: 0, runs: 0 })
    }

    fn play_all(&mut self) -> Result<(), Stop> {
        while let Some(script) = self.next_turn() {
            match self.play_turn(&script) {
                Ok(()) => self.output.event(&Event::Done)?,
                Err(Stop::Turn) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    fn play_turn(&mut self, turn: &str) -> Result<(), Stop> {
        let file = script::played_file(turn).map(edit::read).transpose();
        let file = match file {
            Ok(file) => file,
            Err(error) => return self.refuse(&format!("{error:#}")),
        };
        for verb in script::verbs(file.as_deref().unwrap_or(turn)) {
            match verb {
                Ok(verb) => self.play(verb)?,
                Err(mistake) => return self.refuse(&mistake),
            }
        }
        Ok(())
    }

    /// Waits for a turn; none when standard input has ended.
    fn next_turn(&mut self) -> Option<String> {
        if let Some(script) = self.waiting.pop_front() {
            return Some(script);
        }
        loop {
            match self.inputs.recv() {
                Ok(Input::Turn(script)) => return Some(script),
                Ok(Input::Answer(_)) => {}
                Err(_) => return None,
            }
        }
    }

    fn play(&mut self, verb: Verb) -> Result<(), Stop> {
        match verb {
            Verb::Say(text) => self.output.say(&text)?,
            Verb::Think(text) => self.output.event(&Event::Think { text })?,
            Verb::Edit { path, content } => match edit::write(&path, &content) {
                Ok(()) => self.output.event(&Event::Edit { path, content })?,
                Err(error) => return self.refuse(&format!("{error:#}")),
            },
            Verb::Run(command) => self.run(command)?,
            Verb::Todos(todos) => self.output.event(&Event::Todos { todos })?,
            Verb::Lines { count, every } => {
                let start = Instant::now();
                if every.is_zero() {
                    self.output.flood(count)?;
                } else {
                    for number in 1..=count {
                        self.output.numbered(number)?;
                        // By the clock of the first line, so that many small delays do not add up.
                        let due = every.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX));
                        thread::sleep(due.saturating_sub(start.elapsed()));
                    }
                }
            }
            Verb::Sleep(time) => thread::sleep(time),
            Verb::Ask(text) => self.ask([|id| Event::Ask { id, text }])?,
            Verb::Permit { tool, inputs } => self.ask(inputs.into_iter().map(|input| {
                let tool = tool.clone();
                |id| Event::Permit { id, tool, input }
            }))?,
            Verb::Plan(text) => self.ask([|id| Event::Plan { id, text }])?,
            Verb::Use([input, output, cached, cost_micros]) => {
                self.output.event(&Event::Used { input, output, cached, cost_micros })?;
            }
            Verb::Forget => {
                let id = format!("{FORGOTTEN}{}", made_up_session());
                self.output.event(&Event::Session { id })?;
            }
            Verb::Limit(time) => {
                let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + time;
                let until_ms = i64::try_from(until.as_millis()).ok();
                self.output.event(&Event::Limited { until_ms })?;
                return Err(Stop::Turn);
            }
            Verb::Spawn(command) => spawn(&command).map_err(Stop::Broken)?,
            Verb::IgnoreSignals => {
                // A handler that only sets a flag takes the place of the default, which is to die.
                for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
                    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
                        .context("could not ignore a signal")
                        .map_err(Stop::Broken)?;
                }
            }
            Verb::Hang => loop {
                thread::park();
            },
            Verb::Exit(code) => {
                if code == 0 {
                    self.output.event(&Event::Done)?;
                }
                return Err(Stop::Exit(code));
            }
        }
        Ok(())
    }

    /// Says what is wrong with the script and ends.
    fn refuse(&mut self, mistake: &str) -> Result<(), Stop> {
        self.output.say(mistake)?;
        Err(Stop::Exit(2))
    }

    fn run(&mut self, command: String) -> Result<(), Stop> {
        self.runs += 1;
        let id = format!("run-{}", self.runs);
        self.output.event(&Event::Run { id: id.clone(), command: command.clone() })?;
        let (exit, output) = run(&command).map_err(Stop::Broken)?;
        self.output.event(&Event::Ran { id, exit, output })?;
        Ok(())
    }

    /// Asks all of it at once, and goes on when all of it is answered.
    fn ask<Asked: FnOnce(String) -> Event>(
        &mut self,
        asked: impl IntoIterator<Item = Asked>,
    ) -> Result<(), Stop> {
        let mut open = Vec::new();
        for event in asked {
            self.asks += 1;
            let id = format!("ask-{}", self.asks);
            self.output.event(&event(id.clone()))?;
            open.push(id);
        }
        while !open.is_empty() {
            match self.inputs.recv() {
                Ok(Input::Turn(script)) => self.waiting.push_back(script),
                Ok(Input::Answer(answer)) => {
                    let Some(at) = open.iter().position(|id| *id == answer.ask) else { continue };
                    open.remove(at);
                    let words = match (answer.denied, answer.text) {
                        (Some(reason), _) if reason.is_empty() => "denied".to_string(),
                        (Some(reason), _) => format!("denied: {reason}"),
                        (None, Some(text)) => text,
                        (None, None) => "approved".to_string(),
                    };
                    self.output.say(&words)?;
                }
                Err(_) => {
                    let open = open.join(", ");
                    return Err(Stop::Broken(anyhow::anyhow!("standard input ended while {open} was open")));
                }
            }
        }
        Ok(())
    }
}

/// Reads standard input in a thread of its own, so that a turn can come while another is played.
fn read_inputs() -> Receiver<Input> {
    let (sender, inputs) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(input) => {
                    if sender.send(input).is_err() {
                        return;
                    }
                }
                Err(error) if !line.trim().is_empty() => {
                    eprintln!("forge scripted: could not read an input: {error}");
                }
                Err(_) => {}
            }
        }
    });
    inputs
}

/// Runs a command to its end and returns its exit code and what it printed on both of its streams.
fn run(command: &str) -> anyhow::Result<(i64, String)> {
    let (mut reader, writer) = io::pipe().context("could not make a pipe")?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null());
    shell.stdout(writer.try_clone().context("could not copy a pipe")?).stderr(writer);
    let mut child = shell.spawn().with_context(|| format!("could not run {command:?}"))?;
    // The builder holds the pipe's other end; while it is open, reading never comes to an end.
    drop(shell);
    let mut output = Vec::new();
    let read = (&mut reader).take(MOST_OUTPUT).read_to_end(&mut output);
    read.and_then(|_| io::copy(&mut reader, &mut io::sink()))
        .with_context(|| format!("could not read from {command:?}"))?;
    let status = child.wait().with_context(|| format!("could not wait for {command:?}"))?;
    // As a shell tells it: a signal counts from 128.
    let exit = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
    Ok((i64::from(exit), String::from_utf8_lossy(&output).into_owned()))
}

/// Starts a command in a session of its own, and returns when it is there and beyond the reach of a signal
/// to the player's group.
fn spawn(command: &str) -> anyhow::Result<()> {
    let (mut reader, writer) = io::pipe().context("could not make a pipe")?;
    let mut detached = Command::new(own_binary()?);
    detached.args(["scripted", "--detach", "--", "sh", "-c", command]);
    detached.stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
    let mut child = detached.spawn().with_context(|| format!("could not spawn {command:?}"))?;
    drop(detached);
    // The pipe is closed when the command takes the place of the process that made the session.
    io::copy(&mut reader, &mut io::sink()).with_context(|| format!("could not wait for {command:?}"))?;
    thread::spawn(move || child.wait());
    Ok(())
}

/// Begins a session and becomes the command. Returns only when that fails.
fn detach(argv: &[OsString]) -> anyhow::Result<()> {
    let Some((program, args)) = argv.split_first() else { bail!("--detach needs a command") };
    rustix::process::setsid().context("could not begin a session")?;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Err(command.exec()).with_context(|| format!("could not execute {}", program.display()))
}

/// Returns a path to this very binary that holds even when its file has been replaced.
fn own_binary() -> anyhow::Result<PathBuf> {
    let linux = PathBuf::from("/proc/self/exe");
    if linux.exists() {
        Ok(linux)
    } else {
        std::env::current_exe().context("could not find the forge binary")
    }
}

/// Says whether a session is one that a script had forgotten.
fn is_forgotten(session: &str) -> bool {
    session.starts_with(FORGOTTEN)
}

fn made_up_session() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("scripted-{}-{}", std::process::id(), since.as_micros())
}
