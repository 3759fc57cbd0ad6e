//! What differs, kind by kind, and by the hundred against what git itself would commit.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forge_git::{ChangeKind, Content, Counts, Diff, DiffBase, Differ, FileChange, Version, Worktree};

use crate::world::{World, set_mode};

/// A worktree and what compares it with where it left `main`.
struct Stage {
    world: World,
    top: PathBuf,
    base: DiffBase,
    differ: Differ,
}

impl Stage {
    fn new() -> Stage {
        Stage::of(World::new())
    }

    fn of(world: World) -> Stage {
        let worktree = world.worktree("w");
        let (differ, base) = (differ(&world, &worktree), base(&world));
        Stage { top: worktree.path().to_path_buf(), world, base, differ }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.top.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn diff(&mut self) -> Diff {
        self.differ.diff(&self.base).unwrap()
    }

    /// What differs, in a line a file.
    fn told(&mut self) -> Vec<String> {
        told(&self.diff())
    }

    fn git<const N: usize>(&self, arguments: [&str; N]) -> String {
        self.world.run(&self.top, arguments)
    }
}

fn differ(world: &World, worktree: &Worktree) -> Differ {
    world.repo().differ(worktree, &world.path("diffs")).unwrap()
}

fn base(world: &World) -> DiffBase {
    DiffBase::Branch { name: "main".into(), or: world.repo().resolve_branch("main").unwrap() }
}

fn told(diff: &Diff) -> Vec<String> {
    let content = |version: &Option<Version>| match version.as_ref().map(Version::content) {
        None => "-".to_string(),
        Some(Content::Text(text)) => format!("{text:?}"),
        Some(Content::Binary) => "binary".to_string(),
        Some(Content::LeftOut) => "left out".to_string(),
    };
    let line = |(path, change): (&PathBuf, &Arc<FileChange>)| {
        let from = match change.kind {
            ChangeKind::Renamed => format!(" from {}", change.old.as_ref().unwrap().path.display()),
            _ => String::new(),
        };
        let (old, new) = (content(&change.old), content(&change.new));
        format!("{} {:?}{from}: {old} => {new}", path.display(), change.kind)
    };
    diff.files.iter().map(line).collect()
}

#[test]
fn committed_staged_unstaged_and_untracked_changes_are_one_diff_against_where_the_branch_left() {
    let mut stage = Stage::new();
    assert_eq!(stage.told(), Vec::<String>::new());
    stage.write("committed", "c\n");
    stage.world.commit(&stage.top, "one");
    stage.write("staged", "s\n");
    stage.git(["add", "staged"]);
    stage.write("a.txt", "one\nmore\n");
    stage.write("new/deep", "n\n");
    stage.write("ignored.log", "never\n");
    // What others do on main afterwards is not this branch's.
    let repo = stage.world.path("repo");
    fs::write(repo.join("theirs"), "t\n").unwrap();
    stage.world.commit(&repo, "theirs");
    stage.differ.forget_base();
    let expected = [
        "a.txt Modified: \"one\\n\" => \"one\\nmore\\n\"",
        "committed Added: - => \"c\\n\"",
        "new/deep Added: - => \"n\\n\"",
        "staged Added: - => \"s\\n\"",
    ];
    assert_eq!(stage.told(), expected);
    let diff = stage.diff();
    assert_eq!(diff.files[Path::new("a.txt")].counts(), Some(Counts { additions: 1, deletions: 0 }));
}

#[test]
fn what_is_as_the_base_has_it_is_no_change_whatever_the_commits_say() {
    let mut stage = Stage::new();
    stage.write("a.txt", "changed\n");
    stage.write("came", "x\n");
    stage.world.commit(&stage.top, "there");
    stage.write("a.txt", "one\n");
    fs::remove_file(stage.top.join("came")).unwrap();
    assert_eq!(stage.told(), Vec::<String>::new());
}

#[test]
fn deletions_modes_links_and_binaries_are_told_as_what_they_are() {
    let mut stage = Stage::new();
    fs::remove_file(stage.top.join("a.txt")).unwrap();
    set_mode(&stage.top.join("sub/b.txt"), 0o755);
    symlink("/etc/passwd", stage.top.join("link")).unwrap();
    stage.write("binary", b"\0\x01");
    stage.write("latin", b"caf\xe9\n");
    let expected = [
        "a.txt Deleted: \"one\\n\" => -",
        "binary Added: - => binary",
        "latin Added: - => \"caf\u{fffd}\\n\"",
        "link Added: - => \"/etc/passwd\"",
        "sub/b.txt PermissionChange: \"two\\n\" => \"two\\n\"",
    ];
    assert_eq!(stage.told(), expected);
    assert_eq!(stage.diff().files[Path::new("binary")].counts(), None);
}

#[test]
fn a_file_that_became_a_link_is_one_change_and_nothing_is_read_through_links() {
    let mut stage = Stage::new();
    let outside = stage.world.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("b.txt"), "secret\n").unwrap();
    fs::remove_file(stage.top.join("a.txt")).unwrap();
    symlink("sub/b.txt", stage.top.join("a.txt")).unwrap();
    fs::remove_dir_all(stage.top.join("sub")).unwrap();
    symlink(&outside, stage.top.join("sub")).unwrap();
    let expected = [
        "a.txt Modified: \"one\\n\" => \"sub/b.txt\"".to_string(),
        format!("sub Added: - => {:?}", outside.to_str().unwrap()),
        "sub/b.txt Deleted: \"two\\n\" => -".to_string(),
    ];
    assert_eq!(stage.told(), expected);
}

#[test]
fn renames_are_found_committed_or_not_edited_or_not() {
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let world = World::new();
    let repo = world.path("repo");
    for name in ["p", "q", "r"] {
        fs::write(repo.join(name), format!("{name}\n{text}")).unwrap();
    }
    world.commit(&repo, "three files");
    let mut stage = Stage::of(world);
    stage.git(["mv", "p", "moved-p"]);
    stage.world.commit(&stage.top, "moved");
    fs::rename(stage.top.join("q"), stage.top.join("moved-q")).unwrap();
    fs::remove_file(stage.top.join("r")).unwrap();
    stage.write("sub/r", format!("r\n{text}six\n"));
    let seen = stage.told();
    let heads: Vec<&str> = seen.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(heads, ["moved-p Renamed from p", "moved-q Renamed from q", "sub/r Renamed from r"]);
    assert_eq!(stage.diff().files[Path::new("sub/r")].counts(), Some(Counts { additions: 1, deletions: 0 }));
}

#[test]
fn a_conflict_shows_the_file_with_its_marks_against_the_base() {
    let mut stage = Stage::new();
    let repo = stage.world.path("repo");
    fs::write(repo.join("a.txt"), "theirs\n").unwrap();
    stage.world.commit(&repo, "theirs");
    stage.write("a.txt", "ours\n");
    stage.world.commit(&stage.top, "ours");
    let (merged, _) = stage.world.attempt(&stage.top, ["merge", "main"]);
    assert!(!merged);
    let seen = stage.told();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].starts_with("a.txt Modified: \"one\\n\" => \"<<<<<<< HEAD\\nours\\n"), "{seen:?}");
}

#[test]
fn repositories_inside_are_told_by_their_commit() {
    let mut stage = Stage::new();
    stage.write("inner/x", "x\n");
    stage.git(["init", "-q", "inner"]);
    let inner = stage.world.commit(&stage.top.join("inner"), "inside");
    let expected = format!("inner Added: - => \"Subproject commit {inner}\\n\"");
    assert_eq!(stage.told(), std::slice::from_ref(&expected));
    stage.git(["-c", "advice.addEmbeddedRepo=false", "add", "inner"]);
    assert_eq!(stage.told(), [expected]);
    stage.git(["commit", "-qm", "with a submodule"]);
    stage.write("inner/x", "y\n");
    let second = stage.world.commit(&stage.top.join("inner"), "inside again");
    assert_eq!(stage.told(), [format!("inner Added: - => \"Subproject commit {second}\\n\"")]);
}

#[test]
fn names_may_hold_anything_that_a_name_can() {
    let mut stage = Stage::new();
    let names: [&[u8]; 4] = [b"a~b", b"new\nline", b"n\xffn", b" \"q\" "];
    for name in names {
        fs::write(stage.top.join(OsStr::from_bytes(name)), "x\n").unwrap();
    }
    let mut expected: Vec<PathBuf> = names.iter().map(|name| OsStr::from_bytes(name).into()).collect();
    expected.sort();
    assert_eq!(stage.diff().files.keys().cloned().collect::<Vec<_>>(), expected);
}

#[test]
fn one_touched_line_of_a_crlf_file_is_one_changed_line() {
    let world = World::new();
    let repo = world.path("repo");
    fs::write(repo.join(".gitattributes"), "*.win text eol=crlf\n*.raw -text\n*.auto text=auto\n").unwrap();
    for name in ["x.win", "x.raw", "x.auto"] {
        fs::write(repo.join(name), "1\r\n2\r\n3\r\n").unwrap();
    }
    world.commit(&repo, "lines");
    let mut stage = Stage::of(world);
    for name in ["x.win", "x.raw", "x.auto", "new.auto"] {
        stage.write(name, "1\r\ntwo\r\n3\r\n");
    }
    let diff = stage.diff();
    let one = Some(Counts { additions: 1, deletions: 1 });
    for name in ["x.win", "x.raw", "x.auto"] {
        assert_eq!(diff.files[Path::new(name)].counts(), one, "{name}: {:?}", told(&diff));
    }
    let new = &diff.files[Path::new("new.auto")];
    assert_eq!(new.new.as_ref().unwrap().content(), Content::Text("1\ntwo\n3\n"));
    let raw = &diff.files[Path::new("x.raw")];
    assert_eq!(raw.new.as_ref().unwrap().content(), Content::Text("1\r\ntwo\r\n3\r\n"));
}

#[test]
fn autocrlf_counts_like_an_attribute() {
    let world = World::new();
    world.run(&world.path("repo"), ["config", "core.autocrlf", "true"]);
    let mut stage = Stage::of(world);
    stage.write("a.txt", "one\r\nmore\r\n");
    assert_eq!(stage.told(), ["a.txt Modified: \"one\\n\" => \"one\\nmore\\n\""]);
}

#[test]
fn a_file_behind_a_filter_is_named_and_not_shown_and_no_filter_of_the_repository_runs() {
    let world = World::new();
    let repo = world.path("repo");
    world.canary_script(&world.path("clean.sh"));
    fs::write(repo.join(".gitattributes"), "*.key filter=crypt\n").unwrap();
    fs::write(repo.join("x.key"), "stored\n").unwrap();
    world.commit(&repo, "a key");
    let mut stage = Stage::of(world);
    let script = stage.world.path("clean.sh");
    stage.git(["config", "filter.crypt.clean", script.to_str().unwrap()]);
    stage.write("x.key", "secret\n");
    stage.write("y.key", "secret\n");
    let expected = ["x.key Modified: \"stored\\n\" => left out", "y.key Added: - => left out"];
    assert_eq!(stage.told(), expected);
    stage.world.assert_no_canary();
    stage.git(["status"]);
    stage.world.assert_canary();
}

#[test]
fn long_contents_are_left_out_and_their_lines_counted() {
    let mut stage = Stage::new();
    stage.write("long", "line\n".repeat(500_000));
    stage.write("a.txt", format!("one\n{}", "x\n".repeat(1_100_000)));
    let diff = stage.diff();
    assert_eq!(told(&diff), ["a.txt Modified: left out => left out", "long Added: - => left out"]);
    let counts = |name: &str| diff.files[Path::new(name)].counts().unwrap();
    assert_eq!(counts("long"), Counts { additions: 500_000, deletions: 0 });
    assert_eq!(counts("a.txt"), Counts { additions: 1_100_000, deletions: 0 });
}

#[test]
fn the_agents_index_and_its_lock_are_left_alone() {
    let mut stage = Stage::new();
    let git_dir = PathBuf::from(stage.git(["rev-parse", "--git-dir"]));
    fs::write(git_dir.join("index.lock"), "").unwrap();
    let look = || {
        let seen = fs::metadata(git_dir.join("index")).unwrap();
        (seen.modified().unwrap(), fs::read(git_dir.join("index")).unwrap())
    };
    let before = look();
    stage.write("a.txt", "changed\n");
    stage.write("new", "n\n");
    assert_eq!(stage.told().len(), 2);
    assert!(look() == before, "the agent's index was written");
    fs::remove_file(git_dir.join("index.lock")).unwrap();
    // What the agent adds although it is ignored is a file like any other, once it is in its index.
    stage.write("ignored.log", "kept\n");
    assert_eq!(stage.told().len(), 2);
    stage.git(["add", "--force", "ignored.log"]);
    assert_eq!(stage.told().len(), 3);
}

#[test]
fn a_file_that_says_the_same_is_the_same_change() {
    let mut stage = Stage::new();
    stage.write("a.txt", "changed\n");
    stage.write("new", "n\n");
    let first = stage.diff();
    stage.write("new", "n\n");
    stage.write("other", "o\n");
    let second = stage.diff();
    for name in ["a.txt", "new"] {
        assert!(Arc::ptr_eq(&first.files[Path::new(name)], &second.files[Path::new(name)]), "{name}");
    }
    stage.write("new", "m\n");
    assert!(!Arc::ptr_eq(&first.files[Path::new("new")], &stage.diff().files[Path::new("new")]));
}

#[test]
fn nothing_of_a_differ_stays_behind() {
    let stage = Stage::new();
    let directory = stage.world.path("diffs");
    let Stage { mut differ, base, world, .. } = stage;
    differ.diff(&base).unwrap();
    assert!(directory.join("index").exists());
    drop(differ);
    assert!(!directory.exists());
    world.run(&world.path("repo"), ["fsck"]);
}

#[test]
fn a_branch_and_a_commit_are_compared_without_their_files() {
    let stage = Stage::new();
    stage.write("a.txt", "changed\n");
    let commit = stage.world.commit(&stage.top, "one");
    stage.write("unseen", "not committed\n");
    let repo = stage.world.repo();
    let expected = ["a.txt Modified: \"one\\n\" => \"changed\\n\""];
    assert_eq!(told(&repo.branch_diff("forge/w", &stage.base).unwrap()), expected);
    assert_eq!(told(&repo.commit_diff(&commit).unwrap()), expected);
    let DiffBase::Branch { or: first, .. } = &stage.base else { panic!("it is a branch") };
    let root = repo.commit_diff(first).unwrap();
    assert_eq!(root.files.len(), 3, "a commit without a parent adds everything: {:?}", told(&root));
    assert_eq!(root.base, None);
}

#[test]
fn a_target_branch_that_is_gone_leaves_the_commit_that_the_work_began_with() {
    let mut stage = Stage::new();
    let DiffBase::Branch { or, .. } = stage.base.clone() else { panic!("it is a branch") };
    stage.base = DiffBase::Branch { name: "no-such-branch".into(), or: or.clone() };
    stage.write("a.txt", "changed\n");
    let diff = stage.diff();
    assert_eq!((diff.base, diff.files.len()), (Some(or), 1));
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

#[test]
fn whatever_is_done_the_diff_is_what_git_would_commit() {
    for seed in 0..6 {
        let mut stage = Stage::new();
        let mut dice = Dice(seed);
        let names = ["a.txt", "sub/b.txt", "x", "sub/x", "sub/deep/y", "z ~", "ignored.log"];
        for step in 0..25 {
            let name = names[dice.roll(names.len())];
            let path = stage.top.join(name);
            match dice.roll(9) {
                0..=2 => {
                    let lines = (0..dice.roll(6)).map(|_| format!("line {}\n", dice.roll(4)));
                    let text: String = lines.collect();
                    if !path.is_dir() && !path.is_symlink() {
                        stage.write(name, text);
                    }
                }
                3 => drop(fs::remove_file(&path)),
                4 if path.is_file() && !path.is_symlink() => {
                    set_mode(&path, if dice.roll(2) == 0 { 0o755 } else { 0o644 });
                }
                5 => {
                    let target = stage.top.join(names[dice.roll(names.len())]);
                    if path.is_file() && fs::symlink_metadata(&target).is_err() {
                        fs::create_dir_all(target.parent().unwrap()).unwrap();
                        fs::rename(&path, &target).unwrap();
                    }
                }
                6 if fs::symlink_metadata(&path).is_err() => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    symlink(format!("to {}", dice.roll(3)), &path).unwrap();
                }
                7 => drop(stage.world.commit(&stage.top, "step")),
                8 => drop(stage.world.attempt(&stage.top, ["add", "--", name])),
                _ => {}
            }
            let seen = flat(&stage.diff());
            let expected = oracle(&stage);
            assert_eq!(seen, expected, "seed {seed}, step {step}");
        }
    }
}

/// What differs without renames: path, mode and content now.
fn flat(diff: &Diff) -> Vec<(PathBuf, Option<(u32, String)>)> {
    let mut files = Vec::new();
    for change in diff.files.values() {
        let text = |version: &Version| match version.content() {
            Content::Text(text) => (version.mode, text.to_string()),
            other => panic!("{other:?}"),
        };
        if let (ChangeKind::Renamed, Some(old)) = (change.kind, &change.old) {
            files.push((old.path.clone(), None));
        }
        files.push((change.path().to_path_buf(), change.new.as_ref().map(text)));
    }
    files.sort();
    files
}

/// The same by an index into which everything is added.
fn oracle(stage: &Stage) -> Vec<(PathBuf, Option<(u32, String)>)> {
    let index = stage.world.path("oracle");
    let git_dir = PathBuf::from(stage.git(["rev-parse", "--git-dir"]));
    fs::copy(git_dir.join("index"), &index).unwrap();
    let DiffBase::Branch { or: base, .. } = &stage.base else { panic!("it is a branch") };
    let git = |arguments: &[&str]| {
        let mut command = Command::new(stage.world.git.program());
        command.env_clear().envs(stage.world.environment()).env("GIT_INDEX_FILE", &index);
        let output = command.current_dir(&stage.top).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["add", "-A"]);
    let raw = git(&["diff-index", "--cached", "--no-renames", "--no-abbrev", "-z", "--raw", base]);
    let mut fields = raw.split('\0');
    let mut files = Vec::new();
    while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
        let words: Vec<&str> = head.split(' ').collect();
        let mode = u32::from_str_radix(words[1], 8).unwrap();
        let now = (mode != 0).then(|| (mode, git(&["cat-file", "blob", words[3]])));
        files.push((PathBuf::from(path), now));
    }
    files.sort();
    files
}

#[test]
fn contents_are_left_out_and_only_counted_once_there_are_too_many_together() {
    let mut stage = Stage::new();
    stage.differ.limit(100);
    stage.write("a", "a\n".repeat(30));
    stage.write("b", "b\n".repeat(30));
    stage.write("c", "c\n".repeat(20));
    let diff = stage.diff();
    let content = |name: &str| {
        let change = &diff.files[Path::new(name)];
        let left_out = change.new.as_ref().unwrap().content() == Content::LeftOut;
        (left_out, change.counts().unwrap().additions)
    };
    assert_eq!(content("a"), (false, 30));
    assert_eq!(content("b"), (true, 30), "60 bytes more would be 120");
    assert_eq!(content("c"), (false, 20), "40 bytes more are 100");
    fs::remove_file(stage.top.join("a")).unwrap();
    let diff = stage.diff();
    assert!(!diff.files[Path::new("b")].is_left_out(), "there is room for it now");
}

#[test]
fn a_fresh_checkout_is_read_again_and_again_only_until_its_second_is_over() {
    let mut stage = Stage::new();
    let second = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 1;
    let at = UNIX_EPOCH + Duration::from_secs(second);
    let written_then =
        |path: &Path| File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    written_then(&stage.top.join("a.txt"));
    stage.git(["update-index", "--refresh"]);
    let index = stage.git(["rev-parse", "--path-format=absolute", "--git-path", "index"]);
    written_then(Path::new(index.trim()));
    assert_eq!(stage.told(), Vec::<String>::new());
    // Files are stamped by a clock that is a few milliseconds behind the one that tells the time.
    let stamp = || {
        let file = stage.world.path("stamp");
        fs::write(&file, "now").unwrap();
        fs::metadata(&file).unwrap().modified().unwrap()
    };
    while stamp() < at + Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(stage.told(), Vec::<String>::new());
    let ours = fs::metadata(stage.world.path("diffs").join("index")).unwrap().modified().unwrap();
    assert!(ours >= at + Duration::from_secs(1), "git has to read every file again: {at:?}, {ours:?}");
}
