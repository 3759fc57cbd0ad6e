//! A server that starts on a full disk: people can look, stop agents and make room.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::world::{World, eventually};

/// A small disk in memory, mounted for one test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: PathBuf, options: &str) -> Self {
        fs::create_dir(&path).unwrap();
        let options = format!("{options},mode=700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "forge-test"])
            .arg(&path)
            .output()
            .unwrap();
        let why = String::from_utf8_lossy(&mounted.stderr);
        assert!(mounted.status.success(), "this test must mount a disk, which takes root: {why}");
        Self(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn fill_with_bytes(disk: &Path) {
    let mut file = fs::File::create(disk.join("filler")).unwrap();
    for block in [1 << 20, 4 << 10] {
        let block = vec![0_u8; block];
        while file.write_all(&block).is_ok() {}
    }
}

fn fill_with_files(disk: &Path) {
    let dir = disk.join("fillers");
    fs::create_dir(&dir).unwrap();
    for index in 0.. {
        if fs::File::create(dir.join(index.to_string())).is_err() {
            return;
        }
    }
}

fn starts_when_full(options: &str, fill: fn(&Path), kill: bool) {
    let world = World::new();
    let disk = SmallDisk::mount(world.home(), options);
    let server = world.serve();
    assert_eq!(world.run(&["config", "set", "limits.min_free_mb", "64"]).code, Some(0));
    let attempt = world.attempt("say at work\nask which?");
    world.until_state(&attempt, "waiting");
    eventually("room is kept for a start", || disk.0.join("reserve/7").exists().then_some(()));
    if kill {
        server.signal(Signal::KILL);
    } else {
        assert_eq!(world.run(&["serve", "--stop"]).code, Some(0));
    }
    drop(server);
    fill(&disk.0);

    let _server = world.serve();
    let info = world.json(&["api", "/api/info"]);
    let info = info.get("data").unwrap_or(&info);
    let warnings: Vec<&str> = info["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(warnings.iter().any(|sentence| sentence.contains("is full")), "{warnings:?}");
    assert!(world.run(&["doctor"]).stdout.contains("is full"));
    let listed = world.json(&["list"]);
    assert_eq!(listed[0]["state"], "waiting", "{listed}");
    assert!(world.run(&["logs", &attempt]).stdout.contains("at work"));
    let stopped = world.run(&["stop", &attempt]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let _ = fs::remove_file(disk.0.join("filler"));
    let _ = fs::remove_dir_all(disk.0.join("fillers"));
    assert_eq!(world.run(&["run", "--agent", "SCRIPTED", "say room again"]).code, Some(0));
    assert_eq!(world.run(&["serve", "--stop", "--all"]).code, Some(0));
}

#[test]
fn a_server_that_was_stopped_starts_on_a_full_disk_and_says_so() {
    starts_when_full("size=240m", fill_with_bytes, false);
}

#[test]
fn a_server_that_was_killed_starts_on_a_full_disk_and_says_so() {
    starts_when_full("size=240m", fill_with_bytes, true);
}

#[test]
fn a_server_starts_where_no_file_can_be_made_any_more_and_says_so() {
    starts_when_full("size=240m,nr_inodes=2000", fill_with_files, false);
    starts_when_full("size=240m,nr_inodes=2000", fill_with_files, true);
}
