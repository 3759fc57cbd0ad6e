//! The copies of the database in `backups/`: which there are, and which of them may go.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use forge_model::Time;

/// How many of the copies that are made each day are kept.
const KEPT: usize = 7;
/// How the name of such a copy begins. Those from before a migration are named after the schema, and stay.
const DAILY: &str = "forge-daily-";

/// Where a copy of today goes.
pub(crate) fn daily(backups: &Path, now: Time) -> PathBuf {
    // A colon is a nuisance in a shell, and sorts as well when it is a line.
    backups.join(format!("{DAILY}{}.db", now.to_string().replace(':', "-")))
}

/// Returns when the newest daily copy was made; none when there is none.
pub(crate) fn newest_daily(backups: &Path) -> Option<SystemTime> {
    dailies(backups).last().and_then(|path| fs::metadata(path).ok()?.modified().ok())
}

/// Removes all daily copies but the newest seven.
pub(crate) fn drop_old(backups: &Path) {
    let all = dailies(backups);
    for path in &all[..all.len().saturating_sub(KEPT)] {
        if let Err(error) = fs::remove_file(path) {
            tracing::warn!("{} could not be removed: {error}", path.display());
        }
    }
}

/// Says how a database that is of no use can be replaced; only copies that exist are named.
pub(crate) fn remedy(path: &Path, backups: &Path) -> String {
    let (shown, aside) = (path.display(), "together with what begins with its name");
    match newest(backups) {
        Some(copy) => {
            format!("move {shown} away, {aside}, and put {}, the newest copy, in its place", copy.display())
        }
        None => format!(
            "there is no copy of it in {}; move {shown} away, {aside}, and unpack a file of `forge backup` here, or point \
             FORGE_HOME at another directory",
            backups.display()
        ),
    }
}

/// Returns the copy that was made last, whatever for.
fn newest(backups: &Path) -> Option<PathBuf> {
    let copies = listed(backups).into_iter().filter_map(|path| {
        let found = fs::metadata(&path).ok().filter(|found| found.len() > 0)?;
        Some((found.modified().ok()?, path))
    });
    copies.max().map(|(_, path)| path)
}

fn dailies(backups: &Path) -> Vec<PathBuf> {
    let is_daily =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(DAILY));
    let mut found: Vec<PathBuf> = listed(backups).into_iter().filter(is_daily).collect();
    found.sort();
    found
}

/// Every whole copy; one that is being made is called otherwise.
fn listed(backups: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(backups).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("forge-") && name.ends_with(".db")
    };
    entries.filter(is_copy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_daily_copies_are_kept_and_those_from_before_a_migration_stay() {
        let dir = tempfile::tempdir().unwrap();
        let day = |day: i64| daily(dir.path(), Time::from_millis(day * 24 * 60 * 60 * 1000));
        for at in 0..9 {
            fs::write(day(at), "x").unwrap();
        }
        let before_migration = dir.path().join("forge-v3-17.db");
        fs::write(&before_migration, "x").unwrap();
        drop_old(dir.path());
        assert!(!day(0).exists() && !day(1).exists() && day(2).exists() && day(8).exists());
        assert!(before_migration.exists());
        assert!(newest_daily(dir.path()).is_some());
    }

    #[test]
    fn a_remedy_names_the_newest_copy_and_none_that_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let (path, backups) = (dir.path().join("forge.db"), dir.path().join("backups"));
        let without = remedy(&path, &backups);
        assert!(without.contains("there is no copy") && without.contains("forge backup"), "{without}");
        fs::create_dir(&backups).unwrap();
        fs::write(backups.join("copying-1.db"), "half").unwrap();
        fs::write(backups.join("forge-v1-1.db"), "").unwrap();
        assert_eq!(remedy(&path, &backups), without, "half a copy and an empty one are none");
        fs::write(backups.join("forge-v2-1.db"), "old").unwrap();
        let old = fs::File::options().write(true).open(backups.join("forge-v2-1.db")).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let daily = daily(&backups, Time::from_millis(0));
        fs::write(&daily, "new").unwrap();
        assert!(remedy(&path, &backups).contains(daily.to_str().unwrap()));
    }
}
