//! One error for every verb: what kind it is, and a sentence a person can act on.
//!
//! Leaf errors become this type at the edge of a verb; the server and the command line turn the kind into a
//! status or an exit code and print the sentence as it is.

use std::fmt;

/// The answer of a verb.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The thing that was named is not there.
    NotFound,
    /// What was asked for cannot be right; asking again will not help.
    Invalid,
    /// What was asked for does not fit the state things are in.
    Conflict,
    /// Something outside is missing or full; asking again later may help.
    Unavailable,
    /// Forge itself is at fault.
    Internal,
}

/// Why a verb was not done.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    code: Option<&'static str>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, source: None }
    }

    /// The thing that was named is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// What was asked for cannot be right.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// What was asked for does not fit the state things are in.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Something outside is missing or full.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Forge itself is at fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds a code that programs can tell apart.
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Keeps the error this one was made from.
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Puts the act that failed in front of the sentence.
    pub(crate) fn after(mut self, act: &str) -> Self {
        self.message = format!("{act}: {}", self.message);
        self
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// A code that programs can tell apart, where there is one.
    pub fn code(&self) -> Option<&'static str> {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as _)
    }
}

impl From<crate::store::Error> for Error {
    fn from(error: crate::store::Error) -> Self {
        use crate::store::Error as Store;
        match error {
            Store::Full => Error::unavailable(
                "the disk that holds the data directory is full; nothing was changed: make room and try again",
            ),
            Store::Shut(why) => Error::conflict(why).with_code("copy"),
            Store::ForeignKey => Error::conflict("what it belongs to was removed in the meantime"),
            Store::Corrupt(_) => Error::unavailable(error.to_string()).with_source(error),
            _ => Error::internal(error.to_string()).with_source(error),
        }
    }
}

impl From<forge_git::Error> for Error {
    fn from(error: forge_git::Error) -> Self {
        use forge_git::Error as Git;
        let message = whole(&error);
        match &error {
            Git::Missing | Git::TooOld { .. } | Git::NotGit { .. } => Error::unavailable(message),
            Git::NoSuchPath { .. }
            | Git::NotADirectory { .. }
            | Git::NotARepository { .. }
            | Git::Bare { .. }
            | Git::NoCheckout { .. }
            | Git::NotOwned { .. }
            | Git::BadName { .. }
            | Git::BadReference { .. }
            | Git::NoSuchBranch { .. }
            | Git::NoSuchCommit { .. }
            | Git::NoCommits { .. }
            | Git::NotDeletable { .. }
            | Git::OutOfBounds { .. }
            | Git::NotInSnapshot { .. }
            | Git::LocalFilter { .. } => Error::invalid(message),
            Git::BranchTaken { .. }
            | Git::BranchClash { .. }
            | Git::BranchMoved { .. }
            | Git::BranchInUse { .. }
            | Git::PathTaken { .. }
            | Git::NotOurWorktree { .. }
            | Git::Astray { .. }
            | Git::InTheWay { .. }
            | Git::UnderWay { .. }
            | Git::HeldTwice { .. }
            | Git::Refused { .. }
            | Git::Unsaved { .. }
            | Git::Unmerged { .. } => Error::conflict(message),
            Git::Git { .. } | Git::Io { .. } | Git::BrokenChain { .. } | Git::Lost { .. } => {
                Error::unavailable(message)
            }
        }
        .with_source(error)
    }
}

/// Gives an IO error the act and the path it spoiled. What the disk refuses is not Forge's fault.
pub(crate) fn io_error(act: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_path_buf();
    move |error| Error::unavailable(format!("could not {act} {}: {error}", path.display())).with_source(error)
}

/// Tells whether git failed because the machine had no room, memory or descriptors left.
pub(crate) fn is_shortage(error: &Error) -> bool {
    let source = error.source.as_ref().and_then(|source| source.downcast_ref::<forge_git::Error>());
    source.is_some_and(forge_git::Error::is_shortage)
}

/// Tells an error with what it came from, in one line.
pub(crate) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}
