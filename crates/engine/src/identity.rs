//! Which data directory this is, and whether it is a copy of another one.
//!
//! A backup that was unpacked and a directory that was copied hold the ids of the same runs, and the paths of the same
//! worktrees and references, as their original. So the database records the directory that it belongs to: an id that
//! was drawn at random, its path, and what the file system calls it. A directory that is not the recorded one is a copy.
//! It is served for reading, and changes nothing, until somebody adopts it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use forge_model::RunId;
use forge_process::Liveness;
use serde::{Deserialize, Serialize};

use crate::background::blocking;
use crate::error::{io_error, whole};
use crate::paths::Paths;
use crate::store::conn::Conn;
use crate::store::{Store, lodgings, runs, settings};
use crate::{Error, Result, relocate};

/// Where the identity is kept in the store.
const SCOPE: &str = "data_directory";

/// How long a shim that ends may take from letting go of its lock to its end.
const LETTING_GO: Duration = Duration::from_secs(1);

/// How the reason of an attempt begins whose agent belongs to the original.
const FOREIGN: &str = "its agent belongs to another data directory";

/// What the database knows of its directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    id: String,
    /// The ids of the directories that this one took the place of.
    #[serde(default)]
    formerly: Vec<String>,
    place: Place,
}

/// A directory, as the file system knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// When it was made, in nanoseconds since 1970; none where the file system does not tell.
    born: Option<u64>,
}

/// Who this data directory is.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The id that its agents carry, and then those of the directories that it took the place of.
    pub(crate) owners: Vec<String>,
    /// Why it changes nothing; none unless it is a copy.
    pub(crate) copy: Option<String>,
}

/// What there is to judge by.
#[derive(Debug, Default)]
struct Evidence {
    /// A shim holds a run of this very directory.
    is_at_work: bool,
    /// Processes that supervise runs of these ids in another directory.
    elsewhere: Vec<u32>,
    /// Another data directory has taken a worktree over.
    is_succeeded: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// No directory was recorded yet.
    New,
    /// The recorded one, where it was.
    Same,
    /// The recorded one, at another path, or what was put back at the recorded path.
    Moved,
    Copy,
}

impl Identity {
    /// Finds out who this directory is. `adopt` makes a copy the owner of what it records, if the original is gone.
    pub(crate) async fn settle(store: &Store, paths: &Paths, adopt: bool) -> Result<Self> {
        let (record, live, worktrees) = store
            .read(|conn| {
                let live: Vec<RunId> = runs::live(conn)?.into_iter().map(|live| live.run.id).collect();
                Ok((record_in(conn)?, live, lodgings::worktrees(conn)?))
            })
            .await?;
        let (of, known) = (paths.clone(), record.clone());
        let (here, evidence, standing) = blocking(move || -> Result<_> {
            let here = Place::of(&of.home)?;
            // Nearly always; then nobody waits for a look at all processes.
            if known.as_ref().is_some_and(|known| known.place.is_at(&here)) {
                return Ok((here, Evidence::default(), Standing::Same));
            }
            let mut evidence = Evidence::gather(&of, known.as_ref(), &live)?;
            if let Some(known) = &known {
                evidence.is_succeeded = relocate::is_taken(&known.place.path, &of.home, &worktrees);
            }
            let standing = standing(known.as_ref(), &here, &evidence);
            Ok((here, evidence, standing))
        })
        .await??;
        match standing {
            Standing::Copy if !adopt => Self::of_copy(store, record, &paths.home).await,
            Standing::Copy => {
                let (of, known) = (paths.home.clone(), record.clone());
                blocking(move || refuse_while_original_is_there(&of, known.as_ref(), &evidence)).await??;
                tracing::info!(
                    "{} is adopted: what its database records is its own now",
                    here.path.display()
                );
                Self::take_over(store, paths, record, here, true).await
            }
            Standing::Moved => {
                tracing::info!("{} is where this data directory is now", here.path.display());
                Self::take_over(store, paths, record, here, false).await
            }
            Standing::New => Self::take_over(store, paths, None, here, false).await,
            Standing::Same => {
                let Some(mut record) = record else {
                    return Self::take_over(store, paths, None, here, false).await;
                };
                // The number of a device may be another one after each boot.
                if record.place != here {
                    record.place = here;
                    write(store, record.clone()).await?;
                }
                Ok(record.into_owner())
            }
        }
    }

    /// Leaves what is recorded as it is, and says on each attempt that seems to run that its agent is another's.
    async fn of_copy(store: &Store, record: Option<Record>, home: &Path) -> Result<Self> {
        let original = match &record {
            Some(record) if record.place.path == home => format!("one that was at {} before", home.display()),
            Some(record) => record.place.path.display().to_string(),
            None => "another one whose agents run".to_string(),
        };
        let sentence = format!(
            "this data directory is a copy of {original} and can only be read, so that nothing of the original is \
             touched; when the original is gone, make this one its successor: `forge serve --stop --data {0}`, then \
             `forge serve --adopt --data {0}`",
            home.display()
        );
        let reason =
            format!("{FOREIGN}, {original}, of which this one is a copy; here nothing happens to it");
        store.write(move |tx| runs::mark_foreign(tx.conn(), &reason)).await?;
        tracing::warn!("{sentence}");
        let owners = record.map(|record| record.into_owner().owners).unwrap_or_default();
        Ok(Self { owners, copy: Some(sentence) })
    }

    /// Records this directory as the owner, and has its worktrees follow it.
    async fn take_over(
        store: &Store,
        paths: &Paths,
        before: Option<Record>,
        here: Place,
        is_adopted: bool,
    ) -> Result<Self> {
        let record = match before.clone() {
            Some(mut record) => {
                if is_adopted {
                    // An original that comes back must be told apart from this one.
                    record.formerly.push(std::mem::replace(&mut record.id, RunId::random().to_string()));
                }
                Record { place: here, ..record }
            }
            None => Record { id: RunId::random().to_string(), formerly: Vec::new(), place: here },
        };
        if let Some(before) = before.filter(|before| before.place.path != paths.home) {
            let worktrees = store.read(lodgings::worktrees).await?;
            let (from, to) = (before.place.path, paths.home.clone());
            let moved = blocking(move || relocate::follow(&from, &to, worktrees)).await?;
            store
                .write(move |tx| {
                    for (attempt, worktree) in &moved {
                        lodgings::moved(tx.conn(), *attempt, worktree)?;
                    }
                    Ok(())
                })
                .await?;
        }
        store.write(|tx| runs::unmark_foreign(tx.conn(), &format!("{FOREIGN}%"))).await?;
        write(store, record.clone()).await?;
        Ok(record.into_owner())
    }
}

impl Record {
    fn into_owner(self) -> Identity {
        let owners = [self.id].into_iter().chain(self.formerly).collect();
        Identity { owners, copy: None }
    }

    fn ids(&self) -> Vec<String> {
        self.clone().into_owner().owners
    }
}

impl Place {
    fn of(path: &Path) -> Result<Self> {
        let found = fs::metadata(path).map_err(io_error("look at", path))?;
        let born = found.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        let born = born.and_then(|since| u64::try_from(since.as_nanos()).ok());
        Ok(Self { path: path.to_path_buf(), device: found.dev(), inode: found.ino(), born })
    }

    /// Says whether both are one directory at one path. The number of the device may change with each boot.
    fn is_at(&self, other: &Self) -> bool {
        (&self.path, self.inode) == (&other.path, other.inode)
    }

    /// Says whether both are one directory, whatever its path is. Only sure while the machine is up: a device may get
    /// another number at the next boot, and its number may go to another.
    fn is_same_directory(&self, other: &Self) -> bool {
        (self.device, self.inode, self.born) == (other.device, other.inode, other.born)
    }
}

impl Evidence {
    /// Looks at the locks of runs and at the processes of this user. Blocks.
    fn gather(paths: &Paths, record: Option<&Record>, live: &[RunId]) -> Result<Self> {
        let mut evidence = Self::default();
        let is_held =
            |run: &str| matches!(forge_process::liveness(&paths.runs().join(run)), Ok(Liveness::Alive));
        evidence.is_at_work = live.iter().any(|run| is_held(&run.to_string()));
        let owners = record.map(Record::ids).unwrap_or_default();
        let deadline = Instant::now() + LETTING_GO;
        loop {
            let shims =
                forge_process::shims(&owners).map_err(io_error("look through", Path::new("/proc")))?;
            let others = shims.into_iter().filter(|shim| !is_held(&shim.run));
            evidence.elsewhere = others.map(|shim| shim.pid).collect();
            // One that is about to end has let go of its lock already.
            if evidence.elsewhere.is_empty() || Instant::now() > deadline {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if evidence.elsewhere.is_empty() && !evidence.is_at_work {
            // Shims of older versions carry no owner. One is enough; what cannot be looked at proves nothing.
            let held = |run: &RunId| forge_process::held_elsewhere(&paths.run(*run)).ok().flatten();
            evidence.elsewhere.extend(live.iter().find_map(held));
        }
        Ok(evidence)
    }
}

/// Judges a directory by what is recorded of it.
fn standing(record: Option<&Record>, here: &Place, evidence: &Evidence) -> Standing {
    match record {
        Some(record) if record.place.is_at(here) => Standing::Same,
        // A copy has locks of its own, which no shim holds.
        Some(_) if evidence.is_at_work => Standing::Moved,
        None if evidence.is_at_work => Standing::New,
        _ if !evidence.elsewhere.is_empty() || evidence.is_succeeded => Standing::Copy,
        None => Standing::New,
        // A backup that was put back at its place, or a file system that numbers its files anew when it is mounted.
        Some(record) if record.place.path == here.path => Standing::Moved,
        Some(record) if record.place.is_same_directory(here) && is_gone_from(&record.place.path, here) => {
            Standing::Moved
        }
        Some(_) => Standing::Copy,
    }
}

/// Says whether a path leads to this directory or to none, so that no other can have taken its place there.
fn is_gone_from(path: &Path, here: &Place) -> bool {
    match Place::of(path) {
        Ok(there) => there.is_same_directory(here),
        Err(_) => {
            matches!(fs::symlink_metadata(path), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
        }
    }
}

/// Refuses to take over from an original that can still be served, or that has agents at work. Blocks.
fn refuse_while_original_is_there(home: &Path, record: Option<&Record>, evidence: &Evidence) -> Result<()> {
    if !evidence.elsewhere.is_empty() {
        let pids: Vec<String> = evidence.elsewhere.iter().map(ToString::to_string).collect();
        return Err(Error::conflict(format!(
            "{} cannot be adopted while agents of its original run; stop them in the original, or end their \
             supervisors: process {}",
            home.display(),
            pids.join(", ")
        ))
        .with_code("copy"));
    }
    let Some(record) = record else { return Ok(()) };
    let original = &record.place.path;
    let is_recorded = Place::of(original).is_ok_and(|there| there.inode == record.place.inode);
    let is_there = is_recorded && original.join("forge.db").exists()
        || identity_at(original).is_some_and(|there| there.ids().iter().any(|id| record.ids().contains(id)));
    if is_there {
        return Err(Error::conflict(format!(
            "{} cannot be adopted while its original is at {}: both would own the same worktrees; delete the original, \
             or move it away and never serve it again",
            home.display(),
            original.display()
        ))
        .with_code("copy"));
    }
    Ok(())
}

/// Reads who a directory says it is; none when it says nothing.
fn identity_at(home: &Path) -> Option<Record> {
    let path = home.join("forge.db");
    if fs::metadata(&path).ok()?.len() == 0 {
        return None;
    }
    let read = Conn::looker(&path).and_then(|conn| record_in(&conn));
    read.inspect_err(|error| tracing::warn!("{} cannot be read: {}", path.display(), whole(error))).ok()?
}

fn record_in(conn: &Conn) -> std::result::Result<Option<Record>, crate::store::Error> {
    let body = settings::one(conn, SCOPE)?;
    // What cannot be read was written by nobody here; a new one takes its place.
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
}

async fn write(store: &Store, record: Record) -> Result<()> {
    let body = serde_json::to_string(&record)
        .map_err(|error| Error::internal(format!("the identity cannot be written: {error}")))?;
    Ok(store.write(move |tx| settings::put(tx.conn(), SCOPE, &body, tx.now())).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, device: u64, inode: u64) -> Place {
        Place { path: path.into(), device, inode, born: Some(inode) }
    }

    fn judged(recorded: Place, here: &Place, evidence: &Evidence) -> Standing {
        let record = Record { id: "a".into(), formerly: Vec::new(), place: recorded };
        standing(Some(&record), here, evidence)
    }

    #[test]
    fn a_directory_is_judged_by_its_place_and_by_its_agents() {
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join("old").display().to_string();
        let here = place("/new", 1, 2);
        let (idle, at_work) =
            (Evidence::default(), Evidence { is_at_work: true, elsewhere: vec![7], ..Evidence::default() });
        let elsewhere = Evidence { elsewhere: vec![7], ..Evidence::default() };
        let succeeded = Evidence { is_succeeded: true, ..Evidence::default() };
        for (recorded, evidence, wanted) in [
            (place("/new", 1, 2), &idle, Standing::Same),
            // After a boot the device has another number; a leftover of a run is no reason to doubt.
            (place("/new", 9, 2), &elsewhere, Standing::Same),
            (place("/new", 1, 3), &idle, Standing::Moved),
            (place("/new", 1, 3), &elsewhere, Standing::Copy),
            (place(&old, 1, 2), &idle, Standing::Moved),
            (place(&old, 1, 2), &elsewhere, Standing::Copy),
            (place(&old, 1, 2), &succeeded, Standing::Copy),
            (place(&old, 9, 2), &idle, Standing::Copy),
            (place(&old, 1, 3), &idle, Standing::Copy),
            (place(&old, 1, 3), &at_work, Standing::Moved),
        ] {
            assert_eq!(judged(recorded.clone(), &here, evidence), wanted, "{recorded:?} {evidence:?}");
        }
        fs::create_dir(&old).unwrap();
        assert_eq!(judged(place(&old, 1, 2), &here, &idle), Standing::Copy, "another one is at its place");
        assert_eq!(standing(None, &here, &idle), Standing::New);
        assert_eq!(standing(None, &here, &elsewhere), Standing::Copy);
    }
}
