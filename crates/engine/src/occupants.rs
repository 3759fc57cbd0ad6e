//! Who is inside a directory: processes that work, run or have files open there.
//!
//! Where this cannot be found out, the answer is an error and not "nobody".

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::io_error;
use crate::{Error, Result};

/// Finds which of the directories a process is inside, and which process. Blocks.
pub(crate) fn occupants(directories: &[PathBuf]) -> Result<BTreeMap<PathBuf, u32>> {
    let mut found = BTreeMap::new();
    if directories.is_empty() {
        return Ok(found);
    }
    let proc = Path::new("/proc");
    if !proc.join("self/cwd").exists() {
        return Err(Error::unavailable(
            "this system does not tell which processes are inside a directory, so nothing is cleaned up",
        ));
    }
    let real: Vec<(PathBuf, PathBuf)> = directories
        .iter()
        .map(|directory| (directory.canonicalize().unwrap_or_else(|_| directory.clone()), directory.clone()))
        .collect();
    for process in std::fs::read_dir(proc).map_err(io_error("list", proc))?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let links = ["cwd", "root", "exe"].map(|name| process.path().join(name)).into_iter();
        let open = std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        // A process that ended meanwhile, or is another user's, has nothing to show.
        for target in
            links.chain(open.map(|entry| entry.path())).filter_map(|link| std::fs::read_link(link).ok())
        {
            if let Some((_, directory)) = real.iter().find(|(real, _)| target.starts_with(real)) {
                found.entry(directory.clone()).or_insert(pid);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_works_in_a_directory_or_has_a_file_open_there_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, open, empty) =
            (dir.path().join("in"), dir.path().join("open"), dir.path().join("empty"));
        for path in [&inside, &open, &empty] {
            std::fs::create_dir(path).unwrap();
        }
        let mut sleeper = std::process::Command::new("sleep").arg("60").current_dir(&inside).spawn().unwrap();
        let file = std::fs::File::create(open.join("file")).unwrap();
        let found = occupants(&[inside.clone(), open.clone(), empty.clone()]).unwrap();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        drop(file);
        assert_eq!(found.get(&inside), Some(&sleeper.id()));
        assert_eq!(found.get(&open), Some(&std::process::id()));
        assert_eq!(found.get(&empty), None);
    }
}
