//! Where a history is cut off. A fetch with `--depth` writes into one file of the whole repository that it ends at some
//! commit, also for those who have all of it; the commits are still there, and git no longer looks for them.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;

use crate::broken_chains::beside_the_graph;
use crate::error::{Result, io_error};
use crate::mend::write_whole;
use crate::names::is_oid;
use crate::repo::Repo;
use crate::scratch::Scratch;

/// With more commits than this each would take too long to look at, and all are left as they are.
const MOST: usize = 64;

/// What became of the commits at which the history ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// So many were taken out of the file or put into it again.
    pub put_back: usize,
    /// So many are new, and their parents really are not there.
    pub cut_off: usize,
    /// There was something in the file that git cannot read.
    pub was_spoiled: bool,
}

impl Repo {
    /// Has the history end where it ended before, as far as all of it is there: a commit whose parents were never
    /// fetched stays an end. `known` are commits whose history was whole. None when nothing has changed.
    pub fn mend_shallow(&self, before: Option<&[u8]>, known: &[&str]) -> Result<Option<Mended>> {
        let file = self.common_dir().join("shallow");
        let now = match fs::read(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(io_error("read", &file)(error)),
        };
        if now.as_deref() == before {
            return Ok(None);
        }
        let (was, is) = (commits(before), commits(now.as_deref()));
        let both: BTreeSet<String> = was.intersection(&is).cloned().collect();
        let (new, gone): (Vec<&String>, Vec<&String>) =
            (is.difference(&was).collect(), was.difference(&is).collect());
        let scratch = Scratch::make(&self.checkout.git_dir)?;
        let ends = scratch.write("shallow", listed(&both))?;
        let is_whole = |these: &[&String], known: &[&str]| -> bool {
            let asked =
                these.iter().map(|oid| format!("{oid}\n")).chain(known.iter().map(|oid| format!("^{oid}\n")));
            // Without an end git looks for all parents of these, and fails where one is missing.
            let ends = if both.is_empty() { "".as_ref() } else { ends.as_os_str() };
            let call = self.checkout.refs("rev-list").args(["--quiet", "--ignore-missing", "--stdin"]);
            let call = beside_the_graph(call);
            call.env("GIT_SHALLOW_FILE", ends).input(asked.collect::<String>().into_bytes()).run().is_ok()
        };
        let cut = |these: &[&String], known: &[&str]| -> Vec<String> {
            if these.is_empty() || is_whole(these, known) {
                return Vec::new();
            }
            let cut = these.iter().filter(|oid| these.len() > MOST || !is_whole(&[oid], known));
            cut.map(|oid| oid.to_string()).collect()
        };
        // What was an end before is one of a history that the known commits have, so those prove nothing.
        let (cut_off, needed) = (cut(&new, known), cut(&gone, &[]));
        let put_back = (new.len() - cut_off.len()) + needed.len();
        let right: BTreeSet<String> =
            both.iter().cloned().chain(cut_off.iter().cloned()).chain(needed).collect();
        if right.is_empty() {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(io_error("remove", &file)(error));
                }
                _ => {}
            }
        } else if now.as_deref() != Some(listed(&right).as_bytes()) {
            let text =
                if right == was { before.unwrap_or_default().to_vec() } else { listed(&right).into_bytes() };
            write_whole(&file, &text)?;
        }
        let was_spoiled = is_spoiled(now.as_deref());
        Ok(Some(Mended { put_back, cut_off: cut_off.len(), was_spoiled }))
    }
}

fn commits(text: Option<&[u8]>) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
    text.lines().map(str::trim).filter(|oid| is_oid(oid)).map(str::to_string).collect()
}

fn is_spoiled(text: Option<&[u8]>) -> bool {
    let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
    text.lines().any(|line| !is_oid(line.trim()))
}

fn listed(commits: &BTreeSet<String>) -> String {
    commits.iter().map(|oid| format!("{oid}\n")).collect()
}
