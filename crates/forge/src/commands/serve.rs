//! `forge serve`: serves a data directory, or ends the server that does.

use std::path::PathBuf;

use crate::cli::Globals;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::serve::{self, Plan};
use crate::{address, home, stop_server, tls};

/// Serve the API and the live page, or stop the server
#[derive(Debug, clap::Args)]
#[command(after_help = "Agents run on when the server ends; a new server finds them again.\n\n\
                  Example:\n  forge serve --port 9000 --data ~/forge-data")]
pub(crate) struct Args {
    /// Make a small project with attempts in every state to look at
    #[arg(long)]
    demo: bool,
    /// Accept requests for this host name too, beside the address itself; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Speak TLS with this certificate, a PEM file with its chain; the commands on this machine need none
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Make this data directory, a copy or a backup of another, the successor of its original, which is gone
    #[arg(long)]
    adopt: bool,
    /// Stop the server of this data directory; its agents run on
    #[arg(long, conflicts_with_all = ["demo", "adopt", "allow_host", "tls_cert"])]
    stop: bool,
    /// With --stop: stop all agents too
    #[arg(long, requires = "stop")]
    all: bool,
    /// Run for a client command that needs a server
    #[arg(long, hide = true)]
    background: bool,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    if globals.url.is_some() {
        return Err(Failure::invalid("--url is for client commands; `forge serve` takes --host and --port"));
    }
    let home = home::locate(globals.data.as_deref())?;
    if args.stop {
        return stop_server::stop(&home, output, args.all);
    }
    let (host, port) = address::to_listen(globals)?;
    let names = args.allow_host.clone();
    let certificate = match (&args.tls_cert, &args.tls_key) {
        (Some(chain), Some(key)) => Some(tls::read(chain, key)?),
        _ => None,
    };
    let (demo, adopt, background) = (args.demo, args.adopt, args.background);
    serve::serve(output, &Plan { home, host, port, names, certificate, demo, adopt, background })
}
