//! What differs between a commit, an index and the files, as `git status` tells it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::call::Call;
use crate::checkout::Worktree;
use crate::drivers::Drivers;
use crate::error::{Failure, Result};

/// The differences of a checkout.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The commit that is checked out, when there is one.
    pub(crate) head: Option<String>,
    /// Something in the index differs from the commit.
    pub(crate) is_staged: bool,
    /// Files that differ from the index, untracked ones included.
    pub(crate) unstaged: Vec<PathBuf>,
    /// Paths with an unresolved conflict; they are in `unstaged` too.
    pub(crate) unmerged: Vec<PathBuf>,
    /// Untracked directories that are repositories of their own.
    pub(crate) nested: Vec<PathBuf>,
}

impl Worktree {
    /// Tells whether no tracked file differs from HEAD and nothing is untracked. Ignored files do not count, and
    /// neither does what happened inside a submodule since its own last commit.
    ///
    /// The agent's index is read and never refreshed, so its lock is never taken.
    pub fn is_clean(&self) -> Result<bool> {
        let drivers = Drivers::of(&self.checkout)?;
        let call = self.checkout.files("status").settings(&drivers.overrides);
        let changes = Changes::ask(call, "--untracked-files=normal");
        let changes = changes
            .map_err(|failure| failure.during(format!("look for changes in {}", self.path().display())))?;
        Ok(!changes.is_staged && changes.unstaged.is_empty() && changes.nested.is_empty())
    }
}

impl Changes {
    /// Asks for the differences by a prepared call of `git status`.
    pub(crate) fn ask(call: Call, untracked: &str) -> Result<Changes, Failure> {
        // `dirty` keeps git from running another git inside each submodule, under that repository's own config.
        let call = call.args(["--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames"]);
        let answer = call.args(["--ignore-submodules=dirty", untracked]).run()?;
        Changes::read(&answer).ok_or_else(|| Failure::answer("status", &String::from_utf8_lossy(&answer)))
    }

    fn read(answer: &[u8]) -> Option<Changes> {
        let mut changes = Changes::default();
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        for record in answer.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let tail = |fields: usize| record.splitn(fields + 1, |byte| *byte == b' ').nth(fields);
            match record {
                [b'#', ..] => {
                    if let Some(oid) = record.strip_prefix(b"# branch.oid ")
                        && oid != b"(initial)"
                    {
                        changes.head = Some(String::from_utf8_lossy(oid).into_owned());
                    }
                }
                [b'1', b' ', staged, unstaged, ..] => {
                    changes.is_staged |= *staged != b'.';
                    if *unstaged != b'.' {
                        changes.unstaged.push(path(tail(8)?));
                    }
                }
                [b'u', ..] => {
                    changes.unmerged.push(path(tail(10)?));
                    changes.unstaged.push(path(tail(10)?));
                }
                [b'?', b' ', name @ .., b'/'] => changes.nested.push(path(name)),
                [b'?', b' ', name @ ..] => changes.unstaged.push(path(name)),
                _ => return None,
            }
        }
        Some(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_spaces_and_newlines_are_read_whole() {
        let answer = b"# branch.oid 1234\0# branch.head main\0\
            1 .M N... 100644 100644 100644 aaaa bbbb a b\nc\0\
            1 A. N... 000000 100644 100644 0000 bbbb staged\0\
            u UU N... 100644 100644 100644 100644 a b c torn file\0? -new \"one\"\0? inner repo/\0";
        let changes = Changes::read(answer).unwrap();
        let expected = Changes {
            head: Some("1234".into()),
            is_staged: true,
            unstaged: vec!["a b\nc".into(), "torn file".into(), "-new \"one\"".into()],
            unmerged: vec!["torn file".into()],
            nested: vec!["inner repo".into()],
        };
        assert_eq!(changes, expected);
    }

    #[test]
    fn an_answer_that_is_not_understood_is_not_taken_for_a_clean_tree() {
        assert_eq!(Changes::read(b"1 .M short\0"), None);
        assert_eq!(Changes::read(b"what\0"), None);
    }
}
