//! The small live page.

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn the_page_runs_its_own_script_only_and_holds_nothing_of_the_persons() {
    let world = World::new().await;
    world.project();
    let (first, second) = (world.get("/"), world.get("/"));
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
}
