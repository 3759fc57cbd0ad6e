//! `docs/cli.md` held against the parser: every command is on it, and every line on it is understood.

use super::command;

const PAGE: &str = include_str!("../../../../docs/cli.md");

/// Returns the lines of the page that are commands.
fn lines() -> Vec<&'static str> {
    let blocks = PAGE.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n"));
    blocks.flat_map(str::lines).collect()
}

#[test]
fn every_command_of_the_page_is_understood() {
    for line in lines() {
        let words = shlex::split(line).unwrap_or_else(|| panic!("{line} has an open quote"));
        if let Err(error) = command().try_get_matches_from(words) {
            panic!("docs/cli.md says {line:?}: {error}");
        }
    }
}

#[test]
fn every_command_is_on_the_page() {
    let mut root = command();
    root.build();
    let mut leaves = Vec::new();
    collect(&root, &mut Vec::new(), &mut leaves);
    assert!(leaves.len() > 100, "{leaves:?}");
    let on_page: Vec<Vec<&str>> = lines().into_iter().map(|line| line.split(' ').collect()).collect();
    for leaf in leaves {
        // Between the names may stand what is named, as in `forge queue 6a0c edit`.
        let is_there = on_page.iter().any(|line| {
            let mut rest = line.iter().skip(1);
            leaf.iter().all(|name| rest.any(|word| word == name))
        });
        assert!(is_there, "docs/cli.md does not tell of forge {}", leaf.join(" "));
    }
}

/// Collects the names of all commands that have none below them.
fn collect(command: &clap::Command, names: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) {
    let below: Vec<&clap::Command> =
        command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help").collect();
    if below.is_empty() && !names.is_empty() {
        leaves.push(names.clone());
    }
    for one in below {
        names.push(one.get_name().to_string());
        collect(one, names, leaves);
        names.pop();
    }
}
