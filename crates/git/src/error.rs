//! What can go wrong, naming the act and the object.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use crate::redact;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something in a repository could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("git was not found on PATH; install git 2.41 or newer and start Forge again")]
    Missing,
    #[error("git {found} at {path} is too old; install git 2.41 or newer and put it first on PATH")]
    TooOld { found: String, path: PathBuf },
    #[error("{path} does not answer like git: {answer:?}; put git 2.41 or newer first on PATH")]
    NotGit { path: PathBuf, answer: String },

    #[error("{path} does not exist")]
    NoSuchPath { path: PathBuf },
    #[error("{path} is not a directory")]
    NotADirectory { path: PathBuf },
    #[error("{path} is not inside a git repository; run `git init` there first")]
    NotARepository { path: PathBuf },
    #[error("{path} is a bare repository; give the path of a checkout")]
    Bare { path: PathBuf },
    #[error("{path} is no place to work in: {why}")]
    NoCheckout { path: PathBuf, why: String },
    #[error(
        "{path} belongs to another user, so git refuses it; to trust it run \
         `git config --global --add safe.directory {path}`"
    )]
    NotOwned { path: PathBuf },

    #[error("{name:?} cannot be the name of a branch")]
    BadName { name: String },
    #[error("{reference:?} is not a reference under refs/forge/")]
    BadReference { reference: String },
    #[error("there is no branch {branch} in {repo}")]
    NoSuchBranch { branch: String, repo: PathBuf },
    #[error("there is no commit {commit} in {repo}")]
    NoSuchCommit { commit: String, repo: PathBuf },
    #[error("{repo} has no commits yet; make a first commit")]
    NoCommits { repo: PathBuf },
    #[error("a branch called {branch} exists already")]
    BranchTaken { branch: String },
    #[error(
        "branch {branch} cannot be made while branch {existing} exists; rename {existing} or use another prefix"
    )]
    BranchClash { branch: String, existing: String },
    #[error("branch {branch} is no longer at {expected}")]
    BranchMoved { branch: String, expected: String },
    #[error("branch {branch} is checked out at {path}")]
    BranchInUse { branch: String, path: PathBuf },

    #[error(
        "{} in the way of {branch} in {path}: {}; move, commit or stash {} there, nothing was changed",
        if files.len() == 1 { "a file is".to_string() } else { format!("{} files are", files.len()) },
        named(files), if files.len() == 1 { "it" } else { "them" }
    )]
    InTheWay { branch: String, path: PathBuf, files: Vec<String> },
    #[error("{what} is under way in {path}; finish or abort it there first, nothing was changed")]
    UnderWay { path: PathBuf, what: String },
    #[error(
        "branch {branch} is checked out both at {} and at {}; check out another branch in one of them",
        paths[0].display(), paths[1].display()
    )]
    HeldTwice { branch: String, paths: [PathBuf; 2] },
    #[error("git refused to move {branch} in {path}, and nothing was changed: {told}")]
    Refused { branch: String, path: PathBuf, told: String },
    #[error("{path:?} cannot be deleted: {why}")]
    NotDeletable { path: String, why: String },

    #[error("{path} exists already")]
    PathTaken { path: PathBuf },
    #[error("nothing is moved through {path}: {why}")]
    Astray { path: PathBuf, why: String },
    #[error("{path} is not a worktree that may be touched: {why}")]
    NotOurWorktree { path: PathBuf, why: String },
    #[error(
        "{path} needs the filter {driver}, which only the repository's own config defines; \
         look at it, and then trust this project's filters (`forge trust`, or \
         `trust_filters` of the project), or define filter.{driver} in your \
         global git config"
    )]
    LocalFilter { driver: String, path: PathBuf },
    #[error("{} has an unresolved conflict, with {} paths in all", paths.first().map(|path| path.display().to_string()).unwrap_or_default(), paths.len())]
    Unmerged { paths: Vec<PathBuf> },

    #[error("{path} is not inside the worktree, or leads into a repository's own directory")]
    OutOfBounds { path: PathBuf },
    #[error("{path} is in neither snapshot")]
    NotInSnapshot { path: PathBuf },
    #[error(
        "{} would be overwritten, and no snapshot has it; move it away first ({} in all)",
        paths.first().map(|path| path.display().to_string()).unwrap_or_default(),
        paths.len()
    )]
    Unsaved { paths: Vec<PathBuf> },

    #[error("{reference} leads to {tip}, which is not there")]
    BrokenChain { reference: String, tip: String },
    #[error(
        "what was written for {reference} was removed again each time; end the git prune or gc that runs there"
    )]
    Lost { reference: String },

    #[error("could not {act}")]
    Git { act: String, source: Failure },
    #[error("could not {act} {path}")]
    Io { act: &'static str, path: PathBuf, source: io::Error },
}

/// How one call of git failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("could not start {program}")]
    Start { program: PathBuf, source: io::Error },
    #[error("git {verb} ended with {status}: {stderr}")]
    Exit { verb: String, status: ExitStatus, stderr: String },
    #[error("git {verb} answered {answer:?}")]
    Answer { verb: String, answer: String },
    #[error(
        "git {verb} in {} was ended because it took more than {}; see whether the disk that holds it answers, and try \
         again",
        directory.display(), how_long(*after)
    )]
    TimeUp { verb: String, directory: PathBuf, after: Duration },
    #[error(
        "others have had {} for more than {}; see whether the disk that holds it answers, and try again",
        directory.display(), how_long(*after)
    )]
    Busy { directory: PathBuf, after: Duration },
    #[error("git {verb} was ended because Forge stops; try again when it runs")]
    Stopped { verb: String },
    #[error("could not write {path}")]
    Store { path: PathBuf, source: io::Error },
}

impl Failure {
    /// A call that ended badly. What git wrote may name a remote with a password in it, which goes no further.
    pub(crate) fn exit(verb: impl Into<String>, status: ExitStatus, stderr: &str) -> Self {
        Failure::Exit { verb: verb.into(), status, stderr: redact(stderr) }
    }

    /// A call whose answer was not understood.
    pub(crate) fn answer(verb: impl Into<String>, answer: &str) -> Self {
        Failure::Answer { verb: verb.into(), answer: redact(answer) }
    }

    /// A call that was ended because it took too long.
    pub(crate) fn time_up(verb: impl Into<String>, directory: &Path, after: Duration) -> Self {
        Failure::TimeUp { verb: verb.into(), directory: directory.to_path_buf(), after }
    }

    /// Gives the failure the act and the object that it spoiled.
    pub(crate) fn during(self, act: impl Into<String>) -> Error {
        Error::Git { act: act.into(), source: self }
    }

    /// Tells whether the machine had no room, memory or descriptors left for it.
    pub(crate) fn is_shortage(&self) -> bool {
        match self {
            Failure::Start { source, .. } | Failure::Store { source, .. } => is_shortage(source),
            Failure::Exit { stderr, .. } => SHORT.iter().any(|words| stderr.contains(words)),
            Failure::Answer { .. }
            | Failure::TimeUp { .. }
            | Failure::Busy { .. }
            | Failure::Stopped { .. } => false,
        }
    }

    /// Returns what git wrote on its standard error, or nothing when it did not get that far.
    pub(crate) fn stderr(&self) -> &str {
        match self {
            Failure::Exit { stderr, .. } => stderr,
            Failure::Start { .. }
            | Failure::Answer { .. }
            | Failure::TimeUp { .. }
            | Failure::Busy { .. }
            | Failure::Stopped { .. }
            | Failure::Store { .. } => "",
        }
    }
}

fn how_long(time: Duration) -> String {
    match (time.as_secs(), time.as_millis()) {
        (0, millis) => format!("{millis} ms"),
        (secs, _) if secs % 60 == 0 => format!("{} min", secs / 60),
        (secs, _) => format!("{secs} s"),
    }
}

impl Error {
    /// Tells whether the machine had no room, memory or descriptors left for it: the same act may succeed when that is
    /// over.
    pub fn is_shortage(&self) -> bool {
        match self {
            Error::Git { source, .. } => source.is_shortage(),
            Error::Io { source, .. } => is_shortage(source),
            _ => false,
        }
    }
}

/// What git says when the system is short of something, in the words of the system.
const SHORT: [&str; 7] = [
    "No space left on device",
    "Disk quota exceeded",
    "Too many open files",
    "Cannot allocate memory",
    "Out of memory",
    "out of memory",
    "Resource temporarily unavailable",
];

fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let short =
        [Errno::NOSPC, Errno::DQUOT, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::AGAIN, Errno::NOBUFS];
    error.raw_os_error().is_some_and(|code| short.iter().any(|errno| errno.raw_os_error() == code))
}

/// How many files a sentence names.
const NAMED: usize = 20;

fn named(files: &[String]) -> String {
    let mut text = files.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if files.len() > NAMED {
        text.push_str(&format!(" and {} more", files.len() - NAMED));
    }
    text
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match &failure {
            Failure::Busy { directory, .. } => {
                let act = format!("write to {}", directory.display());
                failure.during(act)
            }
            _ => failure.during("read objects"),
        }
    }
}

/// Gives an IO error the act and the path that it spoiled.
pub(crate) fn io_error(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io { act, path: path.to_path_buf(), source }
}
