//! The hook that the repository itself has: what git would run if the hooks were not ours.
//!
//! It is looked up at every call, because an agent's `npm install` may well set hooks up. Git is asked only when one
//! of the person's config files could say where hooks are: asking costs more than everything else here together.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::place::Place;

/// The config that the person uses in place of the one in their home, when they do.
const PERSONS_CONFIG: &str = "FORGE_PERSON_GITCONFIG";

/// Where a git has its config for all users.
const FOR_ALL_USERS: [&str; 3] =
    ["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// Finds the hook of that name that the repository would run, if it has one.
pub(super) fn hook(name: &str, place: &Place, ours: &Path) -> Option<PathBuf> {
    let directory = if names_hooks(place) { asked() } else { None };
    let directory = directory.unwrap_or_else(|| place.common_dir.join("hooks"));
    // A config that names our own directory would have us call ourselves for ever.
    let is_ours = || matches!((directory.canonicalize(), ours.canonicalize()), (Ok(a), Ok(b)) if a == b);
    let program = std::path::absolute(directory.join(name)).ok()?;
    let kind = fs::metadata(&program).ok()?;
    (kind.is_file() && kind.permissions().mode() & 0o111 != 0 && !is_ours()).then_some(program)
}

/// Says whether a config of the person's could say where hooks are, itself or by another that it includes.
fn names_hooks(place: &Place) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let own = match std::env::var_os(PERSONS_CONFIG) {
        Some(config) => vec![PathBuf::from(config)],
        None => {
            let xdg = std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
            vec![xdg.join("git/config"), home.join(".gitconfig")]
        }
    };
    let repository = [place.common_dir.join("config"), place.git_dir.join("config.worktree")];
    let all = own.into_iter().chain(repository).chain(FOR_ALL_USERS.map(PathBuf::from));
    all.into_iter().any(|path| {
        fs::read(path).is_ok_and(|text| {
            let text = text.to_ascii_lowercase();
            [&b"hookspath"[..], b"[include"].iter().any(|word| text.windows(word.len()).any(|at| at == *word))
        })
    })
}

/// Asks git where the hooks would be without our settings.
fn asked() -> Option<PathBuf> {
    let mut command = Command::new("git");
    command.args(["config", "--type=path", "--get", "core.hooksPath"]);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("GIT_CONFIG_KEY_") || text.starts_with("GIT_CONFIG_VALUE_") {
            command.env_remove(&name);
        }
    }
    command.env_remove("GIT_CONFIG_COUNT").env_remove("GIT_CONFIG_GLOBAL");
    if let Some(config) = std::env::var_os(PERSONS_CONFIG) {
        command.env("GIT_CONFIG_GLOBAL", config);
    }
    let mut answer = command.output().ok().filter(|output| output.status.success())?.stdout;
    while answer.last() == Some(&b'\n') {
        answer.pop();
    }
    // Relative to the directory that hooks are called in, which is this process's.
    (!answer.is_empty()).then(|| PathBuf::from(OsString::from_vec(answer)))
}
