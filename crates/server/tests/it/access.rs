//! What tokens reach, over the whole router. The rules themselves are tested beside them.

use forge_server::{ServeOptions, attempt_token, serve};
use serde_json::json;

use crate::world::{TOKEN, World, id};

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_exchanged_for_a_cookie_that_scripts_cannot_read() {
    let world = World::new().await;
    let answer = world.post("/api/session", &json!({"token": TOKEN}));
    assert!(answer.data().is_null());
    let cookie = answer.header("set-cookie").unwrap();
    let name = format!("forge_{}", world.address.port());
    let (carried, attributes) = cookie.split_once(';').unwrap();
    assert!(carried.starts_with(&format!("{name}=")), "{cookie}");
    assert!(attributes.starts_with(" httponly; samesite=strict; path=/;"), "{cookie}");
    assert!(!cookie.contains(TOKEN), "the cookie goes to every service of the host: {cookie}");
    for others in ["", "; other=1"] {
        // Another service of this host name may have set one of the same name for a longer path.
        let carried = format!("{name}=x; {carried}{others}");
        assert_eq!(world.call("GET", "/api/projects", &[("Cookie", &carried)], None).status, 200);
    }
    let wrong = world.post("/api/session", &json!({"token": "guess"}));
    assert!(wrong.refusal(401).contains("token"));
    assert!(wrong.header("set-cookie").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_refusal_of_a_wrong_token_says_where_the_right_one_is() {
    let world = World::new().await;
    let answer = world.call("GET", "/api/projects", &[("Authorization", "Bearer guess")], None);
    let file = world.engine.home().join("token");
    assert!(answer.refusal(401).contains(file.to_str().unwrap()));
    assert_eq!(answer.header("x-forge-api-version"), Some("1"), "refusals carry the headers too");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_an_attempt_reads_that_attempt_and_nothing_else() {
    let world = World::new().await;
    let project = world.project();
    let own = world.start(&project, "Mine", "hang");
    let other = world.start(&project, "Other", "hang");
    let attempt = own["attempt_id"].as_str().unwrap();
    let other_attempt = other["attempt_id"].as_str().unwrap();
    let (run, other_run) = (id(&world.run_of(attempt)), id(&world.run_of(other_attempt)));
    let token = format!("Bearer {}", attempt_token(TOKEN, attempt.parse().unwrap()));
    let ask = |method: &str, path: &str| world.call(method, path, &[("Authorization", &token)], None);

    let reached = [
        format!("/api/task-attempts/{attempt}"),
        format!("/api/tasks/{}", id(&own)),
        format!("/api/execution-processes?task_attempt_id={attempt}"),
        format!("/api/execution-processes/{run}"),
        "/health".to_string(),
    ];
    for path in reached {
        assert_eq!(ask("GET", &path).status, 200, "{path}");
    }
    let refused = [
        ("GET", format!("/api/task-attempts/{other_attempt}")),
        ("GET", format!("/api/tasks/{}", id(&other))),
        ("GET", format!("/api/execution-processes?task_attempt_id={other_attempt}")),
        (
            "GET",
            format!("/api/execution-processes?task_attempt_id={attempt}&task_attempt_id={other_attempt}"),
        ),
        ("GET", format!("/api/execution-processes/{other_run}")),
        ("GET", format!("/api/execution-processes/{other_run}/raw-logs/ws")),
        ("GET", "/api/projects".to_string()),
        ("GET", "/api/task-attempts".to_string()),
        ("GET", "/api/events".to_string()),
        ("GET", "/api/approvals/pending".to_string()),
        ("GET", "/api/no-such-thing".to_string()),
        ("POST", format!("/api/task-attempts/{attempt}/stop")),
        ("DELETE", format!("/api/tasks/{}", id(&own))),
    ];
    for (method, path) in refused {
        ask(method, &path).refusal(403);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_carries_the_same_guarding_headers() {
    let world = World::new().await;
    for path in ["/", "/health", "/api/health", "/api/projects", "/api/banana", "/banana"] {
        let answer = world.get(path);
        assert_eq!(answer.header("x-forge-api-version"), Some("1"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_healths_answer_in_their_own_shape() {
    let world = World::new().await;
    let bare = world.get("/health").json();
    assert_eq!((&bare["status"], &bare["service"]), (&json!("ok"), &json!("forge-app")));
    assert_eq!(bare["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(world.get("/api/health").data(), "OK");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_beyond_loopback_is_not_served_without_a_token() {
    let world = World::new().await;
    for (token, require_token) in [("", true), ("", false), (TOKEN, false)] {
        let listener = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
        let options = ServeOptions {
            listener,
            host_names: Vec::new(),
            token: token.to_string(),
            require_token,
            certificate: None,
        };
        let refused = serve(world.engine.clone(), options, std::future::pending()).await.unwrap_err();
        assert!(refused.to_string().contains("only served with a token"), "{refused}");
    }
}
