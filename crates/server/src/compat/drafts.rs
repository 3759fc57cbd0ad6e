//! The drafts of a project's attempts as a map, with an entry for every attempt: who has the map may take a
//! missing entry for one that is still being loaded.

use forge_engine::{Change, Changed, Engine, Positioned};
use forge_model::{AttemptId, DraftKind, ProjectId};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Document, News, Whole};
use crate::wire::Draft;

/// The drafts of a project's attempts.
#[derive(Debug)]
pub(crate) struct Drafts(pub(crate) ProjectId);

/// The drafts of an attempt, one of them, or none.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DraftValue {
    Both { follow_up: Box<Draft>, retry: Option<Box<Draft>> },
    One(Box<Draft>),
    Nothing(()),
}

impl Document for Drafts {
    type Id = AttemptId;
    type Value = DraftValue;
    const NAME: &'static str = "drafts";

    async fn whole(&self, engine: &Engine) -> forge_engine::Result<Whole<AttemptId, DraftValue>> {
        let drafts = engine.drafts(self.0).await?;
        let items = drafts.attempts.into_iter().map(|of| (of.attempt, both(of.follow_up, of.retry)));
        Ok(Positioned { seq: drafts.seq, items: items.collect() })
    }

    fn news(&self, changes: &[Changed]) -> Vec<News<AttemptId, DraftValue>> {
        let ours = changes.iter().filter(|changed| changed.project == Some(self.0));
        ours.filter_map(|changed| news(&changed.change, changes)).collect()
    }
}

fn news(change: &Change, all: &[Changed]) -> Option<News<AttemptId, DraftValue>> {
    Some(match change {
        Change::Attempt { id, value: Some(view), .. } => {
            let empty = || forge_model::Draft::empty(*id, DraftKind::FollowUp, view.attempt.created_at);
            let follow_up = written(all, *id, DraftKind::FollowUp).unwrap_or_else(empty);
            News::Exists(*id, both(follow_up, written(all, *id, DraftKind::Retry)))
        }
        Change::Attempt { id, value: None, .. } => News::IsNot(*id),
        Change::Draft { attempt, kind, value: Some(draft), .. } => {
            News::Part(*attempt, kind.as_str(), DraftValue::One(Box::new(draft.clone().into())))
        }
        Change::Draft { attempt, kind: DraftKind::Retry, value: None, .. } => {
            News::Part(*attempt, DraftKind::Retry.as_str(), DraftValue::Nothing(()))
        }
        // A follow-up goes with its attempt only, and that is told as such.
        _ => return None,
    })
}

/// Returns a draft among changes: one of a new attempt was changed together with it, or will be.
fn written(changes: &[Changed], of: AttemptId, wanted: DraftKind) -> Option<forge_model::Draft> {
    changes.iter().find_map(|changed| match &changed.change {
        Change::Draft { attempt, kind, value, .. } if *attempt == of && *kind == wanted => value.clone(),
        _ => None,
    })
}

fn both(follow_up: forge_model::Draft, retry: Option<forge_model::Draft>) -> DraftValue {
    DraftValue::Both {
        follow_up: Box::new(follow_up.into()),
        retry: retry.map(|draft| Box::new(draft.into())),
    }
}
