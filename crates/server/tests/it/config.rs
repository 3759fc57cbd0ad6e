//! Settings and profiles over the API.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::world::{World, git};

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_begin_with_the_defaults_and_nothing_is_written_for_that() {
    let world = World::new().await;
    let config = world.get("/api/config").data();
    let expected = json!({
        "config_version": "v7", "theme": "SYSTEM", "executor_profile": {"executor": "CLAUDE_CODE"},
        "disclaimer_acknowledged": false, "onboarding_acknowledged": false,
        "github_login_acknowledged": false, "telemetry_acknowledged": false,
        "notifications": {"sound_enabled": true, "push_enabled": true, "sound_file": "GENIE_NOTIFY1"},
        "editor": {"editor_type": "VS_CODE", "custom_command": null, "remote_ssh_host": null, "remote_ssh_user": null},
        "github": {"pat": null, "oauth_token": null, "username": null, "primary_email": null, "default_pr_base": "main"},
        "analytics_enabled": null, "contact_email_opt_in": null, "contact_username_opt_in": null,
        "workspace_dir": null, "last_app_version": env!("CARGO_PKG_VERSION"), "show_release_notes": false,
        "language": "BROWSER", "git_branch_prefix": "forge", "showcases": {"seen_features": []},
        "limits": {"max_running": null, "max_running_per_project": null, "min_free_mb": 1024},
        "scripts": {"setup_seconds": 1800, "cleanup_seconds": 1800},
        "dev_ports": {"first": 20000, "last": 29999},
        "snapshots": {"file_mb": 50, "keep_days": 30, "keep_mb": 5000},
        "runs": {"keep_days": 90, "keep_mb": 20000},
        "removed": {"keep_days": 90},
        "worktrees": {"expire_after_hours": 72, "tidy_after_hours": 1},
        "worktree_pool": {"ready": 2, "from_files": 50, "disk_mb": 4096},
        "agents": {
            "resume_when_limited": false, "stalled_after_seconds": 600, "stalled_in_tool_after_seconds": 1800,
        },
    });
    assert_eq!(config, expected);
    assert!(!world.engine.home().join("config.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_the_settings_is_laid_over_the_rest_and_the_whole_is_taken_too() {
    let world = World::new().await;
    let part = json!({"theme": "DARK", "editor": {"editor_type": "ZED"}, "future": {"a": 1}});
    let config = world.put("/api/config", &part).data();
    assert_eq!(config["theme"], "DARK");
    assert_eq!(config["editor"]["editor_type"], "ZED");
    assert!(config["editor"]["custom_command"].is_null());
    assert_eq!(config["language"], "BROWSER");
    assert_eq!(config["future"], json!({"a": 1}), "an unknown key is kept");
    assert_eq!(world.put("/api/config", &config).data(), config);
    assert_eq!(world.get("/api/config").data(), config);
    let path = world.engine.home().join("config.json");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_in_the_settings_is_replaced_as_a_whole() {
    let world = World::new().await;
    let set = |profile: Value| {
        world.put("/api/config", &json!({"executor_profile": profile})).data()["executor_profile"].clone()
    };
    let plan = json!({"executor": "CLAUDE_CODE", "variant": "PLAN"});
    assert_eq!(set(json!({"profile": "claude-code", "variant": "plan"})), plan);
    assert_eq!(set(json!("scripted")), json!({"executor": "SCRIPTED"}));
    assert_eq!(
        set(json!({"executor": "CLAUDE_CODE", "variant": "DEFAULT"})),
        json!({"executor": "CLAUDE_CODE"})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_stored_shown_as_a_mask_and_kept_when_the_mask_comes_back() {
    let world = World::new().await;
    let config =
        world.put("/api/config", &json!({"github": {"pat": "ghp_planted", "username": "ada"}})).data();
    assert_eq!(config["github"]["pat"], "********");
    assert!(config["github"]["oauth_token"].is_null());
    world.put("/api/config", &config).data();
    for path in ["/api/config", "/api/info"] {
        assert!(!world.get(path).text.contains("ghp_planted"), "{path}");
    }
    let path = world.engine.home().join("config.json");
    assert!(std::fs::read_to_string(&path).unwrap().contains("ghp_planted"));
    let cleared = world.put("/api/config", &json!({"github": {"pat": null}})).data();
    assert!(cleared["github"]["pat"].is_null());
    assert!(!std::fs::read_to_string(&path).unwrap().contains("ghp_planted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_setting_is_named_and_nothing_is_changed() {
    let world = World::new().await;
    let cases = [
        (json!({"theme": "PINK"}), "`theme` must be one of LIGHT, DARK, SYSTEM"),
        (json!({"theme": null}), "`theme` must be one of"),
        (json!({"notifications": {"sound_file": "HORN"}}), "`notifications.sound_file` must be one of"),
        (json!({"notifications": true}), "`notifications` must be an object"),
        (json!({"show_release_notes": 1}), "`show_release_notes` must be true or false"),
        (json!({"github": {"pat": 1}}), "`github.pat` must be a text or null"),
        (json!({"showcases": {"seen_features": "x"}}), "`showcases.seen_features` must be a list of texts"),
        (json!({"executor_profile": {"executor": "NOBODY"}}), "no agent is called NOBODY"),
        (json!({"executor_profile": 7}), "`executor_profile` must be an agent's name"),
        (json!({"git_branch_prefix": 7}), "`git_branch_prefix` must be a text"),
    ];
    for (body, sentence) in cases {
        let told = world.put("/api/config", &body).refusal(422);
        assert!(told.contains(sentence), "{told}");
    }
    assert!(world.send("PUT", "/api/config", &[("Content-Type", "application/json")], b"").status == 400);
    assert!(!world.engine.home().join("config.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prefix_of_branches_is_a_setting_that_must_be_part_of_a_branchs_name() {
    let world = World::new().await;
    let contract = "Invalid git branch prefix. Must be a valid git branch name component without slashes.";
    for wrong in ["a/b", "a b", "-a", "a..b", ".a", "a.lock", "a~", "HEAD"] {
        assert_eq!(
            world.put("/api/config", &json!({"git_branch_prefix": wrong})).refusal(200),
            contract,
            "{wrong}"
        );
    }
    let told = world.put("/api/config", &json!({"git_branch_prefix": ""})).refusal(200);
    assert!(told.contains("must not be empty") && told.contains("use \"forge\""), "{told}");
    let told = world.put("/api/config", &json!({"git_branch_prefix": "x".repeat(65)})).refusal(200);
    assert!(told.contains("64 characters"), "{told}");

    world.put("/api/config", &json!({"git_branch_prefix": "ada"})).data();
    let project = world.project();
    let started = world.start(&project, "Fix it", "say hello");
    let branch = started["attempts"][0]["branch"].as_str().unwrap().to_string();
    assert!(branch.starts_with("ada/"), "{branch}");
    let repository = world.engine.home().parent().unwrap().join("repository");
    git(&repository, &["rev-parse", "--verify", &branch]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_settings_file_is_refused_with_its_path_and_left_alone() {
    let world = World::new().await;
    let path = world.engine.home().join("config.json");
    let project = world.project();
    for damaged in ["{\"theme\": \"DA", "[]", "{\"theme\": \"PINK\"}"] {
        std::fs::write(&path, damaged).unwrap();
        let named = path.to_str().unwrap();
        for told in [
            world.get("/api/config").refusal(503),
            world.get("/api/info").refusal(503),
            world.put("/api/config", &json!({"theme": "DARK"})).refusal(200),
        ] {
            assert!(told.contains(named) && told.contains("correct it"), "{told}");
        }
        let body = crate::world::start_body(&project, "Fix it", "say hello");
        assert!(world.post("/api/tasks/create-and-start", &body).refusal(503).contains(named));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(world.get("/api/config").data()["theme"], "SYSTEM");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_version_than_last_time_has_release_notes_to_show() {
    let world = World::new().await;
    let path = world.engine.home().join("config.json");
    std::fs::write(&path, r#"{"last_app_version": "0.0.1"}"#).unwrap();
    let config = world.get("/api/config").data();
    assert_eq!(config["show_release_notes"], true);
    assert_eq!(config["last_app_version"], env!("CARGO_PKG_VERSION"));
    world.put("/api/config", &json!({"show_release_notes": false})).data();
    assert_eq!(world.get("/api/config").data()["show_release_notes"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_asks_first_has_settings_profiles_machine_and_capabilities() {
    let world = World::new().await;
    let info = world.get("/api/info").data();
    assert_eq!(info["config"], world.get("/api/config").data());
    assert!(info["analytics_user_id"].is_string());
    let variants: Vec<_> = info["executors"]["CLAUDE_CODE"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(variants, ["APPROVALS", "GENIE", "PLAN"]);
    let plan = &info["executors"]["CLAUDE_CODE"]["PLAN"]["CLAUDE_CODE"];
    assert_eq!(plan, &json!({"append_prompt": null, "plan": true}));
    for key in ["os_type", "os_version", "os_architecture", "bitness"] {
        assert!(info["environment"][key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {info}");
    }
    let agents = info["agents"].as_array().unwrap();
    let capabilities = info["capabilities"].as_object().unwrap();
    assert_eq!(agents.len(), capabilities.len());
    for agent in agents {
        let name = agent["executor"].as_str().unwrap();
        assert!(
            capabilities[name].is_array() && info["executors"][name]["GENIE"][name].is_object(),
            "{agent}"
        );
        assert!(agent["title"].is_string() && agent["tried"].is_boolean(), "{agent}");
        assert!(agent["installed"] == true || agent["remedy"].is_string(), "{agent}");
    }
    for (name, forks) in [
        ("CLAUDE_CODE", json!(["SESSION_FORK"])),
        ("CODEX", json!(["SESSION_FORK"])),
        ("SCRIPTED", json!(["SESSION_FORK"])),
        ("GEMINI", json!([])),
    ] {
        assert_eq!(capabilities[name], forks, "{name}");
    }
    let of = |name: &str| agents.iter().find(|agent| agent["executor"] == name).unwrap();
    assert_eq!((&of("SCRIPTED")["found"], &of("SCRIPTED")["installed"]), (&json!("built_in"), &json!(true)));
    assert_eq!((&of("COMMAND")["found"], &of("COMMAND")["installed"]), (&json!("no_command"), &json!(false)));
    assert_eq!(of("CURSOR_AGENT")["tried"], false);
}

fn profiles(world: &World) -> Value {
    let data = world.get("/api/profiles").data();
    serde_json::from_str(data["content"].as_str().unwrap()).unwrap()
}

fn put_text(world: &World, text: &str) -> crate::world::Answer {
    world.send("PUT", "/api/profiles", &[], text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_read_edited_as_text_and_kept() {
    let world = World::new().await;
    let path = world.engine.home().join("profiles.json");
    assert_eq!(world.get("/api/profiles").data()["path"], path.to_str().unwrap());
    let mut edited = profiles(&world);
    edited["executors"]["CLAUDE_CODE"]["careful"] = json!({"claude_code": {"model": "opus"}});
    let said = put_text(&world, &edited.to_string()).data();
    assert_eq!(said, "Executor profiles updated successfully");
    let careful = json!({"CLAUDE_CODE": {"append_prompt": null, "model": "opus"}});
    assert_eq!(profiles(&world)["executors"]["CLAUDE_CODE"]["CAREFUL"], careful);
    assert_eq!(world.get("/api/info").data()["executors"], profiles(&world)["executors"]);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        kept,
        json!({"executors": {"CLAUDE_CODE": {"CAREFUL": careful}}}),
        "only what differs is kept"
    );

    // The older wrapping holds them as a text.
    let mut without = profiles(&world);
    without["executors"]["CLAUDE_CODE"].as_object_mut().unwrap().remove("CAREFUL");
    world.put("/api/profiles", &json!({"profiles": without.to_string()})).data();
    assert_eq!(profiles(&world), without);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_profiles_are_told_with_200_and_nothing_is_changed() {
    let world = World::new().await;
    for wrong in ["", "{", "[]", r#"{"executors": {"NOBODY": {}}}"#, r#"{"profiles": "{"}"#] {
        let told = put_text(&world, wrong).refusal(200);
        assert!(told.starts_with("Invalid executor profiles format: "), "{told}");
    }
    let mut missing = profiles(&world);
    missing["executors"]["CLAUDE_CODE"].as_object_mut().unwrap().remove("PLAN");
    let told = put_text(&world, &missing.to_string()).refusal(200);
    assert!(told.starts_with("Failed to save executor profiles: the variant PLAN of CLAUDE_CODE"), "{told}");
    missing["executors"].as_object_mut().unwrap().remove("CLAUDE_CODE");
    let told = put_text(&world, &missing.to_string()).refusal(200);
    assert!(told.contains("CLAUDE_CODE is built in"), "{told}");
    assert!(!world.engine.home().join("profiles.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_in_a_profile_is_masked_and_the_mask_keeps_it() {
    let world = World::new().await;
    let mut edited = profiles(&world);
    edited["executors"]["SCRIPTED"]["GENIE"]["SCRIPTED"]["env"] = json!({"API_KEY": "planted"});
    put_text(&world, &edited.to_string()).data();
    for path in ["/api/profiles", "/api/info"] {
        let answer = world.get(path).text;
        assert!(answer.contains("API_KEY") && !answer.contains("planted"), "{path}: {answer}");
    }
    let mut shown = profiles(&world);
    put_text(&world, &shown.to_string()).data();
    let path = world.engine.home().join("profiles.json");
    assert!(std::fs::read_to_string(path).unwrap().contains("planted"));
    shown["executors"]["SCRIPTED"]["OTHER"] = json!({"SCRIPTED": {"env": {"API_KEY": "********"}}});
    let told = put_text(&world, &shown.to_string()).refusal(200);
    assert!(told.contains("env.API_KEY` is ********"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_a_profile_reach_its_agent() {
    let world = World::new().await;
    let mut edited = profiles(&world);
    edited["executors"]["SCRIPTED"]["POLITE"] = json!({"SCRIPTED": {"append_prompt": "\nsay thank you"}});
    put_text(&world, &edited.to_string()).data();
    let mut body = crate::world::start_body(&world.project(), "Fix it", "say hello");
    body["executor_profile_id"] = json!({"executor": "SCRIPTED", "variant": "POLITE"});
    let task = world.post("/api/tasks/create-and-start", &body).data();
    let attempt = task["attempts"][0]["id"].as_str().unwrap().to_string();
    world.wait_for(&attempt, "finished");
    let run = world.run_of(&attempt);
    let mut socket =
        world.socket(&format!("/api/execution-processes/{}/raw-logs/ws", run["id"].as_str().unwrap()));
    let mut log = String::new();
    while let Ok(message) = socket.read() {
        log.push_str(&message.to_string());
        if log.contains("finished") {
            break;
        }
    }
    assert!(log.contains("hello") && log.contains("thank you"), "{log}");

    body["executor_profile_id"]["variant"] = json!("RUDE");
    let told = world.post("/api/tasks/create-and-start", &body).refusal(422);
    assert!(told.contains("SCRIPTED has no variant RUDE; its variants are GENIE, POLITE"), "{told}");
}
