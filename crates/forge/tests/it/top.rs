//! `forge top` and `forge events`: what changes is told, not asked for.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

use crate::recorder::Recorder;
use crate::world::{Running, World, eventually};

/// How many rows and columns the terminal has.
const ROWS: u16 = 6;
const COLUMNS: u16 = 60;

/// A program on a terminal, and what the terminal was told to show.
struct OnTerminal {
    child: Child,
    terminal: OwnedFd,
    written: Arc<Mutex<Vec<u8>>>,
}

impl OnTerminal {
    fn start(mut command: Command) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = openpt(flags).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let its_side = ioctl_tiocgptpeer(&terminal, flags).unwrap();
        let child = command.stdout(its_side).spawn().unwrap();
        // The command holds the program's side of the terminal, which must end with the program.
        drop(command);
        let written = Arc::new(Mutex::new(Vec::new()));
        let (kept, mut from) = (Arc::clone(&written), File::from(terminal.try_clone().unwrap()));
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // The other side's end is an error here.
            while let Ok(count @ 1..) = from.read(&mut piece) {
                kept.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        Self { child, terminal, written }
    }

    /// Waits for a whole picture that fits, and returns its lines as they stand on the screen.
    fn shows(&self, what: &str, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
        eventually(what, || {
            let text = String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned();
            // Each picture begins at the top and ends with what is below being wiped.
            let (before, _) = text.rsplit_once("\x1b[J")?;
            let picture = before.rsplit("\x1b[H").next()?;
            let lines: Vec<String> = picture
                .split("\x1b[K")
                .map(|line| line.trim_start_matches(['\r', '\n']).to_string())
                .collect();
            fits(&lines).then_some(lines)
        })
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn top_redraws_a_terminal_from_its_top_and_stays_within_it() {
    let world = World::new();
    let _server = world.serve();
    let first = world.attempt("ask which colour?");
    world.until_state(&first, "waiting");
    let mut top = OnTerminal::start(world.forge(&["top"]));
    let holds = |id: &str| {
        let id = id[..8].to_string();
        move |lines: &[String]| lines.iter().any(|line| line.contains(&id))
    };
    top.shows("the first attempt is shown", holds(&first));
    let second =
        world.attempt(&format!("ask {}", "a question that is longer than the terminal is wide ".repeat(3)));
    let lines = top.shows("the second attempt is drawn by itself", |lines| {
        holds(&first)(lines) && holds(&second)(lines)
    });
    for line in &lines {
        assert!(line.chars().count() <= usize::from(COLUMNS), "{line:?} is wider than the terminal");
    }
    let more: Vec<String> = (0..6).map(|_| world.attempt("ask anything?")).collect();
    let full = usize::from(ROWS) - 1;
    // The last line of a picture is what stands behind its last end of line.
    let lines = top.shows("as much is drawn as there is room for", |lines| lines.len() > full);
    assert_eq!(lines.len(), full + 1, "{lines:?}");
    tcsetwinsize(&top.terminal, Winsize { ws_row: 40, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let lines = top
        .shows("a terminal that was made larger holds all", |lines| more.iter().all(|id| holds(id)(lines)));
    assert!(lines.iter().any(|line| line.contains("longer than the terminal")), "{lines:?}");
    for id in more.iter().chain([&second]) {
        world.run(&["stop", id]);
    }
    // Whoever is at rest goes from the picture.
    top.shows("the first is alone again", |lines| holds(&first)(lines) && !holds(&second)(lines));
    kill_process(Pid::from_raw(i32::try_from(top.child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    eventually("it ends when it is told", || top.child.try_wait().unwrap());
    world.run(&["stop", &first]);
}

#[test]
fn top_asks_once_and_is_told_the_rest() {
    let world = World::new();
    let mut recorder = Recorder::new();
    let name = format!("127.0.0.1:{}", recorder.port);
    let _server = world.serve_with(&["--port", "0", "--allow-host", &name]);
    recorder.pass_to(world.server_file().unwrap()["url"].as_str().unwrap());
    let first = world.attempt("ask which colour?");
    world.until_state(&first, "waiting");
    let once = world.run(&["top"]);
    assert_eq!(once.code, Some(0), "{once:?}");
    assert!(once.stdout.contains(&first[..8]) && once.stdout.contains("asks"), "{once:?}");
    assert_eq!(world.json(&["top"])[0]["id"], first.as_str());

    let mut follow = world.forge(&["top", "--follow"]);
    follow.env("FORGE_BASE_URL", format!("http://{name}"));
    let mut top = Running::start(follow);
    top.line_with(&first[..8]);
    let second = world.attempt("say hello\nask which size?");
    let row = top.line_with(&second[..8]);
    assert!(row.contains("SCRIPTED") && row.contains("say hello"), "{row}");
    world.run(&["answer", &first, "blue"]);
    world.until_state(&first, "finished");
    world.run(&["stop", &second]);
    world.until_state(&second, "stopped");
    let third = world.attempt("ask anything else?");
    // A table that has the third alone: the others are at rest.
    top.line_with(&third[..8]);
    let calls = recorder.all();
    let count = |path: &str| calls.iter().filter(|call| call.as_str() == path).count();
    assert_eq!((count("GET /api/board"), count("GET /api/events")), (1, 1), "{calls:?}");
    assert_eq!(calls.len(), 3, "only whether the server is there besides: {calls:?}");
    world.run(&["stop", &third]);
}

#[test]
fn events_go_on_from_a_position_over_a_restart_of_the_server() {
    let world = World::new();
    let server = world.serve();
    world.run(&["project", "add"]);
    let first = world.run(&["events", "--after", "0", "--count", "1"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let first: Value = serde_json::from_str(first.stdout.trim()).unwrap();
    assert!(first["data"][0]["path"].as_str().unwrap().starts_with("/projects/"), "{first}");
    let position = first["position"].to_string();

    let mut events = world.start(&["events", "--after", &position]);
    world.run(&["task", "add", "before the restart"]);
    events.line_with("before the restart");
    world.run(&["serve", "--stop"]);
    drop(server);
    events.line_with("server is away");
    let _server = world.serve();
    events.line_with("server is back");
    world.run(&["task", "add", "after the restart"]);
    let line = events.line_with("after the restart");
    let event: Value = serde_json::from_str(&line).unwrap();
    assert!(event["position"].as_u64() > first["position"].as_u64(), "{event}");
}
