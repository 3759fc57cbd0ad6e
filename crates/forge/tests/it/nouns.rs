//! Projects, tasks, settings and landing, from the command line: what is printed, and what is refused with which words.

use std::fs;

use crate::world::World;

#[test]
fn a_name_that_fits_nothing_says_what_lists_them() {
    let world = World::new();
    let _server = world.serve();
    let refused: &[(&[&str], i32, &str)] = &[
        (&["project", "show"], 3, "`forge project add` makes it one"),
        (&["project", "show", "nowhere"], 3, "`forge project` lists them all"),
        (&["task", "show", "abcd"], 3, "`forge task list` shows them"),
        (&["task", "show", "ab"], 2, "at least 4 digits"),
        (&["attempt", "show", "abcd"], 3, "`forge list` shows them all"),
        (&["tag", "show", "nothing"], 3, "see `forge tag`"),
        (&["template", "show", "nothing"], 3, "see `forge template`"),
        (&["config", "get", "nothing"], 3, "there is no setting nothing; there are:"),
        (&["man", "fly"], 3, "there is no command forge fly"),
        (&["api", "api/board"], 2, "a path begins with a slash"),
    ];
    for (args, code, words) in refused {
        let ended = world.run(args);
        assert_eq!(ended.code, Some(*code), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(words), "{args:?}: {ended:?}");
    }
}

#[test]
fn projects_are_named_by_name_digits_or_directory() {
    let world = World::new();
    let _server = world.serve();
    let made = world.json(&["project", "add", "--name", "shop"]);
    let id = made["id"].as_str().unwrap();
    let path = world.repository();
    for name in ["shop", id, &id[..6], path.to_str().unwrap()] {
        assert_eq!(world.json(&["project", "show", name])["id"], id, "{name}");
    }
    assert_eq!(world.json(&["project", "show"])["id"], id);
    world.run(&["project", "set", "shop", "--setup-script", "make", "--copy-files", ".env"]);
    assert_eq!(world.json(&["project", "show"])["setup_script"], "make");
    let changed = world.json(&["project", "set", "--setup-script", ""]);
    assert_eq!((changed["setup_script"].is_null(), &changed["copy_files"]), (true, &".env".into()));
    assert_eq!(world.run(&["project", "set"]).code, Some(2));

    let gone = world.run(&["project", "remove", "shop"]);
    let (_, back) = gone.stdout.split_once("`forge ").unwrap();
    let back: Vec<&str> = back.split('`').next().unwrap().split(' ').collect();
    assert_eq!(world.run(&back).code, Some(0), "{gone:?}");
    assert_eq!(world.json(&["project", "show", "shop"])["id"], id);
}

#[test]
fn tasks_are_added_moved_filtered_and_brought_back() {
    let world = World::new();
    let _server = world.serve();
    world.run(&["project", "add"]);
    let one = world.json(&["task", "add", "one", "--description", "say hello"]);
    let two = world.json(&["task", "add", "two"]);
    let (one, two) = (one["id"].as_str().unwrap(), two["id"].as_str().unwrap());
    assert_eq!(world.json(&["task", "move", one, "in-review"])["status"], "inreview");
    let listed = world.run(&["task", "list", "--status", "in-review"]).stdout;
    assert!(listed.contains(&one[..8]) && !listed.contains(&two[..8]), "{listed}");
    let shown = world.run(&["task", "show", &one[..8]]).stdout;
    assert!(shown.contains("title   one") && shown.ends_with("\nsay hello\n"), "{shown}");
    // The exit code of what is waited for is that of the attempt.
    let failed = world.run(&["task", "add", "exit 3", "--start", "SCRIPTED", "--wait"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let ended = world.run(&["attempt", "start", one, "--agent", "SCRIPTED", "--wait"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(world.run(&["task", "delete", one]).code, Some(0));
    assert_eq!(world.run(&["task", "show", one]).code, Some(3));
    assert_eq!(world.run(&["recover", &one[..8]]).code, Some(0));
    assert_eq!(world.json(&["task", "show", one])["title"], "one");
}

#[test]
fn a_conflict_is_exit_4_with_what_to_do_and_can_be_taken_back() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("edit README.md theirs");
    world.until_state(&id, "finished");
    fs::write(world.repository().join("README.md"), "mine\n").unwrap();
    world.git(&["commit", "--all", "--quiet", "--message=mine"]);
    let refused = world.run(&["attempt", "merge", &id]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains(&format!("forge attempt rebase {}  ", &id[..8])), "{refused:?}");
    let refused = world.run(&["attempt", "rebase", &id]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains(&format!("forge attempt abort {}  ", &id[..8])), "{refused:?}");
    let status = world.run(&["attempt", "status", &id]).stdout;
    assert!(status.contains("in progress  rebase") && status.contains("conflicts    README.md"), "{status}");
    let refused = world.run(&["attempt", "continue", &id]);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("README.md"), "{refused:?}");
    assert_eq!(world.run(&["attempt", "abort", &id]).code, Some(0));
    assert_eq!(world.json(&["attempt", "status", &id])["is_rebase_in_progress"], false);
    world.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(world.run(&["attempt", "rebase", &id]).code, Some(0));
    let landed = world.run(&["attempt", "merge", &id, "--wait"]);
    assert!(landed.code == Some(0) && landed.stdout.contains("landed on main as "), "{landed:?}");
    assert_eq!(fs::read_to_string(world.repository().join("README.md")).unwrap(), "theirs\n");
}

#[test]
fn settings_are_got_set_and_edited() {
    let world = World::new();
    let _server = world.serve();
    assert_eq!(world.run(&["config", "set", "limits.max_running", "4"]).stdout, "4\n");
    assert!(world.run(&["config", "list"]).stdout.contains("\nlimits.max_running = 4\n"));
    assert_eq!(world.run(&["config", "set", "theme", "DARK"]).stdout, "DARK\n");
    let wrong = world.run(&["config", "set", "theme", "PINK"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let edit = |editor: &str| {
        let done = world.forge(&["config", "edit"]).env("EDITOR", editor).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    assert_eq!(edit("sed -i s/DARK/LIGHT/").0, Some(0));
    assert_eq!(world.run(&["config", "get", "theme"]).stdout, "LIGHT\n");
    assert!(edit("true").1.contains("nothing is changed"));
    assert_eq!(edit("false").0, Some(4));
    let spoiled = edit("sh -c 'echo nonsense > \"$0\"'");
    assert!(spoiled.0 == Some(2) && spoiled.1.contains("nothing is changed"), "{spoiled:?}");
    assert_eq!(world.run(&["config", "edit"]).code, Some(2), "without an editor");
    let path = world.run(&["config", "path"]).stdout;
    assert_eq!(path.trim(), world.home().join("config.json").to_str().unwrap());
    let left = fs::read_dir(world.path("temporary")).unwrap().flatten();
    assert_eq!(left.filter(|one| one.file_name().to_string_lossy().contains("config.json")).count(), 0);
}

#[test]
fn shells_and_manuals_know_every_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let told = world.run(&["completions", shell]);
        assert!(told.code == Some(0) && told.stdout.contains("follow-up"), "{shell}");
    }
    let page = world.run(&["man", "attempt", "merge"]);
    assert!(page.code == Some(0) && page.stdout.contains("Land an attempt"), "{page:?}");
    let dir = world.path("man1");
    let told = world.run(&["man", "--write", dir.to_str().unwrap()]);
    assert_eq!(told.code, Some(0), "{told:?}");
    for page in ["forge.1", "forge-attempt-pr-create.1", "forge-doctor.1"] {
        assert!(fs::read_to_string(dir.join(page)).unwrap().contains(".TH"), "{page}");
    }
    assert!(!world.home().exists(), "none of this needs a server");
}
