//! A private copy of a foreign database, taken without hurting whoever uses it.
//!
//! The original is never queried: a reader that holds it locked makes its server lose what it writes meanwhile, a
//! journal that a kill left is only rolled back by who may write, and opening one that has a write-ahead log makes
//! files beside it. So it is copied, through SQLite where that is possible, and as plain files together with what lies
//! beside it otherwise; whatever is to be mended is mended in the copy.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::error::io_error;
use crate::{Error, Result};

/// How long somebody else may have it locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many pages are copied while it is locked against writers: some milliseconds' worth. Its server gives up on a
/// write after five seconds.
const PAGES: i32 = 1024;

/// How often a copy may begin anew because somebody wrote meanwhile, before writers are made to wait.
const RESTARTS: u32 = 8;

/// What may lie beside a database. They are copied before it.
const BESIDE: &[&str] = &["-journal", "-wal"];

/// A copy, and the directory that goes with it.
#[derive(Debug)]
pub(super) struct Copied {
    dir: PathBuf,
    pub(super) database: PathBuf,
}

impl Drop for Copied {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            tracing::warn!("could not remove {}: {error}", self.dir.display());
        }
    }
}

/// Copies a database into a directory that must be ours alone; what an import that broke off left there goes first.
pub(super) fn copy(database: &Path, dir: &Path) -> Result<Copied> {
    check_head(database)?;
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(io_error("remove", dir))?;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io_error("create", dir))?;
    let copied = Copied { dir: dir.to_path_buf(), database: dir.join("copy.sqlite") };
    let size = fs::metadata(database).map_err(io_error("read", database))?.len();
    if let Some(free) = crate::paths::free_bytes(dir).filter(|free| *free < size) {
        return Err(Error::unavailable(format!(
            "{} has {size} bytes, and the disk of the data directory only {free}: make room and try again",
            database.display()
        )));
    }
    if !has_log(database)? && through_sqlite(database, &copied.database)? {
        return Ok(copied);
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        if as_files(database, &copied.database)? {
            return Ok(copied);
        }
        if Instant::now() > deadline {
            return Err(Error::conflict(format!(
                "{} is in use and did not come to rest; stop the program that has it open, and try again",
                database.display()
            ))
            .with_code("locked"));
        }
        std::thread::sleep(Duration::from_millis(25));
    }
}

/// Refuses what is no database before anything is copied.
fn check_head(database: &Path) -> Result<()> {
    let no_database = |why: &str| Error::invalid(format!("{} {why}", database.display()));
    let head = head(database).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => no_database("is no database: it is empty or cut off"),
        io::ErrorKind::PermissionDenied => no_database("may not be read by this server"),
        _ => no_database(&format!("could not be read: {error}")),
    })?;
    match head.starts_with(b"SQLite format 3\0") {
        true => Ok(()),
        false => Err(no_database("is no SQLite database")),
    }
}

fn head(database: &Path) -> io::Result<[u8; 100]> {
    let mut head = [0; 100];
    File::open(database)?.read_exact(&mut head)?;
    Ok(head)
}

/// Says whether it is one with a write-ahead log: a reader would make one where there is none.
fn has_log(database: &Path) -> Result<bool> {
    let head = head(database).map_err(io_error("read", database))?;
    Ok(head[18] == 2 || head[19] == 2)
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Copies through SQLite, some pages at a time. False when a journal lies there that only a writer may roll back.
fn through_sqlite(from: &Path, to: &Path) -> Result<bool> {
    let failed =
        |error: rusqlite::Error| Error::invalid(format!("{} could not be copied: {error}", from.display()));
    remove(to)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(from, flags).map_err(failed)?;
    let mut copy = Connection::open(to).map_err(failed)?;
    copy.execute_batch("pragma synchronous = off; pragma cache_size = -2000; pragma mmap_size = 0;")
        .map_err(failed)?;
    let backup = Backup::new(&source, &mut copy).map_err(failed)?;
    let (mut left, mut restarts, mut last) = (i32::MAX, 0, Instant::now());
    loop {
        let pages = if restarts < RESTARTS { PAGES } else { -1 };
        match backup.step(pages) {
            Ok(StepResult::Done) => return Ok(true),
            Ok(StepResult::More) => {
                let now = backup.progress().remaining;
                restarts += u32::from(now > left);
                (left, last) = (now, Instant::now());
            }
            Ok(_) if last.elapsed() > PATIENCE => {
                return Err(Error::conflict(format!(
                    "{} is locked by another program; stop the server it belongs to, and try again",
                    from.display()
                ))
                .with_code("locked"));
            }
            Ok(_) => std::thread::sleep(Duration::from_millis(2)),
            // A journal that a kill left: a reader may not roll it back.
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == rusqlite::ErrorCode::ReadOnly =>
            {
                return Ok(false);
            }
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Copies a database and what lies beside it as plain files. False when it changed meanwhile.
fn as_files(from: &Path, to: &Path) -> Result<bool> {
    let before = marks(from);
    for ending in BESIDE {
        let (file, copy) = (beside(from, ending), beside(to, ending));
        remove(&copy)?;
        match fs::copy(&file, &copy) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => copied.map(drop).map_err(io_error("copy", &file))?,
        }
    }
    fs::copy(from, to).map_err(io_error("copy", from))?;
    Ok(before == marks(from))
}

/// What shows that a file was written: its length, its time, and the counter that a database has.
type Mark = (u64, i64, i64, [u8; 4]);

/// The marks of a database and all that lies beside it.
fn marks(database: &Path) -> Vec<Option<Mark>> {
    let files = std::iter::once(database.to_path_buf()).chain(BESIDE.iter().map(|end| beside(database, end)));
    files
        .map(|file| {
            let meta = fs::metadata(&file).ok()?;
            let mut changes = [0; 4];
            // What is no database has no counter there, and its bytes are as good a mark as any.
            if let Ok(head) = head(&file) {
                changes.copy_from_slice(&head[24..28]);
            }
            Some((meta.size(), meta.mtime(), meta.mtime_nsec(), changes))
        })
        .collect()
}

fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("remove", file)(error)),
        _ => Ok(()),
    }
}
