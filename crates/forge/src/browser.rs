//! Opens a browser for the person who started a server, where that makes sense. Never waits for it, and never
//! fails because of it.

use std::io::IsTerminal;
use std::process::{Command, Stdio};

use crate::environment::{self, DISABLE_BROWSER_OPEN, DISPLAY, WAYLAND_DISPLAY};

/// Opens a URL when somebody sits at a terminal with a display and has not said no.
pub(crate) fn open(url: &str) {
    let display = cfg!(target_os = "macos")
        || [DISPLAY, WAYLAND_DISPLAY].iter().any(|name| environment::text(name).is_some());
    let somebody = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    if !display || !somebody || environment::is_present(DISABLE_BROWSER_OPEN) {
        return;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    std::thread::spawn(move || {
        if let Err(error) = command.status() {
            tracing::info!("no browser was opened: {program}: {error}");
        }
    });
}
