//! Standing agents: a task of their own, outside the board.

use forge_engine::{ErrorKind, TaskChange};
use forge_model::{ProjectId, TaskStatus};

use crate::world::World;

#[test]
fn a_standing_agent_has_a_task_that_no_list_and_no_count_shows() {
    let world = World::new();
    let engine = world.engine();
    let agent = world.run(engine.create_standing_agent(world.project, " wish ")).unwrap();
    assert_eq!((agent.project, agent.kind.as_str()), (world.project, "wish"));
    let task = world.run(engine.task(agent.task)).unwrap().task;
    assert_eq!((task.title.as_str(), task.status), ("Genie", TaskStatus::Agent));
    // Even when somebody gives it another status.
    let moved = TaskChange { status: Some(TaskStatus::Todo), ..TaskChange::default() };
    for change in [TaskChange::default(), moved] {
        world.run(engine.update_task(agent.task, change)).unwrap();
        assert!(world.run(engine.tasks(world.project)).unwrap().is_empty());
        assert_eq!(world.run(engine.overview()).unwrap().tasks, 0);
    }
}

/// The contract: a second one of a kind was a 500, and the task made for it stayed behind.
#[test]
fn a_second_agent_of_a_kind_is_a_conflict_and_leaves_no_orphan_task() {
    let world = World::new();
    let engine = world.engine();
    let first = world.run(engine.create_standing_agent(world.project, "wish")).unwrap();
    let seq = world.run(engine.overview()).unwrap().seq;
    let refused = world.run(engine.create_standing_agent(world.project, "wish")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("wish"), "{refused}");
    assert_eq!(world.run(engine.overview()).unwrap().seq, seq, "nothing changed");
    assert_eq!(world.run(engine.standing_agents(world.project, None)).unwrap(), [first]);
}

#[test]
fn agents_of_a_kind_made_at_the_same_moment_are_one() {
    let world = World::new();
    let making: Vec<_> = (0..10)
        .map(|_| {
            let (engine, project) = (world.engine().clone(), world.project);
            world.spawn(async move { engine.create_standing_agent(project, "review").await })
        })
        .collect();
    let made = making.into_iter().map(|making| world.run(making).unwrap());
    assert_eq!(made.filter(Result::is_ok).count(), 1);
}

#[test]
fn a_project_may_have_many_chats_and_agents_are_found_by_kind() {
    let world = World::new();
    let engine = world.engine();
    for kind in ["genie_chat", "genie_chat", "forge"] {
        world.run(engine.create_standing_agent(world.project, kind)).unwrap();
    }
    let of_kind = |kind: &str| {
        let found = world.run(engine.standing_agents(world.project, Some(kind.to_string()))).unwrap();
        found.len()
    };
    assert_eq!((of_kind("genie_chat"), of_kind("forge"), of_kind("wish")), (2, 1, 0));
    assert!(world.run(engine.standing_agents(ProjectId::random(), None)).unwrap().is_empty());
}

#[test]
fn a_standing_agent_goes_with_its_task_and_with_its_project() {
    let world = World::new();
    let engine = world.engine();
    let wish = world.run(engine.create_standing_agent(world.project, "wish")).unwrap();
    world.run(engine.create_standing_agent(world.project, "forge")).unwrap();
    world.run(engine.delete_task(wish.task)).unwrap();
    let left = world.run(engine.standing_agents(world.project, None)).unwrap();
    assert_eq!(left.iter().map(|agent| agent.kind.as_str()).collect::<Vec<_>>(), ["forge"]);
    let again = world.run(engine.create_standing_agent(world.project, "wish")).unwrap();
    assert_ne!(again.task, wish.task);
    world.run(engine.delete_project(world.project)).unwrap();
    assert!(world.run(engine.standing_agents(world.project, None)).unwrap().is_empty());
}

#[test]
fn an_agent_without_a_kind_or_in_no_project_is_refused() {
    let world = World::new();
    let engine = world.engine();
    let blank = world.run(engine.create_standing_agent(world.project, "  ")).unwrap_err();
    assert_eq!(blank.to_string(), "`agent_type` must be a text that is not blank");
    let nowhere = world.run(engine.create_standing_agent(ProjectId::random(), "wish")).unwrap_err();
    assert_eq!(nowhere.kind(), ErrorKind::NotFound);
}
