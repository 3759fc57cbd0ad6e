//! Room that is kept for a start on a full disk.
//!
//! A database that is opened wants two files, and a server one that says where it is. On a full disk nobody could look
//! what takes the room, stop agents, or clean up. So a few small files lie ready, and go when a start finds the disk full.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

/// So many files can be made in their place.
const FILES: usize = 8;
/// Enough together for what a start writes to the database.
const BYTES: u64 = 256 << 10;

/// Gives the room away. Blocks.
pub(crate) fn release(home: &Path) {
    for path in files(home) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("{} stays, and the disk is full: {error}", path.display());
            }
            _ => {}
        }
    }
}

/// Takes the room, as far as it is not there yet. Blocks.
pub(crate) fn fill(home: &Path) {
    let missing = files(home).filter(|path| fs::metadata(path).map_or(0, |found| found.len()) < BYTES);
    for path in missing {
        if let Err(error) = write(&path) {
            tracing::info!("no room is kept for a start on a full disk: {error}");
            // Half of it is of no use to anybody.
            let _ = fs::remove_file(&path);
            return;
        }
    }
}

fn write(path: &Path) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    fs::create_dir_all(dir)?;
    let mut file = File::create(path)?;
    match fallocate(&file, FallocateFlags::empty(), 0, BYTES) {
        Ok(()) => Ok(()),
        // Not every file system knows how to.
        Err(rustix::io::Errno::OPNOTSUPP) => file.write_all(&vec![0; BYTES as usize]),
        Err(error) => Err(error.into()),
    }
}

fn files(home: &Path) -> impl Iterator<Item = PathBuf> {
    let dir = home.join("reserve");
    (0..FILES).map(move |index| dir.join(index.to_string()))
}
