//! A wall clock that is set by years ends nothing that has had less than its time.

use forge_engine::Key;
use forge_model::AttemptState;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::world::{World, eventually};

const DAY: i64 = 24 * 60 * 60 * 1000;
const YEARS: i64 = 3650 * DAY;

fn ages(db: &Connection) -> Option<Value> {
    let body =
        db.query_row("select body from settings where scope = 'ages'", [], |row| row.get::<_, String>(0));
    Some(serde_json::from_str(&body.ok()?).unwrap())
}

#[test]
fn a_clock_that_has_jumped_by_years_ends_no_key() {
    let mut world = World::new();
    let key = Key { key: "once".into(), fingerprint: "the same".into() };
    let wanted = world.wanted("say done");
    let first = world.run(world.engine().create_and_start(wanted.clone(), Some(key.clone()))).unwrap();
    world.wait_for(first.attempt.attempt.id, AttemptState::Finished);
    let db = Connection::open(world.home.join("forge.db")).unwrap();
    eventually("the clocks were read", || ages(&db));
    world.crash();

    // Everything that was written down so far was ten years ago by the wall clock, and moments ago by the other one.
    let mut read = ages(&db).unwrap();
    let back = |value: &mut Value| *value = (value.as_i64().unwrap() - YEARS).into();
    back(&mut read["last"]["wall"]);
    for stretch in read["stretches"].as_array_mut().unwrap() {
        for key in ["from", "to", "ahead"] {
            back(&mut stretch[key]);
        }
    }
    db.execute("update settings set body = ?1 where scope = 'ages'", [read.to_string()]).unwrap();
    db.execute("update calls set created_at = created_at - ?1", [YEARS]).unwrap();
    db.execute(
        "insert into calls select 'old', fingerprint, attempt_id, run_id, delivered, created_at - ?1 from calls",
        params![3 * DAY],
    )
    .unwrap();

    world.reopen();
    let known = |key: &str| {
        let count =
            db.query_row("select count(*) from calls where key = ?1", [key], |row| row.get::<_, i64>(0));
        count.unwrap() == 1
    };
    eventually("what has had its time is forgotten", || (!known("old")).then_some(()));
    assert!(known("once"), "a day has not passed since");
    let again = world.run(world.engine().create_and_start(wanted, Some(key))).unwrap();
    assert_eq!(again.attempt.attempt.id, first.attempt.attempt.id);
    assert_eq!(ages(&db).unwrap()["stretches"].as_array().unwrap().len(), 2);
}
