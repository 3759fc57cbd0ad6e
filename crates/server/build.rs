//! Puts the built board into the server: a table of the files in `web/dist`, which is empty where nobody built it.
//!
//! The files are copied first, so that a board which is built anew meanwhile cannot be half in here. A file `x.gz`
//! beside `x` is the same file, compressed.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let dist = manifest.join("../../web/dist");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut paths = Vec::new();
    collect(&dist, "", &mut paths)?;
    paths.sort();
    let mut table = String::from("&[\n");
    for (index, path) in paths.iter().enumerate() {
        let compressed = path.ends_with(".gz") && paths.iter().any(|plain| format!("{plain}.gz") == *path);
        if compressed {
            continue;
        }
        let bytes = copy(&dist, path, &out.join(format!("board-{index}")))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        let gzip = format!("{path}.gz");
        let gzip = match paths.contains(&gzip) {
            true => {
                copy(&dist, &gzip, &out.join(format!("board-{index}.gz")))?;
                format!("Some(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/board-{index}.gz\")))")
            }
            false => "None".to_string(),
        };
        let etag = format!("\"{:016x}\"", hasher.finish());
        table.push_str(&format!(
            "    File {{ path: {path:?}, etag: {etag:?}, \
             bytes: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/board-{index}\")), gzip: {gzip} }},\n"
        ));
    }
    table.push_str("]\n");
    fs::write(out.join("board.rs"), table)
}

/// Lists the files below a directory by their paths in an address; those whose names begin with a dot are not meant.
fn collect(dir: &Path, prefix: &str, paths: &mut Vec<String>) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}/{name}");
        match entry.file_type()?.is_dir() {
            true => collect(&entry.path(), &path, paths)?,
            false => paths.push(path),
        }
    }
    Ok(())
}

fn copy(dist: &Path, path: &str, to: &Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(dist.join(path.trim_start_matches('/')))?;
    fs::write(to, &bytes)?;
    Ok(bytes)
}
