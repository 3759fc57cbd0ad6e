//! Logging in at GitHub, played by a server on loopback.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use forge_engine::{ConfigChange, Engine, ErrorKind, GitHubAddress, GitHubOptions, LoginProgress, Result};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::played_github::{PlayedGitHub, Reply, bad, good};
use crate::world::{eventually, options};

/// Plays a login: a code, then what polls are told one after the other, then a person.
fn played(interval: u64, polls: &[&'static str]) -> PlayedGitHub {
    let polls = Mutex::new(polls.to_vec());
    PlayedGitHub::start(move |request| {
        match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/login/device/code") => good(
            &json!({
                "device_code": "dev-planted", "user_code": "ABCD-1234", "interval": interval, "expires_in": 900,
                "verification_uri": "https://github.com/login/device",
            })
            .to_string(),
        ),
        ("POST", "/login/oauth/access_token") => good(polls.lock().unwrap().remove(0)),
        ("GET", "/api/v3/user") if request.headers["authorization"] == "Bearer gho_planted" => {
            good(r#"{"login":"ada"}"#)
        }
        ("GET", "/api/v3/user/emails") => good(r#"[{"email":"ada@example.org","primary":true}]"#),
        _ => bad(401),
    }
    })
}

const PENDING: &str = r#"{"error":"authorization_pending"}"#;
const SLOW_DOWN: &str = r#"{"error":"slow_down","interval":0}"#;
const GRANTED: &str = r#"{"access_token":"gho_planted","token_type":"bearer","scope":"repo"}"#;

struct Place {
    runtime: Option<Runtime>,
    engine: Option<Engine>,
    github: GitHubOptions,
    dir: tempfile::TempDir,
}

impl Place {
    fn new(played: &PlayedGitHub) -> Self {
        let address = GitHubAddress::new(Some(&played.url()), None).unwrap();
        Self::with(GitHubOptions {
            client_id: Some("Iv1.app".into()),
            address,
            patience: Duration::from_secs(20),
            ..GitHubOptions::default()
        })
    }

    fn with(github: GitHubOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut place = Self { runtime: None, engine: None, github, dir };
        place.open();
        place
    }

    fn open(&mut self) {
        let runtime = Runtime::new().unwrap();
        let engine = eventually("the data directory is free", || {
            let mut options = options(&self.dir.path().join("home"), "");
            options.github = self.github.clone();
            runtime.block_on(Engine::open(options)).ok()
        });
        (self.engine, self.runtime) = (Some(engine), Some(runtime));
    }

    fn restart(&mut self) {
        self.engine = None;
        self.runtime.take().unwrap().shutdown_timeout(Duration::from_secs(30));
        self.open();
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn run<T>(&self, verb: impl Future<Output = T>) -> T {
        self.runtime.as_ref().unwrap().block_on(verb)
    }

    fn poll(&self) -> Result<LoginProgress> {
        self.run(self.engine().poll_github_login())
    }

    fn set(&self, config: Value) {
        let Value::Object(map) = config else { panic!("no object") };
        self.run(self.engine().change_config(ConfigChange::new(map).unwrap())).unwrap();
    }

    fn config_file(&self) -> Value {
        read(&self.dir.path().join("home/config.json"))
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn asked(played: &PlayedGitHub, path: &str) -> usize {
    played.requests().iter().filter(|request| request.path == path).count()
}

#[test]
fn a_login_goes_from_pending_over_slow_down_to_a_stored_token() {
    let played = played(0, &[PENDING, SLOW_DOWN, GRANTED]);
    let place = Place::new(&played);
    place.set(json!({"theme": "DARK", "github": {"default_pr_base": "trunk"}}));
    let login = place.run(place.engine().start_github_login()).unwrap();
    assert_eq!((login.user_code.as_str(), login.expires_in.as_secs()), ("ABCD-1234", 900));
    assert!(!format!("{login:?}").contains("planted"));
    assert_eq!(place.poll().unwrap(), LoginProgress::Pending);
    assert_eq!(place.poll().unwrap(), LoginProgress::SlowDown);
    assert_eq!(place.poll().unwrap(), LoginProgress::Done);
    let config = place.config_file();
    assert_eq!(config["github"]["oauth_token"], "gho_planted");
    assert_eq!(config["github"]["username"], "ada");
    assert_eq!(config["github"]["primary_email"], "ada@example.org");
    assert_eq!(config["github"]["default_pr_base"], "trunk");
    assert_eq!((&config["github_login_acknowledged"], &config["theme"]), (&json!(true), &json!("DARK")));
    let shown = place.run(place.engine().config()).unwrap();
    assert!(!shown.to_string().contains("planted"), "{shown}");
    assert_eq!(place.poll().unwrap_err().kind(), ErrorKind::Conflict, "the login is over");
}

#[test]
fn a_poll_that_comes_too_early_does_not_reach_github() {
    let played = played(60, &[PENDING]);
    let place = Place::new(&played);
    place.run(place.engine().start_github_login()).unwrap();
    assert_eq!(place.poll().unwrap(), LoginProgress::SlowDown);
    assert_eq!(asked(&played, "/login/oauth/access_token"), 0);
}

#[test]
fn a_login_does_not_outlive_the_server_and_a_poll_without_one_says_so() {
    let played = played(0, &[GRANTED]);
    let mut place = Place::new(&played);
    let told = |place: &Place| {
        let error = place.poll().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().starts_with("Device flow not started"), "{error}");
    };
    told(&place);
    place.run(place.engine().start_github_login()).unwrap();
    place.restart();
    told(&place);
    assert_eq!(asked(&played, "/login/oauth/access_token"), 0);
}

#[test]
fn a_login_that_is_refused_or_too_old_ends_with_a_sentence() {
    for (answer, sentence) in
        [(r#"{"error":"access_denied"}"#, "refused"), (r#"{"error":"expired_token"}"#, "in time")]
    {
        let played = played(0, &[answer]);
        let place = Place::new(&played);
        place.run(place.engine().start_github_login()).unwrap();
        let error = place.poll().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains(sentence), "{error}");
        assert!(place.poll().unwrap_err().to_string().starts_with("Device flow not started"));
    }
}

#[test]
fn a_token_that_cannot_be_stored_is_kept_until_it_can() {
    let played = played(0, &[GRANTED]);
    let place = Place::new(&played);
    place.run(place.engine().start_github_login()).unwrap();
    let path = place.dir.path().join("home/config.json");
    std::fs::write(&path, "{").unwrap();
    let error = place.poll().unwrap_err();
    assert!(error.to_string().contains("config.json") && !error.to_string().contains("planted"), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(place.poll().unwrap(), LoginProgress::Done);
    assert_eq!(place.config_file()["github"]["oauth_token"], "gho_planted");
    assert_eq!(asked(&played, "/login/oauth/access_token"), 1);
}

#[test]
fn a_stored_token_is_checked_once_a_minute_and_the_persons_own_goes_first() {
    let played = played(0, &[]);
    let place = Place::new(&played);
    let good = || place.run(place.engine().github_token_is_good()).unwrap();
    assert!(!good());
    assert!(played.requests().is_empty(), "without a token nobody is asked");
    place.set(json!({"github": {"oauth_token": "gho_planted"}}));
    assert!(good() && good());
    assert_eq!(asked(&played, "/api/v3/user"), 1);
    place.set(json!({"github": {"pat": "ghp_old"}}));
    assert!(!good());
    assert_eq!(asked(&played, "/api/v3/user"), 2);
}

#[test]
fn a_github_that_fails_or_says_nothing_is_no_answer_about_a_token() {
    for reply in [bad(500), good("{"), Reply::Silence] {
        let played = PlayedGitHub::start(move |_| reply.clone());
        let address = GitHubAddress::new(Some(&played.url()), None).unwrap();
        let patience = Duration::from_millis(300);
        let client_id = Some("Iv1.app".into());
        let place = Place::with(GitHubOptions { client_id, address, patience, ..GitHubOptions::default() });
        place.set(json!({"github": {"pat": "ghp_planted"}}));
        let error = place.run(place.engine().github_token_is_good()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(!format!("{error:?}").contains("planted"), "{error:?}");
        let error = place.run(place.engine().start_github_login()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }
}

#[test]
fn without_an_app_a_login_says_how_to_set_one_up() {
    let place = Place::with(GitHubOptions::default());
    let error = place.run(place.engine().start_github_login()).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some("setup_required")));
    assert!(error.to_string().contains("GITHUB_CLIENT_ID") && error.to_string().contains("github.pat"));
}
