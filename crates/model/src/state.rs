//! The state machine: what a run, an attempt and a task become when something happens to them.
//!
//! These are pure functions, and the only places that decide a state. The store applies their answer with a
//! guarded update, so that two callers never both believe they moved the same thing.

/// Declares an enum whose variants have one fixed text, used by the store and the wire alike.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Returns the fixed text of this variant.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::state::UnknownName;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok($name::$variant),)*
                    _ => Err($crate::state::UnknownName {
                        text: text.to_string(),
                        known: &[$($text,)*],
                    }),
                }
            }
        }
    };
}
pub(crate) use named;

/// A text that is none of the known names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not one of {}", known.join(", "))]
pub struct UnknownName {
    pub text: String,
    pub known: &'static [&'static str],
}

/// Something that cannot happen in the state a thing is in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{happened} cannot happen to {thing} that is {state}")]
pub struct Refused {
    pub thing: &'static str,
    pub state: &'static str,
    pub happened: &'static str,
}

named! {
    /// Where a run stands.
    RunState {
        Pending = "pending",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Killed = "killed",
        /// Its shim is gone without an exit record.
        Lost = "lost",
    }
}

impl RunState {
    /// Says whether nothing can happen to the run any more.
    pub const fn is_over(self) -> bool {
        !matches!(self, RunState::Pending | RunState::Running)
    }
}

/// What can happen to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunHappened {
    /// Its process was executed.
    Spawned,
    /// Its process could not be executed.
    NotSpawned,
    /// Its process ended by itself; `ok` when it did what it was asked.
    Ended { ok: bool },
    /// A person stopped it.
    Stopped,
    /// Its shim is gone and left no exit record.
    Vanished,
}

/// Returns the state of a run after something happened to it.
pub fn run_after(state: RunState, happened: RunHappened) -> Result<RunState, Refused> {
    use RunHappened as H;
    use RunState as S;
    match (state, happened) {
        (S::Pending, H::Spawned) => Ok(S::Running),
        (S::Pending, H::NotSpawned) => Ok(S::Failed),
        (S::Running, H::Ended { ok: true }) => Ok(S::Completed),
        (S::Running, H::Ended { ok: false }) => Ok(S::Failed),
        (S::Running, H::Stopped) => Ok(S::Killed),
        (S::Running, H::Vanished) => Ok(S::Lost),
        _ => {
            let happened = match happened {
                H::Spawned => "a spawn",
                H::NotSpawned => "a failed spawn",
                H::Ended { .. } => "an end",
                H::Stopped => "a stop",
                H::Vanished => "the loss of its shim",
            };
            Err(Refused { thing: "a run", state: state.as_str(), happened })
        }
    }
}

named! {
    /// Where an attempt stands.
    AttemptState {
        /// A cap that the person set holds it back; there is no worktree and no process yet.
        Queued = "queued",
        Running = "running",
        /// An ask is open.
        Waiting = "waiting",
        /// The agent's provider will not serve it for a while.
        Limited = "limited",
        Finished = "finished",
        Failed = "failed",
        Stopped = "stopped",
    }
}

impl AttemptState {
    /// Says whether a process of the attempt is alive.
    pub const fn is_live(self) -> bool {
        matches!(self, AttemptState::Running | AttemptState::Waiting | AttemptState::Limited)
    }
}

/// What can happen to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptHappened {
    /// A run of it was started: the first, or a follow-up.
    Started,
    /// Its agent asked something.
    Asked,
    /// An ask was answered or withdrawn; `still_open` when others wait.
    Answered { still_open: bool },
    /// Its agent's provider refused to serve it for a while.
    LimitHit,
    /// The limit is over and the agent goes on.
    LimitOver,
    /// A run of it ended as `outcome`; `more` when another run follows by itself.
    RunEnded { outcome: RunState, more: bool },
    /// A person gave it up before it had a process.
    GivenUp,
}

/// Returns the state of an attempt after something happened to it.
pub fn attempt_after(state: AttemptState, happened: AttemptHappened) -> Result<AttemptState, Refused> {
    use AttemptHappened as H;
    use AttemptState as S;
    match (state, happened) {
        (S::Queued | S::Finished | S::Failed | S::Stopped, H::Started) => Ok(S::Running),
        (S::Queued, H::GivenUp) => Ok(S::Stopped),
        (S::Running | S::Waiting | S::Limited, H::Asked) => Ok(S::Waiting),
        (S::Waiting, H::Answered { still_open: true }) => Ok(S::Waiting),
        (S::Waiting, H::Answered { still_open: false }) => Ok(S::Running),
        (S::Running, H::LimitHit) => Ok(S::Limited),
        (S::Limited, H::LimitOver) => Ok(S::Running),
        (S::Running | S::Waiting | S::Limited, H::RunEnded { more: true, .. }) => Ok(S::Running),
        (S::Running | S::Waiting | S::Limited, H::RunEnded { outcome, more: false }) => match outcome {
            RunState::Completed => Ok(S::Finished),
            RunState::Failed | RunState::Lost => Ok(S::Failed),
            RunState::Killed => Ok(S::Stopped),
            RunState::Pending | RunState::Running => {
                Err(Refused { thing: "an attempt", state: state.as_str(), happened: "an end that is none" })
            }
        },
        _ => {
            let happened = match happened {
                H::Started => "a start",
                H::Asked => "an ask",
                H::Answered { .. } => "an answer",
                H::LimitHit => "a limit",
                H::LimitOver => "the end of a limit",
                H::RunEnded { .. } => "the end of a run",
                H::GivenUp => "giving up",
            };
            Err(Refused { thing: "an attempt", state: state.as_str(), happened })
        }
    }
}

named! {
    /// Where a task stands on the board.
    TaskStatus {
        Todo = "todo",
        InProgress = "inprogress",
        InReview = "inreview",
        Done = "done",
        Cancelled = "cancelled",
        /// A chat with an agent; kept off the board.
        Agent = "agent",
        Archived = "archived",
    }
}

impl TaskStatus {
    /// Reads a status in either spelling: `inprogress`, `in-progress`, `in_progress`, any case.
    pub fn read(text: &str) -> Result<Self, UnknownName> {
        let plain: String = text.chars().filter(|c| !matches!(c, '-' | '_')).collect();
        plain
            .to_ascii_lowercase()
            .parse()
            .map_err(|error: UnknownName| UnknownName { text: text.to_string(), known: error.known })
    }
}

/// What can happen to a task by itself. A person may set any status at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskHappened {
    /// A run of one of its attempts started.
    RunStarted,
    /// An agent working on it asked something.
    Asked,
    /// The last open ask was answered.
    Answered,
    /// An attempt came to rest, well or not.
    AttemptRested,
    /// Its work reached the target branch.
    Landed,
    /// Its work was taken back from the target branch.
    LandingUndone,
}

/// Returns the status of a task after something happened to it. Nothing is refused: what does not concern
/// a status leaves it as it is.
pub fn task_after(status: TaskStatus, happened: TaskHappened) -> TaskStatus {
    use TaskHappened as H;
    use TaskStatus as S;
    match (status, happened) {
        (S::Agent, _) => S::Agent,
        (_, H::RunStarted) => S::InProgress,
        (S::InProgress, H::Asked | H::AttemptRested) => S::InReview,
        (S::InReview, H::Answered) => S::InProgress,
        (_, H::Landed) => S::Done,
        (S::Done, H::LandingUndone) => S::InReview,
        (status, H::Asked | H::Answered | H::AttemptRested | H::LandingUndone) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn run_happenings() -> Vec<RunHappened> {
        use RunHappened::*;
        vec![Spawned, NotSpawned, Ended { ok: true }, Ended { ok: false }, Stopped, Vanished]
    }

    fn attempt_happenings() -> Vec<AttemptHappened> {
        use AttemptHappened::*;
        let mut all = vec![Started, Asked, LimitHit, LimitOver, GivenUp];
        all.extend([Answered { still_open: true }, Answered { still_open: false }]);
        for &outcome in RunState::ALL {
            all.extend([RunEnded { outcome, more: true }, RunEnded { outcome, more: false }]);
        }
        all
    }

    fn task_happenings() -> Vec<TaskHappened> {
        use TaskHappened::*;
        vec![RunStarted, Asked, Answered, AttemptRested, Landed, LandingUndone]
    }

    proptest! {
        #[test]
        fn a_run_that_is_over_never_moves_again(
            state in select(RunState::ALL),
            happened in select(run_happenings()),
        ) {
            if state.is_over() {
                prop_assert!(run_after(state, happened).is_err());
            }
        }

        #[test]
        fn any_story_of_a_run_ends_at_most_once(story in prop::collection::vec(select(run_happenings()), 0..20)) {
            let mut state = RunState::Pending;
            let mut ends = 0;
            for happened in story {
                if let Ok(next) = run_after(state, happened) {
                    ends += usize::from(next.is_over());
                    state = next;
                }
            }
            prop_assert!(ends <= 1);
            prop_assert_eq!(ends == 1, state.is_over());
        }

        #[test]
        fn an_attempt_waits_exactly_while_an_ask_is_open(
            story in prop::collection::vec(select(attempt_happenings()), 0..40),
        ) {
            let mut state = AttemptState::Queued;
            let mut open = 0usize;
            for happened in story {
                // Count asks as the store does, and tell the machine the truth about them.
                let happened = match happened {
                    AttemptHappened::Answered { .. } if open == 0 => continue,
                    AttemptHappened::Answered { .. } => AttemptHappened::Answered { still_open: open > 1 },
                    other => other,
                };
                let Ok(next) = attempt_after(state, happened) else { continue };
                match happened {
                    AttemptHappened::Asked => open += 1,
                    AttemptHappened::Answered { .. } => open -= 1,
                    // The end of a run closes what it had open.
                    AttemptHappened::RunEnded { .. } => open = 0,
                    _ => {}
                }
                state = next;
                prop_assert_eq!(state == AttemptState::Waiting, open > 0, "{:?} with {} open", state, open);
            }
        }

        #[test]
        fn an_attempt_at_rest_is_moved_by_a_start_alone(
            state in select(vec![AttemptState::Finished, AttemptState::Failed, AttemptState::Stopped]),
            happened in select(attempt_happenings()),
        ) {
            let moved = attempt_after(state, happened);
            prop_assert_eq!(moved.is_ok(), happened == AttemptHappened::Started);
        }

        #[test]
        fn a_chat_stays_a_chat(happened in select(task_happenings())) {
            prop_assert_eq!(task_after(TaskStatus::Agent, happened), TaskStatus::Agent);
        }

        #[test]
        fn a_task_is_done_only_by_landing(
            status in select(TaskStatus::ALL),
            happened in select(task_happenings()),
        ) {
            if task_after(status, happened) == TaskStatus::Done {
                prop_assert!(status == TaskStatus::Done || happened == TaskHappened::Landed);
            }
        }
    }

    #[test]
    fn every_name_is_read_back() {
        for &state in RunState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        for &state in AttemptState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        for &status in TaskStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
    }

    #[test]
    fn a_status_is_read_in_both_spellings() {
        assert_eq!(TaskStatus::read("in-progress"), Ok(TaskStatus::InProgress));
        assert_eq!(TaskStatus::read("INREVIEW"), Ok(TaskStatus::InReview));
        let error = TaskStatus::read("doing").unwrap_err().to_string();
        assert!(error.starts_with("\"doing\" is not one of todo, inprogress"), "{error}");
    }

    #[test]
    fn a_failed_setup_sends_the_task_to_review() {
        assert_eq!(task_after(TaskStatus::InProgress, TaskHappened::AttemptRested), TaskStatus::InReview);
    }
}
