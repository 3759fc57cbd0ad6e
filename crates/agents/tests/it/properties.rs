//! What holds for every recording of every agent, however its bytes are cut, dropped, swapped or spoiled: nothing
//! panics, entries are numbered without gaps, what cannot be read is quoted, memory stays small, and a conversation
//! that is written down and opened again goes on as if nothing had happened.

use std::fs;
use std::path::Path;

use forge_agents::Step;
use forge_model::Answer;
use forge_model::entry::EntryType;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::recording::{Part, Play, Protocol, Recording, Told};
use crate::{acp, claude, codex, fuzzed, headless, played, scripted};

/// The directories of recordings, and how they are read: one line for each.
const RECORDED: &[(&str, Protocol)] = &[
    ("amp", headless::AMP),
    ("claude", claude::PROTOCOL),
    ("codex", codex::PROTOCOL),
    ("command", headless::COMMAND),
    ("cursor", headless::CURSOR),
    ("scripted", scripted::PROTOCOL),
];

/// How many times each recording is spoiled.
const ROUNDS: u64 = 10;

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Calls `each` with every recording there is, and its name.
pub(crate) fn each_recording(mut each: impl FnMut(&str, Recording)) {
    for (directory, protocol) in RECORDED {
        let files = fs::read_dir(fixtures().join(directory)).unwrap().map(|file| file.unwrap().path());
        let mut names: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .map(|path| format!("{directory}/{}", path.file_stem().unwrap().to_str().unwrap()))
            .collect();
        names.sort();
        assert!(!names.is_empty(), "{directory} holds no recording");
        for name in names {
            each(&name, Recording::read(&name, *protocol));
        }
    }
    for (name, recording) in acp::recordings() {
        each(&format!("acp/{name}"), recording);
    }
    for (name, recording) in played::recordings() {
        each(&name, recording);
    }
}

/// Something that reaches a conversation.
#[derive(Clone)]
enum Input {
    /// A line of output, with its newline unless it is the last.
    Line(Vec<u8>),
    Error(String),
    Act(Told),
}

fn inputs(recording: &Recording) -> Vec<Input> {
    let mut inputs = Vec::new();
    for part in &recording.parts {
        match part {
            Part::Printed(bytes) => {
                inputs.extend(
                    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| Input::Line(line.into())),
                );
            }
            Part::Error(line) => inputs.push(Input::Error(line.clone())),
            Part::Sent(message) => inputs.push(Input::Act(recording.told(message))),
        }
    }
    inputs
}

/// Plays inputs in chunks of sizes that the dice give, and writes the conversation down and opens it again after
/// every so many of them.
fn play(recording: &Recording, inputs: &[Input], dice: &mut Dice, reopen: usize) -> String {
    let mut play = Play::begin(recording);
    for (number, input) in inputs.iter().enumerate() {
        match input {
            Input::Line(bytes) => {
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let (chunk, after) = rest.split_at(1 + dice.below(rest.len()));
                    play.print(chunk);
                    rest = after;
                }
            }
            Input::Error(line) => play.print_error(line),
            Input::Act(told) => play.act(told),
        }
        if reopen > 0 && number % reopen == 0 {
            play.reopen();
        }
    }
    play.end().0
}

#[test]
fn every_directory_of_recordings_is_in_the_table() {
    for directory in fs::read_dir(fixtures()).unwrap() {
        let name = directory.unwrap().file_name().into_string().unwrap();
        let known = RECORDED.iter().any(|(known, _)| *known == name);
        // These know by themselves how each of theirs is read.
        assert!(known || ["acp", "played"].contains(&name.as_str()), "{name} is in no line of RECORDED");
    }
}

#[test]
fn any_cut_of_the_bytes_into_chunks_gives_the_same_steps() {
    each_recording(|name, recording| {
        let (whole, inputs) = (recording.fold(usize::MAX), inputs(&recording));
        for seed in 0..5 {
            assert_eq!(play(&recording, &inputs, &mut Dice::new(seed), 0), whole, "{name}, seed {seed}");
        }
    });
}

#[test]
fn a_conversation_that_is_written_down_and_opened_again_goes_on_the_same() {
    each_recording(|name, recording| {
        let (whole, inputs) = (recording.fold(usize::MAX), inputs(&recording));
        for every in [1, 2, 3, 7] {
            let again = play(&recording, &inputs, &mut Dice::new(7), every);
            assert_eq!(again, whole, "{name}, opened again after every {every} inputs");
        }
    });
}

#[test]
fn a_line_of_json_that_is_cut_anywhere_is_an_error_that_quotes_it() {
    each_recording(|name, recording| {
        let mut conversation = recording.agent().conversation(&recording.turn);
        conversation.start();
        for input in inputs(&recording) {
            let Input::Line(line) = input else { continue };
            let line = line.trim_ascii();
            if !line.starts_with(b"{") || serde_json::from_slice::<Value>(line).is_err() {
                continue;
            }
            for end in cuts(line.len()) {
                let cut = String::from_utf8_lossy(&line[..end]);
                let steps = conversation.read(&cut);
                let [Step::Entry { entry, .. }] = &steps[..] else {
                    panic!("{name}: {cut} gives {steps:?}");
                };
                assert!(matches!(entry.entry_type, EntryType::ErrorMessage { .. }), "{name}: {entry:?}");
                let quote: String = cut.trim_end().chars().take(300).collect();
                assert!(entry.content.contains(&quote), "{name}: {cut} is not quoted in {entry:?}");
            }
        }
    });
}

/// Where a line is cut: everywhere in its first bytes and its last ones, and in steps between them.
fn cuts(length: usize) -> impl Iterator<Item = usize> {
    (1..length).filter(move |end| *end < 60 || length - end < 10 || end % (1 + length / 30) == 0)
}

#[test]
fn spoiled_output_never_panics_and_any_cut_of_it_gives_the_same_steps() {
    each_recording(|name, recording| {
        let inputs = inputs(&recording);
        for seed in 0..ROUNDS {
            let mut dice = Dice::new(seed);
            let mut spoiled = inputs.clone();
            for _ in 0..1 + dice.below(6) {
                spoil(&mut spoiled, &mut dice);
            }
            let whole = play(&recording, &spoiled, &mut Dice::new(1), 0);
            let again = play(&recording, &spoiled, &mut Dice::new(2), 1 + dice.below(4));
            assert_eq!(again, whole, "{name}, seed {seed}");
        }
    });
}

#[test]
fn what_is_over_is_not_remembered() {
    each_recording(|name, recording| {
        let inputs = inputs(&recording);
        let length: usize =
            inputs.iter().map(|input| if let Input::Line(line) = input { line.len() } else { 0 }).sum();
        let mut dice = Dice::new(3);
        let mut play = Play::begin(&recording);
        let mut sizes = Vec::new();
        for round in 0..20 {
            // In every other round something is lost, so that what was begun there never ends.
            let lost = if round % 2 == 0 { dice.below(inputs.len()) } else { inputs.len() };
            for (number, input) in inputs.iter().enumerate() {
                match input {
                    _ if number == lost => {}
                    Input::Line(bytes) => play.print(bytes),
                    Input::Error(line) => play.print_error(line),
                    // What a person says waits for the end of the turn before, which may never come.
                    Input::Act(Told::Say(_)) if round > 0 => {}
                    Input::Act(told) => play.act(told),
                }
            }
            sizes.push(play.remembered().len());
        }
        let most = 2 * length + 16 * 1024;
        assert!(sizes.iter().all(|size| *size < most), "{name}: {sizes:?} of {length} bytes");
        assert!(sizes[19] < sizes[5] + 4096, "{name} remembers more and more: {sizes:?}");
    });
}

/// The body of the fuzz target, with inputs that are spoiled recordings and words of the protocols thrown together.
#[test]
fn what_the_fuzzer_checks_holds_for_random_inputs() {
    let mut lines = Vec::new();
    each_recording(|_, recording| {
        lines.extend(inputs(&recording).into_iter().filter_map(|input| match input {
            Input::Line(line) if line.len() < 4096 => Some(line),
            _ => None,
        }));
    });
    let acts = [
        "!say more",
        "!answer yes",
        "!deny no",
        "!interrupt",
        "!file text",
        "!an error",
        "plain words",
        "{",
        "[]",
    ];
    let mut dice = Dice::new(11);
    for _ in 0..100 {
        let mut bytes = Vec::new();
        for _ in 0..1 + dice.below(12) {
            match dice.below(4) {
                0 => bytes.extend(format!("{}\n", dice.one(&acts)).into_bytes()),
                1 => {
                    let (mut line, kind) = (dice.one(&lines).clone(), 4 + dice.below(5));
                    spoil_line(&mut line, kind, &mut dice);
                    bytes.extend(line);
                }
                _ => bytes.extend(dice.one(&lines)),
            }
        }
        fuzzed::play(&bytes);
    }
}

/// Spoils one thing in a way that the dice choose.
fn spoil(inputs: &mut Vec<Input>, dice: &mut Dice) {
    if inputs.is_empty() {
        return;
    }
    let (at, other) = (dice.below(inputs.len()), dice.below(inputs.len()));
    match dice.below(10) {
        9 => inputs.insert(at, Input::Act(unexpected(dice))),
        0 => drop(inputs.remove(at)),
        1 => inputs.swap(at, other),
        2 => inputs.insert(other, inputs[at].clone()),
        3 => inputs.truncate(at),
        kind => {
            let Input::Line(bytes) = &mut inputs[at] else { return };
            spoil_line(bytes, kind, dice);
        }
    }
}

/// Something that nobody waits for.
fn unexpected(dice: &mut Dice) -> Told {
    let acts = [
        Told::Say("And more.".into()),
        Told::Answer("nobody".into(), Answer::yes()),
        Told::Interrupt,
        Told::File("nobody".into(), Err("refused".into())),
    ];
    dice.one(&acts).clone()
}

fn spoil_line(bytes: &mut Vec<u8>, kind: usize, dice: &mut Dice) {
    let at = dice.below(bytes.len());
    match kind {
        // The end of the line, and with it its newline: the next line is joined to it.
        4 => bytes.truncate(at),
        5 => {
            let garbage =
                *dice.one(&[&b"\xff\xfe"[..], b"\0\0", b"}{", b"\n", b"\\u0000", b"[[[[", "🦀".as_bytes()]);
            bytes.splice(at..at, garbage.iter().copied());
        }
        6 if !bytes.is_empty() => bytes[at] = dice.below(256) as u8,
        // A line that is JSON still, but not the one that is expected.
        _ => {
            if let Ok(mut message) = serde_json::from_slice::<Value>(bytes) {
                spoil_value(&mut message, dice);
                *bytes = format!("{message}\n").into_bytes();
            }
        }
    }
}

/// Goes down to some value and puts another in its place, or takes it away.
fn spoil_value(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(fields) if !fields.is_empty() && dice.below(6) > 0 => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = dice.one(&names);
            match dice.below(6) {
                0 => drop(fields.remove(name)),
                _ => spoil_value(&mut fields[name.as_str()], dice),
            }
        }
        Value::Array(items) if !items.is_empty() && dice.below(6) > 0 => {
            let at = dice.below(items.len());
            spoil_value(&mut items[at], dice);
        }
        value => {
            let odd = [
                json!(null),
                json!(-1),
                json!(1e308),
                json!(u64::MAX),
                json!(true),
                json!(""),
                json!("x"),
                json!([]),
                json!([[null]]),
                json!({}),
                json!({"type": 7}),
                json!("é".repeat(500)),
            ];
            *value = dice.one(&odd).clone();
        }
    }
}
