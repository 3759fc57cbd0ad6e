//! What an import is told, and what it came to, on the wire.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, may, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

pub(crate) const IMPORT: Body = Body::new(
    "Import",
    &[need(names::IMPORT_SOURCE), may(names::IMPORT_PATH), may(names::IMPORT_IMAGES), may(names::DRY_RUN)],
);

/// Reads what is to be imported.
pub(crate) fn import_request(fields: &Fields) -> Result<forge_engine::ImportRequest, Problem> {
    let product = fields.one_of(names::IMPORT_SOURCE)?;
    let path = |name| fields.filled_text(name).map(|path| path.map(PathBuf::from));
    Ok(forge_engine::ImportRequest {
        product: product.ok_or_else(|| {
            fields.refuse(names::IMPORT_SOURCE, "must be \"automagik-forge\" or \"vibe-kanban\"")
        })?,
        path: path(names::IMPORT_PATH)?,
        images: path(names::IMPORT_IMAGES)?,
        dry_run: fields.flag(names::DRY_RUN)?.unwrap_or(false),
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportReport {
    /// Whose data it turned out to be: `automagik-forge` or `vibe-kanban`.
    source: &'static str,
    database: String,
    /// How many changes the schema of that database has seen, and the newest of them.
    migrations: u64,
    newest_migration: i64,
    dry_run: bool,
    /// Of each kind of thing, what became of it.
    things: Vec<ImportCount>,
    logs: ImportedLogs,
    /// What was not carried over, or is otherwise than one might think, in sentences.
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ImportCount {
    /// The word for many of them, such as `tasks`.
    kind: &'static str,
    found: u64,
    added: u64,
    /// Changed there since the last import, and here too now.
    updated: u64,
    unchanged: u64,
    /// Changed there and edited here: what is here stays.
    kept: u64,
    /// Removed here since the last import, and not brought back.
    removed_here: u64,
    /// Could not be carried over.
    skipped: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ImportedLogs {
    written: u64,
    bytes: u64,
    bad_lines: u64,
    other_records: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ImportUnderWay {
    is_running: bool,
    /// How many tasks were carried over, of how many; both are 0 until they were counted.
    done: u64,
    total: u64,
}

impl From<forge_engine::ImportReport> for ImportReport {
    fn from(report: forge_engine::ImportReport) -> Self {
        let things = report.things.into_iter().map(|count| ImportCount {
            kind: count.kind,
            found: count.found,
            added: count.added,
            updated: count.updated,
            unchanged: count.unchanged,
            kept: count.kept,
            removed_here: count.removed_here,
            skipped: count.skipped,
        });
        let logs = report.logs;
        Self {
            source: report.product.as_str(),
            database: report.database.to_string_lossy().into_owned(),
            migrations: report.migrations as u64,
            newest_migration: report.newest_migration,
            dry_run: report.dry_run,
            things: things.collect(),
            logs: ImportedLogs {
                written: logs.written,
                bytes: logs.bytes,
                bad_lines: logs.bad_lines,
                other_records: logs.other_records,
            },
            notes: report.notes,
        }
    }
}

impl From<Option<forge_engine::ImportProgress>> for ImportUnderWay {
    fn from(progress: Option<forge_engine::ImportProgress>) -> Self {
        let (done, total) = progress.map_or((0, 0), |progress| (progress.done as u64, progress.total as u64));
        Self { is_running: progress.is_some(), done, total }
    }
}
