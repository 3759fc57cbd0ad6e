//! Deleting the logs of runs: only of what is closed, and what is shown says so.

use std::fs;
use std::path::PathBuf;

use forge_engine::{
    Cleaned, ConfigChange, EntriesFrom, FollowUp, LogEnd, Product, TaskChange, What, WindowAt,
};
use forge_model::entry::EntryType;
use forge_model::{AttemptId, AttemptState, Entry, Run, RunId, TaskStatus};
use serde_json::{Value, json};

use crate::importing::{import, sample};
use crate::world::{SOON, World};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

impl World {
    fn gc(&self, dry_run: bool) -> Cleaned {
        self.run(self.engine().gc(dry_run)).unwrap()
    }

    fn settle(&self, settings: Value) {
        let change = ConfigChange::new(settings.as_object().unwrap().clone()).unwrap();
        self.run(self.engine().change_config(change)).unwrap();
    }

    fn log_place(&self, run: RunId) -> PathBuf {
        self.home.join("runs").join(run.to_string())
    }

    fn set_status(&self, id: AttemptId, status: TaskStatus) {
        let task = self.attempt(id).attempt.task.unwrap();
        let change = TaskChange { status: Some(status), ..TaskChange::default() };
        self.run(self.engine().update_task(task, change)).unwrap();
    }

    /// Changes times in the database, as days that pass would.
    fn pass_days(&self, days: i64) {
        let db = rusqlite::Connection::open(self.home.join("forge.db")).unwrap();
        db.busy_timeout(SOON).unwrap();
        let earlier = days * DAY_MILLIS;
        for (table, columns) in [
            ("runs", vec!["started_at", "completed_at", "created_at", "updated_at"]),
            ("attempts", vec!["created_at", "updated_at"]),
            ("tasks", vec!["created_at", "updated_at"]),
            ("removed", vec!["removed_at"]),
            ("imported", vec!["imported_at"]),
        ] {
            let set: Vec<String> = columns.iter().map(|one| format!("{one} = {one} - {earlier}")).collect();
            db.execute(&format!("update {table} set {}", set.join(", ")), []).unwrap();
        }
    }

    /// An attempt at rest and its only run, with its task in a state.
    fn ended(&self, script: &str, status: TaskStatus) -> (AttemptId, RunId) {
        let started = self.start(script);
        let id = started.attempt.attempt.id;
        self.wait_until_told(id);
        self.set_status(id, status);
        (id, started.run.id)
    }

    fn one_run(&self, id: RunId) -> Run {
        self.run(self.engine().run(id)).unwrap()
    }

    fn followed(&self, run: RunId, from: EntriesFrom) -> (Vec<Entry>, Option<i64>, LogEnd) {
        self.run(async {
            let mut tail = self.engine().entries(run, from).await.unwrap();
            let (mut entries, mut position) = (Vec::new(), None);
            while let Some(batch) = tail.next().await.unwrap() {
                entries.extend(batch.entries.into_iter().map(|(_, entry)| entry));
                position = Some(batch.position);
            }
            (entries, position, tail.end())
        })
    }
}

fn logs(cleaned: &Cleaned) -> Vec<PathBuf> {
    cleaned.swept.iter().filter(|one| one.what == What::Log).map(|one| one.path.clone()).collect()
}

#[test]
fn the_log_of_a_closed_attempt_goes_after_its_time_and_every_reader_is_told() {
    let world = World::new();
    let (id, run) = world.ended("say something", TaskStatus::Done);
    let place = world.log_place(run);
    assert_eq!(logs(&world.gc(false)), [] as [PathBuf; 0], "it is young");
    world.pass_days(89);
    assert_eq!(logs(&world.gc(true)), [] as [PathBuf; 0], "it is not old enough");
    world.pass_days(2);
    let said = world.gc(true);
    assert_eq!(logs(&said), std::slice::from_ref(&place), "{said:?}");
    assert!(said.swept.iter().any(|one| one.what == What::Log && one.bytes.is_some_and(|bytes| bytes > 0)));
    assert!(place.is_dir() && world.one_run(run).log_deleted_at.is_none(), "a dry run changes nothing");
    assert_eq!(logs(&world.gc(false)), std::slice::from_ref(&place));
    assert!(!place.exists());
    assert_eq!(logs(&world.gc(false)), [] as [PathBuf; 0]);
    let left: Vec<_> = fs::read_dir(world.home.join("trash")).unwrap().flatten().collect();
    assert!(!left.iter().any(|one| one.file_name().to_str().unwrap().starts_with("log-")), "{left:?}");

    let day = world.one_run(run).log_deleted_at.expect("its time is known").day();
    let (entries, position, end) = world.followed(run, EntriesFrom::Index(0));
    assert_eq!((entries.len(), end), (2, LogEnd::Over));
    assert_eq!(entries[0].entry_type, EntryType::UserMessage);
    assert!(entries[0].content.contains("say something"), "{entries:?}");
    assert_eq!(entries[1].entry_type, EntryType::SystemMessage);
    let sentence = format!("Forge deleted the log of this run on {day}");
    assert!(entries[1].content.starts_with(&sentence), "{entries:?}");
    assert_eq!(world.followed(run, EntriesFrom::Last(1)).0, entries[1..]);
    assert_eq!(world.followed(run, EntriesFrom::Index(2)).0, []);
    assert_eq!(world.followed(run, EntriesFrom::Change(Some(7_000_000))).0, entries);
    assert_eq!(world.followed(run, EntriesFrom::Change(position)).0, []);

    let window = |at, limit| world.run(world.engine().attempt_entries(id, at, limit)).unwrap();
    let last = window(WindowAt::Last, 1);
    assert_eq!((last.entries.len(), &last.entries[0].entry, last.has_more), (1, &entries[1], true));
    assert_eq!(last.runs.iter().map(|of| (of.entries, of.is_over)).collect::<Vec<_>>(), [(Some(2), true)]);
    let before = window(WindowAt::Before(last.entries[0].place), 5);
    assert_eq!((before.entries.len(), &before.entries[0].entry, before.has_more), (1, &entries[0], false));
    let after = window(WindowAt::After(before.entries[0].place), 5);
    assert_eq!((after.entries.len(), &after.entries[0].entry, after.has_newer), (1, &entries[1], false));
    assert_eq!(window(WindowAt::Around(last.entries[0].place), 4).entries.len(), 2);
    let found = world.run(world.engine().find_entries(id, "something", None, 10)).unwrap();
    assert_eq!((found.hits.len(), found.before), (0, None));
    assert!(world.output(run).starts_with(&sentence));

    // It goes on, and what comes is kept.
    world.run(world.engine().follow_up(id, FollowUp::new("say more"), None)).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let all = window(WindowAt::Last, 50);
    assert_eq!((&all.entries[0].entry, &all.entries[1].entry), (&entries[0], &entries[1]));
    assert!(all.entries.len() > 2, "{all:?}");
}

#[test]
fn the_log_of_what_is_open_or_at_work_stays_however_old_and_large_it_is() {
    let world = World::new();
    let (_, open) = world.ended("say open", TaskStatus::InReview);
    let started = world.start("hang");
    world.set_status(started.attempt.attempt.id, TaskStatus::Done);
    let (held_by, held) = world.ended("say held", TaskStatus::Cancelled);
    for run in [open, started.run.id] {
        fs::write(world.log_place(run).join("large"), vec![1; 3_000_000]).unwrap();
    }
    world.pass_days(1000);
    world.settle(json!({"runs": {"keep_days": 1, "keep_mb": 1}}));
    let lock = fs::File::open(world.log_place(held).join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let said = world.gc(false);
    assert_eq!(logs(&said), [] as [PathBuf; 0], "{said:?}");
    let left: Vec<_> = said.left.iter().filter(|one| one.path == world.log_place(held)).collect();
    assert_eq!(left.len(), 1, "{said:?}");
    assert_eq!(left[0].attempt, Some(held_by));
    assert!(world.one_run(held).log_deleted_at.is_none());
    drop(lock);
    assert_eq!(logs(&world.gc(false)), [world.log_place(held)]);
    assert!(world.log_place(open).is_dir() && world.log_place(started.run.id).is_dir());
    assert!(world.output(open).contains("open"));
}

#[test]
fn the_oldest_logs_of_closed_attempts_go_when_all_take_more_than_they_may() {
    let world = World::new();
    let mut runs = Vec::new();
    for status in [TaskStatus::Done, TaskStatus::Cancelled, TaskStatus::Archived] {
        let (_, run) = world.ended("say it", status);
        fs::write(world.log_place(run).join("large"), vec![1; 3_000_000]).unwrap();
        world.pass_days(1);
        runs.push(run);
    }
    world.settle(json!({"runs": {"keep_mb": 0}}));
    assert_eq!(logs(&world.gc(false)), [] as [PathBuf; 0], "0 is no budget");
    world.settle(json!({"runs": {"keep_mb": 7}}));
    assert_eq!(logs(&world.gc(false)), [world.log_place(runs[0])]);
    world.settle(json!({"runs": {"keep_mb": 4}}));
    assert_eq!(logs(&world.gc(false)), [world.log_place(runs[1])]);
    assert!(world.log_place(runs[2]).is_dir());
    let refused = ConfigChange::new(json!({"runs": {"keep_mb": -1}}).as_object().unwrap().clone());
    assert!(refused.unwrap_err().to_string().contains("`runs.keep_mb` must be"));
}

#[test]
fn a_removed_attempt_whose_logs_are_gone_comes_back_and_says_so() {
    let world = World::new();
    let (id, run) = world.ended("edit made.txt text\nsay it", TaskStatus::InReview);
    let task = world.attempt(id).attempt.task.unwrap();
    world.pass_days(400);
    world.run(world.engine().delete_task(task)).unwrap();
    assert_eq!(logs(&world.gc(false)), [] as [PathBuf; 0], "what was just removed can be recovered whole");
    world.settle(json!({"removed": {"keep_days": null}}));
    world.pass_days(90);
    let disk = world.run(world.engine().disk_use()).unwrap();
    assert!(disk.removed_runs > 0 && disk.runs >= disk.removed_runs, "{disk:?}");
    assert_eq!(logs(&world.gc(false)), [world.log_place(run)]);
    let recovered = world.run(world.engine().recover(task.to_string())).unwrap();
    let notes = recovered.notes.join("; ");
    assert!(notes.contains("without the logs of 1 of its 1 runs"), "{notes}");
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Finished);
    let (entries, _, end) = world.followed(run, EntriesFrom::Index(0));
    assert_eq!((entries.len(), end), (2, LogEnd::Over));
}

#[test]
fn what_was_removed_long_ago_is_forgotten_with_its_logs() {
    let world = World::new();
    let (id, run) = world.ended("say it", TaskStatus::InReview);
    let task = world.attempt(id).attempt.task.unwrap();
    world.run(world.engine().delete_task(task)).unwrap();
    world.settle(json!({"runs": {"keep_days": null, "keep_mb": null}, "removed": {"keep_days": 30}}));
    world.pass_days(31);
    // As long as a process holds its log, nothing of it is forgotten.
    let lock = fs::File::open(world.log_place(run).join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    world.gc(false);
    assert_eq!(world.run(world.engine().removed()).unwrap().len(), 2);
    drop(lock);
    let forgotten = |cleaned: Cleaned| cleaned.swept.iter().filter(|one| one.what == What::Removed).count();
    assert_eq!(forgotten(world.gc(true)), 2);
    assert_eq!(world.run(world.engine().removed()).unwrap().len(), 2, "a dry run changes nothing");
    assert_eq!(forgotten(world.gc(false)), 2);
    assert!(!world.log_place(run).exists());
    assert_eq!(world.run(world.engine().removed()).unwrap(), []);
    let refused = world.run(world.engine().recover(task.to_string())).unwrap_err();
    assert!(refused.to_string().contains("nothing that was removed has the id"), "{refused}");
}

#[test]
fn a_crash_while_a_log_is_deleted_leaves_nothing_half() {
    for seam in ["logs.marked=hold:DIR/never", "logs.moved=hold:DIR/never"] {
        let mut world = World::with_seam(seam);
        let (_, run) = world.ended("say it", TaskStatus::Done);
        world.pass_days(100);
        let engine = world.engine().clone();
        world.spawn(async move { engine.gc(false).await });
        let reached = world.dir.path().join("never.reached");
        crate::world::eventually("the log is being deleted", || reached.exists().then_some(()));
        world.crash();
        world.reopen();
        assert!(world.one_run(run).log_deleted_at.is_some(), "{seam}");
        let (entries, _, end) = world.followed(run, EntriesFrom::Index(0));
        assert_eq!((entries.len(), end), (2, LogEnd::Over), "{seam}");
        world.gc(false);
        assert!(!world.log_place(run).exists(), "{seam}");
    }
}

#[test]
fn the_age_of_an_imported_log_counts_from_its_import_and_it_is_not_imported_again() {
    let world = World::new();
    let data = sample(&world, "af-0.7.4").join("home/.local/share/automagik-forge");
    import(&world, Product::AutomagikForge, &data).unwrap();
    let db = rusqlite::Connection::open(world.home.join("forge.db")).unwrap();
    db.busy_timeout(SOON).unwrap();
    let long_ago = "update tasks set status = 'done', updated_at = 1000";
    db.execute_batch(&format!("{long_ago}; update attempts set updated_at = 1000;")).unwrap();
    let count = || fs::read_dir(world.home.join("runs")).unwrap().count();
    let all = count();
    assert!(all > 0);
    assert_eq!(logs(&world.gc(false)), [] as [PathBuf; 0], "what was just imported is looked at first");
    world.pass_days(91);
    assert_eq!((logs(&world.gc(false)).len(), count()), (all, 0));
    let again = import(&world, Product::AutomagikForge, &data).unwrap();
    assert_eq!((again.logs.written, count()), (0, 0));
}
