//! Attempts from the command line, from start to end, played by the scripted agent.

use rustix::process::Signal;
use serde_json::json;

use crate::map_streams::call;
use crate::world::{Running, World};

#[test]
fn a_run_shows_what_the_agent_says_and_does_and_ends_with_it() {
    let world = World::new();
    let _server = world.serve();
    let script = "say Hello there\nthink hm\nedit a.txt content\nrun echo out; false\nsay Bye";
    let ended = world.run(&["run", "--agent", "scripted", script]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected =
        "Hello there\nhm\n• edit a.txt\n• $ echo out; false\n  failed with exit code 1: out\nBye\n";
    assert_eq!(ended.stdout, expected);
    assert!(ended.stderr.contains(" on branch forge/"), "{ended:?}");
    assert!(ended.stderr.contains(" finished; its work is on forge/"), "{ended:?}");

    let attempt = world.json(&["list"])[0].clone();
    assert_eq!((&attempt["state"], &attempt["executor"]), (&json!("finished"), &json!("SCRIPTED")));
    assert_eq!(attempt["task"]["title"], "say Hello there");
    let branch = attempt["branch"].as_str().unwrap();
    assert_eq!(world.git(&["show", &format!("{branch}:a.txt")]), "content\n");
    assert_eq!(world.git(&["status", "--porcelain"]), "", "the person's checkout is untouched");
}

#[test]
fn a_run_follows_the_attempt_into_its_exit_code() {
    let world = World::new();
    let _server = world.serve();
    let failed = world.run(&["run", "--agent", "SCRIPTED", "say I try\nexit 3"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.stderr.contains(" is failed"), "{failed:?}");

    let mut stopped = world.start(&["run", "--agent", "SCRIPTED", "say here I am\nhang"]);
    stopped.line_with("here I am");
    let id = world.json(&["list"])[0]["id"].as_str().unwrap().to_string();
    let stop = world.run(&["stop", &id]);
    assert_eq!(stop.code, Some(0), "{stop:?}");
    assert!(stop.stdout.contains(" is stopped; its work is on forge/"), "{stop:?}");
    assert_eq!(stopped.end().code, Some(6));

    let missing = world.run(&["run", "--agent", "NOBODY", "hi"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("NOBODY"), "{missing:?}");
}

#[test]
fn a_second_run_uses_the_project_of_the_first_also_from_below() {
    let world = World::new();
    let _server = world.serve();
    std::fs::create_dir(world.repository().join("below")).unwrap();
    assert_eq!(world.run(&["run", "--agent", "SCRIPTED", "say one"]).code, Some(0));
    let ended = world.run(&["run", "--agent", "SCRIPTED", "--project", "below", "say two"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(world.json(&["status"])["projects"], 1);
}

#[test]
fn a_run_in_the_worktree_of_an_attempt_goes_on_from_its_branch_in_the_same_project() {
    let world = World::new();
    let _server = world.serve();
    assert_eq!(world.run(&["run", "--agent", "SCRIPTED", "edit one.txt 1"]).code, Some(0));
    let first = world.json(&["list"])[0].clone();
    let worktree = first["worktree_path"].as_str().unwrap();
    let ended = world.run(&["run", "--agent", "SCRIPTED", "--project", worktree, "edit two.txt 2"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let second = world.json(&["list"])[0].clone();
    assert_eq!(second["target_branch"], first["branch"]);
    assert_eq!(second["project_id"], first["project_id"]);
    assert_eq!(world.json(&["status"])["projects"], 1);
}

#[test]
fn a_run_without_a_branch_checked_out_needs_one_named() {
    let world = World::new();
    let _server = world.serve();
    let branch = world.git(&["branch", "--show-current"]).trim().to_string();
    world.git(&["checkout", "--quiet", "--detach"]);
    let ended = world.run(&["run", "--agent", "SCRIPTED", "say hi"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("name the branch to start from with --base"), "{ended:?}");
    let ended = world.run(&["run", "--agent", "SCRIPTED", "--base", &branch, "say hi"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_bare_repository_is_called_one() {
    let world = World::new();
    world.git(&["clone", "--quiet", "--bare", ".", "bare.git"]);
    let bare = world.path("bare.git");
    std::fs::rename(world.repository().join("bare.git"), &bare).unwrap();
    let ended = world.run(&["run", "--project", bare.to_str().unwrap(), "say hi"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("bare.git is a bare repository"), "{ended:?}");
}

#[test]
fn a_list_of_what_runs_does_not_say_that_there_is_nothing_else() {
    let world = World::new();
    let _server = world.serve();
    assert!(world.run(&["list", "--running"]).stderr.contains("no agent runs"));
    assert!(world.run(&["list"]).stderr.contains("there is no attempt yet"));
}

#[test]
fn a_prompt_that_is_too_long_is_answered_with_what_to_do() {
    let world = World::new();
    let _server = world.serve();
    let mut command = world.forge(&["run", "--agent", "SCRIPTED", "-"]);
    command.stdin(std::process::Stdio::piped());
    let mut run = Running::start(command);
    run.type_line(&format!("say {}", "x".repeat(3 << 20)));
    let ended = run.end();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("put it into a file"), "{ended:?}");
}

#[test]
fn a_run_starts_from_the_branch_that_was_named() {
    let world = World::new();
    let _server = world.serve();
    world.git(&["branch", "older"]);
    std::fs::write(world.repository().join("new.txt"), "new\n").unwrap();
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message=second"]);
    let ended = world.run(&["run", "--agent", "SCRIPTED", "--base", "older", "run ls"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let branch = world.json(&["list"])[0]["branch"].as_str().unwrap().to_string();
    assert_eq!(world.git(&["rev-parse", &branch]), world.git(&["rev-parse", "older"]));
    let unknown = world.run(&["run", "--agent", "SCRIPTED", "--base", "nowhere", "run ls"]);
    assert!(matches!(unknown.code, Some(2 | 3)), "{unknown:?}");
    assert!(unknown.stderr.contains("nowhere"), "{unknown:?}");
}

#[test]
fn a_detached_run_prints_the_id_and_leaves() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("say hi\nhang");
    assert_eq!(id.len(), 36);
    let attempt = world.json(&["run", "--agent", "SCRIPTED", "--detach", "say hi"]);
    assert_eq!(attempt["executor"], "SCRIPTED");
    assert_ne!(attempt["id"], json!(id));
}

#[test]
fn a_run_as_json_is_the_attempt_at_its_end() {
    let world = World::new();
    let _server = world.serve();
    let attempt = world.json(&["run", "--agent", "SCRIPTED", "say hi"]);
    assert_eq!((&attempt["state"], &attempt["status"]), (&json!("finished"), &json!("completed")));
}

#[test]
fn a_prompt_is_read_from_standard_input() {
    let world = World::new();
    let _server = world.serve();
    let mut command = world.forge(&["run", "--agent", "SCRIPTED", "-"]);
    command.stdin(std::process::Stdio::piped());
    let mut run = Running::start(command);
    run.type_line("say from the pipe");
    let ended = run.end();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "from the pipe\n"), "{}", ended.stderr);
}

#[test]
fn logs_are_shown_readable_raw_and_as_json() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("say one\nthink two\nsay three");
    assert_eq!(world.run(&["wait", &id]).code, Some(0));
    assert_eq!(world.run(&["logs", &id]).stdout, "one\ntwo\nthree\n");
    assert_eq!(world.run(&["logs", "-f", &id]).stdout, "one\ntwo\nthree\n");
    let raw = world.run(&["logs", "--raw", &id]).stdout;
    assert!(raw.contains("\none\n{\"scripted\":\"think\""), "{raw}");
    let json = world.run(&["logs", "--json", &id]).stdout;
    let content: String = json
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|chunk| chunk["type"] == "STDOUT")
        .map(|chunk| chunk["content"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(content, raw);
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("lines 20000 0");
    assert_eq!(world.run(&["wait", &id]).code, Some(0));
    let line = format!("{} logs {id} | head -n 1; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_forge"));
    let ended = Running::start({
        let mut bash = world.program("bash");
        bash.args(["-c", &line]);
        bash
    })
    .end();
    assert!(ended.stdout.ends_with(" line 1\n141\n"), "{ended:?}");
    assert_eq!(ended.stderr, "");
}

#[test]
fn logs_of_a_running_agent_end_unless_they_are_followed() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("say still here\nhang");
    let mut followed = world.start(&["logs", "-f", &id]);
    followed.line_with("still here");
    let ended = world.run(&["logs", &id]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "still here\n"));
    world.run(&["stop", &id]);
    assert_eq!(followed.end().code, Some(0));
}

#[test]
fn the_first_digits_of_an_id_are_enough_and_unknown_ones_exit_with_3() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("say hi");
    assert_eq!(world.run(&["wait", &id[..8]]).code, Some(0));
    assert_eq!(world.run(&["logs", &id[..4].to_uppercase()]).stdout, "hi\n");
    let unknown = if id.starts_with("ffff") { "eeee" } else { "ffff" };
    for args in [["logs", unknown], ["wait", unknown], ["stop", unknown]] {
        let ended = world.run(&args);
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(ended.stderr.contains(unknown), "{ended:?}");
    }
    let ended = world.run(&["wait", "abc"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

#[test]
fn waiting_returns_what_became_of_the_attempt() {
    let world = World::new();
    let _server = world.serve();
    let finished = world.attempt("say hi\nsleep 300");
    assert_eq!(world.run(&["wait", &finished]).code, Some(0));
    assert_eq!(world.run(&["wait", &finished]).code, Some(0), "also when it is over already");
    let failed = world.attempt("sleep 100\nexit 1");
    assert_eq!(world.run(&["wait", &failed]).code, Some(1));
    assert_eq!(world.json(&["wait", &failed])["state"], "failed");

    let stopped = world.attempt("hang");
    let waiting = world.start(&["wait", &stopped]);
    world.run(&["stop", &stopped]);
    let waited = waiting.end();
    assert_eq!(waited.code, Some(6), "{waited:?}");
    assert!(waited.stdout.contains(" is stopped; its work is on forge/"), "{waited:?}");
    let again = world.run(&["stop", &stopped]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("was stopped already"), "{again:?}");
}

#[test]
fn a_question_is_shown_answered_and_the_agent_goes_on() {
    let world = World::new();
    let _server = world.serve();
    let mut run = world.start(&["run", "--agent", "SCRIPTED", "ask Which colour?\nsay thanks"]);
    run.line_with("? Which colour?");
    run.line_with("answer with `forge answer ");
    let id = world.json(&["list"])[0]["id"].as_str().unwrap().to_string();
    assert_eq!(world.run(&["wait", "--or-ask", &id]).code, Some(7));
    assert!(world.run(&["status"]).stdout.contains("asks: Which colour?"));
    assert!(world.run(&["list"]).stdout.contains("asks"));

    let blank = world.run(&["answer", &id]);
    assert_eq!(blank.code, Some(2), "{blank:?}");
    let told = world.run(&["answer", &id, "blue"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let ended = run.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("blue") && ended.stdout.ends_with("thanks\n"), "{ended:?}");
    let again = world.run(&["answer", &id, "red"]);
    assert_eq!(again.code, Some(4), "{again:?}");
    assert!(again.stderr.contains("asks nothing right now"), "{again:?}");
}

#[test]
fn a_person_at_a_terminal_types_the_answer_where_the_question_is() {
    let world = World::new();
    let _server = world.serve();
    // `script` gives the command a terminal of its own.
    let line = format!("{} run --agent SCRIPTED 'ask Which colour?'", env!("CARGO_BIN_EXE_forge"));
    let mut command = world.program("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.stdin(std::process::Stdio::piped());
    let mut run = Running::start(command);
    run.line_with("? Which colour?");
    run.line_with("type your answer:");
    run.type_line("green");
    run.line_with("green");
    let ended = run.wait_open();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains(" finished; its work is on forge/"), "{ended:?}");
}

#[test]
fn a_person_who_types_no_more_is_told_how_else_to_answer() {
    let world = World::new();
    let _server = world.serve();
    let line = format!("{} run --agent SCRIPTED 'ask Which colour?'", env!("CARGO_BIN_EXE_forge"));
    let mut command = world.program("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    command.stdin(std::process::Stdio::piped());
    let mut run = Running::start(command);
    run.line_with("type your answer:");
    run.type_line("");
    run.line_with("type your answer:");
    run.type_line("\u{4}");
    run.line_with("answer with `forge answer ");
    let id = world.json(&["list"])[0]["id"].as_str().unwrap().to_string();
    assert_eq!(world.run(&["answer", &id, "green"]).code, Some(0));
    let ended = run.wait_open();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn colours_are_for_terminals_and_those_who_want_them() {
    let world = World::new();
    let _server = world.serve();
    let line = format!("{} run --agent SCRIPTED 'think hm'", env!("CARGO_BIN_EXE_forge"));
    let run = |no_colour: bool| {
        let mut command = world.program("script");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        if no_colour {
            command.env("NO_COLOR", "");
        }
        Running::start(command).end().stdout
    };
    assert!(run(false).contains("\u{1b}[2mhm\u{1b}[0m"));
    assert!(!run(true).contains('\u{1b}'));
}

#[test]
fn a_token_that_is_wrong_is_refused_and_the_right_one_is_not() {
    let world = World::new();
    let _server = world.serve();
    let wrong = world.forge(&["list"]).env("FORGE_TOKEN", "0".repeat(64)).output().unwrap();
    assert_eq!(wrong.status.code(), Some(5), "{wrong:?}");
    let token = std::fs::read_to_string(world.home().join("token")).unwrap();
    let right = world.forge(&["list"]).env("FORGE_TOKEN", token.trim()).output().unwrap();
    assert_eq!(right.status.code(), Some(0), "{right:?}");
}

#[test]
fn an_ask_is_refused_by_its_own_id() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("ask May I?\nsay after");
    world.until_state(&id, "waiting");
    let ask = world.json(&["status"])["asks"][0]["approval_id"].as_str().unwrap().to_string();
    let told = world.run(&["answer", "--deny", &ask[..8], "not today"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    world.run(&["wait", &id]);
    assert!(world.run(&["logs", &id]).stdout.contains("not today"));
    let again = world.run(&["answer", &ask, "yes"]);
    assert_eq!(again.code, Some(4), "{again:?}");
}

#[test]
fn a_follow_up_reaches_a_running_agent_and_one_at_rest() {
    let world = World::new();
    let _server = world.serve();
    let id = world.attempt("ask go on?\nsay first");
    world.until_state(&id, "waiting");
    let told = world.run(&["follow-up", &id, "say second"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert_eq!(world.run(&["answer", &id, "yes"]).code, Some(0));
    assert_eq!(world.run(&["wait", &id]).code, Some(0));
    let again = world.json(&["follow-up", &id, "say third"]);
    assert_eq!((&again["delivered"], &again["task_attempt_id"]), (&json!("started"), &json!(id)));
    assert_eq!(world.run(&["wait", &id]).code, Some(0));
    let shown = world.run(&["logs", &id]).stdout;
    let order: Vec<usize> =
        ["first", "second", "third"].iter().map(|word| shown.rfind(word).unwrap()).collect();
    assert!(order.is_sorted(), "{shown}");
}

#[test]
fn ctrl_c_leaves_the_agents_running_and_says_how_to_stop_them() {
    let world = World::new();
    let _server = world.serve();
    let mut run = world.start(&["run", "--agent", "SCRIPTED", "say begun\nhang"]);
    run.line_with("begun");
    let id = world.json(&["list"])[0]["id"].as_str().unwrap().to_string();
    run.signal(Signal::INT);
    let ended = run.end();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let how = format!("1 agent runs on; stop it with `forge stop {}`", &id[..8]);
    assert!(ended.stderr.contains(&how), "{ended:?}");
    assert_eq!(world.json(&["list"])[0]["state"], "running");
}

#[test]
fn a_run_survives_a_restart_of_the_server_and_shows_every_line_once() {
    let world = World::new();
    let server = world.serve();
    let mut run = world.start(&["run", "--agent", "SCRIPTED", "--raw", "lines 300 10"]);
    run.line_with(" line 20");
    server.signal(Signal::KILL);
    server.end();
    run.line_with("server is away, waiting…");
    let server = world.serve();
    run.line_with("server is back");
    run.line_with(" line 200");
    server.signal(Signal::TERM);
    let ended = server.end();
    assert!(ended.stderr.contains("1 agent runs on"), "{ended:?}");
    let _server = world.serve();
    let ended = run.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let numbers: Vec<u32> = ended
        .stdout
        .lines()
        .filter(|line| line.starts_with("T="))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (1..=300).collect::<Vec<u32>>());
}

#[test]
fn stopping_a_server_with_all_ends_its_agents_also_when_it_is_gone() {
    let world = World::new();
    let server = world.serve();
    world.attempt("hang");
    let stop = world.start(&["serve", "--stop"]);
    server.end();
    let ended = stop.end();
    assert!(ended.stdout.contains("1 agent runs on: stop it with"), "{ended:?}");
    let ended = world.run(&["serve", "--stop", "--all"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("stopped 1 agent"), "{ended:?}");

    let server = world.serve();
    let attempts = world.json(&["list"]);
    assert_eq!(attempts[0]["state"], "stopped");
    world.attempt("hang");
    let stop = world.start(&["serve", "--stop", "--all"]);
    server.end();
    let ended = stop.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("stopped 1 agent"), "{ended:?}");
}

#[test]
fn stopping_a_server_with_all_ends_agents_without_a_task_too() {
    let world = World::new();
    let server = world.serve();
    let attempt = world.attempt("say hi");
    world.until_state(&attempt, "finished");
    let project = call(&world, "GET", "/api/projects", &json!({}))[0]["id"].clone();
    let body = json!({"project_id": project, "prompt": "hang", "executor_profile_id": "SCRIPTED"});
    assert!(call(&world, "POST", "/api/execution-runs", &body)["execution_run"]["id"].is_string());
    let stop = world.start(&["--json", "serve", "--stop", "--all"]);
    server.end();
    let ended = stop.end();
    let told: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    assert_eq!((&told["agents_stopped"], &told["agents_running"]), (&json!(1), &json!(0)), "{ended:?}");
}
