//! Checks that need no server: git, who commits, the data directory, the disk, the system's limits, agents.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Check, State};
use crate::cli::Globals;
use crate::commands::gc::in_words;
use crate::environment::{self, HOME};
use crate::{address, home, server_file, token};

/// Below this an agent's first build may fill the disk.
const LITTLE_ROOM: u64 = 2 * 1024 * 1024 * 1024;
/// An editor's own watches are about as many; fewer, and diffs are computed again instead of followed.
const FEW_WATCHES: u64 = 65_536;
/// A server with many attempts has several files open for each.
const FEW_FILES: u64 = 1_024;

/// Everything that can be looked at from here, whether or not a server runs.
pub(super) fn checks(globals: &Globals) -> Vec<Check> {
    let mut checks = vec![version(), git(), identity()];
    match home::locate(globals.data.as_deref()) {
        Ok(home) => {
            checks.push(data(&home));
            checks.extend(secrets(&home));
            checks.extend(open_roots(&home));
            checks.push(disk("disk", &home));
            if let Some(worktrees) = environment::path(environment::FORGE_WORKTREES) {
                checks.push(disk("worktrees", &worktrees));
            }
        }
        Err(failure) => checks.push(Check::problem("data", failure.message, "name a directory with --data")),
    }
    checks.extend(watches());
    checks.extend(files());
    checks
}

/// What the server would tell, looked at from here while it is away.
pub(super) fn without_server(globals: &Globals) -> Vec<Check> {
    let mut checks = vec![port(globals)];
    let home = environment::path(HOME);
    let agents = forge_engine::agents_here(home.as_deref());
    let ready: Vec<&str> = agents
        .iter()
        .filter(|agent| agent.is_installed() && agent.remedy().is_none())
        .map(|agent| agent.agent)
        .collect();
    checks.push(agents_ready(&ready));
    for agent in agents.iter().filter(|agent| agent.is_installed()) {
        if let Some(remedy) = agent.remedy() {
            checks.push(Check::remark("login", format!("{} is not logged in to", agent.title), remedy));
        }
    }
    checks
}

/// Says which agents can be used; the one that comes with Forge does not count.
pub(super) fn agents_ready(ready: &[&str]) -> Check {
    let real: Vec<&str> = ready.iter().copied().filter(|agent| *agent != "SCRIPTED").collect();
    match real.is_empty() {
        true => Check::problem(
            "agents",
            "no agent is ready",
            "`forge agents` says how to install one and log in to it",
        ),
        false => Check::ok("agents", real.join(" ")),
    }
}

fn version() -> Check {
    let program = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    Check::ok("forge", format!("{} at {program}", env!("CARGO_PKG_VERSION")))
}

fn git() -> Check {
    match forge_engine::git_here() {
        Ok((version, program)) => Check::ok("git", format!("{version} at {}", program.display())),
        Err(message) => Check::problem(
            "git",
            message,
            "install git 2.41 or newer, from your system or https://git-scm.com",
        ),
    }
}

/// Commits need a name, and an agent's commit that fails for want of one is hard to understand.
fn identity() -> Check {
    let asked = |key: &str| {
        let answer = Command::new("git").args(["config", "--get", key]).output().ok()?;
        let text = String::from_utf8_lossy(&answer.stdout).trim().to_string();
        (answer.status.success() && !text.is_empty()).then_some(text)
    };
    match (asked("user.name"), asked("user.email")) {
        (Some(name), Some(email)) => Check::ok("identity", format!("{name} <{email}>")),
        _ => Check::remark(
            "identity",
            "git does not know who commits here",
            "git config --global user.name \"Your Name\"; git config --global user.email you@example.org",
        ),
    }
}

fn data(home: &Path) -> Check {
    let shown = home.display();
    let Ok(found) = fs::metadata(home) else {
        return match nearest(home).is_some_and(|above| is_writable(&above)) {
            true => Check::ok("data", format!("{shown} is not there yet; the first command makes it")),
            false => Check::problem(
                "data",
                format!("{shown} is not there and cannot be made"),
                "name a directory of yours with --data or FORGE_HOME",
            ),
        };
    };
    if !found.is_dir() {
        return Check::problem(
            "data",
            format!("{shown} is no directory"),
            "name another with --data or FORGE_HOME",
        );
    }
    let mine = rustix::process::geteuid().as_raw();
    if found.uid() != mine && mine != 0 {
        let remedy = format!("chown -R {mine} {shown}, or name another with --data or FORGE_HOME");
        return Check::problem("data", format!("{shown} belongs to somebody else"), remedy);
    }
    if !is_writable(home) {
        return Check::problem("data", format!("{shown} cannot be written"), format!("chmod u+rwx {shown}"));
    }
    match found.permissions().mode() & 0o077 {
        0 => Check::ok("data", shown.to_string()),
        _ => Check::problem("data", format!("others may look into {shown}"), format!("chmod 700 {shown}")),
    }
}

/// Files that nobody else may read.
fn secrets(home: &Path) -> Vec<Check> {
    let open = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
    let files = [token::path(home), home.join("config.json")];
    let told = files.into_iter().filter(open).map(|path| {
        let path = path.display();
        // The directory around them is closed, so this is a second door, not the only one.
        Check {
            state: State::Remark,
            ..Check::problem("files", format!("{path} may be read by others"), format!("chmod 600 {path}"))
        }
    });
    told.collect()
}

/// Roots of worktrees outside the data directory. Forge makes one that only its owner may enter, and leaves one that was
/// there as it is; sources and copied `.env` files lie in it.
fn open_roots(home: &Path) -> Vec<Check> {
    let config = fs::read_to_string(home.join("config.json")).unwrap_or_default();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap_or_default();
    let named = config.get("workspace_dir").and_then(serde_json::Value::as_str).unwrap_or_default();
    let named = match (named.strip_prefix("~/"), environment::path(HOME)) {
        (Some(below), Some(user)) => user.join(below),
        _ => PathBuf::from(named),
    };
    let roots = environment::path(environment::FORGE_WORKTREES).into_iter().chain([named]);
    let is_open = |root: &PathBuf| {
        fs::metadata(root).is_ok_and(|found| found.is_dir() && found.permissions().mode() & 0o077 != 0)
    };
    let told =
        roots.filter(|root| root.is_absolute() && !root.starts_with(home)).filter(is_open).map(|root| {
            let root = root.display();
            Check::remark(
                "worktrees",
                format!("others may look into {root}, where worktrees are"),
                format!("chmod 700 {root}"),
            )
        });
    told.collect()
}

fn disk(name: &'static str, path: &Path) -> Check {
    let place = nearest(path).unwrap_or_else(|| path.to_path_buf());
    match forge_engine::free_bytes(&place) {
        None => Check::remark(
            name,
            format!("nobody can tell how full the disk of {} is", place.display()),
            "look with df",
        ),
        Some(free) if free < LITTLE_ROOM => {
            let found = format!("{} are free for {}", in_words(free), path.display());
            Check::problem(name, found, "`forge disk` says what takes the room, `forge gc` gives some back")
        }
        Some(free) => Check::ok(name, format!("{} are free for {}", in_words(free), path.display())),
    }
}

/// A server that is to be started wants its port.
fn port(globals: &Globals) -> Check {
    let (host, port) = match address::to_listen(globals) {
        Ok(place) => place,
        Err(failure) => return Check::problem("port", failure.message, "unset the variable, or give --port"),
    };
    match TcpListener::bind((host, port)) {
        Ok(_) => Check::ok("port", format!("{host}:{port} is free")),
        Err(error) => Check::remark(
            "port",
            format!("{host}:{port} cannot be listened on: {error}"),
            "a command that starts a server takes another; `forge serve` wants `--port`",
        ),
    }
}

fn watches() -> Option<Check> {
    let text = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
    let most: u64 = text.trim().parse().ok()?;
    Some(match most < FEW_WATCHES {
        true => Check::remark(
            "watches",
            format!("the system lets you watch {most} directories"),
            "sudo sysctl fs.inotify.max_user_watches=524288",
        ),
        false => Check::ok("watches", format!("{most} directories may be watched")),
    })
}

fn files() -> Option<Check> {
    // A server raises its own limit to the hard one.
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum?;
    Some(match most < FEW_FILES {
        true => {
            Check::remark("open files", format!("a process may have {most} files open"), "ulimit -H -n 4096")
        }
        false => Check::ok("open files", format!("a process may have {most} open")),
    })
}

/// Returns the nearest directory above a path that is there.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|above| above.is_dir()).map(Path::to_path_buf)
}

fn is_writable(path: &Path) -> bool {
    let wanted = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(path, wanted).is_ok()
}

/// Says whether a server's description was left behind by one that died.
pub(super) fn died(home: &Path) -> bool {
    server_file::port_left_behind(home).is_some()
}
