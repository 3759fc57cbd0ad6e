//! The git room against real repositories, with a home of its own for every test.

mod world;

mod branches;
mod commits;
mod hostile;
mod opening;
mod removal;
mod snapshots;
mod worktrees;
