//! A look into an index for what is special in it, which costs no process. Only the plain formats are read; of any other,
//! and of one with anything unexpected in it, nothing is said, and git has to be asked.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::checkout::ObjectFormat;

/// An entry that something has to be known about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Special {
    pub(crate) path: PathBuf,
    pub(crate) mode: u32,
    /// A flag says that git is not to look at the file.
    pub(crate) is_hidden: bool,
}

/// The mode of a submodule.
pub(crate) const SUBMODULE: u32 = 0o160_000;

const HEADER: usize = 12;
/// What the filesystem said of a file; its mode stands in it.
const MARKS: usize = 40;
const MODE: usize = 24;

const ASSUME_UNCHANGED: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const SKIP_WORKTREE: u16 = 0x4000;
const NAME_LENGTH: u16 = 0x0fff;

/// Finds submodules, files with attributes, and files that flags hide.
pub(crate) fn special(index: &[u8], format: ObjectFormat) -> Option<Vec<Special>> {
    let oid = match format {
        ObjectFormat::Sha1 => 20,
        ObjectFormat::Sha256 => 32,
    };
    let version = word(index, 4)?;
    if !index.starts_with(b"DIRC") || !matches!(version, 2 | 3) {
        return None;
    }
    let end = index.len().checked_sub(oid)?;
    let mut special = Vec::new();
    let mut at = HEADER;
    for _ in 0..word(index, 8)? {
        let mode = word(index, at + MODE)?;
        let flags = half(index, at + MARKS + oid)?;
        let mut name = at + MARKS + oid + 2;
        let mut is_hidden = flags & ASSUME_UNCHANGED != 0;
        if flags & EXTENDED != 0 {
            if version < 3 {
                return None;
            }
            is_hidden |= half(index, name)? & SKIP_WORKTREE != 0;
            name += 2;
        }
        let rest = index.get(name..end)?;
        let length = match flags & NAME_LENGTH {
            // It may be longer than the number can say.
            NAME_LENGTH => rest.iter().position(|byte| *byte == 0)?,
            length => usize::from(length),
        };
        let path = rest.get(..length).filter(|path| !path.is_empty())?;
        if rest.get(length) != Some(&0) || path.contains(&0) {
            return None;
        }
        if is_hidden || mode == SUBMODULE || path.ends_with(b".gitattributes") {
            special.push(Special { path: PathBuf::from(OsStr::from_bytes(path)), mode, is_hidden });
        }
        // Zeros fill it up to a multiple of eight, and there is always one.
        at += (name + length - at + 8) & !7;
    }
    // Beyond are extensions. One that begins with a small letter changes what the entries mean.
    while at < end {
        if !index.get(at)?.is_ascii_uppercase() {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(word(index, at + 4)?).ok()?)?;
    }
    (at == end).then_some(special)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, args: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(dir).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        assert!(git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "{args:?}");
    }

    fn repository(format: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet", &format!("--object-format={format}")]);
        let long = format!("{}/{}", "d".repeat(200), "n".repeat(200));
        for name in ["a", "b c", "sub/x.gitattributes", ".gitattributes", "hidden", "skipped", &long] {
            let file = dir.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, name).unwrap();
        }
        git(dir.path(), &["add", "."]);
        dir
    }

    fn index(dir: &Path) -> Vec<u8> {
        std::fs::read(dir.join(".git/index")).unwrap()
    }

    #[test]
    fn what_is_special_is_found_in_what_git_wrote() {
        for (format, of) in [("sha1", ObjectFormat::Sha1), ("sha256", ObjectFormat::Sha256)] {
            let dir = repository(format);
            git(dir.path(), &["commit", "--quiet", "-m", "x"]);
            git(dir.path(), &["update-index", "--assume-unchanged", "hidden"]);
            git(dir.path(), &["update-index", "--skip-worktree", "skipped"]);
            let found = special(&index(dir.path()), of).unwrap();
            let told: Vec<_> =
                found.iter().map(|it| (it.path.to_str().unwrap(), it.is_hidden, it.mode)).collect();
            let expected = [
                (".gitattributes", false, 0o100_644),
                ("hidden", true, 0o100_644),
                ("skipped", true, 0o100_644),
                ("sub/x.gitattributes", false, 0o100_644),
            ];
            assert_eq!(told, expected, "{format}");
        }
    }

    #[test]
    fn formats_that_are_not_plain_are_left_to_git() {
        let dir = repository("sha1");
        assert!(special(&index(dir.path()), ObjectFormat::Sha1).is_some());
        git(dir.path(), &["update-index", "--index-version", "4"]);
        assert_eq!(special(&index(dir.path()), ObjectFormat::Sha1), None);
        git(dir.path(), &["update-index", "--index-version", "2"]);
        assert!(special(&index(dir.path()), ObjectFormat::Sha1).is_some());
        git(dir.path(), &["update-index", "--split-index"]);
        assert_eq!(special(&index(dir.path()), ObjectFormat::Sha1), None);
    }

    #[test]
    fn an_index_that_is_cut_off_anywhere_is_not_believed() {
        let dir = repository("sha1");
        let whole = index(dir.path());
        for length in 0..whole.len() {
            assert_eq!(special(&whole[..length], ObjectFormat::Sha1), None, "{length}");
        }
    }
}
