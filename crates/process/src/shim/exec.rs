//! The second hop: the agent's process, before it becomes the agent.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::{AGENT_SIGNALS, catch};
use crate::os;
use crate::protocol::write_line;
use crate::spawn::Report;

/// What the first hop asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Where to say why it failed. An exec that succeeds closes it without a word.
    pub(super) report: RawFd,
    pub(super) parent: u32,
    pub(super) cwd: PathBuf,
    pub(super) argv: Vec<OsString>,
}

impl Order {
    pub(super) fn into_args(self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["exec".into(), self.report.to_string().into()];
        args.extend([self.parent.to_string().into(), self.cwd.into()]);
        args.extend(self.argv);
        args
    }

    pub(super) fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let report = args.next()?.to_str()?.parse().ok()?;
        let parent = args.next()?.to_str()?.parse().ok()?;
        let cwd = args.next()?.into();
        Some(Self { report, parent, cwd, argv: args.collect() })
    }
}

/// Becomes the agent. Returns only if that failed.
pub(super) fn exec(order: &Order) -> ExitCode {
    let report = match os::open_inherited(order.report) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("could not open the report pipe: {error}");
            return ExitCode::FAILURE;
        }
    };
    let failure = become_agent(order, &report);
    if let Err(error) = write_line(&mut &report, &failure) {
        eprintln!("could not report {failure:?}: {error}");
    }
    ExitCode::FAILURE
}

fn become_agent(order: &Order, report: &File) -> Report {
    let failed =
        |act: &str, error: io::Error| Report::Failed { message: format!("could not {act}: {error}") };
    if let Err(error) = os::close_inherited(Some(report.as_raw_fd())) {
        return failed("close inherited descriptors", error);
    }
    match os::die_with_parent(order.parent) {
        Ok(true) => {}
        Ok(false) => return Report::Failed { message: "the shim is gone".into() },
        Err(error) => return failed("ask for a death signal", error),
    }
    catch(AGENT_SIGNALS);
    // A preference of the kernel's, and not worth failing for.
    let _ = os::offer_to_the_memory_killer();
    if let Err(error) = env::set_current_dir(&order.cwd) {
        return Report::Cwd { errno: error.raw_os_error().unwrap_or_default() };
    }
    let Some((program, args)) = order.argv.split_first() else {
        return Report::Failed { message: "there is no program to run".into() };
    };
    let error = Command::new(program).args(args).exec();
    match error.raw_os_error() {
        Some(errno) => Report::Exec { errno },
        None => failed("run the program", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_survives_the_command_line() {
        let order = Order { report: 9, parent: 4, cwd: "/a b".into(), argv: vec!["--".into(), "run".into()] };
        let args = order.into_args();
        assert_eq!(args[0], "exec");
        let parsed = Order::parse(args.into_iter().skip(1)).unwrap();
        let cwd = PathBuf::from("/a b");
        assert_eq!(parsed, Order { report: 9, parent: 4, cwd, argv: vec!["--".into(), "run".into()] });
    }
}
