//! Opening an editor: which program is started, with what, and what is refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use forge_engine::{ConfigChange, ErrorKind, OpenEditor};
use forge_model::AttemptState;
use serde_json::{Value, json};

use crate::world::{World, eventually};

fn set_editor(world: &World, editor: Value) {
    let change = ConfigChange::new([("editor".to_string(), editor)].into_iter().collect()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
}

/// An editor that writes down its arguments, its directory and its environment.
fn scribe(world: &World) -> (String, PathBuf) {
    let (program, noted) = (world.dir.path().join("my editor"), world.dir.path().join("noted"));
    let script = format!(
        "#!/bin/sh\n{{ printf '%s\\n' \"$@\"; pwd -P; env | grep ^FORGE_; }} > '{0}.part'\nmv '{0}.part' '{0}'\n",
        noted.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (format!("'{}' --wait 'two words'", program.display()), noted)
}

fn noted(path: &Path) -> Vec<String> {
    let text = eventually("the editor was started", || fs::read_to_string(path).ok());
    fs::remove_file(path).unwrap();
    text.lines().map(str::to_string).collect()
}

fn file(path: &str) -> OpenEditor {
    OpenEditor { file: Some(path.into()), ..OpenEditor::default() }
}

#[test]
fn a_command_of_the_persons_own_is_started_without_a_shell() {
    let world = World::new();
    let (command, notes) = scribe(&world);
    set_editor(&world, json!({"editor_type": "CUSTOM", "custom_command": command}));
    let top = world.repository.to_str().unwrap().to_string();
    let opened = world.run(world.engine().open_project(world.project, OpenEditor::default()));
    assert_eq!(opened.unwrap(), None);
    assert_eq!(noted(&notes), ["--wait", "two words", &top, &top], "arguments, then where it runs");
    let attempt = world.start("say hi").attempt.attempt;
    world.wait_for(attempt.id, AttemptState::Finished);
    let open = OpenEditor { line: Some(3), ..file("README.md") };
    assert_eq!(world.run(world.engine().open_attempt(attempt.id, open)).unwrap(), None);
    let worktree = attempt.worktree.canonicalize().unwrap();
    let readme = worktree.join("README.md");
    assert_eq!(noted(&notes)[2..], [readme.to_str().unwrap(), worktree.to_str().unwrap()]);
    // A file that somebody means to make may be opened as well.
    world.run(world.engine().open_attempt(attempt.id, file("new/file.txt"))).unwrap();
    assert_eq!(noted(&notes)[2], worktree.join("new/file.txt").to_str().unwrap());
}

#[test]
fn a_file_outside_is_refused_by_whatever_way_and_nothing_is_started() {
    let world = World::new();
    let (command, notes) = scribe(&world);
    set_editor(&world, json!({"editor_type": "CUSTOM", "custom_command": command}));
    symlink("/etc", world.repository.join("out")).unwrap();
    symlink("/nowhere/at/all", world.repository.join("dangling")).unwrap();
    for path in ["/etc/passwd", "../home/config.json", "a/../../x", "out/passwd", "out/new", "dangling"] {
        let error = world.run(world.engine().open_project(world.project, file(path))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().starts_with("`file_path` must stay beneath"), "{path}: {error}");
    }
    assert!(!notes.exists());
}

#[test]
fn a_program_that_is_not_there_is_named_with_the_setting() {
    let world = World::new();
    let told = |open: OpenEditor| {
        let error = world.run(world.engine().open_project(world.project, open)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        error.to_string()
    };
    set_editor(&world, json!({"editor_type": "CUSTOM", "custom_command": "no-such-editor-here -n"}));
    let missing = told(OpenEditor::default());
    assert!(missing.contains("`no-such-editor-here`") && missing.contains("editor.editor_type"), "{missing}");
    set_editor(&world, json!({"custom_command": "quote 'missing"}));
    assert!(told(OpenEditor::default()).contains("editor.custom_command"));
    set_editor(&world, json!({"custom_command": null}));
    assert!(told(OpenEditor::default()).contains("editor.custom_command"));
    let unknown = OpenEditor { editor: Some("EMACS".into()), ..OpenEditor::default() };
    assert!(told(unknown).starts_with("`editor_type` must be one of VS_CODE"));
}

#[test]
fn an_editor_elsewhere_gets_an_address_and_nothing_is_started() {
    let world = World::new();
    let host = json!({"editor_type": "VS_CODE", "remote_ssh_host": "box", "remote_ssh_user": "ada"});
    set_editor(&world, host);
    let open = |open: OpenEditor| world.run(world.engine().open_project(world.project, open)).unwrap();
    let top = world.repository.display();
    let address = format!("vscode://vscode-remote/ssh-remote+ada@box{top}");
    assert_eq!(open(OpenEditor::default()), Some(address));
    let cursor = OpenEditor { editor: Some("CURSOR".into()), line: Some(2), ..file("README.md") };
    let address = format!("cursor://vscode-remote/ssh-remote+ada@box{top}/README.md:2:1");
    assert_eq!(open(cursor), Some(address));
}

#[test]
fn what_lies_where_a_worktree_was_is_moved_aside_and_the_worktree_is_opened() {
    let world = World::new();
    set_editor(&world, json!({"editor_type": "VS_CODE", "remote_ssh_host": "box", "remote_ssh_user": "ada"}));
    let attempt = world.start("say hi").attempt.attempt;
    world.wait_for(attempt.id, AttemptState::Finished);
    fs::remove_dir_all(&attempt.worktree).unwrap();
    fs::create_dir_all(attempt.worktree.join(".git")).unwrap();
    let opened = world.run(world.engine().open_attempt(attempt.id, OpenEditor::default())).unwrap();
    assert!(opened.unwrap().ends_with(&attempt.worktree.display().to_string()));
    assert!(attempt.worktree.join(".git").is_file(), "the worktree is back");
}
