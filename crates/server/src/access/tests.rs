//! The rules on real connections, around a router that tells who the caller is.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use axum::Router;
use axum::extract::Request;
use forge_model::AttemptId;

use super::*;
use crate::Closing;
use crate::serve::listen;

const TOKEN: &str = "0123456789abcdef";

struct Server {
    address: SocketAddr,
    closing: Closing,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.begin();
    }
}

async fn server(require_token: bool) -> Server {
    server_on("127.0.0.1", require_token).await
}

async fn server_on(host: &str, require_token: bool) -> Server {
    let listener = tokio::net::TcpListener::bind((host, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let names = ["forge.lan", "Forge.example:8443", "192.0.2.7", "[2001:db8::7]"].map(String::from).to_vec();
    let file = Path::new("/home/ada/token").to_path_buf();
    let access = Access::new(address.port(), names, TOKEN.to_string(), file, require_token);
    let inside = Router::new().fallback(|request: Request| async move {
        match request.extensions().get::<Caller>() {
            Some(caller) => format!("{caller:?}"),
            None => "nobody".to_string(),
        }
    });
    let closing = Closing::new();
    let mut told = closing.guard();
    let guarded = access.guard(inside);
    tokio::spawn(listen(listener, None, guarded, closing.clone(), async move { told.closed().await }));
    Server { address, closing }
}

/// Sends a request as it stands, `PORT` replaced, and returns the status and the whole answer.
async fn raw(server: &Server, request: &str) -> (u16, String) {
    let address = server.address;
    let request = request.replace("PORT", &address.port().to_string());
    let asked = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let answer = asked.await.unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status in {answer:?}")), answer)
}

/// Sends a GET to our own name with further headers, each ending in a line break.
async fn get(server: &Server, path: &str, headers: &str) -> (u16, String) {
    let head = format!("GET {path} HTTP/1.1\r\nHost: localhost:PORT\r\nConnection: close\r\n");
    raw(server, &format!("{head}{headers}\r\n")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_our_own_names_are_served() {
    let server = server(false).await;
    let cases = [
        ("Host: localhost:PORT\r\n", 200),
        ("Host: LocalHost\r\n", 200),
        ("Host: 127.0.0.1:PORT\r\n", 200),
        ("Host: [::1]:PORT\r\n", 200),
        ("Host: forge.lan\r\n", 200),
        ("Host: FORGE.lan:PORT\r\n", 200),
        ("Host: forge.example:8443\r\n", 200),
        ("Host: forge.example\r\n", 421),
        ("Host: localhost:1\r\n", 421),
        ("Host: localhost.evil.example:PORT\r\n", 421),
        ("Host: evil.localhost:PORT\r\n", 421),
        ("Host: evil.example\r\n", 421),
        ("Host: \r\n", 421),
        ("", 421),
        ("Host: localhost\r\nHost: evil.example\r\n", 421),
    ];
    for (host, expected) in cases {
        for path in ["/", "/health", "/api/projects"] {
            let request = format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
            let (status, answer) = raw(&server, &request).await;
            assert_eq!(status, expected, "{host:?} {path} {answer}");
        }
    }
    let whole =
        "GET http://evil.example/api/projects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(raw(&server, whole).await.0, 421);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_site_is_refused() {
    let server = server(false).await;
    let cases = [
        ("Origin: http://localhost:PORT\r\n", 200),
        ("Origin: https://forge.lan\r\n", 200),
        ("Origin: https://forge.example:8443\r\n", 200),
        ("Origin: http://127.0.0.1:PORT\r\n", 403),
        ("Origin: http://localhost\r\n", 403),
        ("Origin: http://localhost:3000\r\n", 403),
        ("Origin: http://192.0.2.7:PORT\r\n", 200),
        ("Origin: http://192.0.2.7\r\n", 403),
        ("Origin: http://192.0.2.7:3000\r\n", 403),
        ("Origin: http://[2001:db8::7]:PORT\r\n", 200),
        ("Origin: https://[2001:db8::7]\r\n", 403),
        ("Origin: http://evil.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Origin: \r\n", 403),
        ("Origin: http://localhost:PORT\r\nOrigin: http://evil.example\r\n", 403),
        ("Sec-Fetch-Site: same-origin\r\n", 200),
        ("Sec-Fetch-Site: none\r\n", 200),
        ("Sec-Fetch-Site: same-site\r\n", 403),
        ("Sec-Fetch-Site: cross-site\r\n", 403),
    ];
    for (header, expected) in cases {
        for path in ["/", "/health", "/api/projects"] {
            let (status, answer) = get(&server, path, header).await;
            assert_eq!(status, expected, "{header:?} {path} {answer}");
        }
        // The right token does not open what a foreign page asks for.
        let with_token = format!("{header}Authorization: Bearer {TOKEN}\r\n");
        assert_eq!(get(&server, "/api/projects", &with_token).await.0, expected, "{header:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_on_another_site_leads_to_the_page_and_to_nothing_else() {
    let server = server(false).await;
    let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    let frame = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n";
    let script = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: script\r\n";
    assert_eq!(get(&server, "/", link).await.0, 200);
    assert_ne!(get(&server, "/a/1", link).await.0, 403);
    assert_eq!(get(&server, "/assets/index.js", link).await.0, 403);
    assert_eq!(get(&server, "/api/projects", link).await.0, 403);
    assert_eq!(get(&server, "/health", link).await.0, 403);
    assert_eq!(get(&server, "/", frame).await.0, 403);
    assert_eq!(get(&server, "/", script).await.0, 403);
    let post = format!("POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{link}\r\n");
    assert_eq!(raw(&server, &post).await.0, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_the_same_user_is_the_owner() {
    for host in ["127.0.0.1", "::1", "::"] {
        let mut server = server_on(host, false).await;
        if host == "::" {
            // A dual-stack listener sees an IPv4 client under its mapped address.
            server.address.set_ip([127, 0, 0, 1].into());
        }
        let (status, answer) = get(&server, "/api/projects", "").await;
        assert_eq!(status, 200, "{host}: {answer}");
        assert!(answer.ends_with("Owner"), "{host}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_decides_and_always_narrows() {
    let server = server(false).await;
    let attempt = AttemptId::random();
    let scoped = attempt_token(TOKEN, attempt);
    let cases = [
        (format!("Authorization: Bearer {TOKEN}\r\n"), 200, "Owner".to_string()),
        (format!("Cookie: x=y; forge_PORT={TOKEN}\r\n"), 200, "Owner".to_string()),
        (format!("Authorization: Bearer {scoped}\r\n"), 200, format!("{:?}", Caller::Attempt(attempt))),
        (format!("Cookie: forge_1={TOKEN}\r\n"), 200, "Owner".to_string()),
        ("Authorization: Bearer wrong\r\n".to_string(), 401, "not the token".to_string()),
        ("Authorization: Bearer\r\n".to_string(), 401, "not the token".to_string()),
        (format!("Authorization: Basic {TOKEN}\r\n"), 401, "not the token".to_string()),
        // Any service of the machine may have set it: only a header narrows.
        ("Cookie: forge_PORT=wrong\r\n".to_string(), 200, "Owner".to_string()),
        (format!("Cookie: forge_PORT={scoped}\r\n"), 200, "Owner".to_string()),
        (format!("Authorization: Bearer wrong\r\nCookie: forge_PORT={TOKEN}\r\n"), 401, "not".to_string()),
    ];
    for (headers, expected, told) in cases {
        let (status, answer) = get(&server, "/api/projects", &headers).await;
        assert_eq!(status, expected, "{headers:?} {answer}");
        assert!(answer.contains(&told), "{headers:?} {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_the_same_user_does_not_make_its_callers_owners() {
    let server = server(false).await;
    let marks = [
        "X-Forwarded-For: 10.0.0.9",
        "X-Forwarded-Host: forge.lan",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Port: 443",
        "X-Forwarded-Server: front",
        "X-Forwarded-Prefix: /forge",
        "X-Forward-For: 10.0.0.9",
        "Forwarded: for=10.0.0.9",
        "Via: 1.1 proxy",
        "X-Real-IP: 10.0.0.9",
        "X-Client-IP: 10.0.0.9",
        "Client-IP: 10.0.0.9",
        "X-Cluster-Client-IP: 10.0.0.9",
        "True-Client-IP: 10.0.0.9",
        "CF-Connecting-IP: 10.0.0.9",
        "CF-Ray: 1",
        "Fastly-Client-IP: 10.0.0.9",
        "Tailscale-User-Login: eve@example.com",
        "X-Envoy-External-Address: 10.0.0.9",
        "X-Original-URL: /api/projects",
        "X-Original-Forwarded-For: 10.0.0.9",
        "X-ProxyUser-Ip: 10.0.0.9",
        "X-Azure-ClientIP: 10.0.0.9",
        "X-Auth-Request-Email: eve@example.com",
    ];
    for mark in marks {
        let refused = get(&server, "/api/projects", &format!("{mark}\r\n")).await.0;
        assert!(matches!(refused, 401 | 429), "{mark:?}: {refused}");
        let with_token = format!("{mark}\r\nAuthorization: Bearer {TOKEN}\r\n");
        assert_eq!(get(&server, "/api/projects", &with_token).await.0, 200, "{mark:?}");
    }
    // What clients send for themselves marks nobody.
    let plain = "User-Agent: x\r\nX-Request-Id: 1\r\nTraceparent: 00-1-1-00\r\nIdempotency-Key: k\r\n\
                 X-Requested-With: XMLHttpRequest\r\nAccept: */*\r\n";
    assert_eq!(get(&server, "/api/projects", plain).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_cookie_lets_in_whoever_it_was_made_for() {
    let server = server(true).await;
    let own = session::key(TOKEN, Holder::SameUser);
    let cases = [
        (format!("Cookie: forge_PORT={own}\r\n"), 200),
        // A browser sends another service's cookie first when its path is longer.
        (format!("Cookie: forge_PORT=x; forge_PORT={own}\r\n"), 200),
        (format!("Cookie: forge_PORT={own}; forge_PORT=x\r\n"), 200),
        (format!("Cookie: forge_PORT=x\r\nCookie: forge_PORT={own}\r\n"), 200),
        (format!("Cookie: forge_PORT={TOKEN}\r\n"), 200),
        ("Cookie: forge_PORT=x\r\n".to_string(), 401),
        (format!("Cookie: forge_PORT={}\r\n", session::key(TOKEN, Holder::OtherUser(7))), 401),
        (format!("Cookie: forge_PORT={}\r\n", session::key("another", Holder::SameUser)), 401),
        (format!("Authorization: Bearer {own}\r\n"), 401),
        // A proxy of the same user hands on what its caller has brought.
        (format!("X-Forwarded-For: 10.0.0.9\r\nCookie: forge_PORT={own}\r\n"), 200),
    ];
    for (headers, expected) in cases {
        let (status, answer) = get(&server, "/api/projects", &headers).await;
        assert_eq!(status, expected, "{headers:?} {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_cookies_do_not_keep_a_peer_from_bringing_the_token() {
    let server = server(true).await;
    let far = "X-Forwarded-For: 10.0.0.9\r\n";
    for _ in 0..12 {
        let refused = get(&server, "/api/projects", &format!("{far}Cookie: forge_PORT=x\r\n")).await.0;
        assert!(matches!(refused, 401 | 429), "{refused}");
    }
    let with_token = format!("{far}Cookie: forge_PORT=x\r\nAuthorization: Bearer {TOKEN}\r\n");
    assert_eq!(get(&server, "/api/projects", &with_token).await.0, 200);
}

#[test]
fn a_peer_elsewhere_that_guessed_cookies_too_often_is_not_told_when_one_is_right() {
    let access = Access::new(1, Vec::new(), TOKEN.to_string(), "/home/ada/token".into(), true);
    let far = Peer::Address([192, 0, 2, 1].into());
    let ask = |cookie: &str| {
        let mut request = Request::builder().header("Cookie", format!("forge_1={cookie}")).body(()).unwrap();
        request.extensions_mut().insert(far);
        access.identify(&request.map(|()| axum::body::Body::empty()), Holder::Elsewhere)
    };
    assert_eq!(ask(TOKEN).unwrap(), Caller::Owner);
    for _ in 0..11 {
        ask("guess").unwrap_err();
    }
    ask(TOKEN).unwrap_err();
    assert_eq!(access.caller(Some(TOKEN), Some(far)).unwrap(), Caller::Owner);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_token_is_required_the_refusal_says_where_it_is() {
    let server = server(true).await;
    let (status, answer) = get(&server, "/api/projects", "").await;
    assert_eq!(status, 401);
    assert!(answer.contains("/home/ada/token"), "{answer}");
    assert!(answer.to_ascii_lowercase().contains("www-authenticate: bearer"), "{answer}");
    let (status, _) = get(&server, "/api/projects", &format!("Authorization: Bearer {TOKEN}\r\n")).await;
    assert_eq!(status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_the_page_and_the_exchange_of_the_token_need_none() {
    let server = server(true).await;
    assert_eq!(get(&server, "/health", "").await.0, 200);
    assert_eq!(get(&server, "/", "").await.0, 200);
    let session = "POST /api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(raw(&server, session).await.0, 200);
    assert_eq!(raw(&server, &session.replace("POST", "GET")).await.0, 401);
    assert_eq!(raw(&server, &session.replace("/api/session", "/")).await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_drops_a_cookie_that_outlived_its_token_and_mends_one_that_holds_it() {
    let server = server(false).await;
    let port = server.address.port();
    let page = async |cookie: &str| get(&server, "/", &format!("Cookie: forge_PORT={cookie}\r\n")).await.1;
    assert!(page("old").await.contains(&format!("set-cookie: forge_{port}=; ")));
    let own = session::key(TOKEN, Holder::SameUser);
    assert!(!page(&own).await.contains("set-cookie"));
    assert!(page(TOKEN).await.contains(&format!("set-cookie: forge_{port}={own}; ")));
    assert!(!get(&server, "/", "").await.1.contains("set-cookie"));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_this_machine_needs_the_token() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root can become another user; nothing was tried");
        return;
    }
    let server = server(false).await;
    let port = server.address.port();
    let ask = move |user: u32, header: Option<String>| {
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={user}")).arg("--clear-groups").args(["curl", "-sS", "-m", "30"]);
        if let Some(header) = header {
            command.arg("-H").arg(header);
        }
        let output = command.arg(format!("http://127.0.0.1:{port}/api/projects")).output();
        let output = output.expect("this test needs `setpriv` (util-linux) and `curl`");
        assert!(output.status.success(), "curl under setpriv failed: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let asked = tokio::task::spawn_blocking(move || {
        assert_eq!(ask(0, None), "Owner");
        for user in [65534, 12345] {
            let told = ask(user, None);
            assert!(told.contains("send the token in the file `token`"), "{told}");
            assert!(!told.contains("/home/ada"), "{told}");
        }
        assert_eq!(ask(65534, Some(format!("Authorization: Bearer {TOKEN}"))), "Owner");
        // A service of another user reads the cookies that a browser sends to this host name; it gets nowhere by them.
        let cookie = |value: String| Some(format!("Cookie: forge_{port}={value}"));
        for value in [TOKEN.to_string(), session::key(TOKEN, Holder::SameUser)] {
            assert!(ask(12345, cookie(value)).contains("send the token"));
        }
        // Whoever has brought the token as that user is let in by their own key.
        assert_eq!(ask(12345, cookie(session::key(TOKEN, Holder::OtherUser(12345)))), "Owner");
        assert!(ask(12346, cookie(session::key(TOKEN, Holder::OtherUser(12345)))).contains("send the token"));
    });
    asked.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_limited_and_the_owner_on_this_machine_is_never_locked_out() {
    let server = server(true).await;
    let wrong = "Authorization: Bearer guess\r\n";
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    for headers in [wrong, ""] {
        for _ in 0..10 {
            assert_eq!(get(&server, "/api/projects", headers).await.0, 401);
        }
        let (status, answer) = get(&server, "/api/projects", headers).await;
        assert_eq!(status, 429, "{answer}");
        let wait = answer.lines().find_map(|line| line.strip_prefix("retry-after: ")).unwrap();
        assert!((1..=10).contains(&wait.parse::<u32>().unwrap()), "{answer}");
        assert!(answer.contains("\"success\":false") && answer.contains("too many requests"), "{answer}");
        assert_eq!(get(&server, "/api/projects", &right).await.0, 200);
    }
    // The page and its exchange of the token stay open, and nobody else waits.
    assert_eq!(get(&server, "/", "").await.0, 200);
    let proxied = format!("X-Forwarded-For: 10.0.0.9\r\n{wrong}");
    let (status, answer) = get(&server, "/api/projects", &proxied).await;
    assert_eq!(status, 401, "{answer}");
    assert!(!answer.contains("/home/ada"), "a proxy's callers are not told where the token is: {answer}");
}

#[test]
fn a_peer_elsewhere_that_guessed_too_often_is_not_told_when_it_is_right() {
    let access = Access::new(1, Vec::new(), TOKEN.to_string(), "/home/ada/token".into(), true);
    let far = Some(Peer::Address([192, 0, 2, 1].into()));
    for _ in 0..11 {
        let refused = access.caller(Some("guess"), far).unwrap_err();
        assert!(!format!("{refused:?}").contains("/home/ada"), "{refused:?}");
    }
    assert_eq!(access.caller(Some(TOKEN), far).unwrap_err().into_response().status(), 429);
    for other in [Peer::SameUser, Peer::OtherUser(7), Peer::Address([192, 0, 2, 2].into())] {
        assert_eq!(access.caller(Some(TOKEN), Some(other)).unwrap(), Caller::Owner);
    }
    for _ in 0..20 {
        access.caller(Some("guess"), Some(Peer::OtherUser(7))).unwrap_err();
    }
    assert_eq!(access.caller(Some(TOKEN), Some(Peer::OtherUser(7))).unwrap(), Caller::Owner);
}
