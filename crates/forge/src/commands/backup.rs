//! `forge backup`: a consistent copy of all data, made by the server while everything goes on.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::autostart;
use crate::cli::Globals;
use crate::client::Client;
use crate::commands::gc::in_words;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::progress::Progress;

/// Write a consistent copy of all data into a file, while everything goes on
#[derive(Debug, clap::Args)]
#[command(
    after_help = "In it: the database, settings, profiles, logs and pictures. Not in it: worktrees and repositories (commits and \
                  snapshots are in git), the trash, the token.\n\n\
                  To put it back, unpack it into an empty directory and serve that:\n  \
                  mkdir -m 700 ~/forge-data && tar -xf forge-backup.tar -C ~/forge-data\n  forge serve --data ~/forge-data\n\n\
                  It is served for reading, so nothing happens to the original. When that is gone, add --adopt.\n\n\
                  Example:\n  forge backup ~/forge-backup.tar"
)]
pub(crate) struct Args {
    /// The file, which must not be there yet; `-` writes to standard output
    #[arg(value_name = "FILE", default_value = "forge-backup.tar")]
    file: PathBuf,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let path = &args.file;
    if path.as_os_str() == "-" {
        if io::stdout().is_terminal() {
            return Err(Failure::invalid("a terminal shows no archive; name a file, or pipe it somewhere"));
        }
        copy(&client, |piece| output.write(piece))?;
        return Ok(Exit::Ok);
    }
    if path.exists() {
        return Err(Failure::conflict(format!("{} is there already; name another file", path.display())));
    }
    let draft = path.with_added_extension("partial");
    let count = write(&client, &draft).inspect_err(|_| {
        // Half a backup is none; what matters is why.
        let _ = fs::remove_file(&draft);
    })?;
    fs::rename(&draft, path).map_err(|error| unwritten(path, &error))?;
    match output.json {
        true => output.value(&json!({"path": path, "bytes": count}))?,
        false => output.line(format_args!("{} are in {}", in_words(count), path.display()))?,
    }
    output.remark("it holds what the settings hold, tokens included: keep it to yourself");
    output.remark(format_args!(
        "to put it back: unpack it into an empty directory with `tar -xf {} -C DIR`, and `forge serve --data DIR`",
        path.display()
    ));
    Ok(Exit::Ok)
}

fn write(client: &Client, draft: &Path) -> Result<u64> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file: File = options.open(draft).map_err(|error| unwritten(draft, &error))?;
    let count = copy(client, |piece| file.write_all(piece).map_err(|error| unwritten(draft, &error)))?;
    file.sync_all().map_err(|error| unwritten(draft, &error))?;
    Ok(count)
}

/// Takes the archive piece by piece, and makes sure that its end came.
fn copy(client: &Client, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
    let progress = Progress::new("copying");
    let mut reader = client.download("/api/backup")?;
    let mut piece = vec![0; 256 * 1024];
    let (mut count, mut zeros) = (0u64, 0u64);
    loop {
        let broke_off =
            |error: &dyn std::fmt::Display| Failure::away(format!("the backup broke off: {error}"));
        let read = reader.read(&mut piece).map_err(|error| broke_off(&error))?;
        if read == 0 {
            // An archive ends with two empty blocks.
            return if zeros >= 1024 { Ok(count) } else { Err(broke_off(&"its end is missing")) };
        }
        let trailing = piece[..read].iter().rev().take_while(|byte| **byte == 0).count() as u64;
        zeros = if trailing == read as u64 { zeros + trailing } else { trailing };
        count += read as u64;
        take(&piece[..read])?;
        progress.now(|| format!("copying, {}", in_words(count)));
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::invalid(format!("could not write {}: {error}", path.display()))
}
