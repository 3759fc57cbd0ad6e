//! Making a repository where the person asked for one: a `main` branch with one empty commit.

use std::path::Path;

use crate::binary::Git;
use crate::call::Call;
use crate::error::Result;

impl Git {
    /// Makes a repository in a directory that is there and is none yet. Files in it stay untracked.
    pub fn init(&self, path: &Path) -> Result<()> {
        let act = || format!("make a repository in {}", path.display());
        Call::new(self, "init")
            .from(path)
            .args(["--quiet", "--initial-branch=main"])
            .run()
            .map_err(|failure| failure.during(act()))?;
        Call::new(self, "commit")
            .from(path)
            .env("GIT_AUTHOR_NAME", "Forge")
            .env("GIT_AUTHOR_EMAIL", "forge@localhost")
            .env("GIT_COMMITTER_NAME", "Forge")
            .env("GIT_COMMITTER_EMAIL", "forge@localhost")
            .setting("commit.gpgSign", "false")
            .args(["--quiet", "--allow-empty", "--message=Initial commit"])
            .run()
            .map_err(|failure| failure.during(act()))?;
        Ok(())
    }
}
