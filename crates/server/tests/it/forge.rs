//! What older clients find under `/api/forge`, and the sounds and the manifest beside it.

use serde_json::{Value, json};

use crate::world::{World, id};

const NOBODY: &str = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_laid_over_one_another_and_their_key_is_never_shown() {
    let world = World::new().await;
    let project = world.project();
    let own = format!("/api/forge/projects/{project}/settings");
    let defaults = json!({"omni_enabled": false, "omni_config": null});
    assert_eq!(world.get("/api/forge/config").data(), defaults);
    assert_eq!(world.get(&own).data(), defaults);
    let config = json!({
        "enabled": true, "host": "http://127.0.0.1:1", "api_key": "hush", "instance": "main",
        "recipient": "+4930", "recipient_type": "PhoneNumber",
    });
    let body = json!({"omni_enabled": true, "omni_config": config, "theirs": 1});
    let set = world.put("/api/forge/config", &body).data();
    assert_eq!((&set["omni_config"]["api_key"], &set["theirs"]), (&json!("********"), &json!(1)));
    assert_eq!(world.put("/api/forge/config", &set).data(), set);
    let changed =
        world.put(&own, &json!({"omni_config": {"recipient": "ada", "recipient_type": "UserId"}})).data();
    assert_eq!(changed["omni_config"]["recipient"], "ada");
    assert_eq!(changed["omni_config"]["host"], "http://127.0.0.1:1");
    assert_eq!(world.get(&own).data(), changed);
    let status = world.get("/api/forge/omni/status").json();
    assert_eq!(status, json!({"enabled": true, "config": set["omni_config"]}));
    for path in ["/api/forge/config", &own, "/api/forge/omni/status"] {
        assert!(!world.get(path).text.contains("hush"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_setting_is_named() {
    let world = World::new().await;
    let told = |body: Value| world.put("/api/forge/config", &body).refusal(422);
    assert_eq!(told(json!({"omni_enabled": "yes"})), "`omni_enabled` must be true or false");
    assert!(told(json!({"omni_config": {"host": "omni"}})).starts_with("`omni_config.host` must begin with"));
    assert!(told(json!({"omni_config": {"recipient_type": "x"}})).contains("PhoneNumber, UserId"));
}

/// The contract: reading the settings of an unknown project gave defaults, writing them a 500.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_project_has_no_settings_no_profiles_and_no_agents() {
    let world = World::new().await;
    let path = format!("/api/forge/projects/{NOBODY}/settings");
    assert!(world.get(&path).refusal(404).contains(NOBODY));
    assert!(world.put(&path, &json!({"omni_enabled": true})).refusal(404).contains(NOBODY));
    world.get(&format!("/api/forge/projects/{NOBODY}/profiles")).refusal(404);
    let agent = json!({"project_id": NOBODY, "agent_type": "wish"});
    world.post("/api/forge/agents", &agent).refusal(404);
}

/// The contract: a second agent of a kind was a 500, and its task stayed behind.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_agent_of_a_kind_is_a_conflict_and_agents_stand_on_no_board() {
    let world = World::new().await;
    let project = world.project();
    let body = json!({"project_id": project, "agent_type": "wish"});
    let agent = world.post("/api/forge/agents", &body).data();
    assert!(world.post("/api/forge/agents", &body).refusal(409).contains("wish"));
    let keys: Vec<_> = agent.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = ["id", "project_id", "agent_type", "task_id", "created_at", "updated_at"];
    wanted.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, wanted);
    let at = agent["created_at"].as_str().unwrap();
    assert!(at.len() == 19 && at.as_bytes()[10] == b' ', "{at}");
    let list = format!("/api/forge/agents?project_id={project}");
    assert_eq!(world.get(&list).data(), json!([agent]));
    assert_eq!(world.get(&format!("{list}&agent_type=forge")).data(), json!([]));
    assert_eq!(world.get(&format!("/api/tasks?project_id={project}")).data(), json!([]));
    let task = world.get(&format!("/api/tasks/{}", agent["task_id"].as_str().unwrap())).data();
    assert_eq!((&task["title"], &task["status"]), (&json!("Genie"), &json!("agent")));
    assert!(world.get("/api/forge/agents").refusal(400).contains("`project_id`"));
    assert!(
        world
            .post("/api/forge/agents", &json!({"project_id": project}))
            .refusal(422)
            .contains("`agent_type`")
    );
    assert!(
        world.post("/api/forge/agents", &json!({"agent_type": "x"})).refusal(422).contains("`project_id`")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_not_there_is_told_at_200() {
    let world = World::new().await;
    let instances = world.get("/api/forge/omni/instances").json();
    assert!(instances["instances"] == json!([]) && instances["error"].is_string(), "{instances}");
    let try_it =
        |host: &str| world.post("/api/forge/omni/validate", &json!({"host": host, "api_key": "hush"}));
    let tried = try_it("http://127.0.0.1:1").json();
    assert!(tried["valid"] == false && tried["instances"] == json!([]), "{tried}");
    assert!(!tried["error"].as_str().unwrap().contains("hush"), "{tried}");
    assert!(try_it("omni").refusal(422).starts_with("`host` must"));
    let missing = world.post("/api/forge/omni/validate", &json!({"host": "http://omni"})).refusal(422);
    assert!(missing.contains("`api_key`"), "{missing}");
    assert_eq!(world.get("/api/forge/omni/notifications").json(), json!({"notifications": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_became_of_a_notice_is_listed_with_dates_of_the_older_form() {
    let world = World::new().await;
    let project = world.project();
    // Nothing is called: the setup lacks an instance, which is what the notice says.
    let omni = json!({"host": "http://127.0.0.1:1", "api_key": "hush", "recipient": "ada"});
    world.put("/api/forge/config", &json!({"omni_enabled": true, "omni_config": omni})).data();
    let started = world.start(&project, "tell me", "say done");
    let listed = crate::world::eventually(|| {
        let listed = world.get("/api/forge/omni/notifications").json()["notifications"][0].clone();
        Some(listed).filter(|notice| notice["status"] == "failed")
    });
    assert_eq!(
        (&listed["task_id"], &listed["notification_type"]),
        (&json!(id(&started)), &json!("finished"))
    );
    assert!(listed["message"].as_str().unwrap().starts_with("tell me is finished"), "{listed}");
    assert_eq!(listed["error_message"], "`omni_config.instance` is not set");
    assert!(listed["sent_at"].is_null() && listed["created_at"].as_str().unwrap().len() == 19, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_come_from_our_own_changelog() {
    let world = World::new().await;
    let releases = world.get("/api/forge/releases").data();
    let newest = &releases[0];
    assert_eq!(newest["tag_name"], format!("v{}", env!("CARGO_PKG_VERSION")));
    assert!(newest["body"].as_str().unwrap().contains("forge serve"), "{newest}");
    assert_eq!(newest["html_url"], "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_shows_the_agents_of_its_own_files_beside_the_built_in_ones() {
    let world = World::new().await;
    let project = world.project();
    let repository = world.get(&format!("/api/projects/{project}")).data()["git_repo_path"].clone();
    let agents = std::path::Path::new(repository.as_str().unwrap()).join(".genie/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("deep-check.md"), "---\ngenie:\n  executor: scripted\n---\nLook twice.\n")
        .unwrap();
    std::fs::write(agents.join("genie.md"), "---\nexecutor: scripted\n---\nover the built-in one\n").unwrap();
    let executors = world.get(&format!("/api/forge/projects/{project}/profiles")).data()["executors"].clone();
    assert!(executors["CLAUDE_CODE"]["PLAN"].is_object());
    assert_eq!(executors["SCRIPTED"]["DEEP_CHECK"]["SCRIPTED"]["append_prompt"], "\n\nLook twice.");
    let all = world.get("/api/info").data()["executors"].clone();
    assert_eq!(executors["SCRIPTED"]["GENIE"], all["SCRIPTED"]["GENIE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sound_of_the_settings_is_a_file_that_browsers_may_keep() {
    let world = World::new().await;
    for sound in ["ABSTRACT_SOUND1", "ABSTRACT_SOUND4", "GENIE_NOTIFY1", "GENIE_NOTIFY2", "PHONE_VIBRATION"] {
        let answer = world.get(&format!("/api/sounds/{sound}"));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("audio/wav")), "{sound}");
        assert!(answer.header("cache-control").unwrap().contains("max-age"), "{sound}");
        assert!(answer.text.starts_with("RIFF"), "{sound}");
    }
    let unknown = world.get("/api/sounds/COW_MOO").refusal(404);
    assert!(unknown.contains("COW_MOO") && unknown.contains("GENIE_NOTIFY1"), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_says_whether_a_token_is_needed_and_describes_its_page() {
    let world = World::new().await;
    assert_eq!(world.get("/api/forge/auth-required").json(), json!({"auth_required": false}));
    let manifest = world.get("/site.webmanifest");
    assert_eq!(manifest.header("content-type"), Some("application/manifest+json"));
    assert_eq!(manifest.json()["name"], "Forge");
    let health = world.get("/health").json();
    assert_eq!((&health["status"], &health["service"]), (&json!("ok"), &json!("forge-app")));
    assert!(health["version"].is_string() && health["message"].is_string(), "{health}");
}
