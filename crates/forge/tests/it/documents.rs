//! What the documents say, held against the code: variables, exit codes, links, and the commands of the README.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{Running, World};

#[test]
fn every_variable_the_code_reads_is_documented_and_the_reverse() {
    let page = read("docs/environment.md");
    let (page, agents) = page.split_once("## What agents get").unwrap();
    let documented = first_cells(page);
    let mut code = BTreeSet::new();
    for path in sources() {
        code.extend(variables_read(&path));
    }
    assert_eq!(code, documented, "left: the code; right: docs/environment.md");

    let all: String = sources().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for name in first_cells(agents) {
        assert!(all.contains(&format!("\"{name}\"")), "no code sets {name}");
    }
}

#[test]
fn every_exit_code_is_documented_and_the_reverse() {
    let source = read("crates/forge/src/exit.rs");
    let (_, codes) = source.split_once("pub(crate) enum Exit {").unwrap();
    let (codes, _) = codes.split_once("\n}").unwrap();
    let codes: BTreeSet<String> = codes
        .lines()
        .filter_map(|line| Some(line.split_once(" = ")?.1.trim_end_matches(',').to_string()))
        .collect();
    assert!(codes.contains("130"), "{codes:?}");
    assert_eq!(codes, first_cells(&read("docs/exit-codes.md")));
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let documents = documents();
    assert!(documents.len() > 8, "{documents:?}");
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for target in links(&text) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let place = match path {
                "" => document.clone(),
                path => document.parent().unwrap().join(path),
            };
            assert!(place.exists(), "{} links to {target}, which is not there", document.display());
            if !heading.is_empty() {
                let known = headings(&fs::read_to_string(&place).unwrap());
                assert!(known.contains(heading), "{} links to {target}: {known:?}", document.display());
            }
        }
    }
}

#[test]
fn every_crate_has_its_paragraph_in_the_code_map() {
    let map = read("ARCHITECTURE.md");
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(map.contains(&format!("`crates/{name}`")), "ARCHITECTURE.md does not tell of crates/{name}");
    }
}

#[test]
fn every_decision_is_in_the_list_of_decisions() {
    let list = read("docs/decisions/README.md");
    for entry in fs::read_dir(root().join("docs/decisions")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || list.contains(&format!("]({name})")), "{name} is not in the list");
    }
}

#[test]
fn no_comment_of_the_sources_holds_an_example_that_would_have_to_be_run() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_open = false;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let Some(said) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
            let is_example = match said.trim_start().strip_prefix("```") {
                // A fence without a word is an example of Rust, and so is what is moved in by four.
                Some(word) => {
                    is_open = !is_open;
                    is_open && word != "text"
                }
                None => !is_open && said.starts_with("     "),
            };
            assert!(
                !is_example,
                "{}:{}: `cargo test --doc` would run this, and ./test does not; make it a test, or mark it `text`",
                path.display(),
                number + 1
            );
        }
    }
}

#[test]
fn the_commands_of_the_readme_run_in_order_in_a_fresh_clone() {
    let world = World::new();
    let clone = world.path("clone");
    let programs = world.path("programs");
    fs::create_dir(&clone).unwrap();
    fs::create_dir(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_forge"), programs.join("forge")).unwrap();
    // What `./start` does once it has built the binary that this test was given, on a port that is free.
    fs::write(clone.join("start"), "#!/bin/sh\nexec forge serve --port 0 \"$@\"\n").unwrap();
    fs::set_permissions(clone.join("start"), fs::Permissions::from_mode(0o755)).unwrap();

    let mut script = String::from("set -euo pipefail\n");
    let blocks = blocks(&read("README.md"));
    assert!(blocks.len() > 5, "{blocks:?}");
    for (number, block) in blocks.iter().enumerate() {
        let commands = &block.commands;
        match block.how {
            How::InOrder => script.push_str(commands),
            // Ready is when its server answers; `CI` keeps the question from starting another.
            How::Background => script.push_str(&format!(
                "{{\n{commands}}} &\nuntil CI=1 forge status >/dev/null 2>&1; do sleep 0.02; done\n"
            )),
            How::NotHere => {}
        }
        script.push_str(&format!("echo '== block {number} is done'\n"));
    }
    let mut running = Running::start(shell(&world, &script, &clone, &programs));
    for number in 0..blocks.len() {
        running.line_with(&format!("== block {number} is done"));
    }
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("Hello from a worktree of my own"), "{ended:?}");
    assert!(ended.stdout.contains("Roses are red, violets are blue"), "{ended:?}");
}

#[test]
fn the_commands_of_the_page_about_genie_run_in_order() {
    let world = World::new();
    let programs = world.path("programs");
    fs::create_dir(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_forge"), programs.join("forge")).unwrap();
    let _server = world.serve();
    let blocks = blocks(&read("docs/genie.md"));
    assert!(blocks.len() > 4, "{blocks:?}");
    let mut script = String::from("set -euo pipefail\n");
    for block in blocks.iter().filter(|block| matches!(block.how, How::InOrder)) {
        script.push_str(&block.commands);
    }
    let ended = Running::start(shell(&world, &script, &world.repository(), &programs)).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for wanted in ["I am the greeter.", "hello from a session", "something further", "a1"] {
        assert!(ended.stdout.contains(wanted), "{wanted}: {ended:?}");
    }
}

/// Makes a shell of this world that finds forge and may start servers.
fn shell(world: &World, script: &str, directory: &Path, programs: &Path) -> Command {
    let mut shell = Command::new("bash");
    shell.env_clear();
    for (name, value) in world.forge(&[]).get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let mut path = programs.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    shell.env_remove("CI").env("PATH", path).current_dir(directory);
    shell.arg("-c").arg(script).stdin(std::process::Stdio::null());
    shell
}

/// A block of commands in a document.
#[derive(Debug)]
struct Block {
    how: How,
    commands: String,
}

/// How a block is run, as the comment on the line before it says.
#[derive(Debug, Clone, Copy)]
enum How {
    /// No comment: after the block before it, in the same shell.
    InOrder,
    /// `<!-- run: background -->`: beside those that follow.
    Background,
    /// `<!-- not run: REASON -->`.
    NotHere,
}

/// Finds the blocks that begin with ` ```sh `.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut before = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "```sh" {
            let commands = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n"));
            let reason = before.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
            let how = match (before, reason) {
                ("<!-- run: background -->", _) => How::Background,
                (_, Some(_)) => How::NotHere,
                _ => {
                    assert!(!before.starts_with("<!--"), "{before:?} says nothing about the block after it");
                    How::InOrder
                }
            };
            blocks.push(Block { how, commands: commands.collect() });
        }
        before = line;
    }
    blocks
}

/// Returns what stands in code marks, or as a number, in the first column of every table.
fn first_cells(text: &str) -> BTreeSet<String> {
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let exact = |cell: &str| match cell.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        Some(name) => Some(name.to_string()),
        None => cell.parse::<u8>().ok().map(|number| number.to_string()),
    };
    cells.filter_map(exact).collect()
}

/// Finds the names of the variables that a source file reads, its own tests left out.
///
/// The reading functions of `environment.rs` are told every name by its constants. Elsewhere a name is given as a
/// text or a constant of the same file; the two places that look at all variables have a list of those they keep.
fn variables_read(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    let constants = || {
        code.lines().filter_map(|line| line.trim_start().split_once("const ")?.1.split_once(": &str = \""))
    };
    if path.ends_with("forge/src/environment.rs") {
        return constants().map(|(_, value)| value.trim_end_matches("\";").to_string()).collect();
    }
    let mut names = Vec::new();
    for call in ["env::var(", "env::var_os("] {
        for (_, rest) in code.match_indices(call).map(|(at, call)| code.split_at(at + call.len())) {
            let argument = rest.split(')').next().unwrap();
            names.push(match argument.trim_matches('"') {
                quoted if quoted.len() + 2 == argument.len() => quoted.to_string(),
                name => match constants().find(|(constant, _)| *constant == name) {
                    Some((_, value)) => value.trim_end_matches("\";").to_string(),
                    None => panic!("{} reads the variable {name}, which cannot be named", path.display()),
                },
            });
        }
    }
    if code.contains("env::vars_os(") {
        let lists = code.match_indices("const KEPT").map(|(at, _)| code[at..].split("];").next().unwrap());
        names.extend(lists.flat_map(|list| list.split('"').skip(1).step_by(2)).map(str::to_string));
    }
    names
}

/// Returns every source file of the program itself.
fn sources() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join("xtask/src")];
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        folders.push(entry.unwrap().path().join("src"));
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources
}

/// Returns every document: the pages beside this repository's manifest, and those below `docs`.
fn documents() -> Vec<PathBuf> {
    let mut documents = Vec::new();
    for folder in [root(), root().join("docs"), root().join("docs/decisions")] {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        documents.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    documents
}

/// Finds the targets of a document's links and pictures that are not on the web. Code is no place for links.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|part| part.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    targets.filter(|target| !target.contains("://")).collect()
}

/// Returns the names by which a document's headings are linked to.
fn headings(text: &str) -> BTreeSet<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| -> String {
        let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_')).collect()
    };
    headings.map(name).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
