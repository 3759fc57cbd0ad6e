//! Notices: texts to a person's messenger when an attempt has finished, has failed, or asks.
//!
//! A notice is written down in the transaction of what it tells, and sent afterwards in the background: it can
//! neither delay nor fail an attempt. One that a crash left behind is sent by the next server. Once it counts as
//! sent it is never sent again.

use std::sync::Arc;
use std::time::Duration;

use forge_model::{AttemptState, Notice, NoticeId, NoticeKind, NoticeStatus};
use serde_json::json;
use tokio::task::JoinSet;

use crate::background::blocking;
use crate::omni::{Way, way};
use crate::store::{Error as StoreError, Tx, notices, projects};
use crate::{AttemptView, Engine, Inner, Result};

/// How many are shown.
const SHOWN: i64 = 50;

/// How many are sent at once.
const AT_ONCE: i64 = 8;

/// How often one is tried.
const TRIES: u64 = 3;

/// How long after a failure the next try comes.
const PAUSE: Duration = Duration::from_secs(2);

/// How long changes are gathered before one looks whether they left a notice: nobody waits for milliseconds
/// here, and a busy board changes all the time.
const GATHER: Duration = Duration::from_millis(250);

/// How much of a title and of a reason is told, in characters.
const LONGEST_TITLE: usize = 120;
const LONGEST_REASON: usize = 400;

/// What is left after a look at the notices.
/// What may keep going wrong here, as the log calls it.
const LOOK: &str = "the look at notices";
const RECORD: &str = "the record of notices";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// All that were tried are settled; there may be more.
    Unseen,
    /// Some are to be tried again.
    Unsent,
}

impl Engine {
    /// Returns the newest notices, newest first.
    pub async fn notices(&self) -> Result<Vec<Notice>> {
        Ok(self.inner.store.read(|conn| notices::newest(conn, SHOWN)).await?)
    }

    /// Sends what is to be sent, for as long as the engine lives.
    pub(crate) fn keep_sending(&self) {
        let inner = Arc::downgrade(&self.inner);
        let mut bell = self.inner.store.bell();
        self.aside(async move {
            loop {
                let Some(strong) = inner.upgrade() else { return };
                let engine = Engine { inner: strong };
                let looked = engine.send_pending().await;
                match &looked {
                    Ok(_) => engine.inner.troubles.is_over(LOOK),
                    Err(error) => {
                        engine.inner.troubles.meet(LOOK, &format!("notices could not be looked at: {error}"));
                    }
                }
                drop(engine);
                match looked {
                    Ok(Left::Unseen) => {}
                    Ok(Left::Unsent) => tokio::time::sleep(PAUSE).await,
                    Ok(Left::Nothing) | Err(_) => {
                        let Ok(()) = bell.changed().await else { return };
                        tokio::time::sleep(GATHER).await;
                    }
                }
            }
        });
    }

    /// Tries some notices that are pending, and says what is left.
    async fn send_pending(&self) -> Result<Left> {
        let pending = self.inner.store.read(|conn| {
            let mut pending = Vec::new();
            for notice in notices::pending(conn, AT_ONCE)? {
                let project = notice.metadata["project_id"].as_str().and_then(|id| id.parse().ok());
                let way = match project {
                    Some(project) => way(conn, project)?,
                    None => None,
                };
                pending.push((notice, way));
            }
            Ok(pending)
        });
        let mut sending = JoinSet::new();
        let mut left = Left::Nothing;
        for (notice, way) in pending.await? {
            left = Left::Unseen;
            let inner = Arc::clone(&self.inner);
            sending.spawn(async move { send(inner, notice, way).await });
        }
        while let Some(sent) = sending.join_next().await {
            match sent {
                Ok(Ok(NoticeStatus::Sent | NoticeStatus::Failed)) => self.inner.troubles.is_over(RECORD),
                Ok(Ok(NoticeStatus::Pending)) | Err(_) => left = Left::Unsent,
                Ok(Err(error)) => {
                    let trouble = format!("what became of a notice could not be written down: {error}");
                    self.inner.troubles.meet(RECORD, &trouble);
                    left = Left::Unsent;
                }
            }
        }
        Ok(left)
    }
}

/// Tries one notice, and writes down what came of it.
async fn send(
    inner: Arc<Inner>,
    notice: Notice,
    way: Option<std::result::Result<Way, String>>,
) -> Result<NoticeStatus> {
    let link = inner.public_url.as_deref().and_then(|base| link(base, &notice));
    let Notice { id, mut message, mut metadata, .. } = notice;
    if let Some(link) = link {
        message.push_str(&format!("\n{link}"));
    }
    let tries = metadata["tries"].as_u64().unwrap_or(0) + 1;
    metadata["tries"] = tries.into();
    let outcome = match way {
        None => Err(("notices were switched off before it was sent".to_string(), false)),
        Some(Err(missing)) => Err((missing, false)),
        Some(Ok(_)) if tries > TRIES => {
            Err(("it was tried, and what came of it could not be written down".to_string(), false))
        }
        Some(Ok(way)) => {
            // Written down first: a disk that takes nothing must not have the same text sent for ever.
            let counted = metadata.clone();
            let count = move |tx: &mut Tx<'_>| {
                notices::tried(tx.conn(), id, NoticeStatus::Pending, None, &counted, None)
            };
            inner.store.write(count).await?;
            blocking(move || way.omni.send_text(&way.instance, &way.to, &message))
                .await?
                .map_err(|error| (error.to_string(), error.is_passing()))
        }
    };
    let (status, error) = match outcome {
        Ok(()) => (NoticeStatus::Sent, None),
        Err((why, true)) if tries < TRIES => (NoticeStatus::Pending, Some(why)),
        Err((why, _)) => {
            tracing::warn!("a notice was not sent: {why}");
            (NoticeStatus::Failed, Some(why))
        }
    };
    let written = inner.store.write(move |tx| {
        let sent_at = (status == NoticeStatus::Sent).then(|| tx.now());
        notices::tried(tx.conn(), id, status, error, &metadata, sent_at)
    });
    written.await?;
    Ok(status)
}

/// Writes a notice down when an attempt has come to a state that people want to hear of.
pub(crate) fn intend(
    tx: &Tx<'_>,
    view: &AttemptView,
    state: AttemptState,
    reason: Option<&str>,
) -> std::result::Result<(), StoreError> {
    let (kind, what) = match state {
        AttemptState::Finished => (NoticeKind::Finished, "is finished"),
        AttemptState::Failed => (NoticeKind::Failed, "has failed"),
        AttemptState::Waiting => (NoticeKind::Asked, "asks"),
        _ => return Ok(()),
    };
    let project = view.attempt.project;
    let way = match way(tx.conn(), project) {
        Ok(Some(way)) => way,
        Ok(None) => return Ok(()),
        // What happened to the attempt counts, whatever became of the settings.
        Err(StoreError::Corrupt(why)) => {
            tracing::warn!("nobody is told of attempt {}: {why}", view.attempt.id);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let title = view.task.as_ref().map_or(view.attempt.prompt.as_str(), |task| task.title.as_str());
    let mut message = format!("{} {what}", cut(title.trim(), LONGEST_TITLE));
    if let Some(reason) = reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        message.push_str(&format!(": {}", cut(reason, LONGEST_REASON)));
    }
    if let Some(project) = projects::one(tx.conn(), project)? {
        message.push_str(&format!("\n{}, branch {}", project.name, view.attempt.branch));
    }
    let metadata =
        json!({ "project_id": project, "attempt_id": view.attempt.id, "branch": view.attempt.branch });
    let recipient = way.ok().map(|way| match way.to {
        forge_hosts::Recipient::Phone(to) | forge_hosts::Recipient::User(to) => to,
    });
    let notice = Notice {
        id: NoticeId::random(),
        task: view.attempt.task,
        kind,
        status: NoticeStatus::Pending,
        recipient,
        message,
        error: None,
        metadata,
        created_at: tx.now(),
        sent_at: None,
    };
    notices::insert(tx.conn(), &notice)
}

/// Where the attempt of a notice can be looked at.
fn link(base: &str, notice: &Notice) -> Option<String> {
    let of = |key: &str| notice.metadata[key].as_str();
    let (project, attempt, task) = (of("project_id")?, of("attempt_id")?, notice.task?);
    Some(format!("{}/projects/{project}/tasks/{task}/attempts/{attempt}", base.trim_end_matches('/')))
}

fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}
