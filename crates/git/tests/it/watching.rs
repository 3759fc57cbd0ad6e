//! Hearing of changes in a checkout, and of nothing that is ignored.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use forge_git::{DiffBase, Differ, TreeWatch, TreeWatcher, Watched};

use crate::world::World;

const SOON: Duration = Duration::from_secs(120);

struct Ear {
    world: World,
    top: PathBuf,
    differ: Differ,
    tree: TreeWatch,
    woken: Receiver<()>,
    watcher: TreeWatcher,
    base: DiffBase,
}

impl Ear {
    fn new() -> Ear {
        let world = World::new();
        let worktree = world.worktree("w");
        let differ = world.repo().differ(&worktree, &world.path("diffs")).unwrap();
        let base = DiffBase::Branch { name: "main".into(), or: world.repo().resolve_branch("main").unwrap() };
        let watcher = TreeWatcher::start().unwrap();
        let (wake, woken) = channel();
        let tree = watcher.tree(move || {
            // The test may be over already.
            let _ = wake.send(());
        });
        let top = worktree.path().to_path_buf();
        let mut ear = Ear { world, top, differ, tree, woken, watcher, base };
        ear.look();
        assert_eq!(ear.tree.cover(&ear.differ, Some("main")), Watched::All);
        ear
    }

    fn look(&mut self) -> usize {
        let diff = self.differ.diff(&self.base).unwrap();
        self.tree.learn(&self.differ, &diff);
        diff.files.len()
    }

    /// Waits until something matters, and returns how many files differ then.
    fn hears(&mut self, what: &str) -> usize {
        let deadline = Instant::now() + SOON;
        let mut wakes = 0;
        loop {
            match self.woken.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(()) if self.tree.take_in(&mut self.differ, Some("main")).0 => return self.look(),
                Ok(()) => wakes += 1,
                Err(_) => {
                    let known = self.tree.cover(&self.differ, Some("main"));
                    let diff = self.differ.diff(&self.base).unwrap();
                    let files: Vec<_> = diff.files.keys().collect();
                    panic!(
                        "nothing was heard of {what}: {wakes} wakes that did not matter; watched: {known:?}; {files:?} differ"
                    );
                }
            }
        }
    }

    /// Waits until so many files differ.
    fn sees(&mut self, what: &str, files: usize) {
        while self.hears(what) != files {}
    }

    /// Checks that nothing matters until a sign is heard.
    fn hears_only_a_sign(&mut self, what: &str, files: usize) {
        fs::write(self.top.join("sign"), what).unwrap();
        self.sees("a sign", files + 1);
        fs::remove_file(self.top.join("sign")).unwrap();
        self.sees("the end of a sign", files);
        loop {
            match self.woken.recv_timeout(Duration::from_millis(1)) {
                Ok(()) => drop(self.tree.take_in(&mut self.differ, Some("main"))),
                Err(RecvTimeoutError::Timeout) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn edits_new_directories_and_deletions_are_heard() {
    let mut ear = Ear::new();
    fs::write(ear.top.join("a.txt"), "changed\n").unwrap();
    ear.sees("an edit", 1);
    fs::create_dir_all(ear.top.join("new/deep/er")).unwrap();
    fs::write(ear.top.join("new/deep/er/file"), "1\n").unwrap();
    ear.sees("a new directory", 2);
    fs::write(ear.top.join("new/deep/er/other"), "1\n").unwrap();
    ear.sees("a file in a new directory", 3);
    fs::rename(ear.top.join("new"), ear.top.join("moved")).unwrap();
    ear.sees("a rename", 3);
    fs::remove_file(ear.top.join("moved/deep/er/other")).unwrap();
    ear.sees("a deletion in a directory that was moved", 2);
    fs::remove_dir_all(ear.top.join("moved")).unwrap();
    ear.sees("a deletion", 1);
}

#[test]
fn commits_here_and_on_the_other_branch_are_heard() {
    let mut ear = Ear::new();
    fs::write(ear.top.join("a.txt"), "changed\n").unwrap();
    ear.sees("an edit", 1);
    let commit = ear.world.commit(&ear.top, "work");
    ear.hears("a commit");
    let repo = ear.world.path("repo");
    ear.world.run(&repo, ["merge", "--quiet", "--ff-only", &commit]);
    ear.sees("the other branch, which has it now", 0);
}

#[test]
fn what_is_ignored_is_not_watched_and_does_not_matter() {
    let mut ear = Ear::new();
    let before = ear.watcher.watches();
    for directory in 0..40 {
        let path = ear.top.join(format!("ignored/{directory}"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..50 {
            fs::write(path.join(file.to_string()), "x").unwrap();
        }
    }
    ear.hears_only_a_sign("ignored", 0);
    assert_eq!(ear.watcher.watches(), before);

    // A file is looked at once; from then on it is known.
    fs::write(ear.top.join("ignored.log"), "1\n").unwrap();
    ear.hears("a file that nobody knows");
    ear.hears_only_a_sign("ignored", 0);
    // On a busy machine the last notice of the sign may come only now. It is over after one look; a file that mattered
    // would matter each time.
    let matters = (0..20).all(|number| {
        fs::write(ear.top.join("ignored.log"), format!("{number}\n")).unwrap();
        let woken = ear.woken.recv_timeout(SOON);
        assert!(woken.is_ok(), "a write to a known file wakes nobody; {} watches", ear.watcher.watches());
        let matters = ear.tree.take_in(&mut ear.differ, None).0;
        if matters {
            ear.look();
        }
        matters
    });
    assert!(!matters, "a file that is ignored and known matters");
}

#[test]
fn when_the_rules_change_what_was_ignored_is_watched() {
    let mut ear = Ear::new();
    fs::create_dir(ear.top.join("ignored")).unwrap();
    fs::write(ear.top.join("ignored/file"), "x\n").unwrap();
    fs::write(ear.top.join(".gitignore"), "nothing\n").unwrap();
    ear.sees("other rules", 2);
    fs::write(ear.top.join("ignored/other"), "x\n").unwrap();
    ear.sees("a file that was ignored", 3);
}

#[test]
fn a_tracked_file_in_an_ignored_directory_is_heard() {
    let mut ear = Ear::new();
    fs::create_dir(ear.top.join("ignored")).unwrap();
    fs::write(ear.top.join("ignored/file"), "x\n").unwrap();
    ear.world.run(&ear.top, ["add", "--force", "ignored/file"]);
    ear.sees("a file that was added by force", 1);
    assert_eq!(ear.tree.cover(&ear.differ, None), Watched::All);
    fs::remove_file(ear.top.join("ignored/file")).unwrap();
    ear.sees("its end", 0);
}

#[test]
fn a_commit_in_a_repository_inside_is_heard() {
    let mut ear = Ear::new();
    let inner = ear.world.path("inner");
    fs::create_dir(&inner).unwrap();
    ear.world.run(&inner, ["init", "-q"]);
    fs::write(inner.join("x"), "x\n").unwrap();
    ear.world.commit(&inner, "inside");
    fs::rename(&inner, ear.top.join("inner")).unwrap();
    ear.sees("a repository inside", 1);
    let oid = ear.world.commit(&ear.top.join("inner"), "again");
    ear.hears("a commit inside");
    let diff = ear.differ.diff(&ear.base).unwrap();
    let told = format!("{:?}", diff.files.values().next().unwrap().new.as_ref().unwrap().content());
    assert!(told.contains(&oid), "{told}");
}

#[test]
fn without_room_nothing_is_watched_and_that_is_said() {
    let mut ear = Ear::new();
    ear.watcher.limit(4);
    assert_eq!(ear.tree.cover(&ear.differ, Some("main")), Watched::None);
    assert_eq!(ear.watcher.watches(), 0);
    ear.watcher.limit(1000);
    assert_eq!(ear.tree.cover(&ear.differ, Some("main")), Watched::All);
    let before = ear.watcher.watches();
    assert!(before > 0);
    drop(ear.tree);
    assert_eq!(ear.watcher.watches(), 0, "{before} before");
}
