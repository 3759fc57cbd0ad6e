//! A finding: something outside an attempt's worktree that changed while one of its runs was at work.
//!
//! Who changed it is not known; a person may work in their repository at the same time. So a finding is shown, can be
//! taken back, and is never undone unasked.

use serde::{Deserialize, Serialize};

use crate::state::named;
use crate::{AttemptId, FindingId, RunId, Time};

/// Something outside an attempt's worktree that changed during one of its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub id: FindingId,
    pub attempt: AttemptId,
    pub run: Option<RunId>,
    pub kind: FindingKind,
    /// What changed: a reference, a path.
    pub subject: String,
    /// How it was; none when it did not exist.
    pub before: Option<Side>,
    /// How it was found; none when it was gone.
    pub after: Option<Side>,
    pub state: FindingState,
    pub created_at: Time,
    pub settled_at: Option<Time>,
}

named! {
    /// What kind of thing changed.
    FindingKind {
        /// A branch, a tag or another reference.
        Ref = "ref",
        /// HEAD of the person's checkout.
        Head = "head",
        Stash = "stash",
        Config = "config",
        Hook = "hook",
        /// Another file of the git directory that steers git: in `info`, where history ends, a log, a lock.
        Info = "info",
        /// A linked worktree that is not the attempt's.
        Worktree = "worktree",
        /// What is staged in the person's checkout.
        Index = "index",
        /// A file of the person's checkout.
        File = "file",
        /// The attempt's own worktree: its HEAD, or its tie to the repository.
        Own = "own",
    }
}

named! {
    /// Where a finding stands.
    FindingState {
        Seen = "seen",
        /// It is as it was before; Forge may have done that itself, where nothing could be lost.
        Restored = "restored",
        /// The person wants it as it is.
        Dismissed = "dismissed",
    }
}

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Side {
    /// What people are shown of it.
    pub shown: String,
    /// The thing itself where it is a text: an object, what HEAD says, a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The hash of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The content is kept, under its hash.
    #[serde(default, skip_serializing_if = "is_false")]
    pub kept: bool,
    /// The blob of the repository that has the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// So many files changed with it that they go back together with it, and are not told one by one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub with_files: bool,
}

impl Finding {
    /// Says whether what changed can be put back by one act.
    pub fn can_restore(&self) -> bool {
        let known = |side: &Option<Side>| side.as_ref().is_none_or(|side| side.kept || side.blob.is_some());
        self.state == FindingState::Seen
            && match self.kind {
                FindingKind::Ref
                | FindingKind::Head
                | FindingKind::Stash
                | FindingKind::Index
                | FindingKind::Own => true,
                FindingKind::Config | FindingKind::Hook | FindingKind::Info | FindingKind::File => {
                    known(&self.before) && (self.before.is_some() || self.after.is_some())
                }
                FindingKind::Worktree => false,
            }
    }

    /// Says in a sentence what was found.
    pub fn sentence(&self) -> String {
        let subject = match self.kind {
            FindingKind::Head => "HEAD of your checkout".to_string(),
            FindingKind::Stash => "your stash".to_string(),
            FindingKind::Index => "what is staged in your checkout".to_string(),
            FindingKind::File => format!("{} in your checkout", self.subject),
            FindingKind::Worktree => format!("the worktree {}", self.subject),
            FindingKind::Ref => self.subject.clone(),
            FindingKind::Own => format!("{} of the attempt's own worktree", self.subject),
            FindingKind::Config | FindingKind::Hook | FindingKind::Info => {
                format!("{} in the git directory", self.subject)
            }
        };
        match (&self.before, &self.after) {
            (None, Some(after)) => format!("{subject} appeared during the turn: {}", after.shown),
            (Some(before), None) => format!("{subject} vanished during the turn; it was {}", before.shown),
            (Some(before), Some(after)) => {
                format!("{subject} changed during the turn from {} to {}", before.shown, after.shown)
            }
            (None, None) => format!("{subject} changed during the turn"),
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FindingKind, before: Option<Side>, after: Option<Side>) -> Finding {
        Finding {
            id: FindingId::random(),
            attempt: AttemptId::random(),
            run: None,
            kind,
            subject: "notes.txt".into(),
            before,
            after,
            state: FindingState::Seen,
            created_at: Time::from_millis(0),
            settled_at: None,
        }
    }

    #[test]
    fn a_file_comes_back_only_if_its_content_is_known() {
        let unknown = Side { shown: "3 bytes".into(), ..Side::default() };
        let kept = Side { kept: true, hash: Some("00".into()), ..unknown.clone() };
        let blob = Side { blob: Some("00".into()), ..unknown.clone() };
        let file = |before| finding(FindingKind::File, before, Some(unknown.clone()));
        assert!(!file(Some(unknown.clone())).can_restore());
        assert!(file(Some(kept)).can_restore() && file(Some(blob)).can_restore() && file(None).can_restore());
        let settled = Finding { state: FindingState::Dismissed, ..file(None) };
        assert!(!settled.can_restore());
        assert!(!finding(FindingKind::Worktree, None, Some(unknown.clone())).can_restore());
    }

    #[test]
    fn a_sentence_blames_nobody() {
        let side = |shown: &str| Some(Side { shown: shown.into(), ..Side::default() });
        let text = finding(FindingKind::File, side("a"), side("b")).sentence();
        assert_eq!(text, "notes.txt in your checkout changed during the turn from a to b");
        assert!(finding(FindingKind::File, None, side("b")).sentence().contains("appeared during the turn"));
        assert!(finding(FindingKind::File, side("a"), None).sentence().contains("vanished during the turn"));
    }
}
