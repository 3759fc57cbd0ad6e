//! The agent as the shim's threads see it: running, ended, recorded; and how it is brought to an end.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group, wait, waitid};

use super::lock;
use crate::protocol::{Ladder, Signal};
use crate::{Exit, os, sweep};

#[derive(Debug)]
pub(super) struct Agent {
    pub(super) pid: Pid,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How far up the ladder somebody has been.
    asked: Step,
    ended: Option<Ended>,
    exit: Option<Exit>,
    /// How many connections have yet to tell of the exit.
    telling: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    #[default]
    Nothing,
    Interrupt,
    Terminate,
    Kill,
}

/// How the agent's own process ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) stopped: bool,
    pub(super) at_ms: i64,
}

impl Agent {
    pub(super) fn new(pid: Pid) -> Self {
        Self { pid, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Reaps whatever ends, as a subreaper must, until the agent itself has ended.
    pub(super) fn wait(&self) -> io::Result<Ended> {
        loop {
            // Only looks: the agent's pid stays its own until it is reaped under the lock that
            // everybody takes to signal it.
            match waitid(rustix::process::WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.reap()?;
            if let Some(ended) = lock(&self.state).ended {
                return Ok(ended);
            }
        }
    }

    /// Ends everything the agent left behind, descendants first and then whatever carries the
    /// marker, and returns how many that were.
    pub(super) fn sweep(&self, run: &str) -> io::Result<u32> {
        let marker = sweep::marker(run);
        sweep::end_all(|| {
            loop {
                let any_left = self.reap()?;
                let found = os::descendants()?;
                if !found.is_empty() {
                    return Ok(found);
                }
                if !any_left {
                    return sweep::marked(&marker);
                }
                // A child ended between the two looks.
            }
        })
    }

    /// Signals the agent's group. False when the agent has ended.
    pub(super) fn signal(&self, signal: Signal) -> io::Result<bool> {
        let state = lock(&self.state);
        self.send(&state, number(signal))
    }

    pub(super) fn is_running(&self) -> bool {
        lock(&self.state).ended.is_none()
    }

    /// Climbs the ladder as far as needed. Two at once do not signal twice; the quicker one leads.
    pub(super) fn stop(&self, ladder: Ladder) -> io::Result<()> {
        let steps = [
            (Step::Interrupt, Signal::Int, ladder.int_ms),
            (Step::Terminate, Signal::Term, ladder.term_ms),
            (Step::Kill, Signal::Kill, 1),
        ];
        for (step, signal, wait_ms) in steps {
            if wait_ms == 0 {
                continue;
            }
            let mut state = lock(&self.state);
            if state.asked < step {
                // A run that ended by itself was not stopped.
                if state.ended.is_none() {
                    state.asked = step;
                }
                self.send(&state, number(signal))?;
            }
            let deadline = Instant::now() + Duration::from_millis(wait_ms);
            let state = self.wait_until(state, deadline, |state| state.ended.is_some());
            if state.ended.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Waits for the exit record. `None` when `give_up` says so, which is asked now and then.
    pub(super) fn wait_for_exit(&self, give_up: impl Fn() -> bool) -> Option<Exit> {
        let mut state = lock(&self.state);
        state.telling += 1;
        loop {
            let deadline = Instant::now() + Duration::from_millis(500);
            state = self.wait_until(state, deadline, |state| state.exit.is_some());
            if state.exit.is_some() || (state.ended.is_some() && give_up()) {
                break;
            }
        }
        if state.exit.is_none() {
            state.telling -= 1;
        }
        state.exit.clone()
    }

    /// To be called once the exit has been told.
    pub(super) fn told(&self) {
        lock(&self.state).telling -= 1;
        self.changed.notify_all();
    }

    /// Announces the exit record and lets those who waited for it tell of it.
    pub(super) fn announce(&self, exit: Exit) {
        let mut state = lock(&self.state);
        state.exit = Some(exit);
        self.changed.notify_all();
        // They can also read it from the directory, so none is worth a long wait.
        drop(self.wait_until(state, Instant::now() + Duration::from_secs(1), |state| state.telling == 0));
    }

    /// Reaps what has ended. False when there are no children at all.
    fn reap(&self) -> io::Result<bool> {
        let mut state = lock(&self.state);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.pid => {
                    let stopped = state.asked > Step::Nothing;
                    state.ended = Some(ended(status, stopped));
                    self.changed.notify_all();
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(true),
                Err(Errno::CHILD) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn send(&self, state: &State, signal: rustix::process::Signal) -> io::Result<bool> {
        if state.ended.is_some() {
            return Ok(false);
        }
        match kill_process_group(self.pid, signal) {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn wait_until<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        deadline: Instant,
        done: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        while !done(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }
}

fn ended(status: WaitStatus, stopped: bool) -> Ended {
    let at_ms = (super::now_us() / 1000) as i64;
    Ended { code: status.exit_status(), signal: status.terminating_signal(), stopped, at_ms }
}

fn number(signal: Signal) -> rustix::process::Signal {
    use rustix::process::Signal as Number;
    match signal {
        Signal::Hup => Number::HUP,
        Signal::Int => Number::INT,
        Signal::Quit => Number::QUIT,
        Signal::Term => Number::TERM,
        Signal::Kill => Number::KILL,
    }
}
