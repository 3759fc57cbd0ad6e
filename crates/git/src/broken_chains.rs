//! Chains of snapshots of which something is not there any more: finding them, and making them whole of what is left.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use crate::call::Call;
use crate::error::{Failure, Result};
use crate::names::{check_own_reference, is_oid};
use crate::quarantine::Admitted;
use crate::rechain::newest;
use crate::repo::Repo;

/// What git says of an object that is not there.
const MISSING: [&str; 4] = ["bad object", "bad tree object", "missing blob object", "Could not read"];

/// How often git is asked before an object counts as gone.
const ASKED: u32 = 3;

/// How long another git may take to put one pack in the place of others.
const PAUSE: Duration = Duration::from_millis(200);

/// What git says of an object that may well be there.
const UNKNOWN: [&str; 3] = ["Permission denied", "Input/output error", "Stale file handle"];

/// Lets a call look for the commits themselves. Git takes a commit for there when its commit graph names it, and a
/// `git gc` may have written that graph just before another git removed the commit.
pub(crate) fn beside_the_graph(call: Call) -> Call {
    call.setting("core.commitGraph", "false")
}

/// A chain that is about to be put in the place of a broken one. Its objects are kept while this lives.
#[derive(Debug)]
pub struct RepairedChain {
    /// Where the reference is; none when there is none.
    from: Option<String>,
    reference: String,
    /// What each snapshot that is whole becomes, oldest first.
    pub becomes: Vec<(String, String)>,
    /// Snapshots of which something is gone.
    pub lost: Vec<String>,
    _kept: Option<Admitted>,
}

impl Repo {
    /// Finds the chains of snapshots of which something is not there. A chain is a reference and a commit on which it
    /// was begun.
    pub fn broken_chains(&self, chains: &[(String, String)]) -> Result<Vec<String>> {
        let act = || format!("look at the snapshots of {}", self.top().display());
        let references = self.references(&["refs/forge/snapshots"])?;
        let tip = |name: &str| references.iter().find(|(other, _)| other == name).map(|(_, tip)| tip.clone());
        let known: Vec<(&str, String, &str)> = chains
            .iter()
            .filter_map(|(name, base)| Some((name.as_str(), tip(name)?, base.as_str())))
            .filter(|(_, _, base)| is_oid(base))
            .collect();
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let is_whole = |chains: &[(&str, String, &str)]| -> Result<bool> {
            let mut input = String::new();
            for (_, tip, base) in chains {
                input.push_str(&format!("{tip}\n^{base}\n"));
            }
            let call = || {
                let call = self.checkout.refs("rev-list").args(["--objects", "--quiet", "--stdin"]).gently();
                call.input(input.clone().into_bytes())
            };
            self.is_whole(call).map_err(|failure| failure.during(act()))
        };
        // Nearly always all of them are whole.
        if is_whole(&known)? {
            return Ok(Vec::new());
        }
        let mut broken = Vec::new();
        for chain in &known {
            if !is_whole(std::slice::from_ref(chain))? {
                broken.push(chain.0.to_string());
            }
        }
        Ok(broken)
    }

    /// Prepares a chain of what is whole among these snapshots, oldest first. [`RepairedChain::put`] puts it in its place.
    /// `base` is the commit on which it was begun.
    pub fn mend_chain(&self, reference: &str, snapshots: &[String], base: &str) -> Result<RepairedChain> {
        check_own_reference(reference)?;
        let from = newest(&self.checkout, reference)?;
        let mut seen = BTreeSet::new();
        let mut chain = Vec::new();
        for oid in snapshots.iter().filter(|oid| seen.insert(oid.as_str())) {
            self.check_oid(oid)?;
            let act = || format!("look at snapshot {oid}");
            let call = || self.checkout.refs("rev-list").args(["--objects", "--quiet", "--no-walk", oid]);
            chain.push((oid.clone(), self.is_whole(call).map_err(|failure| failure.during(act()))?));
        }
        let lost: Vec<String> =
            chain.iter().filter(|(_, is_whole)| !is_whole).map(|(oid, _)| oid.clone()).collect();
        let (made, kept) = self.rechain_kept(&chain, Some(base))?;
        let whole = chain.into_iter().filter(|(_, is_whole)| *is_whole).map(|(oid, _)| oid);
        let becomes = whole.zip(made).collect();
        Ok(RepairedChain { from, reference: reference.to_string(), becomes, lost, _kept: kept })
    }

    /// Tells whether everything is there that a call walks through. A git that looks while another replaces packs may
    /// miss what is there, so it is asked again before that counts.
    pub(crate) fn is_whole(&self, call: impl Fn() -> Call) -> std::result::Result<bool, Failure> {
        for tries in 1.. {
            let failure = match beside_the_graph(call()).run() {
                Ok(_) => return Ok(true),
                Err(failure) => failure,
            };
            let says = |words: &[&str]| words.iter().any(|words| failure.stderr().contains(words));
            if !says(&MISSING) || says(&UNKNOWN) || failure.is_shortage() {
                return Err(failure);
            }
            if tries >= ASKED {
                return Ok(false);
            }
            thread::sleep(PAUSE);
        }
        unreachable!("the loop above ends by returning")
    }
}

impl RepairedChain {
    /// Puts the chain in the place of the broken one; where nothing is whole, the reference goes. Says whether the
    /// reference was still where it was.
    pub fn put(self, repo: &Repo) -> Result<bool> {
        match (&self.from, self.becomes.last()) {
            (Some(from), Some((_, to))) if from == to => Ok(true),
            (Some(from), Some((_, to))) => repo.move_snapshots(&self.reference, from, to),
            (Some(from), None) => {
                let gone = repo.delete_reference(&self.reference, from);
                let act = || format!("delete {}", self.reference);
                gone.map(|()| true).map_err(|failure| failure.during(act()))
            }
            (None, _) => Ok(true),
        }
    }
}
