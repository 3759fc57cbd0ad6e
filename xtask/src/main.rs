//! Chores of this repository: a storm of kills, measurements, and what is generated.
//!
//! What needs a server goes through the binary, HTTP and WebSockets, as a person would; no crate of ours is linked in.

mod api;
mod bench;
mod binary;
mod chaos;
mod processes;
mod random;
mod raw_log;
mod server;
mod types;
mod wait;
mod world;

use std::process::ExitCode;

use clap::Parser;

/// Chores of this repository
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Chore {
    Chaos(chaos::Args),
    Bench(bench::Args),
    Types(types::Args),
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Chaos(args) => chaos::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Types(args) => types::run(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
