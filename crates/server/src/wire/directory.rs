//! Directories on the wire.

use forge_engine::Listing;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DirectoryEntry {
    name: String,
    path: String,
    is_directory: bool,
    is_git_repo: bool,
    /// How many seconds ago it was changed, where that is known.
    last_modified: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DirectoryListResponse {
    entries: Vec<DirectoryEntry>,
    current_path: String,
}

impl From<forge_engine::DirectoryEntry> for DirectoryEntry {
    fn from(entry: forge_engine::DirectoryEntry) -> Self {
        Self {
            name: entry.name,
            path: entry.path.to_string_lossy().into_owned(),
            is_directory: entry.is_directory,
            is_git_repo: entry.is_git_repo,
            last_modified: entry.seconds_since_change,
        }
    }
}

impl From<Listing> for DirectoryListResponse {
    fn from(listing: Listing) -> Self {
        Self {
            entries: super::list(listing.entries),
            current_path: listing.path.to_string_lossy().into_owned(),
        }
    }
}
