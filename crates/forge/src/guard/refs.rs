//! Which references an attempt may move.
//!
//! Its own branch, and whatever belongs to nobody: what a fetch, a rebase or a bisect keeps for itself. HEAD is never
//! refused: git asks only after the files were switched, and a refusal would leave them half-way. Commits on what HEAD
//! moved to are refused all the same.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// References of the person, and of Forge: all that they stand for, whatever lies below.
const CLOSED: [&str; 5] = ["refs/heads/", "refs/tags/", "refs/notes/", "refs/replace/", "refs/forge/"];

/// The stash is one for all worktrees of a repository.
const STASH: &str = "refs/stash";

/// Says why a transaction is refused, for the agent to read; none when it may go through.
pub(super) fn refusal(updates: &str, own: &str, common_dir: &Path) -> Option<String> {
    let refused: Vec<Update<'_>> = updates
        .lines()
        .filter_map(Update::read)
        .filter(|update| !update.may_be_made(own) && !update.is_fetched_tag(common_dir))
        .collect();
    if refused.is_empty() {
        return None;
    }
    let branch = own.strip_prefix("refs/heads/").unwrap_or(own);
    let mut text = String::new();
    for update in &refused {
        let act = if update.deletes() { "delete" } else { "move" };
        // Writing to a string cannot fail.
        let _written = writeln!(text, "forge: refused to {act} {}", update.reference);
    }
    let remedy = match refused.first() {
        Some(update) if update.reference == STASH => {
            "the stash is shared by all worktrees. Commit instead, on your own branch; the commit can be amended"
        }
        Some(update) if update.reference == own => {
            "an attempt keeps its branch under its name (git gc and git pack-refs are refused for the same reason)"
        }
        _ => "commit there; branches, tags and the stash of this repository belong to the person",
    };
    let _written = writeln!(text, "forge: this attempt has the branch {branch}: {remedy}.");
    Some(text)
}

/// One line of what git is about to do.
struct Update<'a> {
    old: &'a str,
    new: &'a str,
    reference: &'a str,
}

impl<'a> Update<'a> {
    fn read(line: &'a str) -> Option<Update<'a>> {
        let mut fields = line.splitn(3, ' ');
        Some(Update { old: fields.next()?, new: fields.next()?, reference: fields.next()? })
    }

    fn deletes(&self) -> bool {
        is_absent(self.new)
    }

    fn may_be_made(&self, own: &str) -> bool {
        let reference = self.reference;
        if reference == own {
            // A branch that is only another name for one of the person's would move theirs.
            return !self.deletes() && !self.new.starts_with("ref:");
        }
        let of_another_worktree =
            reference.starts_with("main-worktree/") || reference.starts_with("worktrees/");
        reference != STASH
            && !of_another_worktree
            && !CLOSED.iter().any(|closed| reference.starts_with(closed))
    }

    /// A fetch brings the tags of what it fetches; refusing a new one would make every pull fail.
    fn is_fetched_tag(&self, common_dir: &Path) -> bool {
        self.reference.starts_with("refs/tags/")
            && is_absent(self.old)
            && !self.deletes()
            && !exists(common_dir, self.reference)
            && is_fetch(std::os::unix::process::parent_id())
    }
}

fn is_absent(value: &str) -> bool {
    value.bytes().all(|byte| byte == b'0')
}

/// Git does not always say what a reference was before, so it is looked up.
fn exists(common_dir: &Path, reference: &str) -> bool {
    let packed = fs::read(common_dir.join("packed-refs")).unwrap_or_default();
    let named = [b" ", reference.as_bytes()].concat();
    common_dir.join(reference).exists()
        || packed.split(|byte| *byte == b'\n').any(|line| line.ends_with(&named))
}

/// Says whether a process is git, called to fetch.
fn is_fetch(process: u32) -> bool {
    let Ok(line) = fs::read(format!("/proc/{process}/cmdline")) else {
        // Where there is no `/proc`, a new tag is let through; it is found after the turn.
        return !Path::new("/proc/self").exists();
    };
    let mut words = line.split(|byte| *byte == 0).skip(1);
    while let Some(word) = words.next() {
        match word {
            b"-C" | b"-c" | b"--git-dir" | b"--work-tree" | b"--namespace" => drop(words.next()),
            [b'-', ..] => {}
            verb => return matches!(verb, b"fetch" | b"pull" | b"remote"),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "refs/heads/forge/ab12-a-task";
    const A: &str = "1111111111111111111111111111111111111111";
    const B: &str = "2222222222222222222222222222222222222222";
    const NONE: &str = "0000000000000000000000000000000000000000";

    fn refused(updates: &[(&str, &str, &str)]) -> Option<String> {
        let lines: Vec<String> =
            updates.iter().map(|(old, new, name)| format!("{old} {new} {name}\n")).collect();
        refusal(&lines.concat(), OWN, Path::new("/nowhere"))
    }

    #[test]
    fn the_own_branch_moves_and_is_never_deleted_or_made_another_name() {
        assert_eq!(refused(&[(A, B, OWN), (A, B, "HEAD")]), None);
        assert_eq!(refused(&[(NONE, B, OWN)]), None);
        assert!(refused(&[(A, NONE, OWN)]).unwrap().contains("delete refs/heads/forge/ab12-a-task"));
        assert!(refused(&[(A, "ref:refs/heads/main", OWN)]).is_some());
    }

    #[test]
    fn what_is_the_persons_or_forges_is_refused_by_name() {
        for name in ["refs/heads/main", "refs/tags/v1", "refs/stash", "refs/notes/commits", "refs/replace/x"]
        {
            let text = refused(&[(A, B, name)]).unwrap();
            assert!(text.contains(name) && text.contains("forge/ab12-a-task"), "{text}");
        }
        assert!(refused(&[(NONE, A, "refs/heads/forge/ab12-a-task-2")]).is_some());
        assert!(refused(&[(A, NONE, "refs/forge/snapshots/x")]).is_some());
        assert!(refused(&[(A, B, "main-worktree/HEAD")]).is_some());
        assert!(refused(&[(A, B, OWN), (A, B, "refs/heads/main")]).is_some());
        // Only a fetch may bring a new tag, and what runs this test is none.
        assert!(refused(&[(NONE, A, "refs/tags/new")]).is_some());
    }

    #[test]
    fn what_git_keeps_for_itself_is_let_through() {
        let names = ["HEAD", "ORIG_HEAD", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REBASE_HEAD", "FETCH_HEAD"];
        let refs = ["refs/remotes/origin/main", "refs/rewritten/onto", "refs/bisect/bad", "refs/worktree/x"];
        for name in names.into_iter().chain(refs) {
            assert_eq!(refused(&[(A, B, name), (A, NONE, name)]), None, "{name}");
        }
        assert_eq!(refused(&[(A, "ref:refs/heads/main", "HEAD")]), None);
    }
}
