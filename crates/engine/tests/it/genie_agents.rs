//! Agents that the files of a repository describe, started.

use forge_engine::{FollowUp, StartTask};
use forge_model::{AttemptState, ProfileId};

use crate::world::World;

fn write(world: &World, path: &str, text: &str) {
    let path = world.repository.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn wanted(world: &World, variant: &str) -> StartTask {
    let profile = ProfileId::new("SCRIPTED", Some(variant)).unwrap();
    StartTask { profile, ..world.wanted("say the task") }
}

#[test]
fn an_attempt_of_an_agent_file_is_told_what_the_file_says_on_every_turn() {
    let world = World::new();
    let text =
        "**Last Updated:** today\n\n---\nname: explore\ngenie:\n  executor: [scripted]\n---\nsay the file\n";
    write(&world, ".genie/code/agents/explore.md", text);
    let engine = world.engine();
    let files = world.run(engine.agent_files(world.project)).unwrap();
    assert_eq!(files.agents[0].profile.to_string(), "SCRIPTED:CODE_EXPLORE");
    assert_eq!(files.warnings, []);

    let started = world.run(engine.create_and_start(wanted(&world, "CODE_EXPLORE"), None)).unwrap();
    let output = world.output(started.run.unwrap().id);
    assert!(output.contains("the task") && output.contains("the file"), "{output}");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let follow = FollowUp::new("say more");
    let again = world.run(engine.follow_up(id, follow, None)).unwrap();
    let output = world.output(again.run.id);
    assert!(output.contains("more") && output.contains("the file"), "{output}");
}

#[test]
fn a_variant_that_no_file_describes_is_refused_with_those_that_files_do() {
    let world = World::new();
    write(&world, ".genie/agents/explore.md", "---\nexecutor: scripted\n---\nsay x\n");
    let error = world.run(world.engine().create_and_start(wanted(&world, "NOBODY"), None)).unwrap_err();
    assert!(error.to_string().contains("its variants are GENIE, EXPLORE"), "{error}");
}
