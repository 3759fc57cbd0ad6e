//! Ignored files that come along into a worktree: only those, never through a link, never from outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use forge_engine::{Engine, NewProject, Options, ProjectChange};
use forge_model::AttemptState;

use crate::world::{World, eventually, git, make_repository, options};

fn copy(world: &World, globs: &str) {
    let change = ProjectChange { copy_files: Some(Some(globs.to_string())), ..ProjectChange::default() };
    world.run(world.engine().update_project(world.project, change)).unwrap();
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes the repository ignore some files.
fn ignore(repository: &Path, lines: &str) {
    write(&repository.join(".gitignore"), lines);
    git(repository, &["add", ".gitignore"]);
    git(repository, &["commit", "--quiet", "--message=ignore"]);
}

#[test]
fn files_that_git_ignores_come_along_with_their_modes_and_what_does_not_is_told() {
    let world = World::new();
    let repository = &world.repository;
    ignore(repository, ".env\nsecrets/\n*.local\n*.key\nbehind\n");
    write(&repository.join(".env"), "TOKEN=1\n");
    fs::set_permissions(repository.join(".env"), fs::Permissions::from_mode(0o600)).unwrap();
    write(&repository.join("secrets/deep/run.sh"), "true\n");
    fs::set_permissions(repository.join("secrets/deep/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    write(&repository.join("sub/dir/one.key"), "key\n");
    write(&repository.join("plain.txt"), "would be committed\n");
    write(&world.dir.path().join("outside/secret"), "outside\n");
    symlink(world.dir.path().join("outside/secret"), repository.join("linked.local")).unwrap();
    symlink(world.dir.path().join("outside"), repository.join("behind")).unwrap();
    write(&repository.join(".worktreeinclude"), "# keys\n*.key\n../outside/secret\n\n.worktreeinclude\n");
    copy(&world, ".env, secrets/, *.local, plain.txt, gone.txt, behind/secret, README.md");
    let started = world.start("say hi");
    let worktree = &started.attempt.attempt.worktree;
    assert_eq!(fs::read_to_string(worktree.join(".env")).unwrap(), "TOKEN=1\n");
    let mode = |path: &str| worktree.join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".env"), mode("secrets/deep/run.sh")), (0o600, 0o755));
    assert_eq!(fs::read_to_string(worktree.join("sub/dir/one.key")).unwrap(), "key\n");
    for not in ["linked.local", "behind", "plain.txt", ".worktreeinclude"] {
        assert!(worktree.join(not).symlink_metadata().is_err(), "{not} came along");
    }
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let reason = view.attempt.reason.unwrap();
    for told in
        ["gone.txt (there is none)", "behind/secret (it lies behind a link)", "../outside/secret (leads out"]
    {
        assert!(reason.contains(told), "{told}: {reason}");
    }
    assert!(reason.contains("and 1 more"), "{reason}");
    assert_eq!(world.git(&["log", "--format=%s", &format!("main..{}", view.attempt.branch)]), "");
}

#[test]
fn nothing_that_the_branch_has_is_written_over_and_no_link_of_it_is_followed() {
    let world = World::new();
    let repository = &world.repository;
    let outside = world.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    // On the base branch `config` is a link that leads out, and `settings` is tracked.
    git(repository, &["checkout", "--quiet", "-b", "base"]);
    write(&repository.join(".gitignore"), "config/*\nsettings\n");
    write(&repository.join("settings"), "tracked\n");
    symlink(&outside, repository.join("config")).unwrap();
    git(repository, &["add", "--force", ".gitignore", "settings", "config"]);
    git(repository, &["commit", "--quiet", "--message=links"]);
    git(repository, &["checkout", "--quiet", "main"]);
    // In the person's checkout both are their own files.
    write(&repository.join("config/secret"), "mine\n");
    write(&repository.join("settings"), "mine\n");
    copy(&world, "config, settings");
    let mut wanted = world.wanted("say hi");
    wanted.base_branch = Some("base".into());
    let started = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    let worktree = &started.attempt.attempt.worktree;
    assert_eq!(fs::read_to_string(worktree.join("settings")).unwrap(), "tracked\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "something was written through a link");
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert!(view.attempt.reason.unwrap().contains("config/secret"));
}

#[test]
fn worktrees_and_data_inside_the_repository_are_never_copied_into_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let repository = make_repository(&dir.path().join("repository"));
    ignore(&repository, ".forge/\n.trees/\n*.env\n");
    write(&repository.join("a.env"), "1\n");
    write(&repository.join(".worktreeinclude"), "*\n");
    git(&repository, &["add", ".worktreeinclude"]);
    git(&repository, &["commit", "--quiet", "--message=include"]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let home = repository.join(".forge");
    let options = Options { worktrees: Some(repository.join(".trees")), ..options(&home, "") };
    let engine = runtime.block_on(Engine::open(options)).unwrap();
    let new = NewProject {
        name: "demo".into(),
        path: repository,
        copy_files: Some("**, .trees, .forge".into()),
        ..NewProject::default()
    };
    let project = runtime.block_on(engine.create_project(new)).unwrap().id;
    let task = forge_engine::NewTask {
        project,
        title: "a task".into(),
        description: Some("say hi".into()),
        parent: None,
        images: Vec::new(),
    };
    for _ in 0..2 {
        let start = forge_engine::StartTask {
            task: task.clone(),
            profile: forge_model::ProfileId::new("SCRIPTED", None).unwrap(),
            base_branch: Some("main".into()),
            use_worktree: true,
            manner: forge_model::Manner::default(),
        };
        let attempt = runtime.block_on(engine.create_and_start(start, None)).unwrap().attempt.attempt;
        assert_eq!(fs::read_to_string(attempt.worktree.join("a.env")).unwrap(), "1\n");
        for own in [".trees", ".forge"] {
            assert!(!attempt.worktree.join(own).exists(), "{own} was copied into itself");
        }
        eventually("it is at rest", || {
            let state = runtime.block_on(engine.attempt(attempt.id)).unwrap().attempt.state;
            (state == AttemptState::Finished).then_some(())
        });
    }
}
