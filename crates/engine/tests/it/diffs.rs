//! What an attempt has changed, for any number of viewers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use forge_engine::{
    ChangeKind, Content, DiffFile, DiffOf, DiffStep, DiffTurn, DiffView, DiffWanted, FollowUp,
};
use forge_model::{AttemptId, AttemptState};
use proptest::test_runner::{Config, TestRunner};

use crate::world::{SOON, World, eventually, git};

/// How long changes are gathered before they are looked at.
const GATHER: Duration = Duration::from_millis(120);

/// An attempt that is over, and its worktree.
struct Scene {
    world: World,
    attempt: AttemptId,
    worktree: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        Scene::after("say nothing")
    }

    fn after(script: &str) -> Scene {
        let world = World::new();
        let started = world.start(script);
        let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
        // Its sum is computed once, which is not to be counted with what is asked for here.
        eventually("the sum is known", || world.attempt(view.attempt.id).card.changes);
        Scene { world, attempt: view.attempt.id, worktree: view.attempt.worktree }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.worktree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn follow(&self, stats_only: bool) -> Viewer {
        let view = self.world.run(self.world.engine().follow_diff(self.attempt, stats_only)).unwrap();
        Viewer { view, document: BTreeMap::new(), steps: 0 }
    }

    /// Everything that differs, compared now.
    fn fresh(&self) -> BTreeMap<String, String> {
        let (_, files) =
            self.world.run(self.world.engine().diff(self.attempt, DiffWanted::default())).unwrap();
        files.iter().map(|file| (file.path.clone(), told(file))).collect()
    }

    fn computed(&self) -> u64 {
        self.world.run(self.world.engine().vitals()).unwrap().diffs_computed
    }

    fn watches(&self) -> u64 {
        self.world.run(self.world.engine().vitals()).unwrap().diff_watches
    }

    /// Waits until watches are in place and everything was looked at once more.
    fn settle(&self, viewer: &mut Viewer) {
        self.write("settle", "x\n");
        viewer.until(self, "a file that came", |files| files.contains_key("settle"));
        fs::remove_file(self.worktree.join("settle")).unwrap();
        viewer.until(self, "a file that went", |files| !files.contains_key("settle"));
        eventually("watches", || (self.watches() > 0).then_some(()));
        // A look that the watches led to may still be under way.
        let mut last = (self.computed(), Instant::now());
        eventually("rest", || {
            if self.computed() != last.0 {
                last = (self.computed(), Instant::now());
            }
            (last.1.elapsed() > GATHER * 5).then_some(())
        });
    }
}

/// One who looks, and what it was told.
struct Viewer {
    view: DiffView,
    document: BTreeMap<String, String>,
    steps: usize,
}

impl Viewer {
    fn next(&mut self, scene: &Scene) -> Option<DiffStep> {
        let next = async { tokio::time::timeout(SOON, self.view.next()).await };
        let step = scene.world.run(next).unwrap_or_else(|_| {
            panic!("no step came after {}, and what was told is {:?}", self.steps, self.document)
        });
        let step = step.unwrap()?;
        for file in &step.files {
            self.document.insert(file.path.clone(), told(file));
        }
        for path in &step.gone {
            assert!(self.document.remove(path).is_some(), "{path} was never told");
        }
        self.steps += 1;
        Some(step)
    }

    fn until(&mut self, scene: &Scene, what: &str, is_so: impl Fn(&BTreeMap<String, String>) -> bool) {
        let begun = Instant::now();
        while self.steps == 0 || !is_so(&self.document) {
            assert!(begun.elapsed() < SOON, "in vain: {what}: {:?}", self.document);
            assert!(self.next(scene).is_some(), "over before {what}");
        }
    }
}

fn told(file: &DiffFile) -> String {
    let change = &file.change;
    let content = |version: &Option<_>| match version.as_ref().map(forge_git::Version::content) {
        None => "-".to_string(),
        Some(Content::Text(text)) if file.with_content => format!("{text:?}"),
        Some(other) => {
            if file.with_content {
                format!("{other:?}")
            } else {
                "?".to_string()
            }
        }
    };
    let counts = if file.with_content { None } else { change.counts() };
    let counts =
        counts.map_or(String::new(), |counts| format!(" +{} -{}", counts.additions, counts.deletions));
    let from = match (&change.kind, &change.old) {
        (ChangeKind::Renamed, Some(old)) => format!(" from {}", old.path.display()),
        _ => String::new(),
    };
    format!("{:?}{from} {} => {}{counts}", change.kind, content(&change.old), content(&change.new))
}

#[test]
fn a_viewer_is_told_everything_and_then_what_changes() {
    let scene = Scene::after("edit made.txt by the agent");
    let mut viewer = scene.follow(false);
    let step = viewer.next(&scene).unwrap();
    assert_eq!(viewer.document["made.txt"], "Added - => \"by the agent\\n\"");
    assert!(!step.is_last);
    scene.write("README.md", "hello\nagain\n");
    viewer.until(&scene, "an edit", |files| files.contains_key("README.md"));
    assert_eq!(viewer.document["README.md"], "Modified \"hello\\n\" => \"hello\\nagain\\n\"");
    scene.write("README.md", "hello\n");
    viewer.until(&scene, "it was taken back", |files| !files.contains_key("README.md"));
    assert_eq!(viewer.document, scene.fresh());
}

#[test]
fn counts_alone_are_told_when_they_are_asked_for() {
    let scene = Scene::new();
    scene.write("README.md", "hi\nthere\n");
    let mut viewer = scene.follow(true);
    viewer.until(&scene, "an edit", |files| files.contains_key("README.md"));
    assert_eq!(viewer.document["README.md"], "Modified ? => ? +2 -1");
    // One with contents shares the computation of one without.
    let mut other = scene.follow(false);
    other.next(&scene).unwrap();
    assert_eq!(other.document["README.md"], "Modified \"hello\\n\" => \"hi\\nthere\\n\"");
}

#[test]
fn a_viewer_that_was_told_enough_is_told_counts_alone() {
    let scene = Scene::new();
    scene.world.engine().limit_diffs(100);
    let mut viewer = scene.follow(false);
    scene.write("a", &"a\n".repeat(30));
    viewer.until(&scene, "a file", |files| files.contains_key("a"));
    assert!(viewer.document["a"].starts_with("Added - => \"a"), "{:?}", viewer.document);
    scene.write("a", &"b\n".repeat(30));
    viewer.until(&scene, "120 bytes in all", |files| files["a"] == "Added - => ? +30 -0");
    // Another has been told nothing yet, and is told what it has room for.
    scene.write("b", &"b\n".repeat(30));
    viewer.until(&scene, "another file", |files| files.contains_key("b"));
    let mut other = scene.follow(false);
    other.until(&scene, "both files", |files| files.len() == 2);
    assert!(other.document["a"].starts_with("Added - => \"b"), "{:?}", other.document);
    assert_eq!(other.document["b"], "Added - => LeftOut");
}

#[test]
fn any_number_of_viewers_share_one_watch_and_one_computation() {
    let scene = Scene::new();
    let mut first = scene.follow(false);
    scene.settle(&mut first);
    let (computed, watches) = (scene.computed(), scene.watches());
    let mut viewers: Vec<Viewer> = (0..20).map(|number| scene.follow(number % 2 == 0)).collect();
    for viewer in &mut viewers {
        viewer.next(&scene).unwrap();
    }
    assert_eq!(scene.computed(), computed, "whoever comes later is told what is known");
    scene.write("README.md", "changed\n");
    for viewer in &mut viewers {
        viewer.until(&scene, "an edit", |files| files.contains_key("README.md"));
    }
    let extra = scene.computed() - computed;
    assert!((1..=3).contains(&extra), "{extra} computations for one edit");
    assert_eq!(scene.watches(), watches);
    drop(viewers);
    drop(first);
    eventually("nothing is watched", || (scene.watches() == 0).then_some(()));
    let left = || fs::read_dir(scene.world.home.join("diffs")).map_or(0, Iterator::count);
    eventually("nothing stays behind", || (left() == 0).then_some(()));
}

#[test]
fn an_ignored_folder_of_many_files_causes_no_watch_and_no_computation() {
    let scene = Scene::new();
    scene.write(".gitignore", "node_modules\n");
    let mut viewer = scene.follow(false);
    scene.settle(&mut viewer);
    let (computed, watches) = (scene.computed(), scene.watches());
    for directory in 0..200 {
        let path = scene.worktree.join(format!("node_modules/package-{directory}"));
        fs::create_dir_all(&path).unwrap();
        for file in 0..100 {
            fs::write(path.join(format!("{file}.js")), "").unwrap();
        }
    }
    scene.write("sign", "x\n");
    viewer.until(&scene, "a sign", |files| files.contains_key("sign"));
    assert!(scene.computed() - computed <= 2, "{} for one sign", scene.computed() - computed);
    assert_eq!(scene.watches(), watches);
}

#[test]
fn a_burst_of_writes_is_looked_at_a_few_times_and_its_end_is_seen() {
    let scene = Scene::new();
    let mut viewer = scene.follow(false);
    scene.settle(&mut viewer);
    let (computed, begun) = (scene.computed(), Instant::now());
    for number in 0..1000 {
        scene.write(&format!("burst/{}", number % 50), &format!("{number}\n"));
    }
    viewer.until(&scene, "the last write", |files| {
        files.get("burst/49").is_some_and(|told| told.contains("\"999\\n\""))
    });
    let (extra, took) = (scene.computed() - computed, begun.elapsed());
    let most = took.as_millis() / GATHER.as_millis() + 2;
    assert!(u128::from(extra) <= most, "{extra} computations in {took:?}");
    assert_eq!(viewer.document.len(), 50);
}

#[test]
fn one_who_writes_on_and_on_is_seen_all_the_same() {
    let scene = Scene::new();
    let mut viewer = scene.follow(false);
    scene.settle(&mut viewer);
    let done = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (done, path) = (done.clone(), scene.worktree.join("steady"));
        move || {
            let mut number = 0;
            while !done.load(Ordering::Relaxed) {
                number += 1;
                fs::write(&path, format!("{number}\n")).unwrap();
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    });
    let mut seen = BTreeSet::new();
    while seen.len() < 3 {
        viewer.next(&scene).unwrap();
        seen.extend(viewer.document.get("steady").cloned());
    }
    done.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let last = fs::read_to_string(scene.worktree.join("steady")).unwrap();
    let wanted = format!("{last:?}");
    viewer.until(&scene, "the last write", |files| files["steady"].contains(&wanted));
}

#[test]
fn a_slow_viewer_is_told_the_newest_and_nothing_in_between() {
    let scene = Scene::new();
    let mut quick = scene.follow(false);
    let mut slow = scene.follow(false);
    slow.next(&scene).unwrap();
    for number in 0..4 {
        scene.write("README.md", &format!("{number}\n"));
        scene.write(&format!("file-{number}"), "x\n");
        let wanted = format!("\"{number}\\n\"");
        quick.until(&scene, "an edit", |files| {
            files.get("README.md").is_some_and(|told| told.ends_with(&wanted)) && files.len() == number + 2
        });
    }
    slow.next(&scene).unwrap();
    assert_eq!((slow.steps, slow.document), (2, quick.document));
}

#[test]
fn the_target_branch_moving_and_the_agents_index_lock_change_nothing_about_the_truth() {
    let scene = Scene::after("edit made.txt by the agent");
    let mut viewer = scene.follow(false);
    viewer.until(&scene, "what the agent made", |files| files.len() == 1);
    let git_dir = PathBuf::from(git(&scene.worktree, &["rev-parse", "--git-dir"]));
    fs::write(git_dir.join("index.lock"), "").unwrap();
    scene.write("README.md", "changed\n");
    viewer.until(&scene, "an edit under a lock", |files| files.len() == 2);
    fs::remove_file(git_dir.join("index.lock")).unwrap();
    // The branch is merged into its target: what it had committed is no difference any more.
    let branch = scene.world.attempt(scene.attempt).attempt.branch;
    scene.world.git(&["merge", "--quiet", "--ff-only", &branch]);
    viewer.until(&scene, "the target has it", |files| files.len() == 1);
    assert!(viewer.document.contains_key("README.md"));
}

#[test]
fn what_landed_is_told_once_and_is_the_end() {
    let scene = Scene::after("edit made.txt by the agent");
    let branch = scene.world.attempt(scene.attempt).attempt.branch;
    scene.world.git(&["merge", "--quiet", "--ff-only", &branch]);
    let commit = scene.world.git(&["rev-parse", "main"]);
    land(&scene, &commit);
    let mut viewer = scene.follow(false);
    let step = viewer.next(&scene).unwrap();
    assert!(step.is_last);
    assert_eq!(viewer.document["made.txt"], "Added - => \"by the agent\\n\"");
    assert!(viewer.next(&scene).is_none());
    let (set, _) = scene
        .world
        .run(
            scene
                .world
                .engine()
                .diff(scene.attempt, DiffWanted { stats_only: true, ..DiffWanted::default() }),
        )
        .unwrap();
    assert_eq!(set.of, DiffOf::Landing);

    // With something new in the files it is live again.
    scene.write("README.md", "more\n");
    let mut viewer = scene.follow(false);
    let step = viewer.next(&scene).unwrap();
    assert!(!step.is_last);
    assert_eq!(viewer.document.keys().collect::<Vec<_>>(), ["README.md"]);
    scene.write("README.md", "hello\n");
    while !viewer.next(&scene).unwrap().is_last {}
    assert_eq!(viewer.document.keys().collect::<Vec<_>>(), ["made.txt"]);
}

/// Writes down a landing, as the verb that lands does.
fn land(scene: &Scene, commit: &str) {
    let conn = rusqlite::Connection::open(scene.world.home.join("forge.db")).unwrap();
    conn.busy_timeout(SOON).unwrap();
    let sql = "insert into merges (id, attempt_id, kind, target_branch, commit_oid, created_at, updated_at)
        values ('m', ?1, 'direct', 'main', ?2, 1, 1)";
    assert_eq!(conn.execute(sql, [&scene.attempt.to_string(), commit]).unwrap(), 1);
}

#[test]
fn when_the_worktree_is_gone_the_branch_is_told() {
    let scene = Scene::after("edit made.txt by the agent");
    scene.write("uncommitted", "x\n");
    let mut viewer = scene.follow(false);
    viewer.until(&scene, "both files", |files| files.len() == 2);
    fs::remove_dir_all(&scene.worktree).unwrap();
    viewer.until(&scene, "what was committed", |files| {
        files.keys().collect::<Vec<_>>() == ["made.txt"] && files["made.txt"].starts_with("Added")
    });
    let (set, files) =
        scene.world.run(scene.world.engine().diff(scene.attempt, DiffWanted::default())).unwrap();
    assert_eq!((set.of, files.len()), (DiffOf::Branch, 1));
}

#[test]
fn after_a_restart_a_viewer_is_told_everything_again() {
    let mut scene = Scene::new();
    scene.write("README.md", "changed\n");
    let mut viewer = scene.follow(false);
    viewer.until(&scene, "an edit", |files| files.len() == 1);
    let document = viewer.document.clone();
    drop(viewer);
    // What a killed server leaves is not taken for anything.
    fs::create_dir_all(scene.world.home.join("diffs/left")).unwrap();
    scene.world.restart();
    assert!(!scene.world.home.join("diffs/left").exists());
    let mut viewer = scene.follow(false);
    viewer.next(&scene).unwrap();
    assert_eq!(viewer.document, document);
}

#[test]
fn an_attempt_that_is_not_there_has_no_diff() {
    let scene = Scene::new();
    let id = AttemptId::random();
    assert!(scene.world.run(scene.world.engine().follow_diff(id, false)).is_err());
    assert!(scene.world.run(scene.world.engine().diff(id, DiffWanted::default())).is_err());
}

#[test]
fn whatever_is_done_to_the_files_a_viewer_ends_with_what_a_fresh_look_sees() {
    let scene = Scene::new();
    let mut viewer = scene.follow(false);
    viewer.next(&scene).unwrap();
    let names = ["README.md", "a", "b", "dir/a", "dir/deep/c", "with ~ and space"];
    let step = (0..names.len(), 0..names.len(), 0..6_u8, 0..4_u8);
    let steps = proptest::collection::vec(step, 1..30);
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let viewer = std::cell::RefCell::new(&mut viewer);
    let outcome = runner.run(&steps, |steps| {
        for (name, other, act, text) in steps {
            let (path, other) = (scene.worktree.join(names[name]), scene.worktree.join(names[other]));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::create_dir_all(other.parent().unwrap()).unwrap();
            // What cannot be done to a file that is not there is not done.
            let _ = match act {
                0 | 1 => fs::write(&path, "line\n".repeat(usize::from(text) + 1)),
                2 => fs::remove_file(&path),
                3 => fs::rename(&path, &other),
                4 => fs::write(&path, format!("{text}\n{}", "long line\n".repeat(5))),
                _ => {
                    git(&scene.worktree, &["add", "--all"]);
                    git(
                        &scene.worktree,
                        &[
                            "-c",
                            "core.hooksPath=/dev/null",
                            "commit",
                            "--quiet",
                            "--allow-empty",
                            "--message=x",
                        ],
                    );
                    Ok(())
                }
            };
        }
        let expected = scene.fresh();
        viewer.borrow_mut().until(&scene, "the same as a fresh look", |files| *files == expected);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn files_that_are_asked_for_one_by_one_are_those_of_the_live_diff() {
    let scene = Scene::new();
    for number in 0..20 {
        scene.write(&format!("src/f{number}.txt"), "one\ntwo\n");
    }
    let mut viewer = scene.follow(true);
    viewer.until(&scene, "all files are told", |document| document.len() == 20);
    let before = scene.computed();
    let engine = scene.world.engine();
    for number in 0..20 {
        let wanted = DiffWanted { paths: vec![format!("src/f{number}.txt")], ..DiffWanted::default() };
        let (set, files) = scene.world.run(engine.diff(scene.attempt, wanted)).unwrap();
        assert_eq!((set.files.len(), files.len()), (20, 1));
        assert!(files[0].with_content);
    }
    let stats = DiffWanted { stats_only: true, ..DiffWanted::default() };
    assert_eq!(scene.world.run(engine.diff(scene.attempt, stats)).unwrap().1.len(), 20);
    assert!(scene.computed() - before <= 1, "what is watched may be looked at once more, for nobody");
    let unknown = DiffWanted { paths: vec!["nowhere".into()], ..DiffWanted::default() };
    assert!(scene.world.run(engine.diff(scene.attempt, unknown)).unwrap().1.is_empty());
}

#[test]
fn a_crowd_that_asks_at_once_is_answered_by_a_few_comparisons() {
    let scene = Scene::new();
    scene.write("a.txt", "one\n");
    let before = scene.computed();
    let (engine, id) = (scene.world.engine().clone(), scene.attempt);
    scene.world.run(async move {
        let asked: Vec<_> = (0..50)
            .map(|_| {
                let engine = engine.clone();
                tokio::spawn(async move { engine.diff(id, DiffWanted::default()).await.unwrap().1.len() })
            })
            .collect();
        for answer in asked {
            assert_eq!(answer.await.unwrap(), 1);
        }
    });
    let computed = scene.computed() - before;
    assert!(computed <= 10, "{computed} comparisons for 50 who asked at once");
}

#[test]
fn what_a_turn_did_is_what_differs_between_two_snapshots() {
    let scene = Scene::after("edit a.txt one");
    let follow = |prompt: &str| FollowUp::new(prompt);
    let (world, id) = (&scene.world, scene.attempt);
    world.run(world.engine().follow_up(id, follow("edit b.txt two\nrun rm a.txt"), None)).unwrap();
    let snapshots = eventually("both turns are snapshotted", || {
        let snapshots = world.run(world.engine().snapshots(id)).unwrap();
        (snapshots.len() == 2).then_some(snapshots)
    });
    let (first, second) = (snapshots[1].id.clone(), snapshots[0].id.clone());
    let between = |from: Option<&str>, to: Option<&str>| {
        let turn = Some(DiffTurn { from: from.map(Into::into), to: to.map(Into::into) });
        let (set, files) =
            world.run(world.engine().diff(id, DiffWanted { turn, ..DiffWanted::default() })).unwrap();
        assert_eq!(set.of, DiffOf::Snapshots);
        files.iter().map(|file| (file.path.clone(), file.change.kind)).collect::<Vec<_>>()
    };
    let (added, deleted) = (ChangeKind::Added, ChangeKind::Deleted);
    assert_eq!(between(None, Some(&first)), [("a.txt".to_string(), added)]);
    let turn = [("a.txt".to_string(), deleted), ("b.txt".to_string(), added)];
    assert_eq!(between(Some(&first), Some(&second)), turn);
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(between(Some(&second), None), []);
    scene.write("c.txt", "three\n");
    assert_eq!(between(Some(&second), None), [("c.txt".to_string(), added)]);
    assert_eq!(between(None, None).len(), 2, "against the commit that it began with");
    let turn = Some(DiffTurn { from: Some("nothing".into()), to: None });
    let refused =
        world.run(world.engine().diff(id, DiffWanted { turn, ..DiffWanted::default() })).unwrap_err();
    assert!(refused.to_string().contains("has no snapshot nothing"), "{refused}");
}
