//! A world of its own for one server: data, home, git configuration, repository and port. Nothing of the
//! person's is read or written, and nothing that was started in it outlives it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;
use tempfile::TempDir;

use crate::api::Api;
use crate::processes;
use crate::wait::eventually;

/// How long stopping everything politely may take before it is killed.
const GOODBYE: Duration = Duration::from_secs(60);

/// As in the repositories that people have, files lie in many directories.
const IN_ONE_DIRECTORY: usize = 50;

/// A world, and the place on disk that holds all of it.
#[derive(Debug)]
pub(crate) struct World {
    /// None once the directory is to be kept.
    dir: Option<TempDir>,
    root: PathBuf,
    pub(crate) forge: PathBuf,
    pub(crate) port: u16,
    /// Whether the agents write down what they print.
    witnesses: bool,
}

impl World {
    /// Makes a world around a binary, in memory where the machine can: disks here are noisy.
    pub(crate) fn new(forge: &Path, files: usize) -> anyhow::Result<Self> {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let dir = tempfile::Builder::new()
            .prefix("forge-world-")
            .tempdir_in(&place)
            .with_context(|| format!("could not make a directory in {}", place.display()))?;
        let world = Self {
            root: dir.path().canonicalize().context("could not resolve the world's directory")?,
            dir: Some(dir),
            forge: forge.to_path_buf(),
            port: free_port()?,
            witnesses: false,
        };
        for part in [world.person(), world.temporary(), world.witness_dir(), world.repository()] {
            fs::create_dir_all(&part).with_context(|| format!("could not make {}", part.display()))?;
        }
        let config = "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n\
                      [commit]\n\tgpgsign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";
        fs::write(world.person().join(".gitconfig"), config)
            .context("could not write a git configuration")?;
        world.fill_repository(files)?;
        Ok(world)
    }

    /// Makes the agents write down what they print.
    pub(crate) fn with_witnesses(mut self) -> Self {
        self.witnesses = true;
        self
    }

    fn fill_repository(&self, files: usize) -> anyhow::Result<()> {
        let source = self.repository().join("source");
        for number in 0..files {
            let part = source.join(format!("part-{:03}", number / IN_ONE_DIRECTORY));
            if number % IN_ONE_DIRECTORY == 0 {
                fs::create_dir_all(&part).with_context(|| format!("could not make {}", part.display()))?;
            }
            let path = part.join(format!("file-{number:05}.txt"));
            let content = format!("line of file {number}\n").repeat(200);
            fs::write(&path, content).with_context(|| format!("could not write {}", path.display()))?;
        }
        self.git(&["init", "--quiet"])?;
        self.git(&["add", "."])?;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "begin"])?;
        Ok(())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    /// Where every player writes down what it prints, in a file named like its run.
    pub(crate) fn witness_dir(&self) -> PathBuf {
        self.root.join("witness")
    }

    pub(crate) fn server_log(&self) -> PathBuf {
        self.root.join("server.log")
    }

    fn person(&self) -> PathBuf {
        self.root.join("person")
    }

    fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Prepares a command that knows this world and nothing else.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
            .env("HOME", self.person())
            .env("TMPDIR", self.temporary())
            .env("FORGE_HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("DISABLE_BROWSER_OPEN", "1")
            .env("CI", "1")
            .current_dir(&self.root)
            .stdin(Stdio::null());
        if self.witnesses {
            command.env("FORGE_WITNESS", self.witness_dir());
        }
        command
    }

    /// Runs git in the repository and returns what it printed.
    pub(crate) fn git(&self, args: &[&str]) -> anyhow::Result<String> {
        let output = self.git_output(args)?;
        if !output.status.success() {
            bail!("git {} failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn git_output(&self, args: &[&str]) -> anyhow::Result<Output> {
        let mut git = self.command("git");
        git.arg("-C").arg(self.repository()).args(args).output().context("could not run git")
    }

    /// Registers the repository as a project and returns its id.
    pub(crate) fn project(&self, api: &Api) -> anyhow::Result<String> {
        let body = json!({"name": "world", "git_repo_path": self.repository(), "use_existing_repo": true});
        let project = api.post("/api/projects", &body, None)?.data()?;
        Ok(project["id"].as_str().context("a project without an id")?.to_string())
    }

    /// Keeps the directory when the world ends.
    pub(crate) fn keep(&mut self) {
        if let Some(dir) = self.dir.take() {
            // The path is the root's; it stays on disk from now on.
            let _ = dir.keep();
        }
    }

    /// Returns the processes that belong to this world: all of them have its path in their environment.
    pub(crate) fn processes(&self) -> anyhow::Result<Vec<processes::Process>> {
        processes::with_variable("FORGE_HOME", &self.home())
    }

    /// Ends everything that runs in this world: politely, then for certain.
    fn end(&self) -> anyhow::Result<()> {
        if self.processes()?.is_empty() {
            return Ok(());
        }
        let mut stop = self
            .command(&self.forge)
            .args(["serve", "--stop", "--all"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("could not run forge serve --stop --all")?;
        let gone = eventually(GOODBYE, "the world to stop", || Ok(stop.try_wait()?));
        if gone.is_err() {
            stop.kill()?;
            stop.wait()?;
        }
        eventually(Duration::from_secs(10), "killed processes to go", || {
            let left = self.processes()?;
            for process in &left {
                process.kill();
            }
            Ok(left.is_empty().then_some(()))
        })
    }
}

/// Finds a port outside the range from which the kernel takes ports for clients. Inside it, a client that
/// calls while the server is away can be given that very port, and then it holds it against the server.
fn free_port() -> anyhow::Result<u16> {
    let begin = 10_000 + u16::try_from(std::process::id() % 10_000).unwrap_or_default();
    let free = (begin..30_000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.context("could not find a free port")
}

impl Drop for World {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("xtask: not everything in {} could be ended: {error:#}", self.root.display());
        }
    }
}
