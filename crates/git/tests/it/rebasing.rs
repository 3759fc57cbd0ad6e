//! Rebases that stop at a conflict: what is resolved, what is left open, and what is never overwritten.

use std::fs;
use std::path::{Path, PathBuf};

use forge_git::{Error, Operation, Rebase, Replayed, Worktree};

use crate::world::World;

fn git_add(worktree: &Worktree, file: &str) {
    let added = std::process::Command::new("git").arg("-C").arg(worktree.path()).args(["add", file]).status();
    assert!(added.unwrap().success());
}

/// A worktree whose rebase onto `main` conflicts in `a.txt`.
fn torn(world: &World) -> (Worktree, String, String) {
    let repo = world.repo();
    let base = repo.resolve_branch("main").unwrap();
    let worktree = world.worktree("one");
    let tip = world.commit_file(worktree.path(), "a.txt", b"mine\n");
    let onto = world.commit_file(repo.top(), "a.txt", b"theirs\n");
    let replayed = repo.replay(&base, &tip, &onto).unwrap();
    assert!(matches!(replayed, Replayed::Conflicts(_)), "{replayed:?}");
    let stopped = worktree.begin_rebase(&base, &onto).unwrap();
    assert_eq!(stopped, Rebase::Conflicts(vec![PathBuf::from("a.txt")]));
    assert_eq!(worktree.operation(), Some(Operation::Rebase));
    (worktree, tip, onto)
}

#[test]
fn a_conflict_stays_open_until_its_file_is_another_and_has_no_marks() {
    let world = World::new();
    let (worktree, _tip, onto) = torn(&world);
    let file = worktree.path().join("a.txt");
    assert_eq!(worktree.stage_resolved().unwrap(), [PathBuf::from("a.txt")]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("more\n{text}")).unwrap();
    assert_eq!(worktree.stage_resolved().unwrap(), [PathBuf::from("a.txt")]);
    fs::write(&file, "both\n").unwrap();
    assert!(worktree.stage_resolved().unwrap().is_empty());
    assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done);
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    assert_eq!(world.repo().parents_of(&worktree.head().unwrap()).unwrap(), [onto]);
    assert_eq!(world.run(worktree.path(), ["log", "-1", "--format=%s"]), "change a.txt");
}

#[test]
fn a_file_that_one_side_deleted_stays_open_until_somebody_decides() {
    // What is done about it, and what the file is then.
    type Decide = fn(&Worktree);
    let decisions: [(Decide, Option<&[u8]>); 3] = [
        (|worktree| fs::remove_file(worktree.path().join("a.txt")).unwrap(), None),
        (|worktree| fs::write(worktree.path().join("a.txt"), "both\n").unwrap(), Some(b"both\n")),
        (|worktree| git_add(worktree, "a.txt"), Some(b"theirs\n")),
    ];
    for (decide, then) in decisions {
        let world = World::new();
        let repo = world.repo();
        let base = repo.resolve_branch("main").unwrap();
        let worktree = world.worktree("one");
        fs::remove_file(worktree.path().join("a.txt")).unwrap();
        world.commit_file(worktree.path(), "mine.txt", b"mine\n");
        let onto = world.commit_file(repo.top(), "a.txt", b"theirs\n");
        let open = vec![PathBuf::from("a.txt")];
        assert_eq!(worktree.begin_rebase(&base, &onto).unwrap(), Rebase::Conflicts(open.clone()));
        // A file that is only looked at, or written as it is, is not decided about.
        assert_eq!(worktree.stage_resolved().unwrap(), open);
        fs::write(worktree.path().join("a.txt"), "theirs\n").unwrap();
        assert_eq!(worktree.stage_resolved().unwrap(), open);
        decide(&worktree);
        assert!(worktree.stage_resolved().unwrap().is_empty());
        assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done);
        assert_eq!(fs::read(worktree.path().join("a.txt")).ok().as_deref(), then);
        assert_eq!(fs::read(worktree.path().join("mine.txt")).unwrap(), b"mine\n");
    }
}

#[test]
fn binary_and_renamed_files_stay_open_until_they_are_other_files() {
    let world = World::new();
    let repo = world.repo();
    world.commit_file(repo.top(), "picture", b"\0base");
    let base = world.commit_file(repo.top(), "old.txt", b"a\nb\nc\nd\ne\nf\n");
    let worktree = world.worktree("one");
    world.run(worktree.path(), ["mv", "old.txt", "left.txt"]);
    world.commit_file(worktree.path(), "picture", b"\0mine");
    world.run(repo.top(), ["mv", "old.txt", "right.txt"]);
    let onto = world.commit_file(repo.top(), "picture", b"\0theirs");
    let Rebase::Conflicts(open) = worktree.begin_rebase(&base, &onto).unwrap() else {
        panic!("it conflicts")
    };
    for name in ["picture", "left.txt", "right.txt"] {
        assert!(open.contains(&PathBuf::from(name)), "{open:?}");
    }
    let left = worktree.stage_resolved().unwrap();
    assert!(
        ["picture", "left.txt", "right.txt"].iter().all(|name| left.contains(&PathBuf::from(name))),
        "{left:?}"
    );
    fs::write(worktree.path().join("picture"), b"\0both").unwrap();
    fs::remove_file(worktree.path().join("right.txt")).unwrap();
    assert_eq!(worktree.stage_resolved().unwrap(), [PathBuf::from("left.txt")]);
    fs::write(worktree.path().join("left.txt"), "both\n").unwrap();
    assert!(worktree.stage_resolved().unwrap().is_empty());
    assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done);
    assert_eq!(fs::read(worktree.path().join("picture")).unwrap(), b"\0both");
}

#[test]
fn an_aborted_rebase_leaves_everything_as_it_was() {
    let world = World::new();
    let (worktree, tip, _onto) = torn(&world);
    assert_eq!(worktree.abort_operation().unwrap(), Some(Operation::Rebase));
    assert_eq!(worktree.head().unwrap(), tip);
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    assert!(worktree.is_clean().unwrap());
    assert_eq!(worktree.abort_operation().unwrap(), None);
}

fn in_the_way<T: std::fmt::Debug>(refused: Result<T, Error>) -> Vec<String> {
    match refused {
        Err(Error::InTheWay { files, .. }) => files,
        other => panic!("{other:?}"),
    }
}

/// Commits a file that the repository ignores.
fn commit_ignored(world: &World, directory: &Path, file: &str, content: &str) -> String {
    let path = directory.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    world.run(directory, ["add", "-f", file]);
    world.commit(directory, &format!("change {file}"))
}

#[test]
fn a_rebase_does_not_begin_over_an_ignored_file() {
    // What the target has where an ignored file or directory stands here.
    for (here, there) in
        [("ignored.env", "ignored.env"), ("ignored.env", "ignored.env/deep"), ("x.env/deep", "x.env")]
    {
        let world = World::new();
        let repo = world.repo();
        let base = repo.resolve_branch("main").unwrap();
        let worktree = world.worktree("one");
        let tip = world.commit_file(worktree.path(), "a.txt", b"mine\n");
        world.commit_file(repo.top(), "a.txt", b"theirs\n");
        let onto = commit_ignored(&world, repo.top(), there, "tracked\n");
        let secret = worktree.path().join(here);
        fs::create_dir_all(secret.parent().unwrap()).unwrap();
        fs::write(&secret, "secret\n").unwrap();
        assert_eq!(in_the_way(worktree.begin_rebase(&base, &onto)), [here]);
        assert_eq!((worktree.operation(), worktree.head().unwrap()), (None, tip));
        assert_eq!(fs::read(&secret).unwrap(), b"secret\n");
    }
}

#[test]
fn a_rebase_is_neither_gone_on_with_nor_taken_back_over_an_ignored_file() {
    for abort in [false, true] {
        let world = World::new();
        let repo = world.repo();
        let base = repo.resolve_branch("main").unwrap();
        let worktree = world.worktree("one");
        world.commit_file(worktree.path(), "a.txt", b"mine\n");
        let tip = commit_ignored(&world, worktree.path(), "ignored.env", "picked\n");
        let onto = world.commit_file(repo.top(), "a.txt", b"theirs\n");
        worktree.begin_rebase(&base, &onto).unwrap();
        let secret = worktree.path().join("ignored.env");
        assert!(!secret.exists(), "the commit that has it comes later");
        fs::write(&secret, "secret\n").unwrap();
        fs::write(worktree.path().join("a.txt"), "both\n").unwrap();
        assert!(worktree.stage_resolved().unwrap().is_empty());
        let refused = match abort {
            true => in_the_way(worktree.abort_operation()),
            false => in_the_way(worktree.continue_rebase()),
        };
        assert_eq!(refused, ["ignored.env"]);
        assert_eq!(fs::read(&secret).unwrap(), b"secret\n");
        assert_eq!(worktree.operation(), Some(Operation::Rebase));
        fs::remove_file(&secret).unwrap();
        match abort {
            true => assert_eq!(worktree.abort_operation().unwrap(), Some(Operation::Rebase)),
            false => assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done),
        }
        assert_eq!(worktree.head().unwrap() == tip, abort);
        assert_eq!(fs::read(&secret).unwrap(), b"picked\n");
    }
}

#[test]
fn what_was_changed_besides_to_go_with_a_resolved_file_goes_with_it() {
    let world = World::new();
    let (worktree, _tip, _onto) = torn(&world);
    fs::write(worktree.path().join("a.txt"), "both\n").unwrap();
    assert!(worktree.stage_resolved().unwrap().is_empty());
    fs::write(worktree.path().join("a.txt"), "both, better\n").unwrap();
    fs::write(worktree.path().join("sub/b.txt"), "calls both\n").unwrap();
    let refused = worktree.continue_rebase().unwrap_err();
    let told = std::error::Error::source(&refused).unwrap().to_string();
    assert!(told.contains("edit all merge conflicts"), "{told}");
    assert!(worktree.stage_resolved().unwrap().is_empty());
    assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done);
    assert_eq!(world.run(worktree.path(), ["show", "HEAD:a.txt"]), "both, better");
    assert_eq!(world.run(worktree.path(), ["show", "HEAD:sub/b.txt"]), "calls both");
    assert!(worktree.is_clean().unwrap());
}

#[test]
fn a_message_with_headings_is_the_same_after_a_conflict() {
    for message in ["Subject\n\n## Summary\n\n#12 is fixed", "## Only a heading"] {
        let world = World::new();
        let repo = world.repo();
        let base = repo.resolve_branch("main").unwrap();
        let worktree = world.worktree("one");
        fs::write(worktree.path().join("a.txt"), "mine\n").unwrap();
        world.run(worktree.path(), ["commit", "-qa", "--cleanup=whitespace", "-m", message]);
        let onto = world.commit_file(repo.top(), "a.txt", b"theirs\n");
        worktree.begin_rebase(&base, &onto).unwrap();
        fs::write(worktree.path().join("a.txt"), "both\n").unwrap();
        assert!(worktree.stage_resolved().unwrap().is_empty());
        assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done);
        assert_eq!(world.run(worktree.path(), ["log", "-1", "--format=%B"]), message);
    }
}

#[test]
fn remarks_of_a_stop_that_somebody_else_made_stay_out_of_the_message() {
    let world = World::new();
    let repo = world.repo();
    let base = repo.resolve_branch("main").unwrap();
    let worktree = world.worktree("one");
    world.commit_file(worktree.path(), "a.txt", b"mine\n");
    world.commit_file(worktree.path(), "sub/b.txt", b"mine\n");
    world.commit_file(repo.top(), "a.txt", b"theirs\n");
    let onto = world.commit_file(repo.top(), "sub/b.txt", b"theirs\n");
    worktree.begin_rebase(&base, &onto).unwrap();
    // The agent goes on by itself, and stops at the next commit.
    fs::write(worktree.path().join("a.txt"), "both\n").unwrap();
    git_add(&worktree, "a.txt");
    let (went, told) = world.attempt(worktree.path(), ["-c", "core.editor=true", "rebase", "--continue"]);
    assert!(!went, "{told}");
    fs::write(worktree.path().join("sub/b.txt"), "both\n").unwrap();
    assert!(worktree.stage_resolved().unwrap().is_empty());
    assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done);
    assert_eq!(world.run(worktree.path(), ["log", "-2", "--format=%B"]), "change sub/b.txt\n\nchange a.txt");
}

#[test]
fn a_file_that_no_commit_on_the_way_has_any_more_is_in_nobodys_way() {
    let world = World::new();
    let repo = world.repo();
    let base = repo.resolve_branch("main").unwrap();
    let worktree = world.worktree("one");
    world.commit_file(worktree.path(), "scratch.py", b"try\n");
    fs::remove_file(worktree.path().join("scratch.py")).unwrap();
    world.commit(worktree.path(), "without it");
    world.commit_file(worktree.path(), "a.txt", b"mine\n");
    let onto = world.commit_file(repo.top(), "a.txt", b"theirs\n");
    worktree.begin_rebase(&base, &onto).unwrap();
    fs::write(worktree.path().join("scratch.py"), "again\n").unwrap();
    fs::write(worktree.path().join("a.txt"), "both\n").unwrap();
    assert!(worktree.stage_resolved().unwrap().is_empty());
    assert_eq!(worktree.continue_rebase().unwrap(), Rebase::Done);
    assert_eq!(fs::read(worktree.path().join("scratch.py")).unwrap(), b"again\n");
}

#[test]
fn a_rebase_does_not_begin_over_a_repository_of_somebodys_own() {
    let world = World::new();
    let repo = world.repo();
    let base = repo.resolve_branch("main").unwrap();
    let worktree = world.worktree("one");
    world.commit_file(worktree.path(), "a.txt", b"mine\n");
    world.commit_file(repo.top(), "a.txt", b"theirs\n");
    let onto = commit_ignored(&world, repo.top(), "ignored/lib/x.c", "tracked\n");
    let clone = worktree.path().join("ignored/lib");
    fs::create_dir_all(&clone).unwrap();
    world.run(&clone, ["init", "-q"]);
    fs::write(clone.join("x.c"), "somebody's own\n").unwrap();
    assert_eq!(in_the_way(worktree.begin_rebase(&base, &onto)), ["ignored/lib/"]);
    assert_eq!(fs::read(clone.join("x.c")).unwrap(), b"somebody's own\n");
}

#[test]
fn a_file_that_attributes_would_store_as_another_stays_open() {
    let world = World::new();
    let repo = world.repo();
    fs::write(repo.top().join("a.txt"), "one\r\ntwo\r\n").unwrap();
    let base = world.commit(repo.top(), "line ends");
    let worktree = world.worktree("one");
    fs::remove_file(worktree.path().join("a.txt")).unwrap();
    world.commit(worktree.path(), "delete a.txt");
    world.commit_file(repo.top(), "a.txt", b"one\r\ntwo\r\nthree\r\n");
    // Only told now, so that what is stored has line ends which would be stored otherwise.
    fs::write(repo.top().join(".gitattributes"), "*.txt text\n").unwrap();
    world.run(repo.top(), ["add", ".gitattributes"]);
    world.run(repo.top(), ["commit", "-qm", "attributes"]);
    let onto = world.run(repo.top(), ["rev-parse", "HEAD"]);
    let open = vec![PathBuf::from("a.txt")];
    assert_eq!(worktree.begin_rebase(&base, &onto).unwrap(), Rebase::Conflicts(open.clone()));
    assert_eq!(worktree.stage_resolved().unwrap(), open);
    fs::write(worktree.path().join("a.txt"), "four\n").unwrap();
    assert!(worktree.stage_resolved().unwrap().is_empty());
}

#[test]
fn a_repository_in_the_repository_stays_open_until_somebody_decides() {
    let world = World::new();
    let repo = world.repo();
    let inner = world.path("inner");
    fs::create_dir(&inner).unwrap();
    world.run(&inner, ["init", "-q", "--initial-branch=main"]);
    let commits =
        ["base", "mine", "theirs"].map(|content| world.commit_file(&inner, "x", content.as_bytes()));
    let point = |directory: &Path, at: &str| {
        world.run(directory, ["update-index", "--add", "--cacheinfo", &format!("160000,{at},inner")]);
        world.run(directory, ["commit", "-qm", "inner"]);
        world.run(directory, ["rev-parse", "HEAD"])
    };
    let base = point(repo.top(), &commits[0]);
    let worktree = world.worktree("one");
    point(worktree.path(), &commits[1]);
    let onto = point(repo.top(), &commits[2]);
    // Checked out where the attempt's own commit has it, which a rebase does not change. The two histories are one
    // here, but nobody tells git so: it does not look into a repository that it does not know.
    let checked_out = worktree.path().join("inner");
    let _empty = fs::remove_dir(&checked_out);
    world.run(worktree.path(), ["clone", "-q", inner.to_str().unwrap(), "inner"]);
    world.run(&checked_out, ["checkout", "-q", &commits[1]]);
    world.run(&checked_out, ["commit", "-q", "--allow-empty", "-m", "another"]);
    let another = world.run(&checked_out, ["rev-parse", "HEAD"]);
    point(worktree.path(), &another);
    let open = vec![PathBuf::from("inner")];
    let Rebase::Conflicts(conflicts) = worktree.begin_rebase(&base, &onto).unwrap() else {
        panic!("it conflicts")
    };
    assert_eq!(conflicts, open);
    assert_eq!(worktree.stage_resolved().unwrap(), open);
    git_add(&worktree, "inner");
    assert!(worktree.stage_resolved().unwrap().is_empty());
}

#[test]
fn marks_that_an_attribute_made_longer_are_seen() {
    let world = World::new();
    let repo = world.repo();
    fs::write(repo.top().join(".gitattributes"), "a.txt conflict-marker-size=32\n").unwrap();
    world.commit(repo.top(), "attributes");
    let (worktree, _tip, _onto) = torn(&world);
    let file = worktree.path().join("a.txt");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(&"<".repeat(32)), "{text}");
    fs::write(&file, format!("half resolved\n{text}")).unwrap();
    assert_eq!(worktree.stage_resolved().unwrap(), [PathBuf::from("a.txt")]);
}
