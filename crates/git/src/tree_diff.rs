//! What differs between two trees, path by path.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::call::Call;
use crate::error::{Failure, Result};
use crate::names::is_oid;
use crate::repo::Repo;

/// A path that one tree has otherwise than another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Differing {
    pub(crate) path: PathBuf,
    /// What the first tree has there.
    pub(crate) old: Option<Entry>,
    /// What the second tree has there.
    pub(crate) new: Option<Entry>,
}

/// Something in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: u32,
    pub(crate) oid: String,
}

impl Entry {
    pub(crate) fn is_link(&self) -> bool {
        self.mode == 0o120_000
    }

    pub(crate) fn is_repository(&self) -> bool {
        self.mode == 0o160_000
    }

    pub(crate) fn is_executable(&self) -> bool {
        self.mode == 0o100_755
    }
}

/// How many files differ between two snapshots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub added: u64,
    pub changed: u64,
    pub deleted: u64,
}

impl Repo {
    /// Tally what differs between the trees of pairs of commits, in their order. A commit that is gone gives nothing.
    pub fn count_changes(&self, pairs: &[(String, String)]) -> Result<Vec<Option<Tally>>> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        for oid in pairs.iter().flat_map(|(old, new)| [old, new]) {
            self.check_oid(oid)?;
        }
        let act = || format!("compare snapshots in {}", self.top().display());
        let names: String =
            pairs.iter().map(|(old, new)| format!("{old}^{{tree}}\n{new}^{{tree}}\n")).collect();
        let call = self.checkout.refs("cat-file").arg("--batch-check=%(objectname)");
        let answer = call.input(names.into_bytes()).run().map_err(|failure| failure.during(act()))?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let trees: Vec<Option<&str>> = answer.lines().map(|line| is_oid(line).then_some(line)).collect();
        let mut input = String::new();
        let mut counts = Vec::new();
        for pair in trees.chunks_exact(2) {
            counts.push(match pair {
                [Some(old), Some(new)] => {
                    input.push_str(&format!("{old} {new}\n"));
                    Some(Tally::default())
                }
                _ => None,
            });
        }
        let call = self.checkout.refs("diff-tree").args(["--stdin", "-r", "-z", "--raw", "--no-renames"]);
        let answer = call.input(input.into_bytes()).run().map_err(|failure| failure.during(act()))?;
        let groups = read(&answer)
            .ok_or_else(|| Failure::answer("diff-tree", &String::from_utf8_lossy(&answer)).during(act()))?;
        for (count, group) in counts.iter_mut().flatten().zip(groups) {
            for differing in group {
                match (differing.old, differing.new) {
                    (None, _) => count.added += 1,
                    (_, None) => count.deleted += 1,
                    _ => count.changed += 1,
                }
            }
        }
        Ok(counts)
    }
}

/// Asks for the differences between two trees, at some paths or everywhere.
pub(crate) fn between(
    call: Call,
    old: &str,
    new: &str,
    paths: Option<&[PathBuf]>,
) -> Result<Vec<Differing>, Failure> {
    let call = call.args(["-r", "-z", "--raw", "--no-renames", "--end-of-options", old, new, "--"]);
    let call = paths.unwrap_or_default().iter().fold(call, Call::arg);
    let answer = call.global("--literal-pathspecs").run()?;
    let mut groups =
        read(&answer).ok_or_else(|| Failure::answer("diff-tree", &String::from_utf8_lossy(&answer)))?;
    Ok(groups.pop().unwrap_or_default())
}

/// Reads raw differences. With `--stdin` a line with both trees stands before each group.
fn read(answer: &[u8]) -> Option<Vec<Vec<Differing>>> {
    let mut groups: Vec<Vec<Differing>> = Vec::new();
    let mut rest = answer;
    while !rest.is_empty() {
        if rest[0] != b':' {
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            groups.push(Vec::new());
            rest = &rest[end + 1..];
            continue;
        }
        let mut fields = rest[1..].splitn(3, |byte| *byte == 0);
        let (meta, path) = (std::str::from_utf8(fields.next()?).ok()?, fields.next()?);
        rest = fields.next()?;
        let meta: Vec<&str> = meta.split(' ').collect();
        let [old_mode, new_mode, old_oid, new_oid, _status] = meta[..] else { return None };
        let entry = |mode: &str, oid: &str| -> Option<Option<Entry>> {
            let mode = u32::from_str_radix(mode, 8).ok()?;
            Some((mode != 0).then(|| Entry { mode, oid: oid.to_string() }))
        };
        let differing = Differing {
            path: PathBuf::from(OsStr::from_bytes(path)),
            old: entry(old_mode, old_oid)?,
            new: entry(new_mode, new_oid)?,
        };
        match groups.last_mut() {
            Some(group) => group.push(differing),
            None => groups.push(vec![differing]),
        }
    }
    Some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_without_differences_keep_their_place() {
        let answer = b"a b\nc d\n:000000 100644 0000 1234 A\0x\ny\0e f\n";
        let groups = read(answer).unwrap();
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(groups[1][0].path, PathBuf::from("x\ny"));
        assert_eq!((groups[1][0].old.is_none(), groups[1][0].new.is_some()), (true, true));
    }

    #[test]
    fn an_answer_that_is_cut_off_is_not_taken_for_an_answer() {
        assert_eq!(read(b":000000 100644 0000 1234 A\0x"), None);
    }
}
