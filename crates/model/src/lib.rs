//! The nouns of Forge: ids, entities, and the state machine that moves them.
//!
//! Nothing here does IO: no tokio, no SQL, no clock. A function that needs the time is given it.

mod ask;
mod attempt;
mod comment;
mod draft;
pub mod entry;
mod event;
mod finding;
mod id;
mod image;
mod merge;
mod notice;
mod profile;
mod project;
mod rule;
mod run;
pub mod slug;
mod standing_agent;
pub mod state;
mod tag;
mod task;
mod template;
mod time;

pub use ask::{Answer, Ask, AskKind, AskState};
pub use attempt::{Attempt, Manner, Usage};
pub use comment::{Comment, CommentSide};
pub use draft::{Draft, DraftKind};
pub use entry::Entry;
pub use event::{Event, Noun, Op};
pub use finding::{Finding, FindingKind, FindingState, Side};
pub use id::{
    AskId, AttemptId, CommentId, DraftId, FindingId, IdError, ImageId, MergeId, NoticeId, ProjectId, RunId,
    StandingAgentId, TagId, TaskId, TemplateId,
};
pub use image::{Image, with_absolute_images, with_images_in};
pub use merge::{Checks, Merge, MergeKind, PullRequest, PullRequestStatus};
pub use notice::{Notice, NoticeKind, NoticeStatus};
pub use profile::{ProfileId, ProfileIdError};
pub use project::Project;
pub use rule::{Rule, RuleAbout, RuleEffect};
pub use run::{FirstTurn, Run, RunKind};
pub use standing_agent::StandingAgent;
pub use state::{AttemptState, Refused, RunState, TaskStatus};
pub use tag::Tag;
pub use task::Task;
pub use template::Template;
pub use time::Time;
