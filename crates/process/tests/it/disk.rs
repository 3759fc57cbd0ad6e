//! A disk that is full: the agent waits, and nothing is lost.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use forge_process::{Error, Stream};

use crate::stage::{Stage, eventually};

/// A small disk in memory, mounted for one test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: PathBuf, kilobytes: u32) -> Self {
        fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k,mode=700"), "forge-test"])
            .arg(&path)
            .output()
            .expect("the mount program");
        assert!(
            mounted.status.success(),
            "this test fills a small disk and must be allowed to mount one (run the tests as root): {}",
            String::from_utf8_lossy(&mounted.stderr)
        );
        Self(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Makes room, so that also after a failed test no shim waits for it for ever.
        let _ = fs::remove_file(self.0.join("ballast"));
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_makes_the_agent_wait_and_every_byte_arrives_once_there_is_room() {
    let mut stage = Stage::new();
    let disk = SmallDisk::mount(stage.file("disk"), 1024);
    stage.dir = disk.0.join("run");
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![0; 700 * 1024]).unwrap();
    let spec = stage.sh("seq 1 100000; echo finished > finished");
    stage.start(&spec);

    let control = stage.control();
    eventually("the full disk", || {
        (control.status().unwrap().blocked.as_deref() == Some("no space left on device")).then_some(())
    });
    assert!(control.status().unwrap().running);
    assert!(!stage.file("finished").exists());
    // An input that cannot be journalled is refused, and its ordinal is still free. It is longer
    // than what the log waits to write, for which there is no room.
    let error = control.input(1, &"x".repeat(100 * 1024)).unwrap_err();
    assert!(matches!(&error, Error::Shim { message, .. } if message.contains("No space left")), "{error:?}");

    fs::remove_file(&ballast).unwrap();
    let exit = stage.exit();
    assert_eq!(exit.code, Some(0));
    assert!(stage.file("finished").exists());
    let expected: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    assert!(stage.text(Stream::Stdout) == expected);
    assert_eq!(stage.records().last().unwrap().end, exit.log_end);
    drop(control);
    drop(disk);
}

#[test]
fn a_run_on_a_full_disk_can_be_stopped_and_says_what_its_log_waits_for() {
    let mut stage = Stage::new();
    let disk = SmallDisk::mount(stage.file("disk"), 512);
    stage.dir = disk.0.join("run");
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![0; 200 * 1024]).unwrap();
    let spawned = stage.start(&stage.sh("seq 1 100000"));
    let control = stage.control();
    eventually("the full disk", || control.status().unwrap().blocked);
    let ladder = forge_process::Ladder { int_ms: 10_000, term_ms: 10_000 };
    let error = control.stop(&ladder).unwrap_err();
    assert!(error.to_string().ends_with("waits for the disk: no space left on device"), "{error}");
    assert!(!crate::stage::is_running(spawned.agent_pid));
    assert!(!control.status().unwrap().running);

    fs::remove_file(&ballast).unwrap();
    let exit = control.stop(&ladder).unwrap();
    assert_eq!((exit.signal, exit.stopped), (Some(2), true));
    // What the agent had written to its pipe before it was stopped is there.
    assert_eq!(stage.records().last().unwrap().end, exit.log_end);
    drop(disk);
}
