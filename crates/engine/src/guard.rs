//! The seat belt of a run's git: what its environment says so that nothing but the attempt's own branch moves.
//!
//! Git is told twice where its hooks are: by variables, which a repository's own config cannot override, and by a
//! config of the attempt's own, because git strips the variables from what it starts for a local push. Both lead to
//! links of the forge binary, which refuses or chains to the person's hooks. An attempt that works in the person's
//! own checkout has no belt: there, everything is theirs.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use forge_model::{AttemptId, Run};

use crate::background::blocking;
use crate::error::io_error;
use crate::store::attempts;
use crate::{Engine, Result};

/// Every hook that git runs out of its hooks directory, but for three: the mere presence of `push-to-checkout` and
/// `proc-receive` changes what a push into a checked-out branch does, and `post-index-change` would cost a process
/// at every `git status`.
pub const GUARDED_HOOKS: [&str; 21] = [
    "applypatch-msg",
    "commit-msg",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
    "update",
    "p4-pre-submit",
];

/// What every git of a run is told besides where its hooks are: packing references looks like deleting them, and
/// would be refused.
const SETTINGS: [(&str, &str); 2] = [("gc.auto", "0"), ("maintenance.auto", "false")];

impl Engine {
    /// The variables that put the seat belt on a run's git; none for an attempt in the person's own checkout.
    pub(crate) async fn belt(
        &self,
        run: &Run,
        worktree: &Path,
        env: &[(String, String)],
    ) -> Result<Vec<(String, String)>> {
        let attempt = run.attempt;
        let Some(own) = self.own_reference(attempt, worktree).await? else { return Ok(Vec::new()) };
        let hooks = hooks_of(&self.shim().await?);
        let (dir, worktree) = (self.inner.paths.guard(attempt), worktree.to_path_buf());
        let person = std::env::var("GIT_CONFIG_GLOBAL").ok().filter(|path| !path.is_empty());
        let configs = persons_configs(person.as_deref(), env);
        blocking(move || {
            let Some((common_dir, _)) = look(&worktree) else { return Ok(Vec::new()) };
            make_dir(&dir)?;
            let config = dir.join("gitconfig");
            // Not synced: it is made anew at every start.
            let draft = dir.join("gitconfig.draft");
            fs::write(&draft, config_text(&configs, &hooks)).map_err(io_error("write", &draft))?;
            fs::rename(&draft, &config).map_err(io_error("write", &config))?;
            let mut variables = vec![
                ("FORGE_ATTEMPT_REF".to_string(), own),
                ("FORGE_ATTEMPT_REPOSITORY".to_string(), common_dir.to_string_lossy().into_owned()),
                ("GIT_CONFIG_GLOBAL".to_string(), config.to_string_lossy().into_owned()),
                ("GIT_CONFIG_COUNT".to_string(), (1 + SETTINGS.len()).to_string()),
                ("GIT_CONFIG_KEY_0".to_string(), "core.hooksPath".to_string()),
                ("GIT_CONFIG_VALUE_0".to_string(), hooks.to_string_lossy().into_owned()),
            ];
            for (index, (key, value)) in SETTINGS.iter().enumerate() {
                variables.push((format!("GIT_CONFIG_KEY_{}", index + 1), key.to_string()));
                variables.push((format!("GIT_CONFIG_VALUE_{}", index + 1), value.to_string()));
            }
            variables.extend(person.map(|path| ("FORGE_PERSON_GITCONFIG".to_string(), path)));
            Ok(variables)
        })
        .await?
    }

    /// The branch of an attempt as a whole reference; none for one that works in the person's own checkout.
    pub(crate) async fn own_reference(&self, attempt: AttemptId, worktree: &Path) -> Result<Option<String>> {
        let view = self.inner.store.read(move |conn| attempts::one(conn, attempt)).await?;
        match view {
            Some(view) if view.attempt.in_place => Ok(None),
            Some(view) => Ok(Some(format!("refs/heads/{}", view.attempt.branch))),
            // The attempt is being made, and its worktree with it: nobody but us has touched its HEAD.
            None if self.inner.paths.roots.iter().any(|root| worktree.starts_with(root)) => {
                let worktree = worktree.to_path_buf();
                Ok(blocking(move || look(&worktree)).await?.map(|(_, head)| head))
            }
            None => Ok(None),
        }
    }
}

/// Makes the directory of hooks beside a copy of the binary: each is a link to it. Blocks.
pub(crate) fn make_hooks(binary: &Path) -> Result<()> {
    let hooks = hooks_of(binary);
    make_dir(&hooks)?;
    let target = Path::new("..").join(binary.file_name().unwrap_or_default());
    for name in GUARDED_HOOKS {
        let link = hooks.join(name);
        match symlink(&target, &link) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(io_error("make", &link)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The directory of hooks that belongs to a copy of the binary: `bin/hooks-<hash>` beside `bin/forge-<hash>`.
fn hooks_of(binary: &Path) -> PathBuf {
    let name = binary.file_name().unwrap_or_default().to_string_lossy();
    binary.with_file_name(format!("hooks-{}", name.trim_start_matches("forge-")))
}

fn make_dir(path: &Path) -> Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io_error("create", path))
}

/// The repository of a linked worktree, and what its HEAD names; none when it is no such worktree.
fn look(worktree: &Path) -> Option<(PathBuf, String)> {
    let text = fs::read_to_string(worktree.join(".git")).ok()?;
    let git_dir = worktree.join(text.strip_prefix("gitdir: ")?.trim_end());
    let common_dir = fs::read_to_string(git_dir.join("commondir")).ok()?;
    let head = fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let head = head.strip_prefix("ref: ")?.trim_end().to_string();
    Some((fs::canonicalize(git_dir.join(common_dir.trim_end())).ok()?, head))
}

/// The person's own configs, in the order in which git reads them.
fn persons_configs(given: Option<&str>, env: &[(String, String)]) -> Vec<PathBuf> {
    if let Some(given) = given {
        return vec![PathBuf::from(given)];
    }
    let of = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| PathBuf::from(value));
    let home = of("HOME");
    let xdg = of("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
    let xdg = xdg.map(|dir| dir.join("git/config"));
    xdg.into_iter().chain(home.map(|home| home.join(".gitconfig"))).collect()
}

/// The config of an attempt's git: the person's, and then ours. What an agent sets with `--global` lands here.
fn config_text(persons: &[PathBuf], hooks: &Path) -> String {
    let quoted =
        |path: &Path| format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("# Made anew by Forge at every start of this attempt's agent.\n");
    for path in persons {
        text.push_str(&format!("[include]\n\tpath = {}\n", quoted(path)));
    }
    text.push_str(&format!("[core]\n\thooksPath = {}\n", quoted(hooks)));
    for (key, value) in SETTINGS {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        text.push_str(&format!("[{section}]\n\t{name} = {value}\n"));
    }
    text
}

impl crate::paths::Paths {
    /// What is kept to guard an attempt's repository: its git config, and how things were before its turns.
    pub(crate) fn guard(&self, attempt: AttemptId) -> PathBuf {
        self.home.join("guard").join(attempt.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_config_is_included_before_ours() {
        let env = [("HOME".to_string(), "/home/a \"b\"".to_string())];
        let text = config_text(&persons_configs(None, &env), Path::new("/data/bin/hooks-1"));
        let xdg = text.find("path = \"/home/a \\\"b\\\"/.config/git/config\"").unwrap();
        let home = text.find("path = \"/home/a \\\"b\\\"/.gitconfig\"").unwrap();
        let hooks = text.find("hooksPath = \"/data/bin/hooks-1\"").unwrap();
        assert!(xdg < home && home < hooks, "{text}");
        assert_eq!(persons_configs(Some("/x"), &env), [PathBuf::from("/x")]);
    }
}
