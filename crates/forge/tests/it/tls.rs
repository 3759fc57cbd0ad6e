//! Serving over TLS: browsers get a certificate, the commands on this machine go on without.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::world::{World, free_port, mode};

const CERTIFICATE: &str = include_str!("tls/cert.pem");
const KEY: &str = include_str!("tls/key.pem");

/// Puts a certificate for localhost into a world; returns the paths of its files.
fn files(world: &World) -> (String, String) {
    let put = |name: &str, text: &str| {
        let path: PathBuf = world.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    (put("cert.pem", CERTIFICATE), put("key.pem", KEY))
}

/// A client that trusts this one certificate.
fn client() -> Agent {
    let trusted = RootCerts::new_with_certs(&[Certificate::from_pem(CERTIFICATE.as_bytes()).unwrap()]);
    Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(trusted).build())
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(30)))
        .build()
        .into()
}

#[test]
fn a_server_with_a_certificate_speaks_tls_and_its_commands_still_find_it() {
    let world = World::new();
    let (cert, key) = files(&world);
    let port = free_port().to_string();
    let mut server = world.start(&["serve", "--port", &port, "--tls-cert", &cert, "--tls-key", &key]);
    server.line_with(&format!("Forge 0.1.0 on https://127.0.0.1:{port} "));

    let client = client();
    let url = |path: &str| format!("https://localhost:{port}{path}");
    let health = client.get(url("/health")).call().unwrap().body_mut().read_to_string().unwrap();
    assert!(health.contains("\"ok\""), "{health}");
    // Whoever runs the server is known by their connection here, too.
    assert_eq!(client.get(url("/api/projects")).call().unwrap().status(), 200);
    let token = fs::read_to_string(world.home().join("token")).unwrap();
    let body = json!({"token": token.trim()}).to_string();
    let opened =
        client.post(url("/api/session")).header("content-type", "application/json").send(body).unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().to_string();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
    let events = client.get(url("/api/events")).call().unwrap();
    let mut first = String::new();
    BufReader::new(events.into_body().into_reader()).read_line(&mut first).unwrap();
    assert!(!first.is_empty());
    // No word is answered to those who do not speak TLS.
    assert!(ureq::get(format!("http://localhost:{port}/health")).call().is_err());

    let here = world.server_file().unwrap()["url"].as_str().unwrap().to_string();
    assert!(here.starts_with("http://127.0.0.1:") && !here.ends_with(&port), "{here}");
    assert_eq!(mode(&world.home().join("server.json")), 0o600);
    let attempt = world.attempt("say hello");
    world.until_state(&attempt, "finished");
    let stopped = world.run(&["serve", "--stop"]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let world = World::new();
    let (cert, key) = files(&world);
    let serve =
        |cert: &str, key: &str| world.run(&["serve", "--port", "0", "--tls-cert", cert, "--tls-key", key]);
    let missing = world.path("missing.pem").display().to_string();
    for (ended, named) in [
        (serve(&missing, &key), &missing),
        (serve(&cert, &missing), &missing),
        (serve(&key, &key), &key),
        (serve(&cert, &cert), &cert),
    ] {
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(named.as_str()), "{ended:?}");
    }
    let alone = world.run(&["serve", "--port", "0", "--tls-cert", &cert]);
    assert_eq!(alone.code, Some(2), "{alone:?}");
    assert!(alone.stderr.contains("--tls-key"), "{alone:?}");
}
