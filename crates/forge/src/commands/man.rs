//! `forge man`: the manual pages, one for each command.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli;
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;

/// Print the manual page of a command, or write all of them
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  forge man attempt merge | man -l -\n  forge man --write ~/.local/share/man/man1"
)]
pub(crate) struct Args {
    /// Which command; without one, forge itself
    command: Vec<String>,
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    write: Option<PathBuf>,
}

pub(crate) fn run(output: &Output, args: &Args) -> Result<Exit> {
    let mut root = cli::command();
    root.build();
    if let Some(dir) = &args.write {
        let mut count = 0;
        pages(&root, "forge", dir, &mut count)?;
        output.line(format_args!("{count} pages are in {}", dir.display()))?;
        return Ok(Exit::Ok);
    }
    let mut name = String::from("forge");
    let mut found = &root;
    for word in &args.command {
        name.push_str(&format!("-{word}"));
        found = found.find_subcommand(word).ok_or_else(|| {
            Failure::not_found(format!("there is no command {}; see `forge --help`", name.replace('-', " ")))
        })?;
    }
    output.write(&page(found, &name)?)?;
    Ok(Exit::Ok)
}

fn pages(command: &clap::Command, name: &str, dir: &Path, count: &mut usize) -> Result<()> {
    let path = dir.join(format!("{name}.1"));
    let written =
        fs::create_dir_all(dir).and_then(|()| fs::write(&path, page(command, name).unwrap_or_default()));
    written.map_err(|error| Failure::invalid(format!("could not write {}: {error}", path.display())))?;
    *count += 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        pages(below, &format!("{name}-{}", below.get_name()), dir, count)?;
    }
    Ok(())
}

fn page(command: &clap::Command, name: &str) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).title(name.to_uppercase());
    page.render(&mut text).map_err(|error| Failure::away(format!("could not write the page: {error}")))?;
    Ok(text)
}
