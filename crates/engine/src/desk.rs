//! What an attempt has besides its worktree, told to its runs by variables: ports, a directory for temporary files,
//! names of its own.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use forge_model::{AttemptId, RunId, TaskId};

use crate::background::blocking;
use crate::error::io_error;
use crate::intent::{Intent, What};
use crate::store::{attempts, starts};
use crate::{Engine, Result};

/// The variables of a run that are about its attempt.
#[derive(Debug)]
pub(crate) struct Desk(Vec<(String, String)>);

impl Desk {
    /// Lays these variables over an environment: they replace what has the same name.
    pub(crate) fn lay_over(&self, env: &mut Vec<(String, String)>) {
        env.retain(|(name, _)| !self.0.iter().any(|(own, _)| own == name));
        env.extend(self.0.iter().cloned());
    }
}

/// What a start is about.
struct About {
    task: Option<TaskId>,
    branch: String,
    target: String,
}

impl Engine {
    /// Sets up what the runs of an attempt have besides its worktree.
    pub(crate) async fn desk(&self, intent: &Intent) -> Result<Desk> {
        let about = self.about(intent).await?;
        let ports = self.lease(intent.attempt, intent.is_dev_server()).await?;
        let tmp = self.inner.paths.tmp(intent.attempt);
        let made = tmp.clone();
        blocking(move || {
            DirBuilder::new().recursive(true).mode(0o700).create(&made).map_err(io_error("create", &made))
        })
        .await??;
        let mut variables = vec![
            ("FORGE_PROJECT".to_string(), intent.project.to_string()),
            ("FORGE_BRANCH".to_string(), about.branch),
            ("FORGE_TARGET_BRANCH".to_string(), about.target),
            ("FORGE_WORKTREE".to_string(), intent.worktree.to_string_lossy().into_owned()),
            ("COMPOSE_PROJECT_NAME".to_string(), format!("forge-{}", short(intent.attempt))),
            ("TMPDIR".to_string(), tmp.to_string_lossy().into_owned()),
        ];
        variables.extend(about.task.map(|task| ("FORGE_TASK".to_string(), task.to_string())));
        if intent.script.is_some() {
            // A script may want to bring something along; an agent has no business there.
            let repository = intent.repository.to_string_lossy().into_owned();
            variables.push(("FORGE_REPOSITORY".to_string(), repository));
        }
        variables.extend(ports.iter().enumerate().map(|(slot, port)| match slot {
            0 => ("FORGE_DEV_PORT".to_string(), port.to_string()),
            slot => (format!("FORGE_DEV_PORT_{slot}"), port.to_string()),
        }));
        Ok(Desk(variables))
    }

    /// Moves the temporary files of attempts that are gone into the trash, and what their git was guarded with.
    pub(crate) async fn trash_temporary_files(&self) -> Result<()> {
        // Read before the store is: an attempt that comes in between has its row before its directories.
        let home = self.inner.paths.home.clone();
        let there: Vec<_> = blocking(move || {
            let list = |kind: &'static str| {
                let entries = std::fs::read_dir(home.join(kind)).into_iter().flatten().flatten();
                entries.map(move |entry| (kind, entry.path())).collect::<Vec<_>>()
            };
            ["tmp", "guard"].into_iter().flat_map(list).collect()
        })
        .await?;
        let known = self.inner.store.read(|conn| {
            let starting = starts::marks(conn)?.into_iter().map(|start| start.attempt);
            let attempts = attempts::ids(conn)?.into_iter().chain(starting);
            Ok(attempts.flat_map(|id| [short(id), id.to_string()]).collect::<HashSet<_>>())
        });
        let (known, trash) = (known.await?, self.inner.paths.trash());
        blocking(move || {
            for (kind, path) in there {
                let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
                // What is kept for all of them is beside what guards each.
                let is_shared = kind == "guard" && name.parse::<AttemptId>().is_err();
                if known.contains(name) || is_shared {
                    continue;
                }
                let moved = std::fs::rename(&path, trash.join(format!("{kind}-{name}-{}", RunId::random())));
                if let Err(error) = moved {
                    tracing::warn!("{} stays where it is: {error}", path.display());
                }
            }
        })
        .await
    }

    async fn about(&self, intent: &Intent) -> Result<About> {
        if let What::Attempt { task, branch, base, .. } = &intent.what {
            let target = base.as_ref().map(|base| base.branch.clone()).unwrap_or_default();
            return Ok(About { task: *task, branch: branch.clone(), target });
        }
        let id = intent.attempt;
        let attempt = self.attempt(id).await?.attempt;
        Ok(About { task: attempt.task, branch: attempt.branch, target: attempt.target_branch })
    }
}

/// A short name for an attempt that no other has: the path of a socket must not be longer than 107 bytes, so the
/// directory for temporary files is named by it.
pub(crate) fn short(id: AttemptId) -> String {
    id.to_string().chars().filter(|c| *c != '-').take(12).collect()
}
