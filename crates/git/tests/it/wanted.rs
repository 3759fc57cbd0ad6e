//! Untracked files by name, and what another worktree would leave out of a commit.

use std::fs;

use crate::world::World;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_string()).collect()
}

#[test]
fn untracked_files_are_found_by_globs_from_the_top_and_by_lines_of_an_ignore_file() {
    let world = World::new();
    let top = world.path("repo");
    fs::create_dir_all(top.join("ignored-dir/deep")).unwrap();
    fs::create_dir_all(top.join("other/deep")).unwrap();
    for name in ["a.env", "ignored-dir/deep/b.env", "other/deep/c.env", "--help", ":(top)odd", "new.txt"] {
        fs::write(top.join(name), "").unwrap();
    }
    let repo = world.repo();
    let at = |globs: &[&str]| repo.untracked_at(&texts(globs)).unwrap().paths;
    assert_eq!(at(&["*.env"]), ["a.env"], "a star stays in its directory");
    assert_eq!(at(&["**/*.env"]), ["a.env", "ignored-dir/deep/b.env", "other/deep/c.env"]);
    assert_eq!(at(&["ignored-*"]), ["ignored-dir/deep/b.env"], "a directory names all below it");
    assert_eq!(at(&["other"]), ["other/deep/c.env"]);
    assert_eq!(at(&["--help", ":(top)odd"]), ["--help", ":(top)odd"], "a name is never an option");
    assert_eq!(at(&["nothing"]), Vec::<String>::new());
    let named = |lines: &[&str]| repo.untracked_named(&texts(lines)).unwrap().paths;
    assert_eq!(named(&["*.env", "!c.env"]), ["a.env", "ignored-dir/deep/b.env"]);
    assert_eq!(named(&["/a.env"]), ["a.env"]);
    assert_eq!(named(&["-x", "--help"]), ["--help"]);
}

#[test]
fn what_a_worktree_ignores_is_told_for_files_that_are_not_there() {
    let world = World::new();
    let worktree = world.worktree("one");
    let paths = texts(&["a.env", "a.txt", "new.txt", "ignored-dir/x/y", "--help"]);
    let ignored = worktree.ignored_of(&paths).unwrap();
    assert!(ignored.contains(&"ignored-dir/x/y".to_string()), "{ignored:?}");
    assert!(!ignored.contains(&"new.txt".to_string()) && !ignored.contains(&"--help".to_string()));
    assert_eq!(worktree.ignored_of(&texts(&["new.txt"])).unwrap(), Vec::<String>::new());
}
