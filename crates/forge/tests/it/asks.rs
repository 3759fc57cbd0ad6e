//! Rules, the record of asks, the queue and what was used, on the command line.

use crate::world::World;

#[test]
fn rules_are_added_listed_and_removed_and_the_record_names_them() {
    let world = World::new();
    let _server = world.serve();
    let nowhere = world.run(&["rules"]);
    assert_eq!(nowhere.code, Some(3), "{nowhere:?}");
    // The first attempt makes the repository a project.
    let first = world.attempt("use 1000 20 5 1234567");
    world.until_state(&first, "finished");
    for rule in [&["allow", "command", "git status"][..], &["allow", "read-only"]] {
        let added = world.run(&[&["rules", "add"], rule].concat());
        assert_eq!(added.code, Some(0), "{added:?}");
    }
    world.run(&["rules", "add", "deny", "tool", "WebFetch", "--at", "1"]);
    let listed = world.run(&["rules"]).stdout;
    assert_eq!(
        listed,
        "  1  deny tool WebFetch\n  2  allow command git status\n  3  allow read-only tools\n"
    );
    world.run(&["rules", "remove", "3"]);
    assert_eq!(world.json(&["rules"]).as_array().unwrap().len(), 2);
    let wrong = world.run(&["rules", "add", "allow", "command", "ls; rm x"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("is no single command"), "{wrong:?}");

    let script = "permit Bash {\"command\": \"git status\"}\nask which colour?";
    let asks = world.attempt(script);
    world.until_state(&asks, "waiting");
    let open = world.run(&["asks"]).stdout;
    assert!(open.contains("question: which colour?") && open.lines().count() == 1, "{open}");
    world.run(&["answer", &asks, "blue"]);
    world.until_state(&asks, "finished");
    let record = world.run(&["asks", "--all", &asks]).stdout;
    assert!(record.contains("by rule 2: allow command git status"), "{record}");
    assert!(record.contains("by owner (command line): blue"), "{record}");

    let used = world.run(&["usage", "--by", "agent"]).stdout;
    let row: Vec<&str> = used.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["SCRIPTED", "1", "1000", "20", "-", "5", "$1.2346"]);
}

#[test]
fn a_permission_is_shown_with_all_it_is_for_wherever_it_is_asked() {
    let world = World::new();
    let _server = world.serve();
    let permit = |command: &str| {
        let input = serde_json::json!({"command": command, "description": "clean up"});
        format!("permit Bash {input}")
    };
    let run =
        world.start(&["run", "--agent", "SCRIPTED", &permit("cd /tmp/zzz\nrm -rf a\u{202e}b"), "--detach"]);
    drop(run.wait_open());
    let first = world.json(&["list"])[0]["id"].as_str().unwrap().to_string();
    world.until_state(&first, "waiting");
    let whole = ["    cd /tmp/zzz\n", "    rm -rf a<U+202E>b\n", "    why: clean up\n"];
    let id = world.json(&["asks"])[0]["approval_id"].as_str().unwrap()[..8].to_string();
    let logs = world.run(&["logs", &first]);
    let shown = [
        ("status", world.run(&["status"]).stdout),
        ("asks", world.run(&["asks"]).stdout),
        ("logs", format!("{}{}", logs.stdout, logs.stderr)),
        ("following", {
            let mut follows = world.start(&["logs", "--follow", &first]);
            follows.line_with("forge approve ");
            assert_eq!(world.run(&["stop", &first]).code, Some(0));
            let ended = follows.wait_open();
            format!("{}{}", ended.stdout, ended.stderr)
        }),
    ];
    for (place, text) in shown {
        for part in whole.iter().chain([&id.as_str()]) {
            assert!(text.contains(part), "{place} does not show {part:?}: {text}");
        }
        assert!(place == "asks" || text.contains(&format!("`forge approve {id}`")), "{place}: {text}");
    }

    // Two that wait are told apart by what they are for, and each is answered by its own id.
    let (one, two) = (world.attempt(&permit("npm publish")), world.attempt(&permit("git push --force")));
    for id in [&one, &two] {
        world.until_state(id, "waiting");
    }
    let asks = world.json(&["asks"]);
    let pushes = asks.as_array().unwrap().iter().find(|ask| ask["input"]["command"] == "git push --force");
    let push = &pushes.unwrap()["approval_id"].as_str().unwrap()[..8];
    assert_eq!(world.run(&["deny", push, "not today"]).code, Some(0));
    world.until_state(&two, "finished");
    assert_eq!(world.run(&["asks"]).stdout.lines().filter(|line| line.contains("npm publish")).count(), 2);
}

#[test]
fn with_yes_nothing_is_asked_and_the_exit_code_is_that_of_the_attempt() {
    let world = World::new();
    let _server = world.serve();
    let script = "permit Bash {\"command\": \"make; make install\"}\nask which colour?";
    let ended = world.run(&["run", "--agent", "SCRIPTED", "--yes", script]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("nobody is there to answer"), "{ended:?}");
}

#[test]
fn a_limit_ends_following_with_its_time() {
    let world = World::new();
    let _server = world.serve();
    let ended = world.run(&["run", "--agent", "SCRIPTED", "limit 3600000"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("is limited: "), "{ended:?}");
    assert!(world.run(&["list"]).stdout.contains("limited   SCRIPTED"));
    assert!(world.run(&["status"]).stdout.contains("is limited until 20"));
}

#[test]
fn what_waits_is_listed_edited_moved_and_taken_back() {
    let world = World::new();
    std::fs::create_dir_all(world.home()).unwrap();
    std::fs::write(world.home().join("config.json"), "{\"limits\": {\"max_running\": 1}}").unwrap();
    let _server = world.serve();
    let rests = world.attempt("say hi");
    world.until_state(&rests, "finished");
    // The only place is taken, so what the other is told has to wait.
    let runs = world.attempt("ask hold");
    world.until_state(&runs, "waiting");
    for text in ["say one", "say two", "say three"] {
        let told = world.run(&["follow-up", &rests, text]);
        assert!(told.stdout.contains("when its turn ends"), "{told:?}");
    }
    let listed = |args: &[&str]| world.run(&[&["queue", &rests], args].concat()).stdout;
    assert_eq!(listed(&[]), "  1  say one\n  2  say two\n  3  say three\n");
    assert_eq!(listed(&["move", "3", "1"]), "  1  say three\n  2  say one\n  3  say two\n");
    assert_eq!(listed(&["edit", "2", "say four"]), "  1  say three\n  2  say four\n  3  say two\n");
    assert_eq!(listed(&["remove", "1"]), "  1  say four\n  2  say two\n");
    let wrong = world.run(&["queue", &rests, "remove", "7"]);
    assert_eq!(wrong.code, Some(3), "{wrong:?}");
    world.run(&["stop", &runs]);
    world.until_state(&rests, "finished");
}
