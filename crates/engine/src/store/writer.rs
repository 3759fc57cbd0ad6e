//! The one thread that writes, many transactions to a commit.
//!
//! Every act runs in a savepoint of its own, so one that fails takes back only what it did; all acts that
//! wait together are made durable by one commit, and each caller hears of its act only after that commit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use forge_model::{AttemptId, Event, Noun, Op, ProjectId, Time};
use tokio::sync::{oneshot, watch};

use super::conn::{Conn, Error};
use super::events;

/// How many acts one commit may carry.
const MOST: usize = 64;

/// An act on the database, its events gathered beside it.
#[derive(Debug)]
pub(crate) struct Tx<'a> {
    conn: &'a Conn,
    now: Time,
    events: Vec<Event>,
}

impl Tx<'_> {
    /// The connection, for the functions of the nouns.
    pub(crate) fn conn(&self) -> &Conn {
        self.conn
    }

    /// The moment of this act.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Says that something changed. The number is given just before the act is done.
    pub(crate) fn changed(
        &mut self,
        noun: Noun,
        id: impl ToString,
        op: Op,
        project: Option<ProjectId>,
        attempt: Option<AttemptId>,
    ) {
        self.events.push(Event { seq: 0, noun, id: id.to_string(), project, attempt, op, at: self.now });
    }
}

/// An act waiting for its turn; given an error instead of a connection, it passes that on to its caller.
type Act = Box<dyn FnOnce(Result<&Conn, &Error>) -> Done + Send>;
type Done = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// The way to the writing thread.
#[derive(Debug)]
pub(crate) struct Writer {
    acts: mpsc::Sender<Act>,
    counts: Arc<Counts>,
}

/// Ends the process when the thread panics. Reads would go on, and every write would be refused until somebody notices;
/// agents run on without a server, and the next one finds everything as it was committed.
struct Deadly;

impl Drop for Deadly {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let sentence = "Forge ends: its one thread that writes to the database failed. What was not committed is taken \
                            back, agents run on; start it again with `forge serve`, and report the lines above";
            tracing::error!("{sentence}");
            // A log that is switched off does not show it.
            eprintln!("{sentence}");
            std::process::abort();
        }
    }
}

/// How busy the thread is; only ever looked at.
#[derive(Debug, Default)]
struct Counts {
    commits: AtomicU64,
    waiting: AtomicU64,
}

impl Writer {
    /// Starts the thread; the receiver is the bell.
    pub(crate) fn start(conn: Conn) -> Result<(Self, watch::Receiver<i64>), Error> {
        let (ring, bell) = watch::channel(events::newest(&conn)?);
        let (acts, inbox) = mpsc::channel();
        let counts = Arc::new(Counts::default());
        std::thread::Builder::new()
            .name("store-writer".into())
            .spawn({
                let counts = Arc::clone(&counts);
                move || {
                    let _deadly = Deadly;
                    write_all(&conn, &inbox, &ring, &counts);
                }
            })
            .map_err(|error| Error::Other(error.to_string()))?;
        Ok((Self { acts, counts }, bell))
    }

    /// How many commits there were, and how many acts wait for one.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.counts.commits.load(Ordering::Relaxed), self.counts.waiting.load(Ordering::Relaxed))
    }

    /// Runs one act and answers after its commit.
    pub(crate) async fn run<T, F>(&self, act: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, Error> + Send + 'static,
    {
        let (job, answered) = job(act);
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        self.acts.send(job).map_err(|_| Error::Closed)?;
        answered.await.map_err(|_| Error::Closed)?
    }
}

/// Makes an act that answers its caller.
fn job<T, F>(act: F) -> (Act, oneshot::Receiver<Result<T, Error>>)
where
    T: Send + 'static,
    F: FnOnce(&mut Tx<'_>) -> Result<T, Error> + Send + 'static,
{
    let (answer, answered) = oneshot::channel();
    let job: Act = Box::new(move |conn| {
        let outcome = conn.map_err(same).and_then(|conn| in_savepoint(conn, act));
        Box::new(move |committed| {
            // The caller may have gone away; its act stands all the same.
            let _ = answer.send(outcome.and_then(|value| committed.map(|()| value)));
        })
    });
    (job, answered)
}

/// Takes acts until the store is dropped.
fn write_all(conn: &Conn, inbox: &mpsc::Receiver<Act>, ring: &watch::Sender<i64>, counts: &Counts) {
    while let Ok(first) = inbox.recv() {
        let mut waiting: Vec<Act> = vec![first];
        waiting.extend(inbox.try_iter().take(MOST - 1));
        let taken = waiting.len() as u64;
        counts.waiting.fetch_sub(taken, Ordering::Relaxed);
        if let Err(error) = conn.batch("begin immediate") {
            for act in waiting {
                act(Err(&error))(Ok(()));
            }
            continue;
        }
        let done: Vec<Done> = waiting.into_iter().map(|act| act(Ok(conn))).collect();
        let committed = conn.batch("commit");
        counts.commits.fetch_add(u64::from(committed.is_ok()), Ordering::Relaxed);
        if committed.is_err() {
            // Leave no transaction open behind a failed commit; there is nothing else to take back.
            let _ = conn.batch("rollback");
        }
        if let Ok(seq) = events::newest(conn) {
            ring.send_if_modified(|newest| std::mem::replace(newest, seq) != seq);
        }
        for tell in done {
            tell(match &committed {
                Ok(()) => Ok(()),
                Err(error) => Err(same(error)),
            });
        }
    }
}

/// Copies an error, so that every waiting caller gets it.
fn same(error: &Error) -> Error {
    match error {
        Error::Full => Error::Full,
        Error::Corrupt(detail) => Error::Corrupt(detail.clone()),
        other => Error::Other(other.to_string()),
    }
}

/// Runs an act so that a failure takes back what it did and nothing else.
fn in_savepoint<T>(conn: &Conn, act: impl FnOnce(&mut Tx<'_>) -> Result<T, Error>) -> Result<T, Error> {
    if !conn.in_transaction() {
        // A savepoint of its own would be committed while its caller hears that it was not.
        return Err(Error::Other("an act before it ended the transaction that both were in".to_string()));
    }
    conn.batch("savepoint act")?;
    let mut tx = Tx { conn, now: now(), events: Vec::new() };
    let outcome = act(&mut tx).and_then(|value| {
        events::insert(conn, &tx.events)?;
        Ok(value)
    });
    match outcome {
        Ok(value) => {
            conn.batch("release act")?;
            Ok(value)
        }
        Err(error) => {
            // A full disk can end the whole transaction, and the savepoint with it.
            if conn.batch("rollback to act").is_ok() {
                conn.batch("release act")?;
            }
            Err(error)
        }
    }
}

/// The moment now. A clock before 1970 counts as 1970.
pub(crate) fn now() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names the database in the process that is to die.
    const DOOMED: &str = "FORGE_TEST_DOOMED";

    #[test]
    fn a_panic_of_the_thread_that_writes_ends_the_process_with_a_sentence() {
        if let Some(path) = std::env::var_os(DOOMED) {
            let conn = Conn::writer(std::path::Path::new(&path)).unwrap();
            conn.batch(
                "create table seqs (name text, n integer) strict; insert into seqs values ('events', 0);
                 create table events (seq integer) strict;",
            )
            .unwrap();
            let (writer, _bell) = Writer::start(conn).unwrap();
            let act = writer.run(|tx| {
                let rows = tx.conn().query("select seq from events", &[])?;
                rows[0].int(0)
            });
            let told = tokio::runtime::Runtime::new().unwrap().block_on(act);
            // Callers hear that their act was not done a moment before the process ends.
            std::thread::park_timeout(std::time::Duration::from_secs(30));
            panic!("the process lives on: {told:?}");
        }
        let dir = tempfile::tempdir().unwrap();
        let this = "store::writer::tests::a_panic_of_the_thread_that_writes_ends_the_process_with_a_sentence";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", this, "--nocapture"])
            .env(DOOMED, dir.path().join("x.db"))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(rustix::process::Signal::ABORT.as_raw()), "{told}");
        assert!(
            told.contains("index out of bounds") && told.contains("start it again with `forge serve`"),
            "{told}"
        );
    }

    #[test]
    fn what_fails_with_the_transaction_is_told_so_and_not_done() {
        let dir = tempfile::tempdir().unwrap();
        let conn = Conn::writer(&dir.path().join("x.db")).unwrap();
        conn.batch(
            "create table seqs (name text, n integer) strict; insert into seqs values ('events', 0);
             create table t (x text) strict; pragma max_page_count = 8;",
        )
        .unwrap();
        let put = |size: usize| {
            job(move |tx: &mut Tx<'_>| {
                tx.conn()
                    .execute("insert into t (x) values ($1)", super::super::conn::args!["x".repeat(size)])
            })
        };
        let ((small, told), (large, refused), (later, unheard)) = (put(1), put(1 << 20), put(1));
        let (acts, inbox) = mpsc::channel();
        for act in [small, large, later] {
            acts.send(act).unwrap();
        }
        drop(acts);
        write_all(&conn, &inbox, &watch::channel(0).0, &Counts { waiting: 3.into(), ..Counts::default() });
        assert!(matches!(refused.blocking_recv().unwrap(), Err(Error::Full)));
        let done = [told, unheard].map(|answer| answer.blocking_recv().unwrap().is_ok());
        let rows = conn.query("select count(*) from t", &[]).unwrap()[0].int(0).unwrap();
        assert_eq!(rows, done.iter().filter(|done| **done).count() as i64, "{done:?}");
    }
}
