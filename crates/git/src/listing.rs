//! The files of a checkout by name, and which of them commits touched last.
//!
//! What a name leads to is never read. An answer is bounded: a tree may have more files than anybody looks through.

use crate::call::Call;
use crate::error::{Failure, Result};
use crate::repo::Repo;

/// The most bytes of names that are read of a checkout or of a history.
const MOST: u64 = 32 * 1024 * 1024;

/// The files of a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Paths from the top, each once. One that ends with `/` is a directory that git does not look into.
    pub paths: Vec<String>,
    /// There are more files than were read.
    pub is_cut: bool,
}

impl Repo {
    /// Lists tracked files, and untracked ones that are not ignored. A tracked file may be missing on the disk; a
    /// name that is no UTF-8 is left out.
    pub fn files(&self) -> Result<Listing> {
        let call = self.checkout.files("ls-files").args(["-z", "--cached", "--others", "--exclude-standard"]);
        let listed = names(call);
        let mut listing = listed
            .map_err(|failure| failure.during(format!("list the files of {}", self.top().display())))?;
        // A path with a conflict is there once for each side.
        listing.paths.sort_unstable();
        listing.paths.dedup();
        Ok(listing)
    }

    /// Lists what is ignored; of a directory that is ignored as a whole, only the directory.
    pub fn ignored_files(&self) -> Result<Listing> {
        let call = self.checkout.files("ls-files").args(["-z", "--others", "--ignored"]);
        let listed = names(call.args(["--exclude-standard", "--directory"]));
        listed
            .map_err(|failure| failure.during(format!("list the ignored files of {}", self.top().display())))
    }

    /// Returns the commit that is checked out, when there is one.
    pub fn head(&self) -> Result<Option<String>> {
        self.checkout.head()
    }

    /// Lists the files that the newest commits before `oid` touched, newest first; a file may be there often.
    pub fn touched_files(&self, oid: &str, commits: usize) -> Result<Vec<String>> {
        self.check_oid(oid)?;
        // Neither a program of the config that makes differences nor one that checks signatures is run.
        let call = self.checkout.refs("log").args(["-z", "--no-show-signature", "--no-ext-diff"]);
        let call = call.args(["--no-textconv", "--no-renames", "--name-only", "--format="]);
        let listed = names(call.arg(format!("--max-count={commits}")).args(["--end-of-options", oid]));
        let listed =
            listed.map_err(|failure| failure.during(format!("read the history of {}", self.top().display())));
        Ok(listed?.paths)
    }
}

pub(crate) fn names(call: Call) -> Result<Listing, Failure> {
    let (answer, is_cut) = call.run_for_at_most(MOST)?;
    // The name at a cut may be half a name.
    let whole = if is_cut { answer.iter().rposition(|byte| *byte == 0).unwrap_or(0) } else { answer.len() };
    let names = answer[..whole].split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    // With `-z`, a log parts its commits by a further NUL or by a newline.
    let names = names.map(|name| name.trim_start_matches('\n')).filter(|name| !name.is_empty());
    Ok(Listing { paths: names.map(str::to_string).collect(), is_cut })
}
