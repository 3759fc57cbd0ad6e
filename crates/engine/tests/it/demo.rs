//! The demo: an attempt in every state, made once.

use std::path::Path;
use std::time::Instant;

use forge_engine::{AttemptView, Engine, TaskView};
use forge_model::{AttemptState, ProjectId, TaskStatus};

use crate::world::{World, eventually, git};

/// What the demo shows: the task and its attempt, by the script that is played.
struct Shown(Vec<(TaskView, Option<AttemptView>)>);

impl Shown {
    fn of(world: &World, project: ProjectId) -> Self {
        let engine: &Engine = world.engine();
        let tasks = world.run(engine.tasks(project)).unwrap();
        let attempt = |view: &TaskView| view.last_attempt.map(|id| world.attempt(id));
        Self(tasks.into_iter().map(|view| (view.clone(), attempt(&view))).collect())
    }

    fn one(&self, script: &str) -> Option<&(TaskView, Option<AttemptView>)> {
        let played = format!("play .demo/{script}.txt");
        self.0
            .iter()
            .find(|(view, _)| view.task.description.as_deref().unwrap_or_default().ends_with(&played))
    }

    fn attempt(&self, script: &str) -> Option<&AttemptView> {
        self.one(script)?.1.as_ref()
    }

    fn is_whole(&self) -> bool {
        let is =
            |script: &str, state: AttemptState| self.attempt(script).is_some_and(|one| one.state() == state);
        is("coupons", AttemptState::Finished)
            && is("clear", AttemptState::Waiting)
            && is("translate", AttemptState::Running)
            && self.attempt("currency").is_some_and(|one| one.is_conflicted)
            && self.attempt("cents").is_some_and(|one| one.is_merged)
    }
}

fn whole(world: &World, project: ProjectId) -> Shown {
    eventually("the demo is in every state", || Some(Shown::of(world, project)).filter(Shown::is_whole))
}

fn folder_of(home: &Path) -> Vec<String> {
    let listed = std::fs::read_dir(home.join("demo")).unwrap();
    let mut names: Vec<String> = listed.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_demo_runs_waits_conflicts_and_is_ready_to_merge() {
    let world = World::new();
    let begun = Instant::now();
    let made = world.run(world.engine().demo()).unwrap();
    assert!(made.is_new);
    let shown = whole(&world, made.project.id);
    println!("the demo was whole after {:?}", begun.elapsed());

    let ready = shown.attempt("coupons").unwrap();
    let main = git(&made.project.path, &["rev-parse", "main"]);
    assert_eq!(git(&made.project.path, &["merge-base", "main", &ready.attempt.branch]), main);
    let changed = git(&made.project.path, &["diff", "--name-status", "main", &ready.attempt.branch]);
    for expected in
        ["M\tsrc/cart.js", "M\tsrc/server.js", "A\tsrc/coupons.js", "D\tsrc/old-tax.js", "M\tREADME.md"]
    {
        assert!(changed.lines().any(|line| line == expected), "{expected} is not in {changed}");
    }
    let asks = world.run(world.engine().asks(Default::default())).unwrap();
    assert_eq!(asks.len(), 1, "{asks:?}");
    assert_eq!(asks[0].tool, "Bash");
    let status = |script: &str| shown.one(script).unwrap().0.task.status;
    assert_eq!(status("cents"), TaskStatus::Done);
    assert_eq!((status("receipt"), status("remember")), (TaskStatus::Todo, TaskStatus::Todo));
    assert_eq!(shown.0.len(), 7);

    // The one that is ready lands as it is.
    world.run(world.engine().land(ready.attempt.id, Default::default())).unwrap();
}

#[test]
fn the_demo_is_made_once_and_what_people_did_to_it_stays() {
    let world = World::new();
    let made = world.run(world.engine().demo()).unwrap();
    let shown = whole(&world, made.project.id);
    eventually("the demo is finished", || (folder_of(&world.home) == ["shop"]).then_some(()));
    world.run(world.engine().delete_task(shown.one("receipt").unwrap().0.task.id)).unwrap();

    let again = world.run(world.engine().demo()).unwrap();
    assert_eq!((again.project.id, again.is_new), (made.project.id, false));
    assert_eq!(Shown::of(&world, made.project.id).0.len(), 6);

    world.run(world.engine().stop_all()).unwrap();
    world.run(world.engine().delete_project(made.project.id)).unwrap();
    assert!(made.project.path.join("README.md").exists());
    let fresh = world.run(world.engine().demo()).unwrap();
    assert!(fresh.is_new && fresh.project.path != made.project.path);
    whole(&world, fresh.project.id);
}

#[test]
fn a_demo_that_broke_off_is_gone_on_with() {
    let mut world = World::new();
    let made = world.run(world.engine().demo()).unwrap();
    world.restart();
    let again = world.run(world.engine().demo()).unwrap();
    assert_eq!((again.project.id, again.is_new), (made.project.id, false));
    assert_eq!(whole(&world, made.project.id).0.len(), 7);
}

#[test]
fn nothing_more_of_a_demo_starts_when_everything_is_to_stop() {
    let world = World::new();
    let made = world.run(world.engine().demo()).unwrap();
    world.run(world.engine().stop_all()).unwrap();
    let shown = Shown::of(&world, made.project.id);
    let live = shown.0.iter().filter(|(_, one)| one.as_ref().is_some_and(|one| one.state().is_live()));
    assert_eq!(live.count(), 0);
    assert_eq!(Shown::of(&world, made.project.id).0.len(), shown.0.len());
    // Later it is gone on with: what was stopped stays so, and the rest comes.
    world.run(world.engine().demo()).unwrap();
    eventually("the rest of the demo comes", || {
        let shown = Shown::of(&world, made.project.id);
        (shown.0.len() == 7 && shown.attempt("translate").is_some()).then_some(())
    });
}
