//! The login at GitHub over the API, with a server on loopback that plays GitHub.

use std::sync::Mutex;
use std::time::Duration;

use forge_engine::{GitHubAddress, GitHubOptions};
use serde_json::json;

use crate::played_github::{PlayedGitHub, Reply, bad, good};
use crate::world::World;

fn at(played: &PlayedGitHub) -> GitHubOptions {
    GitHubOptions {
        client_id: Some("Iv1.app".into()),
        address: GitHubAddress::new(Some(&played.url()), None).unwrap(),
        patience: Duration::from_secs(20),
        ..GitHubOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_goes_over_the_api_and_neither_code_nor_token_is_told() {
    let polls = Mutex::new(vec![
        r#"{"error":"authorization_pending"}"#,
        r#"{"error":"slow_down","interval":0}"#,
        r#"{"access_token":"gho_planted"}"#,
    ]);
    let played = PlayedGitHub::start(move |request| match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/login/device/code") => good(
            r#"{"device_code":"dev-planted","user_code":"AB-12","verification_uri":"https://github.com/login/device",
                "expires_in":900,"interval":0}"#,
        ),
        ("POST", _) => good(polls.lock().unwrap().remove(0)),
        (_, "/api/v3/user") => good(r#"{"login":"ada"}"#),
        _ => good(r#"[{"email":"ada@example.org","primary":true}]"#),
    });
    let world = World::with_github(at(&played)).await;
    assert_eq!(world.get("/api/auth/github/check").data(), "INVALID");
    let told = world.send("POST", "/api/auth/github/device/poll", &[], b"").refusal(409);
    assert!(told.starts_with("Device flow not started"), "{told}");
    let started = world.send("POST", "/api/auth/github/device/start", &[], b"").data();
    let expected = json!({
        "user_code": "AB-12", "verification_uri": "https://github.com/login/device", "expires_in": 900, "interval": 0,
    });
    assert_eq!(started, expected);
    // The newer client sends nothing, the older one a code that it never got.
    let body = json!({"device_code": "x"});
    assert_eq!(world.post("/api/auth/github/device/poll", &body).data(), "AUTHORIZATION_PENDING");
    assert_eq!(world.send("POST", "/api/auth/github/device/poll", &[], b"").data(), "SLOW_DOWN");
    assert_eq!(world.send("POST", "/api/auth/github/device/poll", &[], b"{").data(), "SUCCESS");
    assert_eq!(world.get("/api/auth/github/check").data(), "VALID");
    let started = played.requests().into_iter().next().unwrap();
    assert!(started.headers.contains_key("accept") && started.body.contains("Iv1.app"), "{started:?}");
    let info = world.get("/api/info");
    assert!(!info.text.contains("planted"), "{}", info.text);
    assert_eq!(info.data()["config"]["github"]["username"], "ada");
    assert_eq!(info.data()["config"]["github_login_acknowledged"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_without_an_app_is_no_server_error_and_says_what_to_do() {
    let world = World::new().await;
    let answer = world.send("POST", "/api/auth/github/device/start", &[], b"");
    assert_eq!(answer.json()["error_data"], json!({"type": "setup_required"}));
    assert!(answer.refusal(409).contains("GITHUB_CLIENT_ID"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_github_that_is_away_is_told_as_such_and_not_as_a_bad_token() {
    for reply in [bad(500), Reply::Silence] {
        let played = PlayedGitHub::start(move |_| reply.clone());
        let mut options = at(&played);
        options.patience = Duration::from_millis(300);
        let world = World::with_github(options).await;
        world.put("/api/config", &json!({"github": {"pat": "ghp_planted"}})).data();
        let told = world.get("/api/auth/github/check").refusal(503);
        assert!(told.contains("GitHub") && !told.contains("planted"), "{told}");
    }
}
