//! `forge hooks`: sets up the pre-commit hook that links commits, takes it out again, or tells whether it is there. What
//! was there before is kept and called first.
//!
//! Without `core.hooksPath` the hook lies where git looks, and an older one beside it under another name. With it, the
//! named directory may be shared by other repositories or belong to the tracked files, so nothing is put there: the
//! repository gets a directory of hooks of its own, each of which calls the one in the named directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use crate::cli::Globals;
use crate::commands::link::{SWITCH, WITHIN};
use crate::exit::{Exit, Failure, Result};
use crate::git::{self, Checkout};
use crate::home;
use crate::output::Output;
use crate::session_state::{self, FILE};

/// The hook that links.
const HOOK: &str = "pre-commit";
/// What an older hook is called while ours is in its place.
const BEFORE: &str = "pre-commit.before-forge";
/// How a hook of ours is known.
const SIGN: &str = "# Set up by `forge hooks install`.";
/// The setting that says where hooks are.
const PLACE: &str = "core.hooksPath";
/// Where the repository's own value of that setting is kept meanwhile; empty when it had none of its own.
const KEPT_PLACE: &str = "forge.hooksPathBefore";
/// The hooks that git calls at a person's commands, all of which a directory of hooks must pass on.
const ALL: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "post-rewrite",
    "sendemail-validate",
    "post-index-change",
    "reference-transaction",
];

/// Set up the hook that links commits to tasks and wishes
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Hooks that are there already go on: they are called first, and what they refuse is refused.\n\n\
                  Example:\n  forge hooks install"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Set it up in the repository somebody stands in, for all its worktrees
    Install {
        /// Have each commit of an attempt carry its link in SESSION-STATE.md, and that file merged by Forge
        #[arg(long)]
        state: bool,
        /// Refuse a commit that cannot be linked
        #[arg(long)]
        strict: bool,
        /// How long a commit may wait for the server to tell the whole ids, in milliseconds
        #[arg(long, value_name = "MS", default_value_t = WITHIN)]
        within: u64,
    },
    /// Take it out, and put what was there before back
    Remove,
    /// Tell whether it is there
    Status,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let checkout = Checkout::find(Path::new("."))?;
    match &args.act {
        Act::Install { state, strict, within } => {
            let data = home::locate(globals.data.as_deref())?;
            let strict = if *strict { " --strict" } else { "" };
            install(&checkout, &data, *state, &format!("link --quiet --within {within}{strict}"))?;
            output.remark("commits in the worktrees of attempts are linked from now on");
        }
        Act::Remove => {
            let was = remove(&checkout)?;
            output.remark(if was {
                "the hook is gone; what was there before is back"
            } else {
                "there was none"
            });
        }
        Act::Status => {}
    }
    let place = hook_directory(&checkout).join(HOOK);
    let installed = is_ours(&place);
    let state = checkout.setting(SWITCH).as_deref() == Some("true");
    let before = before(&checkout);
    if output.json {
        output.value(
            &json!({"installed": installed, "hook": place, "before": before, "session_state": state}),
        )?;
    } else if matches!(args.act, Act::Status) {
        output.line(format_args!("{HOOK}: {}", if installed { "set up" } else { "not set up" }))?;
        output.line(format_args!("place: {}", place.display()))?;
        if let Some(before) = before.filter(|_| installed) {
            output.line(format_args!("calls first: {}", before.display()))?;
        }
        output.line(format_args!("{FILE} in commits: {}", if state { "on" } else { "off" }))?;
    }
    Ok(Exit::Ok)
}

/// Our own directory of hooks, which is used where `core.hooksPath` names another.
fn own_directory(checkout: &Checkout) -> PathBuf {
    checkout.common_dir.join("forge-hooks")
}

/// Where git looks for hooks now.
fn hook_directory(checkout: &Checkout) -> PathBuf {
    match checkout.setting(PLACE) {
        Some(named) => checkout.top.join(expanded(&named)),
        None => checkout.common_dir.join("hooks"),
    }
}

/// The hook that ours calls first, when there is one.
fn before(checkout: &Checkout) -> Option<PathBuf> {
    let directory = hook_directory(checkout);
    if directory == own_directory(checkout) {
        let named = place_before(checkout)?;
        return Some(checkout.top.join(expanded(&named)).join(HOOK)).filter(|path| path.exists());
    }
    Some(directory.join(BEFORE)).filter(|path| path.exists())
}

/// What `core.hooksPath` said before ours: the repository's own value, or the person's for all repositories.
fn place_before(checkout: &Checkout) -> Option<String> {
    let own = git::ask(&checkout.top, ["config", "--local", "--get", KEPT_PLACE]);
    own.filter(|own| !own.is_empty())
        .or_else(|| git::ask(&checkout.top, ["config", "--global", "--type=path", "--get", PLACE]))
        .or_else(|| git::ask(&checkout.top, ["config", "--system", "--type=path", "--get", PLACE]))
}

fn install(checkout: &Checkout, data: &Path, state: bool, link: &str) -> Result<()> {
    let own = own_directory(checkout);
    let named = checkout.setting(PLACE).filter(|named| checkout.top.join(named) != own);
    let is_own_already = checkout.setting(PLACE).is_some() && named.is_none();
    let link = link_lines(data, link)?;
    if is_own_already || named.is_some() {
        if !is_own_already {
            let local = git::ask(&checkout.top, ["config", "--local", "--get", PLACE]).unwrap_or_default();
            set(checkout, KEPT_PLACE, &local)?;
        }
        let named = named.or_else(|| place_before(checkout)).unwrap_or_default();
        for hook in ALL {
            let first = format!("{}/{hook}", quoted(&expanded(&named).to_string_lossy()));
            let link = if *hook == HOOK { link.as_str() } else { "" };
            put(&own.join(hook), &script(&first, link))?;
        }
        // Git uses the directory from here on; until now everything was as before.
        set(checkout, PLACE, &own.to_string_lossy())?;
    } else {
        let directory = checkout.common_dir.join("hooks");
        let (place, before) = (directory.join(HOOK), directory.join(BEFORE));
        if place.exists() && !is_ours(&place) {
            if before.exists() {
                return Err(Failure::conflict(format!(
                    "both {} and {} are there; move one of them away",
                    place.display(),
                    before.display()
                )));
            }
            // A copy, so that there is a hook at every moment until ours takes its place in one step.
            fs::hard_link(&place, &before)
                .or_else(|_| fs::copy(&place, &before).map(drop))
                .map_err(|error| Failure::conflict(format!("{} cannot be kept: {error}", place.display())))?;
        }
        put(&place, &script(&quoted(&before.to_string_lossy()), &link))?;
    }
    if state {
        set(checkout, SWITCH, "true")?;
        set(checkout, "merge.forge-state.name", "SESSION-STATE.md, made anew between its markers")?;
        let program = program()?;
        let driver =
            format!("{} --data {} state --merge %O %A %B", quoted(&program), quoted(&data.to_string_lossy()));
        set(checkout, "merge.forge-state.driver", &driver)?;
        attribute(checkout, true)?;
    }
    Ok(())
}

fn remove(checkout: &Checkout) -> Result<bool> {
    let own = own_directory(checkout);
    let mut was = false;
    if checkout.setting(PLACE).is_some_and(|named| Path::new(&named) == own) {
        let local = git::ask(&checkout.top, ["config", "--local", "--get", KEPT_PLACE]).unwrap_or_default();
        match local.is_empty() {
            true => drop(git::ask(&checkout.top, ["config", "--local", "--unset-all", PLACE])),
            false => set(checkout, PLACE, &local)?,
        }
        drop(git::ask(&checkout.top, ["config", "--local", "--unset-all", KEPT_PLACE]));
        for hook in ALL.iter().map(|hook| own.join(hook)).filter(|hook| is_ours(hook)) {
            // What stays behind is called by nobody.
            let _ = fs::remove_file(hook);
        }
        let _ = fs::remove_dir(&own);
        was = true;
    }
    let directory = checkout.common_dir.join("hooks");
    let (place, before) = (directory.join(HOOK), directory.join(BEFORE));
    if is_ours(&place) {
        let put_back = match before.exists() {
            true => fs::rename(&before, &place),
            false => fs::remove_file(&place),
        };
        put_back
            .map_err(|error| Failure::conflict(format!("{} cannot be put back: {error}", place.display())))?;
        was = true;
    }
    for key in [SWITCH, "merge.forge-state.name", "merge.forge-state.driver"] {
        drop(git::ask(&checkout.top, ["config", "--local", "--unset-all", key]));
    }
    attribute(checkout, false)?;
    Ok(was)
}

/// A hook that calls another first and then, where it is the one, the linker.
fn script(first: &str, link: &str) -> String {
    format!(
        "#!/bin/sh\n{SIGN}\nfirst={first}\nif [ -x \"$first\" ]; then\n    \"$first\" \"$@\" || exit $?\nfi\n{link}exit 0\n"
    )
}

fn link_lines(data: &Path, link: &str) -> Result<String> {
    let (program, data) = (quoted(&program()?), quoted(&data.to_string_lossy()));
    Ok(format!(
        "forge={program}\n[ -x \"$forge\" ] || forge=$(command -v forge) || exit 0\n\
         \"$forge\" --data {data} {link} || exit $?\n"
    ))
}

fn program() -> Result<String> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|error| Failure::away(format!("the path of forge is not known: {error}")))?;
    Ok(program.to_string_lossy().into_owned())
}

fn put(place: &Path, text: &str) -> Result<()> {
    let cannot =
        |error: std::io::Error| Failure::conflict(format!("{} cannot be written: {error}", place.display()));
    session_state::replace(place, text.as_bytes()).map_err(cannot)?;
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).map_err(cannot)
}

fn is_ours(place: &Path) -> bool {
    fs::read_to_string(place).is_ok_and(|text| text.contains(SIGN))
}

fn set(checkout: &Checkout, key: &str, value: &str) -> Result<()> {
    git::run(&checkout.top, ["config", "--local", key, value]).map(drop)
}

/// Has git merge the file by our driver, or no longer. The line is in the repository's own file, which is in no commit.
fn attribute(checkout: &Checkout, wanted: bool) -> Result<()> {
    let path = checkout.common_dir.join("info/attributes");
    let line = format!("{FILE} merge=forge-state");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let mut lines: Vec<&str> = text.lines().filter(|known| *known != line).collect();
    if wanted {
        lines.push(&line);
    }
    let new = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    if new == text {
        return Ok(());
    }
    session_state::replace(&path, new.as_bytes())
        .map_err(|error| Failure::conflict(format!("{} cannot be written: {error}", path.display())))
}

/// A path as git reads it in its settings.
fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), crate::environment::path(crate::environment::HOME)) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
