//! Snapshots: what is on disk is what is saved, and the worktree does not notice.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use forge_git::{Error, Limits, SnapshotRequest, Why};

use crate::commits::conflict;
use crate::world::{World, is_root, set_mode, snapshot_request};

#[test]
fn a_snapshot_holds_the_bytes_on_disk_and_leaves_the_worktree_alone() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::write(top.join("a.txt"), "line\r\nend without newline").unwrap();
    fs::remove_file(top.join("sub/b.txt")).unwrap();
    fs::write(top.join(".gitattributes"), "* text=auto eol=lf\n").unwrap();
    fs::write(top.join("staged.txt"), "staged\n").unwrap();
    world.run(top, ["add", "staged.txt"]);
    fs::write(top.join("staged.txt"), "and changed again\n").unwrap();
    fs::write(top.join("run.sh"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(top.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", top.join("link")).unwrap();
    fs::write(top.join("ignored.env"), "secret\n").unwrap();
    let index = fs::read(worktree.git_dir().join("index")).unwrap();
    let status = world.run(top, ["--no-optional-locks", "status", "--porcelain"]);

    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(snapshot.left_out, []);
    assert_eq!((snapshot.unchanged, &snapshot.parent), (false, &None));
    let show = |path: &str| world.run(top, ["cat-file", "blob", &format!("{}:{path}", snapshot.oid)]);
    assert_eq!(show("a.txt"), "line\r\nend without newline");
    assert_eq!(show("staged.txt"), "and changed again");
    assert_eq!(show("link"), "/etc/passwd");
    let tree = world.run(top, ["ls-tree", "-r", &snapshot.oid]);
    assert!(tree.contains("100755 blob") && tree.contains("120000 blob"), "{tree}");
    assert!(!tree.contains("sub/b.txt") && !tree.contains("ignored.env"), "{tree}");

    assert_eq!(fs::read(worktree.git_dir().join("index")).unwrap(), index);
    assert_eq!(world.run(top, ["--no-optional-locks", "status", "--porcelain"]), status);
    assert_eq!(world.run(top, ["rev-parse", "refs/forge/snapshots/x"]), snapshot.oid);
    let log = world.run(top, ["log", "-1", "--format=%an <%ae> %s", &snapshot.oid]);
    assert_eq!(log, "Forge <forge@localhost> a snapshot");
    let scratch = fs::read_dir(worktree.git_dir().join("forge-scratch")).unwrap().count();
    assert_eq!(scratch, 0, "nothing is left of the private directory");
}

#[test]
fn snapshots_are_chained_and_an_unchanged_tree_gives_no_new_one() {
    let world = World::new();
    let worktree = world.worktree("one");
    let base = worktree.head().unwrap();
    let take = || worktree.snapshot(&snapshot_request()).unwrap();
    let parents = |oid: &str| world.run(worktree.path(), ["log", "-1", "--format=%P", oid]);

    let first = take();
    assert_eq!(parents(&first.oid), base);
    let again = take();
    assert!(again.unchanged && again.oid == first.oid && again.parent.is_none());

    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let second = take();
    assert_eq!(parents(&second.oid), format!("{} {base}", first.oid));
    assert_eq!(second.parent.as_deref(), Some(first.oid.as_str()));

    // The same files on another commit are another state.
    let head = world.commit(worktree.path(), "work");
    let third = take();
    assert_eq!(parents(&third.oid), format!("{} {head}", second.oid));
    let again = take();
    assert!(again.unchanged && again.oid == third.oid && again.parent == third.parent);
}

#[test]
fn a_change_in_the_second_of_the_last_add_is_seen_later_too() {
    let world = World::new();
    let worktree = world.worktree("one");
    // Everything happens at one instant long ago; the time of the last change of status cannot be set, so git is
    // told not to look at it.
    world.run(worktree.path(), ["config", "core.trustctime", "false"]);
    let instant = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let set_time = |path: &Path| fs::File::open(path).unwrap().set_modified(instant).unwrap();
    fs::write(worktree.path().join("a.txt"), "aaa\n").unwrap();
    set_time(&worktree.path().join("a.txt"));
    world.run(worktree.path(), ["add", "a.txt"]);
    fs::write(worktree.path().join("a.txt"), "bbb\n").unwrap();
    set_time(&worktree.path().join("a.txt"));
    set_time(&worktree.git_dir().join("index"));
    let oid = worktree.snapshot(&snapshot_request()).unwrap().oid;
    assert_eq!(world.run(worktree.path(), ["show", &format!("{oid}:a.txt")]), "bbb");
}

#[test]
fn the_persons_checkout_can_be_saved_and_stays_as_it_is() {
    let world = World::new();
    let repo = world.repo();
    fs::write(world.path("repo/new.txt"), "new\n").unwrap();
    let index = fs::read(world.path("repo/.git/index")).unwrap();
    let snapshot = repo.snapshot(&snapshot_request()).unwrap();
    assert_eq!(world.run(repo.top(), ["show", &format!("{}:new.txt", snapshot.oid)]), "new");
    assert_eq!(fs::read(world.path("repo/.git/index")).unwrap(), index);
    assert_eq!(world.run(repo.top(), ["status", "--porcelain"]), "?? new.txt");
}

#[test]
fn a_partial_clone_is_checked_out_and_saved() {
    let world = World::new();
    let source = world.path("repo");
    world.run(&source, ["config", "uploadpack.allowFilter", "true"]);
    world.run(&source, ["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", source.display());
    world.run(&world.path(""), ["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "partial"]);
    let repo = world.git.open(&world.path("partial")).unwrap();
    let worktree = repo.add_worktree(&world.new_worktree(&repo, "one")).unwrap();
    assert_eq!(fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "one\n");

    // A commit whose files were never fetched, and of which a sparse checkout shows none.
    fs::write(source.join("other.txt"), "other\n").unwrap();
    world.commit(&source, "more");
    world.run(worktree.path(), ["fetch", "-q"]);
    world.run(worktree.path(), ["sparse-checkout", "set", "--no-cone", "a.txt"]);
    world.run(worktree.path(), ["merge", "-q", "--ff-only", "origin/main"]);
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(snapshot.left_out, []);
    let files = world.run(worktree.path(), ["ls-tree", "-r", "--name-only", &snapshot.oid]);
    assert_eq!(files, ".gitignore\na.txt\nnew.txt\nother.txt\nsub/b.txt");
}

#[test]
fn a_held_lock_and_an_unresolved_conflict_do_not_stop_it() {
    let world = World::new();
    let worktree = world.worktree("one");
    conflict(&world, &worktree);
    let lock = worktree.git_dir().join("index.lock");
    fs::write(&lock, "held").unwrap();
    let index = fs::read(worktree.git_dir().join("index")).unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    let text = world.run(worktree.path(), ["show", &format!("{}:a.txt", snapshot.oid)]);
    assert!(text.contains("<<<<<<<") && text.contains("ours") && text.contains("theirs"), "{text}");
    assert_eq!(fs::read(worktree.git_dir().join("index")).unwrap(), index);
    assert_eq!(fs::read_to_string(lock).unwrap(), "held");
}

#[test]
fn nested_repositories_are_saved_as_plain_files() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    // One without a commit, one with a commit and another one inside, one that was staged as a link to a commit.
    world.run(top, ["init", "-q", "empty"]);
    fs::write(top.join("empty/e.txt"), "e\n").unwrap();
    world.run(top, ["init", "-q", "full"]);
    fs::write(top.join("full/.gitignore"), "*.log\n").unwrap();
    fs::write(top.join("full/f.txt"), "f\n").unwrap();
    world.commit(&top.join("full"), "inner");
    fs::write(top.join("full/f.txt"), "f changed\n").unwrap();
    fs::write(top.join("full/x.log"), "log\n").unwrap();
    world.run(&top.join("full"), ["init", "-q", "deep"]);
    fs::write(top.join("full/deep/d.txt"), "d\n").unwrap();
    world.run(top, ["init", "-q", "linked"]);
    fs::write(top.join("linked/forced.txt"), "forced\n").unwrap();
    fs::write(top.join("linked/gone.txt"), "gone\n").unwrap();
    world.commit(&top.join("linked"), "inner");
    world.run(top, ["add", "linked"]);
    fs::remove_file(top.join("linked/gone.txt")).unwrap();
    fs::write(top.join("linked/.gitignore"), "forced.txt\n").unwrap();

    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(snapshot.left_out, []);
    let files = world.run(top, ["ls-tree", "-r", "--name-only", &snapshot.oid]);
    let files: Vec<&str> =
        files.lines().filter(|file| file.contains('/') && !file.starts_with("sub")).collect();
    let expected = [
        "empty/e.txt",
        "full/.gitignore",
        "full/deep/d.txt",
        "full/f.txt",
        "linked/.gitignore",
        "linked/forced.txt",
    ];
    assert_eq!(files, expected);
    assert_eq!(world.run(top, ["show", &format!("{}:full/f.txt", snapshot.oid)]), "f changed");
    assert!(worktree.snapshot(&snapshot_request()).unwrap().unchanged);
}

#[test]
fn what_is_too_large_is_left_out_and_named() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::write(top.join("big"), vec![b'x'; 2000]).unwrap();
    fs::write(top.join("a.txt"), vec![b'y'; 1500]).unwrap();
    for name in ["first", "second", "third"] {
        fs::write(top.join(name), vec![b'z'; 600]).unwrap();
    }
    fs::write(top.join("small"), "small").unwrap();
    let limits = Limits { file_bytes: 1000, total_bytes: 1300 };
    let snapshot = worktree.snapshot(&SnapshotRequest { limits, ..snapshot_request() }).unwrap();
    let left: Vec<(PathBuf, Why)> =
        snapshot.left_out.iter().map(|left| (left.path.clone(), left.why.clone())).collect();
    let expected = [
        ("a.txt".into(), Why::TooBig { bytes: 1500 }),
        ("big".into(), Why::TooBig { bytes: 2000 }),
        ("third".into(), Why::NoRoom { bytes: 600 }),
    ];
    assert_eq!(left, expected);
    let message = world.run(top, ["log", "-1", "--format=%B", &snapshot.oid]);
    assert!(message.contains("Left out:") && message.contains("\"big\": 2000 bytes"), "{message}");
    assert_eq!(
        world.run(top, ["show", &format!("{}:a.txt", snapshot.oid)]),
        "one",
        "the last committed content"
    );
    assert_eq!(world.run(top, ["show", &format!("{}:small", snapshot.oid)]), "small");
}

#[test]
fn one_bad_file_does_not_spoil_the_rest() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::write(top.join("unreadable"), "x").unwrap();
    set_mode(&top.join("unreadable"), 0o000);
    fs::remove_file(top.join("a.txt")).unwrap();
    let _socket = UnixListener::bind(top.join("a.txt")).unwrap();
    fs::write(top.join("new.txt"), "new\n").unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    let why =
        |name: &str| snapshot.left_out.iter().find(|left| left.path == Path::new(name)).map(|left| &left.why);
    assert_eq!(why("a.txt"), Some(&Why::NotAFile));
    assert_eq!(why("unreadable"), if is_root() { None } else { Some(&Why::Unreadable) });
    assert_eq!(world.run(top, ["show", &format!("{}:new.txt", snapshot.oid)]), "new");
}

#[test]
fn a_file_that_becomes_a_directory_and_the_other_way_round_is_saved() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::remove_file(top.join("a.txt")).unwrap();
    fs::create_dir(top.join("a.txt")).unwrap();
    fs::write(top.join("a.txt/inside"), "inside\n").unwrap();
    fs::remove_dir_all(top.join("sub")).unwrap();
    fs::write(top.join("sub"), "a file\n").unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(snapshot.left_out, []);
    let files = world.run(top, ["ls-tree", "-r", "--name-only", &snapshot.oid]);
    assert_eq!(files, ".gitignore\na.txt/inside\nsub");
}

#[test]
fn files_that_flags_in_the_index_hide_are_saved() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    world.run(top, ["update-index", "--assume-unchanged", "a.txt"]);
    world.run(top, ["update-index", "--skip-worktree", "sub/b.txt"]);
    fs::write(top.join("a.txt"), "hidden one\n").unwrap();
    fs::write(top.join("sub/b.txt"), "hidden two\n").unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(world.run(top, ["show", &format!("{}:a.txt", snapshot.oid)]), "hidden one");
    assert_eq!(world.run(top, ["show", &format!("{}:sub/b.txt", snapshot.oid)]), "hidden two");
    // What a sparse checkout leaves out on purpose is not taken for deleted.
    fs::remove_file(top.join("sub/b.txt")).unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(world.run(top, ["show", &format!("{}:sub/b.txt", snapshot.oid)]), "two");
}

#[test]
fn a_split_index_is_read_whole() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(worktree.path(), ["update-index", "--split-index"]);
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let snapshot = worktree.snapshot(&snapshot_request()).unwrap();
    let files = world.run(worktree.path(), ["ls-tree", "-r", "--name-only", &snapshot.oid]);
    assert_eq!(files, ".gitignore\na.txt\nnew.txt\nsub/b.txt");
}

#[test]
fn every_list_of_ignored_files_is_honoured() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::create_dir_all(world.path("repo/.git/info")).unwrap();
    fs::write(world.path("repo/.git/info/exclude"), "by-exclude\n").unwrap();
    fs::create_dir_all(world.path("home/git")).unwrap();
    fs::write(world.path("home/git/ignore"), "by-default-file\n").unwrap();
    for name in ["by-exclude", "by-default-file", "by-configured-file", "kept"] {
        fs::write(top.join(name), name).unwrap();
    }
    let names = || {
        let oid = worktree.snapshot(&snapshot_request()).unwrap().oid;
        world.run(top, ["ls-tree", "--name-only", &oid])
    };
    assert_eq!(names(), ".gitignore\na.txt\nby-configured-file\nkept\nsub");
    fs::write(world.path("home/patterns"), "by-configured-file\n").unwrap();
    world.run(top, ["config", "--global", "core.excludesFile", "~/patterns"]);
    assert_eq!(names(), ".gitignore\na.txt\nby-default-file\nkept\nsub");
}

#[test]
fn line_ends_of_the_persons_config_change_no_byte() {
    let world = World::new();
    world.run(&world.path("repo"), ["config", "--global", "core.autocrlf", "true"]);
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("new.txt"), "a\r\nb\r\n").unwrap();
    let oid = worktree.snapshot(&snapshot_request()).unwrap().oid;
    let size = world.run(worktree.path(), ["cat-file", "-s", &format!("{oid}:new.txt")]);
    assert_eq!(size, "6");
}

/// A file whose line ends git changes as it is added, and then nothing says any more that it does.
fn attributes_that_go(go: &[&[&str]]) {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::write(top.join(".gitattributes"), "* text=auto\n").unwrap();
    world.run(top, ["add", "--all"]);
    world.run(top, ["commit", "-qm", "attributes"]);
    fs::write(top.join("dos.txt"), "a\r\nb\r\n").unwrap();
    // Git reads a file again that is as young as its index.
    let file = fs::File::options().write(true).open(top.join("dos.txt")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    world.run(top, ["add", "--all"]);
    world.run(top, ["commit", "-qm", "line ends"]);
    for call in go {
        world.run(top, call.iter().copied());
    }
    assert_eq!(fs::read(top.join("dos.txt")).unwrap(), b"a\r\nb\r\n");
    assert!(!top.join(".gitattributes").exists());
    let oid = worktree.snapshot(&snapshot_request()).unwrap().oid;
    let size = world.run(top, ["cat-file", "-s", &format!("{oid}:dos.txt")]);
    assert_eq!(size, "6", "{go:?}");
}

#[test]
fn line_ends_that_were_changed_by_attributes_which_are_gone_are_kept() {
    attributes_that_go(&[&["rm", "-q", ".gitattributes"]]);
    attributes_that_go(&[&["rm", "-q", ".gitattributes"], &["commit", "-qm", "gone"]]);
    // They came and went before anybody looked, and no commit that is left has them.
    attributes_that_go(&[&["rm", "-q", ".gitattributes"], &["reset", "-q", "--soft", "HEAD~2"]]);
    let expire = ["reflog", "expire", "--expire=now", "--all"];
    attributes_that_go(&[&["rm", "-q", ".gitattributes"], &["commit", "-qm", "gone"], &expire]);
}

#[test]
fn line_ends_of_a_checkout_that_went_behind_its_beginning_are_kept() {
    let world = World::new();
    let repo = world.path("repo");
    fs::write(repo.join("dos.txt"), "a\nb\n").unwrap();
    world.commit(&repo, "lines");
    fs::write(repo.join(".gitattributes"), "* text eol=crlf\n").unwrap();
    world.commit(&repo, "attributes");
    let worktree = world.worktree("one");
    let top = worktree.path();
    // Git reads a file again that is as young as its index.
    let file = fs::File::options().write(true).open(top.join("dos.txt")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    world.run(top, ["update-index", "--refresh"]);
    world.run(top, ["reset", "-q", "--keep", "HEAD~1"]);
    assert_eq!(fs::read(top.join("dos.txt")).unwrap(), b"a\r\nb\r\n");
    assert!(!top.join(".gitattributes").exists());
    let oid = worktree.snapshot(&snapshot_request()).unwrap().oid;
    assert_eq!(world.run(top, ["cat-file", "-s", &format!("{oid}:dos.txt")]), "6");
}

#[test]
fn snapshots_survive_the_collection_of_garbage() {
    let world = World::new();
    let worktree = world.worktree("one");
    fs::write(worktree.path().join("new.txt"), "first\n").unwrap();
    let first = worktree.snapshot(&snapshot_request()).unwrap();
    fs::write(worktree.path().join("new.txt"), "second\n").unwrap();
    let second = worktree.snapshot(&snapshot_request()).unwrap();
    world.run(&world.path("repo"), ["reflog", "expire", "--expire=now", "--all"]);
    world.run(&world.path("repo"), ["gc", "-q", "--prune=now"]);
    for (oid, text) in [(first.oid, "first"), (second.oid, "second")] {
        assert_eq!(world.run(worktree.path(), ["show", &format!("{oid}:new.txt")]), text);
    }
    world.run(&world.path("repo"), ["fsck", "--strict"]);
}

#[test]
fn a_branch_without_commits_is_saved_too() {
    let world = World::new();
    let worktree = world.worktree("one");
    world.run(worktree.path(), ["checkout", "-q", "--orphan", "fresh"]);
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let first = worktree.snapshot(&snapshot_request()).unwrap();
    assert_eq!(world.run(worktree.path(), ["log", "--format=%P", &first.oid]), "");
    assert!(worktree.snapshot(&snapshot_request()).unwrap().unchanged);
    assert!(matches!(worktree.head(), Err(Error::NoCommits { .. })));
}

#[test]
fn only_references_of_forge_are_written() {
    let world = World::new();
    let worktree = world.worktree("one");
    for reference in
        ["refs/heads/main", "refs/forge/", "refs/forge/a..b", "HEAD", "-d", "refs/forge/../heads/main"]
    {
        let result =
            worktree.snapshot(&SnapshotRequest { reference: reference.into(), ..snapshot_request() });
        assert!(matches!(result, Err(Error::BadReference { .. })), "{reference}");
    }
}

#[test]
fn many_small_packs_become_one_and_hold_the_same() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    let packs = || {
        let entries = fs::read_dir(world.path("repo/.git/objects/pack")).unwrap();
        let names = entries.map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|kind| kind == "pack")).collect::<Vec<_>>()
    };
    let left = world.path("repo/.git/objects/pack");
    let mut most = 0;
    for turn in 0..60 {
        fs::write(top.join("a.txt"), format!("{turn}\n")).unwrap();
        worktree.snapshot(&snapshot_request()).unwrap();
        most = most.max(packs().len());
        if turn == 3 {
            // A `.keep` file that somebody else wrote stays, and so does its pack.
            fs::write(packs()[0].with_extension("keep"), "mine\n").unwrap();
        }
    }
    assert!((10..30).contains(&most) && packs().len() < 30, "{most} packs");
    let keeps = fs::read_dir(left)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|kind| kind == "keep"));
    assert_eq!(keeps.count(), 1);
    world.run(top, ["fsck", "--strict"]);
    let count = world.run(top, ["rev-list", "--count", "--first-parent", "refs/forge/snapshots/x"]);
    assert_eq!(count, "61");
}
