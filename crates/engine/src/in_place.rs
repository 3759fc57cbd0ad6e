//! Attempts that work in the person's checkout, because they asked for no worktree. Nothing there is ours: it is not
//! committed, reset, cleaned up, restored or landed; its files are snapshotted, and that writes nothing there.

use std::path::Path;

use forge_model::{Attempt, AttemptId, ProjectId, RunId, with_images_in};

use crate::background::blocking;
use crate::intent::{Base, Intent, What};
use crate::once::Key;
use crate::start::{Intended, Wanted};
use crate::store::starts::Mark;
use crate::store::{Conn, Error as StoreError, attempts, starts};
use crate::{Engine, Error, Result};

/// What stands for the branch of a checkout that has none checked out.
const DETACHED: &str = "HEAD";

/// Refuses an act that would write to the files, the index or the branch of the person's checkout. `act` is a verb
/// as it stands after "it does not" and before "it": "merge", "rebase", "push".
pub(crate) fn refuse_in_place(attempt: &Attempt, act: &str) -> Result<()> {
    if !attempt.in_place {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "attempt {} works in your own checkout {}, where Forge changes nothing, so it does not {act} it; \
         use git there yourself",
        attempt.id,
        attempt.worktree.display()
    ))
    .with_code("in_place"))
}

/// Says whether another attempt of a project works in the person's checkout, or is about to.
pub(crate) fn is_taken(
    conn: &Conn,
    project: ProjectId,
    attempt: AttemptId,
) -> std::result::Result<bool, StoreError> {
    if attempts::other_in_place(conn, project, attempt)? {
        return Ok(true);
    }
    let is_other =
        |start: &Mark| start.in_place && start.project == Some(project) && start.attempt != attempt;
    Ok(starts::marks(conn)?.iter().any(is_other))
}

/// Two agents in one checkout would write over each other.
pub(crate) fn taken() -> Error {
    Error::conflict(
        "another attempt without a worktree works in this project's checkout; wait for it, stop it, or let this one \
         have a worktree",
    )
    .with_code("in_place_taken")
}

impl Engine {
    /// Starts an attempt in the person's checkout, on whatever is checked out there.
    pub(crate) async fn start_in_place(
        &self,
        wanted: Wanted,
        key: Option<Key>,
    ) -> Result<(AttemptId, RunId)> {
        self.check_agent(&wanted.profile, wanted.project.id).await?;
        self.check_room(&wanted.project.path).await?;
        let stands = self.where_it_stands(&wanted.project.path).await?;
        let limits = self.limits().await?;
        let agent = wanted.agent;
        let intent = Intent {
            attempt: AttemptId::random(),
            run: RunId::random(),
            project: wanted.project.id,
            repository: wanted.project.path.clone(),
            worktree: wanted.project.path,
            profile: wanted.profile,
            prompt: wanted.prompt,
            session: wanted.session,
            forked: wanted.manner.forked_from.is_some(),
            memo: None,
            what: What::Attempt {
                task: wanted.task,
                new_task: wanted.new_task,
                branch: stands.branch.clone(),
                base: Some(stands.clone()),
                held: false,
            },
            in_place: true,
            script: None,
            then: None,
            note: None,
            images: wanted.images,
            comments: Vec::new(),
            manner: wanted.manner,
            key,
            at: crate::store::now(),
        };
        let may_wait = (!limits.is_off()).then_some(stands);
        match self.intend(&intent, limits, may_wait, agent).await? {
            Intended::NameTaken => return Err(taken()),
            Intended::TooMany(too_many) => return Err(too_many.refusal(agent)),
            Intended::Held => self.inner.line.look(),
            Intended::Written => {
                if let Err(error) = self.make_process(&intent).await {
                    self.undo(&intent).await;
                    return Err(error);
                }
            }
        }
        Ok((intent.attempt, intent.run))
    }

    /// Says which branch and which commit a checkout is at. Without a branch, and before the first commit, an agent
    /// can work there all the same.
    pub(crate) async fn where_it_stands(&self, repository: &Path) -> Result<Base> {
        let (engine, repository) = (self.clone(), repository.to_path_buf());
        let stands = blocking(move || -> Result<_> {
            let repo = engine.repo(&repository)?;
            let branch = repo.current_branch()?.unwrap_or_else(|| DETACHED.to_string());
            Ok(Base { branch, commit: repo.head()?.unwrap_or_default() })
        });
        stands.await?
    }

    /// Lets the pictures of a prompt be found where Forge has them: none is put into the person's checkout.
    pub(crate) fn with_images_at_home(&self, intent: &Intent) -> Intent {
        Intent { prompt: self.at_home(&intent.prompt), ..intent.clone() }
    }

    pub(crate) fn at_home(&self, prompt: &str) -> String {
        with_images_in(prompt, &self.inner.paths.images().to_string_lossy())
    }
}
