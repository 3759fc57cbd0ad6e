//! The shim as a program of its own, so that tests supervise real processes.

use std::process::ExitCode;

const HOPS: &[&str] = &["run", "exec", "install"];

fn main() -> ExitCode {
    // Tests put a shell in front of it, whose arguments come along to the second hop.
    let own = std::env::args_os().skip(1).skip_while(|arg| !HOPS.iter().any(|hop| arg == hop));
    forge_process::shim_main(own)
}
