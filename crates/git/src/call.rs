//! One call of git, made so that nothing which a repository's config names is run.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use crate::binary::Git;
use crate::error::Failure;
use crate::limit::{End, Running, usual};

/// Settings of every call. They travel as `GIT_CONFIG_*` variables and not as `-c`, because `-c` splits at the
/// first `=` and a driver may be called `a=b`.
const SETTINGS: [(&str, &str); 5] = [
    ("core.fsmonitor", "false"),
    (HOOKS, "/dev/null"),
    ("core.quotePath", "false"),
    ("submodule.recurse", "false"),
    ("i18n.commitEncoding", "UTF-8"),
];

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
    /// Where it was told to run, for what is said about it.
    directory: PathBuf,
    limit: Duration,
}

/// How far work that nobody waits for stands back behind the process that has it done, and behind everything else that is
/// as important as that. The kernel derives from it the priority of disk access, too.
const GENTLE: i32 = 10;

/// The last place there is.
const LAST: i32 = 19;

impl Call {
    pub(crate) fn new(git: &Git, verb: &'static str) -> Call {
        let environment = [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_ALLOW_PROTOCOL", "https:ssh:file"),
            // A missing object must not make git call a transport that the repository's config chose.
            ("GIT_NO_LAZY_FETCH", "1"),
            // An agent can write both, and either would show another history than there is. A file that cannot be
            // is no file of grafts; an empty one would make git advise against grafts each time.
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_GRAFT_FILE", "/dev/null/none"),
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
            directory: PathBuf::new(),
            limit: usual(verb),
        }
    }

    /// Runs in `directory`, whatever the directory of this process is.
    pub(crate) fn from(mut self, directory: &Path) -> Call {
        self.directory = directory.to_path_buf();
        self.global("-C").global(directory)
    }

    /// Gives it this much time instead of what its verb usually has.
    pub(crate) fn within(mut self, limit: Duration) -> Call {
        self.limit = limit;
        self
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

    /// Lets the person's hooks run, with their own locale, locks and transports, and with the history they see.
    pub(crate) fn with_hooks(mut self) -> Call {
        self.settings.retain(|(key, _)| key != HOOKS);
        let ours = ["LC_ALL", "GIT_OPTIONAL_LOCKS", "GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH"];
        let history = ["GIT_NO_REPLACE_OBJECTS", "GIT_GRAFT_FILE"];
        ours.into_iter().chain(history).fold(self, Call::without_env)
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
        let verb = self.verb;
        let (mut output, has_more) = self.hear(Some(most))?;
        match (has_more, output.status.success()) {
            (true, _) => {
                output.stdout.truncate(usize::try_from(most).unwrap_or(usize::MAX));
                Ok((output.stdout, true))
            }
            (false, true) => Ok((output.stdout, false)),
            (false, false) => Err(failure(verb, &output)),
        }
    }

    /// Runs it and returns whatever came of it.
    pub(crate) fn output(self) -> Result<Output, Failure> {
        Ok(self.hear(None)?.0)
    }

    fn hear(mut self, most: Option<u64>) -> Result<(Output, bool), Failure> {
        let input = self.input.take();
        let mut command = self.command();
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = self.start(&mut command)?;
        let limit = running.limit();
        let heard = running.hear(input, most).map_err(|source| self.not_started(source))?;
        let has_more = most.is_some_and(|most| heard.output.len() as u64 > most);
        let status = match self.exited(heard.end, limit) {
            // It was ended because it had said enough.
            Err(_) if has_more => ExitStatus::default(),
            status => status?,
        };
        Ok((Output { status, stdout: heard.output, stderr: heard.errors }, has_more))
    }

    /// Runs it with files for what it writes, because hooks may leave something running that would hold a pipe open.
    /// Returns nothing when its time was up.
    pub(crate) fn run_into(self, output: File, errors: File) -> Result<Option<ExitStatus>, Failure> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let running = self.start(&mut command)?;
        let limit = running.limit();
        match running.wait().map_err(|source| self.not_started(source))? {
            End::TimeUp => Ok(None),
            end => self.exited(end, limit).map(Some),
        }
    }

    /// Starts it for a caller that speaks to it in turns.
    pub(crate) fn talk(self) -> Result<Running, Failure> {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        self.start(&mut command)
    }

    fn start(&self, command: &mut Command) -> Result<Running, Failure> {
        let running = Running::start(&self.git, command, self.limit);
        let running = running.map_err(|source| self.not_started(source))?;
        let running = running.ok_or_else(|| Failure::Stopped { verb: self.verb.to_string() })?;
        if self.is_gentle {
            // It does its work all the same when it may not be asked to stand back.
            let own = rustix::process::getpriority_process(None).unwrap_or(0);
            let _asked = rustix::process::setpriority_process(Some(running.pid()), (own + GENTLE).min(LAST));
        }
        Ok(running)
    }

    fn not_started(&self, source: std::io::Error) -> Failure {
        Failure::Start { program: self.git.program().to_path_buf(), source }
    }

    fn exited(&self, end: End, limit: Duration) -> Result<ExitStatus, Failure> {
        match end {
            End::Exited(status) => Ok(status),
            End::TimeUp => Err(Failure::time_up(self.verb, &self.directory, limit)),
            End::Stopped => Err(Failure::Stopped { verb: self.verb.to_string() }),
        }
    }

    fn command(&self) -> Command {
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
