//! Opens a browser for the person who started a server, where that makes sense. Never waits for it, and never
//! fails because of it.

use std::io::IsTerminal;
use std::process::{Command, Stdio};

use crate::environment::{self, DISABLE_BROWSER_OPEN, DISPLAY, WAYLAND_DISPLAY};

/// Opens a URL when somebody sits at a terminal with a display and has not said no.
pub(crate) fn open(url: &str) {
    if let Some(mut command) = command(url) {
        std::thread::spawn(move || {
            let opened = command.spawn().and_then(|mut child| {
                forge_process::give_back_descriptors(&child);
                child.wait()
            });
            if let Err(error) = opened {
                tracing::info!("no browser was opened: {error}");
            }
        });
    }
}

/// Does the same before it returns, for a command that ends right after.
pub(crate) fn open_now(url: &str) {
    // The URL is printed as well, so nothing is lost where no browser is.
    let _ = command(url).map(|mut command| command.status());
}

fn command(url: &str) -> Option<Command> {
    let display = cfg!(target_os = "macos")
        || [DISPLAY, WAYLAND_DISPLAY].iter().any(|name| environment::text(name).is_some());
    let somebody = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if !display || !somebody || environment::is_present(DISABLE_BROWSER_OPEN) {
        return None;
    }
    let mut command = Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(command)
}
