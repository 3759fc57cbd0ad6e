//! General settings, and those of a project laid over them.

use forge_engine::{Engine, ErrorKind, NewProject, SettingsChange};
use forge_model::ProjectId;
use serde_json::{Value, json};

use crate::world::{World, make_repository};

fn change(value: Value) -> SettingsChange {
    SettingsChange::new(value.as_object().unwrap().clone()).unwrap()
}

fn set_general(world: &World, value: Value) -> Value {
    world.run(world.engine().change_general_settings(change(value))).unwrap()
}

fn set_own(world: &World, value: Value) -> Value {
    world.run(world.engine().change_project_settings(world.project, change(value))).unwrap()
}

#[test]
fn settings_nobody_has_set_are_the_defaults() {
    let world = World::new();
    let defaults = json!({"omni_enabled": false, "omni_config": null});
    assert_eq!(world.run(world.engine().general_settings()).unwrap(), defaults);
    assert_eq!(world.run(world.engine().project_settings(world.project)).unwrap(), defaults);
}

#[test]
fn a_key_is_masked_in_every_answer_and_the_mask_keeps_it() {
    let mut world = World::new();
    let set = set_general(
        &world,
        json!({"omni_enabled": true, "omni_config": {"enabled": true, "host": "http://omni", "api_key": "hush"}}),
    );
    assert_eq!(set["omni_config"]["api_key"], "********");
    // The whole object comes back as it was shown, which is what clients do.
    let again = set_general(&world, set.clone());
    assert_eq!(again, set);
    let own = world.run(world.engine().project_settings(world.project)).unwrap();
    assert_eq!(own, set, "a project without settings of its own has the general ones");
    assert_eq!(set_own(&world, own.clone()), own);
    world.restart();
    assert_eq!(world.run(world.engine().general_settings()).unwrap(), set);
    let cleared = set_general(&world, json!({"omni_config": {"api_key": null}}));
    assert_eq!(cleared["omni_config"]["api_key"], Value::Null);
    assert_eq!(cleared["omni_config"]["host"], "http://omni");
}

#[test]
fn settings_of_a_project_lie_over_the_general_ones_key_by_key() {
    let world = World::new();
    set_general(
        &world,
        json!({"omni_enabled": true, "omni_config": {"host": "http://omni", "instance": "main", "api_key": "k"}}),
    );
    let own = set_own(&world, json!({"omni_config": {"recipient": "ada", "instance": null}}));
    let omni = &own["omni_config"];
    assert_eq!(
        (&omni["host"], &omni["instance"], &omni["recipient"]),
        (&json!("http://omni"), &json!("main"), &json!("ada"))
    );
    assert_eq!(own["omni_enabled"], true);
    assert_eq!(set_own(&world, json!({"omni_enabled": false}))["omni_enabled"], false);
    assert_eq!(world.run(world.engine().general_settings()).unwrap()["omni_enabled"], true);
}

#[test]
fn a_general_key_does_not_follow_a_project_to_another_host() {
    let world = World::new();
    set_general(&world, json!({"omni_config": {"host": "http://omni", "api_key": "hush"}}));
    let own = set_own(&world, json!({"omni_config": {"host": "http://elsewhere"}}));
    assert_eq!(own["omni_config"]["api_key"], Value::Null);
    let own = set_own(&world, json!({"omni_config": {"api_key": "its own"}}));
    assert_eq!(own["omni_config"]["api_key"], "********");
}

#[test]
fn a_key_is_not_sent_to_another_host_than_it_was_given_for() {
    let world = World::new();
    let first = json!({"omni_config": {"host": "http://omni", "api_key": "hush"}});
    let key = |set: Value| set["omni_config"]["api_key"].clone();
    set_general(&world, first.clone());
    let elsewhere = json!({"omni_config": {"host": "http://elsewhere", "api_key": "********"}});
    assert_eq!(key(set_general(&world, elsewhere)), Value::Null);
    set_general(&world, first.clone());
    assert_eq!(key(set_general(&world, json!({"omni_config": {"host": "http://else"}}))), Value::Null);
    let both = json!({"omni_config": {"host": "http://new", "api_key": "new"}});
    assert_eq!(key(set_general(&world, both)), "********");
    assert_eq!(key(set_own(&world, first)), "********");
    assert_eq!(key(set_own(&world, json!({"omni_config": {"host": "http://else"}}))), Value::Null);
}

#[test]
fn keys_that_this_forge_does_not_know_survive() {
    let world = World::new();
    set_general(&world, json!({"later": {"a": 1}, "omni_config": {"colour": "red"}}));
    let own = set_own(&world, json!({"omni_enabled": true, "theirs": [1]}));
    assert_eq!((&own["later"], &own["theirs"]), (&json!({"a": 1}), &json!([1])));
    assert_eq!(own["omni_config"]["colour"], "red");
}

#[test]
fn a_wrong_setting_is_named_and_nothing_is_changed() {
    let cases = [
        (json!({"omni_enabled": "yes"}), "`omni_enabled` must be true or false"),
        (json!({"omni_config": 1}), "`omni_config` must be an object or null"),
        (json!({"omni_config": {"enabled": 1}}), "`omni_config.enabled` must be true or false"),
        (json!({"omni_config": {"host": 1}}), "`omni_config.host` must be a text or null"),
        (json!({"omni_config": {"host": "omni"}}), "`omni_config.host` must begin with http:// or https://"),
        (json!({"omni_config": {"api_key": []}}), "`omni_config.api_key` must be a text or null"),
        (
            json!({"omni_config": {"recipient_type": "Pigeon"}}),
            "`omni_config.recipient_type` must be one of PhoneNumber, UserId, or null",
        ),
    ];
    for (value, told) in cases {
        let error = SettingsChange::new(value.as_object().unwrap().clone()).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Invalid, told));
    }
}

/// The contract: reading gave defaults, writing a 500.
#[test]
fn settings_of_an_unknown_project_are_not_found_and_not_made() {
    let world = World::new();
    let (engine, id) = (world.engine(), ProjectId::random());
    assert_eq!(world.run(engine.project_settings(id)).unwrap_err().kind(), ErrorKind::NotFound);
    let refused = world.run(engine.change_project_settings(id, change(json!({"omni_enabled": true}))));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_removed_project_takes_its_settings_along() {
    let world = World::new();
    set_own(&world, json!({"omni_enabled": true}));
    let add = async |engine: &Engine, path| {
        let new = NewProject { name: "again".into(), path, ..NewProject::default() };
        engine.create_project(new).await.unwrap().id
    };
    world.run(world.engine().delete_project(world.project)).unwrap();
    let gone = world.run(world.engine().project_settings(world.project)).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    let other = world.run(add(world.engine(), make_repository(&world.dir.path().join("other"))));
    assert_eq!(world.run(world.engine().project_settings(other)).unwrap()["omni_enabled"], false);
}
