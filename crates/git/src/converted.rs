//! Files that git takes for unchanged although the bytes on disk are not those of their blob: line ends, `$Id$`,
//! encodings.
//!
//! Git can write such a file again, but not always as it was: a file with CRLF that was added under `text=auto` comes
//! back with LF. So a snapshot takes their bytes from the disk. A filter's output is not taken: it belongs to the
//! person's own program, and may be gigabytes that only the program needs to store.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::Checkout;
use crate::drivers::joined;
use crate::error::{Failure, Result};
use crate::names::is_oid;
use crate::plain_file::{self, Plain};
use crate::private::{Indexed, Private};

/// Attributes by which git itself changes the bytes of a file.
const CONVERTING: [&str; 5] = ["text", "eol", "crlf", "ident", "working-tree-encoding"];

/// Every file of attributes, wherever it is.
const ATTRIBUTES: &str = ":(glob)**/.gitattributes";

/// A checkout that was moved more often than this has everything looked at.
const MANY: usize = 1000;

/// The longest file of attributes, or log of moves, that is looked into; a longer one may say anything.
const LONGEST: u64 = 4 << 20;

/// Finds the tracked files outside `changed` whose bytes are not those of their blob.
pub(crate) fn converted(
    checkout: &Checkout,
    private: &Private<'_>,
    indexed: &Indexed,
    changed: &[PathBuf],
    is_staged: bool,
) -> Result<Vec<PathBuf>> {
    if !may_convert(checkout, private, indexed, changed) && !may_have(checkout, private, is_staged) {
        return Ok(Vec::new());
    }
    let format = "--format=%(objectmode) %(objectname) %(objectsize) %(path)";
    // In a sparse partial clone there are entries without an object. They are not on disk either; the others keep
    // the blob that they have.
    let Ok(answer) = private.call("ls-files").args(["-z", format]).run() else { return Ok(Vec::new()) };
    let changed: HashSet<&Path> = changed.iter().map(PathBuf::as_path).collect();
    let mut differing = Vec::new();
    for entry in answer.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"100")) {
        let mut fields = entry.splitn(4, |byte| *byte == b' ');
        let (Some(size), Some(path)) = (fields.nth(2), fields.next()) else { continue };
        let size = std::str::from_utf8(size).ok().and_then(|size| size.parse::<u64>().ok());
        let path = Path::new(OsStr::from_bytes(path));
        if changed.contains(path) {
            continue;
        }
        // Line ends and `$Id$` change the size, and so does nearly every encoding.
        if fs::symlink_metadata(checkout.top.join(path))
            .is_ok_and(|kind| kind.is_file() && Some(kind.len()) != size)
        {
            differing.push(path.to_path_buf());
        }
    }
    without_committed_filters(checkout, private, differing)
}

/// Leaves out what a filter made of a committed blob: the filter can make it again.
fn without_committed_filters(
    checkout: &Checkout,
    private: &Private<'_>,
    mut paths: Vec<PathBuf>,
) -> Result<Vec<PathBuf>> {
    let filtered: HashSet<PathBuf> = filtered(checkout, &paths, None)?.into_iter().collect();
    if filtered.is_empty() {
        return Ok(paths);
    }
    let staged = private.call("diff-index").args(["--cached", "-z", "--name-only", "HEAD"]).run();
    // Without a commit nothing is committed.
    let Ok(staged) = staged else { return Ok(paths) };
    let staged: HashSet<&[u8]> = staged.split(|byte| *byte == 0).collect();
    paths.retain(|path| !filtered.contains(path) || staged.contains(path.as_os_str().as_bytes()));
    Ok(paths)
}

/// Finds which of these paths have a filter, by the attributes on disk or those of a commit.
pub(crate) fn filtered(checkout: &Checkout, paths: &[PathBuf], source: Option<&str>) -> Result<Vec<PathBuf>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut call = checkout.files("check-attr").args(["-z", "--stdin"]);
    if let Some(source) = source {
        call = call.arg(format!("--source={source}"));
    }
    let act = || format!("read the attributes of {}", checkout.top.display());
    let answer = call.arg("filter").input(joined(paths)).run().map_err(|failure| failure.during(act()))?;
    let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    if fields.len() % 3 != 1 {
        return Err(Failure::answer("check-attr", &String::from_utf8_lossy(&answer)).during(act()));
    }
    let entries = fields.chunks_exact(3).filter(|entry| !matches!(entry[2], b"unspecified" | b"unset"));
    Ok(entries.map(|entry| PathBuf::from(OsStr::from_bytes(entry[0]))).collect())
}

/// Says whether anything tells git to convert files: usually nothing does, and then nothing is looked at.
fn may_convert(checkout: &Checkout, private: &Private<'_>, indexed: &Indexed, changed: &[PathBuf]) -> bool {
    let setting = |name: &str| private.conversions.iter().rev().find(|(key, _)| key == name);
    if setting("core.autocrlf").is_some_and(|(_, value)| value != "false") {
        return true;
    }
    // Attributes that are changing may have been others when a file was added.
    if changed.iter().any(|path| path.file_name() == Some(OsStr::new(".gitattributes"))) {
        return true;
    }
    let variable = |name: &str| {
        let found = checkout.git.environment().iter().find(|(other, _)| other == name);
        found.map(|(_, value)| PathBuf::from(value))
    };
    let persons = match setting("core.attributesfile") {
        Some((_, path)) => Some(PathBuf::from(path)),
        None => variable("XDG_CONFIG_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".config")))
            .map(|config| config.join("git/attributes")),
    };
    let converts = |file: &Path, through_links: bool| match plain_file::read(file, LONGEST, through_links) {
        Plain::Bytes(text) => names_conversion(&text),
        Plain::TooLong => true,
        Plain::Nothing => false,
    };
    let own = [Some(checkout.common_dir.join("info/attributes")), Some("/etc/gitattributes".into()), persons];
    // In a repository's tree git itself follows no link.
    indexed.attributes.iter().any(|path| converts(&checkout.top.join(path), false))
        || own.iter().flatten().any(|file| converts(file, true))
}

/// Says whether attributes may have been others when a file was added or written: an index that says that a file is
/// unchanged says nothing about the attributes by which that was found. What cannot be known counts as yes.
fn may_have(checkout: &Checkout, private: &Private<'_>, is_staged: bool) -> bool {
    let any = |answer: std::result::Result<Vec<u8>, Failure>| answer.map_or(true, |found| !found.is_empty());
    let staged =
        || private.call("diff-index").args(["--cached", "-z", "--name-only", "HEAD", "--", ATTRIBUTES]).run();
    if is_staged && any(staged()) {
        return true;
    }
    // Everywhere that the checkout has stood since it was made, as far back as its log goes.
    let log = plain_file::read(&checkout.git_dir.join("logs/HEAD"), LONGEST, false);
    let Plain::Bytes(log) = log else { return true };
    let log = String::from_utf8_lossy(&log);
    // `<old> <new> Ada Lovelace <ada@example.org> 1794962370 +0000<tab>commit: ...`
    let moves = log.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.next()?))
    });
    let moves: Vec<(&str, &str)> = moves.collect();
    let Some((old, new)) = moves.first() else { return true };
    let begin = if old.bytes().all(|byte| byte == b'0') { new } else { old };
    let mut stands: BTreeSet<&str> = moves.iter().map(|(_, new)| *new).collect();
    stands.remove(begin);
    if stands.is_empty() {
        return false;
    }
    if stands.len() > MANY || !stands.iter().chain([begin]).all(|oid| is_oid(oid)) {
        return true;
    }
    stands.insert(begin);
    let stands: Vec<&str> = stands.into_iter().collect();
    // It may have gone back behind where it began: what all of them have in common is what never changed.
    let common = checkout.refs("merge-base").arg("--octopus");
    let common = stands.iter().fold(common, |call, oid| call.arg(oid)).run();
    let Some(base) = common.ok().and_then(|oid| String::from_utf8(oid).ok()) else { return true };
    let input = format!("{}\n^{}\n--\n{ATTRIBUTES}\n", stands.join("\n"), base.trim_end());
    any(checkout.refs("rev-list").args(["-1", "--full-history", "--stdin"]).input(input.into_bytes()).run())
}

fn names_conversion(attributes: &[u8]) -> bool {
    attributes.split(u8::is_ascii_whitespace).any(|word| {
        let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
        CONVERTING.iter().any(|known| known.as_bytes() == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_turn_conversion_off_convert_nothing() {
        assert!(names_conversion(b"* text=auto\n") && names_conversion(b"*.bat eol=crlf\n*.c ident"));
        assert!(!names_conversion(b"*.psd filter=lfs diff=lfs merge=lfs -text\n# eols\n"));
    }
}
