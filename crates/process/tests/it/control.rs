//! Input, notes and status over the socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use forge_process::{Accepted, Control, Error, Stream};

use crate::stage::{Stage, bytes, eventually};

#[test]
fn input_reaches_the_agent_once_and_in_order_however_often_it_is_sent() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["cat"]));
    let control = stage.control();
    assert_eq!(control.input(1, "one\n").unwrap(), Accepted::New);
    assert_eq!(control.input(1, "one\n").unwrap(), Accepted::Duplicate);
    drop(control);
    // As a server would after a restart: it does not know what arrived, and says everything again.
    let control = stage.control();
    assert_eq!(control.input(1, "one\n").unwrap(), Accepted::Duplicate);
    assert_eq!(control.input(2, "two\n").unwrap(), Accepted::New);
    let error = control.input(4, "four\n").unwrap_err();
    assert_eq!(error.to_string(), "ordinal 4 is out of turn, expected 3");
    assert!(matches!(control.input(0, "").unwrap_err(), Error::Ordinal { given: 0, expected: 3 }));
    assert_eq!(control.input(3, "three\n").unwrap(), Accepted::New);
    assert_eq!(control.close_input(4).unwrap(), Accepted::New);
    // The shim may have ended by now, which is an answer too.
    assert!(matches!(control.close_input(4), Ok(Accepted::Duplicate) | Err(Error::Ended { .. })));
    assert_eq!(stage.exit().code, Some(0));
    assert_eq!(stage.text(Stream::Stdout), "one\ntwo\nthree\n");

    let records = stage.records();
    let inputs: Vec<_> = records
        .iter()
        .filter(|record| matches!(record.stream, Stream::Input | Stream::InputClosed))
        .map(|record| (record.ordinal.unwrap(), String::from_utf8(record.payload.clone()).unwrap()))
        .collect();
    let expected = [(1, "one\n"), (2, "two\n"), (3, "three\n"), (4, "")];
    assert_eq!(inputs, expected.map(|(ordinal, text)| (ordinal, text.to_owned())));
}

#[test]
fn what_the_spec_says_first_is_heard_without_anybody_to_say_it() {
    let stage = Stage::new();
    let mut spec = stage.spec(&["sh", "-c", "read first; read second; echo $first and $second"]);
    spec.inputs = vec!["one\n".into(), "two\n".into()];
    stage.start(&spec);
    assert_eq!(stage.exit().code, Some(0));
    assert_eq!(stage.text(Stream::Stdout), "one and two\n");
}

#[test]
fn what_the_spec_says_first_is_known_when_it_is_said_again() {
    let stage = Stage::new();
    let mut spec = stage.spec(&["cat"]);
    spec.inputs = vec!["one\n".into()];
    stage.start(&spec);
    let control = stage.control();
    assert_eq!(control.status().unwrap().inputs, 1);
    assert_eq!(control.input(1, "one\n").unwrap(), Accepted::Duplicate);
    assert_eq!(control.close_input(2).unwrap(), Accepted::New);
    assert_eq!(stage.exit().code, Some(0));
    assert_eq!(stage.text(Stream::Stdout), "one\n");
}

#[test]
fn notes_are_journalled_with_ordinals_of_their_own_and_never_reach_the_agent() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["cat"]));
    let control = stage.control();
    control.input(1, "heard\n").unwrap();
    assert_eq!(control.note(1, r#"{"answer":"yes"}"#).unwrap(), Accepted::New);
    assert_eq!(control.note(1, "another text under a known ordinal").unwrap(), Accepted::Duplicate);
    assert!(matches!(control.note(3, "").unwrap_err(), Error::Ordinal { given: 3, expected: 2 }));
    let status = control.status().unwrap();
    assert_eq!((status.running, status.notes, status.inputs, status.input_closed), (true, 1, 1, false));
    assert_eq!(status.blocked, None);
    control.close_input(2).unwrap();
    let exit = stage.exit();
    let records = stage.records();
    assert_eq!(bytes(&records, Stream::Note), br#"{"answer":"yes"}"#);
    assert_eq!(bytes(&records, Stream::Stdout), b"heard\n");
    assert_eq!(records.last().unwrap().end, exit.log_end);
}

#[test]
fn an_agent_that_never_reads_its_stdin_holds_up_nobody() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["sleep", "600"]));
    let control = stage.control();
    let text = "x".repeat(1024 * 1024);
    for ordinal in 1..=4 {
        assert_eq!(control.input(ordinal, &text).unwrap(), Accepted::New);
    }
    assert_eq!(control.note(1, "still heard").unwrap(), Accepted::New);
    assert_eq!(control.status().unwrap().inputs, 4);
    let asked = Instant::now();
    control.stop(&forge_process::Ladder { int_ms: 10_000, term_ms: 10_000 }).unwrap();
    assert!(asked.elapsed() < Duration::from_secs(10));
}

#[test]
fn input_after_the_close_is_refused_and_its_repetition_is_not() {
    let stage = Stage::new();
    stage.start(&stage.sh("cat; exec sleep 600"));
    let control = stage.control();
    control.input(1, "a").unwrap();
    control.close_input(2).unwrap();
    assert!(matches!(control.input(3, "b").unwrap_err(), Error::InputClosed { .. }));
    assert_eq!(control.input(1, "a").unwrap(), Accepted::Duplicate);
    assert!(control.status().unwrap().input_closed);
}

#[test]
fn an_agent_that_closes_its_stdin_makes_further_input_refused_with_a_notice_in_the_log() {
    let stage = Stage::new();
    stage.start(&stage.sh("exec 0<&-; echo closed; exec sleep 600"));
    eventually("the close", || stage.text(Stream::Stdout).contains("closed").then_some(()));
    let control = stage.control();
    control.input(1, "into the void\n").unwrap();
    eventually("the notice", || stage.text(Stream::Shim).contains("input_lost").then_some(()));
    assert!(matches!(control.input(2, "more\n").unwrap_err(), Error::InputClosed { .. }));
}

#[test]
fn a_run_that_ended_refuses_input_and_a_directory_without_one_is_gone() {
    let stage = Stage::new();
    stage.start(&stage.sh("true")).reap();
    stage.exit();
    let control = stage.control();
    assert!(matches!(control.input(1, "x").unwrap_err(), Error::Ended { .. }));
    assert!(matches!(control.status().unwrap_err(), Error::Ended { .. }));
    assert!(matches!(Control::connect(&stage.file("absent")).unwrap_err(), Error::Gone { .. }));
}

#[test]
fn a_text_too_long_for_one_record_is_refused_before_it_is_sent() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["sleep", "600"]));
    let control = stage.control();
    let text = "x".repeat(forge_process::MAX_PAYLOAD - 7);
    assert!(matches!(control.input(1, &text).unwrap_err(), Error::TooLong { .. }));
    assert_eq!(control.input(1, &text[1..]).unwrap(), Accepted::New);
    assert_eq!(bytes(&stage.records(), Stream::Input).len(), forge_process::MAX_PAYLOAD - 8);
}

#[test]
fn many_at_once_are_accepted_exactly_once_each() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["cat"]));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let control = stage.control();
                for ordinal in 1..=50 {
                    // Another thread may be ahead or behind; whoever is in turn gets it in.
                    eventually("its turn", || control.input(ordinal, &format!("{ordinal}\n")).ok());
                }
            });
        }
    });
    stage.control().close_input(51).unwrap();
    stage.exit();
    let expected: String = (1..=50).map(|ordinal| format!("{ordinal}\n")).collect();
    assert_eq!(stage.text(Stream::Stdout), expected);
}

#[test]
fn a_client_without_a_common_version_is_told_both_ranges() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["sleep", "600"]));
    let mut stream = connect(&stage);
    stream.write_all(b"{\"hello\":{\"min\":7,\"max\":9}}\n").unwrap();
    let mut reply = String::new();
    BufReader::new(&stream).read_line(&mut reply).unwrap();
    assert_eq!(reply, "{\"refused\":{\"min\":1,\"max\":1}}\n");

    // And the other way round: a shim of a time to come.
    let later = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(later.path().join("ctl")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = String::new();
            BufReader::new(&stream).read_line(&mut hello).unwrap();
            stream.write_all(b"{\"refused\":{\"min\":7,\"max\":9}}\n").unwrap();
        });
        let error = Control::connect(later.path()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no common protocol version: this program speaks 1 to 1, the shim speaks 7 to 9"
        );
    });
}

#[test]
fn nonsense_on_the_socket_is_answered_and_harms_nothing() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["sleep", "600"]));
    for nonsense in ["hello?\n", "{\"stop\":{\"int_ms\":0,\"term_ms\":0}}\n", "\u{0}\n"] {
        let mut stream = connect(&stage);
        stream.write_all(nonsense.as_bytes()).unwrap();
        let mut reply = String::new();
        BufReader::new(&stream).read_line(&mut reply).unwrap();
        assert!(reply.starts_with("{\"error\":"), "{reply}");
    }
    drop(connect(&stage));
    assert!(stage.control().status().unwrap().running);
}

fn connect(stage: &Stage) -> UnixStream {
    UnixStream::connect(stage.dir.join("ctl")).unwrap()
}

#[test]
fn an_input_that_the_spec_closes_ends_after_what_it_says_first() {
    let stage = Stage::new();
    let mut spec = stage.spec(&["cat"]);
    spec.inputs = vec!["one\n".into()];
    spec.close_input = true;
    stage.start(&spec);
    assert_eq!(stage.exit().code, Some(0));
    assert_eq!(stage.text(Stream::Stdout), "one\n");
    let last = stage.records().into_iter().rfind(|record| record.ordinal.is_some()).unwrap();
    assert_eq!((last.stream, last.ordinal), (Stream::InputClosed, Some(2)));
}
