//! Which token speaks for the person at GitHub: that of the settings, else that of their environment, else that of
//! GitHub's own program.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use forge_git::Credential;
use forge_hosts::Secret;

use crate::background::blocking;
use crate::github::github_token;
use crate::{Engine, Error, Result};

/// How long GitHub's own program may take. It reads a file or asks a key ring.
const LONGEST: Duration = Duration::from_secs(5);

impl Engine {
    /// Returns the token that counts, wherever it is from.
    pub(crate) async fn host_token(&self) -> Result<Option<Secret>> {
        let engine = self.clone();
        blocking(move || engine.host_token_now()).await?
    }

    /// The same, for whoever is on a thread of their own: it is looked for only when somebody wants it. Blocks.
    pub(crate) fn host_token_now(&self) -> Result<Option<Secret>> {
        let options = &self.inner.github.options;
        let stored = github_token(&self.stored_config()?).or_else(|| options.token.clone());
        Ok(stored.or_else(|| told_by(options.gh.as_deref()?, options.address.pages())))
    }

    /// The token as git sends it, to GitHub's address alone.
    pub(crate) fn credential(&self, token: &Secret) -> Credential {
        Credential::token(self.inner.github.options.address.pages(), token.reveal())
    }

    /// What to say when there is no token, or none that is taken.
    pub(crate) fn no_token(&self) -> Error {
        Error::conflict(format!(
            "no token for {}: log in at GitHub in the settings, put a personal access token into `github.pat`, start \
             Forge with GH_TOKEN, or run `gh auth login`",
            self.inner.github.options.address.pages()
        ))
        .with_code("TOKEN_INVALID")
    }
}

/// Asks GitHub's program for the token of a host. One that is not there, hangs or knows none is no trouble.
fn told_by(gh: &Path, pages: &str) -> Option<Secret> {
    let host = pages.split("://").nth(1)?;
    let mut command = Command::new(gh);
    command.args(["auth", "token", "--hostname", host]).env("GH_PROMPT_DISABLED", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    forge_process::give_back_descriptors(&child);
    let deadline = Instant::now() + LONGEST;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                // It may have ended by itself, which is as good.
                let _ended = child.kill();
                let _reaped = child.wait();
                return None;
            }
        }
    }
    let output = child.wait_with_output().ok()?;
    let token = String::from_utf8(output.stdout).ok()?;
    let token = token.trim();
    (!token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Secret::new(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(dir: &Path, body: &str) -> std::path::PathBuf {
        let path = dir.join("gh");
        // Written by another process: a file that this one has open for writing cannot be executed.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "printf '#!/bin/sh\n%s\n' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"]);
        assert!(command.arg(&path).arg(body).status().unwrap().success());
        path
    }

    #[test]
    fn githubs_own_program_is_asked_for_the_token_of_the_host() {
        let dir = tempfile::tempdir().unwrap();
        let gh = program(dir.path(), "test \"$*\" = 'auth token --hostname github.com' && echo gho_planted");
        assert_eq!(told_by(&gh, "https://github.com"), Some(Secret::new("gho_planted")));
        assert_eq!(told_by(&gh, "https://git.example.org"), None);
        assert_eq!(told_by(&dir.path().join("nothing"), "https://github.com"), None);
        assert_eq!(told_by(&program(dir.path(), "echo 'not a token'"), "https://github.com"), None);
    }
}
