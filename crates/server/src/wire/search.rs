//! Files that were found, on the wire.

use forge_engine::{FoundFile, Matched, SearchFor};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SearchResult {
    /// The path from the top of the project.
    path: String,
    is_file: bool,
    match_type: SearchMatchType,
}

#[derive(Debug, Serialize, JsonSchema)]
enum SearchMatchType {
    FileName,
    DirectoryName,
    FullPath,
}

impl From<FoundFile> for SearchResult {
    fn from(found: FoundFile) -> Self {
        let match_type = match found.matched {
            Matched::FileName => SearchMatchType::FileName,
            Matched::DirectoryName => SearchMatchType::DirectoryName,
            Matched::FullPath => SearchMatchType::FullPath,
        };
        Self { path: found.path, is_file: found.is_file, match_type }
    }
}

/// Reads what is searched for. Older clients send words of the answer here, and mean the usual.
pub(crate) fn search_for(mode: Option<String>) -> SearchFor {
    match mode.as_deref() {
        Some("settings") => SearchFor::Settings,
        _ => SearchFor::Prompt,
    }
}
