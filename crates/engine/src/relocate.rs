//! Worktrees that follow their data directory to another path.
//!
//! A worktree and its repository name each other by their paths, and it is locked in the name of the data directory.
//! Only plain files are changed, and only those of worktrees that are locked in the old name.

use std::fs;
use std::path::{Path, PathBuf};

use forge_model::AttemptId;

/// Has the worktrees of a directory that went from `from` to `to` know where it is. Returns those that were moved with
/// it, with their new paths. Blocks.
pub(crate) fn follow(
    from: &Path,
    to: &Path,
    worktrees: Vec<(AttemptId, PathBuf)>,
) -> Vec<(AttemptId, PathBuf)> {
    let mut moved = Vec::new();
    for (attempt, worktree) in worktrees {
        let below = worktree.strip_prefix(from).map(|below| to.join(below));
        let now = match below {
            Ok(now) if !worktree.exists() && now.join(".git").is_file() => now,
            _ => worktree.clone(),
        };
        match claim(&worktree, &now, from, to) {
            Ok(true) if now != worktree => moved.push((attempt, now)),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!("worktree {} does not follow its data directory: {error}", now.display());
            }
        }
    }
    moved
}

/// Says whether another data directory has locked one of the worktrees in its name. Blocks.
pub(crate) fn is_taken(from: &Path, to: &Path, worktrees: &[(AttemptId, PathBuf)]) -> bool {
    let own = [lock_reason(from), lock_reason(to)];
    worktrees.iter().any(|(_, worktree)| {
        let reason = admin(worktree).and_then(|admin| fs::read_to_string(admin.join("locked")).ok());
        reason
            .is_some_and(|reason| reason.starts_with(LOCKED) && !own.contains(&reason.trim_end().to_string()))
    })
}

/// Changes the name that a worktree is locked in, and the path by which its repository knows it. Says whether it was
/// locked in the old name.
fn claim(before: &Path, now: &Path, from: &Path, to: &Path) -> std::io::Result<bool> {
    let Some(admin) = admin(now) else { return Ok(false) };
    let (locked, back) = (admin.join("locked"), admin.join("gitdir"));
    let says =
        |file: &Path, wanted: &str| fs::read_to_string(file).is_ok_and(|text| text.trim_end() == wanted);
    let [old, new] = [before, now].map(|worktree| worktree.join(".git").display().to_string());
    // An agent can have its worktree point anywhere; what does not point back is not its own.
    if !says(&locked, &lock_reason(from)) || !(says(&back, &old) || says(&back, &new)) {
        return Ok(false);
    }
    fs::write(&back, format!("{new}\n"))?;
    // The lock is last: what breaks off before it is done again.
    fs::write(&locked, lock_reason(to))?;
    Ok(true)
}

/// The directory in which git keeps what it knows of a worktree.
fn admin(worktree: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(worktree.join(".git")).ok()?;
    text.strip_prefix("gitdir: ").map(|line| worktree.join(line.trim_end()))
}

/// How the reason of every lock of ours begins.
const LOCKED: &str = "forge ";

/// What git shows to whoever tries to remove a worktree of a data directory.
pub(crate) fn lock_reason(home: &Path) -> String {
    format!("{LOCKED}{}", home.display())
}
