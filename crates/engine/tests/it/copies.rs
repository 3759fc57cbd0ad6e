//! An engine on a copy of a data directory: every verb that could reach a process, a worktree or a reference of the
//! original is refused before it does anything.

use std::process::Command;

use forge_engine::{Engine, Error, Land, RebaseRequest};
use forge_model::AttemptState;

use crate::world::{World, eventually, marked, options};

#[test]
fn no_verb_of_a_copy_reaches_the_original() {
    let world = World::new();
    let busy = world.start("edit busy.txt unsaved\nask which?");
    let rested = world.start("edit rested.txt committed");
    world.wait_for(busy.attempt.attempt.id, AttemptState::Waiting);
    world.wait_until_told(rested.attempt.attempt.id);
    let copy = world.dir.path().join("copy");
    assert!(Command::new("cp").arg("-a").arg(&world.home).arg(&copy).status().unwrap().success());
    let refs = || world.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    let (before, agents) = (refs(), marked(busy.run.id));
    assert!(!agents.is_empty());

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let engine = runtime.block_on(Engine::open(options(&copy, ""))).unwrap();
    let (busy_id, rested_id) = (busy.attempt.attempt.id, rested.attempt.attempt.id);
    let shown = runtime.block_on(engine.attempt(busy_id)).unwrap().attempt;
    assert_eq!(shown.state, AttemptState::Waiting);
    assert!(shown.reason.unwrap().contains(world.home.to_str().unwrap()));
    let refused: [Option<Error>; 9] = runtime.block_on(async {
        [
            engine.delete_task(busy.task.task.id).await.err(),
            engine.delete_task(rested.task.task.id).await.err(),
            engine.delete_project(world.project).await.err(),
            engine.stop_attempt(busy_id).await.err(),
            engine.stop_all().await.err(),
            engine.land(rested_id, Land::default()).await.err(),
            engine.rebase(rested_id, RebaseRequest::default()).await.err(),
            engine.gc(false).await.err(),
            engine.create_and_start(world.wanted("say hi"), None).await.err(),
        ]
    });
    for (index, error) in refused.iter().enumerate() {
        let code = error.as_ref().map(|error| error.code());
        assert_eq!(code, Some(Some("copy")), "{index}: {error:?}");
    }
    assert!(!runtime.block_on(engine.copy_database_daily()).unwrap());
    runtime.block_on(engine.close());
    drop(engine);
    runtime.shutdown_timeout(crate::world::SOON);

    assert_eq!(refs(), before);
    assert_eq!(marked(busy.run.id), agents, "the agent and what it started run on");
    for (attempt, file) in [(&busy, "busy.txt"), (&rested, "rested.txt")] {
        assert!(attempt.attempt.attempt.worktree.join(file).exists(), "{file}");
    }
    let ask = world.wait_for_ask(busy_id);
    assert_eq!(ask.attempt, busy_id);
    eventually("the original goes on", || world.run(world.engine().stop_attempt(busy_id)).ok());
}
