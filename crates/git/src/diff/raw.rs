//! Which paths differ between a base commit, HEAD and the files, from what `diff-tree` and `status` tell.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

/// A file in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: u32,
    pub(super) oid: Arc<str>,
}

/// What a path is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Now {
    Gone,
    /// As a blob that git has.
    Blob(Entry),
    /// As it lies on disk; the mode is what git makes of it, when git has looked.
    Disk(Option<u32>),
    /// A repository inside this one.
    Nested,
}

/// A path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) old: Option<Entry>,
    pub(super) now: Now,
}

/// What differs between two trees: a path, and what each has there.
pub(super) type TreeChanges = Vec<(PathBuf, Option<Entry>, Option<Entry>)>;

pub(super) type RawChanges = BTreeMap<PathBuf, Raw>;

pub(super) const LINK: u32 = 0o120_000;
pub(super) const GITLINK: u32 = 0o160_000;

/// What `status` said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// The commit that is checked out, when there is one.
    pub(super) head: Option<String>,
    pub(super) files: Vec<StatusFile>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatusFile {
    pub(super) path: PathBuf,
    /// In HEAD. Untracked files are not asked about.
    pub(super) head: Option<Entry>,
    pub(super) now: Now,
}

/// Reads `status --porcelain=v2 -z --branch --no-renames`.
pub(super) fn read_status(answer: &[u8]) -> Option<Status> {
    let mut status = Status::default();
    for record in answer.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        if record.starts_with(b"#") {
            let oid = record.strip_prefix(b"# branch.oid ").filter(|oid| *oid != b"(initial)");
            status.head = oid.map(|oid| String::from_utf8_lossy(oid).into_owned()).or(status.head.take());
            continue;
        }
        let file = match record {
            [b'1', b' ', ..] => {
                let fields: Vec<&[u8]> = record.splitn(9, |byte| *byte == b' ').collect();
                let &[_, states, _, head, index, work, head_oid, index_oid, name] = &fields[..] else {
                    return None;
                };
                let staged = entry(index, index_oid)?;
                let now = match (staged, mode(work)?) {
                    // The file is as the index has it. It may be missing, in a sparse checkout.
                    (Some(staged), _) if states.get(1) == Some(&b'.') => Now::Blob(staged),
                    (_, 0) => Now::Gone,
                    (_, work) => Now::Disk(Some(work)),
                };
                StatusFile { path: path(name), head: entry(head, head_oid)?, now }
            }
            [b'u', b' ', ..] => {
                let fields: Vec<&[u8]> = record.splitn(11, |byte| *byte == b' ').collect();
                let &[_, _, _, _, ours, _, work, _, ours_oid, _, name] = &fields[..] else {
                    return None;
                };
                let now = match mode(work)? {
                    0 => Now::Gone,
                    work => Now::Disk(Some(work)),
                };
                StatusFile { path: path(name), head: entry(ours, ours_oid)?, now }
            }
            [b'?', b' ', name @ .., b'/'] => StatusFile { path: path(name), head: None, now: Now::Nested },
            [b'?', b' ', name @ ..] => StatusFile { path: path(name), head: None, now: Now::Disk(None) },
            _ => return None,
        };
        status.files.push(file);
    }
    Some(status)
}

/// Reads `diff-tree -r -z --raw --no-renames --no-abbrev` of two trees.
pub(super) fn read_trees(answer: &[u8]) -> Option<TreeChanges> {
    let mut fields = answer.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut changes = Vec::new();
    while let Some(head) = fields.next() {
        let mut words = head.strip_prefix(b":")?.split(|byte| *byte == b' ');
        let (old_mode, new_mode) = (words.next()?, words.next()?);
        let (old_oid, new_oid) = (words.next()?, words.next()?);
        changes.push((path(fields.next()?), entry(old_mode, old_oid)?, entry(new_mode, new_oid)?));
    }
    Some(changes)
}

/// Puts together what differs between base and HEAD, and between HEAD and the files.
pub(super) fn together(
    trees: &[(PathBuf, Option<Entry>, Option<Entry>)],
    files: Vec<StatusFile>,
) -> RawChanges {
    let mut changes = RawChanges::new();
    for (path, old, new) in trees {
        let now = new.clone().map_or(Now::Gone, Now::Blob);
        changes.insert(path.clone(), Raw { old: old.clone(), now });
    }
    for file in files {
        match changes.get_mut(&file.path) {
            // What was taken off the index and lies there untracked is told twice; what lies there counts.
            Some(known) => {
                if file.now != Now::Gone || !matches!(known.now, Now::Disk(_)) {
                    known.now = file.now;
                }
            }
            None => drop(changes.insert(file.path, Raw { old: file.head, now: file.now })),
        }
    }
    changes.retain(|_, raw| match (&raw.old, &raw.now) {
        (Some(old), Now::Blob(now)) => old != now,
        (None, Now::Gone) => false,
        _ => true,
    });
    changes
}

fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}

fn mode(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()
}

/// Reads a mode and a name of an object; the mode 0 stands for no file.
fn entry(mode_text: &[u8], oid: &[u8]) -> Option<Option<Entry>> {
    let oid = std::str::from_utf8(oid).ok()?;
    Some(match mode(mode_text)? {
        0 => None,
        mode => Some(Entry { mode, oid: oid.into() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(oid: &str) -> Entry {
        Entry { mode: 0o100_644, oid: oid.into() }
    }

    #[test]
    fn every_kind_of_record_is_read_with_its_whole_path() {
        let answer = b"# branch.oid 12\0# branch.head main\0\
            1 .M N... 100644 100644 100755 aa bb a b\nc\0\
            1 M. N... 100644 100644 100644 aa bb staged\0\
            1 D. N... 100644 000000 000000 aa 00 gone\0\
            u UU N... 100644 100644 100644 100644 a b c torn file\0? -new\0? inner/\0";
        let status = read_status(answer).unwrap();
        assert_eq!(status.head.as_deref(), Some("12"));
        let seen: Vec<_> =
            status.files.iter().map(|file| (file.path.to_str().unwrap(), file.now.clone())).collect();
        let expected = [
            ("a b\nc", Now::Disk(Some(0o100_755))),
            ("staged", Now::Blob(file("bb"))),
            ("gone", Now::Gone),
            ("torn file", Now::Disk(Some(0o100_644))),
            ("-new", Now::Disk(None)),
            ("inner", Now::Nested),
        ];
        assert_eq!(seen, expected);
        assert_eq!(status.files[3].head, Some(file("b")), "ours is what HEAD has");
        assert_eq!(read_status(b"1 .M short\0"), None);
        assert_eq!(read_status(b"what\0"), None);
    }

    #[test]
    fn what_was_committed_and_taken_back_in_the_files_is_compared_with_the_base() {
        let trees = b":100644 100644 aa bb M\0x\0:000000 100644 00 cc A\0y\0:100644 000000 dd 00 D\0z\0";
        let trees = read_trees(trees).unwrap();
        let status = read_status(
            b"1 .M N... 100644 100644 100644 bb bb x\0\
            1 .D N... 100644 100644 000000 cc cc y\0",
        );
        let changes = together(&trees, status.unwrap().files);
        let paths: Vec<_> = changes.keys().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(paths, ["x", "z"], "y came and went");
        assert_eq!(changes[&PathBuf::from("x")].old, Some(file("aa")), "the base, not HEAD");
    }

    #[test]
    fn what_was_taken_off_the_index_and_lies_there_still_is_no_deletion() {
        let answer = b"1 D. N... 100644 000000 000000 aa 00 x\0? x\0";
        let changes = together(&[], read_status(answer).unwrap().files);
        let x = &changes[&PathBuf::from("x")];
        assert_eq!((x.old.clone(), x.now.clone()), (Some(file("aa")), Now::Disk(None)));
    }
}
