//! References read from the files that git keeps them in, which costs no process. What is not plainly such a file is not
//! read: then nothing is said, and git has to be asked.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::names::{is_oid, is_reference_tail};

/// Reads the object of a reference that has a file of its own.
pub(crate) fn one(common_dir: &Path, reference: &str) -> Option<String> {
    let file = common_dir.join(reference);
    // A link in its place would be a reference to another.
    let is_file = fs::symlink_metadata(&file).is_ok_and(|kind| kind.is_file());
    let text = is_file.then(|| fs::read_to_string(&file).ok()).flatten()?;
    object(&text).map(str::to_string)
}

/// What lies in the files of the references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plain {
    /// References by name: an object, or `ref: ` and the name of another that there is.
    pub(crate) refs: BTreeMap<String, String>,
    /// Names for another that is not there.
    pub(crate) nowhere: BTreeMap<String, String>,
    /// Files and links in the place of a reference that say nothing git understands.
    pub(crate) broken: Vec<String>,
    /// Files that keep git from writing a reference.
    pub(crate) locks: Vec<String>,
    pub(crate) packed: Packed,
}

/// How the file stands that many references share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Packed {
    #[default]
    Missing,
    /// It can be read, and has the line that git itself writes above all others.
    Whole,
    /// It can be read, and git did not write it like that.
    Bare,
    Broken,
}

impl Plain {
    /// Says whether everything was understood.
    pub(crate) fn is_sound(&self) -> bool {
        self.broken.is_empty() && self.packed != Packed::Broken
    }
}

/// Reads all files of references; none when references are not kept in plain files.
pub(crate) fn look(common_dir: &Path) -> Option<Plain> {
    let loose = common_dir.join("refs");
    if common_dir.join("reftable").exists() || !loose.join("heads").is_dir() {
        return None;
    }
    let mut plain = Plain::default();
    // Before those that are packed: one that is packed in between is found there.
    gather(&loose, "refs", &mut plain)?;
    plain.packed = match fs::read(common_dir.join("packed-refs")) {
        Ok(text) => read_packed(&text, &mut plain.refs),
        Err(error) if error.kind() == ErrorKind::NotFound => Packed::Missing,
        Err(_) => Packed::Broken,
    };
    let named = plain.refs.iter().filter_map(|(name, value)| Some((name, value.strip_prefix("ref: ")?)));
    // One that leads nowhere is none.
    let nowhere = named.filter(|(_, target)| !plain.refs.contains_key(*target));
    plain.nowhere = nowhere.map(|(name, target)| (name.clone(), target.to_string())).collect();
    plain.refs.retain(|name, _| !plain.nowhere.contains_key(name));
    Some(plain)
}

/// Reads the lines that can be read; a loose reference of the same name counts before.
fn read_packed(text: &[u8], refs: &mut BTreeMap<String, String>) -> Packed {
    let mut packed = if text.starts_with(b"# pack-refs with:") { Packed::Whole } else { Packed::Bare };
    // The name in a line that is cut off may be another's.
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        packed = Packed::Broken;
    }
    // A line that begins with `^` is what the tag above it leads to.
    for line in String::from_utf8_lossy(&text[..whole]).lines().filter(|line| !line.starts_with(['#', '^'])) {
        let read = line.split_once(' ').and_then(|(oid, name)| Some((object(oid)?, name)));
        match read.filter(|(_, name)| name.strip_prefix("refs/").is_some_and(is_reference_tail)) {
            Some((oid, name)) => drop(refs.entry(name.to_string()).or_insert_with(|| oid.to_string())),
            None => packed = Packed::Broken,
        }
    }
    packed
}

fn gather(directory: &Path, prefix: &str, plain: &mut Plain) -> Option<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let (kind, full) = (entry.file_type().ok()?, format!("{prefix}/{name}"));
        // The lock of one that is being written, and what else git takes for none.
        if !is_reference_tail(&name) {
            if name.ends_with(".lock") && kind.is_file() {
                plain.locks.push(full);
            }
            continue;
        }
        if kind.is_dir() {
            gather(&entry.path(), &full, plain)?;
            continue;
        }
        let text = match fs::read_to_string(entry.path()) {
            Ok(text) if kind.is_file() => text,
            Err(error) if error.kind() == ErrorKind::NotFound && kind.is_file() => continue,
            _ => {
                plain.broken.push(full);
                continue;
            }
        };
        let value = match text.strip_prefix("ref:") {
            Some(target) => Some(format!("ref: {}", target.trim())),
            None => object(&text).map(str::to_string),
        };
        match value {
            Some(value) => drop(plain.refs.insert(full, value)),
            None => plain.broken.push(full),
        }
    }
    Some(())
}

/// Takes a text for the name of an object, if it is one and nothing else.
fn object(text: &str) -> Option<&str> {
    let oid = text.trim_end();
    (is_oid(oid) && oid.bytes().any(|byte| byte != b'0')).then_some(oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(common_dir: &Path) -> Option<BTreeMap<String, String>> {
        look(common_dir).filter(Plain::is_sound).map(|plain| plain.refs)
    }

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("refs/heads/a")).unwrap();
        dir
    }

    #[test]
    fn what_is_loose_counts_before_what_is_packed() {
        let dir = repository();
        let (old, new) = ("1".repeat(40), "2".repeat(40));
        fs::write(dir.path().join("refs/heads/a/b"), format!("{new}\n")).unwrap();
        fs::write(dir.path().join("refs/heads/a/c.lock"), "").unwrap();
        let packed = format!("# pack-refs with: peeled\n{old} refs/heads/a/b\n{old} refs/tags/t\n^{new}\n");
        fs::write(dir.path().join("packed-refs"), packed).unwrap();
        let refs = all(dir.path()).unwrap();
        assert_eq!(refs["refs/heads/a/b"], new);
        assert_eq!((refs["refs/tags/t"].as_str(), refs.len()), (old.as_str(), 2));
        assert_eq!(one(dir.path(), "refs/heads/a/b"), Some(new));
        assert_eq!(one(dir.path(), "refs/tags/t"), None, "git is asked for one that is packed");
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        let dir = repository();
        let file = dir.path().join("refs/heads/x");
        for odd in ["", "garbage\n", &format!("{}\n", "0".repeat(40))] {
            fs::write(&file, odd).unwrap();
            assert_eq!((all(dir.path()), one(dir.path(), "refs/heads/x")), (None, None), "{odd:?}");
        }
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("a", &file).unwrap();
        assert_eq!((all(dir.path()), one(dir.path(), "refs/heads/x")), (None, None));
        fs::remove_file(&file).unwrap();
        fs::create_dir(dir.path().join("reftable")).unwrap();
        assert_eq!(all(dir.path()), None);
    }

    #[test]
    fn what_git_would_not_understand_is_named() {
        let dir = repository();
        let (oid, refs) = ("4".repeat(40), dir.path().join("refs"));
        fs::write(refs.join("heads/main"), &oid).unwrap();
        fs::write(refs.join("heads/main.lock"), "").unwrap();
        fs::write(refs.join("heads/a/odd"), "garbage\n").unwrap();
        let packed = dir.path().join("packed-refs");
        let line = format!("{oid} refs/heads/other\n");
        for (text, state) in [
            (format!("# pack-refs with: peeled\n{line}"), Packed::Whole),
            (line.clone(), Packed::Bare),
            (String::new(), Packed::Bare),
            (line.trim_end().to_string(), Packed::Broken),
            (format!("{line}garbage\n"), Packed::Broken),
            (format!("{line}{oid} ../config\n"), Packed::Broken),
        ] {
            fs::write(&packed, &text).unwrap();
            let plain = look(dir.path()).unwrap();
            assert_eq!((plain.packed, plain.refs.contains_key("refs/heads/main")), (state, true), "{text:?}");
            assert_eq!(plain.broken, ["refs/heads/a/odd"]);
            assert_eq!(plain.locks, ["refs/heads/main.lock"]);
        }
        fs::remove_file(&packed).unwrap();
        assert_eq!(look(dir.path()).unwrap().packed, Packed::Missing);
    }

    #[test]
    fn a_reference_to_another_is_told_as_one_unless_it_leads_nowhere() {
        let dir = repository();
        let oid = "3".repeat(40);
        fs::write(dir.path().join("refs/heads/main"), &oid).unwrap();
        fs::write(dir.path().join("refs/heads/also"), "ref: refs/heads/main\n").unwrap();
        fs::write(dir.path().join("refs/heads/lost"), "ref: refs/heads/gone\n").unwrap();
        let refs = all(dir.path()).unwrap();
        assert_eq!(refs["refs/heads/also"], "ref: refs/heads/main");
        assert_eq!(refs.len(), 2);
        assert_eq!(one(dir.path(), "refs/heads/also"), None);
    }
}
