//! Files of a project, found by a part of their name.

use std::fs;

use forge_engine::{ErrorKind, FoundFile, Matched, SearchFor};

use crate::world::World;

fn search(world: &World, text: &str, what: SearchFor) -> Vec<FoundFile> {
    world.run(world.engine().search_files(world.project, text, what)).unwrap()
}

fn paths(found: &[FoundFile]) -> Vec<&str> {
    found.iter().map(|found| found.path.as_str()).collect()
}

fn write(world: &World, path: &str) {
    let path = world.repository.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x\n").unwrap();
}

fn commit(world: &World, path: &str) {
    write(world, path);
    world.git(&["add", "--force", path]);
    world.git(&["commit", "--quiet", "--message=more"]);
}

#[test]
fn the_best_match_comes_first_and_among_equals_what_was_touched_last() {
    let world = World::new();
    for path in
        ["parser/deep/x.rs", "src/a_parser.rs", "src/parser_old.rs", "src/parser_new.rs", "src/parser.rs"]
    {
        commit(&world, path);
    }
    write(&world, "src/parser_untracked.rs");
    let found = search(&world, " PARSER ", SearchFor::Prompt);
    assert_eq!(
        paths(&found),
        [
            "src/parser.rs",
            "parser",
            "src/parser_new.rs",
            "src/parser_old.rs",
            "src/parser_untracked.rs",
            "src/a_parser.rs",
            "parser/deep",
            "parser/deep/x.rs",
        ]
    );
    let kinds: Vec<_> = found.iter().map(|found| (found.is_file, found.matched)).collect();
    assert_eq!(kinds[0], (true, Matched::FileName));
    assert_eq!(kinds[1], (false, Matched::DirectoryName));
    assert_eq!(kinds[7], (true, Matched::FullPath));
    // The history is read again when another commit is checked out.
    fs::write(world.repository.join("src/parser_old.rs"), "y\n").unwrap();
    world.git(&["commit", "--quiet", "--all", "--message=again"]);
    assert_eq!(paths(&search(&world, "parser_", SearchFor::Prompt))[0], "src/parser_old.rs");
}

#[test]
fn ignored_files_are_found_for_settings_only_and_removed_ones_never() {
    let world = World::new();
    commit(&world, "gone/config.json");
    fs::write(world.repository.join(".gitignore"), "*.env\nnode_modules\n").unwrap();
    write(&world, "config.env");
    write(&world, "node_modules/config/index.js");
    write(&world, "config.toml");
    fs::remove_dir_all(world.repository.join("gone")).unwrap();
    assert_eq!(paths(&search(&world, "config", SearchFor::Prompt)), ["config.toml"]);
    assert_eq!(paths(&search(&world, "config", SearchFor::Settings)), ["config.env", "config.toml"]);
    assert_eq!(paths(&search(&world, "node_mod", SearchFor::Settings)), ["node_modules"]);
}

#[test]
fn ten_are_shown_at_most_and_a_text_must_be_given() {
    let world = World::new();
    for number in 0..30 {
        write(&world, &format!("many/{number}.txt"));
    }
    assert_eq!(search(&world, ".txt", SearchFor::Prompt).len(), 10);
    for text in ["", " \t"] {
        let searched = world.run(world.engine().search_files(world.project, text, SearchFor::Prompt));
        let error = searched.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.to_string(), "Query parameter 'q' is required and cannot be empty");
    }
}
