//! What keeps git from reading the repository, makes it read another history, or would have a commit move another branch
//! than the one it is made on: put back at once. By that nobody loses a commit or a byte; what is found is told.
//!
//! Everything here is compared as files and only then put to git, which is where it would fail. One thing that cannot be
//! put back does not keep the others from it.

use std::collections::BTreeMap;

use forge_git::{Fingerprint, Mended, Repo};
use forge_model::{FindingKind, Side};

use super::before::{Before, Mark};
use super::compare::{Found, text_side};
use super::objects::{Objects, hash};
use crate::Result;
use crate::error::whole;
use crate::store::findings::Facts;

/// Git gives up on replacements of replacements beyond this.
const DEEPEST: usize = 5;

/// Files of settings that git reads before anything else.
const CONFIGS: [&str; 2] = ["config", "config.worktree"];

/// What has to be known to put things back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mending<'a> {
    pub(super) repo: &'a Repo,
    pub(super) before: &'a Before,
    pub(super) facts: &'a Facts,
    pub(super) objects: &'a Objects,
    /// Why worktrees of ours are locked.
    pub(super) lock: &'a str,
}

/// Puts back what must not stay, and returns what that was, and how things are after it.
pub(super) fn mend<'a>(mending: &Mending<'a>, mut now: Fingerprint) -> Result<(Vec<Found>, Fingerprint)> {
    if !mending.before.is_complete() {
        return Ok((Vec::new(), now));
    }
    let mut all = Vec::new();
    // Each step needs what the ones before it put right, so what is there is read again after each that did something.
    let steps: [(&str, Step<'a>); 7] = [
        ("its git directory", Mending::git_dir),
        ("its references", Mending::references),
        ("its branches", Mending::branches),
        ("its replacements", Mending::replacements),
        ("the end of its history", Mending::shallow),
        ("where it looks for objects", Mending::alternates),
        ("its config", Mending::configs),
    ];
    for (what, step) in steps {
        match step(mending, &now) {
            Ok(found) if found.is_empty() => {}
            Ok(found) => {
                all.extend(found);
                now = mending.repo.look()?;
            }
            Err(error) => {
                let top = mending.repo.top().display();
                tracing::warn!("{what} could not be put back in {top}: {}", whole(&error));
            }
        }
    }
    Ok((all, now))
}

type Step<'a> = fn(&Mending<'a>, &Fingerprint) -> Result<Vec<Found>>;

impl Mending<'_> {
    /// The git directory is one, leads nowhere else, and so does the entry of each linked worktree.
    fn git_dir(&self, now: &Fingerprint) -> Result<Vec<Found>> {
        let was = &self.before.print;
        let mended = self.repo.mend_git_dir(was.head.as_deref())?;
        let mut found: Vec<Found> = mended.into_iter().map(told).collect();
        for (name, place) in &was.worktrees {
            let head = was.heads.get(name).filter(|head| is_head(head));
            let is_whole = now.worktrees.get(name) == Some(place)
                && now.heads.get(name).is_some_and(|head| is_head(head))
                && self.repo.is_entry_ours(name);
            let Some(head) = head.filter(|_| !is_whole) else { continue };
            let is_own = *place == self.before.worktree;
            let lock = (is_own || self.facts.is_our_place(place)).then(|| format!("{}\n", self.lock));
            match self.repo.mend_entry(name, place, head, lock.as_deref()) {
                Ok(mended) => found.extend(mended.into_iter().map(told)),
                Err(error) => {
                    tracing::warn!(
                        "the entry of {} could not be put back: {}",
                        place.display(),
                        whole(&error)
                    );
                }
            }
        }
        Ok(found)
    }

    /// Every reference can be read.
    fn references(&self, now: &Fingerprint) -> Result<Vec<Found>> {
        let was = &self.before.print;
        let is_fine = now.ref_files.is_plain && (now.ref_files.is_packed || !was.is_packed);
        if !was.is_plain || is_fine {
            return Ok(Vec::new());
        }
        let mut refs = was.refs.clone();
        refs.extend(was.stash.first().map(|(oid, _)| ("refs/stash".to_string(), oid.clone())));
        for name in &now.ref_files.broken {
            // Nobody can say any more what it is, so its log counts as far as it goes on from what it was.
            if let (Some(was), Some(logged)) = (was.refs.get(name), self.repo.logged_tip(name, None))
                && self.repo.is_ancestor(was, &logged).unwrap_or(false)
            {
                refs.insert(name.clone(), logged);
            }
        }
        let mended = self.repo.mend_references(&refs, was.is_packed, |name| self.is_missed(name))?;
        Ok(mended.into_iter().map(told).collect())
    }

    /// Says whether a reference from before should be there: Forge may have taken it away itself.
    fn is_missed(&self, name: &str) -> bool {
        if let Some(id) = name.strip_prefix("refs/forge/snapshots/") {
            return self.facts.attempts.iter().any(|attempt| attempt.id == id);
        }
        let Some(branch) = name.strip_prefix("refs/heads/") else { return true };
        !self.before.ours.iter().any(|ours| ours == branch) || self.is_attempts(branch)
    }

    fn is_attempts(&self, branch: &str) -> bool {
        self.facts.attempts.iter().any(|attempt| attempt.branch == branch)
    }

    /// A branch that had commits of its own is no name for another one: a commit on it would move that one.
    fn branches(&self, now: &Fingerprint) -> Result<Vec<Found>> {
        let named = now.refs.iter().filter(|(_, value)| value.starts_with("ref: "));
        let named: BTreeMap<&String, String> = named.map(|(name, value)| (name, value.clone())).collect();
        let nowhere = now.ref_files.nowhere.iter().map(|(name, target)| (name, format!("ref: {target}")));
        let mut found = Vec::new();
        for (name, value) in named.into_iter().chain(nowhere) {
            if !name.starts_with("refs/heads/") {
                continue;
            }
            let Some(was) = self.before.print.refs.get(name).filter(|was| !was.starts_with("ref: ")) else {
                continue;
            };
            let target = value.strip_prefix("ref: ").and_then(|target| now.refs.get(target));
            let Some(tip) = self.known_tip(name, was, target) else { continue };
            self.repo.set_reference(name, &tip)?;
            let (was, is) = (Some(text_side(&tip)), Some(text_side(&value)));
            found.push(Found { healed: true, ..Found::new(FindingKind::Ref, name, was, is) });
        }
        found.extend(self.own_branch(now)?);
        Ok(found)
    }

    /// The last commit that a branch is known to have had; none when the person has gone on with it meanwhile, and what
    /// it was is not known well enough. `target` is where another is for which it has become a name.
    fn known_tip(&self, name: &str, was: &str, target: Option<&String>) -> Option<String> {
        let branch = name.strip_prefix("refs/heads/").unwrap_or_default();
        let is_ours = name == self.before.own || self.is_attempts(branch);
        match self.repo.logged_tip(name, target.map(String::as_str)) {
            // Commits that were made on it until then are its own.
            Some(logged) if is_ours && self.repo.is_ancestor(was, &logged).unwrap_or(false) => Some(logged),
            Some(logged) if !is_ours && logged != was => None,
            _ => Some(was.to_string()),
        }
    }

    /// The attempt's own branch is there: a commit on one that is not would be the first of another history.
    fn own_branch(&self, now: &Fingerprint) -> Result<Option<Found>> {
        let own = &self.before.own;
        let is_there = now.refs.contains_key(own) || now.ref_files.nowhere.contains_key(own);
        let was = self.before.print.refs.get(own).filter(|was| !was.starts_with("ref: "));
        let Some(was) = was.filter(|_| self.before.print.is_plain && now.ref_files.is_plain && !is_there)
        else {
            return Ok(None);
        };
        let tip = self.known_tip(own, was, None).unwrap_or_else(|| was.clone());
        self.repo.set_reference(own, &tip)?;
        Ok(Some(Found { healed: true, ..Found::new(FindingKind::Ref, own, Some(text_side(&tip)), None) }))
    }

    /// No object stands for itself, by whatever way round, or for one that is not there: git cannot read either.
    fn replacements(&self, now: &Fingerprint) -> Result<Vec<Found>> {
        let replacement = |oid: &str| now.refs.get(&format!("refs/replace/{oid}"));
        let mut found = Vec::new();
        for (name, value) in now.refs.range("refs/replace/".to_string().."refs/replace0".to_string()) {
            let was = self.before.print.refs.get(name);
            if was == Some(value) {
                continue;
            }
            let mut at = Some(value);
            for _ in 0..DEEPEST {
                at = at.and_then(|oid| replacement(oid));
            }
            if at.is_none() && self.repo.has_object(value)? {
                continue;
            }
            match was {
                Some(was) => self.repo.set_reference(name, was)?,
                None => self.repo.drop_reference(name, value)?,
            }
            let (was, is) = (was.map(|was| text_side(was)), Some(text_side(value)));
            found.push(Found { healed: true, ..Found::new(FindingKind::Ref, name, was, is) });
        }
        Ok(found)
    }

    /// The history ends where it ended.
    fn shallow(&self, now: &Fingerprint) -> Result<Vec<Found>> {
        let Some(was) = self.changed("shallow", now)? else { return Ok(Vec::new()) };
        let tips = self.before.print.refs.values().filter(|value| !value.starts_with("ref: "));
        let known: Vec<&str> = tips.map(String::as_str).collect();
        let Some(mended) = self.repo.mend_shallow(was.as_deref(), &known)? else { return Ok(Vec::new()) };
        let ended = match &was {
            None => "the whole history".to_string(),
            Some(was) => {
                format!("a history that ends at {}", commits(was.split(|byte| *byte == b'\n').count() - 1))
            }
        };
        let mut found = Vec::new();
        if mended.put_back > 0 || mended.was_spoiled {
            let is = match mended.put_back {
                0 => "something that git cannot read".to_string(),
                count => format!("one that is cut off elsewhere, at {}", commits(count)),
            };
            let (was, is) = (Some(text_side(&ended)), Some(text_side(&is)));
            found.push(Found { healed: true, ..Found::new(FindingKind::Info, "shallow", was, is) });
        }
        if mended.cut_off > 0 {
            let side = |shown: String| Some(Side { shown, ..Side::default() });
            let is = format!(
                "one in which {} came without what is before; `git fetch --unshallow` brings that",
                commits(mended.cut_off)
            );
            found.push(Found::new(FindingKind::Info, "shallow", side(ended), side(is)));
        }
        Ok(found)
    }

    /// Objects that lie in another repository are found there still.
    fn alternates(&self, now: &Fingerprint) -> Result<Vec<Found>> {
        let name = "objects/info/alternates";
        let Some(Some(was)) = self.changed(name, now)? else { return Ok(Vec::new()) };
        let is = now.files.get(name).map(|file| file.content.as_slice()).unwrap_or_default();
        let has = |line: &[u8]| is.split(|byte| *byte == b'\n').any(|other| other == line);
        if was.split(|byte| *byte == b'\n').all(|line| line.is_empty() || has(line)) {
            return Ok(Vec::new());
        }
        self.objects.keep(is)?;
        self.repo.write_git_file(name, Some(&was))?;
        let side = |text: &[u8]| text_side(String::from_utf8_lossy(text).trim());
        let is = now.files.get(name).map(|file| side(&file.content));
        Ok(vec![Found { healed: true, ..Found::new(FindingKind::Info, name, Some(side(&was)), is) }])
    }

    /// With a config that git cannot read, or with which it takes this for no repository, nothing works.
    fn configs(&self, now: &Fingerprint) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        for name in CONFIGS {
            let Some(was) = self.changed(name, now)? else { continue };
            let has_commits = self.before.print.head.as_deref().is_some_and(|head| {
                head.strip_prefix("ref: ").is_none_or(|branch| self.before.print.refs.contains_key(branch))
            });
            if !has_commits || !self.repo.top().is_dir() || self.repo.is_readable()? {
                return Ok(found);
            }
            let is = now.files.get(name);
            if let Some(is) = is {
                self.objects.keep(&is.content)?;
            }
            self.repo.write_git_file(name, was.as_deref())?;
            let (was, is) =
                (was.map(|_| text_side("a config")), is.map(|_| text_side("one that git cannot use")));
            found.push(Found { healed: true, ..Found::new(FindingKind::Config, name, was, is) });
        }
        Ok(found)
    }

    /// What a file was that is another one now, as far as that was kept: its content, or that there was none.
    fn changed(&self, name: &str, now: &Fingerprint) -> Result<Option<Option<Vec<u8>>>> {
        let (was, is) = (self.before.print.files.get(name), now.files.get(name));
        let Some(Mark { hash: known, kept, .. }) = was else { return Ok(is.map(|_| None)) };
        if is.is_some_and(|is| hash(&is.content) == *known) || !kept {
            return Ok(None);
        }
        Ok(self.objects.read(known)?.map(Some))
    }
}

fn told(mended: Mended) -> Found {
    let kind = match mended.subject.as_str() {
        "HEAD" => FindingKind::Head,
        subject if subject.starts_with("refs/") => FindingKind::Ref,
        _ => FindingKind::Info,
    };
    let side = |text: &Option<String>| text.as_deref().map(text_side);
    let found = Found::new(kind, &mended.subject, side(&mended.was), side(&mended.found));
    Found { healed: true, ..found }
}

fn is_head(text: &str) -> bool {
    let is_oid = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_oid || text.starts_with("ref: refs/")
}

fn commits(count: usize) -> String {
    if count == 1 { "1 commit".to_string() } else { format!("{count} commits") }
}
