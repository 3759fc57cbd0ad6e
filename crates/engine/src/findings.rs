//! What was found changed outside an attempt's worktree: looked at, put back, or left as it is.
//!
//! Putting back is an act of the person. It is done only if the thing is still as it was found; whatever it replaces is
//! kept, in the repository under `refs/forge/kept/` or in the data directory.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use forge_git::{Repo, Stashed};
use forge_model::{AttemptId, Finding, FindingId, FindingKind, FindingState, Noun, Op, Side};

use crate::background::{blocking, detached};
use crate::detect::checkout::{content, read_entries};
use crate::detect::objects::{Objects, hash};
use crate::error::{io_error, whole};
use crate::store::{attempts, findings};
use crate::{AttemptView, Engine, Error, Result};

impl Engine {
    /// Returns what was found during an attempt's runs, oldest first.
    pub async fn findings(&self, attempt: AttemptId) -> Result<Vec<Finding>> {
        self.attempt(attempt).await?;
        Ok(self.inner.store.read(move |conn| findings::of_attempt(conn, attempt)).await?)
    }

    /// Leaves what was found as it is, and shows it no longer as open.
    pub async fn dismiss_finding(&self, attempt: AttemptId, id: FindingId) -> Result<Finding> {
        let finding = self.open_finding(attempt, id).await?;
        self.settle(&finding, FindingState::Dismissed).await
    }

    /// Puts back what was found changed, if it is still as it was found.
    pub async fn restore_finding(&self, attempt: AttemptId, id: FindingId) -> Result<Finding> {
        let finding = self.open_finding(attempt, id).await?;
        if !finding.can_restore() {
            let why = match finding.kind {
                FindingKind::Worktree => "an attempt's worktree comes back when the attempt goes on",
                _ => "its content from before is not known; a finding can be dismissed",
            };
            let subject = &finding.subject;
            return Err(
                Error::conflict(format!("{subject} cannot be put back: {why}")).with_code("not_restorable")
            );
        }
        let AttemptView { attempt, .. } = self.attempt(attempt).await?;
        let project = self.project(attempt.project).await?;
        let engine = self.clone();
        detached(async move {
            let (objects, git, act) = (engine.objects(), engine.inner.git.clone(), finding.clone());
            let opened = engine.clone();
            blocking(move || -> Result<()> {
                let repo = match opened.repo(&project.path) {
                    Ok(repo) => repo,
                    // A config that was broken keeps git from opening what that very config is to be put back in.
                    Err(error) => places(&project.path).map(|places| git.reopen(places)).ok_or(error)?,
                };
                match act.kind {
                    FindingKind::Own => {
                        repo.worktree(&attempt.worktree)?.attach(&attempt.branch).map(drop).map_err(refused)
                    }
                    _ => restore(&repo, &act, &objects),
                }
            })
            .await??;
            engine.settle(&finding, FindingState::Restored).await
        })
        .await
    }

    async fn open_finding(&self, attempt: AttemptId, id: FindingId) -> Result<Finding> {
        let found = self.inner.store.read(move |conn| findings::one(conn, id)).await?;
        let found = found.filter(|finding| finding.attempt == attempt);
        let finding =
            found.ok_or_else(|| Error::not_found(format!("attempt {attempt} has no finding {id}")))?;
        match finding.state {
            FindingState::Seen => Ok(finding),
            state => Err(Error::conflict(format!("finding {id} is {state} already")).with_code("settled")),
        }
    }

    /// Settles a finding, and those of attempts that ran at the same time and saw the same.
    async fn settle(&self, finding: &Finding, state: FindingState) -> Result<Finding> {
        let finding = finding.clone();
        let settled = self.inner.store.write(move |tx| {
            let Some(view) = attempts::one(tx.conn(), finding.attempt)? else { return Ok(None) };
            let project = view.attempt.project;
            let same = match state {
                FindingState::Restored => findings::same(tx.conn(), project, &finding)?,
                _ => vec![(finding.id, finding.attempt)],
            };
            for (id, attempt) in same {
                findings::settle(tx.conn(), id, state, tx.now())?;
                tx.changed(Noun::Attempt, attempt, Op::Change, Some(project), Some(attempt));
            }
            findings::one(tx.conn(), finding.id)
        });
        settled.await?.ok_or_else(|| Error::not_found("the attempt was removed in the meantime"))
    }
}

/// Puts one thing back.
fn restore(repo: &Repo, finding: &Finding, objects: &Objects) -> Result<()> {
    let (was, is) = (finding.before.as_ref(), finding.after.as_ref());
    let value = |side: Option<&Side>| side.and_then(|side| side.value.clone());
    let (old, new) = (value(was), value(is));
    let name = finding.id.to_string();
    let with_files = is.is_some_and(|side| side.with_files);
    let done = match finding.kind {
        FindingKind::Ref => {
            repo.put_reference_back(&finding.subject, old.as_deref(), new.as_deref(), &name, with_files)
        }
        FindingKind::Head => {
            repo.put_head_back(&old.unwrap_or_default(), &new.unwrap_or_default(), with_files)
        }
        FindingKind::Stash => {
            let entries = |value: Option<String>| -> Vec<Stashed> {
                let read: Vec<(String, String)> =
                    value.and_then(|value| serde_json::from_str(&value).ok()).unwrap_or_default();
                read.into_iter().map(|(oid, message)| Stashed { oid, message }).collect()
            };
            repo.put_stash_back(&entries(old), &entries(new), &name)
        }
        FindingKind::Index => {
            let entries = |value: Option<String>| value.as_deref().and_then(read_entries);
            match (entries(old), entries(new)) {
                (Some(old), Some(new)) => repo.put_index_back(&old, &new),
                _ => return Err(Error::internal(format!("finding {name} cannot be read"))),
            }
        }
        FindingKind::Config | FindingKind::Hook | FindingKind::Info => {
            let path = inside(repo.common_dir(), &finding.subject)?;
            return put_file(&path, was, is, objects, |_| Ok(None));
        }
        FindingKind::File => {
            let path = inside(repo.top(), &finding.subject)?;
            let relative = Path::new(&finding.subject);
            return put_file(&path, was, is, objects, |blob| Ok(Some(repo.checked_out(relative, blob)?)));
        }
        FindingKind::Worktree | FindingKind::Own => return Ok(()),
    };
    done.map_err(refused)
}

/// A path inside a directory, reached through no link.
fn inside(dir: &Path, subject: &str) -> Result<PathBuf> {
    let relative = Path::new(subject);
    if relative.components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(Error::invalid(format!("{subject:?} is no path inside {}", dir.display())));
    }
    let path = dir.join(relative);
    let parent = path.parent().unwrap_or(dir);
    let nearest = parent.ancestors().find_map(|above| above.canonicalize().ok());
    if nearest.is_none_or(|nearest| !parent.starts_with(&nearest)) {
        let why = format!("{} is reached through a link; put it back by hand", path.display());
        return Err(Error::conflict(why).with_code("not_restorable"));
    }
    Ok(path)
}

/// Puts a file back to what it was, if it is what was seen; what it is, is kept first.
fn put_file(
    path: &Path,
    was: Option<&Side>,
    seen: Option<&Side>,
    objects: &Objects,
    blob: impl Fn(&str) -> Result<Option<Vec<u8>>>,
) -> Result<()> {
    let changed = || {
        let why = format!("{} has changed since it was found, and is left as it is", path.display());
        Error::conflict(why).with_code("changed")
    };
    match (content(path), seen.and_then(|side| side.hash.as_ref())) {
        (Ok(now), Some(seen)) if hash(&now) == *seen => {
            objects.keep(&now)?;
        }
        (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound && seen.is_none() => {}
        (Err(error), _) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(io_error("read", path)(error));
        }
        _ => return Err(changed()),
    }
    let Some(was) = was else {
        return fs::remove_file(path).map_err(io_error("remove", path));
    };
    let bytes = match (&was.hash, &was.blob) {
        (Some(hash), _) if was.kept => objects.read(hash)?,
        (_, Some(oid)) => blob(oid)?,
        _ => None,
    };
    let Some(bytes) = bytes else {
        let why = format!("the content that {} had is not kept any more", path.display());
        return Err(Error::conflict(why).with_code("not_restorable"));
    };
    let mode = was.mode.unwrap_or(0o100_644);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(io_error("create", parent))?;
    }
    let draft = path.with_file_name(format!(".forge-{}", forge_model::RunId::random()));
    let written = if mode & 0o170_000 == 0o120_000 {
        symlink(std::ffi::OsStr::from_bytes(&bytes), &draft)
    } else {
        let permissions = fs::Permissions::from_mode(mode & 0o777);
        fs::write(&draft, &bytes)
            .and_then(|()| fs::set_permissions(&draft, permissions))
            .and_then(|()| fs::File::open(&draft)?.sync_all())
    };
    let written = written.and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What matters is why it was not written.
        let _gone = fs::remove_file(&draft);
    }
    written.map_err(io_error("write", path))
}

/// What git refuses to put back does not fit the state things are in.
fn refused(error: forge_git::Error) -> Error {
    match error {
        forge_git::Error::Git { .. } => {
            Error::conflict(format!("it was not put back, and nothing was changed: {}", whole(&error)))
        }
        error => error.into(),
    }
}

/// Where a repository is that git itself does not open.
fn places(path: &Path) -> Option<forge_git::Places> {
    let top = path.canonicalize().ok()?;
    let git_dir = top.join(".git");
    git_dir.is_dir().then(|| forge_git::Places {
        top,
        common_dir: git_dir.clone(),
        git_dir,
        is_sha256: false,
    })
}
