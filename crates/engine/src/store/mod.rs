//! The store: one database, one thread that writes, a few that read.
//!
//! It is private to the engine. A write is one transaction that also inserts its events; after the commit a
//! bell rings with the newest event's number. The functions of the nouns below are plain: a connection in,
//! rows out; no async, no decisions.

pub(crate) mod acts;
pub(crate) mod asks;
pub(crate) mod attempts;
pub(crate) mod calls;
pub(crate) mod cards;
pub(crate) mod comments;
pub(crate) mod conn;
pub(crate) mod copies;
pub(crate) mod deleted_logs;
pub(crate) mod diffs;
pub(crate) mod disk;
pub(crate) mod drafts;
pub(crate) mod events;
pub(crate) mod findings;
pub(crate) mod held;
pub(crate) mod images;
pub(crate) mod imports;
pub(crate) mod inputs;
pub(crate) mod limited;
pub(crate) mod lodgings;
pub(crate) mod merges;
mod migrate;
pub(crate) mod notices;
pub(crate) mod order;
pub(crate) mod ports;
pub(crate) mod projects;
pub(crate) mod queue;
mod readers;
pub(crate) mod ready;
pub(crate) mod removed;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod settings;
pub(crate) mod snapshots;
pub(crate) mod standing_agents;
pub(crate) mod starts;
pub(crate) mod tags;
pub(crate) mod tasks;
pub(crate) mod templates;
pub(crate) mod usages;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tokio::sync::watch;

pub(crate) use conn::{Conn, Error};
pub(crate) use migrate::MigrateError;
pub(crate) use writer::{Tx, now};

use readers::Readers;
use writer::Writer;

/// The open database.
#[derive(Debug)]
pub(crate) struct Store {
    writer: Writer,
    readers: Readers,
    path: PathBuf,
    bell: watch::Receiver<i64>,
    /// Why nothing may be written; unset as a rule.
    shut: OnceLock<String>,
}

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error("could not open {}: {source}", path.display())]
    Open { path: PathBuf, source: Error },
}

impl Store {
    /// Opens the database in `home`, bringing it to the newest schema first.
    pub(crate) fn open(home: &Path, stamp: i64) -> Result<Self, OpenError> {
        let path = home.join("forge.db");
        let backups = home.join("backups");
        let open = |source: Error| match source {
            Error::Corrupt(detail) => {
                let remedy = copies::remedy(&path, &backups);
                MigrateError::Damaged { path: path.clone(), remedy, detail }.into()
            }
            source => OpenError::Open { path: path.clone(), source },
        };
        migrate::refuse_lost(&path, &home.join("runs"), &backups)?;
        let conn = Conn::writer(&path).map_err(open)?;
        migrate::migrate(&conn, &path, &backups, stamp)?;
        let (writer, bell) = Writer::start(conn).map_err(open)?;
        let readers = Readers::start(&path).map_err(open)?;
        Ok(Self { writer, readers, path, bell, shut: OnceLock::new() })
    }

    /// Refuses every write from now on, with this sentence.
    pub(crate) fn shut(&self, why: String) {
        // Whoever shut it first has said why.
        let _ = self.shut.set(why);
    }

    /// Rings with the newest event's number after every commit that had events.
    pub(crate) fn bell(&self) -> watch::Receiver<i64> {
        self.bell.clone()
    }

    /// How many commits there were, and how many acts wait for one.
    pub(crate) fn writes(&self) -> (u64, u64) {
        self.writer.counts()
    }

    /// Runs one transaction; its events are inserted with it and the bell rings after the commit.
    pub(crate) async fn write<T, F>(&self, act: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, Error> + Send + 'static,
    {
        match self.shut.get() {
            Some(why) => Err(Error::Shut(why.clone())),
            None => self.writer.run(act).await,
        }
    }

    /// Copies the database as it is at one moment to a new file, beside those who read and write.
    pub(crate) async fn copy_to(&self, to: PathBuf) -> Result<(), Error> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || Conn::writer(&path)?.copy_to(&to))
            .await
            .map_err(|_| Error::Closed)?
    }

    /// Looks through the whole database on a connection of its own, and returns what is wrong with it; none when nothing
    /// is. Blocks for as long as it takes to read all of it.
    pub(crate) fn damage(&self) -> Result<Option<String>, Error> {
        match Conn::reader(&self.path).and_then(|conn| conn.damage()) {
            Err(Error::Corrupt(detail)) => Ok(Some(detail)),
            looked => looked,
        }
    }

    /// Reads in one transaction, so that what is seen belongs together.
    pub(crate) async fn read<T, F>(&self, look: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Conn) -> Result<T, Error> + Send + 'static,
    {
        self.readers.run(look).await
    }
}

/// Declares the statements of a file as constants, and the list that a test prepares.
macro_rules! statements {
    ($($name:ident = $sql:expr;)*) => {
        $(const $name: &str = $sql;)*
        #[cfg(test)]
        pub(crate) const STATEMENTS: &[&str] = &[$($name,)*];
    };
}
pub(crate) use statements;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_statement_can_be_prepared() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        store
            .read(|conn| {
                let all = [
                    acts::STATEMENTS,
                    asks::STATEMENTS,
                    attempts::STATEMENTS,
                    calls::STATEMENTS,
                    cards::STATEMENTS,
                    comments::STATEMENTS,
                    deleted_logs::STATEMENTS,
                    diffs::STATEMENTS,
                    disk::STATEMENTS,
                    drafts::STATEMENTS,
                    events::STATEMENTS,
                    held::STATEMENTS,
                    findings::STATEMENTS,
                    images::STATEMENTS,
                    imports::STATEMENTS,
                    inputs::STATEMENTS,
                    limited::STATEMENTS,
                    lodgings::STATEMENTS,
                    merges::STATEMENTS,
                    notices::STATEMENTS,
                    order::STATEMENTS,
                    ports::STATEMENTS,
                    projects::STATEMENTS,
                    queue::STATEMENTS,
                    ready::STATEMENTS,
                    removed::STATEMENTS,
                    rules::STATEMENTS,
                    runs::STATEMENTS,
                    settings::STATEMENTS,
                    snapshots::STATEMENTS,
                    standing_agents::STATEMENTS,
                    starts::STATEMENTS,
                    tags::STATEMENTS,
                    tasks::STATEMENTS,
                    templates::STATEMENTS,
                    usages::STATEMENTS,
                ];
                for sql in all.concat() {
                    conn.prepare(sql).unwrap_or_else(|error| panic!("{sql}\n{error}"));
                }
                Ok(())
            })
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn an_attempt_has_used_what_its_runs_have_used_together() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let used = store
            .write(|tx| {
                tx.conn().batch(
                    "insert into projects (id, name, path, created_at, updated_at) values ('p', 'p', '/p', 0, 0);
                     insert into attempts (id, project_id, agent, state, branch, target_branch, base_commit,
                        worktree, worktree_deleted, prompt, created_at, updated_at)
                        values ('6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c', 'p', 'A', 'running', 'b', 'm', 'c', '/w', 0,
                        'hi', 0, 0);",
                )?;
                let attempt = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c".parse().unwrap();
                for tokens in [3, 4] {
                    let run = forge_model::RunId::random();
                    tx.conn().execute(
                        "insert into runs (id, attempt_id, kind, state, agent, prompt, dropped, closing,
                            stop_requested, started_at, created_at, updated_at)
                            values ($1, $2, 'agent', 'running', 'A', 'hi', 0, 0, 0, 0, 0, 0)",
                        conn::args![run, attempt],
                    )?;
                    let usage = forge_model::Usage { input_tokens: Some(tokens), ..Default::default() };
                    runs::set_usage(tx.conn(), run, usage)?;
                    // The log is folded again after a restart, and tells the same figure again.
                    runs::set_usage(tx.conn(), run, usage)?;
                }
                attempts::sum_usage(tx.conn(), attempt, tx.now())?;
                tx.conn().query("select input_tokens, cost_micros from attempts", &[])
            })
            .await
            .unwrap();
        assert_eq!((used[0].maybe_int(0).unwrap(), used[0].maybe_int(1).unwrap()), (Some(7), None));
    }

    #[tokio::test]
    async fn a_clock_that_is_set_back_changes_no_order_and_leaves_no_hole() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 0).unwrap();
        let attempt = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c".parse().unwrap();
        let written = store.write(move |tx| {
            tx.conn().batch(
                "insert into projects (id, name, path, created_at, updated_at) values ('p', 'p', '/p', 0, 0);
                 insert into attempts (id, project_id, agent, state, branch, target_branch, base_commit,
                    worktree, worktree_deleted, prompt, created_at, updated_at)
                    values ('6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c', 'p', 'A', 'running', 'b', 'm', 'c', '/w', 0,
                    'hi', 0, 0);
                 insert into events (seq, noun, id, op, at) values (1, 'task', 'a', 'add', 9000),
                    (2, 'task', 'b', 'add', 1000), (3, 'task', 'c', 'add', 9000), (4, 'task', 'd', 'add', 9000);
                 update seqs set n = 4 where name = 'events';",
            )?;
            for (id, at) in [("z", 5000), ("y", 5000), ("x", 4000)] {
                let waiting = queue::Waiting { id: id.into(), prompt: id.into(), variant: None, images: None };
                queue::add(tx.conn(), attempt, &waiting, forge_model::Time::from_millis(at))?;
            }
            let mut order = Vec::new();
            while let Some(next) = queue::next(tx.conn(), attempt)? {
                queue::sent(tx.conn(), &next.id, forge_model::RunId::random())?;
                order.push(next.id);
            }
            events::forget(tx.conn(), forge_model::Time::from_millis(5000))?;
            Ok((order, events::oldest(tx.conn())?))
        });
        let (order, oldest) = written.await.unwrap();
        assert_eq!(order, ["z", "y", "x"]);
        assert_eq!(oldest, Some(3));
    }
}
