//! What an attempt has changed, from the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::world::World;

#[test]
fn a_diff_is_a_patch_that_git_applies_and_can_be_counted() {
    let world = World::new();
    let _server = world.serve();
    let ended = world.run(&["run", "--agent", "SCRIPTED", "edit made.txt by the agent"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let attempt = world.json(&["list"])[0].clone();
    let id = attempt["id"].as_str().unwrap();
    let worktree = PathBuf::from(attempt["container_ref"].as_str().unwrap());
    fs::write(worktree.join("with\ttab"), "1\n2").unwrap();
    fs::create_dir(worktree.join("bin")).unwrap();
    fs::write(worktree.join("bin/tool"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(worktree.join("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();

    let patch = world.run(&["diff", id]);
    assert_eq!(patch.code, Some(0), "{patch:?}");
    let file = world.repository().with_extension("patch");
    fs::write(&file, &patch.stdout).unwrap();
    world.git(&["apply", "--index", file.to_str().unwrap()]);
    for name in ["made.txt", "with\ttab", "bin/tool"] {
        let (ours, theirs) = (world.repository().join(name), worktree.join(name));
        assert_eq!(fs::read(&ours).unwrap(), fs::read(&theirs).unwrap(), "{name}");
        assert_eq!(
            fs::metadata(&ours).unwrap().permissions().mode() & 0o100,
            fs::metadata(&theirs).unwrap().permissions().mode() & 0o100,
            "{name}"
        );
    }

    let stat = world.run(&["diff", "--stat", id]);
    assert!(stat.stdout.contains("made.txt"), "{stat:?}");
    assert!(stat.stdout.ends_with("3 files, 4 lines added, 0 deleted\n"), "{stat:?}");
    let told = world.json(&["diff", id]);
    assert_eq!(told["diffs"].as_array().unwrap().len(), 3);
    assert_eq!(told["of"], "files");
}
