//! The forge binary: server, command line, and the three processes that run beside an agent.
//!
//! The hooks of an agent's git, the shim and the scripted agent are told apart before anything else happens: they
//! must cost nothing but themselves, and no option of the command line may change them.

#[cfg(windows)]
compile_error!("Forge does not run on Windows itself; build and run it inside WSL");

mod address;
mod autostart;
mod browser;
mod cli;
mod client;
mod commands;
mod edited;
mod environment;
mod event_stream;
mod exit;
mod follow;
mod guard;
mod home;
mod ids;
mod log_stream;
mod named;
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
mod sse;
mod stop_server;
mod table;
mod tls;
mod token;
mod unified;
mod wire;

use std::io::Write;
use std::process::ExitCode;

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
    match cli::parse().run() {
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
