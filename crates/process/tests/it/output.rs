//! What an agent prints: kept byte by byte, in order, within its limits.

use std::time::Duration;

use forge_process::{LogReader, Stream, Watcher};
use std::sync::mpsc::channel;

use crate::stage::{PATIENCE, Stage, bytes, eventually, records};

#[test]
fn bytes_are_kept_as_they_come_whatever_they_are() {
    let stage = Stage::new();
    stage.start(&stage.sh(r"printf '\377\000\360\236 half a \303'; printf '\244 letter'"));
    stage.exit();
    assert_eq!(bytes(&stage.records(), Stream::Stdout), b"\xff\x00\xf0\x9e half a \xc3\xa4 letter");
}

#[test]
fn a_megabyte_flood_on_both_streams_arrives_whole_across_many_segments() {
    let stage = Stage::new();
    let mut spec = stage.sh("seq 1 200000 & seq 200001 400000 >&2; wait");
    spec.segment_bytes = Some(100_000);
    stage.start(&spec);
    let exit = stage.exit();
    let numbers = |from: u32, to: u32| (from..=to).map(|number| format!("{number}\n")).collect::<String>();
    assert!(stage.text(Stream::Stdout) == numbers(1, 200_000));
    assert!(stage.text(Stream::Stderr) == numbers(200_001, 400_000));
    let segments = std::fs::read_dir(&stage.dir)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".flog"))
        .count();
    assert!(segments > 20, "{segments}");
    assert_eq!(stage.records().last().unwrap().end, exit.log_end);
}

#[test]
fn stderr_stops_at_its_limit_with_one_notice_and_the_agent_never_notices() {
    let stage = Stage::new();
    let mut spec = stage.sh("seq 1 100000 >&2; seq 1 100000; echo done");
    spec.limit = Some(10_000);
    stage.start(&spec);
    assert_eq!(stage.exit().code, Some(0));
    assert_eq!(stage.text(Stream::Stderr).len(), 10_000);
    assert!(stage.text(Stream::Stdout).ends_with("100000\ndone\n"), "an agent's stdout has no limit");
    assert_eq!(stage.text(Stream::Shim), r#"{"limit":10000,"truncated":"stderr"}"#);
}

#[test]
fn a_script_may_have_its_stdout_limited_too() {
    let stage = Stage::new();
    let mut spec = stage.sh("seq 1 100000; echo fine >&2");
    spec.limit = Some(777);
    spec.limit_stdout = true;
    stage.start(&spec);
    assert_eq!(stage.exit().code, Some(0));
    assert_eq!(stage.text(Stream::Stdout).len(), 777);
    assert_eq!(stage.text(Stream::Stderr), "fine\n");
}

#[test]
fn a_follower_reads_everything_exactly_once_while_it_is_written() {
    let stage = Stage::new();
    let mut spec = stage.sh("i=0; while test $i -lt 3000; do i=$((i+1)); echo line $i; done");
    spec.segment_bytes = Some(10_000);
    stage.start(&spec);
    let watcher = Watcher::start().unwrap();
    let (send, woken) = channel();
    let _watch = watcher.watch(&stage.dir, move || _ = send.send(())).unwrap();
    let mut reader = LogReader::open(&stage.dir, 0).unwrap();
    let mut text = Vec::new();
    let mut position = 0;
    loop {
        for record in reader.read(1000).unwrap() {
            assert_eq!(record.offset, position);
            position = record.end;
            text.extend(record.payload);
        }
        match forge_process::liveness(&stage.dir).unwrap() {
            forge_process::Liveness::Exited(exit) if exit.log_end == position => break,
            _ => {}
        }
        // A wake lost would be waited for in vain here; several at once are one.
        if reader.position() == position && forge_process::log_end(&stage.dir).unwrap() == position {
            woken.recv_timeout(PATIENCE).expect("a wake");
        }
    }
    let expected: String = (1..=3000).map(|line| format!("line {line}\n")).collect();
    assert!(text == expected.into_bytes());
    assert_eq!(reader.skipped(), 0);
}

#[test]
fn a_reader_resumes_from_any_position_it_gave_out() {
    let stage = Stage::new();
    let mut spec = stage.sh("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.01; done");
    spec.segment_bytes = Some(80);
    stage.start(&spec);
    stage.exit();
    let all = stage.records();
    for (index, record) in all.iter().enumerate() {
        assert_eq!(records(&stage.dir, record.offset), all[index..]);
        assert_eq!(records(&stage.dir, record.end), all[index + 1..]);
    }
}

#[test]
fn records_carry_the_time_at_which_they_came() {
    let stage = Stage::new();
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    stage.start(&stage.sh("echo x"));
    eventually("the line", || stage.records().first().cloned());
    let at = Duration::from_micros(stage.records()[0].at_us);
    assert!(at >= before - Duration::from_secs(1) && at < before + PATIENCE);
}
