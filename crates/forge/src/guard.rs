//! The hooks of an agent's git: a process of its own that refuses to move what is not the attempt's, and then runs
//! the hook that the repository has by that name.
//!
//! Git calls it several times for every commit, so it does nothing that is not needed for the answer. It acts on the
//! attempt's repository only: a repository that the agent made for itself, or a submodule, is none of its business.
//! It is a seat belt and not a wall; what changed all the same is found after the turn.

mod person;
mod place;
mod refs;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use place::Place;

/// The one hook that can refuse a change of any reference.
const GATE: &str = "reference-transaction";

/// The branch that the attempt may move, as a whole reference.
const BRANCH: &str = "FORGE_ATTEMPT_REF";

/// The git directory of the attempt's repository that all its checkouts share.
const REPOSITORY: &str = "FORGE_ATTEMPT_REPOSITORY";

/// A call of a hook.
pub(crate) struct Hook {
    name: String,
    /// The directory of hooks that it was called from, which is ours.
    directory: PathBuf,
}

/// Recognises a call of a hook by the name this program was called by: `…/hooks-<hash>/<hook>`.
pub(crate) fn hook(called: Option<OsString>) -> Option<Hook> {
    let called = PathBuf::from(called?);
    let name = called.file_name()?.to_str()?;
    let directory = called.parent()?;
    let ours = directory.file_name()?.to_str()?.starts_with("hooks-");
    (ours && forge_engine::GUARDED_HOOKS.contains(&name))
        .then(|| Hook { name: name.to_string(), directory: directory.to_path_buf() })
}

/// Refuses what the attempt may not move, then runs the repository's own hook and answers what that answers.
pub(crate) fn main(hook: &Hook, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let Some(place) = Place::find() else { return ExitCode::SUCCESS };
    let mut updates = None;
    if hook.name == GATE
        && arguments.first().is_some_and(|phase| phase == "prepared")
        && let Some(own) = own_reference(&place.common_dir)
    {
        let mut text = Vec::new();
        if let Err(error) = std::io::stdin().read_to_end(&mut text) {
            eprintln!("forge: git's changes could not be read, so none is made: {error}");
            return ExitCode::FAILURE;
        }
        if let Some(refusal) = refs::refusal(&String::from_utf8_lossy(&text), &own, &place.common_dir) {
            eprint!("{refusal}");
            return ExitCode::FAILURE;
        }
        updates = Some(text);
    }
    match person::hook(&hook.name, &place, &hook.directory) {
        Some(program) => chain(&program, &arguments, updates),
        None => ExitCode::SUCCESS,
    }
}

/// The attempt's own branch, when this is the attempt's repository.
fn own_reference(common_dir: &Path) -> Option<String> {
    let own = std::env::var(BRANCH).ok()?;
    let repository = std::env::var_os(REPOSITORY)?;
    (Path::new(&repository) == common_dir).then_some(own)
}

/// Becomes the person's hook; what was read of its input is given to it.
fn chain(program: &Path, arguments: &[OsString], input: Option<Vec<u8>>) -> ExitCode {
    let failed = |error: std::io::Error| {
        eprintln!("forge: the hook {} could not be run: {error}", program.display());
        ExitCode::FAILURE
    };
    let mut command = Command::new(program);
    command.args(arguments);
    let Some(input) = input else { return failed(command.exec()) };
    let mut run = || {
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        if let Some(mut pipe) = child.stdin.take() {
            // A hook need not read what it is told.
            drop(pipe.write_all(&input));
        }
        child.wait()
    };
    match run() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => failed(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hook_in_a_directory_of_hooks_is_one() {
        let called = |path: &str| hook(Some(path.into())).map(|hook| hook.name);
        assert_eq!(called("/data/bin/hooks-0a1b/pre-commit").as_deref(), Some("pre-commit"));
        assert_eq!(called("/data/bin/forge-0a1b"), None);
        assert_eq!(called("pre-commit"), None);
        assert_eq!(called("/usr/bin/forge"), None);
        assert_eq!(called("/data/bin/hooks-0a1b/serve"), None);
        assert_eq!(hook(None).map(|hook| hook.name), None);
    }
}
