//! The person's history stays out of reach: nothing of ours moves a branch through another's name, reads a history that
//! somebody made up, or follows a file into another repository; and what git cannot read is put back.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use forge_git::{CommitRequest, Committed, Error, Limits, Rebase, SeenReflogs, Worktree};

use crate::world::World;

fn request() -> CommitRequest {
    CommitRequest {
        message: "work".into(),
        time_limit: Duration::from_secs(60),
        run_hooks: true,
        limits: Limits::default(),
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>, why: &str) {
    match result {
        Err(Error::Astray { why: told, .. }) => assert!(told.contains(why), "{told}"),
        other => panic!("{why}: {other:?}"),
    }
}

fn write(worktree: &Worktree, name: &str) {
    fs::write(worktree.path().join(name), "new\n").unwrap();
}

#[test]
fn nothing_is_moved_through_a_branch_that_is_another_name() {
    let world = World::new();
    let worktree = world.worktree("one");
    let repo = world.repo();
    let first = repo.resolve_branch("main").unwrap();
    let second = world.commit_file(&world.path("repo"), "more.txt", b"more\n");
    let file = repo.common_dir().join("refs/heads/forge/one");
    for is_link in [false, true] {
        fs::remove_file(&file).unwrap();
        match is_link {
            false => fs::write(&file, "ref: refs/heads/main\n").unwrap(),
            true => std::os::unix::fs::symlink("refs/heads/main", &file).unwrap(),
        }
        write(&worktree, "x.txt");
        let name = "only another name for refs/heads/main";
        refused(worktree.commit_all(&request()), name);
        refused(worktree.commit_all_on("forge/one", &request()), name);
        refused(worktree.move_branch_only(&first), name);
        refused(worktree.move_to("forge/one", &first), name);
        refused(worktree.reset_to(&first, true), name);
        refused(worktree.begin_rebase(&first, &second), name);
        refused(worktree.squash(&first, &second, &request()), name);
        assert_eq!(world.run(&world.path("repo"), ["rev-parse", "main"]), second);
    }
    repo.set_reference("refs/heads/forge/one", &first).unwrap();
    assert!(!fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(matches!(
        worktree.commit_all_on("forge/one", &request()).unwrap().committed,
        Committed::Commit { .. }
    ));
    assert_eq!(world.run(&world.path("repo"), ["rev-parse", "main"]), second);
}

#[test]
fn a_commit_goes_to_the_branch_that_was_named_or_to_none() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(worktree.path(), ["checkout", "-q", "-b", "other"]);
    assert_eq!(worktree.commit_all_on("forge/one", &request()).unwrap().committed, Committed::Nothing);
    write(&worktree, "x.txt");
    refused(worktree.commit_all_on("forge/one", &request()), "on refs/heads/other and not on forge/one");
    world.run(worktree.path(), ["checkout", "-q", "--detach"]);
    refused(worktree.commit_all_on("forge/one", &request()), "on no branch");
    fs::write(worktree.git_dir().join("HEAD"), "ref: refs/forge/x\n").unwrap();
    refused(worktree.commit_all_on("forge/one", &request()), "which is no branch");
    fs::write(worktree.git_dir().join("HEAD"), "ref: refs/heads/forge/one\n").unwrap();
    world.run(&world.path("repo"), ["pack-refs", "--all"]);
    assert!(matches!(
        worktree.commit_all_on("forge/one", &request()).unwrap().committed,
        Committed::Commit { .. }
    ));
}

#[test]
fn a_branch_that_is_another_name_is_no_target() {
    let world = World::new();
    let (repo, first) = (world.repo(), world.repo().resolve_branch("main").unwrap());
    let worktree = world.worktree("one");
    let second = world.commit_file(worktree.path(), "x.txt", b"x\n");
    world.run(&world.path("repo"), ["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    refused(repo.forward_branch("alias", &first, &second), "another name for refs/heads/main");
    refused(repo.set_branch_back("alias", &first, &first), "another name for refs/heads/main");
    assert_eq!(repo.resolve_branch("main").unwrap(), first);
}

#[test]
fn a_rebase_that_would_move_or_run_something_else_is_not_gone_on_with() {
    let world = World::new();
    let worktree = world.worktree("one");
    let first = world.repo().resolve_branch("main").unwrap();
    world.commit_file(worktree.path(), "a.txt", b"mine\n");
    let onto = world.commit_file(&world.path("repo"), "a.txt", b"theirs\n");
    assert!(matches!(worktree.begin_rebase(&first, &onto).unwrap(), Rebase::Conflicts(_)));
    worktree.check_rebase_of("forge/one").unwrap();
    let state = worktree.git_dir().join("rebase-merge");
    let plan = fs::read_to_string(state.join("git-rebase-todo")).unwrap();
    for (file, text, why) in [
        ("head-name", "refs/heads/main\n", "will move refs/heads/main"),
        ("update-refs", "refs/heads/main\n", "will move other branches"),
        ("git-rebase-todo", "exec true\n", "a step \"exec\""),
        ("git-rebase-todo", "update-ref refs/heads/main\n", "a step \"update-ref\""),
    ] {
        let before = fs::read(state.join(file)).ok();
        fs::write(state.join(file), text).unwrap();
        refused(worktree.check_rebase_of("forge/one"), why);
        match before {
            Some(before) => fs::write(state.join(file), before).unwrap(),
            None => fs::remove_file(state.join(file)).unwrap(),
        }
    }
    assert_eq!(fs::read_to_string(state.join("git-rebase-todo")).unwrap(), plan);
    worktree.check_rebase_of("forge/one").unwrap();
    refused(worktree.check_rebase_of("forge/two"), "will move refs/heads/forge/one");
}

#[test]
fn a_file_that_leads_into_another_repository_is_not_followed() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(&world.path(""), ["init", "-q", "else"]);
    let elsewhere = format!("{}\n", world.path("else/.git").display());
    let commondir = worktree.git_dir().join("commondir");
    let was = fs::read(&commondir).unwrap();
    fs::write(&commondir, &elsewhere).unwrap();
    let error = world.repo().worktree(worktree.path()).unwrap_err();
    assert!(error.to_string().contains("does not lead to its repository"), "{error}");
    write(&worktree, "x.txt");
    worktree.commit_all(&request()).unwrap_err();
    fs::write(&commondir, was).unwrap();
    world.repo().worktree(worktree.path()).unwrap();

    let astray = world.path("repo/.git/commondir");
    fs::write(&astray, elsewhere).unwrap();
    let error = world.git.open(&world.path("repo")).unwrap_err();
    assert!(error.to_string().contains("leads to another repository; delete it"), "{error}");
    fs::remove_file(&astray).unwrap();
    world.git.open(&world.path("repo")).unwrap();
    world.git.open(worktree.path()).unwrap();
}

#[test]
fn a_made_up_history_is_not_read_and_hooks_read_what_the_person_does() {
    let world = World::new();
    let path = world.path("repo");
    let (first, second) = (world.repo().resolve_branch("main").unwrap(), world.commit(&path, "second"));
    let replace = world.path("repo/.git/refs/replace");
    fs::create_dir_all(&replace).unwrap();
    fs::write(replace.join(&second), format!("{second}\n")).unwrap();
    fs::write(world.path("repo/.git/info/grafts"), format!("{second}\n")).unwrap();
    let repo = world.repo();
    assert_eq!(repo.parents_of(&second).unwrap(), [first]);
    assert!(!world.attempt(&path, ["log"]).0, "git itself can read no such commit");
    assert!(!repo.is_readable().unwrap());
    repo.drop_reference(&format!("refs/replace/{second}"), &second).unwrap();
    assert!(repo.is_readable().unwrap());

    world.script(
        &world.path("repo/.git/hooks/pre-commit"),
        "env > \"$(git rev-parse --git-common-dir)/seen\"",
    );
    let worktree = world.worktree("one");
    write(&worktree, "x.txt");
    assert!(matches!(worktree.commit_all(&request()).unwrap().committed, Committed::Commit { .. }));
    let seen = fs::read_to_string(world.path("repo/.git/seen")).unwrap();
    assert!(seen.contains("GIT_INDEX_FILE"), "{seen}");
    assert!(!seen.contains("GIT_NO_REPLACE_OBJECTS") && !seen.contains("GIT_GRAFT_FILE"), "{seen}");
}

#[test]
fn a_history_ends_where_it_ended_as_far_as_it_is_there() {
    let world = World::new();
    let path = world.path("repo");
    let first = world.repo().resolve_branch("main").unwrap();
    let second = world.commit(&path, "second");
    let shallow = world.path("repo/.git/shallow");
    world.run(&world.path(""), ["clone", "-q", "--bare", "repo", "far"]);
    let far = format!("file://{}", world.path("far").display());
    world.run(&path, ["fetch", "-q", "--depth=1", &far, "main"]);
    assert_eq!(fs::read_to_string(&shallow).unwrap(), format!("{second}\n"));
    let mended = world.repo().mend_shallow(None, &[&second]).unwrap().unwrap();
    assert_eq!((mended.put_back, mended.cut_off, shallow.exists()), (1, 0, false));
    assert_eq!(world.repo().mend_shallow(None, &[&second]).unwrap(), None);

    // What was never here stays cut off, or git would look for what is not there.
    let there = world.path("there");
    world.run(&world.path(""), ["clone", "-q", "far", "there"]);
    world.commit(&there, "third");
    let fourth = world.commit(&there, "fourth");
    world.run(&there, ["push", "-q"]);
    world.run(&path, ["fetch", "-q", "--depth=1", &far, "main:far"]);
    fs::write(&shallow, format!("{fourth}\n{second}\ngarbage\n")).unwrap();
    let mended = world.repo().mend_shallow(None, &[&second]).unwrap().unwrap();
    assert_eq!((mended.put_back, mended.cut_off), (1, 1));
    assert_eq!(fs::read_to_string(&shallow).unwrap(), format!("{fourth}\n"));
    assert_eq!(world.run(&path, ["rev-list", "main"]), format!("{second}\n{first}"));
    world.run(&path, ["fsck", "--connectivity-only"]);

    // A clone that is cut off by right needs its file, and may get more.
    world.run(&world.path(""), ["clone", "-q", "--depth=1", &far, "short"]);
    let short = world.git.open(&world.path("short")).unwrap();
    let file = world.path("short/.git/shallow");
    let was = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let mended = short.mend_shallow(Some(&was), &[&fourth]).unwrap().unwrap();
    assert_eq!((mended.put_back, fs::read(&file).unwrap()), (1, was.clone()));
    world.run(&world.path("short"), ["fetch", "-q", "--unshallow"]);
    let mended = short.mend_shallow(Some(&was), &[&fourth]).unwrap().unwrap();
    assert_eq!((mended.put_back, mended.cut_off, file.exists()), (0, 0, false));
    assert_eq!(world.run(&world.path("short"), ["rev-list", "--count", "HEAD"]), "4");
}

#[test]
fn what_only_a_reflog_holds_outlives_it() {
    let world = World::new();
    let (path, repo) = (world.path("repo"), world.repo());
    let mut seen = SeenReflogs::default();
    let mut keep = |day: &str| {
        let print = repo.fingerprint().unwrap();
        repo.keep_reflogs(&print.refs, &print.stash, &["ours".to_string()], &mut seen, day).unwrap()
    };
    world.commit(&path, "second");
    assert_eq!(keep("2026-01-01"), 0, "everything is on a branch");
    world.commit(&path, "third");
    assert_eq!(keep("2026-01-01"), 0, "the branch went forward");
    let amended = world.run(&path, ["rev-parse", "HEAD"]);
    world.run(&path, ["commit", "-q", "--amend", "--allow-empty", "-m", "third again"]);
    world.run(&path, ["checkout", "-q", "--detach"]);
    let detached = world.commit(&path, "detached");
    world.run(&path, ["checkout", "-q", "main"]);
    fs::write(path.join("a.txt"), "stashed\n").unwrap();
    world.run(&path, ["stash", "-q"]);
    let stashed = world.run(&path, ["rev-parse", "stash"]);
    fs::write(path.join("a.txt"), "stashed too\n").unwrap();
    world.run(&path, ["stash", "-q"]);
    assert_eq!(keep("2026-01-01"), 3);
    assert_eq!(keep("2026-01-01"), 0, "nothing has changed since");
    // What was on a branch is on none once that is deleted.
    world.run(&path, ["checkout", "-q", "-b", "gone"]);
    let gone = world.commit(&path, "gone");
    world.run(&path, ["checkout", "-q", "main"]);
    assert_eq!(keep("2026-01-02"), 0);
    world.run(&path, ["branch", "-q", "-D", "gone"]);
    assert_eq!(keep("2026-01-02"), 1);
    world.run(&path, ["stash", "clear"]);
    world.run(&path, ["reflog", "expire", "--expire=now", "--all"]);
    world.run(&path, ["prune", "--expire=now"]);
    for oid in [&amended, &detached, &stashed, &gone] {
        assert_eq!(world.run(&path, ["cat-file", "-t", oid]), "commit");
    }
    world.run(&path, ["fsck", "--connectivity-only"]);
    assert_eq!(repo.drop_kept_reflogs("2026-01-01").unwrap(), 0);
    assert_eq!(repo.drop_kept_reflogs("2026-01-02").unwrap(), 1);
    world.run(&path, ["prune", "--expire=now"]);
    assert!(!world.attempt(&path, ["cat-file", "-t", &amended]).0);
    assert_eq!(world.run(&path, ["cat-file", "-t", &gone]), "commit");
}

#[test]
fn references_that_git_cannot_read_are_what_they_were() {
    let world = World::new();
    let (path, repo) = (world.path("repo"), world.repo());
    for number in 0..40 {
        world.run(&path, ["branch", &format!("b{number}")]);
    }
    world.run(&path, ["pack-refs", "--all"]);
    world.run(&path, ["branch", "loose"]);
    let before = repo.fingerprint().unwrap().refs;
    let (packed, loose) = (path.join(".git/packed-refs"), path.join(".git/refs/heads/loose"));
    let text = fs::read(&packed).unwrap();
    let mend = |before: &BTreeMap<String, String>| {
        repo.mend_references(before, true, |name| name != "refs/heads/b7").unwrap()
    };
    assert_eq!(mend(&before), []);
    for spoiled in [&text[..text.len() / 2], b"", b"garbage\n"] {
        fs::write(&packed, spoiled).unwrap();
        fs::write(&loose, "garbage\n").unwrap();
        assert_eq!(mend(&before).len(), 2);
        let mut expected = before.clone();
        if !spoiled.windows(3).any(|part| part == b"/b7") {
            // Somebody who may has taken it away meanwhile.
            expected.remove("refs/heads/b7");
        }
        assert_eq!(repo.fingerprint().unwrap().refs, expected, "{}", String::from_utf8_lossy(spoiled));
        fs::write(&packed, &text).unwrap();
    }
    fs::remove_file(&packed).unwrap();
    assert_eq!(mend(&before).len(), 1);
    assert_eq!(world.run(&path, ["for-each-ref", "--format=x", "refs/heads"]).lines().count(), 41);
}
