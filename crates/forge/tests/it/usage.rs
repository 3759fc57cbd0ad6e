//! What the command line refuses, with which words and which exit code, when no server is asked.

use crate::world::{World, free_port};

#[test]
fn the_help_of_every_command_is_as_written_down() {
    let world = World::new();
    let commands = [
        "",
        "serve",
        "run",
        "logs",
        "diff",
        "list",
        "stop",
        "follow-up",
        "queue",
        "asks",
        "answer",
        "approve",
        "deny",
        "rules",
        "usage",
        "wait",
        "findings",
        "status",
        "top",
        "project",
        "task",
        "attempt",
        "image",
        "tag",
        "template",
        "doctor",
        "agents",
        "config",
        "github",
        "notices",
        "mcp",
        "events",
        "api",
        "completions",
        "man",
        "disk",
        "gc",
        "backup",
        "import",
        "snapshots",
        "restore",
        "recover",
        "trust",
        "resume",
        "view",
        "state",
        "link",
        "hooks",
        "trace",
        "migrate",
    ];
    for command in commands {
        let mut args: Vec<&str> = vec!["--help"];
        if !command.is_empty() {
            args.insert(0, command);
        }
        let ended = world.run(&args);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains("\nExample:\n  forge "), "{command} has no example");
        insta::assert_snapshot!(
            format!("help_{}", if command.is_empty() { "forge" } else { command }),
            ended.stdout
        );
    }
}

#[test]
fn the_version_is_told() {
    let ended = World::new().run(&["--version"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "forge 0.1.0\n"));
}

#[test]
fn a_command_line_that_cannot_be_right_exits_with_2() {
    let world = World::new();
    let wrong: &[(&[&str], &str)] = &[
        (&[], "Usage: forge"),
        (&["fly"], "unrecognized subcommand 'fly'"),
        (&["run"], "<PROMPT>"),
        (&["serve", "--port", "70000"], "--port"),
        (&["serve", "--all"], "--stop"),
        (&["serve", "--url", "http://127.0.0.1:1"], "--url is for client commands"),
        (
            &["serve", "--host", "localhost"],
            "--host must be an IP address such as 127.0.0.1, not \"localhost\"",
        ),
        (&["list", "--url", "https://127.0.0.1"], "does not speak TLS"),
        (&["list", "--url", "127.0.0.1:8887"], "--url must look like http://127.0.0.1:8887"),
        (&["list", "--url", "http://a", "--port", "1"], "cannot be used with"),
        (&["run", "--agent", "../x", "say hi"], "--agent: \"../x\" does not name an agent"),
        (&["run", " \n "], "the prompt is blank"),
        (&["run", "--project", "/", "say hi"], "/ is not in a git repository"),
        (&["run", "--project", "nowhere", "say hi"], "could not open the directory nowhere"),
    ];
    for (args, words) in wrong {
        let ended = world.run(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(words), "{args:?}: {}", ended.stderr);
    }
    assert!(!world.home().exists(), "a refused command makes no data");
}

#[test]
fn a_variable_with_a_wrong_value_is_named() {
    let world = World::new();
    for (name, value, words) in [
        ("BACKEND_PORT", "abc", "BACKEND_PORT must be a port from 0 to 65535, not \"abc\""),
        ("PORT", "99999", "PORT must be a port"),
        ("HOST", "example.org", "HOST must be an IP address"),
    ] {
        let output = world.forge(&["serve"]).env(name, value).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
    let output = world.forge(&["serve"]).env("RUST_LOG", "forge=loudly").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("RUST_LOG is not understood"));
}

#[test]
fn a_server_that_was_named_and_is_away_is_one_sentence_and_exit_5() {
    let world = World::new();
    let port = free_port().to_string();
    let url = format!("http://127.0.0.1:{port}");
    for args in
        [vec!["list", "--url", &url], vec!["status", "--port", &port], vec!["run", "--port", &port, "say hi"]]
    {
        let ended = world.run(&args);
        assert_eq!(ended.code, Some(5), "{ended:?}");
        assert_eq!(
            ended.stderr,
            format!("forge: no Forge server answers at {url}; start one with `forge serve`\n")
        );
    }
    for name in ["FORGE_BASE_URL", "PORT", "BACKEND_PORT"] {
        let value = if name == "FORGE_BASE_URL" { &url } else { &port };
        let output = world.forge(&["list"]).env_remove("CI").env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{name}");
    }
    assert!(!world.home().exists(), "no server was started");
}

#[test]
fn something_else_that_answers_is_not_taken_for_a_server() {
    let world = World::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
        }
    });
    let ended = world.run(&["list", "--port", &port]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
    assert!(ended.stderr.contains("is not a Forge server"), "{ended:?}");
}
