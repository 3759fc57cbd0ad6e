//! The verbs of Forge: everything that can be done to projects, tasks and attempts.
//!
//! This is the only room that writes: the database, worktrees, processes. It serves no HTTP, and its store
//! is a private module, so no SQL can live anywhere else.

mod activity;
mod acts;
mod agent_files;
mod ages;
mod aside;
mod ask_rules;
mod asks;
mod attempts;
mod availability;
mod background;
mod backup;
mod board;
mod branch_status;
mod bring_back;
mod broken_chains;
mod browse;
mod calm;
mod chain;
mod clean;
mod comments;
mod config;
mod conflicts;
mod copied_files;
mod database;
mod delete_file;
mod demo;
mod desk;
mod detect;
mod dev_server;
mod diffs;
mod disk;
mod drafts;
mod drive;
mod editor;
mod entries;
mod error;
mod events;
mod findings;
mod finish;
mod fold;
mod folding;
mod follow_up;
mod forge_tools;
mod fork;
mod gc;
mod genie_agents;
mod genie_files;
mod github;
mod github_token;
mod go_on;
mod guard;
mod held;
mod identity;
mod image_kind;
mod images;
mod import;
mod in_place;
mod info;
mod input;
mod intent;
mod keep;
mod keep_again;
mod kept_tasks;
mod land;
mod launch;
mod leftovers;
mod lifetime;
mod limited;
mod limits;
mod logs;
mod loose;
mod machine;
mod maps;
mod marks;
mod mcp_servers;
mod memo;
mod moves;
mod notices;
mod occupants;
mod old_logs;
mod old_removals;
mod older_place;
mod omni;
mod once;
mod open;
mod orphans;
mod paths;
mod pool;
mod ports;
mod private_file;
mod profiles;
mod project_branch;
mod project_settings;
mod projects;
mod pull_request;
mod pull_request_polls;
mod pulse;
mod push;
mod queue;
mod rebase;
mod reclaim;
mod reconcile;
mod reconcile_acts;
mod recover;
mod releases;
mod relocate;
mod remove;
mod replace;
mod reserve;
mod restore;
mod retention;
mod roots;
mod rules;
mod script;
mod script_settings;
mod seam;
mod search;
mod shape;
mod silent;
mod site;
mod snapshots;
mod sounds;
mod stale_locks;
mod stalled;
mod standing_agents;
mod start;
mod stop;
mod store;
mod strays;
mod subtasks;
mod surroundings;
mod tags;
mod target;
mod tasks;
mod templates;
mod travel;
mod troubles;
mod turns;
mod undo_landing;
mod unsent;
mod usage;
mod views;
mod vitals;
mod warnings;
mod worktree;
mod worktree_images;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

pub use forge_hosts::github::Address as GitHubAddress;
use forge_model::RunId;

pub use asks::{AskFilter, NewAsk};
pub use availability::{Availability, Found, LoggedIn};
pub use backup::Backup;
pub use board::Board;
pub use branch_status::{BranchStatus, CommitComparison, CommitInfo};
pub use browse::{DirectoryEntry, Listing, OUTSIDE};
pub use comments::{CommentChange, NewComment};
pub use config::{ConfigChange, config_schema};
pub use demo::Demo;
pub use diffs::{DiffFile, DiffOf, DiffSet, DiffStep, DiffTurn, DiffView, DiffWanted, FileVersion};
pub use disk::{AttemptUse, DiskUse, ProjectUse};
pub use drafts::{AttemptDrafts, DraftChange, DraftQueue, ProjectDrafts};
pub use editor::OpenEditor;
pub use entries::{
    EntriesFrom, EntryBatch, EntryHit, EntryPlace, EntryTail, EntryWindow, FoundEntries, PlacedEntry,
    RunEntries, WindowAt,
};
pub use error::{Error, ErrorKind, Result};
pub use events::{Change, Changed, Changes};
pub use follow_up::{Delivered, FollowUp, FollowedUp};
pub use forge_git::{ChangeKind, Content, Counts, FileChange, Operation, Standing, Tally};
pub use forge_hosts::{Instance, Secret};
pub use gc::{Cleaned, Left, Swept, What};
pub use genie_agents::{AgentFile, AgentFileWarning, AgentFiles, agent_files_at};
pub use github::{GitHubLogin, GitHubOptions, LoginProgress};
pub use guard::GUARDED_HOOKS;
pub use images::{LARGEST_IMAGE, NewImage};
pub use import::{ImportCount, ImportProgress, ImportReport, ImportRequest, ImportedLogs, Product};
pub use info::{Info, Machine};
pub use land::{Land, Landed};
pub use logs::{Chunk, ChunkStream, LogBatch, LogEnd, LogTail};
pub use machine::{agents_here, free_bytes, git_here};
pub use maps::Positioned;
pub use marks::Dismiss;
pub use mcp_servers::{McpChange, McpServers};
pub use omni::{OmniKey, OmniStatus};
pub use once::Key;
pub use open::{AgentEnvironment, Options};
pub use profiles::{NewProfiles, ProfilesFile};
pub use project_branch::{ProjectBranch, Pulled};
pub use project_settings::SettingsChange;
pub use projects::{Branch, NewProject, ProjectChange};
pub use pull_request::{AttachedPullRequest, NewPullRequest};
pub use push::PushedAttempt;
pub use queue::{QueueChange, QueueItem};
pub use rebase::{RebaseRequest, Rebased};
pub use recover::{KeptFiles, Recovered, RemovedThing};
pub use releases::Release;
pub use replace::{Replace, Replaced, Told};
pub use restore::{RestoreFiles, RestoredFiles};
pub use seam::Seam;
pub use search::{FoundFile, Matched, SearchFor};
pub use snapshots::{LeftOut, SnapshotView};
pub use start::{NewAttempt, NewLooseAttempt, StartTask, Started, StartedLoose};
pub use store::removed::Kind as RemovedKind;
pub use subtasks::MOST_SUBTASKS;
pub use tags::{NewTag, TagChange};
pub use tasks::{NewTask, TaskChange, TaskPlace};
pub use templates::{NewTemplate, TemplateChange, TemplatesOf};
pub use usage::{UsageBy, UsageOf, UsageSum};
pub use views::{AttemptView, Card, ChangeSum, Family, Limited, Overview, TaskView, Todos};
pub use vitals::Vitals;

use drive::Handle;
use once::Calls;
use paths::Paths;
use store::Store;

/// The engine: cheap to clone, shared by everything that serves people.
///
/// Its verbs are in the files named after them: `projects`, `tasks`, `attempts`, `start`, `follow_up`,
/// `asks`, `stop`, `events`, `logs`; what they lead to is in `drive` and `finish`, and what a restart leads
/// to in `reconcile`.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    paths: Paths,
    store: Store,
    git: forge_git::Git,
    /// The repositories that were opened, by the path of their project.
    repos: Mutex<HashMap<std::path::PathBuf, forge_git::Repo>>,
    silent: silent::Silent,
    /// The paths of projects whose own filters the person trusts.
    trusted: Mutex<std::collections::HashSet<std::path::PathBuf>>,
    watcher: forge_process::Watcher,
    /// The content-named copy of the binary that plays the shim, once it is there.
    shim: tokio::sync::OnceCell<std::path::PathBuf>,
    forge: std::path::PathBuf,
    seam: Seam,
    agents: AgentEnvironment,
    /// Where people reach this server from elsewhere; for links in notices.
    public_url: Option<String>,
    github: github::Host,
    /// The person's home: where they may look around, and where their agents keep their settings.
    user_home: Option<std::path::PathBuf>,
    agent_dirs: std::collections::BTreeMap<&'static str, std::path::PathBuf>,
    /// The runs that a task of this server looks after.
    handles: Mutex<HashMap<RunId, Arc<Handle>>>,
    calls: Calls,
    /// Whether anybody waits for a start.
    calm: calm::Calm,
    /// Checkouts of people whose files are listed, by their top.
    listing: turns::Turns,
    /// What is known of the reflogs of each repository, by its git directory.
    reflogs: detect::reflogs::Known,
    aside: aside::Aside,
    /// Landings, by their repository.
    landings: turns::Turns,
    line: Arc<held::Line>,
    limited: Arc<limited::Bell>,
    last_limits: limits::LastLimits,
    /// Whether work waits to be kept.
    owed: Arc<keep_again::Owed>,
    disk: disk::LastLook,
    demo: demo::Makers,
    troubles: troubles::Troubles,
    crowds: logs::Crowds,
    entries: entries::Hub,
    kept_tasks: kept_tasks::KeptTasks,
    /// Where older tools look for worktrees.
    older_place: Option<older_place::OlderPlace>,
    /// Worktrees that were made ahead.
    pool: pool::Pool,
    pulse: Arc<pulse::Pulse>,
    diffs: diffs::Diffs,
    /// What readers of changes share.
    recent: events::Recent,
    /// Held while a file that people edit too is read, changed and written.
    files: Mutex<()>,
    /// Held while a picture and its row come or go together.
    images: tokio::sync::Mutex<()>,
    importing: import::Importing,
    /// Unknown worktrees are cleaned up, and not only told.
    clean_strays: bool,
    /// Held while worktrees are cleaned up.
    sweeping: tokio::sync::Mutex<()>,
    /// Worktrees that are brought back, or go, by their attempt.
    returning: turns::Turns,
    /// What was touched last in the projects that were searched.
    histories: search::Histories,
    warnings: warnings::Warnings,
    /// Which data directory this is, and whether it is a copy.
    identity: identity::Identity,
    /// Held for the life of the engine: nobody else writes to this data directory.
    _lock: open::Lock,
}

impl Engine {
    /// The data directory.
    pub fn home(&self) -> &Path {
        &self.inner.paths.home
    }

    /// Why this data directory can only be read; none unless it is a copy of another.
    pub fn copy(&self) -> Option<&str> {
        self.inner.identity.copy.as_deref()
    }

    /// Refuses to change anything in a copy. The store refuses too, but some verbs do something before they write.
    pub(crate) fn may_change(&self) -> Result<()> {
        match self.copy() {
            Some(why) => Err(Error::conflict(why).with_code("copy")),
            None => Ok(()),
        }
    }

    /// The ids that processes of this data directory carry.
    pub(crate) fn owners(&self) -> Vec<String> {
        self.inner.identity.owners.clone()
    }
}
