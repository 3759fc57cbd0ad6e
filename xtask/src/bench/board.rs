//! The board in a real browser: a script drives it and tells each row; here they are only read.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::{Row, Size};

/// A row as the script prints it, one a line.
#[derive(Deserialize)]
struct Told {
    what: String,
    measured: String,
    floor: String,
    limit: String,
    figure: Option<f64>,
    ok: bool,
}

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let journeys = root.join("e2e/board");
    let installed = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund"])
        .current_dir(&journeys)
        .stdout(Stdio::null())
        .status()
        .context("could not run npm, which installs what drives the browser")?;
    if !installed.success() {
        bail!("could not install what drives the browser: npm ci ended with {installed}");
    }
    let output = Command::new("node")
        .arg("measure.mjs")
        .args(size.of(None, Some("--small")))
        .current_dir(&journeys)
        .env("FORGE_BIN", forge)
        .stderr(Stdio::inherit())
        .output()
        .context("could not run node, which drives the browser")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<Row> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).map(row).collect();
    if rows.is_empty() || !output.status.success() {
        bail!("the measuring of the board broke off after {} rows", rows.len());
    }
    Ok(rows)
}

fn row(told: Told) -> Row {
    let Told { what, measured, floor, limit, figure, ok } = told;
    // A few words that are printed at the end of the program's life.
    Row { what: Box::leak(what.into_boxed_str()), measured, floor, limit, figure, ok }
}
