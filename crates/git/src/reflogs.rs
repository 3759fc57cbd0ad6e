//! Reflogs, read from their files: the stash, and commits that nothing but a reflog holds any more.
//!
//! A reflog is a plain file that anybody can empty, and the next `git prune` takes what only it held. Such commits are
//! made parents of a commit of our own, one for each day, under `refs/forge/kept/reflogs/`. Nothing is asked of git as
//! long as branches only went forward.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::call::line;
use crate::error::{Result, io_error};
use crate::fingerprint::Stashed;
use crate::names::is_oid;
use crate::repo::Repo;

/// Where commits are kept that only a reflog held.
const KEPT: &str = "refs/forge/kept/reflogs";

/// So many of the newest entries of each reflog are looked at, and so many commits are asked for in one go.
const MOST: usize = 1000;

/// So many commits that nothing else holds are read to find the newest of them.
const WALKED: &str = "--max-count=20000";

/// A longer reflog is not read: nobody's is.
const LONGEST: u64 = 32 << 20;

/// What was seen of a repository's reflogs when they were looked at last.
#[derive(Debug, Default)]
pub struct SeenReflogs {
    tips: BTreeMap<String, String>,
    head: Option<(u64, i64, i64)>,
    stash: Vec<String>,
    /// Commits that something else held, or that are kept.
    examined: HashSet<String>,
}

/// A line of a reflog.
struct Entry<'a> {
    old: &'a str,
    new: &'a str,
    message: &'a str,
}

impl Entry<'_> {
    /// Says whether the new commit is built on the old one, as far as the message tells.
    fn went_forward(&self) -> bool {
        let beginnings = ["commit: ", "commit (merge): ", "commit (initial): ", "branch: Created", "clone: "];
        beginnings.iter().any(|begin| self.message.starts_with(begin))
            || self.message.to_ascii_lowercase().ends_with("fast-forward")
    }
}

impl Repo {
    /// Keeps the commits that only the reflogs of HEAD, of the stash, and of branches other than `ours` hold, and
    /// returns how many there were. `refs` are the references as they are now.
    pub fn keep_reflogs(
        &self,
        refs: &BTreeMap<String, String>,
        stash: &[Stashed],
        ours: &[String],
        seen: &mut SeenReflogs,
        day: &str,
    ) -> Result<usize> {
        let is_ours = |name: &str| {
            name.strip_prefix("refs/heads/").is_some_and(|name| ours.iter().any(|our| our == name))
        };
        let is_looked_at = |name: &str| {
            (name.starts_with("refs/heads/") && !is_ours(name)) || name.starts_with("refs/remotes/")
        };
        let tips = refs.iter().filter(|(name, value)| is_looked_at(name) && is_oid(value));
        let tips: BTreeMap<String, String> = tips.map(|(name, oid)| (name.clone(), oid.clone())).collect();
        let logs = self.common_dir().join("logs");
        let head_log = self.checkout.git_dir.join("logs/HEAD");
        let head = fs::metadata(&head_log).ok().map(|meta| (meta.size(), meta.mtime(), meta.mtime_nsec()));
        let stash: Vec<String> = stash.iter().map(|stashed| stashed.oid.clone()).collect();
        let moved: Vec<&String> = tips
            .iter()
            .filter(|(name, oid)| seen.tips.get(*name) != Some(oid))
            .map(|(name, _)| name)
            .collect();
        let has_lost = seen.tips.keys().any(|name| !tips.contains_key(name));
        if moved.is_empty() && !has_lost && head == seen.head && stash == seen.stash {
            return Ok(0);
        }
        let (mut found, mut is_rewritten) = (BTreeSet::new(), has_lost);
        gather(&head_log, None, &mut found);
        for name in moved {
            let from = seen.tips.get(name).map(String::as_str);
            is_rewritten |= !gather(&logs.join(name), from, &mut found);
        }
        // The newest is what the reference itself says.
        found.extend(stash.iter().skip(1).cloned());
        let held: HashSet<&String> = tips.values().collect();
        found.retain(|oid| !held.contains(oid) && (is_rewritten || !seen.examined.contains(oid)));
        let kept = self.keep_unheld(&found, day)?;
        if is_rewritten {
            seen.examined.clear();
        }
        seen.examined.extend(found);
        (seen.tips, seen.head, seen.stash) = (tips, head, stash);
        Ok(kept)
    }

    /// Keeps those of these commits that no reference leads to.
    fn keep_unheld(&self, commits: &BTreeSet<String>, day: &str) -> Result<usize> {
        if commits.is_empty() {
            return Ok(0);
        }
        let act = || "look for commits that only a reflog holds";
        let call = self.checkout.refs("rev-list").args(["--ignore-missing", "--parents", WALKED]);
        let asked: Vec<&str> = commits.iter().map(String::as_str).collect();
        let call = call.args(["--stdin", "--not", "--all"]).input((asked.join("\n") + "\n").into_bytes());
        let unheld =
            String::from_utf8_lossy(&call.run().map_err(|failure| failure.during(act()))?).into_owned();
        let (mut newest, mut parents) = (BTreeSet::new(), HashSet::new());
        for line in unheld.lines() {
            let mut oids = line.split(' ');
            newest.extend(oids.next().filter(|oid| commits.contains(*oid)));
            parents.extend(oids);
        }
        newest.retain(|oid| !parents.contains(oid));
        let Some(one) = newest.first() else { return Ok(0) };
        let reference = format!("{KEPT}/{day}");
        crate::names::check_own_reference(&reference)?;
        self.queued(|| {
            let before = self.references(&[&reference])?.into_iter().find(|(name, _)| *name == reference);
            let before = before.map(|(_, oid)| oid);
            let mut call = self.checkout.refs("commit-tree").args(["--no-gpg-sign", "-F", "-"]);
            for name in ["AUTHOR", "COMMITTER"] {
                call = call
                    .env(&format!("GIT_{name}_NAME"), "Forge")
                    .env(&format!("GIT_{name}_EMAIL"), "forge@localhost");
            }
            for parent in before.iter().map(String::as_str).chain(newest.iter().copied()) {
                call = call.args(["-p", parent]);
            }
            let call =
                call.arg(format!("{one}^{{tree}}")).input(b"Commits that only a reflog held\n".to_vec());
            let commit = line(call.run().map_err(|failure| failure.during("keep what only a reflog holds"))?);
            let call = self.checkout.refs("update-ref").args([
                "--no-deref",
                "--end-of-options",
                &reference,
                &commit,
            ]);
            let absent = "0".repeat(commit.len());
            let written = call.arg(before.as_deref().unwrap_or(&absent)).run();
            written.map_err(|failure| failure.during(format!("write {reference}")))?;
            Ok(newest.len())
        })
    }

    /// Lets go of what was kept of reflogs before a day, which is written as `2026-01-31`. Returns how many days went.
    pub fn drop_kept_reflogs(&self, before: &str) -> Result<usize> {
        let kept = self.references(&[KEPT])?;
        let is_old =
            |name: &str| name.strip_prefix(KEPT).is_some_and(|day| day.trim_start_matches('/') < before);
        let old: Vec<&(String, String)> = kept.iter().filter(|(name, _)| is_old(name)).collect();
        if old.is_empty() {
            return Ok(0);
        }
        let lines: String = old.iter().map(|(name, oid)| format!("delete {name} {oid}\n")).collect();
        let call = self.checkout.refs("update-ref").args(["--no-deref", "--stdin"]).input(lines.into_bytes());
        let dropped = self.queued(|| call.run());
        dropped.map_err(|failure| failure.during("let go of what only reflogs held"))?;
        Ok(old.len())
    }

    /// Lists the reflogs that are everybody's, and that of the person's checkout, by their paths in the git directory;
    /// each with its size, and the time of its last change in nanoseconds.
    pub fn reflogs(&self) -> Result<BTreeMap<String, (u64, i64)>> {
        let mut found = BTreeMap::new();
        let logs = self.common_dir().join("logs");
        note(&logs, "HEAD", "logs", &mut found);
        walk(&logs.join("refs"), "logs/refs", &mut found)?;
        Ok(found)
    }

    /// Returns the commit that the reflog of a reference has as its newest. That the reference became a name for another
    /// one, which is at `target`, is left out: git notes it without a message.
    pub fn logged_tip(&self, reference: &str, target: Option<&str>) -> Option<String> {
        let text = read(&self.common_dir().join("logs").join(reference))?;
        let mut entries = text.lines().rev().filter_map(entry);
        let made = entries.find(|entry| !entry.message.is_empty() || Some(entry.new) != target);
        let tip = made?.new.to_string();
        is_oid(&tip).then_some(tip)
    }
}

/// Returns the entries of the stash, newest first.
pub(crate) fn stash(common_dir: &Path) -> Vec<Stashed> {
    let text = read(&common_dir.join("logs/refs/stash")).unwrap_or_default();
    let entries = text.lines().rev().filter_map(entry);
    entries.map(|entry| Stashed { oid: entry.new.to_string(), message: entry.message.to_string() }).collect()
}

/// Gathers from a reflog the commits that no later entry is built on. Says whether all entries after the commit `from`
/// went forward; with none, what was before is not asked for.
fn gather(log: &Path, from: Option<&str>, found: &mut BTreeSet<String>) -> bool {
    let text = read(log).unwrap_or_default();
    let mut went_forward = true;
    let mut later: Option<Entry<'_>> = None;
    let mut is_after = from.is_some();
    for line in text.lines().rev().take(MOST) {
        let Some(entry) = entry(line) else { continue };
        is_after &= Some(entry.new) != from;
        went_forward &= !is_after || entry.went_forward();
        let is_built_on = later.as_ref().is_some_and(|later| later.went_forward() && later.old == entry.new);
        let wanted = [(entry.new, !is_built_on), (entry.old, !entry.went_forward())];
        let wanted = wanted.into_iter().filter(|(oid, is_wanted)| *is_wanted && is_object(oid));
        found.extend(wanted.map(|(oid, _)| oid.to_string()));
        later = Some(entry);
    }
    went_forward
}

fn is_object(oid: &str) -> bool {
    is_oid(oid) && oid.bytes().any(|byte| byte != b'0')
}

fn entry(line: &str) -> Option<Entry<'_>> {
    let (head, message) = line.split_once('\t').unwrap_or((line, ""));
    let (old, rest) = head.split_once(' ')?;
    let new = rest.split(' ').next()?;
    (is_oid(old) && is_oid(new)).then_some(Entry { old, new, message })
}

fn read(log: &Path) -> Option<String> {
    let kind = fs::symlink_metadata(log).ok()?;
    let bytes = (kind.is_file() && kind.len() <= LONGEST).then(|| fs::read(log).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn note(folder: &Path, name: &str, prefix: &str, found: &mut BTreeMap<String, (u64, i64)>) {
    if let Ok(meta) = fs::symlink_metadata(folder.join(name))
        && meta.is_file()
    {
        let changed = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
        found.insert(format!("{prefix}/{name}"), (meta.size(), changed));
    }
}

fn walk(folder: &Path, prefix: &str, found: &mut BTreeMap<String, (u64, i64)>) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(io_error("list", folder)(error)),
    };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.ends_with(".lock") {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), &format!("{prefix}/{name}"), found)?,
            Ok(_) => note(folder, &name, prefix, found),
            Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_later_entry_is_built_on_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let oid = |digit: &str| digit.repeat(40);
        let line = |old: &str, new: &str, message: &str| {
            format!("{} {} Ada <a@x> 1 +0000\t{message}\n", oid(old), oid(new))
        };
        let text = [
            line("0", "1", "commit (initial): one"),
            line("1", "2", "commit: two"),
            line("2", "3", "commit (amend): two again"),
            line("3", "4", "commit: three"),
        ];
        fs::write(&log, text.concat() + "garbage\n").unwrap();
        let mut found = BTreeSet::new();
        assert!(!gather(&log, Some(&oid("1")), &mut found));
        assert_eq!(found, BTreeSet::from([oid("2"), oid("4")]));
        assert!(gather(&log, Some(&oid("3")), &mut BTreeSet::new()));
        assert!(gather(&dir.path().join("none"), None, &mut BTreeSet::new()));
    }
}
