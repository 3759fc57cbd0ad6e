//! Pipes, sockets and devices in a worktree. Git passes over them without a word.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::Worktree;
use crate::drivers::joined;
use crate::error::Result;
use crate::snapshot::{LeftOut, Why};

/// How many entries of directories are looked at: enough for nearly every repository, and a tenth of a second.
const MOST: usize = 200_000;

impl Worktree {
    /// Finds what is neither a file nor a link and is not ignored. What lies in repositories inside this one, and beyond
    /// the first 200,000 entries, is not looked at.
    pub fn special_files(&self) -> Result<Vec<LeftOut>> {
        let mut found = special(&self.checkout.top, MOST);
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.checkout.files("check-ignore").args(["-z", "--stdin"]).input(joined(&found));
        let act = || format!("look for ignored files in {}", self.checkout.top.display());
        let ignored = call.ask().map_err(|failure| failure.during(act()))?.unwrap_or_default();
        let ignored = crate::call::paths(&ignored);
        found.retain(|path| !ignored.contains(path));
        Ok(found.into_iter().map(|path| LeftOut { path, why: Why::NotAFile }).collect())
    }
}

fn special(top: &Path, most: usize) -> Vec<PathBuf> {
    let (mut found, mut waiting, mut seen) = (Vec::new(), vec![PathBuf::new()], 0);
    while let Some(directory) = waiting.pop() {
        let entries = fs::read_dir(top.join(&directory)).into_iter().flatten().flatten();
        let (mut below, mut is_repository) = (Vec::new(), false);
        for entry in entries {
            seen += 1;
            if seen > most {
                return found;
            }
            let name = entry.file_name();
            if name.as_bytes().eq_ignore_ascii_case(b".git") {
                is_repository = true;
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => below.push(directory.join(name)),
                Ok(kind) if !kind.is_file() && !kind.is_symlink() => found.push(directory.join(name)),
                _ => {}
            }
        }
        if directory.as_os_str().is_empty() || !is_repository {
            waiting.extend(below);
        } else {
            found.retain(|path| path.parent() != Some(&directory));
        }
    }
    found.sort();
    found
}
