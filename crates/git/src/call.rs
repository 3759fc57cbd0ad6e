//! One call of git, made so that nothing which a repository's config names is run.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::binary::Git;
use crate::error::Failure;

/// Settings of every call. They travel as `GIT_CONFIG_*` variables and not as `-c`, because `-c` splits at the
/// first `=` and a driver may be called `a=b`.
const SETTINGS: [(&str, &str); 5] = [
    ("core.fsmonitor", "false"),
    (HOOKS, "/dev/null"),
    ("core.quotePath", "false"),
    ("submodule.recurse", "false"),
    ("i18n.commitEncoding", "UTF-8"),
];

/// How much of a complaint is kept.
const TOLD: u64 = 64 * 1024;

const HOOKS: &str = "core.hooksPath";

/// One call of git.
pub(crate) struct Call {
    git: Git,
    verb: &'static str,
    globals: Vec<OsString>,
    arguments: Vec<OsString>,
    settings: Vec<(OsString, OsString)>,
    environment: Vec<(OsString, OsString)>,
    input: Option<Vec<u8>>,
    is_gentle: bool,
}

/// How far work that nobody waits for stands back behind everything else on the machine.
const GENTLE: i32 = 10;

impl Call {
    pub(crate) fn new(git: &Git, verb: &'static str) -> Call {
        let environment = [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_ALLOW_PROTOCOL", "https:ssh:file"),
            // A missing object must not make git call a transport that the repository's config chose.
            ("GIT_NO_LAZY_FETCH", "1"),
        ];
        Call {
            git: git.clone(),
            verb,
            globals: Vec::new(),
            arguments: Vec::new(),
            settings: SETTINGS.iter().map(|(key, value)| (key.into(), value.into())).collect(),
            environment: environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            input: None,
            is_gentle: false,
        }
    }

    /// Runs in `directory`, whatever the directory of this process is.
    pub(crate) fn from(self, directory: &Path) -> Call {
        self.global("-C").global(directory)
    }

    /// Adds an option that stands before the verb.
    pub(crate) fn global(mut self, option: impl AsRef<OsStr>) -> Call {
        self.globals.push(option.as_ref().to_os_string());
        self
    }

    /// Adds an option such as `--git-dir=<path>` that stands before the verb.
    pub(crate) fn global_path(self, option: &str, path: &Path) -> Call {
        let mut text = OsString::from(option);
        text.push(path);
        self.global(text)
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Call {
        self.arguments.push(argument.as_ref().to_os_string());
        self
    }

    pub(crate) fn args<const N: usize>(self, arguments: [&str; N]) -> Call {
        arguments.into_iter().fold(self, Call::arg)
    }

    pub(crate) fn setting(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Call {
        self.settings.push((key.as_ref().to_os_string(), value.as_ref().to_os_string()));
        self
    }

    pub(crate) fn settings(self, settings: &[(String, OsString)]) -> Call {
        settings.iter().fold(self, |call, (key, value)| call.setting(key, value))
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Call {
        self.environment.push((name.into(), value.as_ref().to_os_string()));
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Call {
        self.environment.retain(|(other, _)| other != name);
        self
    }

    /// Lets the person's hooks run, with their own locale, locks and transports.
    pub(crate) fn with_hooks(mut self) -> Call {
        self.settings.retain(|(key, _)| key != HOOKS);
        ["LC_ALL", "GIT_OPTIONAL_LOCKS", "GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH"]
            .into_iter()
            .fold(self, Call::without_env)
    }

    pub(crate) fn input(mut self, bytes: Vec<u8>) -> Call {
        self.input = Some(bytes);
        self
    }

    /// Lets everything else on the machine go first.
    pub(crate) fn gently(mut self) -> Call {
        self.is_gentle = true;
        self
    }

    /// Runs it and returns its standard output; any ending but success is a failure.
    pub(crate) fn run(self) -> Result<Vec<u8>, Failure> {
        let verb = self.verb;
        let output = self.output()?;
        if output.status.success() { Ok(output.stdout) } else { Err(failure(verb, &output)) }
    }

    /// Runs it for a yes or a no: success is yes, exit code 1 is no.
    pub(crate) fn ask(self) -> Result<Option<Vec<u8>>, Failure> {
        let verb = self.verb;
        let output = self.output()?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout)),
            Some(1) => Ok(None),
            _ => Err(failure(verb, &output)),
        }
    }

    /// Runs it and returns so many bytes of its standard output, and whether there were more; git is ended then.
    pub(crate) fn run_for_at_most(self, most: u64) -> Result<(Vec<u8>, bool), Failure> {
        let start = |source| Failure::Start { program: self.git.program().to_path_buf(), source };
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(start)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (mut answer, mut told) = (Vec::new(), Vec::new());
        let read = thread::scope(|scope| {
            // Beyond that its pipe is closed, and git may end of it.
            scope.spawn(|| stderr.map(|mut pipe| pipe.by_ref().take(TOLD).read_to_end(&mut told)));
            let read = stdout.map_or(Ok(0), |pipe| pipe.take(most + 1).read_to_end(&mut answer));
            if answer.len() as u64 > most {
                // It may have ended by itself, which is as good.
                let _ended = child.kill();
            }
            read
        });
        let status = read.and_then(|_| child.wait()).map_err(start)?;
        if answer.len() as u64 > most {
            answer.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            return Ok((answer, true));
        }
        match status.success() {
            true => Ok((answer, false)),
            false => Err(Failure::exit(self.verb, status, String::from_utf8_lossy(&told).trim())),
        }
    }

    /// Runs it and returns whatever came of it.
    pub(crate) fn output(mut self) -> Result<Output, Failure> {
        let input = self.input.take();
        let mut command = self.command();
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = |source| Failure::Start { program: self.git.program().to_path_buf(), source };
        let mut child = command.spawn().map_err(start)?;
        if self.is_gentle
            && let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // It does its work all the same when it may not be asked to stand back.
            let _asked = rustix::process::setpriority_process(Some(pid), GENTLE);
        }
        let pipe = child.stdin.take();
        thread::scope(|scope| {
            if let (Some(mut pipe), Some(input)) = (pipe, input) {
                // Git may end before it has read everything; its exit code tells that, not the broken pipe.
                scope.spawn(move || drop(pipe.write_all(&input)));
            }
            child.wait_with_output().map_err(start)
        })
    }

    /// Makes the command, for a caller that runs it in its own way.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.git.program());
        command.env_clear().envs(self.git.environment().iter().map(|(name, value)| (name, value)));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (index, (key, value)) in self.settings.iter().enumerate() {
            command
                .env(format!("GIT_CONFIG_KEY_{index}"), key)
                .env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        command.args(&self.globals).arg(self.verb).args(&self.arguments);
        command
    }
}

/// Reads an answer that is one line of text.
pub(crate) fn line(answer: Vec<u8>) -> String {
    String::from_utf8_lossy(&answer).trim_end_matches('\n').to_string()
}

/// Reads an answer that is a list of paths, each with a NUL behind it.
pub(crate) fn paths(answer: &[u8]) -> Vec<PathBuf> {
    let names = answer.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}

pub(crate) fn failure(verb: &str, output: &Output) -> Failure {
    Failure::exit(verb, output.status, String::from_utf8_lossy(&output.stderr).trim())
}
