//! What is sent to GitHub, and what is made of its answers.

use std::time::{Duration, Instant};

use forge_hosts::Secret;
use forge_hosts::github::{Address, Error, GitHub, Poll};

use crate::played_github::{PlayedGitHub, Reply, bad, good};

const STARTED: &str = r#"{"device_code":"dev-planted","user_code":"ABCD-1234",
    "verification_uri":"https://github.com/login/device","expires_in":899,"interval":5}"#;

fn client(played: &PlayedGitHub) -> GitHub {
    patient(played, Duration::from_secs(30))
}

fn patient(played: &PlayedGitHub, patience: Duration) -> GitHub {
    let api = format!("{}/api", played.url());
    GitHub::new(Address::new(Some(&played.url()), Some(&api)).unwrap(), patience)
}

fn device() -> Secret {
    Secret::new("dev-planted")
}

#[test]
fn a_login_is_started_with_a_form_that_names_the_app_and_the_scopes() {
    let played = PlayedGitHub::start(|_| good(STARTED));
    let login = client(&played).start_login("Iv1.app").unwrap();
    assert_eq!(login.user_code, "ABCD-1234");
    assert_eq!(login.verification_uri, "https://github.com/login/device");
    assert_eq!((login.expires_in, login.interval), (Duration::from_secs(899), Duration::from_secs(5)));
    assert_eq!(login.device_code.reveal(), "dev-planted");
    let request = &played.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/login/device/code"));
    assert_eq!(request.headers["accept"], "application/json");
    assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
    assert!(request.headers["user-agent"].starts_with("forge/"));
    assert_eq!(request.body, "client_id=Iv1.app&scope=user%3Aemail+repo");
}

#[test]
fn a_poll_sends_the_device_code_and_tells_each_answer_apart() {
    let answers = [
        (r#"{"error":"authorization_pending"}"#, Poll::Pending),
        (r#"{"error":"slow_down","interval":10}"#, Poll::SlowDown(Some(Duration::from_secs(10)))),
        (r#"{"error":"slow_down"}"#, Poll::SlowDown(None)),
        (r#"{"error":"access_denied"}"#, Poll::Denied),
        (r#"{"error":"expired_token"}"#, Poll::Expired),
        (r#"{"error":"incorrect_device_code"}"#, Poll::Expired),
        (
            r#"{"access_token":"gho_planted","token_type":"bearer"}"#,
            Poll::Granted(Secret::new("gho_planted")),
        ),
    ];
    for (answer, expected) in answers {
        let played = PlayedGitHub::start(move |_| good(answer));
        assert_eq!(client(&played).poll_login("Iv1.app", &device()).unwrap(), expected, "{answer}");
        let request = &played.requests()[0];
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/login/oauth/access_token"));
        assert_eq!(
            request.body,
            "client_id=Iv1.app&device_code=dev-planted&\
             grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
        );
    }
}

#[test]
fn what_github_says_is_wrong_is_told_in_its_words() {
    let played = PlayedGitHub::start(|_| {
        good(r#"{"error":"device_flow_disabled","error_description":"Enable the device flow."}"#)
    });
    for error in [
        client(&played).start_login("Iv1.app").unwrap_err(),
        client(&played).poll_login("Iv1.app", &device()).unwrap_err(),
    ] {
        let told = error.to_string();
        assert!(told.contains("device_flow_disabled") && told.contains("Enable the device flow."), "{told}");
    }
}

#[test]
fn an_answer_that_makes_no_sense_is_an_error_that_quotes_nothing() {
    let nonsense = [
        "",
        "{",
        "[]",
        "{}",
        r#"{"access_token": ["gho_planted"]}"#,
        r#"{"access_token": ""}"#,
        r#"{"access_token": "gho_planted""#,
    ];
    for body in nonsense {
        let played = PlayedGitHub::start(move |_| good(body));
        for error in [
            client(&played).start_login("Iv1.app").unwrap_err(),
            client(&played).poll_login("Iv1.app", &device()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Nonsense { .. }), "{body}: {error}");
            assert!(!format!("{error:?} {error}").contains("planted"), "{error:?}");
        }
    }
    let too_long = PlayedGitHub::start(|_| good(&format!("{{\"a\":\"{}\"}}", "x".repeat(2 << 20))));
    let error = client(&too_long).start_login("Iv1.app").unwrap_err();
    assert!(matches!(error, Error::Nonsense { .. }), "{error}");
    let script = STARTED.replace("https://github.com/login/device", "javascript:alert(1)");
    let played = PlayedGitHub::start(move |_| good(&script));
    assert!(matches!(client(&played).start_login("Iv1.app").unwrap_err(), Error::Nonsense { .. }));
}

#[test]
fn a_server_that_fails_is_named_with_its_status() {
    let played = PlayedGitHub::start(|_| bad(500));
    let token = Secret::new("gho_planted");
    for error in [
        client(&played).start_login("Iv1.app").unwrap_err(),
        client(&played).poll_login("Iv1.app", &device()).unwrap_err(),
        client(&played).person(&token).unwrap_err(),
        client(&played).primary_email(&token).unwrap_err(),
    ] {
        assert!(error.to_string().contains("127.0.0.1") && error.to_string().contains("500"), "{error}");
    }
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let played = PlayedGitHub::start(|_| Reply::Silence);
    let begun = Instant::now();
    let error = patient(&played, Duration::from_millis(200)).person(&Secret::new("gho_planted")).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(!format!("{error:?}").contains("planted"), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_token_is_never_taken_to_another_host() {
    let other = PlayedGitHub::start(|_| good("{\"login\":\"mallory\"}"));
    let url = other.url();
    let played =
        PlayedGitHub::start(move |_| Reply::Told(format!("307 Elsewhere\r\nLocation: {url}"), String::new()));
    let error = client(&played).person(&Secret::new("gho_planted")).unwrap_err();
    assert!(error.to_string().contains("307"), "{error}");
    client(&played).poll_login("Iv1.app", &device()).unwrap_err();
    assert!(other.requests().is_empty());
}

#[test]
fn the_owner_of_a_token_is_asked_for_and_a_bad_token_has_none() {
    let played =
        PlayedGitHub::start(|request| match (request.path.as_str(), &request.headers["authorization"]) {
            ("/api/user", token) if token == "Bearer gho_planted" => good(r#"{"login":"ada","id":1}"#),
            ("/api/user/emails", token) if token == "Bearer gho_planted" => good(
                r#"[{"email":"old@example.org","primary":false},{"email":"ada@example.org","primary":true}]"#,
            ),
            ("/api/user/emails", _) => bad(404),
            _ => bad(401),
        });
    let (good, bad) = (Secret::new("gho_planted"), Secret::new("gho_old"));
    assert_eq!(client(&played).person(&good).unwrap().unwrap().login, "ada");
    assert_eq!(client(&played).primary_email(&good).unwrap().as_deref(), Some("ada@example.org"));
    assert_eq!(client(&played).person(&bad).unwrap(), None);
    assert_eq!(client(&played).primary_email(&bad).unwrap(), None);
    let asked = played.requests().len();
    assert_eq!(client(&played).person(&Secret::new("two\r\nlines")).unwrap(), None);
    assert_eq!(played.requests().len(), asked, "what cannot be a token is not sent");
}
