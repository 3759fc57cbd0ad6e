//! Chores of this repository that need the real binary: a storm of kills, and measurements.
//!
//! Everything goes through the binary, HTTP and WebSockets, as a person would; no crate of ours is linked in.

mod api;
mod bench;
mod binary;
mod chaos;
mod processes;
mod random;
mod raw_log;
mod server;
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
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Chaos(args) => chaos::run(&args),
        Chore::Bench(args) => bench::run(&args),
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
