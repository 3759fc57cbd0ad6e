//! A repository that tries to get its own commands run. Each trap is first shown to work on plain git.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use forge_git::{CommitRequest, Committed, Error, Limits, Worktree};

use crate::world::{World, snapshot_request};

#[test]
fn hooks_do_not_run_when_a_worktree_is_added_or_saved() {
    let world = World::new();
    for hook in ["post-checkout", "reference-transaction", "pre-commit", "post-index-change"] {
        world.canary_script(&world.path("repo/.git/hooks").join(hook));
    }
    world.run(&world.path("repo"), ["branch", "trap"]);
    world.assert_canary();
    let worktree = world.worktree("one");
    everything_but_hooks(&worktree);
    let repo = world.repo();
    repo.remove_worktree_to_trash(worktree.path(), &world.path("trash"), &world.path("worktrees")).unwrap();
    repo.delete_branch_at("forge/one", &repo.resolve_branch("forge/one").unwrap()).unwrap();
    world.assert_no_canary();
}

#[test]
fn a_file_system_monitor_does_not_run() {
    let world = World::new();
    let script = world.path("monitor");
    world.canary_script(&script);
    world.run(&world.path("repo"), ["config", "core.fsmonitor", script.to_str().unwrap()]);
    world.run(&world.path("repo"), ["status"]);
    world.assert_canary();
    everything_but_hooks(&world.worktree("one"));
    world.assert_no_canary();
    // Not even when the person's hooks may run.
    let worktree = world.worktree("two");
    fs::write(worktree.path().join("new"), "new\n").unwrap();
    let request = CommitRequest { run_hooks: true, ..commit_request() };
    assert!(matches!(worktree.commit_all(&request).map(|kept| kept.committed), Ok(Committed::Commit { .. })));
    world.assert_no_canary();
}

#[test]
fn a_filter_that_no_file_needs_does_not_run_and_is_in_nobodys_way() {
    let world = World::new();
    trap_filter(&world, "local");
    everything_but_hooks(&world.worktree("one"));
    world.assert_no_canary();
}

#[test]
fn a_worktree_with_files_for_a_local_filter_is_refused_with_the_remedy() {
    for driver in ["local", "a=b", "dotted.name"] {
        let world = World::new();
        trap_filter(&world, driver);
        fs::write(world.path("repo/.gitattributes"), format!("*.txt filter={driver}\n")).unwrap();
        fs::write(world.path("repo/a.txt"), "ONE\n").unwrap();
        world.commit(&world.path("repo"), "attributes");
        world.assert_canary();
        let repo = world.repo();
        let error = repo.add_worktree(&world.new_worktree(&repo, "one")).unwrap_err();
        assert!(error.to_string().contains("global git config"), "{error}");
        assert!(matches!(&error, Error::LocalFilter { driver: named, .. } if named == driver), "{error}");
        assert!(!world.path("worktrees/one").exists());
        assert_eq!(repo.worktrees().unwrap().len(), 1);
        assert!(matches!(repo.resolve_branch("forge/one"), Err(Error::NoSuchBranch { .. })));
        world.assert_no_canary();
    }
}

#[test]
fn a_filter_that_appears_later_is_neither_run_nor_committed_around() {
    let world = World::new();
    let worktree = world.worktree("one");
    trap_filter(&world, "local");
    fs::write(worktree.path().join(".gitattributes"), "*.txt filter=local\n").unwrap();
    fs::write(worktree.path().join("a.txt"), "ONE\n").unwrap();
    world.run(worktree.path(), ["status"]);
    world.assert_canary();
    assert!(!worktree.is_clean().unwrap());
    let error = worktree.commit_all(&commit_request()).unwrap_err();
    assert!(matches!(error, Error::LocalFilter { .. }), "{error}");
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    world.assert_no_canary();
    // What such a filter encodes may be secret, so it does not go into the repository's objects.
    assert_eq!(snapshot.left_out.len(), 1);
    assert_eq!(snapshot.left_out[0].path, Path::new("a.txt"));
}

#[test]
fn a_filter_from_an_included_file_or_a_branch_condition_is_found() {
    for header in ["[include]", "[includeIf \"onbranch:forge/**\"]", "[INCLUDE]"] {
        let world = World::new();
        let (script, included) = (world.path("filter"), world.path("included"));
        world.canary_script(&script);
        fs::write(&included, format!("[filter \"hidden\"]\n\tsmudge = {}\n", script.display())).unwrap();
        let config = world.path("repo/.git/config");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{text}{header}\n\tpath = {}\n", included.display())).unwrap();
        fs::write(world.path("repo/.gitattributes"), "*.txt filter=hidden\n").unwrap();
        world.commit(&world.path("repo"), "attributes");
        let repo = world.repo();
        let error = repo.add_worktree(&world.new_worktree(&repo, "one")).unwrap_err();
        assert!(matches!(error, Error::LocalFilter { .. }), "{header}: {error}");
        world.assert_no_canary();
    }
}

#[test]
fn the_persons_own_filter_runs_and_a_local_one_does_not_replace_it() {
    let world = World::new();
    let directory = world.path("repo");
    world.run(&directory, ["config", "--global", "filter.mine.smudge", "sed s/one/smudged/"]);
    world.run(&directory, ["config", "--global", "filter.mine.clean", "sed s/smudged/one/"]);
    fs::write(directory.join(".gitattributes"), "a.txt filter=mine\n").unwrap();
    world.commit(&directory, "attributes");
    trap_filter(&world, "mine");
    let worktree = world.worktree("one");
    assert_eq!(fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "smudged\n");
    fs::write(worktree.path().join("a.txt"), "smudged and more\n").unwrap();
    assert!(matches!(
        worktree.commit_all(&commit_request()).map(|kept| kept.committed),
        Ok(Committed::Commit { .. })
    ));
    world.assert_no_canary();
    assert_eq!(world.run(&directory, ["show", "forge/one:a.txt"]), "one and more");
}

#[test]
fn text_conversion_and_outside_diffs_do_not_run() {
    let world = World::new();
    let script = world.path("convert");
    world.canary_script(&script);
    for key in ["diff.trap.textconv", "diff.trap.command", "diff.external"] {
        world.run(&world.path("repo"), ["config", key, script.to_str().unwrap()]);
    }
    fs::write(world.path("repo/.gitattributes"), "*.txt diff=trap\n").unwrap();
    world.commit(&world.path("repo"), "attributes");
    everything_but_hooks(&world.worktree("one"));
    world.assert_no_canary();
}

#[test]
fn a_signing_program_of_the_repository_does_not_run() {
    let world = World::new();
    let script = world.path("sign");
    world.canary_script(&script);
    world.run(&world.path("repo"), ["config", "gpg.program", script.to_str().unwrap()]);
    world.run(&world.path("repo"), ["config", "commit.gpgSign", "true"]);
    world.attempt(&world.path("repo"), ["commit", "--allow-empty", "-m", "trap"]);
    world.assert_canary();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("new"), "new\n").unwrap();
    worktree.snapshot(&snapshot_request()).unwrap();
    // There is no key for the real program either, so nothing is committed.
    assert!(worktree.commit_all(&commit_request()).is_err());
    world.assert_no_canary();
}

#[test]
fn a_submodules_own_config_is_not_obeyed() {
    let world = World::new();
    let worktree = world.worktree("one");
    let inner = worktree.path().join("inner");
    world.run(worktree.path(), ["init", "-q", "inner"]);
    fs::write(inner.join(".gitattributes"), "* filter=trap\n").unwrap();
    fs::write(inner.join("f.txt"), "aaa\n").unwrap();
    world.commit(&inner, "inner");
    world.run(worktree.path(), ["add", "inner"]);
    let script = world.path("filter");
    world.canary_script(&script);
    world.run(&inner, ["config", "filter.trap.clean", script.to_str().unwrap()]);
    world.run(&inner, ["config", "core.fsmonitor", script.to_str().unwrap()]);
    fs::write(inner.join("f.txt"), "bbb\n").unwrap();
    world.run(worktree.path(), ["status"]);
    world.assert_canary();
    fs::write(inner.join("f.txt"), "ccc\n").unwrap();
    everything_but_hooks(&worktree);
    world.assert_no_canary();
}

#[test]
fn attributes_that_are_a_link_to_something_without_end_are_not_read() {
    let world = World::new();
    let pipe = world.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let worktree = world.worktree("one");
    symlink(&pipe, worktree.path().join(".gitattributes")).unwrap();
    world.run(worktree.path(), ["add", ".gitattributes"]);
    fs::write(worktree.path().join("new"), "new\n").unwrap();
    let oid = worktree.snapshot(&snapshot_request()).unwrap().oid;
    let link = world.run(worktree.path(), ["cat-file", "blob", &format!("{oid}:.gitattributes")]);
    assert_eq!(Path::new(&link), pipe);
}

#[test]
fn odd_paths_are_files_and_nothing_else() {
    let world = World::new();
    let worktree = world.worktree("one");
    let names = [
        "-rf",
        "--force",
        "new\nline",
        "quo\"te'",
        "space and ünïcode",
        ":(top)x",
        "*",
        "back\\slash",
        "$(x)",
    ];
    for name in names {
        fs::write(worktree.path().join(name), name).unwrap();
    }
    fs::create_dir(worktree.path().join("-dir")).unwrap();
    fs::write(worktree.path().join("-dir/-file"), "x").unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(snapshot.left_out, []);
    let Ok(Committed::Commit { oid }) = worktree.commit_all(&commit_request()).map(|kept| kept.committed)
    else {
        panic!("not committed")
    };
    let tree = |commit: &str| world.run(worktree.path(), ["rev-parse", &format!("{commit}^{{tree}}")]);
    assert_eq!(tree(&snapshot.oid), tree(&oid));
    for name in names {
        assert_eq!(world.run(worktree.path(), ["cat-file", "blob", &format!("{oid}:{name}")]), name);
    }
    let copy = world.repo();
    let new = forge_git::NewWorktree { base_oid: oid, ..world.new_worktree(&copy, "two") };
    assert!(copy.add_worktree(&new).unwrap().is_clean().unwrap());
}

/// Does with a worktree whatever reads or writes its files, hooks apart.
fn everything_but_hooks(worktree: &Worktree) {
    worktree.is_clean().unwrap();
    fs::write(worktree.path().join("a.txt"), "eno\n").unwrap();
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    assert!(!worktree.is_clean().unwrap());
    worktree.snapshot(&snapshot_request()).unwrap();
    assert!(matches!(
        worktree.commit_all(&commit_request()).map(|kept| kept.committed),
        Ok(Committed::Commit { .. })
    ));
    worktree.head().unwrap();
}

/// Sets a trap in the repository's own config: a filter, a process, a merge driver of that name.
fn trap_filter(world: &World, driver: &str) {
    let script = world.path("filter");
    world.canary_script(&script);
    for key in ["clean", "smudge"] {
        world.run(
            &world.path("repo"),
            ["config", &format!("filter.{driver}.{key}"), script.to_str().unwrap()],
        );
    }
    world.run(&world.path("repo"), ["config", &format!("merge.{driver}.driver"), script.to_str().unwrap()]);
}

fn commit_request() -> CommitRequest {
    CommitRequest {
        message: "work".into(),
        time_limit: Duration::from_secs(60),
        run_hooks: false,
        limits: Limits::default(),
    }
}
