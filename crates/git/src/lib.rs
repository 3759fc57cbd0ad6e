//! The git binary: branches, worktrees, commits and snapshots of a person's repository.
//!
//! Knows paths, refs and commits, and never hears of a task or an attempt. Everything is done by calling `git`;
//! a repository is treated as hostile, so nothing that its own config names is run, with one exception that its
//! caller asks for: the person's hooks, in [`Worktree::commit_all`] and [`Repo::push`].

mod aside;
mod binary;
mod blobs;
mod branches;
mod bring_back;
mod call;
mod changes;
mod checkout;
mod commit;
mod compare;
mod converted;
mod delete;
mod diff;
mod drivers;
mod error;
mod fetch;
mod files;
mod fingerprint;
mod forward;
mod handover;
mod index_file;
mod init;
mod limit;
mod listing;
mod merge;
mod names;
mod placing;
mod plain_refs;
mod private;
mod push;
mod put_back;
mod queue;
mod ready;
mod rebase;
mod rechain;
mod redact;
mod remotes;
mod remove;
mod replay;
mod repo;
mod reset;
mod restore;
mod scratch;
mod snapshot;
mod squash;
mod standing;
mod tidy;
mod transport;
mod tree_diff;
mod wanted;
mod watch;
mod worktrees;

pub use binary::Git;
pub use branches::Branch;
pub use bring_back::{Return, Returned};
pub use checkout::Worktree;
pub use commit::{CommitRequest, Committed};
pub use diff::{
    ChangeKind, Content, Counts, Diff, DiffBase, Differ, FileChange, LARGEST_CONTENT, MOST_CONTENT, Version,
};
pub use error::{Error, Failure, Result};
pub use fetch::{FetchRequest, Fetched};
pub use files::{FileState, Marks, Staged};
pub use fingerprint::{Fingerprint, GitFile, Places, Stashed};
pub use listing::Listing;
pub use merge::{Conflict, Merged};
pub use names::check_branch_name;
pub use push::{PushRequest, Pushed};
pub use put_back::Entries;
pub use ready::{Ready, Weight};
pub use rebase::Rebase;
pub use redact::redact;
pub use remotes::Remote;
pub use replay::Replayed;
pub use repo::Repo;
pub use restore::{RestoreRequest, Restored};
pub use snapshot::{Holds, LeftOut, Limits, Snapshot, SnapshotRequest, Why};
pub use standing::{Operation, Standing};
pub use transport::{Credential, Refusal};
pub use tree_diff::Tally;
pub use watch::{TreeWatch, TreeWatcher, Watched};
pub use worktrees::{NewWorktree, WorktreeInfo};
