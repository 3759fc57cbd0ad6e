//! Moving in by the command line: one command, whatever happens to the server meanwhile.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rusqlite::Connection;
use serde_json::Value;

use crate::world::{Running, World};

/// Unpacks a sample where its product has its data, as the person of the world would have it.
fn moved_in_from(world: &World, sample: &str, product: &str) -> PathBuf {
    let archive = format!("{}/../engine/tests/it/import/{sample}.tar.gz", env!("CARGO_MANIFEST_DIR"));
    let unpacked = Command::new("tar").args(["-xzf", &archive, "-C"]).arg(world.path("temporary")).status();
    assert!(unpacked.unwrap().success());
    let home = world.path("temporary").join(sample).join("home");
    for place in [".local", ".cache"] {
        fs::rename(home.join(place), world.path("person").join(place)).unwrap();
    }
    world.path("person").join(".local/share").join(product)
}

fn found(report: &Value, kind: &str, what: &str) -> u64 {
    let things = report["things"].as_array().unwrap();
    things.iter().find(|thing| thing["kind"] == kind).unwrap()[what].as_u64().unwrap()
}

#[test]
fn a_person_moves_in_by_one_command_and_reads_what_came() {
    let world = World::new();
    moved_in_from(&world, "af-0.7.4", "automagik-forge");
    let _server = world.serve();
    let tried = world.run(&["import", "automagik-forge", "--dry-run"]);
    assert_eq!(tried.code, Some(0), "{tried:?}");
    assert!(tried.stderr.contains("nothing was written"), "{tried:?}");
    let ended = world.run(&["import", "automagik-forge"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in ["17 tasks            17 new", "18 runs             18 new", "- "] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
    let again = world.json(&["import", "automagik-forge"]);
    assert_eq!((found(&again, "tasks", "added"), found(&again, "tasks", "unchanged")), (0, 17));
    let attempts = world.json(&["list"]);
    assert_eq!(attempts.as_array().unwrap().len(), 8);
    // What an agent said there is read here as if it had run here, both turns of it.
    let merged =
        attempts.as_array().unwrap().iter().find(|attempt| attempt["branch"] == "forge/ea4c-attempt-merged");
    let id = merged.unwrap()["id"].as_str().unwrap();
    let said = world.json(&["api", &format!("/api/task-attempts/{id}/entries?limit=500")])["data"].take();
    assert_eq!((&said["total"], &said["runs"][1]["is_over"]), (&22.into(), &true.into()), "{said}");
    assert_eq!(said["entries"][0]["entry"]["content"], "Attempt merged\n\ndo it");

    let wrong = world.run(&["import", "something-else"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let missing = world.run(&["import", "vibe-kanban"]);
    assert_ne!(missing.code, Some(0));
    assert!(missing.stderr.contains(".local/share/vibe-kanban"), "{missing:?}");
}

#[test]
fn an_import_that_is_killed_half_way_is_completed_by_the_next() {
    let world = World::new();
    let data = moved_in_from(&world, "af-0.7.4", "automagik-forge");
    for seam in ["import.projects", "import.logs", "import.batch"] {
        let mut command = world.forge(&["serve", "--port", "0"]);
        command.env("FORGE_SEAM", format!("{seam}=kill"));
        let mut server = Running::start(command);
        server.line_with("Forge 0.1.0 on http://");
        let ended = world.run(&["import", "automagik-forge", data.to_str().unwrap()]);
        assert_ne!(ended.code, Some(0), "{seam}: {ended:?}");
        server.end();
    }
    let _server = world.serve();
    let report = world.json(&["import", "automagik-forge", data.to_str().unwrap()]);
    assert_eq!(found(&report, "projects", "unchanged"), 2);
    for (kind, count) in [("tasks", 17), ("attempts", 8), ("runs", 18), ("drafts", 3)] {
        assert_eq!(found(&report, kind, "found"), count, "{kind}");
        assert_eq!(found(&report, kind, "added") + found(&report, kind, "unchanged"), count, "{kind}");
    }
    let again = world.json(&["import", "automagik-forge", data.to_str().unwrap()]);
    assert!(again["things"].as_array().unwrap().iter().all(|thing| thing["added"] == 0), "{again}");
    assert!(!world.home().join("import").exists());
}

/// The most memory that a process has had, and what it has now.
fn memory(pid: u32, what: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[test]
fn a_log_of_100_mb_in_one_row_takes_less_than_60_mb_of_memory() {
    let world = World::new();
    let data = moved_in_from(&world, "af-0.7.4", "automagik-forge");
    let conn = Connection::open(data.join("db.sqlite")).unwrap();
    // Records of all lengths, the longest a single line of some megabytes.
    let mut log = String::new();
    let words = "an agent said so, and then it said more about it. ".repeat(20);
    while log.len() < 96 << 20 {
        log.push_str(&format!("{{\"Stdout\":\"{words}\\n\"}}\n"));
    }
    log.push_str(&format!("{{\"Stdout\":\"{}\\n\"}}\n", "x".repeat(8 << 20)));
    let run = "e3e0d5b07395464182f7b50fcfe33cc1";
    let sql = "update execution_process_logs set logs = ?1 where hex(execution_id) = upper(?2)";
    assert_eq!(conn.execute(sql, (&log, run)).unwrap(), 1);
    drop((conn, log));
    let server = world.serve();
    assert_eq!(world.run(&["import", "automagik-forge", "--dry-run"]).code, Some(0));
    let before = memory(server.pid(), "VmRSS:");
    let report = world.json(&["import", "automagik-forge"]);
    assert!(report["logs"]["bytes"].as_u64().unwrap() > 100 << 20, "{report}");
    let most = memory(server.pid(), "VmHWM:");
    println!("the server had {before} MB before and {most} MB at most");
    assert!(most < before + 60, "{most} MB at most, {before} MB before");
}
