//! Tags and templates over the API.

use forge_model::{ProjectId, TagId, TemplateId};
use serde_json::{Value, json};

use crate::world::{World, id};

fn texts(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_database_has_three_tags() {
    let world = World::new().await;
    let tags = world.get("/api/tags").data();
    assert_eq!(texts(&tags, "tag_name"), ["add_unit_tests", "bug_analysis", "code_refactoring"]);
    for tag in tags.as_array().unwrap() {
        let mut keys: Vec<_> = tag.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["content", "created_at", "id", "tag_name", "updated_at"]);
        assert_eq!(world.get(&format!("/api/tags/{}", id(tag))).data(), *tag);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_is_created_read_changed_and_deleted() {
    let world = World::new().await;
    let tag = world.post("/api/tags", &json!({"tag_name": " release ", "content": "  Tag it.\n"})).data();
    assert_eq!((&tag["tag_name"], &tag["content"]), (&json!("release"), &json!("  Tag it.\n")));
    let one = format!("/api/tags/{}", id(&tag));
    assert_eq!(world.get(&one).data(), tag);

    let changed = world.put(&one, &json!({"content": "Tag and push."})).data();
    assert_eq!(changed["tag_name"], "release", "an absent key keeps");
    assert_eq!(changed["content"], "Tag and push.");
    let changed = world.put(&one, &json!({"tag_name": "publish", "content": null})).data();
    assert_eq!((&changed["tag_name"], &changed["content"]), (&json!("publish"), &json!("Tag and push.")));

    assert!(world.send("DELETE", &one, &[], b"").data().is_null());
    assert_eq!(world.get(&one).status, 404);
    assert_eq!(world.get("/api/tags").data().as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_finds_any_part_of_a_name_whatever_its_case() {
    let world = World::new().await;
    world.post("/api/tags", &json!({"tag_name": "Übung_100%", "content": "x"})).data();
    let search = |text: &str| texts(&world.get(&format!("/api/tags?search={text}")).data(), "tag_name");
    assert_eq!(search("UNIT"), ["add_unit_tests"]);
    assert_eq!(search("_").len(), 4);
    assert_eq!(search("%C3%BCb"), ["Übung_100%"]);
    assert_eq!(search("%25"), ["Übung_100%"], "a sign of SQL is a sign like any other");
    assert!(search("nothing").is_empty());
    assert_eq!(search("").len(), 4, "an empty search finds all");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_with_blanks_in_its_name_or_without_content_is_refused_by_the_field() {
    let world = World::new().await;
    let one = format!("/api/tags/{}", id(&world.get("/api/tags").data()[0]));
    let cases = [
        (json!({"tag_name": "two words", "content": "x"}), "`tag_name` must not contain blanks"),
        (json!({"tag_name": "two\u{a0}words", "content": "x"}), "`tag_name` must not contain blanks"),
        (json!({"tag_name": " ", "content": "x"}), "`tag_name` must be a text that is not blank"),
        (json!({"tag_name": 7, "content": "x"}), "`tag_name` must be a text"),
        (json!({"tag_name": "x", "content": ""}), "`content` must be a text that is not blank"),
        (json!({"tag_name": "x", "content": "\n "}), "`content` must be a text that is not blank"),
        (json!({"tag_name": "x", "content": []}), "`content` must be a text"),
    ];
    for (body, told) in cases {
        for refusal in [world.post("/api/tags", &body).refusal(422), world.put(&one, &body).refusal(422)] {
            assert!(refusal.contains(told), "{body}: {refusal}");
        }
    }
    let missing = world.post("/api/tags", &json!({"content": "x"})).refusal(422);
    assert!(missing.contains("`tag_name`"), "{missing}");
    let missing = world.post("/api/tags", &json!({"tag_name": "x"})).refusal(422);
    assert!(missing.contains("`content`"), "{missing}");
    assert_eq!(world.get("/api/tags").data().as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_tags_and_templates_are_named_in_the_envelope() {
    let world = World::new().await;
    let (tag, template) = (TagId::random().to_string(), TemplateId::random().to_string());
    for (path, named) in
        [(format!("/api/tags/{tag}"), &tag), (format!("/api/templates/{template}"), &template)]
    {
        assert!(world.get(&path).refusal(404).contains(named));
        assert!(world.put(&path, &json!({"content": "x", "title": "x"})).refusal(404).contains(named));
        assert!(world.send("DELETE", &path, &[], b"").refusal(404).contains(named));
    }
    for path in ["/api/tags/banana", "/api/templates/banana"] {
        assert!(world.get(path).refusal(400).contains("\"banana\" is not an id"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_is_created_read_changed_and_deleted() {
    let world = World::new().await;
    let body = json!({"title": " Fix ", "description": "Now.", "template_name": "fix"});
    let template = world.post("/api/templates", &body).data();
    assert_eq!((&template["title"], &template["template_name"]), (&json!("Fix"), &json!("fix")));
    assert_eq!(template["description"], "Now.");
    assert!(template["project_id"].is_null());
    let one = format!("/api/templates/{}", id(&template));
    assert_eq!(world.get(&one).data(), template);

    let changed = world.put(&one, &json!({"title": "Repair"})).data();
    assert_eq!((&changed["title"], &changed["template_name"]), (&json!("Repair"), &json!("fix")));
    assert_eq!(changed["description"], "Now.");
    assert!(world.put(&one, &json!({"description": null})).data()["description"].is_null());
    let blank = world.put(&one, &json!({"title": " "})).refusal(422);
    assert_eq!(blank, "`title` must be a text that is not blank");

    assert!(world.send("DELETE", &one, &[], b"").data().is_null());
    assert_eq!(world.get(&one).status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_are_listed_for_every_project_for_one_or_all() {
    let world = World::new().await;
    let project = world.project();
    let create = |name: &str, project: Value| {
        let body = json!({"template_name": name, "title": name, "project_id": project});
        world.post("/api/templates", &body).data()
    };
    create("a", json!(project));
    create("c", Value::Null);
    create("b", Value::Null);
    let list = |query: &str| texts(&world.get(&format!("/api/templates{query}")).data(), "template_name");
    assert_eq!(list(""), ["b", "c", "a"]);
    assert_eq!(list("?global=true"), ["b", "c"]);
    assert_eq!(list(&format!("?project_id={project}")), ["a"]);
    assert_eq!(list(&format!("?projectId={project}")), ["a"], "the older spelling");
    assert_eq!(list(&format!("?global=false&projectId={project}")), ["a"]);
    assert!(list("?global=false").is_empty());
    assert!(list(&format!("?project_id={}", ProjectId::random())).is_empty());

    let both = world.get(&format!("/api/templates?global=true&project_id={project}")).refusal(422);
    assert!(both.contains("`global` and `project_id`"), "{both}");
    assert!(world.get("/api/templates?global=maybe").refusal(400).contains("`global`"));

    world.send("DELETE", &format!("/api/projects/{project}"), &[], b"").data();
    assert_eq!(list(""), ["b", "c"], "a project's templates go with it");
}

#[tokio::test(flavor = "multi_thread")]
async fn older_spellings_of_a_template_are_understood() {
    let world = World::new().await;
    let project = world.project();
    let plain = json!({"name": "Fix", "task_template": "Do it.", "projectId": project});
    let template = world.post("/api/templates", &plain).data();
    assert_eq!((&template["title"], &template["template_name"]), (&json!("Fix"), &json!("Fix")));
    assert_eq!((&template["description"], &template["project_id"]), (&json!("Do it."), &json!(project)));

    let nested = json!({"name": "fix", "task_template": {"title": "Fix it", "description": "Now."}});
    let template = world.post("/api/templates", &nested).data();
    assert_eq!((&template["title"], &template["template_name"]), (&json!("Fix it"), &json!("fix")));
    assert_eq!(template["description"], "Now.");

    let outer =
        json!({"name": "fix", "description": "Outside.", "task_template": {"description": "Inside."}});
    assert_eq!(world.post("/api/templates", &outer).data()["description"], "Outside.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_that_cannot_be_right_is_refused_by_the_field() {
    let world = World::new().await;
    let nobody = ProjectId::random();
    let cases = [
        (json!({}), 422, "`template_name` must be a text that is not blank".to_string()),
        (json!({"template_name": "x"}), 422, "`title` must be a text that is not blank".to_string()),
        (json!({"title": "x"}), 422, "`template_name` must be a text that is not blank".to_string()),
        (json!({"name": " "}), 422, "`template_name` must be a text that is not blank".to_string()),
        (json!({"name": "x", "description": 1}), 422, "`description` must be a text".to_string()),
        (json!({"name": "x", "task_template": {"title": 1}}), 422, "`task_template.title`".to_string()),
        (json!({"name": "x", "project_id": "banana"}), 422, "`project_id` must be an id".to_string()),
        (json!({"name": "x", "project_id": nobody}), 404, format!("there is no project {nobody}")),
    ];
    for (body, status, told) in cases {
        let refusal = world.post("/api/templates", &body).refusal(status);
        assert!(refusal.contains(&told), "{body}: {refusal}");
    }
    assert_eq!(world.get("/api/templates").data(), json!([]));
}
