//! Settings and profiles as files that people edit too.

use forge_engine::{ConfigChange, ErrorKind, NewProfiles};
use forge_model::AttemptState;
use serde_json::{Value, json};

use crate::world::World;

fn change(key: &str, value: Value) -> ConfigChange {
    ConfigChange::new([(key.to_string(), value)].into_iter().collect()).unwrap()
}

#[test]
fn changes_at_the_same_moment_are_all_kept() {
    let world = World::new();
    let changes: Vec<_> = (0..20)
        .map(|number| {
            let engine = world.engine().clone();
            world.spawn(
                async move { engine.change_config(change(&format!("key{number}"), json!(number))).await },
            )
        })
        .collect();
    for change in changes {
        world.run(change).unwrap().unwrap();
    }
    let config = world.run(world.engine().config()).unwrap();
    for number in 0..20 {
        assert_eq!(config[format!("key{number}")], number);
    }
}

#[test]
fn settings_and_profiles_outlive_the_server() {
    let mut world = World::new();
    world.run(world.engine().change_config(change("theme", json!("DARK")))).unwrap();
    let content = world.run(world.engine().profiles_file()).unwrap().content;
    let mut edited: Value = serde_json::from_str(&content).unwrap();
    edited["executors"]["SCRIPTED"]["LOUD"] = json!({"SCRIPTED": {"append_prompt": "\nsay so"}});
    let new = NewProfiles::parse(&edited.to_string()).unwrap();
    world.run(world.engine().replace_profiles(new)).unwrap();
    world.restart();
    assert_eq!(world.run(world.engine().config()).unwrap()["theme"], "DARK");
    let content = world.run(world.engine().profiles_file()).unwrap().content;
    assert_eq!(serde_json::from_str::<Value>(&content).unwrap(), edited);
}

#[test]
fn a_change_that_is_never_renamed_into_place_leaves_the_settings_as_they_were() {
    let world = World::new();
    world.run(world.engine().change_config(change("theme", json!("DARK")))).unwrap();
    // What a server leaves that dies while it writes.
    std::fs::write(world.home.join("config.draft"), "{\"theme\":").unwrap();
    assert_eq!(world.run(world.engine().config()).unwrap()["theme"], "DARK");
    world.run(world.engine().change_config(change("theme", json!("LIGHT")))).unwrap();
    assert_eq!(world.run(world.engine().config()).unwrap()["theme"], "LIGHT");
    assert!(!world.home.join("config.draft").exists());
}

#[test]
fn a_run_is_looked_after_although_the_profiles_are_damaged_and_nothing_new_starts() {
    let mut world = World::new();
    let id = world.start("ask go on?\nsay done").attempt.attempt.id;
    world.wait_for_ask(id);
    world.crash();
    let path = world.home.join("profiles.json");
    std::fs::write(&path, "{").unwrap();
    world.reopen();
    let error = world.run(world.engine().create_and_start(world.wanted("say no"), None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert_eq!(world.made().0.len(), 1, "nothing was made for the start that was refused");
    let ask = world.wait_for_ask(id);
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{", "the file is left alone");
}
