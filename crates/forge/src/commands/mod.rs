//! The verbs of the command line, one file each: what it takes and what it does.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod asks;
pub(crate) mod diff;
pub(crate) mod disk;
pub(crate) mod findings;
pub(crate) mod follow_up;
pub(crate) mod gc;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod queue;
pub(crate) mod recover;
pub(crate) mod restore;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod snapshots;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod trust;
pub(crate) mod usage;
pub(crate) mod wait;
