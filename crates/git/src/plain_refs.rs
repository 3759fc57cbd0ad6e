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

/// Reads all references by name: an object, or `ref: ` and the name of another.
pub(crate) fn all(common_dir: &Path) -> Option<BTreeMap<String, String>> {
    let loose = common_dir.join("refs");
    if common_dir.join("reftable").exists() || !loose.join("heads").is_dir() {
        return None;
    }
    let mut refs = BTreeMap::new();
    // Before those that are packed: one that is packed in between is found there.
    gather(&loose, "refs", &mut refs)?;
    let packed = match fs::read_to_string(common_dir.join("packed-refs")) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(_) => return None,
    };
    // A line that begins with `^` is what the tag above it leads to.
    for line in packed.lines().filter(|line| !line.starts_with(['#', '^'])) {
        let (oid, name) = line.split_once(' ')?;
        let oid = object(oid)?;
        refs.entry(name.to_string()).or_insert_with(|| oid.to_string());
    }
    let names: Vec<String> = refs.keys().cloned().collect();
    refs.retain(|_, value| match value.strip_prefix("ref: ") {
        // One that leads nowhere is none.
        Some(target) => names.iter().any(|name| name == target),
        None => true,
    });
    Some(refs)
}

fn gather(directory: &Path, prefix: &str, refs: &mut BTreeMap<String, String>) -> Option<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        // The lock of one that is being written, and what else git takes for none.
        if !is_reference_tail(&name) {
            continue;
        }
        let (kind, name) = (entry.file_type().ok()?, format!("{prefix}/{name}"));
        if kind.is_dir() {
            gather(&entry.path(), &name, refs)?;
            continue;
        }
        if !kind.is_file() {
            return None;
        }
        let text = match fs::read_to_string(entry.path()) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        let value = match text.strip_prefix("ref:") {
            Some(target) => format!("ref: {}", target.trim()),
            None => object(&text)?.to_string(),
        };
        refs.insert(name, value);
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
