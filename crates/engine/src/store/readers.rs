//! The threads that read: one for each connection, and none of anybody else's.
//!
//! What else blocks, on git or a disk that does not answer, has threads of its own, so a read never waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use tokio::sync::oneshot;

use super::conn::{Conn, Error};

/// How many reads may go on at once.
const READERS: usize = 4;

/// A look at the database, waiting for its turn; given an error instead of a connection, it passes that on.
type Look = Box<dyn FnOnce(Result<&Conn, Error>) + Send>;

/// The way to the threads that read. They end when it is dropped.
#[derive(Debug)]
pub(crate) struct Readers {
    looks: mpsc::Sender<Look>,
}

impl Readers {
    /// Starts the threads; each opens its connection when it is first needed.
    pub(crate) fn start(path: &Path) -> Result<Self, Error> {
        let (looks, inbox) = mpsc::channel::<Look>();
        let inbox = Arc::new(Mutex::new(inbox));
        for number in 0..READERS {
            let (path, inbox) = (path.to_path_buf(), Arc::clone(&inbox));
            std::thread::Builder::new()
                .name(format!("store-reader-{number}"))
                .spawn(move || read_all(&path, &inbox))
                .map_err(|error| Error::Other(error.to_string()))?;
        }
        Ok(Self { looks })
    }

    /// Reads in one transaction. One whose caller has gone away before its turn is not read at all.
    pub(crate) async fn run<T, F>(&self, look: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Conn) -> Result<T, Error> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let look: Look = Box::new(move |conn| {
            if !answer.is_closed() {
                // The caller may have gone away meanwhile; nothing was changed by it.
                let _ = answer.send(conn.and_then(|conn| in_transaction(conn, look)));
            }
        });
        self.looks.send(look).map_err(|_| Error::Closed)?;
        answered.await.map_err(|_| Error::Closed)?
    }
}

/// Takes looks until the store is dropped. One that panics costs its connection, and no thread.
fn read_all(path: &Path, inbox: &Mutex<mpsc::Receiver<Look>>) {
    let mut kept = None;
    loop {
        // Whoever waits for the next look holds the lock; the others wait for the lock.
        let next = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(look) = next else { return };
        let conn = match kept.take() {
            Some(conn) => Ok(conn),
            None => Conn::reader(path),
        };
        let looked = catch_unwind(AssertUnwindSafe(|| match conn {
            Ok(conn) => {
                look(Ok(&conn));
                Some(conn)
            }
            Err(error) => {
                look(Err(error));
                None
            }
        }));
        kept = looked.ok().flatten().filter(|conn| !conn.in_transaction());
    }
}

fn in_transaction<T>(conn: &Conn, look: impl FnOnce(&Conn) -> Result<T, Error>) -> Result<T, Error> {
    conn.batch("begin")?;
    let seen = look(conn);
    conn.batch("rollback")?;
    seen
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Far more than a read takes on a busy machine.
    const SOON: Duration = Duration::from_secs(30);

    fn readers() -> (tempfile::TempDir, Readers) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        drop(Conn::writer(&path).unwrap());
        let readers = Readers::start(&path).unwrap();
        (dir, readers)
    }

    async fn one(readers: &Readers) -> Result<i64, Error> {
        readers.run(|conn| conn.query("select 1", &[])?[0].int(0)).await
    }

    #[test]
    fn a_read_is_answered_while_every_thread_for_what_blocks_is_taken() {
        let (_dir, readers) = readers();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .max_blocking_threads(1)
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (go, gone) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || gone.recv());
        let answer = runtime.block_on(async { tokio::time::timeout(SOON, one(&readers)).await });
        assert_eq!(answer.unwrap().unwrap(), 1);
        drop(go);
    }

    #[tokio::test]
    async fn a_look_that_panics_takes_no_reader_along() {
        let (_dir, readers) = readers();
        for _ in 0..2 * READERS {
            let broken = readers.run(|_| -> Result<(), Error> { panic!("on purpose") }).await;
            assert!(matches!(broken, Err(Error::Closed)));
        }
        assert_eq!(one(&readers).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_look_that_nobody_waits_for_any_more_is_not_taken() {
        let (_dir, readers) = readers();
        let mut held = Vec::new();
        for _ in 0..READERS {
            let (go, gone) = mpsc::channel::<()>();
            let (begun, begins) = oneshot::channel();
            let readers = readers.looks.clone();
            let look: Look = Box::new(move |_| {
                begun.send(()).unwrap();
                // Its end is the word.
                let _ = gone.recv();
            });
            readers.send(look).unwrap();
            begins.await.unwrap();
            held.push(go);
        }
        let (looked, looks) = mpsc::channel::<()>();
        let given_up = readers.run(move |_| {
            looked.send(()).unwrap();
            Ok(())
        });
        assert!(tokio::time::timeout(Duration::from_millis(20), given_up).await.is_err());
        drop(held);
        assert_eq!(one(&readers).await.unwrap(), 1);
        assert!(looks.recv_timeout(SOON).is_err(), "it was read for nobody");
    }
}
