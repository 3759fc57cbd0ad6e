//! The forge binary under test: the one that was given, or one that is built now.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

/// How the binary is built when none is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

/// Returns the binary that was given, by its whole path, or builds one.
pub(crate) fn find(given: Option<&Path>, profile: Profile) -> anyhow::Result<PathBuf> {
    match given {
        Some(path) => path.canonicalize().with_context(|| format!("could not find {}", path.display())),
        None => build(profile),
    }
}

fn build(profile: Profile) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(&cargo);
    build.args(["build", "--quiet", "--package", "forge", "--message-format", "json-render-diagnostics"]);
    if profile == Profile::Release {
        build.arg("--release");
    }
    let built = build
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not run {}", cargo.display()))?;
    if !built.status.success() {
        bail!("the forge binary could not be built");
    }
    // Cargo says where it put the binary; the target directory may be anywhere.
    let executable = built.stdout.split(|byte| *byte == b'\n').find_map(|line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let is_forge = message["target"]["name"] == "forge" && message["target"]["kind"][0] == "bin";
        message["executable"].as_str().filter(|_| is_forge).map(PathBuf::from)
    });
    executable.context("cargo did not say where it put the forge binary")
}
