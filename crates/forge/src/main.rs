//! The forge binary: server, command line, and the three processes that run beside an agent.
//!
//! The hooks of an agent's git, the shim and the scripted agent are told apart before anything else happens: they
//! must cost nothing but themselves, and no option of the command line may change them.

#[cfg(windows)]
compile_error!("Forge does not run on Windows itself; build and run it inside WSL");

mod address;
mod agent_name;
mod asked;
mod autostart;
mod bridge;
mod browser;
mod cli;
mod client;
mod commands;
mod edited;
mod environment;
mod event_stream;
mod exit;
mod follow;
mod git;
mod guard;
mod home;
mod ids;
mod linking;
mod log_stream;
mod named;
mod older_sessions;
mod output;
mod port_file;
mod private_file;
mod progress;
mod prompt;
mod query;
mod render;
mod repository;
mod scripted;
mod serve;
mod server_file;
mod server_log;
mod session_state;
mod sse;
mod stop_server;
mod table;
mod tls;
mod token;
mod unified;
mod wire;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    if let Some(hook) = guard::hook(args.next()) {
        return guard::main(&hook, args);
    }
    match args.next() {
        Some(word) if word == "shim" => return forge_process::shim_main(args),
        Some(word) if word == "scripted" => return scripted::main(args),
        _ => {}
    }
    match run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !failure.message.is_empty() {
                // Nobody may be reading any more; the exit code still tells.
                let _ = writeln!(std::io::stderr(), "forge: {failure}");
            }
            failure.exit.into()
        }
    }
}

/// Reads the command line in the way of the name this program was called by.
fn run() -> exit::Result<exit::Exit> {
    let args: Vec<_> = std::env::args_os().collect();
    let is_genie = |name: &std::ffi::OsString| {
        std::path::Path::new(name).file_name().is_some_and(|name| name == "genie")
    };
    if args.first().is_some_and(is_genie) {
        return commands::genie::Cli::parse().run();
    }
    // The same by a word, for whoever has no link of that name.
    if args.get(1).is_some_and(|word| word == "genie") {
        return commands::genie::Cli::parse_from(&args[1..]).run();
    }
    cli::parse().run()
}
