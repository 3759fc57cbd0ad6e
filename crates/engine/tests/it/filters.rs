//! Filters that only a repository's own config defines, as git-crypt has them: never run and never committed around
//! until the person trusts them; then used for everything.

use std::fs;
use std::path::Path;

use forge_engine::{FollowUp, ProjectChange};
use forge_model::AttemptState;

use crate::world::{World, git};

const SECRET: &str = "the key is 1234";
const HIDDEN: &str = "gur xrl vf 1234";

/// Makes a repository whose `*.secret` files are encrypted by a required filter of its own config.
fn encrypt(world: &World) {
    let script = world.repository.join(".git/rot13");
    fs::write(&script, "#!/bin/sh\nexec tr a-zA-Z n-za-mN-ZA-M\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (key, value) in [("clean", script.to_str().unwrap()), ("smudge", script.to_str().unwrap())] {
        world.git(&["config", &format!("filter.hide.{key}"), value]);
    }
    world.git(&["config", "filter.hide.required", "true"]);
    fs::write(world.repository.join(".gitattributes"), "*.secret filter=hide\n").unwrap();
    fs::write(world.repository.join("a.secret"), format!("{SECRET}\n")).unwrap();
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message=hidden"]);
    assert_eq!(world.git(&["cat-file", "blob", "HEAD:a.secret"]), HIDDEN);
}

fn trust(world: &World, trust: bool) {
    let change = ProjectChange { trust_filters: Some(trust), ..ProjectChange::default() };
    let project = world.run(world.engine().update_project(world.project, change)).unwrap();
    assert_eq!(project.trust_filters, trust);
}

/// Says whether any object of the repository holds a text.
fn is_in_objects(repository: &Path, text: &str) -> bool {
    let objects =
        git(repository, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"]);
    let blobs = objects.lines().filter_map(|line| line.strip_suffix(" blob"));
    blobs.into_iter().any(|blob| git(repository, &["cat-file", "blob", blob]).contains(text))
}

#[test]
fn without_trust_a_start_is_refused_with_the_remedy_and_leaves_nothing() {
    let world = World::new();
    encrypt(&world);
    let error = world.run(world.engine().create_and_start(world.wanted("say hi"), None)).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("a.secret") && told.contains("`trust_filters`"), "{told}");
    assert_eq!(world.made(), (vec![], vec![]));
    assert!(world.run(world.engine().attempts(None)).unwrap().is_empty());
    assert!(!is_in_objects(&world.repository, SECRET));
}

#[test]
fn with_trust_files_are_decrypted_for_the_agent_and_committed_encrypted() {
    let mut world = World::new();
    encrypt(&world);
    trust(&world, true);
    world.restart();
    let script = format!("run cat a.secret\nedit b.secret {SECRET}, too\nsay done");
    let started = world.start(&script);
    let view = world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert_eq!(view.attempt.reason, None);
    assert!(world.output(started.run.id).contains(SECRET), "the agent sees what is hidden");
    let branch = view.attempt.branch;
    assert_eq!(world.git(&["cat-file", "blob", &format!("{branch}:b.secret")]), format!("{HIDDEN}, gbb"));
    assert!(
        !is_in_objects(&world.repository, SECRET),
        "no clear text is in any object, of a snapshot either"
    );
}

#[test]
fn a_turn_is_not_committed_once_trust_is_taken_back_and_no_clear_text_is() {
    let world = World::new();
    encrypt(&world);
    trust(&world, true);
    let started = world.start("say hi");
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    trust(&world, false);
    let prompt = format!("edit b.secret {SECRET}, too");
    let follow = FollowUp::new(prompt);
    let told = world.run(world.engine().follow_up(id, follow, None)).unwrap();
    world.run(world.engine().run(told.run.id)).unwrap();
    let view = crate::world::eventually("the turn is over", || {
        let view = world.attempt(id);
        view.attempt.reason.is_some().then_some(view)
    });
    let reason = view.attempt.reason.unwrap();
    assert!(reason.contains("not committed") && reason.contains("`trust_filters`"), "{reason}");
    assert_eq!(world.git(&["ls-tree", "--name-only", &view.attempt.branch, "b.secret"]), "");
    assert!(!is_in_objects(&world.repository, SECRET));
}

#[test]
fn trust_is_for_filters_alone() {
    let world = World::new();
    encrypt(&world);
    trust(&world, true);
    let trap = world.dir.path().join("sprung");
    let spring = format!("touch {}", trap.display());
    for key in ["core.fsmonitor", "merge.trap.driver", "gpg.program", "core.sshCommand"] {
        world.git(&["config", key, &spring]);
    }
    let started = world.start("edit c.secret hello");
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    assert!(!trap.exists());
}

#[test]
fn without_trust_nothing_lands_and_with_it_everything_lands_encrypted() {
    let world = World::new();
    encrypt(&world);
    trust(&world, true);
    let attempt = world.rested(&format!("edit b.secret {SECRET}, too"));
    let main = world.git(&["rev-parse", "main"]);
    trust(&world, false);
    // Once with everything committed, and once with something left over.
    for left in [None, Some("c.secret")] {
        if let Some(name) = left {
            fs::write(attempt.worktree.join(name), format!("{SECRET}\n")).unwrap();
        }
        let told = world.land(&attempt).unwrap_err().to_string();
        assert!(told.contains(".secret") && told.contains("`trust_filters`"), "{told}");
        assert_eq!(world.git(&["rev-parse", "main"]), main);
        assert_eq!(world.git(&["status", "--porcelain"]), "");
        assert!(!is_in_objects(&world.repository, SECRET));
    }
    trust(&world, true);
    let merge = world.land(&attempt).unwrap();
    assert_eq!(merge.commit(), Some(world.git(&["rev-parse", "main"]).as_str()));
    assert_eq!(world.git(&["cat-file", "blob", "main:b.secret"]), format!("{HIDDEN}, gbb"));
    assert_eq!(world.git(&["cat-file", "blob", "main:c.secret"]), HIDDEN);
    // The person's checkout shows what is hidden, as their own git would have it.
    assert_eq!(fs::read_to_string(world.repository.join("c.secret")).unwrap(), format!("{SECRET}\n"));
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert!(!is_in_objects(&world.repository, SECRET));
}
