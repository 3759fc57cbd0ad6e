//! Bringing a database to the newest schema: append-only files, a backup before each change.
//!
//! A database that is newer or damaged is refused with a sentence, never replaced.

use std::path::{Path, PathBuf};

use super::conn::{Conn, Error};
use super::copies;

/// Every migration, in order. The position in this list plus one is the schema's version.
const MIGRATIONS: &[(&str, &str)] = &[
    ("initial", include_str!("../../migrations/0001_initial.sql")),
    ("tags", include_str!("../../migrations/0002_tags.sql")),
    ("desk", include_str!("../../migrations/0003_desk.sql")),
    ("git", include_str!("../../migrations/0004_git.sql")),
    ("agents", include_str!("../../migrations/0005_agents.sql")),
    ("board", include_str!("../../migrations/0006_board.sql")),
    ("imports", include_str!("../../migrations/0007_imports.sql")),
    ("checks", include_str!("../../migrations/0008_checks.sql")),
    ("messages", include_str!("../../migrations/0009_messages.sql")),
    ("starts", include_str!("../../migrations/0010_starts.sql")),
    ("retention", include_str!("../../migrations/0011_retention.sql")),
];

/// Why a database could not be brought to the newest schema.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MigrateError {
    #[error(
        "{} was written by a newer Forge (schema {found}, this one knows {known}); \
         start that newer Forge, or point FORGE_HOME at another directory", path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{} is damaged or is no database ({detail}); nothing was changed: {remedy}", path.display())]
    Damaged { path: PathBuf, detail: String, remedy: String },
    #[error(
        "{} is {what}, but {} has the logs of runs, so this data directory was in use; nothing was changed: {remedy}. \
         To begin anew without them, move {} away too",
        path.display(), runs.display(), runs.display()
    )]
    Lost { path: PathBuf, what: &'static str, runs: PathBuf, remedy: String },
    #[error("could not back up {} before migrating it: {source}", path.display())]
    Backup { path: PathBuf, source: Error },
    #[error("could not migrate {} to schema {to}: {source}", path.display())]
    Migrate { path: PathBuf, to: i64, source: Error },
}

/// Refuses to make a new database where the old one was lost: the board would be empty, and nobody would know why.
pub(crate) fn refuse_lost(path: &Path, runs: &Path, backups: &Path) -> Result<(), MigrateError> {
    let what = match std::fs::metadata(path) {
        Ok(found) if found.len() > 0 => return Ok(()),
        Ok(_) => "empty",
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "missing",
        // Whoever opens it will say why it cannot be.
        Err(_) => return Ok(()),
    };
    if std::fs::read_dir(runs).is_ok_and(|mut entries| entries.next().is_some()) {
        let (path, runs) = (path.to_path_buf(), runs.to_path_buf());
        let remedy = copies::remedy(&path, backups);
        return Err(MigrateError::Lost { path, what, runs, remedy });
    }
    Ok(())
}

/// Brings the database at `path` to the newest schema. `stamp` names the backup.
pub(crate) fn migrate(conn: &Conn, path: &Path, backups: &Path, stamp: i64) -> Result<(), MigrateError> {
    apply(MIGRATIONS, conn, path, backups, stamp)
}

fn apply(
    migrations: &[(&str, &str)],
    conn: &Conn,
    path: &Path,
    backups: &Path,
    stamp: i64,
) -> Result<(), MigrateError> {
    let damaged = |error: Error| MigrateError::Damaged {
        path: path.to_path_buf(),
        remedy: copies::remedy(path, backups),
        detail: error.to_string(),
    };
    let found = conn.query("pragma user_version", &[]).and_then(|rows| rows[0].int(0)).map_err(damaged)?;
    let known = migrations.len() as i64;
    if found > known {
        return Err(MigrateError::Newer { path: path.to_path_buf(), found, known });
    }
    if found > 0 && found < known {
        let backup = |source| MigrateError::Backup { path: path.to_path_buf(), source };
        std::fs::create_dir_all(backups).map_err(|error| backup(Error::Other(error.to_string())))?;
        conn.copy_to(&backups.join(format!("forge-v{found}-{stamp}.db"))).map_err(backup)?;
    }
    for (index, (_, sql)) in migrations.iter().enumerate().skip(found.max(0) as usize) {
        let to = index as i64 + 1;
        let step = || -> Result<(), Error> {
            conn.batch("begin immediate")?;
            conn.batch(sql)?;
            // A pragma takes no parameters; the number is our own.
            conn.batch(&format!("pragma user_version = {to}"))?;
            conn.batch("commit")
        };
        step().map_err(|source| {
            // What the step did is taken back with it; the error is what counts.
            let _ = conn.batch("rollback");
            MigrateError::Migrate { path: path.to_path_buf(), to, source }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn schema_hash(conn: &Conn) -> String {
        let rows =
            conn.query("select sql from sqlite_schema where sql is not null order by name", &[]).unwrap();
        let mut hash = Sha256::new();
        for row in rows {
            let text = row.text(0).unwrap();
            hash.update(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_schema_changes_only_by_a_new_migration() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("forge.db");
        let conn = Conn::writer(&path).unwrap();
        migrate(&conn, &path, &dir.path().join("backups"), 0).unwrap();
        let known = [
            (1, "c35b2ea87cdb656e"),
            (2, "d25726a3e2dedcae"),
            (3, "5f34e4e316daf27f"),
            (4, "7598621166a026e7"),
            (5, "6ddfde5e273952d3"),
            (6, "748c5d6174a57be2"),
            (7, "a4a3af4f67056225"),
            (8, "bf7ba9b6e51c335a"),
            (9, "35705b5b0e6641f6"),
            (10, "c438b2307602544f"),
            (11, "cf30d4d32d5cfb45"),
        ];
        assert_eq!(known.len(), MIGRATIONS.len(), "a new migration needs its schema hash here");
        assert_eq!(schema_hash(&conn), known[MIGRATIONS.len() - 1].1);
    }

    #[test]
    fn migrating_twice_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("forge.db");
        let conn = Conn::writer(&path).unwrap();
        migrate(&conn, &path, &dir.path().join("backups"), 0).unwrap();
        let before = schema_hash(&conn);
        migrate(&conn, &path, &dir.path().join("backups"), 0).unwrap();
        assert_eq!(schema_hash(&conn), before);
        assert!(!dir.path().join("backups").exists());
    }

    #[test]
    fn a_backup_of_the_old_schema_is_taken_before_a_migration() {
        let dir = tempfile::tempdir().unwrap();
        let (path, backups) = (dir.path().join("forge.db"), dir.path().join("backups"));
        let conn = Conn::writer(&path).unwrap();
        let first = ("first", "create table a (x integer) strict;");
        apply(&[first], &conn, &path, &backups, 1).unwrap();
        conn.batch("insert into a (x) values (7)").unwrap();
        let second = ("second", "create table b (y integer) strict;");
        apply(&[first, second], &conn, &path, &backups, 2).unwrap();
        assert_eq!(conn.query("select count(*) from b", &[]).unwrap()[0].int(0).unwrap(), 0);
        let backup = Conn::reader(&backups.join("forge-v1-2.db")).unwrap();
        assert_eq!(backup.query("select x from a", &[]).unwrap()[0].int(0).unwrap(), 7);
        assert!(backup.query("select y from b", &[]).is_err());
    }

    #[test]
    fn a_migration_that_fails_leaves_everything_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (path, backups) = (dir.path().join("forge.db"), dir.path().join("backups"));
        let conn = Conn::writer(&path).unwrap();
        let first = ("first", "create table a (x integer) strict;");
        apply(&[first], &conn, &path, &backups, 1).unwrap();
        let broken = ("broken", "create table b (y integer) strict; nonsense;");
        let error = apply(&[first, broken], &conn, &path, &backups, 2).unwrap_err();
        assert!(error.to_string().contains("could not migrate"), "{error}");
        assert!(conn.query("select y from b", &[]).is_err());
        apply(&[first], &conn, &path, &backups, 3).unwrap();
        conn.batch("insert into a (x) values (1)").unwrap();
    }
}
