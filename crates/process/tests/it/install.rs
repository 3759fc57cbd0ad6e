//! The content-named copy of the program.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use forge_process::{install_binary, install_launcher};

use crate::stage::launcher;

#[test]
fn a_program_is_copied_under_its_content_once() {
    let temp = tempfile::tempdir().unwrap();
    let source = temp.path().join("forge");
    let bin = temp.path().join("bin");
    fs::write(&source, "first").unwrap();
    let first = install_binary(&source, &bin).unwrap();
    // The first sixteen digits of the sha256 of "first".
    assert_eq!(first, bin.join("forge-a7937b64b8caa58f"));
    assert_eq!(fs::read(&first).unwrap(), b"first");
    assert_eq!(fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o755);
    let inode = fs::metadata(&first).unwrap().ino();
    assert_eq!(install_binary(&source, &bin).unwrap(), first);
    assert_eq!(fs::metadata(&first).unwrap().ino(), inode);

    fs::write(&source, "second").unwrap();
    let second = install_binary(&source, &bin).unwrap();
    assert_ne!(second, first);
    assert_eq!(fs::read_dir(&bin).unwrap().count(), 2);
}

#[test]
fn many_at_once_install_one_whole_copy() {
    let temp = tempfile::tempdir().unwrap();
    let source = temp.path().join("forge");
    let bin = temp.path().join("bin");
    fs::write(&source, vec![7; 3_000_000]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let installed = install_binary(&source, &bin).unwrap();
                assert_eq!(fs::metadata(installed).unwrap().len(), 3_000_000);
            });
        }
    });
    assert_eq!(fs::read_dir(&bin).unwrap().count(), 1);
}

#[test]
fn a_program_installs_itself_and_can_be_run_at_once_from_many_threads() {
    let temp = tempfile::tempdir().unwrap();
    let bin = temp.path().join("bin");
    let launcher = launcher();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let installed = install_launcher(&launcher, &bin).unwrap();
                // It knows no such word and says so; what matters is that the kernel runs it.
                let output = std::process::Command::new(&installed).arg("nonsense").output().unwrap();
                assert_eq!(output.status.code(), Some(2));
            });
        }
    });
    assert_eq!(fs::read_dir(&bin).unwrap().count(), 1);
}
