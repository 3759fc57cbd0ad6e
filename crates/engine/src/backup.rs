//! A consistent copy of the data, as one archive, while everything goes on.
//!
//! The database is copied first, in one read; logs and pictures follow, so nothing that a row names is missing. What is
//! in git stays there: branches, commits and snapshots belong to the repositories. Worktrees, the trash and the token
//! are left out.

mod tar;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::background::blocking;
use crate::error::io_error;
use crate::{Engine, Error, Result};
use tar::Archive;

/// Directories of the data whose files are copied as they are.
const KEPT: [&str; 3] = ["runs", "images", "private"];
/// Files of the data that are copied as they are, when they are there.
const FILES: [&str; 2] = ["config.json", "profiles.json"];
/// What a copy of the database is called while it is sent.
const COPYING: &str = "copying-";
/// A copy that is older was left behind by a server that died.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// Pieces that wait for a reader who is slower than the disk.
const AHEAD: usize = 8;

/// An archive that is being made, piece by piece.
#[derive(Debug)]
pub struct Backup {
    pieces: Receiver<io::Result<Vec<u8>>>,
}

impl Backup {
    /// Returns the next piece; none when the archive is whole. An error ends it, and what came is no backup.
    pub async fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        self.pieces.recv().await
    }
}

impl Engine {
    /// Begins a backup. The database is copied before this returns; whoever stops reading ends it.
    pub async fn backup(&self) -> Result<Backup> {
        let home = self.inner.paths.home.clone();
        let backups = home.join("backups");
        let copy = blocking({
            let backups = backups.clone();
            move || place(&backups)
        })
        .await??;
        let taken = self.inner.store.copy_to(copy.0.clone()).await;
        taken.map_err(|error| {
            Error::unavailable(format!("could not copy the database: {error}")).with_source(error)
        })?;
        let (give, pieces) = channel(AHEAD);
        tokio::task::spawn_blocking(move || {
            let mut archive = Archive::new(Pieces { give: &give });
            if let Err(error) = fill(&mut archive, &home, &copy.0) {
                // A reader that went away is why it failed, or learns it here.
                let _ = give.blocking_send(Err(error));
            }
        });
        Ok(Backup { pieces })
    }
}

/// A copy that goes away with its backup.
#[derive(Debug)]
pub(crate) struct Copy(PathBuf);

impl Copy {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Gives the copy a name by which it stays. Blocks.
    pub(crate) fn keep_as(self, to: &Path) -> Result<()> {
        let whole = File::open(&self.0).and_then(|file| {
            file.set_permissions(PermissionsExt::from_mode(0o600))?;
            file.sync_all()
        });
        whole.and_then(|()| fs::rename(&self.0, to)).map_err(io_error("keep", to))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!("{} stays behind: {error}", self.0.display());
        }
    }
}

/// Finds a name for a copy of the database, and clears away those that were left behind.
pub(crate) fn place(backups: &Path) -> Result<Copy> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(backups);
    made.map_err(io_error("make", backups))?;
    for entry in fs::read_dir(backups).map_err(io_error("read", backups))?.flatten() {
        let modified = entry.metadata().and_then(|found| found.modified());
        let is_stale =
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > STALE));
        if is_stale && entry.file_name().to_string_lossy().starts_with(COPYING) {
            // It is looked at again next time.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(Copy(backups.join(format!("{COPYING}{}.db", forge_model::RunId::random()))))
}

fn fill(archive: &mut Archive<Pieces<'_>>, home: &Path, database: &Path) -> io::Result<()> {
    archive.file("forge.db", &mut File::open(database)?)?;
    for name in FILES {
        match File::open(home.join(name)) {
            Ok(mut file) => archive.file(name, &mut file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    for name in KEPT {
        tree(archive, home, Path::new(name))?;
    }
    archive.finish()
}

/// Copies the plain files below a directory. What goes away meanwhile was removed by somebody, and is left out.
fn tree(archive: &mut Archive<Pieces<'_>>, home: &Path, below: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(home.join(below)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            tree(archive, home, &path)?;
        } else if kind.is_file() {
            // Sockets, pipes and links belong to processes, and mean nothing elsewhere.
            match File::open(entry.path()) {
                Ok(mut file) => archive.file(&path.to_string_lossy(), &mut file)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Gives what is written to whoever reads the backup.
struct Pieces<'a> {
    give: &'a Sender<io::Result<Vec<u8>>>,
}

impl io::Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads the backup any more");
        self.give.blocking_send(Ok(bytes.to_vec())).map_err(gone)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads at most what is asked for, and says how much that was.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match reader.read(&mut buffer[count..])? {
            0 => break,
            more => count += more,
        }
    }
    Ok(count)
}
