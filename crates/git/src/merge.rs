//! Merging in memory: the tree that two commits make together, or what stands in the way.
//!
//! No file, no index and no ref is touched, and no merge driver of the repository's own config runs.

use crate::drivers::Drivers;
use crate::error::{Failure, Result};
use crate::names::is_oid;
use crate::repo::Repo;

/// What two commits make together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    Clean { tree: String },
    Conflicts(Vec<Conflict>),
}

/// A place where two sides cannot both be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The file, from the top. Where a file was renamed on both sides there are several of the same conflict.
    pub path: String,
    /// What kind it is, as git calls it: `contents`, `binary`, `rename/rename`, `modify/delete`, …
    pub kind: String,
}

impl Repo {
    /// Merges `theirs` into `ours`, from their common base or from a base that is given.
    pub fn merge_commits(&self, ours: &str, theirs: &str, base: Option<&str>) -> Result<Merged> {
        for oid in [Some(ours), Some(theirs), base].into_iter().flatten() {
            self.check_oid(oid)?;
        }
        let drivers = Drivers::of(&self.checkout)?;
        // How files are merged is what the attributes of our side say; the checkout's files do not matter.
        let call = self.checkout.refs("merge-tree").global(format!("--attr-source={ours}"));
        let mut call = call.settings(&drivers.overrides).args(["--write-tree", "-z", "--messages"]);
        if let Some(base) = base {
            call = call.arg(format!("--merge-base={base}"));
        }
        let act = || format!("merge {theirs} into {ours}");
        let output = call
            .args(["--end-of-options", ours, theirs])
            .output()
            .map_err(|failure| failure.during(act()))?;
        let is_clean = match output.status.code() {
            Some(0) => true,
            Some(1) => false,
            _ => return Err(crate::call::failure("merge-tree", &output).during(act())),
        };
        // An unknown commit ends with 1 too, and without a tree.
        read(&output.stdout, is_clean).ok_or_else(|| {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            Failure::answer("merge-tree", &told).during(act())
        })
    }
}

/// Reads the tree, then `mode oid stage<tab>path` of each torn file, an empty field, and messages: how many paths, the
/// paths, the kind and a sentence.
fn read(answer: &[u8], is_clean: bool) -> Option<Merged> {
    let mut fields = answer.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let tree = fields.next().filter(|tree| is_oid(tree))?.into_owned();
    if is_clean {
        return Some(Merged::Clean { tree });
    }
    let mut torn: Vec<String> = Vec::new();
    for field in fields.by_ref() {
        let Some((_, path)) = field.split_once('\t') else { break };
        if !torn.iter().any(|known| known == path) {
            torn.push(path.to_string());
        }
    }
    let mut conflicts = Vec::new();
    while let Some(count) = fields.next().and_then(|count| count.trim().parse::<usize>().ok()) {
        let paths: Vec<String> = fields.by_ref().take(count).map(|path| path.into_owned()).collect();
        let (kind, _sentence) = (fields.next()?, fields.next()?);
        let Some(kind) = kind.strip_prefix("CONFLICT (").and_then(|kind| kind.strip_suffix(')')) else {
            continue;
        };
        conflicts.extend(paths.into_iter().map(|path| Conflict { path, kind: kind.to_string() }));
    }
    for path in torn {
        if !conflicts.iter().any(|conflict| conflict.path == path) {
            conflicts.push(Conflict { path, kind: "contents".into() });
        }
    }
    conflicts.dedup();
    Some(Merged::Conflicts(conflicts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_a_tree_is_no_conflict() {
        assert_eq!(read(b"", false), None);
        assert_eq!(read(b"merge-tree: not something we can merge\0", false), None);
    }

    #[test]
    fn conflicts_are_read_with_their_kinds() {
        let tree = "a".repeat(40);
        let answer = format!(
            "{tree}\0100644 {tree} 1\ta b.txt\0100644 {tree} 2\ta b.txt\0100644 {tree} 3\tpicture\0\0\
             1\0a b.txt\0Auto-merging\0Auto-merging a b.txt\n\0\
             1\0a b.txt\0CONFLICT (contents)\0CONFLICT (content): Merge conflict in a b.txt\n\0"
        );
        let conflict = |path: &str| Conflict { path: path.into(), kind: "contents".into() };
        let expected = vec![conflict("a b.txt"), conflict("picture")];
        assert_eq!(read(answer.as_bytes(), false), Some(Merged::Conflicts(expected)));
    }
}
