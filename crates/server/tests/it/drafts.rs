//! Drafts and the queue over the API, as older clients and newer ones call them.

use serde_json::json;

use crate::images::upload;
use crate::world::{World, eventually, id};

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_kept_versioned_queued_and_emptied_when_it_is_sent() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Fix it", "say done")["attempt"]);
    world.wait_for(&attempt, "finished");
    let path = format!("/api/task-attempts/{attempt}/draft?type=follow_up");
    let empty = world.get(&path).data();
    let expected = json!({
        "task_attempt_id": attempt, "draft_type": "follow_up", "retry_process_id": null, "prompt": "",
        "queued": false, "variant": null, "image_ids": null, "version": 0, "sending": false,
    });
    assert_eq!(empty, expected);
    let nobody = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
    let told = world.put(&path, &json!({"prompt": "say more", "image_ids": [nobody]})).refusal(422);
    assert_eq!(told, format!("`image_ids` names no image: {nobody}"));
    let image = id(&upload(&world, "/api/images/upload", "image", "a.gif", b"GIF89a dot").data());
    let saved = world.put(&path, &json!({"prompt": "say more", "image_ids": [image], "version": 0})).data();
    assert_eq!((&saved["version"], &saved["image_ids"]), (&json!(1), &json!([image])));
    let late = world.put(&path, &json!({"prompt": "say less", "version": 0})).refusal(409);
    assert_eq!(late, "Draft changed, please retry with latest");
    // POST is PUT, and null keeps.
    let kept = world.post(&path, &json!({"prompt": null, "image_ids": []})).data();
    assert_eq!((&kept["prompt"], &kept["version"]), (&json!("say more"), &json!(2)));
    let queue = format!("/api/task-attempts/{attempt}/draft/queue?type=follow_up");
    let stale = world.post(&queue, &json!({"queued": true, "expected_version": 1})).refusal(409);
    assert_eq!(stale, "Draft changed, please refresh and try again");
    let sent = world.post(&queue, &json!({"queued": true, "expected_version": 2})).data();
    assert_eq!((&sent["prompt"], &sent["queued"]), (&json!(""), &json!(false)));
    eventually(|| (world.attempt(&attempt)["state"] == "finished").then_some(()));
    assert_eq!(world.run_of(&attempt)["executor_action"]["typ"]["prompt"], "say more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_draft_is_refused_to_editors_and_can_be_taken_out_again() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Fix it", "hang")["attempt"]);
    // An unknown type is a follow-up, and the older body saves first.
    let queue = format!("/api/task-attempts/{attempt}/draft/queue?type=IMPLEMENTATION");
    assert_eq!(world.post(&queue, &json!({"execute": true})).refusal(409), "No draft to queue");
    let queued = world.post(&queue, &json!({"execute": true, "prompt": "say later"})).data();
    assert_eq!((&queued["queued"], &queued["prompt"]), (&json!(true), &json!("say later")));
    let path = format!("/api/task-attempts/{attempt}/draft?type=follow_up");
    let told = world.put(&path, &json!({"prompt": "x"})).refusal(409);
    assert_eq!(told, "Draft is queued; click Edit to unqueue before editing");
    let listed = world.get(&format!("/api/task-attempts/{attempt}/queue")).data();
    assert_eq!((&listed[0]["prompt"], &listed[0]["position"]), (&json!("say later"), &json!(0)));
    assert_eq!(listed[0]["state"], "queued");
    let item = format!("/api/task-attempts/{attempt}/queue/{}", id(&listed[0]));
    let changed = world.put(&item, &json!({"prompt": "say sooner", "position": 0})).data();
    assert_eq!(changed[0]["prompt"], "say sooner");
    assert!(world.put(&item, &json!({"position": -1})).refusal(422).starts_with("`position`"));
    assert_eq!(world.call("DELETE", &item, &[], None).data(), json!([]));
    world.call("DELETE", &item, &[], None).refusal(404);
    let draft = world.get(&path).data();
    assert_eq!((&draft["queued"], &draft["prompt"]), (&json!(false), &json!("say sooner")));
    let out = world.post(&queue, &json!({"queued": false, "expected_queued": true})).refusal(409);
    assert_eq!(out, "Draft changed, please refresh and try again");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_about_drafts_are_told_by_the_name_of_the_field() {
    let world = World::new().await;
    let project = world.project();
    let attempt = id(&world.start(&project, "Fix it", "hang")["attempt"]);
    let at = |rest: &str| format!("/api/task-attempts/{attempt}/draft{rest}");
    assert!(world.get(&at("")).refusal(400).contains("`type` is missing"));
    for (body, told) in [
        (json!({"prompt": 1}), "`prompt`"),
        (json!({"version": "1"}), "`version`"),
        (json!({"image_ids": ["x"]}), "`image_ids`"),
    ] {
        let refusal = world.put(&at("?type=follow_up"), &body).refusal(422);
        assert!(refusal.starts_with(told), "{refusal}");
    }
    let refusal = world.put(&at("?type=retry"), &json!({"prompt": "x"})).refusal(422);
    assert!(refusal.starts_with("`retry_process_id`"), "{refusal}");
    let run = id(&world.run_of(&attempt));
    let retry = world.put(&at("?type=retry"), &json!({"prompt": "x", "retry_process_id": run})).data();
    assert_eq!(retry["retry_process_id"], json!(run));
    world.call("DELETE", &at("?type=retry"), &[], None).data();
    let refusal = world.call("DELETE", &at("?type=follow_up"), &[], None).refusal(422);
    assert!(refusal.contains("Cannot delete follow-up draft; unqueue or edit instead"), "{refusal}");
    let refusal = world.post(&at("/queue?type=retry"), &json!({"queued": true})).refusal(422);
    assert!(refusal.starts_with("`type`"), "{refusal}");
    let refusal = world.post(&at("/queue?type=follow_up"), &json!({})).refusal(422);
    assert!(refusal.starts_with("`queued`"), "{refusal}");
    let nobody = "/api/task-attempts/6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c/draft?type=follow_up";
    world.get(nobody).refusal(404);
}
