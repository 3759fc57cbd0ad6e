//! Which paths of a checkout are ignored.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::call::paths as read_paths;
use crate::drivers::joined;

use super::Differ;

/// How many paths one command line is given.
const AT_ONCE: usize = 500;

impl Differ {
    /// Finds those that git ignores. When git cannot tell, none is.
    pub(crate) fn ignored(&self, paths: &[PathBuf]) -> HashSet<PathBuf> {
        let call = self.index.call(&self.checkout, "check-ignore").args(["-z", "--stdin"]);
        read(call.input(joined(paths)).ask().ok().flatten().unwrap_or_default())
    }

    /// Finds directories that git ignores with everything in them.
    pub(crate) fn ignored_directories(&self, paths: &[PathBuf]) -> HashSet<PathBuf> {
        if paths.is_empty() {
            return HashSet::new();
        }
        // Rules only: there are no directories in an index, and reading it would take longer than the answer.
        let call = self.index.call(&self.checkout, "check-ignore").args(["-z", "--stdin", "--no-index"]);
        let mut ignored = read(call.input(joined(paths)).ask().ok().flatten().unwrap_or_default());
        if ignored.is_empty() {
            return ignored;
        }
        // A directory that is ignored may hold files that were added all the same.
        let asked: Vec<PathBuf> = ignored.iter().cloned().collect();
        for some in asked.chunks(AT_ONCE) {
            let mut call = self.index.call(&self.checkout, "ls-files").args(["-z", "--cached", "--"]);
            for path in some {
                let mut literal = OsString::from(":(literal,top)");
                literal.push(path);
                call = call.arg(literal);
            }
            for file in read(call.run().unwrap_or_default()) {
                for directory in file.ancestors().skip(1) {
                    ignored.remove(directory);
                }
            }
        }
        ignored
    }
}

fn read(answer: Vec<u8>) -> HashSet<PathBuf> {
    read_paths(&answer).into_iter().collect()
}
