//! When a worktree may go: a pure decision from what is known about its attempt.
//!
//! Only an attempt at rest is asked about. A clock that was put back, or an attempt dated in the future, never makes
//! anything due.

use forge_model::TaskStatus;
use serde_json::{Map, Value};

use crate::ages::Ages;
use crate::store::lodgings::Lodging;

/// How long a finished attempt whose work is in its target keeps its worktree.
const LANDED_MILLIS: i64 = 24 * HOUR;

const HOUR: i64 = 60 * 60 * 1000;

/// How long things are kept, in milliseconds; none means for ever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lifetimes {
    pub(crate) expire: Option<i64>,
    tidy: Option<i64>,
}

impl Lifetimes {
    /// Reads them from the person's settings.
    pub(crate) fn read(config: &Map<String, Value>) -> Self {
        let hours = |key: &str| {
            let hours = config.get("worktrees").and_then(|section| section.get(key)).and_then(Value::as_i64);
            hours.map(|hours| hours.saturating_mul(HOUR))
        };
        Self { expire: hours("expire_after_hours"), tidy: hours("tidy_after_hours") }
    }
}

/// What is due for a worktree, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    /// Its ignored directories go.
    Tidy(String),
    /// The worktree goes, if nobody has worked in it since the last turn.
    Remove(String),
    /// The worktree goes because a person said that they are done with it.
    RemoveNow(String),
}

/// Decides what is due. `is_landed` is asked only when it matters, because it takes a git call.
pub(crate) fn due(
    lodging: &Lodging,
    lifetimes: Lifetimes,
    ages: &Ages,
    is_landed: impl FnOnce() -> bool,
) -> Due {
    if lodging.status == Some(TaskStatus::Archived) {
        return Due::RemoveNow("its task is archived".to_string());
    }
    let idle = ages.of(lodging.active);
    if lifetimes.expire.is_some_and(|limit| (0..).contains(&idle) && idle >= limit) {
        return Due::Remove(format!("nothing happened to it for {} hours", idle / HOUR));
    }
    let is_completed = matches!(lodging.status, Some(TaskStatus::Done | TaskStatus::Cancelled));
    let Some(limit) = lifetimes.tidy.filter(|_| is_completed) else { return Due::Nothing };
    let since = lodging.task_changed.map_or(idle, |changed| idle.min(ages.of(changed)));
    if since < limit {
        return Due::Nothing;
    }
    if !lodging.is_tidied {
        return Due::Tidy("its task is completed".to_string());
    }
    if since >= LANDED_MILLIS && lifetimes.expire.is_some() && is_landed() {
        return Due::Remove(format!("its work is in {}", lodging.target_branch));
    }
    Due::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_model::{AttemptId, Time};
    use serde_json::json;

    const NOW: i64 = 1_000 * HOUR;

    fn lodging(status: Option<TaskStatus>, idle_hours: i64) -> Lodging {
        Lodging {
            attempt: AttemptId::random(),
            repository: "/repository".into(),
            worktree: "/worktree".into(),
            branch: "forge/x".into(),
            target_branch: "main".into(),
            status,
            is_tidied: false,
            task_changed: None,
            active: Time::from_millis(NOW - idle_hours * HOUR),
        }
    }

    fn right() -> Ages {
        Ages::right_at(Time::from_millis(NOW))
    }

    fn decided(lodging: &Lodging, landed: bool) -> Due {
        let config = json!({"worktrees": {"expire_after_hours": 72, "tidy_after_hours": 1}});
        due(lodging, Lifetimes::read(config.as_object().unwrap()), &right(), || landed)
    }

    #[test]
    fn an_attempt_that_nobody_touched_for_three_days_expires() {
        assert_eq!(decided(&lodging(Some(TaskStatus::InReview), 71), true), Due::Nothing);
        assert!(matches!(decided(&lodging(Some(TaskStatus::InReview), 72), false), Due::Remove(_)));
        assert!(matches!(decided(&lodging(None, 80), false), Due::Remove(_)));
    }

    #[test]
    fn a_completed_task_is_tidied_first_and_its_worktree_goes_when_the_work_has_landed() {
        let mut done = lodging(Some(TaskStatus::Done), 2);
        assert!(matches!(decided(&done, true), Due::Tidy(_)));
        done.is_tidied = true;
        assert_eq!(decided(&done, true), Due::Nothing);
        done.active = Time::from_millis(NOW - 30 * HOUR);
        assert_eq!(decided(&done, false), Due::Nothing);
        assert_eq!(decided(&done, true), Due::Remove("its work is in main".into()));
    }

    #[test]
    fn what_is_dated_in_the_future_is_never_due() {
        assert_eq!(decided(&lodging(Some(TaskStatus::Done), -100), true), Due::Nothing);
        let config = json!({"worktrees": {"expire_after_hours": 0, "tidy_after_hours": 0}});
        let lifetimes = Lifetimes::read(config.as_object().unwrap());
        let ahead = lodging(None, -1);
        assert_eq!(due(&ahead, lifetimes, &right(), || true), Due::Nothing);
    }

    #[test]
    fn an_archived_task_needs_no_waiting_and_null_keeps_for_ever() {
        assert!(matches!(decided(&lodging(Some(TaskStatus::Archived), 0), false), Due::RemoveNow(_)));
        let config = json!({"worktrees": {"expire_after_hours": null, "tidy_after_hours": null}});
        let lifetimes = Lifetimes::read(config.as_object().unwrap());
        let old = lodging(Some(TaskStatus::Done), 900);
        assert_eq!(due(&old, lifetimes, &right(), || true), Due::Nothing);
    }
}
