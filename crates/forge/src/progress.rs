//! One redrawn line on standard error while something takes long, and only where a person sees it.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What is done sooner needs no line.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the line is drawn again.
const REDRAW: Duration = Duration::from_millis(250);

/// A line that is there until this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    words: Option<Sender<String>>,
    drawer: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to draw what is going on.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        if !io::stderr().is_terminal() {
            return Self { words: None, drawer: None };
        }
        let (words, told) = channel::<String>();
        let mut what = what.into();
        let drawer = thread::spawn(move || {
            let begun = Instant::now();
            let (mut next, mut drawn) = (begun + PATIENCE, false);
            loop {
                match told.recv_timeout(next.saturating_duration_since(Instant::now())) {
                    Ok(newer) => what = newer,
                    Err(RecvTimeoutError::Timeout) => {
                        (next, drawn) = (Instant::now() + REDRAW, true);
                        // Nobody reading it is no reason to stop.
                        let _ = write!(io::stderr(), "\r\x1b[K{what}… {} s", begun.elapsed().as_secs());
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            if drawn {
                let _ = write!(io::stderr(), "\r\x1b[K");
            }
        });
        Self { words: Some(words), drawer: Some(drawer) }
    }

    /// Says what is going on now.
    pub(crate) fn now(&self, what: impl FnOnce() -> String) {
        if let Some(words) = &self.words {
            // The drawer lives as long as this does.
            let _ = words.send(what());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.words.take());
        if let Some(drawer) = self.drawer.take() {
            // A drawer that failed has left nothing to wait for.
            let _ = drawer.join();
        }
    }
}
