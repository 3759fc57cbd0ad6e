//! Restoring: files become what they were, byte for byte, and nothing that is not saved is lost by it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use forge_git::{Error, Limits, RestoreRequest, Restored, SnapshotRequest, Worktree};

use crate::world::{World, set_mode, snapshot_request};

/// What is on disk: a link's target, or a file's content and whether it can be executed. Empty directories, times and
/// other modes are not kept by snapshots; `.git` is git's own.
fn state(top: &Path) -> BTreeMap<PathBuf, (Vec<u8>, Option<bool>)> {
    fn look(top: &Path, path: &Path, state: &mut BTreeMap<PathBuf, (Vec<u8>, Option<bool>)>) {
        for entry in fs::read_dir(top.join(path)).unwrap() {
            let entry = entry.unwrap();
            let (name, kind) = (entry.file_name(), entry.file_type().unwrap());
            if name == ".git" || name.as_bytes().starts_with(b"ignored") {
                continue;
            }
            let path = path.join(name);
            if kind.is_dir() {
                look(top, &path, state);
            } else if kind.is_symlink() {
                let target = fs::read_link(top.join(&path)).unwrap().into_os_string();
                state.insert(path, (target.as_bytes().to_vec(), None));
            } else {
                let mode = entry.metadata().unwrap().permissions().mode();
                state.insert(path.clone(), (fs::read(top.join(&path)).unwrap(), Some(mode & 0o100 != 0)));
            }
        }
    }
    let mut found = BTreeMap::new();
    look(top, Path::new(""), &mut found);
    found
}

fn request() -> SnapshotRequest {
    SnapshotRequest { private: None, ..snapshot_request() }
}

fn take(worktree: &Worktree) -> String {
    worktree.snapshot(&request()).unwrap().oid
}

fn back(now: &str, snapshot: &str) -> RestoreRequest {
    RestoreRequest {
        snapshot: snapshot.into(),
        now: now.into(),
        paths: None,
        left_out: Vec::new(),
        private: None,
    }
}

fn restore(worktree: &Worktree, snapshot: &str) -> Restored {
    let now = take(worktree);
    worktree.restore(&back(&now, snapshot)).unwrap()
}

#[test]
fn every_kind_of_change_is_taken_back_and_made_again_byte_for_byte() {
    let world = World::new();
    let strange = OsStr::from_bytes(b"n\xff\nme");
    fs::write(world.path("repo/.gitattributes"), "*.crlf text=auto\n").unwrap();
    world.commit(&world.path("repo"), "attributes");
    let worktree = world.worktree("one");
    let top = worktree.path().to_path_buf();
    let write = |name: &str, text: &str| fs::write(top.join(name), text).unwrap();
    for directory in ["was-directory", "nested", "bare-nested", "deep/er"] {
        fs::create_dir_all(top.join(directory)).unwrap();
    }
    write("edited.txt", "before\n");
    write("renamed.txt", "the same words in both\n");
    write("deleted.txt", "gone later");
    write("run.sh", "#!/bin/sh\n");
    write("lines.crlf", "one\r\ntwo\r\n");
    write("empty", "");
    write("was-file", "a file");
    write("was-directory/inside", "inside");
    write("deep/er/file", "deep");
    symlink("edited.txt", top.join("link")).unwrap();
    fs::write(top.join(strange), b"\xfe bytes").unwrap();
    world.commit(&top, "a turn");
    // A nested repository with a commit, and one without.
    world.run(&top, ["init", "-q", "nested"]);
    write("nested/theirs.txt", "nested\n");
    world.commit(&top.join("nested"), "theirs");
    write("nested/uncommitted.txt", "not committed there\n");
    world.run(&top, ["init", "-q", "bare-nested"]);
    write("bare-nested/file.txt", "no commit at all\n");
    write("untracked.txt", "untracked\n");
    let head = worktree.head().unwrap();
    let then = state(&top);
    let first = take(&worktree);

    write("edited.txt", "after\n");
    fs::rename(top.join("renamed.txt"), top.join("new-name.txt")).unwrap();
    fs::remove_file(top.join("deleted.txt")).unwrap();
    set_mode(&top.join("run.sh"), 0o755);
    write("lines.crlf", "one\ntwo\n");
    write("empty", "no longer");
    fs::remove_file(top.join("was-file")).unwrap();
    fs::create_dir(top.join("was-file")).unwrap();
    write("was-file/inside", "a directory now");
    fs::remove_dir_all(top.join("was-directory")).unwrap();
    write("was-directory", "a file now");
    fs::remove_dir_all(top.join("deep")).unwrap();
    symlink("/etc", top.join("deep")).unwrap();
    fs::remove_file(top.join("link")).unwrap();
    write("link", "no link any more");
    fs::remove_file(top.join(strange)).unwrap();
    write("nested/theirs.txt", "changed\n");
    fs::remove_file(top.join("nested/uncommitted.txt")).unwrap();
    fs::remove_dir_all(top.join("bare-nested")).unwrap();
    fs::remove_file(top.join("untracked.txt")).unwrap();
    fs::create_dir(top.join("added")).unwrap();
    write("added/later.txt", "later\n");
    write("ignored.env", "never touched\n");
    let later = state(&top);
    let index = world.run(&top, ["ls-files", "--stage"]);

    let restored = restore(&worktree, &first);
    assert_eq!(state(&top), then);
    assert!(restored.left_alone.is_empty(), "{restored:?}");
    assert!(restored.removed.contains(&PathBuf::from("added/later.txt")));
    assert!(!top.join("added").exists(), "a directory that is empty without its files goes with them");
    assert_eq!(fs::read_to_string(top.join("ignored.env")).unwrap(), "never touched\n");
    assert_eq!((worktree.head().unwrap(), world.run(&top, ["ls-files", "--stage"])), (head, index));
    assert!(top.join("nested/.git").is_dir());

    // And there again: the snapshot that was taken before is the way back.
    let before = world.run(&top, ["rev-parse", "refs/forge/snapshots/x"]);
    restore(&worktree, &before);
    assert_eq!(state(&top), later);
    world.run(&top, ["fsck", "--strict"]);
}

#[test]
fn a_crlf_file_that_git_takes_for_unchanged_is_saved_as_it_lies_on_disk() {
    for (attributes, bytes) in [("* text=auto\n", "a\r\nb\r\n"), ("* text eol=crlf\n", "a\nb\n")] {
        let world = World::new();
        fs::write(world.path("repo/.gitattributes"), attributes).unwrap();
        world.commit(&world.path("repo"), "attributes");
        let worktree = world.worktree("one");
        let file = worktree.path().join("a.txt");
        fs::write(&file, bytes).unwrap();
        world.commit(worktree.path(), "normalised");
        assert_eq!(world.run(worktree.path(), ["status", "--porcelain"]), "");
        let then = state(worktree.path());
        let first = take(&worktree);
        fs::write(&file, "other").unwrap();
        fs::remove_file(worktree.path().join("sub/b.txt")).unwrap();
        restore(&worktree, &first);
        assert_eq!(state(worktree.path()), then, "{attributes}");
        assert_eq!(world.run(worktree.path(), ["status", "--porcelain"]), "", "{attributes}");
    }
}

#[test]
fn what_a_filter_of_the_persons_made_is_made_by_it_again() {
    let world = World::new();
    world.run(&world.path(""), ["config", "--global", "filter.rot.clean", "tr a-z b-za"]);
    world.run(&world.path(""), ["config", "--global", "filter.rot.smudge", "tr b-za a-z; echo made"]);
    fs::write(world.path("repo/.gitattributes"), "*.rot filter=rot\n").unwrap();
    fs::write(world.path("repo/x.rot"), "abc\n").unwrap();
    world.commit(&world.path("repo"), "filtered");
    let worktree = world.worktree("one");
    let file = worktree.path().join("x.rot");
    let made = fs::read_to_string(&file).unwrap();
    assert_eq!(made, "abc\nmade\n");
    let clean = take(&worktree);
    fs::write(&file, "edited\n").unwrap();
    let edited = take(&worktree);
    restore(&worktree, &clean);
    assert_eq!(fs::read_to_string(&file).unwrap(), made);
    restore(&worktree, &edited);
    assert_eq!(fs::read_to_string(&file).unwrap(), "edited\n");
}

#[test]
fn a_part_can_be_restored_and_a_path_that_leads_elsewhere_is_refused() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    let first = take(&worktree);
    fs::write(top.join("a.txt"), "changed\n").unwrap();
    fs::write(top.join("sub/b.txt"), "changed\n").unwrap();
    fs::write(top.join("sub/c*.txt"), "added\n").unwrap();
    let now = take(&worktree);
    let part = |path: &str| RestoreRequest { paths: Some(vec![path.into()]), ..back(&now, &first) };
    let restored = worktree.restore(&part("sub")).unwrap();
    assert_eq!(restored.written, [PathBuf::from("sub/b.txt")]);
    assert_eq!(restored.removed, [PathBuf::from("sub/c*.txt")]);
    assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "changed\n");
    for path in ["../repo/a.txt", "/etc/passwd", ".git", "sub/../../x"] {
        assert!(matches!(worktree.restore(&part(path)), Err(Error::OutOfBounds { .. })), "{path}");
    }
    assert!(matches!(worktree.restore(&part("unknown")), Err(Error::NotInSnapshot { .. })));
}

#[test]
fn what_no_snapshot_holds_is_never_overwritten() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::write(top.join("build"), "a file then\n").unwrap();
    fs::write(top.join("notes"), "notes then\n").unwrap();
    let first = take(&worktree);
    fs::remove_file(top.join("build")).unwrap();
    fs::create_dir(top.join("build")).unwrap();
    fs::write(top.join("build/ignored.o"), "artefact").unwrap();
    fs::write(top.join(".gitignore"), "ignored*\nnotes\n").unwrap();
    fs::write(top.join("notes"), "ignored by now, and edited").unwrap();
    let now = take(&worktree);
    let error = worktree.restore(&back(&now, &first)).unwrap_err();
    let Error::Unsaved { paths } = error else { panic!("{error}") };
    assert_eq!(paths, [PathBuf::from("build/ignored.o"), "notes".into()]);
    assert_eq!(fs::read_to_string(top.join("notes")).unwrap(), "ignored by now, and edited");
    assert_eq!(
        fs::read_to_string(top.join(".gitignore")).unwrap(),
        "ignored*\nnotes\n",
        "nothing was written"
    );
}

#[test]
fn a_file_that_a_snapshot_left_out_is_left_alone() {
    let world = World::new();
    let worktree = world.worktree("one");
    let top = worktree.path();
    let limits = Limits { file_bytes: 100, ..Limits::default() };
    let small = |worktree: &Worktree| worktree.snapshot(&SnapshotRequest { limits, ..request() }).unwrap();
    fs::write(top.join("big-then"), "x".repeat(200)).unwrap();
    let first = small(&worktree);
    fs::write(top.join("big-then"), "small now").unwrap();
    fs::write(top.join("a.txt"), "y".repeat(200)).unwrap();
    fs::write(top.join("sub/b.txt"), "changed\n").unwrap();
    let now = small(&worktree);
    let left_out: Vec<PathBuf> =
        first.left_out.iter().chain(&now.left_out).map(|left| left.path.clone()).collect();
    fs::write(top.join("a.txt"), "y".repeat(200)).unwrap();
    let restored = worktree.restore(&RestoreRequest { left_out, ..back(&now.oid, &first.oid) }).unwrap();
    assert_eq!(restored.left_alone, [PathBuf::from("big-then")]);
    assert_eq!(fs::read_to_string(top.join("big-then")).unwrap(), "small now");
    assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "y".repeat(200));
    assert_eq!(fs::read_to_string(top.join("sub/b.txt")).unwrap(), "two\n");
}

#[test]
fn nothing_is_restored_while_a_merge_waits() {
    let world = World::new();
    let worktree = world.worktree("one");
    let first = take(&worktree);
    fs::write(worktree.git_dir().join("MERGE_HEAD"), format!("{}\n", worktree.head().unwrap())).unwrap();
    let now = take(&worktree);
    let refused = worktree.restore(&back(&now, &first));
    assert!(matches!(refused, Err(Error::UnderWay { .. })));
}

#[test]
fn secret_files_come_back_and_are_never_in_the_repositorys_object_store() {
    let world = World::new();
    let repo = world.path("repo");
    world.script(&world.path("crypt"), "tr a-zA-Z n-za-mN-ZA-M");
    let crypt = world.path("crypt").display().to_string();
    // Written where the repository has its own settings, as git-crypt does it.
    for way in ["clean", "smudge"] {
        world.run(&repo, ["config", &format!("filter.crypt.{way}"), &crypt]);
    }
    let worktree = world.worktree("one");
    let top = worktree.path();
    fs::write(top.join(".gitattributes"), "*.key filter=crypt\n").unwrap();
    fs::write(top.join("tracked.key"), "the tracked secret").unwrap();
    world.commit(top, "by a person with the filter on");
    fs::write(top.join("new.key"), "an untracked secret").unwrap();
    let private = world.path("private/x");
    let request = SnapshotRequest { private: Some(private.clone()), ..snapshot_request() };
    let take = || worktree.snapshot(&request).unwrap();
    let then = state(top);
    let first = take();
    assert_eq!(first.left_out, []);
    assert!(take().unchanged);
    fs::write(top.join("tracked.key"), "another secret").unwrap();
    fs::remove_file(top.join("new.key")).unwrap();
    fs::write(top.join("late.key"), "a late secret").unwrap();
    let later = state(top);
    let now = take();
    assert!(!now.unchanged);
    let back =
        |now: &str, snapshot: &str| RestoreRequest { private: Some(private.clone()), ..back(now, snapshot) };
    worktree.restore(&back(&now.oid, &first.oid)).unwrap();
    assert_eq!(state(top), then);
    let again = take();
    worktree.restore(&back(&again.oid, &now.oid)).unwrap();
    assert_eq!(state(top), later);

    let everything =
        world.run(top, ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered"]);
    for oid in everything.lines() {
        let content = world.run(top, ["cat-file", "-p", oid]);
        assert!(!content.contains("secret"), "object {oid} holds a secret: {content}");
    }
    assert_eq!(fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o700);

    // What a snapshot that is kept no longer had there goes with it, and only that.
    world.repo().forget_private(&private, std::slice::from_ref(&first.oid)).unwrap();
    let kept = world.run(&private, ["--git-dir", ".", "for-each-ref", "--format=%(objectname)"]);
    assert_eq!(kept.lines().count(), 2, "{kept}");
    let left = world
        .run(&private, ["--git-dir", ".", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]);
    assert!(left.lines().filter(|kind| *kind == "blob").count() >= 2, "{left}");
}
