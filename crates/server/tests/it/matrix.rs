//! Who may call, as one table: every kind of caller against every kind of thing to call, over real connections.
//! And what no caller may do: send more than is read, or say something else than they send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::process::Command;

use forge_server::attempt_token;
use serde_json::json;
use tungstenite::Message;

use crate::world::{TOKEN, World, id};

/// What is called: reading, changing, a WebSocket, events, and the page.
const TARGETS: usize = 5;

/// Who calls, what they send along, and the status of each answer.
type Row = (&'static str, Vec<(&'static str, String)>, [u16; TARGETS]);

/// One request, without what the caller adds.
struct Target {
    method: &'static str,
    path: String,
    headers: &'static [(&'static str, &'static str)],
}

impl Target {
    fn all(run: &str) -> [Target; TARGETS] {
        let socket: &[_] = &[
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let close: &[_] = &[("Connection", "close")];
        let target = |method, path: &str, headers| Target { method, path: path.to_string(), headers };
        [
            target("GET", "/api/projects", close),
            target("POST", "/api/tags", &[("Connection", "close"), ("Content-Type", "application/json")]),
            target("GET", &format!("/api/execution-processes/{run}/raw-logs/ws"), socket),
            target("GET", "/api/events", close),
            target("GET", "/", close),
        ]
    }

    fn body(&self, row: usize) -> String {
        match self.method {
            "POST" => json!({"tag_name": format!("tag{row}"), "content": "x"}).to_string(),
            _ => String::new(),
        }
    }
}

/// Sends a request and returns the status of the answer, which may never end.
fn status(world: &World, target: &Target, row: usize, headers: &[(&str, String)]) -> u16 {
    let host = format!("127.0.0.1:{}", world.address.port());
    let body = target.body(row);
    let mut head =
        format!("{} {} HTTP/1.1\r\nContent-Length: {}\r\n", target.method, target.path, body.len());
    if headers.iter().all(|(name, _)| *name != "Host") {
        head.push_str(&format!("Host: {host}\r\n"));
    }
    let own = target.headers.iter().map(|(name, value)| (*name, (*value).to_string()));
    for (name, value) in own.chain(headers.iter().cloned()) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = world.connect();
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{line:?}"))
}

/// Does the same as another user of this machine.
fn status_as(world: &World, user: u32, target: &Target, row: usize, headers: &[(&str, String)]) -> u16 {
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={user}")).arg("--clear-groups");
    // What is open goes on; its status is all that counts.
    command.args(["curl", "-s", "-m", "2", "-o", "/dev/null", "-w", "%{http_code}", "-X", target.method]);
    let own = target.headers.iter().map(|(name, value)| (*name, (*value).to_string()));
    for (name, value) in own.chain(headers.iter().cloned()) {
        command.arg("-H").arg(format!("{name}: {value}"));
    }
    if target.method == "POST" {
        command.arg("--data").arg(target.body(row));
    }
    let output = command.arg(format!("http://{}{}", world.address, target.path)).output();
    let output = output.expect("this test needs `setpriv` (util-linux) and `curl`");
    String::from_utf8(output.stdout).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_caller_reaches_exactly_what_the_table_says() {
    let world = World::new().await;
    let project = world.project();
    let own = world.start(&project, "Mine", "hang");
    let other = world.start(&project, "Other", "hang");
    let run = id(&world.run_of(own["attempt_id"].as_str().unwrap()));
    let port = world.address.port();
    let bearer = |token: &str| ("Authorization", format!("Bearer {token}"));
    let of_attempt = |task: &serde_json::Value| {
        bearer(&attempt_token(TOKEN, task["attempt_id"].as_str().unwrap().parse().unwrap()))
    };
    let cookie = |token: &str| ("Cookie", format!("forge_{port}={token}"));
    let site = |site: &str| ("Sec-Fetch-Site", site.to_string());
    let foreign = || ("Origin", "http://evil.example".to_string());

    const OPEN: [u16; TARGETS] = [200, 200, 101, 200, 200];
    const MISDIRECTED: [u16; TARGETS] = [421; TARGETS];
    const FOREIGN: [u16; TARGETS] = [403; TARGETS];
    // The page holds nothing of the person's, and is where a token is exchanged.
    const UNKNOWN: [u16; TARGETS] = [401, 401, 401, 401, 200];
    //                                                                      GET  POST   WS  SSE  page
    let table: Vec<Row> = vec![
        ("no header", vec![], OPEN),
        ("foreign Host", vec![("Host", "evil.example".into())], MISDIRECTED),
        ("foreign Host, owner token", vec![("Host", "evil.example".into()), bearer(TOKEN)], MISDIRECTED),
        ("foreign Origin", vec![foreign()], FOREIGN),
        ("foreign Origin, owner token", vec![foreign(), bearer(TOKEN)], FOREIGN),
        ("foreign Origin, cookie", vec![foreign(), cookie(TOKEN)], FOREIGN),
        ("own Origin", vec![("Origin", format!("http://127.0.0.1:{port}"))], OPEN),
        ("cross-site fetch", vec![site("cross-site")], FOREIGN),
        ("same-site fetch", vec![site("same-site")], FOREIGN),
        ("same-site fetch, cookie", vec![site("same-site"), cookie(TOKEN)], FOREIGN),
        ("same-origin fetch", vec![site("same-origin")], OPEN),
        ("typed address", vec![site("none")], OPEN),
        ("wrong token", vec![bearer("guess")], UNKNOWN),
        ("wrong token, right cookie", vec![bearer("guess"), cookie(TOKEN)], UNKNOWN),
        ("owner token", vec![bearer(TOKEN)], OPEN),
        ("attempt token", vec![of_attempt(&own)], [403, 403, 101, 403, 200]),
        ("another attempt's token", vec![of_attempt(&other)], [403, 403, 403, 403, 200]),
        ("cookie", vec![cookie(TOKEN)], OPEN),
        ("a cookie that is no token", vec![cookie("guess")], OPEN),
        ("proxied, a cookie that is no token", vec![("Via", "1.1 x".into()), cookie("guess")], UNKNOWN),
        ("cookie of another port", vec![("Cookie", format!("forge_{}={TOKEN}", port ^ 1))], OPEN),
        ("proxied", vec![("X-Forwarded-For", "192.0.2.1".into())], UNKNOWN),
        ("proxied, owner token", vec![("X-Forwarded-For", "192.0.2.1".into()), bearer(TOKEN)], OPEN),
    ];
    let targets = Target::all(&run);
    for (row, (caller, headers, expected)) in table.iter().enumerate() {
        let got = targets.each_ref().map(|target| status(&world, target, row, headers));
        assert_eq!(got, *expected, "{caller}");
    }

    if !is_root() {
        eprintln!("only root can become another user; those rows were not tried");
        return;
    }
    let by_others = [
        ("another uid", 12345, vec![], UNKNOWN),
        ("another uid, cookie with the token", 12345, vec![cookie(TOKEN)], UNKNOWN),
        ("another uid, wrong token", 12345, vec![bearer("guess")], UNKNOWN),
        ("another uid, owner token", 12346, vec![bearer(TOKEN)], OPEN),
        ("another uid, attempt token", 12346, vec![of_attempt(&own)], [403, 403, 101, 403, 200]),
    ];
    for (row, (caller, user, headers, expected)) in (table.len()..).zip(by_others) {
        let got = targets.each_ref().map(|target| status_as(&world, user, target, row, &headers));
        assert_eq!(got, expected, "{caller}");
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_longer_or_shorter_than_it_says_changes_nothing() {
    let world = World::new().await;
    let tag = |name: &str| json!({"tag_name": name, "content": "x"}).to_string();
    let post = |length: &str, body: &str| {
        // With the token, because the kernel does not tell whose a connection is that is half closed already.
        let head = format!(
            "POST /api/tags HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\n",
            world.address
        );
        let mut stream = world.connect();
        stream.write_all(format!("{head}{length}\r\n{body}").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // A connection that is cut off is an answer too.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    };
    let (long, short) = (tag("long"), tag("short"));
    let more = post(&format!("Content-Length: {}\r\n", long.len() + 10), &long);
    assert!(!more.contains("200 OK"), "{more}");
    let less = post(&format!("Content-Length: {}\r\n", short.len() - 5), &short);
    assert!(less.starts_with("HTTP/1.1 400"), "{less}");
    let two = post("Content-Length: 2\r\nContent-Length: 50\r\n", &tag("two"));
    assert!(two.is_empty() || two.starts_with("HTTP/1.1 400"), "{two}");
    let negative = post("Content-Length: -1\r\n", &tag("negative"));
    assert!(negative.is_empty() || negative.starts_with("HTTP/1.1 400"), "{negative}");
    let tags = world.get("/api/tags").data().to_string();
    for name in ["long", "short", "two", "negative"] {
        assert!(!tags.contains(&format!("\"{name}\"")), "{tags}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_is_refused_in_the_envelope() {
    let world = World::new().await;
    let body = json!({"tag_name": "large", "content": "x".repeat(3 * 1024 * 1024)});
    assert!(world.post("/api/tags", &body).refusal(413).contains("2 MB"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_is_too_large_ends_its_socket_and_nothing_else() {
    let world = World::new().await;
    let project = world.project();
    let task = world.start(&project, "Mine", "hang");
    let run = id(&world.run_of(task["attempt_id"].as_str().unwrap()));
    let path = format!("/api/execution-processes/{run}/raw-logs/ws");
    let mut socket = world.socket(&path);
    // It may be cut off before all of it was sent.
    let _ = socket.send(Message::text("x".repeat(70 * 1024)));
    while let Ok(message) = socket.read() {
        if message.is_close() {
            break;
        }
    }
    assert_eq!(world.get("/api/projects").status, 200);
    world.socket(&path);
}
