//! Running a call of git with a time limit, together with everything that it started.
//!
//! Every call leads a process group of its own and is known here for as long as it runs. It ends by itself, when its
//! time is up, or when the owner of this git ends all its calls; then its whole group gets TERM, by which git removes
//! its lock files, and later KILL. A process that waits for a disk that does not answer cannot even be killed, so it
//! is left to a thread of its own: the caller is told in time all the same.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::binary::Git;
use crate::children;

/// What most calls take is milliseconds. This is for a machine that pages, or a disk that has to wake up.
const QUICK: Duration = Duration::from_secs(2 * 60);

/// For what reads every file or all of the history, and for whoever waits behind others: a million files on a network
/// disk take minutes.
pub(crate) const READING: Duration = Duration::from_secs(10 * 60);

/// For what writes files: a filter may download each of them.
pub(crate) const WRITING: Duration = Duration::from_secs(60 * 60);

/// How long a call may take to end after it was asked to; git uses it to remove its lock files.
const GRACE: Duration = Duration::from_secs(5);

/// How long the system may take to end what was killed, before it is left to itself.
const KILLED: Duration = Duration::from_secs(1);

/// How often it is looked whether a process has ended, where the system does not tell.
const TICK: Duration = Duration::from_millis(20);

/// What is read of a pipe at once: as much as it holds.
const PIPE: usize = 64 * 1024;

/// What is made room for at first.
const LINES: usize = 4 * 1024;

/// The most that a pipe may hold when its writer has ended.
const FULL_PIPE: usize = 1 << 20;

/// Says how long a call may take: by its verb, for everything but commits, fetches and pushes, whose callers say.
pub(crate) fn usual(verb: &str) -> Duration {
    match verb {
        "read-tree" | "reset" | "checkout" | "merge" | "stash" => WRITING,
        "status" | "add" | "update-index" | "write-tree" | "ls-files" | "ls-tree" | "diff-files"
        | "diff-index" | "diff-tree" | "cat-file" | "check-ignore" | "check-attr" | "merge-tree"
        | "merge-base" | "rev-list" | "log" | "prune" => READING,
        _ => QUICK,
    }
}

/// How a call came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(ExitStatus),
    /// Its time was up.
    TimeUp,
    /// The owner of this git has ended all calls.
    Stopped,
}

/// What a call wrote, and how it ended.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) end: End,
    pub(crate) output: Vec<u8>,
    pub(crate) errors: Vec<u8>,
}

/// The calls of one git that are under way.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    groups: Mutex<HashMap<Pid, Told>>,
    /// Rings when one of them has ended.
    ended: Condvar,
    /// Nothing is started any more.
    is_closed: AtomicBool,
    /// How many were ended because their time was up.
    overdue: AtomicU64,
    /// In milliseconds, the most that any call may take; 0 for its usual time.
    most: AtomicU64,
}

/// Whether a group was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    End,
}

impl Calls {
    /// How many calls were ended because their time was up.
    pub(crate) fn overdue(&self) -> u64 {
        self.overdue.load(Ordering::Relaxed)
    }

    /// Counts a call whose time was up.
    pub(crate) fn was_overdue(&self) {
        self.overdue.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives no call more time than this.
    pub(crate) fn limit(&self, most: Duration) {
        self.most.store(u64::try_from(most.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn at_most(&self, limit: Duration) -> Duration {
        match self.most.load(Ordering::Relaxed) {
            0 => limit,
            most => limit.min(Duration::from_millis(most)),
        }
    }

    /// Ends everything that is under way, and lets nothing be started any more. Returns when all of it was told to
    /// end and has, or was killed.
    pub(crate) fn close(&self) {
        let mut groups = self.groups();
        self.is_closed.store(true, Ordering::SeqCst);
        for (pid, told) in groups.iter_mut() {
            *told = Told::End;
            ask_to_end(*pid);
        }
        let is_running = |groups: &mut HashMap<Pid, Told>| !groups.is_empty();
        let waited = self.ended.wait_timeout_while(groups, GRACE, is_running);
        let (groups, _) = waited.unwrap_or_else(PoisonError::into_inner);
        for pid in groups.keys() {
            kill(*pid);
        }
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<Pid, Told>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that was started. It is ended when this is dropped.
pub(crate) struct Running {
    git: Git,
    /// None once it was waited for, or was left to itself.
    child: Option<Child>,
    pid: Pid,
    /// Readable when the process has ended; none where the system has no such thing.
    exit: Option<OwnedFd>,
    limit: Duration,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Running({:?})", self.pid)
    }
}

impl Running {
    /// Starts a command as a process group of its own; none when nothing is started any more.
    pub(crate) fn start(git: &Git, command: &mut Command, limit: Duration) -> io::Result<Option<Running>> {
        let calls = git.calls();
        if calls.is_closed.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let mut child = children::spawn(command.process_group(0))?;
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            let _ended = child.kill().and_then(|()| child.wait());
            return Err(io::Error::other("a child without a process id"));
        };
        calls.groups().insert(pid, Told::Nothing);
        if calls.is_closed.load(Ordering::SeqCst) {
            // It was started beside the look of whoever ended all.
            calls.groups().insert(pid, Told::End);
            ask_to_end(pid);
        }
        let limit = calls.at_most(limit);
        Ok(Some(Running { git: git.clone(), child: Some(child), pid, exit: exit_of(pid), limit }))
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// How long it may take.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Takes the pipes of a child that is spoken to in turns.
    pub(crate) fn pipes(&mut self) -> Option<(ChildStdin, std::process::ChildStdout)> {
        let child = self.child.as_mut()?;
        Some((child.stdin.take()?, child.stdout.take()?))
    }

    /// Waits for the end of a call that writes into files, or of its time.
    pub(crate) fn wait(mut self) -> io::Result<End> {
        let deadline = Instant::now() + self.limit;
        match self.exits_before(deadline)? {
            true => self.reap(),
            false => Ok(self.overdue()),
        }
    }

    /// Gives it its input, reads what it writes, and waits for its end or that of its time. When it writes more than
    /// `most`, it is ended, and one byte more than that is returned.
    pub(crate) fn hear(mut self, input: Option<Vec<u8>>, most: Option<u64>) -> io::Result<Heard> {
        let deadline = Instant::now() + self.limit;
        let child = self.child.as_mut();
        let (stdin, stdout, stderr) = match child {
            Some(child) => (child.stdin.take(), child.stdout.take(), child.stderr.take()),
            None => (None, None, None),
        };
        let mut source = Source::of(stdin, input)?;
        let most = most.map_or(usize::MAX, |most| {
            usize::try_from(most).map_or(usize::MAX, |most| most.saturating_add(1))
        });
        let (mut output, mut errors) = (Sink::of(stdout, most)?, Sink::of(stderr, usize::MAX)?);
        let end = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break self.overdue();
            }
            let has_ended = self.look(left, &source, &output, &errors)?;
            // What it wrote before it ended is in the pipes. What outlives it may hold them open for as long as it likes.
            let room = if has_ended { FULL_PIPE } else { PIPE };
            output.take(room)?;
            errors.take(room)?;
            source.give()?;
            if output.bytes.len() >= most {
                kill(self.pid);
                let _ended = self.exits_before(Instant::now() + KILLED)?;
                break self.reap_or_leave()?;
            }
            if has_ended {
                break self.reap()?;
            }
        };
        Ok(Heard { end, output: output.bytes, errors: errors.bytes })
    }

    /// Waits until something can be read or written, or the process has ended; says whether it has.
    fn look(&self, most: Duration, source: &Source, output: &Sink, errors: &Sink) -> io::Result<bool> {
        let mut fds = Vec::with_capacity(4);
        fds.extend(self.exit.as_ref().map(|exit| PollFd::new(exit, PollFlags::IN)));
        fds.extend(source.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        fds.extend(
            [output, errors]
                .into_iter()
                .filter_map(|sink| sink.fd())
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)),
        );
        let tells = self.exit.is_some();
        wait_for(&mut fds, if tells { most } else { most.min(TICK) })?;
        match tells {
            true => Ok(!fds[0].revents().is_empty()),
            false => has_ended(self.pid),
        }
    }

    /// Waits until the process has ended, and leaves it unreaped, so that its number stays its own.
    fn exits_before(&self, deadline: Instant) -> io::Result<bool> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut fds: Vec<_> = self.exit.iter().map(|exit| PollFd::new(exit, PollFlags::IN)).collect();
            let tells = !fds.is_empty();
            wait_for(&mut fds, if tells { left } else { left.min(TICK) })?;
            if if tells { !fds[0].revents().is_empty() } else { has_ended(self.pid)? } {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// Ends the group of a call whose time is up.
    fn overdue(&mut self) -> End {
        self.git.calls().was_overdue();
        ask_to_end(self.pid);
        let _late = self.exits_before(Instant::now() + GRACE);
        kill(self.pid);
        let _late = self.exits_before(Instant::now() + KILLED);
        // Whatever became of it, its time was up.
        let _end = self.reap_or_leave();
        End::TimeUp
    }

    /// Collects a process that has ended.
    fn reap(&mut self) -> io::Result<End> {
        let told = self.forget();
        let status = self.child.take().map(|mut child| child.wait()).transpose()?;
        match (told, status) {
            (Some(Told::End), _) | (_, None) => Ok(End::Stopped),
            (_, Some(status)) => Ok(End::Exited(status)),
        }
    }

    /// Collects a process that was killed, or has a thread wait for one that the system could not end yet.
    fn reap_or_leave(&mut self) -> io::Result<End> {
        if has_ended(self.pid)? {
            return self.reap();
        }
        self.forget();
        if let Some(mut child) = self.child.take() {
            // Without that thread it stays a zombie, which is no worse.
            let _left = std::thread::Builder::new().name("git-left".into()).spawn(move || drop(child.wait()));
        }
        Ok(End::Stopped)
    }

    /// Takes it from the calls under way; before it is reaped, because its number may be another's after that.
    fn forget(&self) -> Option<Told> {
        let calls = self.git.calls();
        let told = calls.groups().remove(&self.pid);
        calls.ended.notify_all();
        told
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.is_none() {
            return;
        }
        kill(self.pid);
        let _late = self.exits_before(Instant::now() + KILLED);
        let _end = self.reap_or_leave();
    }
}

/// What a call is told, as it takes it.
struct Source {
    pipe: Option<ChildStdin>,
    bytes: Vec<u8>,
    at: usize,
}

impl Source {
    fn of(pipe: Option<ChildStdin>, bytes: Option<Vec<u8>>) -> io::Result<Source> {
        let pipe = pipe.filter(|_| bytes.is_some());
        if let Some(pipe) = &pipe {
            without_waiting(pipe.as_fd())?;
        }
        Ok(Source { pipe, bytes: bytes.unwrap_or_default(), at: 0 })
    }

    fn give(&mut self) -> io::Result<()> {
        while let Some(pipe) = &self.pipe {
            match rustix::io::write(pipe, &self.bytes[self.at..]) {
                _ if self.at == self.bytes.len() => self.pipe = None,
                Ok(written) => self.at += written,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                // Git may end before it has read everything; its exit code tells that, not the broken pipe.
                Err(_) => self.pipe = None,
            }
        }
        Ok(())
    }
}

/// What a call says.
struct Sink {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    most: usize,
}

impl Sink {
    fn of(pipe: Option<impl Into<OwnedFd>>, most: usize) -> io::Result<Sink> {
        let pipe = pipe.map(Into::into);
        if let Some(pipe) = &pipe {
            without_waiting(pipe.as_fd())?;
        }
        Ok(Sink { pipe, bytes: Vec::new(), most })
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(OwnedFd::as_fd)
    }

    /// Reads what is there, up to about `room`.
    fn take(&mut self, room: usize) -> io::Result<()> {
        let until = self.bytes.len().saturating_add(room);
        while let Some(pipe) = &self.pipe
            && self.bytes.len() < until.min(self.most)
        {
            if self.bytes.capacity() - self.bytes.len() < LINES / 2 {
                // Most answers are a line or nothing.
                self.bytes.reserve(if self.bytes.is_empty() { LINES } else { PIPE });
            }
            match rustix::io::read(pipe, rustix::buffer::spare_capacity(&mut self.bytes)) {
                Ok(0) => self.pipe = None,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        self.bytes.truncate(self.most);
        Ok(())
    }
}

/// A pipe that is read until a moment, and not after it.
#[derive(Debug)]
pub(crate) struct Timed<P> {
    pub(crate) pipe: P,
    pub(crate) until: Instant,
}

impl<P: Read + AsFd> Read for Timed<P> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::new(&self.pipe, PollFlags::IN)];
        wait_for(&mut fds, left)?;
        match fds[0].revents().is_empty() {
            true if left.is_zero() => Err(io::ErrorKind::TimedOut.into()),
            true => Err(io::ErrorKind::Interrupted.into()),
            false => self.pipe.read(into),
        }
    }
}

/// Waits for the first of them, or as long as that.
fn wait_for(fds: &mut [PollFd<'_>], most: Duration) -> io::Result<()> {
    // A fraction of a millisecond more is no harm, and none less makes no busy loop.
    let most = Timespec {
        tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: most.subsec_nanos().into(),
    };
    match poll(fds, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn without_waiting(pipe: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(pipe, true)?)
}

/// Opens what tells the end of a process. Without it, it is looked at now and then.
fn exit_of(pid: Pid) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    return rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(target_os = "linux"))]
    {
        let _unused = pid;
        None
    }
}

fn has_ended(pid: Pid) -> io::Result<bool> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    loop {
        match waitid(WaitId::Pid(pid), look) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(status) => return Ok(status.is_some()),
        }
    }
}

/// Asks a group to end. One that is stopped has to go on for that.
fn ask_to_end(pid: Pid) {
    // Signalling a group that has just ended fails, and that is as good.
    let _gone = kill_process_group(pid, Signal::TERM);
    let _gone = kill_process_group(pid, Signal::CONT);
}

fn kill(pid: Pid) {
    let _gone = kill_process_group(pid, Signal::KILL);
}
