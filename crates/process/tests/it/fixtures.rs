//! Recorded versions 1 and 2: a run directory and a conversation, as they were when version 1 was made, and the
//! spec that version 2 writes without the environment.
//!
//! The files under `fixtures` are never changed. A test here that fails says that runs which are
//! alive during an upgrade would be lost: the layout or the protocol needs a new version beside it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forge_process::{
    Accepted, Control, Error, Exit, Ladder, Liveness, LogWriter, Record, Signal, Status, Stream, liveness,
};

use crate::stage::{Stage, eventually, launcher, records};

const SEGMENT_BYTES: u64 = 200;

fn fixture(name: &str) -> PathBuf {
    recorded_by("v1", name)
}

fn recorded_by(version: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version).join(name)
}

/// What the recorded log holds.
fn recorded() -> Vec<(Stream, u64, Option<u64>, &'static [u8])> {
    vec![
        (Stream::Stdout, 1_700_000_000_000_001, None, b"{\"type\":\"start\"}\n"),
        (Stream::Note, 1_700_000_000_000_002, Some(1), b"{\"answer\":\"yes\"}"),
        (Stream::Input, 1_700_000_000_000_003, Some(1), b"hello\n"),
        (Stream::Stderr, 1_700_000_000_000_004, None, b"\xff\x00 not text"),
        (Stream::Stdout, 1_700_000_000_000_005, None, b""),
        (Stream::Shim, 1_700_000_000_000_006, None, b"{\"limit\":10,\"truncated\":\"stderr\"}"),
        (Stream::InputClosed, 1_700_000_000_000_007, Some(2), b""),
        (Stream::Stdout, u64::MAX, None, &[b'x'; 300]),
        (Stream::Stdout, 0, None, b"last\n"),
    ]
}

fn write_recorded(dir: &Path) {
    let mut log = LogWriter::create(dir, Some(SEGMENT_BYTES)).unwrap();
    for (stream, at_us, ordinal, payload) in recorded() {
        log.append(stream, at_us, ordinal, payload).unwrap();
    }
}

fn segments(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut segments: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name().to_str().unwrap().ends_with(".flog"))
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    segments.sort();
    segments
}

#[test]
fn a_recorded_log_reads_as_it_was_written() {
    let mut expected = Vec::new();
    let mut offset = 0;
    for (stream, at_us, ordinal, payload) in recorded() {
        let end = offset + 28 + 8 * u64::from(ordinal.is_some()) + payload.len() as u64;
        expected.push(Record { offset, end, stream, at_us, ordinal, payload: payload.to_vec() });
        offset = end;
    }
    assert_eq!(records(&fixture("run"), 0), expected);
    assert_eq!(records(&fixture("run"), 150), expected[4..]);
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    write_recorded(dir.path());
    let now = segments(dir.path());
    assert!(now.len() > 2);
    assert_eq!(now, segments(&fixture("run")), "a change of the layout needs a new version");
}

#[test]
fn a_recorded_exit_is_understood() {
    let exit =
        Exit { code: Some(3), signal: None, stopped: true, at_ms: 1_700_000_000_123, log_end: 664, swept: 2 };
    assert_eq!(liveness(&fixture("run")).unwrap(), Liveness::Exited(exit.clone()));
    assert_eq!(forge_process::log_end(&fixture("run")).unwrap(), exit.log_end);
    assert_eq!(
        Control::connect(&fixture("run")).unwrap().stop(&Ladder { int_ms: 1, term_ms: 1 }).unwrap(),
        exit
    );
}

#[test]
fn a_recorded_directory_without_an_exit_is_gone_and_harmless_to_sweep() {
    let stage = Stage::new();
    fs::create_dir(&stage.dir).unwrap();
    fs::copy(fixture("run/shim.json"), stage.dir.join("shim.json")).unwrap();
    assert_eq!(liveness(&stage.dir).unwrap(), Liveness::Gone);
    assert_eq!(forge_process::sweep(&stage.run, &stage.dir, &[]).unwrap(), 0);
}

#[test]
fn a_recorded_spec_is_run_by_the_shim_of_today() {
    // The first version holds the environment itself; later ones get it from the shim's.
    for (version, given) in [("v1", "nothing"), ("v2", "hello")] {
        let stage = Stage::new();
        fs::create_dir(&stage.dir).unwrap();
        fs::copy(recorded_by(version, "run/spec.json"), stage.dir.join("spec.json")).unwrap();
        let mut shim = Command::new(launcher().program)
            .arg("run")
            .arg(&stage.dir)
            .env("GREETING", given)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(shim.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.starts_with("{\"started\":"), "{said}");
        assert_eq!(stage.exit().code, Some(3));
        assert_eq!(stage.text(Stream::Stdout), "hello recorded-run\n", "{version}");
        shim.wait().unwrap();
    }
}

#[test]
fn the_spec_of_today_is_written_as_it_was_recorded() {
    let stage = Stage::new();
    let mut spec = stage.sh("echo $GREETING $FORGE_RUN; exit 3");
    (spec.cwd, spec.run, spec.limit, spec.segment_bytes) =
        ("/".into(), "recorded-run".into(), Some(10), Some(200));
    spec.env.push(("GREETING".into(), "hello".into()));
    let spawned = stage.start(&spec);
    stage.exit();
    spawned.reap();
    let recorded = fs::read_to_string(recorded_by("v2", "run/spec.json")).unwrap();
    let now = fs::read_to_string(stage.dir.join("spec.json")).unwrap();
    assert_eq!(now, recorded.trim_end(), "a change of the layout needs a new version");
}

#[test]
fn a_spec_of_a_layout_to_come_is_refused_by_its_number() {
    let stage = Stage::new();
    fs::create_dir(&stage.dir).unwrap();
    let recorded = fs::read_to_string(recorded_by("v2", "run/spec.json")).unwrap();
    fs::write(stage.dir.join("spec.json"), recorded.replace("\"layout\":2", "\"layout\":3")).unwrap();
    let shim = Command::new(launcher().program).arg("run").arg(&stage.dir).output().unwrap();
    let said = String::from_utf8(shim.stdout).unwrap();
    assert!(said.contains("is of layout 3, and this program reads layouts 1 and 2"), "{said}");
}

/// The recorded conversation: what was asked and what was answered.
fn conversation() -> Vec<(String, String)> {
    let text = fs::read_to_string(fixture("control.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    lines
        .chunks(2)
        .map(|pair| {
            let asked = pair[0].strip_prefix("> ").unwrap();
            let answered = pair[1].strip_prefix("< ").unwrap();
            (format!("{asked}\n"), format!("{answered}\n"))
        })
        .collect()
}

#[test]
fn the_shim_of_today_answers_a_recorded_client_as_it_was_answered() {
    let stage = Stage::new();
    stage.start(&stage.sh("trap '' HUP; echo ready; exec sleep 600"));
    eventually("the agent being ready", || (stage.text(Stream::Stdout) == "ready\n").then_some(()));
    let mut stream = UnixStream::connect(stage.dir.join("ctl")).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    for (asked, answered) in conversation() {
        stream.write_all(asked.as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(zeroed(&answer), answered, "to {asked}");
    }
}

/// An answer without what differs from one run to the next.
fn zeroed(answer: &str) -> String {
    let mut zeroed = answer.to_owned();
    for name in ["\"agent_pid\":", "\"at_ms\":"] {
        if let Some(at) = zeroed.find(name) {
            let from = at + name.len();
            let digits = zeroed[from..].bytes().take_while(u8::is_ascii_digit).count();
            zeroed.replace_range(from..from + digits, "0");
        }
    }
    zeroed
}

#[test]
fn the_client_of_today_talks_to_a_recorded_shim_as_it_was_talked_to() {
    let dir = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(dir.path().join("ctl")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = BufReader::new(stream.try_clone().unwrap());
            for (expected, answer) in conversation() {
                let mut line = String::new();
                asked.read_line(&mut line).unwrap();
                assert_eq!(line, expected.replace("\\u00e4", "ä"));
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let control = Control::connect(dir.path()).unwrap();
        assert_eq!(control.input(1, "hello ä\n").unwrap(), Accepted::New);
        assert_eq!(control.input(1, "hello ä\n").unwrap(), Accepted::Duplicate);
        assert_eq!(control.note(1, "{\"answer\":\"yes\"}").unwrap(), Accepted::New);
        assert!(matches!(control.input(5, "").unwrap_err(), Error::Ordinal { given: 5, expected: 2 }));
        assert_eq!(control.close_input(2).unwrap(), Accepted::New);
        assert!(matches!(control.input(3, "too late").unwrap_err(), Error::InputClosed { .. }));
        let status = Status {
            running: true,
            notes: 1,
            inputs: 2,
            input_closed: true,
            log_end: 167,
            blocked: None,
            agent_pid: 0,
        };
        assert_eq!(control.status().unwrap(), status);
        control.signal(Signal::Hup).unwrap();
        let exit = control.stop(&Ladder { int_ms: 20_000, term_ms: 20_000 }).unwrap();
        assert_eq!((exit.signal, exit.stopped, exit.log_end), (Some(2), true, 167));
    });
}
