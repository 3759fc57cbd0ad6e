//! Notices through a gateway that is a real server on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use forge_engine::{OmniKey, SettingsChange};
use forge_model::{AttemptState, Notice, NoticeStatus};
use serde_json::{Value, json};

use crate::world::{World, eventually};

/// A gateway that answers with the statuses it is given, the last one ever after, and keeps what it was sent.
struct Gateway {
    host: String,
    heard: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Gateway {
    fn new(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = heard.clone();
        // The thread ends with the process of the tests.
        std::thread::spawn(move || {
            for (count, stream) in listener.incoming().enumerate() {
                let status = statuses.get(count).or(statuses.last()).unwrap();
                answer(stream.unwrap(), *status, &kept);
            }
        });
        Self { host, heard }
    }

    fn heard(&self) -> Vec<(String, Value)> {
        self.heard.lock().unwrap().clone()
    }

    fn settings(&self) -> Value {
        json!({"omni_enabled": true, "omni_config": {
            "enabled": true, "host": self.host, "api_key": "hush", "instance": "main",
            "recipient": "+4930", "recipient_type": "PhoneNumber",
        }})
    }
}

fn answer(mut stream: TcpStream, status: u16, kept: &Mutex<Vec<(String, Value)>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap() == 0 {
            return;
        }
    }
    let length = head.to_lowercase().lines().find_map(|line| {
        line.strip_prefix("content-length:").map(|length| length.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    kept.lock().unwrap().push((head, serde_json::from_slice(&body).unwrap_or_default()));
    let list = r#"[{"name": "main", "status": "connected"}]"#;
    let length = list.len();
    let answer =
        format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{list}");
    stream.write_all(answer.as_bytes()).unwrap();
}

fn set(world: &World, value: Value) {
    let change = SettingsChange::new(value.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_general_settings(change)).unwrap();
}

fn notices(world: &World) -> Vec<Notice> {
    world.run(world.engine().notices()).unwrap()
}

/// Waits until there are so many notices and all are settled.
fn settled(world: &World, count: usize) -> Vec<Notice> {
    eventually("the notices are settled", || {
        let done = |all: &Vec<Notice>| all.iter().all(|notice| notice.status != NoticeStatus::Pending);
        Some(notices(world)).filter(|all| all.len() == count && done(all))
    })
}

#[test]
fn a_person_is_told_that_an_attempt_asks_and_that_it_has_finished() {
    let world = World::new();
    let gateway = Gateway::new(&[200]);
    set(&world, gateway.settings());
    let started = world.start("ask go on?\nsay done");
    let (id, task) = (started.attempt.attempt.id, started.task.task.id);
    let ask = world.wait_for_ask(id);
    let asked = settled(&world, 1);
    assert_eq!((asked[0].kind.as_str(), asked[0].status), ("asked", NoticeStatus::Sent));
    assert!(asked[0].sent_at.is_some() && asked[0].task == Some(task), "{asked:?}");
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "test")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(settled(&world, 2)[0].kind.as_str(), "finished");
    let heard = gateway.heard();
    assert_eq!(heard.len(), 2, "{heard:?}");
    for ((head, body), told) in heard.iter().zip(["a task asks: go on?\n", "a task is finished\n"]) {
        assert!(head.starts_with("POST /api/v1/instance/main/send-text "), "{head}");
        assert!(head.to_lowercase().contains("x-api-key: hush"), "{head}");
        assert_eq!(body["phone_number"], "+4930");
        let text = body["text"].as_str().unwrap();
        let project = world.project;
        let link = format!("\nhttps://forge.example.org/projects/{project}/tasks/{task}/attempts/{id}");
        assert!(text.starts_with(told) && text.ends_with(&link), "{text}");
    }
}

#[test]
fn a_gateway_that_is_away_fails_the_notice_and_not_the_attempt() {
    let world = World::new();
    let gateway = Gateway::new(&[503]);
    set(&world, gateway.settings());
    let id = world.start("say trouble\nexit 3").attempt.attempt.id;
    world.wait_for(id, AttemptState::Failed);
    let failed = settled(&world, 1);
    assert_eq!((failed[0].kind.as_str(), failed[0].status), ("failed", NoticeStatus::Failed));
    let error = failed[0].error.as_deref().unwrap();
    assert!(error.contains("answered 503") && !error.contains("hush"), "{error}");
    assert_eq!(gateway.heard().len(), 3, "it is tried three times");
    assert_eq!(failed[0].metadata["tries"], 3);
}

#[test]
fn a_notice_that_a_crash_left_behind_is_sent_by_the_next_server_once() {
    let mut world = World::new();
    let gateway = Gateway::new(&[503, 200]);
    set(&world, gateway.settings());
    let id = world.start("say done").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    eventually("it was tried in vain", || (gateway.heard().len() == 1).then_some(()));
    world.restart();
    assert_eq!(settled(&world, 1)[0].status, NoticeStatus::Sent);
    world.restart();
    assert_eq!(settled(&world, 1).len(), 1);
    assert_eq!(gateway.heard().len(), 2, "what was sent is not sent again");
}

#[test]
fn a_notice_that_cannot_be_counted_as_sent_is_not_sent_for_ever() {
    let world = World::new();
    let gateway = Gateway::new(&[200]);
    set(&world, gateway.settings());
    let db = rusqlite::Connection::open(world.home.join("forge.db")).unwrap();
    db.busy_timeout(crate::world::SOON).unwrap();
    db.execute_batch(
        "create trigger no_room before update on notices when new.status = 'sent'
         begin select raise(abort, 'no room'); end",
    )
    .unwrap();
    world.start("say done");
    let told = settled(&world, 1);
    assert_eq!(told[0].status, NoticeStatus::Failed);
    assert!(told[0].error.as_deref().unwrap().contains("could not be written down"), "{told:?}");
    assert_eq!(gateway.heard().len(), 3, "it is tried three times");
}

#[test]
fn settings_that_make_no_sense_fail_no_attempt() {
    let world = World::new();
    set(&world, json!({"omni_enabled": true}));
    let db = rusqlite::Connection::open(world.home.join("forge.db")).unwrap();
    db.busy_timeout(crate::world::SOON).unwrap();
    db.execute_batch("update settings set body = 'no JSON'").unwrap();
    let id = world.start("say done").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    // Where the settings are asked for it is said what is wrong with them, and of which project.
    let error = world.run(world.engine().general_settings()).unwrap_err();
    assert!(error.to_string().contains("are not JSON"), "{error}");
    assert!(notices(&world).is_empty(), "to whom would a notice go?");
    assert_eq!(world.run(world.engine().runs(id, true)).unwrap().len(), 1);
}

#[test]
fn a_refusal_is_not_tried_again_and_half_a_setup_is_named() {
    let world = World::new();
    let gateway = Gateway::new(&[401]);
    set(&world, gateway.settings());
    world.start("say done");
    assert!(settled(&world, 1)[0].error.as_deref().unwrap().contains("answered 401"));
    assert_eq!(gateway.heard().len(), 1);
    set(&world, json!({"omni_config": {"instance": null}}));
    world.start("say done");
    let told = settled(&world, 2)[0].error.clone();
    assert_eq!(told.as_deref(), Some("`omni_config.instance` is not set"));
}

#[test]
fn nobody_is_told_where_notices_are_off_or_what_they_stopped_themselves() {
    let world = World::new();
    let gateway = Gateway::new(&[200]);
    set(&world, gateway.settings());
    let id = world.start("hang").attempt.attempt.id;
    world.run(world.engine().stop_all()).unwrap();
    world.wait_for(id, AttemptState::Stopped);
    let off = json!({"omni_enabled": false});
    let off = SettingsChange::new(off.as_object().unwrap().clone()).unwrap();
    world.run(world.engine().change_project_settings(world.project, off)).unwrap();
    let id = world.start("say done").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    assert!(notices(&world).is_empty());
}

#[test]
fn a_removed_task_leaves_its_notices_without_it() {
    let world = World::new();
    let gateway = Gateway::new(&[200]);
    set(&world, gateway.settings());
    let started = world.start("say done");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    settled(&world, 1);
    world.run(world.engine().delete_task(started.task.task.id)).unwrap();
    assert_eq!(notices(&world)[0].task, None);
}

#[test]
fn an_address_and_a_key_can_be_tried_and_the_mask_means_the_stored_key_of_that_host_only() {
    let world = World::new();
    let (gateway, other) = (Gateway::new(&[200]), Gateway::new(&[200]));
    let status = world.run(world.engine().omni_status()).unwrap();
    assert!(!status.enabled && status.config.is_none());
    assert!(world.run(world.engine().omni_instances()).unwrap_err().to_string().contains("`host`"));
    set(&world, gateway.settings());
    let status = world.run(world.engine().omni_status()).unwrap();
    assert!(status.enabled && status.config.unwrap()["api_key"] == "********");
    assert_eq!(world.run(world.engine().omni_instances()).unwrap()[0].name, "main");
    let key = |host: &str| OmniKey { host: host.to_string(), key: "********".to_string() };
    assert_eq!(world.run(world.engine().try_omni(key(&gateway.host))).unwrap().len(), 1);
    assert!(gateway.heard().iter().all(|(head, _)| head.to_lowercase().contains("x-api-key: hush")));
    assert!(world.run(world.engine().try_omni(key(&other.host))).is_err());
    assert!(other.heard().is_empty(), "the key of one host is sent to no other");
}
