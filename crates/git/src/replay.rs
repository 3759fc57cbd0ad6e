//! Building commits again on another base, in memory: who wrote them, when and what they said stays.
//!
//! No ref, no index and no file is touched. What conflicts is said, and left to a rebase in a worktree.

use crate::call::line;
use crate::commit::missing_identity;
use crate::error::{Failure, Result};
use crate::merge::{Conflict, Merged};
use crate::names::is_oid;
use crate::quarantine::{Held, Quarantine};
use crate::repo::Repo;
use crate::scratch::Scratch;

/// What came of building commits again.
#[derive(Debug)]
pub enum Replayed {
    /// The new tip. Commits that would change nothing any more are left out. No git removes it while `held` lives;
    /// after that a reference has to lead to it.
    Tip {
        oid: String,
        held: Held,
    },
    Conflicts(Vec<Conflict>),
}

/// What is kept of a commit that is built again.
struct Written {
    author: String,
    email: String,
    /// Seconds and time zone, as git writes them.
    date: String,
    encoding: Option<String>,
    message: Vec<u8>,
    tree: String,
    parents: Vec<String>,
}

impl Repo {
    /// Builds the commits after `upstream` up to `tip` again on top of `onto`. Where there are merges among them, what
    /// they make together becomes one commit: a merge was somebody's answer to a conflict, and would be lost.
    pub fn replay(&self, upstream: &str, tip: &str, onto: &str) -> Result<Replayed> {
        for oid in [upstream, tip, onto] {
            self.check_oid(oid)?;
        }
        let range = format!("{upstream}..{tip}");
        let call =
            self.checkout.refs("rev-list").args(["--reverse", "--topo-order", "--end-of-options", &range]);
        let act = || format!("list the commits of {tip}");
        let list = line(call.run().map_err(|failure| failure.during(act()))?);
        let commits: Vec<Written> = list.lines().map(|oid| self.read_commit(oid)).collect::<Result<_>>()?;
        if commits.iter().any(|commit| commit.parents.len() != 1) {
            return self.replay_as_one(&commits, tip, onto);
        }
        let signs = self.signs()?;
        let mut now_at = onto.to_string();
        for (oid, commit) in list.lines().zip(&commits) {
            let before = self.tree_of(&now_at)?;
            let tree = match self.merge_commits(&now_at, oid, Some(&commit.parents[0]))? {
                Merged::Clean { tree } => tree,
                Merged::Conflicts(conflicts) => return Ok(Replayed::Conflicts(conflicts)),
            };
            let was_empty = self.tree_of(&commit.parents[0])? == commit.tree;
            if tree != before || was_empty {
                now_at = self.write_again(commit, &commit.message, &tree, &now_at, signs)?;
            }
        }
        let held = self.pack_built(&now_at, [onto, tip])?;
        Ok(Replayed::Tip { oid: now_at, held })
    }

    /// Packs commits that were built, before a branch leads to them: `git prune` removes no packs.
    fn pack_built(&self, built: &str, known: [&str; 2]) -> Result<Held> {
        let scratch = Scratch::make(&self.checkout.git_dir)?;
        let packed = Quarantine::make(&self.checkout, &scratch)?.admit(&[built], &known);
        packed.map(|pack| Held { _pack: pack }).map_err(|failure| failure.during(format!("store {built}")))
    }

    fn replay_as_one(&self, commits: &[Written], tip: &str, onto: &str) -> Result<Replayed> {
        let tree = match self.merge_commits(onto, tip, None)? {
            Merged::Clean { tree } => tree,
            Merged::Conflicts(conflicts) => return Ok(Replayed::Conflicts(conflicts)),
        };
        let own: Vec<&Written> = commits.iter().filter(|commit| commit.parents.len() < 2).collect();
        let Some(last) = own.last().copied().or(commits.last()) else {
            return Ok(Replayed::Tip { oid: onto.to_string(), held: Held { _pack: None } });
        };
        if tree == self.tree_of(onto)? {
            return Ok(Replayed::Tip { oid: onto.to_string(), held: Held { _pack: None } });
        }
        let messages: Vec<&[u8]> = own.iter().map(|commit| commit.message.trim_ascii()).collect();
        let message = if messages.is_empty() { last.message.clone() } else { messages.join(&b"\n\n"[..]) };
        let oid = self.write_again(last, &message, &tree, onto, self.signs()?)?;
        let held = self.pack_built(&oid, [onto, tip])?;
        Ok(Replayed::Tip { oid, held })
    }

    fn read_commit(&self, oid: &str) -> Result<Written> {
        let answer = self.checkout.refs("cat-file").args(["commit", oid]).run();
        let answer = answer.map_err(|failure| failure.during(format!("read commit {oid}")))?;
        read(&answer).ok_or_else(|| {
            let told = String::from_utf8_lossy(&answer).into_owned();
            Failure::answer("cat-file", &told).during(format!("read commit {oid}"))
        })
    }

    fn write_again(
        &self,
        commit: &Written,
        message: &[u8],
        tree: &str,
        parent: &str,
        signs: bool,
    ) -> Result<String> {
        let mut call = self.checkout.refs("commit-tree");
        for (key, value) in missing_identity(&self.checkout)? {
            call = call.setting(key, value);
        }
        if let Some(encoding) = &commit.encoding {
            call = call.setting("i18n.commitEncoding", encoding);
        }
        let drivers = crate::drivers::Drivers::of(&self.checkout)?;
        let call = call.settings(&drivers.overrides).arg(if signs { "-S" } else { "--no-gpg-sign" });
        let call = call.args(["-p", parent, "-F", "-", tree]).input(message.to_vec());
        let call = call.env("GIT_AUTHOR_NAME", &commit.author).env("GIT_AUTHOR_EMAIL", &commit.email);
        let oid = call.env("GIT_AUTHOR_DATE", format!("@{}", commit.date)).run().map(line);
        let oid = oid.map_err(|failure| failure.during(format!("build a commit on {parent}")))?;
        if is_oid(&oid) { Ok(oid) } else { Err(self.no_such_commit(&oid)) }
    }

    /// Tells whether the person signs their commits.
    fn signs(&self) -> Result<bool> {
        let answer = self.checkout.refs("config").args(["--type=bool", "--get", "commit.gpgSign"]).ask();
        let answer = answer.map_err(|failure| failure.during("read whether commits are signed"))?;
        Ok(answer.is_some_and(|answer| line(answer) == "true"))
    }
}

/// Reads a commit as git stores it.
fn read(answer: &[u8]) -> Option<Written> {
    let end = answer.windows(2).position(|pair| pair == b"\n\n")?;
    let (head, message) = (String::from_utf8_lossy(&answer[..end]), answer[end + 2..].to_vec());
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::to_string);
    let author = field("author ")?;
    let (name, rest) = author.split_once('<')?;
    let (email, date) = rest.rsplit_once("> ")?;
    // Git makes no commit without a name, however old ones came to be.
    let named =
        |text: &str| if text.trim().is_empty() { "unknown".to_string() } else { text.trim().to_string() };
    Some(Written {
        author: named(name),
        email: named(email),
        date: date.to_string(),
        encoding: field("encoding "),
        message,
        tree: field("tree ")?,
        parents: head.lines().filter_map(|line| line.strip_prefix("parent ")).map(str::to_string).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_with_its_encoding_and_past_its_signature() {
        let raw = b"tree aaaa\nparent bbbb\nauthor Ada <ada@x> 1700000000 +0100\n\
            committer C <c@x> 1 +0000\nencoding ISO-8859-1\ngpgsig -----BEGIN\n one\n \n two\n\nsubject\n\nbody\n";
        let written = read(raw).unwrap();
        assert_eq!((written.author.as_str(), written.date.as_str()), ("Ada", "1700000000 +0100"));
        assert_eq!(written.encoding.as_deref(), Some("ISO-8859-1"));
        assert_eq!((written.tree.as_str(), &written.parents[..]), ("aaaa", &["bbbb".to_string()][..]));
        assert!(written.message.starts_with(b"subject"));
        assert!(read(b"tree aaaa\n").is_none());
    }
}
