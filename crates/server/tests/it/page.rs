//! The pages for people: the small live one, and the API to read and to try.

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_runs_its_own_script_only_loads_nothing_and_holds_nothing_of_the_persons() {
    let world = World::new().await;
    world.project();
    for path in ["/", "/docs"] {
        check(&world, path);
    }
}

fn check(world: &World, path: &str) {
    let (first, second) = (world.get(path), world.get(path));
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
    assert!(!first.text.contains("demo"), "the page itself names no project");
    assert!(!first.text.contains("innerHTML"), "text never becomes markup");
    // The name of SVG's own language is no address that anybody asks.
    let text = first.text.replace("http://www.w3.org/2000/svg", "");
    assert!(!text.contains("src=\"") && !text.contains("://"), "{path} names another place");
}
