//! Every environment variable that the command line and the server read. Nothing else in this crate reads one.

use std::ffi::OsString;
use std::path::PathBuf;

/// The data directory; `--data` goes before it.
pub(crate) const FORGE_HOME: &str = "FORGE_HOME";
/// Where worktrees go; without it, `worktrees` in the data directory.
pub(crate) const FORGE_WORKTREES: &str = "FORGE_WORKTREES";
/// Where tools of older versions look for worktrees; set to nothing, there are no links for them.
pub(crate) const FORGE_OLDER_WORKTREES: &str = "FORGE_OLDER_WORKTREES";
/// The attempt that an agent works for; set by Forge.
pub(crate) const FORGE_ATTEMPT: &str = "FORGE_ATTEMPT";
/// Places where a test makes the server die or wait; empty in ordinary life.
pub(crate) const FORGE_SEAM: &str = "FORGE_SEAM";
/// The server that client commands talk to, as a whole URL; `--url`, `--host` and `--port` go before it.
pub(crate) const FORGE_BASE_URL: &str = "FORGE_BASE_URL";
/// The token that client commands send; without it, the one in the data directory when it is needed.
pub(crate) const FORGE_TOKEN: &str = "FORGE_TOKEN";
/// The IP address to serve on or to talk to; `--host` goes before it.
pub(crate) const HOST: &str = "HOST";
/// The port to serve on or to talk to; `--port` goes before it.
pub(crate) const BACKEND_PORT: &str = "BACKEND_PORT";
/// The port when `BACKEND_PORT` is not set.
pub(crate) const PORT: &str = "PORT";
/// Where people reach the server from elsewhere; for links in notices.
pub(crate) const PUBLIC_BASE_URL: &str = "PUBLIC_BASE_URL";
/// When set, client commands never start a server by themselves.
pub(crate) const CI: &str = "CI";
/// When set, `forge serve` opens no browser.
pub(crate) const DISABLE_BROWSER_OPEN: &str = "DISABLE_BROWSER_OPEN";
/// When set, worktrees that belong to no attempt are told and never cleaned up.
pub(crate) const DISABLE_WORKTREE_ORPHAN_CLEANUP: &str = "DISABLE_WORKTREE_ORPHAN_CLEANUP";
/// The X display; `forge serve` opens a browser only where there is a display.
pub(crate) const DISPLAY: &str = "DISPLAY";
/// The Wayland display; `forge serve` opens a browser only where there is a display.
pub(crate) const WAYLAND_DISPLAY: &str = "WAYLAND_DISPLAY";
/// The person's editor, for `edit` commands; `EDITOR` counts where this is not set.
pub(crate) const VISUAL: &str = "VISUAL";
/// The person's editor.
pub(crate) const EDITOR: &str = "EDITOR";
/// When set, output has no colours.
pub(crate) const NO_COLOR: &str = "NO_COLOR";
/// What the server logs, as `tracing` filters are written.
pub(crate) const RUST_LOG: &str = "RUST_LOG";
/// Where the platform keeps data; the data directory is `forge` in it.
pub(crate) const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
/// The person's home directory, where data is kept when nothing else says where.
pub(crate) const HOME: &str = "HOME";
/// The id of the OAuth app at GitHub that people log in with.
pub(crate) const GITHUB_CLIENT_ID: &str = "GITHUB_CLIENT_ID";
/// The address of GitHub's pages, for a server of one's own.
pub(crate) const GITHUB_BASE_URL: &str = "GITHUB_BASE_URL";
/// The address of GitHub's API, where it is not in the usual place.
pub(crate) const GITHUB_API_URL: &str = "GITHUB_API_URL";
/// A token for GitHub itself, as GitHub's own program reads it.
pub(crate) const GH_TOKEN: &str = "GH_TOKEN";
/// A token for GitHub itself, as GitHub's own jobs have it.
pub(crate) const GITHUB_TOKEN: &str = "GITHUB_TOKEN";
/// A token for a server of one's own, as GitHub's own program reads it.
pub(crate) const GH_ENTERPRISE_TOKEN: &str = "GH_ENTERPRISE_TOKEN";
/// A token for a server of one's own.
pub(crate) const GITHUB_ENTERPRISE_TOKEN: &str = "GITHUB_ENTERPRISE_TOKEN";
/// Where Claude Code keeps its settings, when the person has moved them.
pub(crate) const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";
/// Where Codex keeps its settings, when the person has moved them.
pub(crate) const CODEX_HOME: &str = "CODEX_HOME";
/// Where the platform keeps settings; those of OpenCode are in it.
pub(crate) const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The directory for temporary files, where older tools look for the port file.
pub(crate) const TMPDIR: &str = "TMPDIR";

/// Reads a variable as text. One that is empty counts as not set.
pub(crate) fn text(name: &str) -> Option<String> {
    read(name).map(|value| value.to_string_lossy().into_owned())
}

/// Reads a variable as a path. One that is empty counts as not set.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    read(name).map(PathBuf::from)
}

/// Says whether a variable is set at all, even to nothing.
pub(crate) fn is_present(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// Returns the directory for temporary files.
pub(crate) fn temporary() -> PathBuf {
    path(TMPDIR).unwrap_or_else(|| PathBuf::from("/tmp"))
}

fn read(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
