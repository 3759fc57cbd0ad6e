//! Merging in memory, moving branches forward with their checkout, and rebasing.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use forge_git::{CommitRequest, Committed, Error, Limits, Merged, Replayed, Repo, Worktree};

use crate::world::World;

fn request(message: &str) -> CommitRequest {
    CommitRequest {
        message: message.into(),
        time_limit: Duration::from_secs(60),
        run_hooks: true,
        limits: Limits::default(),
    }
}

/// A commit on `main` in a worktree of its own, so that `main` can move forward to it.
fn ahead(world: &World, file: &str, content: &[u8]) -> (Repo, Worktree, String, String) {
    let repo = world.repo();
    let worktree = world.worktree("ahead");
    let to = world.commit_file(worktree.path(), file, content);
    let from = repo.resolve_branch("main").unwrap();
    (repo, worktree, from, to)
}

fn files_in_the_way(refused: Result<(), Error>) -> Vec<String> {
    match refused {
        Err(Error::InTheWay { files, .. }) => files,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_checkout_moves_forward_with_its_branch_and_other_edits_stay() {
    let world = World::new();
    let (repo, _worktree, from, to) = ahead(&world, "a.txt", b"changed\n");
    fs::write(repo.top().join("sub/b.txt"), "edited\n").unwrap();
    fs::write(repo.top().join("new.txt"), "untracked\n").unwrap();
    fs::write(repo.top().join("staged.txt"), "staged\n").unwrap();
    world.run(repo.top(), ["add", "staged.txt"]);
    repo.forward_branch("main", &from, &to).unwrap();
    assert_eq!(world.run(repo.top(), ["rev-parse", "HEAD"]), to);
    assert_eq!(fs::read(repo.top().join("a.txt")).unwrap(), b"changed\n");
    let status = world.run(repo.top(), ["status", "--porcelain"]);
    let mut status: Vec<&str> = status.lines().collect();
    status.sort_unstable();
    assert_eq!(status, [" M sub/b.txt", "?? new.txt", "A  staged.txt"]);
    world.run(repo.top(), ["fsck", "--no-dangling"]);
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_moves() {
    for (file, prepare) in [("a.txt", "edited"), ("fresh.txt", "untracked"), ("ignored.env", "ignored")] {
        let world = World::new();
        let repo = world.repo();
        let worktree = world.worktree("ahead");
        fs::write(worktree.path().join(file), "theirs\n").unwrap();
        world.run(worktree.path(), ["add", "-f", file]);
        let to = world.commit(worktree.path(), "theirs");
        let from = repo.resolve_branch("main").unwrap();
        fs::write(repo.top().join(file), "mine\n").unwrap();
        let before = world.run(repo.top(), ["status", "--porcelain", "--ignored"]);
        assert_eq!(files_in_the_way(repo.forward_branch("main", &from, &to)), [file], "{prepare}");
        assert_eq!(fs::read(repo.top().join(file)).unwrap(), b"mine\n");
        assert_eq!(repo.resolve_branch("main").unwrap(), from);
        assert_eq!(world.run(repo.top(), ["status", "--porcelain", "--ignored"]), before);
    }
}

#[test]
fn settings_that_would_do_more_than_move_forward_are_not_followed() {
    let world = World::new();
    let (repo, _worktree, from, to) = ahead(&world, "a.txt", b"changed\n");
    for setting in
        [["merge.autoStash", "true"], ["merge.ff", "false"], ["branch.main.mergeOptions", "--squash"]]
    {
        world.run(repo.top(), ["config", setting[0], setting[1]]);
    }
    fs::write(repo.top().join("a.txt"), "mine\n").unwrap();
    assert_eq!(files_in_the_way(repo.forward_branch("main", &from, &to)), ["a.txt"]);
    assert_eq!(world.run(repo.top(), ["stash", "list"]), "");
    world.run(repo.top(), ["checkout", "-q", "a.txt"]);
    repo.forward_branch("main", &from, &to).unwrap();
    assert_eq!(world.run(repo.top(), ["rev-parse", "main"]), to);
}

#[test]
fn a_branch_that_is_checked_out_nowhere_moves_alone_and_only_from_where_it_was() {
    let world = World::new();
    let (repo, _worktree, from, to) = ahead(&world, "a.txt", b"changed\n");
    world.run(repo.top(), ["checkout", "-q", "--detach"]);
    let wrong = repo.forward_branch("main", &to, &to);
    assert!(matches!(wrong, Err(Error::BranchMoved { .. })), "{wrong:?}");
    repo.forward_branch("main", &from, &to).unwrap();
    assert_eq!(repo.resolve_branch("main").unwrap(), to);
    assert_eq!(world.run(repo.top(), ["rev-parse", "HEAD"]), from);
}

#[test]
fn a_branch_moves_with_the_linked_worktree_that_has_it() {
    let world = World::new();
    let (repo, _worktree, from, to) = ahead(&world, "a.txt", b"changed\n");
    world.run(repo.top(), ["checkout", "-q", "-b", "elsewhere"]);
    let other = world.path("person's other");
    world.run(repo.top(), ["worktree", "add", "-q", other.to_str().unwrap(), "main"]);
    repo.forward_branch("main", &from, &to).unwrap();
    assert_eq!(fs::read(other.join("a.txt")).unwrap(), b"changed\n");
    assert_eq!(world.run(&other, ["status", "--porcelain"]), "");
    assert_eq!(fs::read(repo.top().join("a.txt")).unwrap(), b"one\n");
}

#[test]
fn nothing_moves_while_the_checkout_is_in_the_middle_of_something() {
    let world = World::new();
    let repo = world.repo();
    world.run(repo.top(), ["checkout", "-q", "-b", "other"]);
    world.commit_file(repo.top(), "a.txt", b"other\n");
    world.run(repo.top(), ["checkout", "-q", "main"]);
    let from = world.commit_file(repo.top(), "a.txt", b"main\n");
    let worktree = world.worktree("ahead");
    let to = world.commit_file(worktree.path(), "fresh.txt", b"x\n");
    for begin in [&["merge", "other"][..], &["cherry-pick", "other"], &["rebase", "other"]] {
        let (succeeded, _) = world.attempt(repo.top(), begin);
        assert!(!succeeded, "{begin:?} was to conflict");
        let refused = repo.forward_branch("main", &from, &to);
        assert!(matches!(refused, Err(Error::UnderWay { .. })), "{begin:?}: {refused:?}");
        assert!(repo.check_movable("main").is_err());
        assert_eq!(repo.resolve_branch("main").unwrap(), from);
        world.run(repo.top(), [begin[0], "--abort"]);
    }
    repo.check_movable("main").unwrap();
    repo.forward_branch("main", &from, &to).unwrap();
}

#[test]
fn a_checkout_moves_back_with_its_branch_and_other_edits_stay() {
    let world = World::new();
    let repo = world.repo();
    let to = repo.resolve_branch("main").unwrap();
    fs::write(repo.top().join("a.txt"), "changed\n").unwrap();
    fs::write(repo.top().join("added.txt"), "added\n").unwrap();
    let from = world.commit(repo.top(), "landed");
    fs::write(repo.top().join("sub/b.txt"), "edited\n").unwrap();
    fs::write(repo.top().join("new.txt"), "untracked\n").unwrap();
    fs::write(repo.top().join("staged.txt"), "staged\n").unwrap();
    world.run(repo.top(), ["add", "staged.txt"]);
    // Touched, not changed.
    let touched = fs::File::options().append(true).open(repo.top().join("a.txt")).unwrap();
    touched.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let assert_back = || {
        assert_eq!(world.run(repo.top(), ["rev-parse", "main", "HEAD"]), format!("{to}\n{to}"));
        assert_eq!(world.run(repo.top(), ["branch", "--show-current"]), "main");
        assert_eq!(fs::read(repo.top().join("a.txt")).unwrap(), b"one\n");
        assert!(!repo.top().join("added.txt").exists());
        let status = world.run(repo.top(), ["status", "--porcelain"]);
        let mut status: Vec<&str> = status.lines().collect();
        status.sort_unstable();
        assert_eq!(status, [" M sub/b.txt", "?? new.txt", "A  staged.txt"]);
    };
    repo.set_branch_back("main", &from, &to).unwrap();
    assert_back();
    // Broken off after the branch had moved: the files follow when it is asked for again.
    repo.forward_branch("main", &to, &from).unwrap();
    world.run(repo.top(), ["update-ref", "refs/heads/main", &to, &from]);
    repo.set_branch_back("main", &from, &to).unwrap();
    assert_back();
    repo.set_branch_back("main", &from, &to).unwrap();
    assert_back();
    world.run(repo.top(), ["fsck", "--no-dangling"]);
}

#[test]
fn a_file_that_was_changed_since_is_named_and_nothing_moves_back() {
    for (file, what) in
        [("a.txt", "edited"), ("added.txt", "edited"), ("sub/b.txt", "made again"), ("a.txt", "staged")]
    {
        let world = World::new();
        let repo = world.repo();
        let to = repo.resolve_branch("main").unwrap();
        fs::write(repo.top().join("a.txt"), "changed\n").unwrap();
        fs::write(repo.top().join("added.txt"), "added\n").unwrap();
        fs::remove_file(repo.top().join("sub/b.txt")).unwrap();
        let from = world.commit(repo.top(), "landed");
        fs::create_dir_all(repo.top().join("sub")).unwrap();
        fs::write(repo.top().join(file), "mine\n").unwrap();
        // One that is ignored too is the person's.
        fs::write(repo.common_dir().join("info/exclude"), "b.txt\n").unwrap();
        if what == "staged" {
            world.run(repo.top(), ["add", file]);
        }
        let before = world.run(repo.top(), ["status", "--porcelain", "--ignored"]);
        assert_eq!(files_in_the_way(repo.set_branch_back("main", &from, &to)), [file], "{what}");
        assert_eq!(fs::read(repo.top().join(file)).unwrap(), b"mine\n");
        assert_eq!(repo.resolve_branch("main").unwrap(), from);
        assert_eq!(world.run(repo.top(), ["status", "--porcelain", "--ignored"]), before);
    }
}

#[test]
fn a_branch_moves_back_with_a_linked_worktree_or_alone_and_only_from_where_it_was() {
    let world = World::new();
    let repo = world.repo();
    let to = repo.resolve_branch("main").unwrap();
    let from = world.commit_file(repo.top(), "a.txt", b"changed\n");
    world.run(repo.top(), ["checkout", "-q", "-b", "elsewhere"]);
    let other = world.path("person's other");
    world.run(repo.top(), ["worktree", "add", "-q", other.to_str().unwrap(), "main"]);
    let references = repo.references_with(&from).unwrap();
    assert_eq!(references, ["refs/heads/elsewhere", "refs/heads/main"]);
    repo.set_branch_back("main", &from, &to).unwrap();
    assert_eq!(fs::read(other.join("a.txt")).unwrap(), b"one\n");
    assert_eq!(world.run(&other, ["status", "--porcelain"]), "");
    assert_eq!(fs::read(repo.top().join("a.txt")).unwrap(), b"changed\n");
    world.run(repo.top(), ["worktree", "remove", other.to_str().unwrap()]);
    repo.forward_branch("main", &to, &from).unwrap();
    let wrong = repo.set_branch_back("main", &"0".repeat(40), &to);
    assert!(matches!(wrong, Err(Error::BranchMoved { .. })), "{wrong:?}");
    repo.set_branch_back("main", &from, &to).unwrap();
    assert_eq!(repo.resolve_branch("main").unwrap(), to);
    assert_eq!(world.run(repo.top(), ["rev-parse", "HEAD"]), from);
}

#[test]
fn a_merge_in_memory_tells_what_conflicts_and_how() {
    let world = World::new();
    let repo = world.repo();
    fs::write(repo.top().join("picture"), [0, 1, 2]).unwrap();
    fs::write(repo.top().join("old.txt"), "a\nb\nc\nd\ne\n").unwrap();
    world.commit(repo.top(), "more");
    let one = world.worktree("one");
    let two = world.worktree("two");
    for (worktree, text, bytes, name) in [(&one, "ours", 3, "left.txt"), (&two, "theirs", 4, "right.txt")] {
        fs::write(worktree.path().join("a.txt"), text).unwrap();
        fs::write(worktree.path().join("picture"), [0, 1, bytes]).unwrap();
        world.run(worktree.path(), ["mv", "old.txt", name]);
        world.commit(worktree.path(), text);
    }
    let before = world.run(repo.top(), ["for-each-ref"]);
    let merged = repo.merge_commits(&one.head().unwrap(), &two.head().unwrap(), None).unwrap();
    let Merged::Conflicts(conflicts) = merged else { panic!("{merged:?}") };
    let kinds: Vec<_> = conflicts.iter().map(|c| (c.path.as_str(), c.kind.as_str())).collect();
    assert!(kinds.contains(&("a.txt", "contents")), "{kinds:?}");
    assert!(kinds.contains(&("picture", "binary")), "{kinds:?}");
    assert!(kinds.contains(&("old.txt", "rename/rename")), "{kinds:?}");
    assert_eq!(world.run(repo.top(), ["for-each-ref"]), before);
    let unknown = repo.merge_commits(&one.head().unwrap(), &"0".repeat(40), None);
    assert!(unknown.is_err(), "{unknown:?}");
}

#[test]
fn a_merge_driver_of_the_repository_is_not_run() {
    let world = World::new();
    let repo = world.repo();
    fs::write(repo.top().join(".gitattributes"), "*.txt merge=evil\n").unwrap();
    world.commit(repo.top(), "attributes");
    let (one, two) = (world.worktree("one"), world.worktree("two"));
    world.commit_file(one.path(), "a.txt", b"ours\n");
    world.commit_file(two.path(), "a.txt", b"theirs\n");
    let script = world.path("evil");
    world.canary_script(&script);
    world.run(repo.top(), ["config", "merge.evil.driver", script.to_str().unwrap()]);
    let merged = repo.merge_commits(&one.head().unwrap(), &two.head().unwrap(), None).unwrap();
    assert!(matches!(merged, Merged::Conflicts(_)), "{merged:?}");
    world.assert_no_canary();
    world.attempt(one.path(), ["merge", "forge/two"]);
    world.assert_canary();
}

#[test]
fn work_that_arrived_as_one_commit_counts_as_merged() {
    let world = World::new();
    let repo = world.repo();
    let worktree = world.worktree("one");
    world.commit_file(worktree.path(), "a.txt", b"first\n");
    let tip = world.commit_file(worktree.path(), "a.txt", b"second\n");
    let main = repo.resolve_branch("main").unwrap();
    assert!(!repo.holds_changes_of(&main, &tip).unwrap());
    world.run(repo.top(), ["merge", "-q", "--squash", "forge/one"]);
    world.commit(repo.top(), "squashed");
    let main = world.commit_file(repo.top(), "sub/b.txt", b"and on\n");
    assert!(repo.holds_changes_of(&main, &tip).unwrap());
    assert_eq!(repo.ahead_behind(&tip, &main).unwrap(), (2, 2));
}

#[test]
fn commits_are_built_again_with_author_date_and_message() {
    let world = World::new();
    let repo = world.repo();
    let base = repo.resolve_branch("main").unwrap();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("mine.txt"), "x\n").unwrap();
    world.run(worktree.path(), ["add", "-A"]);
    let who =
        ["commit", "-q", "--author=Grace Höpper <grace@example.org>", "--date=2020-02-03T04:05:06+0700"];
    world.run(worktree.path(), who.into_iter().chain(["-m", "subject\n\nbody  with spaces\n\n# no comment"]));
    world.run(worktree.path(), ["commit", "-q", "--allow-empty", "-m", "empty on purpose"]);
    let tip = worktree.head().unwrap();
    let onto = world.commit_file(repo.top(), "sub/b.txt", b"moved on\n");
    let Replayed::Tip { oid, held } = repo.replay(&base, &tip, &onto).unwrap() else {
        panic!("it does not conflict")
    };
    // No reference leads to them yet.
    world.run(repo.top(), ["gc", "-q", "--prune=now"]);
    let show =
        |oid: &str| world.run(repo.top(), ["log", "-2", "--format=%an %ae %ad%n%B", "--date=raw", oid]);
    assert_eq!(show(&oid), show(&tip));
    assert_eq!(repo.ahead_behind(&oid, &onto).unwrap(), (2, 0));
    worktree.move_to("forge/one", &oid).unwrap();
    drop(held);
    assert_eq!(fs::read(worktree.path().join("sub/b.txt")).unwrap(), b"moved on\n");
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    assert!(worktree.is_clean().unwrap());
}

#[test]
fn an_answer_to_a_conflict_that_is_a_merge_is_not_lost_when_the_base_moves_on() {
    let world = World::new();
    let repo = world.repo();
    let base = repo.resolve_branch("main").unwrap();
    let worktree = world.worktree("one");
    world.commit_file(worktree.path(), "a.txt", b"mine\n");
    world.commit_file(repo.top(), "a.txt", b"theirs\n");
    assert!(!world.attempt(worktree.path(), ["merge", "main"]).0);
    let tip = world.commit_file(worktree.path(), "a.txt", b"both\n");
    let onto = world.commit_file(repo.top(), "sub/b.txt", b"on\n");
    let Replayed::Tip { oid, .. } = repo.replay(&base, &tip, &onto).unwrap() else {
        panic!("it does not conflict")
    };
    assert_eq!(world.run(repo.top(), ["show", &format!("{oid}:a.txt")]), "both");
    assert_eq!(world.run(repo.top(), ["show", &format!("{oid}:sub/b.txt")]), "on");
    assert_eq!(repo.parents_of(&oid).unwrap(), [onto]);
}

#[test]
fn a_worktree_does_not_move_over_an_ignored_file() {
    let world = World::new();
    let repo = world.repo();
    let worktree = world.worktree("one");
    fs::write(repo.top().join("ignored.env"), "tracked\n").unwrap();
    world.run(repo.top(), ["add", "-f", "ignored.env"]);
    let onto = world.commit(repo.top(), "tracked now");
    fs::write(worktree.path().join("ignored.env"), "secret\n").unwrap();
    let before = worktree.head().unwrap();
    assert_eq!(files_in_the_way(worktree.move_to("forge/one", &onto)), ["ignored.env"]);
    assert_eq!(fs::read(worktree.path().join("ignored.env")).unwrap(), b"secret\n");
    assert_eq!(worktree.head().unwrap(), before);
}

#[test]
fn many_commits_become_one_and_a_hook_that_refuses_leaves_them_many() {
    let world = World::new();
    let repo = world.repo();
    let base = repo.resolve_branch("main").unwrap();
    let worktree = world.worktree("one");
    world.commit_file(worktree.path(), "a.txt", b"first\n");
    let tip = world.commit_file(worktree.path(), "fresh.txt", b"second\n");
    let hook = repo.common_dir().join("hooks/pre-commit");
    world.script(&hook, "git diff --cached --name-only; exit 1");
    let Committed::HookFailed { hook: name, output } = worktree.squash(&base, &tip, &request("one")).unwrap()
    else {
        panic!("the hook refused");
    };
    assert_eq!((name.as_str(), output.as_str()), ("pre-commit", "a.txt\nfresh.txt"));
    assert_eq!(worktree.head().unwrap(), tip);
    assert!(worktree.is_clean().unwrap());
    fs::remove_file(&hook).unwrap();
    let Committed::Commit { oid } = worktree.squash(&base, &tip, &request("one\n\nbody")).unwrap() else {
        panic!("there was something to commit");
    };
    assert_eq!(repo.parents_of(&oid).unwrap(), [base]);
    assert_eq!(repo.tree_of(&oid).unwrap(), repo.tree_of(&tip).unwrap());
    assert_eq!(world.run(worktree.path(), ["log", "-1", "--format=%an|%B"]), "Person|one\n\nbody");
}

#[test]
fn one_file_is_deleted_and_nothing_else_is_committed() {
    let world = World::new();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("sub/b.txt"), "edited\n").unwrap();
    fs::write(worktree.path().join("staged.txt"), "staged\n").unwrap();
    world.run(worktree.path(), ["add", "staged.txt"]);
    let path = worktree.check_deletable("a.txt").unwrap();
    assert!(matches!(
        worktree.delete_file(&path, &request("Delete a.txt")).unwrap(),
        Committed::Commit { .. }
    ));
    let show = world.run(worktree.path(), ["show", "--format=%s", "--name-status", "HEAD"]);
    assert_eq!(show, "Delete a.txt\n\nD\ta.txt");
    assert!(world.run(worktree.path(), ["status", "--porcelain"]).contains("A  staged.txt"));
    assert!(!worktree.path().join("a.txt").exists());
}

#[test]
fn a_path_that_is_no_file_of_the_worktree_is_not_deleted() {
    let world = World::new();
    let worktree = world.worktree("one");
    let outside = world.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, worktree.path().join("link")).unwrap();
    fs::write(worktree.path().join("ignored.env"), "secret\n").unwrap();
    let bad = [
        "",
        ".",
        "..",
        "../outside/x",
        "/etc/passwd",
        ".git",
        ".GIT/x",
        "link/x",
        "sub",
        "none",
        "ignored.env",
    ];
    for path in bad {
        let refused = worktree.check_deletable(path);
        assert!(matches!(refused, Err(Error::NotDeletable { .. })), "{path}: {refused:?}");
    }
    // The link itself is a file like another.
    assert_eq!(worktree.check_deletable("link").unwrap(), PathBuf::from("link"));
}

#[test]
fn the_persons_own_filters_and_line_ends_hold_on_every_way() {
    let world = World::new();
    let repo = world.repo();
    for verb in ["clean", "smudge"] {
        world.run(repo.top(), ["config", "--global", &format!("filter.rot.{verb}"), "tr a-z n-za-m"]);
    }
    fs::write(repo.top().join(".gitattributes"), "*.rot filter=rot\n*.win text eol=crlf\n").unwrap();
    let base = world.commit(repo.top(), "attributes");
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("x.rot"), "hello\n").unwrap();
    fs::write(worktree.path().join("y.win"), "a\r\nb\r\n").unwrap();
    assert!(matches!(worktree.commit_all(&request("work")).unwrap().committed, Committed::Commit { .. }));
    let tip = worktree.head().unwrap();
    let onto = world.commit_file(repo.top(), "z.rot", b"other\n");
    let Replayed::Tip { oid, .. } = repo.replay(&base, &tip, &onto).unwrap() else {
        panic!("it does not conflict")
    };
    worktree.move_to("forge/one", &oid).unwrap();
    let Committed::Commit { oid: to } = worktree.squash(&onto, &oid, &request("one")).unwrap() else {
        panic!("there was something to commit");
    };
    repo.forward_branch("main", &onto, &to).unwrap();
    for top in [repo.top(), worktree.path()] {
        assert_eq!(fs::read(top.join("x.rot")).unwrap(), b"hello\n");
        assert_eq!(fs::read(top.join("z.rot")).unwrap(), b"other\n");
        assert_eq!(fs::read(top.join("y.win")).unwrap(), b"a\r\nb\r\n");
        assert_eq!(world.run(top, ["status", "--porcelain"]), "");
    }
    assert_eq!(world.run(repo.top(), ["cat-file", "-p", "main:x.rot"]), "uryyb");
    assert_eq!(world.run(repo.top(), ["cat-file", "-p", "main:y.win"]), "a\nb");
}

#[test]
fn what_needs_a_filter_of_the_repository_is_not_moved_into_a_checkout() {
    let world = World::new();
    let (repo, worktree) = (world.repo(), world.worktree("one"));
    for verb in ["clean", "smudge"] {
        world.run(repo.top(), ["config", &format!("filter.secret.{verb}"), "tr a-z n-za-m"]);
    }
    fs::write(worktree.path().join(".gitattributes"), "*.key filter=secret\n").unwrap();
    let to = world.commit_file(worktree.path(), "a.key", b"hello\n");
    let from = repo.resolve_branch("main").unwrap();
    let refused = repo.forward_branch("main", &from, &to);
    assert!(matches!(refused, Err(Error::LocalFilter { .. })), "{refused:?}");
    assert_eq!(repo.resolve_branch("main").unwrap(), from);
    assert!(!repo.top().join("a.key").exists());
}
