//! Projects over the API.

use serde_json::json;

use crate::world::{World, git, id};

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_created_read_changed_and_forgotten() {
    let world = World::new().await;
    let path = world.repository("repository");
    let body =
        json!({"name": " demo ", "git_repo_path": path, "use_existing_repo": true, "setup_script": "true"});
    let project = world.post("/api/projects", &body).data();
    assert_eq!(project["name"], "demo");
    assert_eq!(project["git_repo_path"], path.to_str().unwrap());
    assert_eq!(project["setup_script"], "true");
    assert!(project["dev_script"].is_null());

    let one = format!("/api/projects/{}", id(&project));
    assert_eq!(world.get(&one).data(), project);
    assert_eq!(world.get("/api/projects").data(), json!([project]));

    let changed = world.put(&one, &json!({"default_base_branch": "main", "dev_script": "make"})).data();
    assert_eq!(changed["setup_script"], "true", "an absent key keeps");
    assert_eq!(changed["dev_script"], "make");
    assert_eq!(changed["default_base_branch"], "main");
    let cleared = world.put(&one, &json!({"setup_script": null, "name": "other"})).data();
    assert!(cleared["setup_script"].is_null(), "null clears");
    assert_eq!(cleared["dev_script"], "make");
    assert_eq!(cleared["name"], "other");

    assert!(world.send("DELETE", &one, &[], b"").data().is_null());
    assert_eq!(world.get(&one).status, 404);
    assert!(path.join("README.md").is_file(), "the repository stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_cannot_be_a_project_is_told_with_200() {
    let world = World::new().await;
    let path = world.repository("repository");
    let create = |path: &str| json!({"name": "x", "git_repo_path": path, "use_existing_repo": true});
    let plain = path.parent().unwrap().join("plain");
    std::fs::create_dir(&plain).unwrap();
    let file = path.join("README.md");
    for wrong in ["/no/such/path", plain.to_str().unwrap(), file.to_str().unwrap(), "relative"] {
        let told = world.post("/api/projects", &create(wrong)).refusal(200);
        assert!(!told.is_empty(), "{wrong}");
    }
    world.post("/api/projects", &create(path.to_str().unwrap())).data();
    let told = world.post("/api/projects", &create(path.to_str().unwrap())).refusal(200);
    assert!(told.contains("already exists"), "{told}");
    assert_eq!(world.get("/api/projects").data().as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn older_names_are_understood() {
    let world = World::new().await;
    let path = world.repository("repository");
    let project = world.post("/api/projects", &json!({"name": "demo", "repo_path": path})).data();
    assert_eq!(project["git_repo_path"], path.to_str().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_made_when_that_is_asked_for() {
    let world = World::new().await;
    let path = world.repository("repository").parent().unwrap().join("new");
    let body = json!({"name": "new", "git_repo_path": path, "use_existing_repo": false});
    let project = world.post("/api/projects", &body).data();
    assert_eq!(project["git_repo_path"], path.to_str().unwrap());
    assert!(!git(&path, &["rev-parse", "HEAD"]).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn branches_are_listed_with_the_current_one_first() {
    let world = World::new().await;
    let project = world.project();
    let path = world.get(&format!("/api/projects/{project}")).data()["git_repo_path"].clone();
    git(path.as_str().unwrap().as_ref(), &["branch", "other"]);
    let branches = world.get(&format!("/api/projects/{project}/branches")).data();
    assert_eq!(branches[0]["name"], "main");
    assert_eq!(branches[0]["is_current"], true);
    assert_eq!(branches[1]["name"], "other");
    assert_eq!(branches[1]["is_remote"], false);
    assert!(branches[1]["last_commit_date"].as_str().unwrap().ends_with('Z'));
}
