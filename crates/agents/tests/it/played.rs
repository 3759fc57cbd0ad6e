//! What the real programs and Forge said to each other in the scenarios of `./test --agents`, folded into steps. The
//! recordings are what `--record` wrote.

use std::fs;
use std::path::{Path, PathBuf};

use forge_agents::Turn;
use insta::assert_snapshot;
use serde_json::Value;

use crate::recording::{Part, Play, Protocol, Recording};
use crate::{acp, claude, codex};

fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads every recording with the turn it was made for.
pub(crate) fn recordings() -> Vec<(String, Recording)> {
    let profiles = fs::read_to_string(crate_dir().join("../engine/profiles.json")).unwrap();
    let profiles: Value = serde_json::from_str(&profiles).unwrap();
    let mut all = Vec::new();
    for folder in sorted(&crate_dir().join("tests/fixtures/played")) {
        let cli = stem(&folder);
        for file in sorted(&folder) {
            let scenario = stem(&file);
            let protocol = protocol(&cli);
            let recording = Recording::read(&format!("played/{cli}/{scenario}"), protocol);
            let session = session(&recording, &scenario);
            let variant = variant(&scenario).to_string();
            let settings = profiles["executors"][protocol.agent][&variant][protocol.agent].clone();
            let turn = |turn| Turn { session, settings, variant: Some(variant), ..turn };
            all.push((format!("played_{cli}_{scenario}"), recording.of(turn)));
        }
    }
    all
}

fn protocol(cli: &str) -> Protocol {
    match cli {
        "claude" => claude::PROTOCOL,
        "codex" => codex::PROTOCOL,
        "copilot" => acp::protocol("COPILOT"),
        "gemini" => acp::protocol("GEMINI"),
        "opencode" => acp::protocol("OPENCODE"),
        "qwen" => acp::protocol("QWEN_CODE"),
        other => panic!("nobody knows how recordings of {other} are read"),
    }
}

/// The variant that a scenario is played with.
fn variant(scenario: &str) -> &'static str {
    match scenario {
        "allowed" | "denied" | "question" | "restart" => "APPROVALS",
        "plan" => "PLAN",
        _ => "GENIE",
    }
}

/// The session that a second run goes on with: what it loads, or any where that is an argument of its command.
fn session(recording: &Recording, scenario: &str) -> Option<String> {
    let loaded = recording.parts.iter().find_map(|part| match part {
        Part::Sent(message) => {
            let key = match message["method"].as_str()? {
                "session/load" | "session/resume" => "sessionId",
                "thread/resume" => "threadId",
                _ => return None,
            };
            message["params"][key].as_str().map(str::to_string)
        }
        _ => None,
    });
    loaded.or_else(|| scenario.ends_with("-2").then(|| "earlier".to_string()))
}

fn sorted(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_string()
}

#[test]
fn what_was_said_in_every_scenario_with_the_real_programs() {
    let version = concat!("\"version\":\"", env!("CARGO_PKG_VERSION"), "\"");
    for (name, recording) in recordings() {
        assert_snapshot!(name, recording.fold_any_size().replace(version, "\"version\":\"0\""));
    }
}

/// The figures of request n are 1000 + 10 n for input, 200 + n of it from the cache, and 50 + n for output. Of the two
/// requests of this scenario each program tells what is in this table, and that is what is counted.
#[test]
fn what_each_real_program_tells_of_its_usage_is_counted() {
    let both = |n: i64| (2010 + 20 * n, 401 + 2 * n, 101 + 2 * n);
    for (cli, told) in [
        ("claude", Tells::CacheBeside(both(0))),
        ("codex", Tells::CacheInside(both(0))),
        ("copilot", Tells::CacheInside(both(0))),
        ("qwen", Tells::CacheInside(both(0))),
        // One request came before: it chooses a model, and what that took is not told.
        ("gemini", Tells::NoCache(both(1))),
        // The last request alone.
        ("opencode", Tells::CacheInside((1020, 202, 52))),
    ] {
        let name = format!("played_{cli}_writes");
        let (_, recording) = recordings().into_iter().find(|(known, _)| *known == name).unwrap();
        let mut play = Play::begin(&recording);
        for part in &recording.parts {
            match part {
                Part::Printed(bytes) => play.print(bytes),
                Part::Error(line) => play.print_error(line),
                Part::Sent(message) => play.act(&recording.told(message)),
            }
        }
        let used = play.used().unwrap_or_else(|| panic!("{cli} told nothing"));
        let counted = (used.input_tokens, used.cache_read_tokens, used.output_tokens);
        let expected = match told {
            Tells::CacheBeside((input, cached, output)) => (Some(input), Some(cached), Some(output)),
            Tells::CacheInside((input, cached, output)) => (Some(input - cached), Some(cached), Some(output)),
            Tells::NoCache((input, _, output)) => (Some(input), None, Some(output)),
        };
        assert_eq!(counted, expected, "{cli}");
    }
}

/// Whether the input that a program tells has what came from the cache.
enum Tells {
    CacheBeside((i64, i64, i64)),
    CacheInside((i64, i64, i64)),
    NoCache((i64, i64, i64)),
}
