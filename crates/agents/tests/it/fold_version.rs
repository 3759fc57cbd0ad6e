//! Notices that entries have become others, or that a conversation remembers something else, while `FOLD_VERSION` is
//! the same: people would go on seeing what an older Forge made, half of it continued by a newer one.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use forge_agents::FOLD_VERSION;
use sha2::{Digest, Sha256};

use crate::properties::each_recording;

/// Set, the list is written instead of compared.
const WRITE: &str = "FORGE_WRITE_FOLD";

/// What a recording is and what it becomes, each as a hash.
type Hashes = BTreeMap<String, (String, String)>;

#[test]
fn what_recordings_become_changes_with_the_fold_version_only() {
    let mut now = Hashes::new();
    let mut twice = Vec::new();
    each_recording(|name, recording| {
        let hashes = (hash(&recording.given()), hash(&recording.kept()));
        if now.insert(name.to_string(), hashes).is_some() {
            twice.push(name.to_string());
        }
    });
    assert!(twice.is_empty(), "two recordings have the same name: {twice:?}");
    let known = fs::read_to_string(list()).unwrap_or_default();
    let (version, before) = read(&known);
    let changed: Vec<&String> = before
        .iter()
        .filter(|(name, (given, kept))| {
            now.get(*name).is_some_and(|(same, other)| same == given && other != kept)
        })
        .map(|(name, _)| name)
        .collect();
    assert!(
        changed.is_empty() || version != Some(FOLD_VERSION),
        "The same lines become other entries, or are remembered otherwise, in {changed:?}. If that is wanted, raise \
         FOLD_VERSION in crates/agents/src/lib.rs by one, so that everybody's entries are made anew, and then write \
         the list: {WRITE}=1 cargo test -p forge-agents --test it fold_version"
    );
    let text = written(&now);
    if env::var_os(WRITE).is_some() {
        fs::write(list(), text).unwrap();
        return;
    }
    assert!(
        known == text,
        "There are new recordings, or another FOLD_VERSION. Write the list: {WRITE}=1 cargo test -p forge-agents \
         --test it fold_version"
    );
}

fn list() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/fold_version.txt")
}

fn hash(text: &str) -> String {
    // The version of Forge is told to agents, and remembered by none.
    let text = text.replace(env!("CARGO_PKG_VERSION"), "0");
    Sha256::digest(text.as_bytes())[..8].iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// Reads a list: the version, and a line for each recording.
fn read(text: &str) -> (Option<u32>, Hashes) {
    let mut lines = text.lines();
    let version = lines.next().and_then(|line| line.strip_prefix("fold version ")?.parse().ok());
    let hashes = lines.filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?.to_string(), (words.next()?.to_string(), words.next()?.to_string())))
    });
    (version, hashes.collect())
}

fn written(hashes: &Hashes) -> String {
    let mut text = format!("fold version {FOLD_VERSION}\n");
    for (name, (given, kept)) in hashes {
        writeln!(text, "{name} {given} {kept}").unwrap();
    }
    text
}
