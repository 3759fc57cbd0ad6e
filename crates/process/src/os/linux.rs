//! What the shim asks Linux for, about itself and its descriptors.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Resource, Rlimit, Signal};

use crate::layout::CONTROL;

/// The running program, also after its file was replaced or removed.
pub(crate) fn own_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// Puts on the disk whatever was written to the file system of a file.
pub(crate) fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

/// A pipe whose writing end survives an exec, for the one child about to be started.
pub(crate) fn inheritable_pipe() -> io::Result<(File, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::empty())?;
    fcntl_setfd(&read, FdFlags::CLOEXEC)?;
    Ok((File::from(read), write))
}

/// Takes over the writing end of an inherited pipe; the copy is closed by an exec.
pub(crate) fn open_inherited(fd: RawFd) -> io::Result<File> {
    OpenOptions::new().write(true).open(format!("/proc/self/fd/{fd}"))
}

/// Closes everything a careless parent left open beyond the standard streams and `keep`.
///
/// Only right while nothing in this process owns a descriptor: first thing in `main`.
pub(crate) fn close_inherited(keep: Option<RawFd>) -> io::Result<()> {
    let mut open = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        if let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()) {
            open.push(fd);
        }
    }
    for fd in open.into_iter().filter(|fd| *fd > 2 && Some(*fd) != keep) {
        // The listing's own descriptor is in the list and closed by now.
        let _ = nix::unistd::close(fd);
    }
    Ok(())
}

/// Makes orphaned descendants children of this process, so that none can slip away.
pub(crate) fn become_subreaper() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Asks to be killed when the parent dies. False when it is dead already.
pub(crate) fn die_with_parent(parent: u32) -> io::Result<bool> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(rustix::process::getppid().map(Pid::as_raw_nonzero).map(|pid| pid.get() as u32) == Some(parent))
}

/// Makes the kernel prefer this process and its children to the shim when memory runs out.
/// Sets how many descriptors a process may have open, or this one.
pub(crate) fn limit_descriptors(pid: Option<Pid>, limit: Rlimit) -> io::Result<()> {
    Ok(rustix::process::prlimit(pid, Resource::Nofile, limit).map(drop)?)
}

pub(crate) fn offer_to_the_memory_killer() -> io::Result<()> {
    const PATH: &str = "/proc/self/oom_score_adj";
    let own: i32 = fs::read_to_string(PATH)?.trim().parse().unwrap_or(0);
    fs::write(PATH, (own + 300).min(1000).to_string())
}

/// What makes pids comparable: the boot and the namespace in which they were given.
pub(crate) fn pid_world() -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let namespace = fs::read_link("/proc/self/ns/pid")?;
    Ok(format!("{} {}", boot.trim(), namespace.display()))
}

/// The user at the other end of a connection.
pub(crate) fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// Connects to the control socket of a directory whose path may be longer than a socket's may be.
pub(crate) fn connect_control(dir: &Path, timeout: Duration) -> io::Result<UnixStream> {
    let dir = File::open(dir)?;
    let address = SocketAddrUnix::new(format!("/proc/self/fd/{}/{CONTROL}", dir.as_raw_fd()))?;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // The kernel honours it also for a connect that waits for room in the queue of a stuck shim.
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout))?;
    rustix::net::connect(&socket, &address)?;
    Ok(UnixStream::from(socket))
}
