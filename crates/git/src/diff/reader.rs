//! From paths that differ to what differs in them: contents are read, renames found, limits held.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use crate::checkout::Checkout;
use crate::error::Result;

use super::blobs::{Blob, Blobs};
use super::differ::nested_head;
use super::files::{self, Found, Looks};
use super::index::PrivateIndex;
use super::raw::{Entry, GITLINK, Now, RawChanges};
use super::renames::{Candidate, pairs};
use super::rules::{Rule, Rules};
use super::sides::{Side, of_repository};
use super::{ChangeKind, FileChange, LARGEST_CONTENT, LARGEST_COUNTED, MOST_CONTENT, Version};

/// Reads contents, and knows what it read for the last diff.
#[derive(Debug)]
pub(super) struct Reader {
    blobs: Blobs,
    rules: Rules,
    sides: HashMap<Source, Arc<Side>>,
    pairs: HashMap<Pair, Option<Arc<FileChange>>>,
    last: BTreeMap<PathBuf, Arc<FileChange>>,
    /// The contents of one diff together.
    most: u64,
}

/// Where a content comes from. The same source has the same content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Source {
    Blob(Arc<str>),
    Disk {
        path: PathBuf,
        looks: Looks,
        rule: Rule,
        /// What stood there before, where the rule depends on it.
        before: Option<Arc<str>>,
    },
    Repository(Option<Arc<str>>),
}

/// A file as it was or is, before it is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct End {
    mode: u32,
    source: Source,
}

type Pair = (PathBuf, Option<End>, Option<End>);

impl Reader {
    pub(super) fn of(checkout: &Checkout) -> Reader {
        Reader {
            blobs: Blobs::of(checkout),
            rules: Rules::default(),
            sides: HashMap::new(),
            pairs: HashMap::new(),
            last: BTreeMap::new(),
            most: MOST_CONTENT,
        }
    }

    pub(super) fn limit(&mut self, most: u64) {
        self.most = most;
    }

    pub(super) fn forget_rules(&mut self) {
        self.rules.forget();
    }

    /// Reads what differs; files on disk are those of the checkout.
    pub(super) fn read(
        &mut self,
        raw: RawChanges,
        disk: Option<(&Checkout, &PrivateIndex)>,
    ) -> Result<BTreeMap<PathBuf, Arc<FileChange>>> {
        let wanted = self.wanted(raw, disk)?;
        let top = disk.map_or(Path::new(""), |(checkout, _)| &checkout.top);
        let (sides, known) = (std::mem::take(&mut self.sides), std::mem::take(&mut self.pairs));
        let mut round = Round { sides, fresh: HashMap::new(), bytes: 0, top };
        let mut changes = BTreeMap::new();
        for pair in wanted {
            let is_calm = |change: &Option<Arc<FileChange>>| change.as_ref().is_none_or(|it| !is_racy(it));
            let change = match known.get(&pair).filter(|change| is_calm(change)) {
                Some(known) => {
                    round.keep(&pair);
                    known.clone()
                }
                None => self.change(&pair, &mut round)?.map(Arc::new),
            };
            if let Some(change) = &change {
                round.bytes += change.content_bytes();
                changes.insert(pair.0.clone(), change.clone());
            }
            self.pairs.insert(pair, change);
        }
        self.sides = round.fresh;
        join_renames(&mut changes);
        for (path, change) in &mut changes {
            if let Some(last) = self.last.get(path).filter(|last| last.says_the_same_as(change)) {
                *change = last.clone();
            }
        }
        self.last.clone_from(&changes);
        Ok(changes)
    }

    /// Looks at the files on disk, and names the source of each content.
    fn wanted(&mut self, raw: RawChanges, disk: Option<(&Checkout, &PrivateIndex)>) -> Result<Vec<Pair>> {
        let is_on_disk = |now: &Now| matches!(now, Now::Disk(mode) if *mode != Some(GITLINK));
        if let Some((checkout, index)) = disk {
            let paths: Vec<PathBuf> =
                raw.iter().filter(|(_, it)| is_on_disk(&it.now)).map(|(path, _)| path.clone()).collect();
            self.rules.learn(checkout, index, &paths)?;
        }
        let committed = |entry: Entry| {
            let source = match entry.mode {
                GITLINK => Source::Repository(Some(entry.oid)),
                _ => Source::Blob(entry.oid),
            };
            End { mode: entry.mode, source }
        };
        let mut wanted = Vec::with_capacity(raw.len());
        for (path, it) in raw {
            let before = it.old.as_ref().map(|entry| entry.oid.clone());
            let old = it.old.map(committed);
            let new = match (it.now, disk) {
                (Now::Gone, _) => None,
                (Now::Blob(entry), _) => Some(committed(entry)),
                (Now::Nested | Now::Disk(Some(GITLINK)), Some((checkout, _))) => {
                    let head = nested_head(checkout, &path).map(Arc::from);
                    Some(End { mode: GITLINK, source: Source::Repository(head) })
                }
                (Now::Disk(told), Some((checkout, _))) => {
                    files::look(&checkout.top, &path).map(|looks| self.on_disk(&path, looks, told, before))
                }
                (Now::Nested | Now::Disk(_), None) => None,
            };
            if old.is_some() || new.is_some() {
                wanted.push((path, old, new));
            }
        }
        Ok(wanted)
    }

    fn on_disk(&self, path: &Path, looks: Looks, told: Option<u32>, before: Option<Arc<str>>) -> End {
        let is_file = |mode: u32| mode & 0o170_000 == 0o100_000;
        // Where the right to execute means nothing, git knows it better than the disk.
        let mode = told.filter(|told| is_file(*told) && is_file(looks.mode)).unwrap_or(looks.mode);
        let rule = if is_file(mode) { self.rules.of(path) } else { Rule::AsItIs };
        let before = before.filter(|_| rule == Rule::Auto);
        End { mode, source: Source::Disk { path: path.to_path_buf(), looks, rule, before } }
    }

    /// Reads both sides of a path. None when they are the same after all.
    fn change(&mut self, (path, old, new): &Pair, round: &mut Round<'_>) -> Result<Option<FileChange>> {
        let before = old.as_ref().map(|end| self.side(end, None, round)).transpose()?;
        let text = before.as_ref().and_then(|side| side.text());
        let after = new.as_ref().map(|end| self.side(end, text, round)).transpose()?;
        let kind = match (old.as_ref().zip(before.as_ref()), new.as_ref().zip(after.as_ref())) {
            (Some((was, old)), Some((is, new))) if old.is_known_to_equal(new) => match was.mode == is.mode {
                true => return Ok(None),
                false => ChangeKind::PermissionChange,
            },
            (Some(_), Some(_)) => ChangeKind::Modified,
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
        };
        let version = |end: &Option<End>, side: Option<Arc<Side>>| {
            let (mode, side) = (end.as_ref()?.mode, side?);
            Some(Version { path: path.clone(), mode, side })
        };
        let mut change =
            FileChange { kind, old: version(old, before), new: version(new, after), counts: OnceLock::new() };
        let is_long =
            |version: &Version| version.side.text().is_some_and(|it| it.len() as u64 > LARGEST_CONTENT);
        let sides = [&change.old, &change.new];
        if sides.into_iter().flatten().any(is_long) || round.bytes + change.content_bytes() > self.most {
            // Lines are counted while they are there.
            change.counts();
            for version in [&mut change.old, &mut change.new].into_iter().flatten() {
                version.side = Arc::new(version.side.without_content());
            }
        } else {
            for (end, version) in [(old, &change.old), (new, &change.new)] {
                if let (Some(end), Some(version)) = (end, version)
                    && !version.side.is_racy
                {
                    round.fresh.insert(end.source.clone(), version.side.clone());
                }
            }
        }
        Ok(Some(change))
    }

    /// Reads one side, unless it was read before.
    fn side(&mut self, end: &End, before: Option<&str>, round: &mut Round<'_>) -> Result<Arc<Side>> {
        if let Some(known) = round.fresh.get(&end.source).or_else(|| round.sides.get(&end.source)) {
            return Ok(known.clone());
        }
        let side = match &end.source {
            Source::Repository(Some(oid)) => return Ok(of_repository(oid)),
            Source::Repository(None) => Side::left_out(),
            Source::Blob(oid) => match self.blobs.read(oid, LARGEST_COUNTED)? {
                Blob::Bytes(bytes) => Side::read(bytes),
                Blob::TooLong | Blob::Missing => Side::left_out(),
            },
            Source::Disk { rule: Rule::Filtered, .. } => Side::left_out(),
            Source::Disk { path, looks, rule, .. } => {
                let now = SystemTime::now();
                let mut side = match files::read(round.top, path, looks, LARGEST_COUNTED) {
                    Found::Bytes(bytes) => Side::read(rule.apply(bytes, before)),
                    Found::TooLong | Found::Unreadable => Side::left_out(),
                };
                side.is_racy = looks.is_racy(now);
                side
            }
        };
        Ok(Arc::new(side))
    }
}

/// What is gathered while one diff is read.
struct Round<'a> {
    /// What the last diff read, and what this one has.
    sides: HashMap<Source, Arc<Side>>,
    fresh: HashMap<Source, Arc<Side>>,
    bytes: u64,
    top: &'a Path,
}

impl Round<'_> {
    /// Keeps what was read for a pair that is the same as last time.
    fn keep(&mut self, (_, old, new): &Pair) {
        for end in [old, new].into_iter().flatten() {
            if let Some(side) = self.sides.remove(&end.source) {
                self.fresh.insert(end.source.clone(), side);
            }
        }
    }
}

fn is_racy(change: &FileChange) -> bool {
    [&change.old, &change.new].into_iter().flatten().any(|version| version.side.is_racy)
}

/// Makes one change of a file that went and a file that came and is much the same.
fn join_renames(changes: &mut BTreeMap<PathBuf, Arc<FileChange>>) {
    let of_kind = |kind: ChangeKind| -> Vec<Candidate<'_>> {
        let files = changes.iter().filter(|(_, change)| change.kind == kind);
        files
            .filter_map(|(path, change)| {
                let version = change.new.as_ref().or(change.old.as_ref())?;
                let is_file = version.mode & 0o170_000 == 0o100_000;
                is_file.then_some(Candidate { path, side: &version.side })
            })
            .collect()
    };
    let (deleted, added) = (of_kind(ChangeKind::Deleted), of_kind(ChangeKind::Added));
    for (from, to) in pairs(&deleted, &added) {
        let (Some(gone), Some(came)) = (changes.remove(&from), changes.remove(&to)) else { continue };
        let change = FileChange {
            kind: ChangeKind::Renamed,
            old: gone.old.clone(),
            new: came.new.clone(),
            counts: OnceLock::new(),
        };
        changes.insert(to, Arc::new(change));
    }
}
