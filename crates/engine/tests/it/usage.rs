//! What agents use is counted by turn, and every sum comes to the same.

use forge_engine::{FollowUp, UsageBy, UsageOf, UsageSum};
use forge_model::{AttemptState, Usage};

use crate::world::World;

fn sums(world: &World, of: UsageOf) -> Vec<UsageSum> {
    world.run(world.engine().usage(of)).unwrap()
}

fn used(input: i64, output: i64, cached: i64, cost: i64) -> Usage {
    Usage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cache_creation_tokens: None,
        cache_read_tokens: Some(cached),
        cost_micros: Some(cost),
    }
}

#[test]
fn turns_runs_attempts_tasks_projects_agents_and_days_come_to_the_same() {
    let mut world = World::new();
    let first = world.start("use 100 10 5 1000\nuse 1 1 1 1\nask wait");
    let (id, task) = (first.attempt.attempt.id, first.task.task.id);
    // A second turn in the same process, a third in another, and another attempt beside them.
    let ask = world.wait_for_ask(id);
    let more = |prompt: &str| FollowUp::new(prompt);
    world.run(world.engine().follow_up(id, more("use 200 20 0 2000"), None)).unwrap();
    world.run(world.engine().answer(ask.id, forge_model::Answer::words("go"), "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    world.run(world.engine().follow_up(id, more("use 400 40 0 4000"), None)).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let other = world.start("use 1000 100 0 0");
    world.wait_for(other.attempt.attempt.id, AttemptState::Finished);

    let of_attempt = UsageOf { attempt: Some(id), ..UsageOf::default() };
    let turns = sums(&world, UsageOf { by: UsageBy::Turn, ..of_attempt });
    let by_turn: Vec<_> = turns.iter().map(|sum| sum.usage).collect();
    assert_eq!(by_turn, [used(101, 11, 6, 1001), used(200, 20, 0, 2000), used(400, 40, 0, 4000)]);

    let attempt = used(701, 71, 6, 7001);
    assert_eq!(world.attempt(id).attempt.usage, attempt);
    let by_attempt = sums(&world, UsageOf { by: UsageBy::Attempt, ..of_attempt });
    assert_eq!((by_attempt[0].usage, by_attempt[0].turns), (attempt, 3));
    let of_task = UsageOf { task: Some(task), by: UsageBy::Task, ..UsageOf::default() };
    assert_eq!(sums(&world, of_task)[0].usage, attempt);

    let all = used(1701, 171, 6, 7001);
    for by in [UsageBy::Project, UsageBy::Agent] {
        let of = UsageOf { project: Some(world.project), by, ..UsageOf::default() };
        let sums = sums(&world, of);
        assert_eq!((sums.len(), sums[0].usage, sums[0].turns), (1, all, 4), "{by:?}");
    }
    // The turns may lie on both sides of a midnight.
    let days = sums(&world, UsageOf::default());
    assert_eq!(days.iter().filter_map(|day| day.usage.input_tokens).sum::<i64>(), 1701);
    assert!(days.iter().all(|day| day.key.len() == 10 && day.key.starts_with("20")), "{days:?}");

    // Folding the logs again tells nothing twice, and what was spent stays spent.
    world.restart();
    world.run(world.engine().delete_task(other.task.task.id)).unwrap();
    let of = UsageOf { project: Some(world.project), by: UsageBy::Project, ..UsageOf::default() };
    assert_eq!(sums(&world, of)[0].usage, all);
}
