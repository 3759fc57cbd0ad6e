//! A hermetic world: a data directory, a repository with one commit, and an engine that can be restarted.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use forge_engine::{
    AgentEnvironment, AttemptView, Engine, GitHubOptions, NewProject, NewTask, Options, Result, Seam,
    StartTask, TaskView,
};
use forge_model::{Ask, AttemptId, AttemptState, ProfileId, ProjectId, Run, RunId};
use tokio::runtime::Runtime;

/// How long to wait for something that should come at once, on a machine that is busy.
pub(crate) const SOON: Duration = Duration::from_secs(120);

/// A start with its run.
#[derive(Debug, Clone)]
pub(crate) struct Began {
    pub(crate) task: TaskView,
    pub(crate) attempt: AttemptView,
    pub(crate) run: Run,
}

pub(crate) struct World {
    runtime: Option<Runtime>,
    engine: Option<Engine>,
    pub(crate) home: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) project: ProjectId,
    pub(crate) dir: tempfile::TempDir,
    github: GitHubOptions,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_seam("")
    }

    /// A world whose server dies or waits where a seam says; `DIR` stands for the world's directory.
    pub(crate) fn with_seam(seam: &str) -> Self {
        Self::with(seam, GitHubOptions::default())
    }

    /// A world with a GitHub of its own.
    pub(crate) fn with_github(github: GitHubOptions) -> Self {
        Self::with("", github)
    }

    fn with(seam: &str, github: GitHubOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repository = make_repository(&dir.path().join("repository"));
        let home = dir.path().join("home");
        std::fs::create_dir(dir.path().join("person")).unwrap();
        let seam = seam.replace("DIR", dir.path().to_str().unwrap());
        let runtime = Runtime::new().unwrap();
        let opened = Engine::open(Options { github: github.clone(), ..options(&home, &seam) });
        let engine = runtime.block_on(opened).unwrap();
        let new = NewProject { name: "demo".into(), path: repository.clone(), ..NewProject::default() };
        let project = runtime.block_on(engine.create_project(new)).unwrap().id;
        Self { runtime: Some(runtime), engine: Some(engine), home, repository, project, dir, github }
    }

    /// A world whose worktrees lie in a directory that others use too.
    pub(crate) fn sharing(worktrees: &Path) -> Self {
        let mut world = Self::new();
        world.restart_as(Options { worktrees: Some(worktrees.into()), ..options(&world.home, "") });
        world
    }

    /// Restarts with a server that was told something else.
    pub(crate) fn restart_as(&mut self, options: Options) {
        self.crash();
        let runtime = Runtime::new().unwrap();
        let engine =
            eventually("the data directory is free", || runtime.block_on(Engine::open(options.clone())).ok());
        (self.engine, self.runtime) = (Some(engine), Some(runtime));
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    pub(crate) fn run<T>(&self, verb: impl Future<Output = T>) -> T {
        self.runtime.as_ref().unwrap().block_on(verb)
    }

    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        verb: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.runtime.as_ref().unwrap().spawn(verb)
    }

    /// Ends the server's side without telling anybody, as a crash would.
    pub(crate) fn crash(&mut self) {
        self.engine = None;
        self.runtime.take().unwrap().shutdown_timeout(SOON);
    }

    /// Opens the data directory again.
    pub(crate) fn reopen(&mut self) {
        self.reopen_with("");
    }

    pub(crate) fn reopen_with(&mut self, seam: &str) {
        let seam = seam.replace("DIR", self.dir.path().to_str().unwrap());
        let runtime = Runtime::new().unwrap();
        // The lock is free once the last thread of the old engine has noticed its end.
        let engine = eventually("the data directory is free", || {
            let options = Options { github: self.github.clone(), ..options(&self.home, &seam) };
            runtime.block_on(Engine::open(options)).ok()
        });
        self.engine = Some(engine);
        self.runtime = Some(runtime);
    }

    pub(crate) fn restart(&mut self) {
        self.crash();
        self.reopen();
    }

    /// Restarts with a server that dies or waits where a seam says.
    pub(crate) fn restart_with(&mut self, seam: &str) {
        self.crash();
        self.reopen_with(seam);
    }

    pub(crate) fn wanted(&self, script: &str) -> StartTask {
        StartTask {
            task: NewTask {
                project: self.project,
                title: "a task".into(),
                description: Some(script.into()),
                parent: None,
                images: Vec::new(),
            },
            profile: ProfileId::new("SCRIPTED", None).unwrap(),
            base_branch: Some("main".into()),
            use_worktree: true,
            manner: forge_model::Manner::default(),
        }
    }

    /// Starts a task that nothing holds back.
    pub(crate) fn start(&self, script: &str) -> Began {
        let started = self.run(self.engine().create_and_start(self.wanted(script), None)).unwrap();
        Began { task: started.task, attempt: started.attempt, run: started.run.unwrap() }
    }

    pub(crate) fn attempt(&self, id: AttemptId) -> AttemptView {
        self.run(self.engine().attempt(id)).unwrap()
    }

    /// Waits until an attempt is in a state.
    pub(crate) fn wait_for(&self, id: AttemptId, state: AttemptState) -> AttemptView {
        eventually(&format!("attempt {id} is {state}"), || {
            Some(self.attempt(id)).filter(|view| view.attempt.state == state)
        })
    }

    /// Waits until an attempt is finished and everything is told of it: what it changed is added up in the background,
    /// and comes last.
    pub(crate) fn wait_until_told(&self, id: AttemptId) -> AttemptView {
        eventually(&format!("attempt {id} is finished, and what it changed is added up"), || {
            Some(self.attempt(id))
                .filter(|view| view.attempt.state == AttemptState::Finished && view.card.changes.is_some())
        })
    }

    /// Waits until an attempt asks something.
    pub(crate) fn wait_for_ask(&self, id: AttemptId) -> Ask {
        eventually(&format!("attempt {id} asks"), || {
            let asks = self.run(self.engine().open_asks()).unwrap();
            asks.into_iter().find(|ask| ask.attempt == id)
        })
    }

    /// Reads everything that a run has printed, waiting for its end.
    pub(crate) fn output(&self, run: RunId) -> String {
        self.run(async {
            let mut tail = self.engine().log(run, 0).await.unwrap();
            let mut text = String::new();
            while let Some(batch) = tail.next().await.unwrap() {
                text.extend(batch.chunks.iter().map(|chunk| chunk.text.as_str()));
            }
            text
        })
    }

    /// Waits until a run has printed a text.
    pub(crate) fn wait_for_output(&self, run: RunId, wanted: &str) {
        let read = async {
            let mut tail = self.engine().log(run, 0).await.unwrap();
            let mut text = String::new();
            while let Some(batch) = tail.next().await.unwrap() {
                text.extend(batch.chunks.iter().map(|chunk| chunk.text.as_str()));
                if text.contains(wanted) {
                    return;
                }
            }
            panic!("the run ended without printing {wanted:?}: {text}");
        };
        self.run(async { tokio::time::timeout(SOON, read).await.unwrap() });
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.repository, args)
    }

    /// The branches and worktrees that attempts have made.
    pub(crate) fn made(&self) -> (Vec<String>, Vec<String>) {
        let branches = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/forge"]);
        let worktrees = std::fs::read_dir(self.home.join("worktrees"));
        let names = worktrees.into_iter().flatten();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // Those that wait for an attempt were made by none.
        let worktrees = names.filter(|name| name != ".pool").collect();
        (branches.lines().map(str::to_string).collect(), worktrees)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A test that failed between a crash and a restart leaves agents behind; another engine ends them.
        let runtime = self.runtime.take().unwrap_or_else(|| Runtime::new().unwrap());
        let engine = match self.engine.take() {
            Some(engine) => Ok(engine),
            None => runtime.block_on(Engine::open(options(&self.home, ""))),
        };
        let stopped: Result<usize> = match engine {
            Ok(engine) => runtime.block_on(engine.stop_all()),
            // Some worlds are made so that nothing can be opened in them any more.
            Err(_) => Ok(0),
        };
        if !std::thread::panicking() {
            stopped.unwrap();
        }
    }
}

pub(crate) fn options(home: &Path, seam: &str) -> Options {
    Options {
        home: home.into(),
        worktrees: None,
        older_place: None,
        forge: forge_binary(),
        seam: Seam::parse(seam).unwrap(),
        agents: AgentEnvironment::new(|attempt| vec![("FORGE_TOKEN".into(), format!("token of {attempt}"))]),
        public_url: Some("https://forge.example.org/".into()),
        github: GitHubOptions::default(),
        user_home: home.parent().map(|dir| dir.join("person")),
        agent_dirs: Default::default(),
        clean_strays: true,
        adopt: false,
    }
}

/// The forge binary of the same build: it plays the shim and the scripted agent.
pub(crate) fn forge_binary() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let binary = here.ancestors().nth(2).unwrap().join("forge");
    assert!(binary.exists(), "{} is missing: run `cargo build -p forge` first", binary.display());
    binary
}

pub(crate) fn make_repository(path: &Path) -> PathBuf {
    std::fs::create_dir_all(path).unwrap();
    git(path, &["init", "--quiet", "--initial-branch=main"]);
    git(path, &["config", "user.name", "Ada"]);
    git(path, &["config", "user.email", "ada@example.org"]);
    std::fs::write(path.join("README.md"), "hello\n").unwrap();
    git(path, &["add", "README.md"]);
    git(path, &["commit", "--quiet", "--message=first"]);
    path.canonicalize().unwrap()
}

pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_string()
}

/// Waits for something, looking again every few milliseconds.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < SOON, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Says whether a process exists and is more than a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

/// The processes that carry a run's marker.
pub(crate) fn marked(run: RunId) -> Vec<u32> {
    let marker = format!("FORGE_RUN={run}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
    })
    .collect()
}
