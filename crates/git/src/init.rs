//! Making a repository where the person asked for one: a `main` branch with one commit.

use std::path::Path;

use crate::binary::Git;
use crate::call::Call;
use crate::error::Result;

impl Git {
    /// Makes a repository in a directory that is there and is none yet. Files in it stay untracked.
    pub fn init(&self, path: &Path) -> Result<()> {
        self.begin(path)?;
        self.first_commit(path, "Initial commit")
    }

    /// Makes a repository of a directory that is none yet: everything in it is in the first commit.
    pub fn init_with_files(&self, path: &Path, message: &str) -> Result<()> {
        self.begin(path)?;
        Call::new(self, "add")
            .from(path)
            .args(["--all"])
            .run()
            .map_err(|failure| failure.during(format!("add the files in {}", path.display())))?;
        self.first_commit(path, message)
    }

    fn begin(&self, path: &Path) -> Result<()> {
        let act = || format!("make a repository in {}", path.display());
        Call::new(self, "init")
            .from(path)
            .args(["--quiet", "--initial-branch=main"])
            .run()
            .map_err(|failure| failure.during(act()))?;
        Ok(())
    }

    fn first_commit(&self, path: &Path, message: &str) -> Result<()> {
        let act = || format!("make the first commit in {}", path.display());
        Call::new(self, "commit")
            .from(path)
            .env("GIT_AUTHOR_NAME", "Forge")
            .env("GIT_AUTHOR_EMAIL", "forge@localhost")
            .env("GIT_COMMITTER_NAME", "Forge")
            .env("GIT_COMMITTER_EMAIL", "forge@localhost")
            .setting("commit.gpgSign", "false")
            .args(["--quiet", "--allow-empty"])
            .arg(format!("--message={message}"))
            .run()
            .map_err(|failure| failure.during(act()))?;
        Ok(())
    }
}
