//! The git room against real repositories, with a home of its own for every test.

#![expect(clippy::unwrap_used, reason = "clippy lets tests unwrap, but not the functions that they share")]

mod world;

mod branches;
mod bringing_back;
mod chains;
mod commits;
mod diffs;
mod history;
mod hostile;
mod landing;
mod limits;
mod listing;
mod opening;
mod pruned;
mod ready;
mod rebasing;
mod remotes;
mod removal;
mod restoring;
mod smart_http;
mod snapshots;
mod tidying;
mod wanted;
mod watching;
mod worktrees;
