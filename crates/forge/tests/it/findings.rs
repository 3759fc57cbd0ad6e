//! What an agent changed outside its worktree, from the command line: shown, put back, dismissed.

use crate::world::World;

#[test]
fn what_an_agent_changed_in_the_checkout_is_shown_and_put_back() {
    let world = World::new();
    let _server = world.serve();
    let top = world.repository().canonicalize().unwrap();
    let script =
        format!("run echo spoiled > {0}/README.md; echo stray > {0}/stray; git branch mine", top.display());
    let ended = world.run(&["run", "--agent", "SCRIPTED", &script]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("ref updates aborted by hook"), "{ended:?}");
    let attempt = world.json(&["list"])[0].clone();
    assert_eq!(attempt["findings"], 2);
    let id = attempt["id"].as_str().unwrap();

    let shown = world.run(&["findings", id]);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert!(lines[0].contains("seen: README.md in your checkout changed during the turn"), "{shown:?}");
    assert!(lines[1].contains("seen: stray in your checkout appeared during the turn"), "{shown:?}");
    let finding = |line: &str| line.split(' ').next().unwrap().to_string();
    let restored = world.run(&["findings", id, "--restore", &finding(lines[0])]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(restored.stdout.contains("restored: README.md"), "{restored:?}");
    assert_eq!(std::fs::read_to_string(top.join("README.md")).unwrap(), "hello\n");
    let dismissed = world.json(&["findings", id, "--dismiss", &finding(lines[1])]);
    assert_eq!(dismissed["state"], "dismissed");
    assert!(top.join("stray").exists());
    assert_eq!(world.json(&["list"])[0]["findings"], 0);

    let again = world.run(&["findings", id, "--restore", &finding(lines[1])]);
    assert_eq!(again.code, Some(4), "{again:?}");
    let unknown = world.run(&["findings", id, "--restore", "ffffffff"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
}
