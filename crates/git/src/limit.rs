//! Running a command with a time limit, together with everything that it started.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long a command may take to end after it was asked to; git uses it to remove its lock files.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a command as its own process group. Returns nothing when the time was up and the group was ended.
pub(crate) fn run_for(command: &mut Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.process_group(0).spawn()?;
    let pid = pid_of(&child)?;
    let (done, ended) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            // The child is left unreaped, so that its number stays its own until we have stopped signalling it.
            let wait = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), wait) {}
            let _receiver_gone = done.send(());
        });
        let in_time = ended.recv_timeout(limit).is_ok();
        if !in_time {
            // Signalling a group that has just ended fails, and that is as good.
            let _gone = kill_process_group(pid, Signal::TERM);
            let _late = ended.recv_timeout(GRACE);
            let _gone = kill_process_group(pid, Signal::KILL);
        }
        let status = child.wait()?;
        Ok(in_time.then_some(status))
    })
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    let raw = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| io::Error::other("a child without a process id"))
}
