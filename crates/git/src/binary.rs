//! A git binary that was found and is new enough.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fmt};

use crate::call::{Call, line};
use crate::error::{Error, Failure, Result};
use crate::limit::Calls;
use crate::queue::Queues;

/// The oldest version that has everything called here; `--attr-source` is the newest of it.
const MINIMUM: (u32, u32) = (2, 41);

/// Inherited variables that say how the person uses git. Every other `GIT_*` could come from a hook or another
/// repository that this process was started in, and would point git elsewhere.
const KEPT: [&str; 10] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
];

/// A git binary that was found and is new enough. Cheap to clone; clones share the queues per repository.
#[derive(Clone)]
pub struct Git(Arc<Found>);

struct Found {
    program: PathBuf,
    version: (u32, u32, u32),
    environment: Vec<(OsString, OsString)>,
    queues: Queues,
    calls: Calls,
}

impl Git {
    /// Finds `git` on this process's PATH.
    pub fn find() -> Result<Git> {
        Git::find_in(env::vars_os())
    }

    /// Finds `git` on the PATH of the given environment, which is also the one git will be run in.
    pub fn find_in(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Git> {
        let environment: Vec<_> = environment.into_iter().collect();
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let program = env::split_paths(&path.unwrap_or_default())
            .map(|directory| directory.join("git"))
            .find(|candidate| is_executable(candidate))
            .ok_or(Error::Missing)?;
        Git::at_in(&program, environment)
    }

    /// Uses the git binary at `program`.
    pub fn at(program: &Path) -> Result<Git> {
        Git::at_in(program, env::vars_os())
    }

    /// Uses the git binary at `program` and runs it in the given environment.
    pub fn at_in(program: &Path, environment: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Git> {
        let environment: Vec<_> = environment.into_iter().filter(|(name, _)| is_kept(name)).collect();
        let with_version = |version, environment| {
            let program = program.to_path_buf();
            let (queues, calls) = (Queues::default(), Calls::default());
            Git(Arc::new(Found { program, version, environment, queues, calls }))
        };
        let unchecked = with_version((0, 0, 0), environment.clone());
        let answer = Call::new(&unchecked, "version").run().map_err(|failure| match failure {
            Failure::Start { .. } if !program.exists() => Error::Missing,
            failure => failure.during(format!("ask {} for its version", program.display())),
        })?;
        let answer = line(answer);
        let Some(version) = parse_version(&answer) else {
            return Err(Error::NotGit { path: program.to_path_buf(), answer });
        };
        if (version.0, version.1) < MINIMUM {
            let found = format!("{}.{}.{}", version.0, version.1, version.2);
            return Err(Error::TooOld { found, path: program.to_path_buf() });
        }
        Ok(with_version(version, environment))
    }

    /// Returns the version of the binary.
    pub fn version(&self) -> (u32, u32, u32) {
        self.0.version
    }

    /// Returns where the binary is.
    pub fn program(&self) -> &Path {
        &self.0.program
    }

    /// Ends every call that is under way, and lets none be started any more. Blocks until they have ended, for some
    /// seconds at most.
    pub fn close(&self) {
        self.0.calls.close();
    }

    /// How many calls were ended because they took too long.
    pub fn overdue_calls(&self) -> u64 {
        self.0.calls.overdue()
    }

    /// Gives no call more time than this, whatever its verb: for tests, which do not wait for minutes.
    pub fn limit_calls(&self, most: Duration) {
        self.0.calls.limit(most);
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.0.calls
    }

    pub(crate) fn environment(&self) -> &[(OsString, OsString)] {
        &self.0.environment
    }

    pub(crate) fn queues(&self) -> &Queues {
        &self.0.queues
    }
}

impl fmt::Debug for Git {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.0.version;
        write!(f, "Git({} {major}.{minor}.{patch})", self.0.program.display())
    }
}

fn is_kept(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !name.starts_with("GIT_") || KEPT.contains(&name.as_ref())
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Reads `git version 2.47.3`, with whatever vendors append to it.
fn parse_version(answer: &str) -> Option<(u32, u32, u32)> {
    let text = answer.strip_prefix("git version ")?.split_whitespace().next()?;
    let mut numbers = text.split(['.', '-']).map(|part| part.parse().ok());
    let (major, minor) = (numbers.next()??, numbers.next()??);
    Some((major, minor, numbers.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_what_vendors_append() {
        assert_eq!(parse_version("git version 2.47.3"), Some((2, 47, 3)));
        assert_eq!(parse_version("git version 2.39.5 (Apple Git-154)"), Some((2, 39, 5)));
        assert_eq!(parse_version("git version 2.50.0-rc1"), Some((2, 50, 0)));
        assert_eq!(parse_version("git version 2.48-custom"), Some((2, 48, 0)));
        assert_eq!(parse_version("hello"), None);
    }

    #[test]
    fn variables_that_would_point_git_elsewhere_are_dropped() {
        assert!(!is_kept(OsStr::new("GIT_DIR")));
        assert!(!is_kept(OsStr::new("GIT_CONFIG_COUNT")));
        assert!(is_kept(OsStr::new("GIT_CONFIG_GLOBAL")));
        assert!(is_kept(OsStr::new("HOME")));
    }
}
