//! The pages for people: the board, which the binary carries, and the API to read and to try.

use crate::world::{Answer, World};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' blob: data:; font-src 'self'; manifest-src 'self'; worker-src 'self'; \
    frame-src http://*.localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types forge";

/// Asks for the board's page, which is there when `web` was built before this test was.
fn board(world: &World, path: &str) -> Answer {
    let page = world.get(path);
    let built = page.text.contains("id=\"root\"");
    assert!(built, "build the board first: cd web && npm ci && npm run build");
    page
}

/// The address of the board's script.
fn script(world: &World) -> String {
    let page = board(world, "/").text;
    let from = page.find("/assets/frame-").unwrap();
    page[from..].split('"').next().unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_board_is_at_each_of_its_addresses_under_a_strict_policy_and_holds_nothing_of_the_persons() {
    let world = World::new().await;
    world.project();
    for path in ["/", "/p/1", "/inbox", "/t/1", "/a/1", "/a/1/changes", "/settings/agents", "/welcome?x=1"] {
        let page = board(&world, path);
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("content-security-policy"), Some(POLICY.to_lowercase().as_str()));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"));
        assert!(!page.text.contains("demo"), "the page itself names no project");
        assert!(!page.text.contains("://") && !page.text.contains("<style"), "{}", page.text);
        let inline = page.text.split("<script").skip(1).filter(|tag| !tag.contains("src=\"/assets/"));
        assert_eq!(inline.count(), 0, "{}", page.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_names_the_scripts_of_what_it_shows_and_each_is_there() {
    let world = World::new().await;
    for (path, part) in [("/", "board-"), ("/p/1", "board-"), ("/a/1", "attempt-"), ("/inbox", "InboxPage-")]
    {
        let page = board(&world, path).text;
        let named: Vec<&str> =
            page.split('"').filter(|word| word.starts_with("/assets/")).map(|word| &word[8..]).collect();
        let is_named = |part: &str| named.iter().any(|name| name.starts_with(part) && name.ends_with(".js"));
        assert!(is_named("index-") && is_named("frame-") && is_named(part), "{path}: {named:?}");
        assert!(!is_named("SettingsPage-"), "{path} needs no settings: {named:?}");
        for name in named {
            assert_eq!(world.get(&format!("/assets/{name}")).status, 200, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn its_script_is_kept_for_good_compressed_for_whoever_can_read_that_and_sent_once() {
    let world = World::new().await;
    let path = script(&world);
    let plain = world.get(&path);
    assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
    assert_eq!(plain.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let small = world.call("GET", &path, &[("Accept-Encoding", "gzip, br")], None);
    assert_eq!(small.header("content-encoding"), Some("gzip"));
    let length = |answer: &Answer| answer.header("content-length").unwrap().parse::<usize>().unwrap();
    assert!(length(&small) * 2 < length(&plain), "{} of {}", length(&small), length(&plain));
    let etag = plain.header("etag").unwrap();
    let again = world.call("GET", &path, &[("If-None-Match", etag)], None);
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    for path in [path.as_str(), "/", "/icon.svg"] {
        let (head, whole) = (world.call("HEAD", path, &[], None), world.get(path));
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-length"), whole.header("content-length"));
    }
    let icon = world.get("/icon.svg");
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
    assert_eq!(icon.header("cache-control"), Some("no-cache"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_told_to_people_by_the_page_and_to_programs_in_the_envelope() {
    let world = World::new().await;
    let html = [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let lost = world.call("GET", "/lost", &html, None);
    assert_eq!(lost.status, 404);
    assert!(lost.text.contains("id=\"root\""), "the page says it");
    assert_eq!(lost.header("content-security-policy"), Some(POLICY.to_lowercase().as_str()));
    assert!(world.get("/lost").refusal(404).contains("/lost"));
    for path in ["/assets/none.js", "/assets/", "/index.html.gz"] {
        world.get(path).refusal(404);
    }
    world.call("GET", "/assets/none.js", &html, None).refusal(404);
    world.call("GET", "/api/none", &html, None).refusal(404);
    world.call("POST", "/inbox", &[], None).refusal(405);
    world.call("POST", &script(&world), &[], None).refusal(405);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_out_of_the_board() {
    let world = World::new().await;
    for path in [
        "/assets/../../etc/passwd",
        "/assets/..%2f..%2f..%2fetc/passwd",
        "/assets/%2e%2e/%2e%2e/Cargo.toml",
        "/assets//etc/passwd",
        "/../../etc/passwd",
        "/.gitkeep",
    ] {
        world.get(path).refusal(404);
    }
    // A page's own router makes of the rest what it likes; the server gives it the same page.
    assert_eq!(world.get("/a/../../etc/passwd").text, board(&world, "/a/1").text);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_the_api_runs_its_own_script_only_and_loads_nothing() {
    let world = World::new().await;
    let (first, second) = (world.get("/docs"), world.get("/docs"));
    assert_eq!(first.status, 200);
    assert!(first.header("content-type").unwrap().starts_with("text/html"));
    let policy = first.header("content-security-policy").unwrap();
    let nonce = policy.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    assert!(nonce.len() >= 32);
    assert!(first.text.contains(&format!("<script nonce=\"{nonce}\">")));
    assert!(first.text.contains(&format!("<style nonce=\"{nonce}\">")));
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_ne!(first.text, second.text, "a nonce is used once");
    assert!(!first.text.contains("{{"), "every place is filled in");
    assert!(!first.text.contains("innerHTML"), "text never becomes markup");
    // The name of SVG's own language is no address that anybody asks.
    let text = first.text.replace("http://www.w3.org/2000/svg", "");
    assert!(!text.contains("src=\"") && !text.contains("://"), "the page names another place");
}
