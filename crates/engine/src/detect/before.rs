//! What a repository was before a run, as it is written down.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use forge_git::{Fingerprint, GitFile, Places};
use forge_model::Time;
use serde::{Deserialize, Serialize};

use super::objects::{Objects, hash};
use crate::error::io_error;
use crate::{Error, Result};

/// Settings that make every checkout of a repository useless.
pub(super) const FATAL: [&str; 2] = ["core.bare", "core.worktree"];

/// What a repository was before a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Before {
    /// When it was looked at, in milliseconds since 1970.
    pub(super) at: i64,
    top: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    is_sha256: bool,
    /// The attempt's own branch, as a whole reference.
    pub(super) own: String,
    pub(super) worktree: PathBuf,
    /// Branches of attempts that there were or were being made.
    pub(super) ours: Vec<String>,
    /// Settings of the repository's own that make every checkout useless when they change.
    settings: Vec<(String, Option<String>)>,
    pub(super) print: Print,
    /// Which version of this looked; one that knew less must not be taken for a repository that had less.
    #[serde(default)]
    version: u32,
}

/// What is looked at now.
const VERSION: u32 = 1;

/// A fingerprint whose contents are kept elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Print {
    pub(super) refs: BTreeMap<String, String>,
    pub(super) stash: Vec<(String, String)>,
    pub(super) head: Option<String>,
    pub(super) files: BTreeMap<String, Mark>,
    pub(super) worktrees: BTreeMap<String, PathBuf>,
    /// What HEAD of each linked worktree says.
    #[serde(default)]
    pub(super) heads: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) locks: BTreeMap<String, Mark>,
    /// References are kept in plain files, and all were understood.
    #[serde(default)]
    pub(super) is_plain: bool,
    /// There is a file of packed references.
    #[serde(default)]
    pub(super) is_packed: bool,
}

/// A file of the git directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) mode: u32,
    pub(super) hash: String,
    /// The content is kept under its hash.
    pub(super) kept: bool,
}

impl Before {
    pub(super) fn new(
        at: Time,
        places: Places,
        own: String,
        worktree: PathBuf,
        ours: Vec<String>,
        print: Fingerprint,
        objects: &Objects,
    ) -> Result<Self> {
        let Places { top, git_dir, common_dir, is_sha256 } = places;
        let config = print.files.get("config").map(|file| file.content.clone()).unwrap_or_default();
        let settings = FATAL.iter().map(|key| (key.to_string(), setting(&config, key))).collect();
        let print = mark(print, objects)?;
        let at = at.millis();
        let version = VERSION;
        Ok(Self { at, top, git_dir, common_dir, is_sha256, own, worktree, ours, settings, print, version })
    }

    /// Says whether everything was looked at that is looked at now.
    pub(super) fn is_complete(&self) -> bool {
        self.version == VERSION
    }

    /// What a setting was that makes every checkout useless when it changes.
    pub(super) fn setting(&self, key: &str) -> &Option<String> {
        self.settings.iter().find(|(known, _)| known == key).map_or(&None, |(_, value)| value)
    }

    pub(super) fn places(&self) -> Places {
        Places {
            top: self.top.clone(),
            git_dir: self.git_dir.clone(),
            common_dir: self.common_dir.clone(),
            is_sha256: self.is_sha256,
        }
    }

    /// The attempt's own branch.
    pub(super) fn branch(&self) -> &str {
        self.own.strip_prefix("refs/heads/").unwrap_or(&self.own)
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        write(path, self)
    }

    /// Reads it; none when nothing was written down.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        read(path)
    }
}

/// Reads a setting of the section `core` out of a config, as git writes it: one to a line. Asking git would cost more
/// than the whole look.
fn setting(config: &[u8], key: &str) -> Option<String> {
    let wanted = key.strip_prefix("core.")?;
    let text = String::from_utf8_lossy(config);
    let mut section = "";
    let mut value = None;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
        } else if section.eq_ignore_ascii_case("core")
            && let Some((name, text)) = line.split_once('=')
            && name.trim().eq_ignore_ascii_case(wanted)
        {
            value = Some(text.trim().trim_matches('"').to_string());
        }
    }
    value
}

/// Keeps the contents of a fingerprint, and names them by their hashes.
pub(super) fn mark(print: Fingerprint, objects: &Objects) -> Result<Print> {
    let mark = |(name, file): (String, GitFile)| -> Result<(String, Mark)> {
        let hash = if file.is_whole { objects.keep(&file.content)? } else { hash(&file.content) };
        Ok((name, Mark { mode: file.mode, hash, kept: file.is_whole }))
    };
    let stash = print.stash.into_iter().map(|stashed| (stashed.oid, stashed.message)).collect();
    Ok(Print {
        refs: print.refs,
        stash,
        head: print.head,
        files: print.files.into_iter().map(mark).collect::<Result<_>>()?,
        worktrees: print.worktrees,
        heads: print.heads,
        locks: print.locks.into_iter().map(mark).collect::<Result<_>>()?,
        is_plain: print.ref_files.is_plain,
        is_packed: print.ref_files.is_packed,
    })
}

/// Writes something down whole or not at all. Not synced: a machine that loses power ends the run too.
pub(super) fn write(path: &Path, thing: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(thing).map_err(|error| Error::internal(error.to_string()))?;
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(io_error("create", dir))?;
    }
    let draft = path.with_extension("draft");
    fs::write(&draft, text).map_err(io_error("write", &draft))?;
    fs::rename(&draft, path).map_err(io_error("write", path))
}

pub(super) fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| Error::internal(format!("{} cannot be read: {error}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("read", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_version_wrote_down_is_told_from_a_repository_that_had_less() {
        let places = Places {
            top: "/r".into(),
            git_dir: "/r/.git".into(),
            common_dir: "/r/.git".into(),
            is_sha256: false,
        };
        let (own, print) = ("refs/heads/own".to_string(), Fingerprint::default());
        let (at, objects) = (Time::from_millis(1), Objects::new("/none".into()));
        let before = Before::new(at, places, own, "/w".into(), Vec::new(), print, &objects).unwrap();
        let mut json = serde_json::to_value(&before).unwrap();
        assert!(serde_json::from_value::<Before>(json.clone()).unwrap().is_complete());
        let whole = json.as_object_mut().unwrap();
        whole.remove("version");
        for key in ["heads", "locks", "is_plain", "is_packed"] {
            whole["print"].as_object_mut().unwrap().remove(key);
        }
        assert!(!serde_json::from_value::<Before>(json).unwrap().is_complete());
    }

    #[test]
    fn the_settings_that_matter_most_are_read_without_git() {
        let config =
            b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"o\"]\n\tworktree = x\n";
        assert_eq!(setting(config, "core.bare").as_deref(), Some("false"));
        assert_eq!(setting(config, "core.worktree"), None);
        assert_eq!(setting(b"[Core]\n  Worktree = \"/a b\"\n", "core.worktree").as_deref(), Some("/a b"));
    }
}
