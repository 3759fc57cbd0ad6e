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
    words: Option<Sender<()>>,
    drawer: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to draw what is going on.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        if !io::stderr().is_terminal() {
            return Self { words: None, drawer: None };
        }
        let (words, told) = channel::<()>();
        let what = what.into();
        let drawer = thread::spawn(move || {
            let begun = Instant::now();
            let mut wait = PATIENCE;
            loop {
                match told.recv_timeout(wait) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Timeout) => {
                        wait = REDRAW;
                        // Nobody reading it is no reason to stop.
                        let _ = write!(io::stderr(), "\r\x1b[K{what}… {} s", begun.elapsed().as_secs());
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            if wait == REDRAW {
                let _ = write!(io::stderr(), "\r\x1b[K");
            }
        });
        Self { words: Some(words), drawer: Some(drawer) }
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
