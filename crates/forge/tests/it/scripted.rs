//! The player of the scripted agent, as the process it is.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use forge_agents::{Step, Turn};
use forge_model::Answer;
use rustix::process::{Pid, Signal, getsid, kill_process, kill_process_group, test_kill_process};
use serde_json::{Value, json};

/// Long enough for a machine that does a hundred other things.
const DEADLINE: Duration = Duration::from_secs(120);

struct Player {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    dir: tempfile::TempDir,
}

impl Player {
    fn start(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_forge"))
            .arg("scripted")
            .args(args)
            .current_dir(dir.path())
            .env("FORGE_WITNESS", dir.path().join("witness"))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines, dir }
    }

    /// Starts a player and gives it its first script, past the line that tells the session.
    fn playing(script: &str) -> Self {
        let mut player = Self::start(&[]);
        assert_eq!(player.event()["scripted"], "session");
        player.turn(script);
        player
    }

    fn send(&mut self, input: &Value) {
        self.send_text(&format!("{input}\n"));
    }

    fn send_text(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn turn(&mut self, script: &str) {
        self.send(&json!({"turn": script}));
    }

    fn line(&mut self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line within the deadline")
    }

    fn event(&mut self) -> Value {
        serde_json::from_str(&self.line()).expect("an event")
    }

    /// Returns the lines up to the end of the turn, without the line that tells it.
    fn until_done(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.line() {
                line if line == r#"{"scripted":"done"}"# => return lines,
                line => lines.push(line),
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait(&mut self) -> ExitStatus {
        eventually("the player ends", || self.child.try_wait().unwrap())
    }

    /// Ends the input and returns the exit code.
    fn end(&mut self) -> Option<i32> {
        self.stdin = None;
        self.wait().code()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < DEADLINE, "waited too long until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_script_is_played_line_by_line() {
    let mut player =
        Player::playing("say hello\n\nthink hm\nedit a/b.txt some text\nrun cat a/b.txt; exit 3\nFix it");
    assert_eq!(player.line(), "hello");
    assert_eq!(player.event(), json!({"scripted": "think", "text": "hm"}));
    assert_eq!(player.event(), json!({"scripted": "edit", "path": "a/b.txt", "content": "some text\n"}));
    assert_eq!(player.event(), json!({"scripted": "run", "id": "run-1", "command": "cat a/b.txt; exit 3"}));
    assert_eq!(player.event(), json!({"scripted": "ran", "id": "run-1", "exit": 3, "output": "some text\n"}));
    assert_eq!(player.until_done(), ["Fix it"]);
    assert_eq!(player.end(), Some(0));
}

#[test]
fn both_streams_of_a_command_are_told_in_order_and_a_signal_counts_from_128() {
    let mut player = Player::playing("run echo one; echo two >&2; echo three; kill -9 $$");
    player.line();
    let ran = player.event();
    assert_eq!((&ran["exit"], &ran["output"]), (&json!(137), &json!("one\ntwo\nthree\n")));
}

#[test]
fn a_given_session_is_kept_and_a_new_one_made_up() {
    let mut resumed = Player::start(&["--session", "abc"]);
    assert_eq!(resumed.line(), r#"{"scripted":"session","id":"abc"}"#);
    let made_up = |mut player: Player| player.event()["id"].as_str().unwrap().to_string();
    assert_ne!(made_up(Player::start(&[])), made_up(Player::start(&[])));
}

#[test]
fn an_ask_waits_for_its_own_answer_and_says_it_back() {
    let mut player = Player::playing("ask Which colour?\nask Sure?\nask Really?");
    assert_eq!(player.event(), json!({"scripted": "ask", "id": "ask-1", "text": "Which colour?"}));
    player.send(&json!({"answer": {"ask": "ask-7", "text": "red"}}));
    player.send(&json!({"answer": {"ask": "ask-1", "text": "blue\nor green"}}));
    assert_eq!([player.line(), player.line()], ["blue", "or green"]);
    assert_eq!(player.event()["id"], "ask-2");
    player.send(&json!({"answer": {"ask": "ask-2", "denied": "not today"}}));
    assert_eq!(player.line(), "denied: not today");
    assert_eq!(player.event()["id"], "ask-3");
    player.send(&json!({"answer": {"ask": "ask-3"}}));
    assert_eq!(player.until_done(), ["approved"]);
}

#[test]
fn a_turn_that_comes_during_another_is_played_after_it() {
    let mut player = Player::playing("ask go on?\nsay first");
    player.line();
    player.turn("say second");
    player.turn("say third");
    player.send(&json!({"answer": {"ask": "ask-1", "text": "yes"}}));
    assert_eq!(player.until_done(), ["yes", "first"]);
    assert_eq!(player.until_done(), ["second"]);
    assert_eq!(player.until_done(), ["third"]);
    assert_eq!(player.end(), Some(0));
}

#[test]
fn a_line_that_is_no_input_is_passed_over() {
    let mut player = Player::playing("say one");
    player.until_done();
    player.send_text("\nnonsense\n");
    player.turn("say two");
    assert_eq!(player.until_done(), ["two"]);
}

#[test]
fn a_wrong_line_is_told_and_ends_the_player_with_2() {
    let mut player = Player::playing("say fine\nsleep a while\nsay never");
    assert_eq!(player.line(), "fine");
    assert_eq!(player.line(), r#"cannot play "sleep a while": it is written "sleep MS""#);
    assert_eq!(player.wait().code(), Some(2));
    assert!(player.lines.recv().is_err(), "nothing follows");
}

#[test]
fn an_edit_outside_the_directory_is_refused_and_ends_the_player_with_2() {
    let mut player = Player::playing("edit ../escaped.txt boo");
    assert_eq!(player.line(), "cannot edit ../escaped.txt: it leaves the directory");
    assert_eq!(player.wait().code(), Some(2));
}

#[test]
fn the_script_chooses_the_exit_code() {
    assert_eq!(Player::playing("exit 7").wait().code(), Some(7));
    let mut well = Player::playing("say bye\nexit 0\nsay never");
    assert_eq!(well.until_done(), ["bye"]);
    assert_eq!(well.wait().code(), Some(0));
}

#[test]
fn a_signal_ends_a_hanging_player_at_once() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut player = Player::playing("say ready\nhang");
        assert_eq!(player.line(), "ready");
        player.stdin = None;
        player.signal(signal);
        assert_eq!(player.wait().signal(), Some(signal.as_raw()));
    }
}

#[test]
fn a_player_that_ignores_signals_plays_on() {
    let mut player = Player::playing("ignore-signals\nask more?\nlines 20 1\nsay still here");
    player.line();
    player.signal(Signal::INT);
    player.signal(Signal::TERM);
    player.send(&json!({"answer": {"ask": "ask-1", "text": "yes"}}));
    for _ in 0..5 {
        player.signal(Signal::TERM);
    }
    assert_eq!(player.until_done().last().unwrap(), "still here");
    assert_eq!(player.end(), Some(0));
}

#[test]
fn a_spawned_command_outlives_a_kill_of_the_players_group() {
    let mut player =
        Player::playing("spawn echo $$ > pid.new; mv pid.new pid; exec sleep 1000\nsay spawned\nhang");
    assert_eq!(player.line(), "spawned");
    let written = eventually("the pid is written", || fs::read_to_string(player.dir.path().join("pid")).ok());
    let spawned = Pid::from_raw(written.trim().parse().unwrap()).unwrap();
    kill_process_group(Pid::from_child(&player.child), Signal::KILL).unwrap();
    assert_eq!(player.wait().signal(), Some(Signal::KILL.as_raw()));
    assert_eq!(getsid(Some(spawned)).unwrap(), spawned);
    assert!(test_kill_process(spawned).is_ok());
    kill_process(spawned, Signal::KILL).unwrap();
}

#[test]
fn a_said_line_that_reads_as_an_event_is_wrapped() {
    let mut player = Player::playing(r#"say {"scripted":"done"}"#);
    assert_eq!(player.event(), json!({"scripted": "say", "text": r#"{"scripted":"done"}"#}));
    assert!(player.until_done().is_empty());
}

#[test]
fn the_witness_holds_exactly_what_was_printed() {
    let mut player = Player::playing("say hello\nlines 3 1\nlines 20000 0\nthink hm\nlines 0 0");
    let lines = player.until_done();
    let numbered = |line: &String| line.rsplit(' ').next().unwrap().parse::<u64>().ok();
    assert_eq!(
        lines.iter().filter_map(numbered).collect::<Vec<_>>(),
        (1..=3).chain(1..=20000).collect::<Vec<_>>()
    );
    assert_eq!(player.end(), Some(0));
    let witness = fs::read_to_string(player.dir.path().join("witness")).unwrap();
    let printed: Vec<&str> = witness.lines().skip(1).collect();
    assert_eq!(printed[..lines.len()], lines);
    assert_eq!(printed[lines.len()..], [r#"{"scripted":"done"}"#]);
}

#[test]
fn a_witness_that_is_a_directory_gets_a_file_for_each_run() {
    let dir = tempfile::tempdir().unwrap();
    for run in ["one", "two"] {
        let mut player = Command::new(env!("CARGO_BIN_EXE_forge"))
            .args(["scripted", "--session", run])
            .env("FORGE_WITNESS", dir.path())
            .env("FORGE_RUN", run)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(player.wait().unwrap().success());
        let witness = fs::read_to_string(dir.path().join(run)).unwrap();
        assert_eq!(witness, format!("{{\"scripted\":\"session\",\"id\":\"{run}\"}}\n"));
    }
}

#[test]
fn the_adapter_and_the_player_understand_each_other() {
    let agent = forge_agents::agent("SCRIPTED").unwrap();
    let turn = Turn {
        prompt: "ask Which?\nrun echo hi\nedit x.txt y\nsay well".into(),
        settings: json!({"append_prompt": " done"}),
        ..Turn::default()
    };
    assert_eq!(agent.command(&turn).args, ["scripted"]);
    let mut player = Player::start(&[]);
    let mut conversation = agent.conversation(&turn);
    let (mut steps, mut shown) = (conversation.start(), Vec::new());
    loop {
        let mut more = Vec::new();
        for step in steps {
            match step {
                Step::Send(text) => player.send_text(&text),
                Step::Ask(ask) => {
                    more.extend(conversation.answer(&ask.key, &Answer::words("that")));
                }
                Step::Entry { index, entry } => {
                    shown.resize(shown.len().max(index + 1), String::new());
                    shown[index] = entry.content;
                }
                Step::Done { ok, summary, .. } => {
                    assert!(ok);
                    assert_eq!(summary.as_deref(), Some("well done"));
                    assert_eq!(shown, [&turn.prompt, "Which?", "that", "`echo hi`", "`x.txt`", "well done"]);
                    assert!(Path::exists(&player.dir.path().join("x.txt")));
                    return;
                }
                Step::Session(_) => {}
                other => panic!("unexpected {other:?}"),
            }
        }
        steps = if more.is_empty() { conversation.read(&player.line()) } else { more };
    }
}
