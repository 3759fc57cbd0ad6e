//! The shim: the process that owns one agent and outlives the server.
//!
//! Two hops of the same program. `run DIR [DESCRIPTORS]` is the shim itself; `exec` is the agent's process before
//! it becomes the agent, where it can set itself up by safe calls only. Threads and blocking calls
//! throughout; the main thread starts the agent and reaps, because the kernel ties the agent's death
//! signal to the thread that started it.

mod agent;
mod exec;
mod input;
mod journal;
mod output;
mod run;
mod serve;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Runs one of the shim's two hops, or has the program install itself. The program calls this before anything else: the shim closes
/// every descriptor it inherited, and must not find one that is in use.
pub fn shim_main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let hop = args.next();
    match (hop.as_ref().and_then(|hop| hop.to_str()), args) {
        (Some("run"), mut args) => match (args.next(), args.next(), args.next()) {
            (Some(dir), None, None) => run::run(Path::new(&dir)),
            (Some(dir), Some(descriptors), None) => {
                give_back(&descriptors);
                run::run(Path::new(&dir))
            }
            _ => usage(),
        },
        (Some("exec"), args) => match exec::Order::parse(args) {
            Some(order) => exec::exec(&order),
            None => usage(),
        },
        (Some("install"), mut args) => match (args.next(), args.next()) {
            (Some(bin_dir), None) => install(Path::new(&bin_dir)),
            _ => usage(),
        },
        _ => usage(),
    }
}

/// Takes the limit that the server had before it raised its own. The agent inherits it.
fn give_back(descriptors: &OsStr) {
    let soft = descriptors.to_str().and_then(|soft| soft.parse().ok());
    if let Some(Err(error)) = soft.map(crate::descriptors::lower) {
        eprintln!("the limit of open files could not be set back: {error}");
    }
}

/// Copies this program under the name of its content and says where it is.
fn install(bin_dir: &Path) -> ExitCode {
    let installed = crate::install_binary(&crate::os::own_program(), bin_dir).map_err(|error| {
        std::error::Error::source(&error)
            .map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
    });
    match installed {
        Ok(path) => {
            use std::io::Write;
            use std::os::unix::ffi::OsStrExt;
            let said = std::io::stdout().write_all(path.as_os_str().as_bytes());
            if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("the shim is started by the server: run DIR [DESCRIPTORS]");
    ExitCode::from(2)
}

/// Undoes dispositions inherited from a parent that ignores signals, as a shell does with INT for
/// what it starts in the background. A handler counts as the default again after an exec.
fn catch(signals: &[i32]) {
    for signal in signals {
        // A signal that cannot be caught cannot be ignored either.
        let _ = signal_hook::flag::register(*signal, Arc::new(AtomicBool::new(false)));
    }
}

/// What an agent must be able to hear.
const AGENT_SIGNALS: &[i32] = &[SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD];

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
