//! A home and a repository for one test; nothing of the machine's own git config is seen.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use forge_git::{Git, Limits, NewWorktree, Repo, SnapshotRequest, Worktree};
use tempfile::TempDir;

pub(crate) struct World {
    directory: TempDir,
    pub(crate) git: Git,
}

impl World {
    /// Makes a world with a repository of one commit on `main`.
    pub(crate) fn new() -> World {
        let world = World::empty();
        let repo = world.path("repo");
        world.run(&world.path(""), ["init", "-q", "repo"]);
        fs::write(repo.join("a.txt"), "one\n").unwrap();
        fs::create_dir(repo.join("sub")).unwrap();
        fs::write(repo.join("sub/b.txt"), "two\n").unwrap();
        fs::write(repo.join(".gitignore"), "ignored*\n").unwrap();
        world.commit(&repo, "first");
        world
    }

    /// Makes a world without a repository.
    pub(crate) fn empty() -> World {
        let directory = TempDir::with_prefix("forge-git-").unwrap();
        let home = directory.path().join("home");
        fs::create_dir(&home).unwrap();
        let config =
            "[user]\n\tname = Person\n\temail = person@example.com\n[init]\n\tdefaultBranch = main\n";
        fs::write(home.join("gitconfig"), config).unwrap();
        let git = Git::find_in(environment(&home)).unwrap();
        World { directory, git }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.directory.path()).unwrap().join(name)
    }

    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        environment(&self.path("home"))
    }

    pub(crate) fn repo(&self) -> Repo {
        self.git.open(&self.path("repo")).unwrap()
    }

    /// Runs git as the person would, and returns what it printed.
    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        directory: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> String {
        let (succeeded, output) = self.attempt(directory, arguments);
        assert!(succeeded, "{output}");
        output
    }

    /// Runs git as the person would, whatever comes of it.
    pub(crate) fn attempt<S: AsRef<OsStr>>(
        &self,
        directory: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> (bool, String) {
        let mut command = Command::new(self.git.program());
        command.env_clear().envs(self.environment()).current_dir(directory).args(arguments);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_string();
        if output.status.success() { (true, text) } else { (false, format!("{text}\n{errors}")) }
    }

    /// Commits everything, and returns the commit.
    pub(crate) fn commit(&self, directory: &Path, message: &str) -> String {
        self.run(directory, ["add", "-A"]);
        self.run(directory, ["commit", "-q", "--allow-empty", "-m", message]);
        self.run(directory, ["rev-parse", "HEAD"])
    }

    /// Writes a file in a directory and commits it.
    pub(crate) fn commit_file(&self, directory: &Path, file: &str, content: &[u8]) -> String {
        fs::write(directory.join(file), content).unwrap();
        self.commit(directory, &format!("change {file}"))
    }

    /// Adds a worktree called `name` on a branch `forge/<name>` from `main`.
    pub(crate) fn worktree(&self, name: &str) -> Worktree {
        let repo = self.repo();
        repo.add_worktree(&self.new_worktree(&repo, name)).unwrap()
    }

    pub(crate) fn new_worktree(&self, repo: &Repo, name: &str) -> NewWorktree {
        NewWorktree {
            path: self.path("worktrees").join(name),
            branch: format!("forge/{name}"),
            base_oid: repo.resolve_branch("main").unwrap(),
            lock_reason: "in use by forge".into(),
        }
    }

    /// Writes an executable script that leaves a canary when it is run.
    pub(crate) fn canary_script(&self, path: &Path) {
        self.script(path, &format!("touch '{}'; cat", self.path("canary").display()));
    }

    /// Writes an executable shell script.
    pub(crate) fn script(&self, path: &Path, body: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Written by another process: a file that this one has open for writing, even for an instant and in a
        // child that another thread forked, cannot be executed.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"]);
        assert!(command.arg(path).arg(body).status().unwrap().success());
    }

    /// Checks that no hostile script was run.
    pub(crate) fn assert_no_canary(&self) {
        assert!(!self.path("canary").exists(), "something of the repository's was executed");
    }

    /// Checks that the canary is alive: the same thing does run when the person's own git does it.
    pub(crate) fn assert_canary(&self) {
        assert!(self.path("canary").exists(), "the trap does not work, so the test proves nothing");
        fs::remove_file(self.path("canary")).unwrap();
    }
}

pub(crate) fn snapshot_request() -> SnapshotRequest {
    SnapshotRequest {
        reference: "refs/forge/snapshots/x".into(),
        message: "a snapshot".into(),
        limits: Limits::default(),
        private: None,
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let pairs: [(&str, &OsStr); 6] = [
        ("PATH", &path),
        ("HOME", home.as_os_str()),
        ("XDG_CONFIG_HOME", home.as_os_str()),
        ("GIT_CONFIG_GLOBAL", &home.join("gitconfig").into_os_string()),
        ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
        ("LANG", OsStr::new("C.UTF-8")),
    ];
    pairs.map(|(name, value)| (name.into(), value.into())).into()
}
