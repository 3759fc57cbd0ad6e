//! Worktrees that are made ahead: how they wait, how they are handed over, and what a crash leaves of that.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use forge_git::{Error, Git, Pace, Ready, Repo};

use crate::world::World;

const OURS: &str = "forge /data/one";

fn place(world: &World, name: &str) -> PathBuf {
    world.path("worktrees/.pool/1").join(name)
}

fn made(world: &World, name: &str) -> Ready {
    let repo = world.repo();
    let oid = repo.resolve_branch("main").unwrap();
    repo.add_ready(&place(world, name), &oid, OURS, Pace::Gentle).unwrap()
}

/// Sets the time of the files back, so that git does not take them for written in the second of the index.
fn age(world: &World, ready: &Ready) {
    let long_ago = SystemTime::now() - Duration::from_secs(100);
    let tracked = world.run(ready.path(), ["ls-files"]);
    for name in tracked.lines() {
        fs::File::open(ready.path().join(name)).unwrap().set_modified(long_ago).unwrap();
    }
}

fn hand_over(mut ready: Ready, to: &Path, branch: &str) -> Result<forge_git::Worktree, Error> {
    ready.rename(to)?;
    ready.point()?;
    ready.put_on(branch)
}

fn sane(world: &World) {
    world.run(&world.path("repo"), ["fsck", "--strict"]);
    let pruned = world.run(&world.path("repo"), ["worktree", "prune", "--dry-run", "--verbose"]);
    assert_eq!(pruned, "", "git would prune something");
}

#[test]
fn a_ready_worktree_waits_detached_and_locked() {
    let world = World::new();
    let ready = made(&world, "a");
    let listed = world.repo().worktrees().unwrap();
    assert_eq!(listed[1].path, place(&world, "a"));
    assert_eq!((listed[1].branch.as_deref(), listed[1].locked.as_deref()), (None, Some(OURS)));
    assert_eq!(listed[1].head.as_deref(), Some(ready.oid()));
    assert_eq!(fs::read_to_string(ready.path().join("sub/b.txt")).unwrap(), "two\n");
    sane(&world);
}

#[test]
fn a_handed_over_worktree_is_on_its_branch_and_its_index_is_what_it_was() {
    let world = World::new();
    let ready = made(&world, "a");
    age(&world, &ready);
    assert!(ready.settle(Pace::Gentle).unwrap());
    let stamp = ready.index_stamp();
    let git_dir = world.repo().worktree(ready.path()).unwrap().git_dir().to_path_buf();
    let index = fs::read(git_dir.join("index")).unwrap();
    let inode = fs::metadata(ready.path().join("a.txt")).unwrap();
    let (oid, to) = (ready.oid().to_string(), world.path("worktrees/one"));

    let worktree = hand_over(ready.clone(), &to, "forge/one").unwrap();
    assert_eq!(worktree.path(), to);
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    assert_eq!(worktree.head().unwrap(), oid);
    assert_eq!(world.repo().resolve_branch("forge/one").unwrap(), oid);
    assert_eq!(fs::read(git_dir.join("index")).unwrap(), index);
    assert_eq!(ready.index_stamp(), stamp);
    let now = fs::metadata(to.join("a.txt")).unwrap();
    assert_eq!((now.ino(), now.ctime_nsec()), (inode.ino(), inode.ctime_nsec()));
    assert_eq!(world.run(&to, ["status", "--porcelain", "--branch"]), "## forge/one");
    // Git found nothing to write anew: the index was settled.
    assert_eq!(fs::read(git_dir.join("index")).unwrap(), index);
    assert!(!place(&world, "a").exists());

    let listed = world.repo().worktrees().unwrap();
    assert_eq!(listed[1].path, to);
    assert_eq!((listed[1].branch.as_deref(), listed[1].locked.as_deref()), (Some("forge/one"), Some(OURS)));
    world.commit(&to, "work");
    sane(&world);
    // It is removed like any other.
    world.repo().remove_worktree_to_trash(&to, &world.path("trash"), &world.path("worktrees")).unwrap();
    assert_eq!(world.repo().worktrees().unwrap().len(), 1);
}

#[test]
fn looking_settles_the_index_and_sees_everything_that_is_not_the_commits() {
    let world = World::new();
    let ready = made(&world, "a");
    age(&world, &ready);
    let before = ready.index_stamp();
    assert!(ready.is_clean().unwrap());
    assert_eq!(ready.index_stamp(), before, "a mere look leaves the index alone");
    assert!(ready.settle(Pace::Gentle).unwrap());
    assert_ne!(ready.index_stamp(), before);
    for name in ["new.txt", "ignored.log", "a.txt"] {
        let before = fs::read(ready.path().join(name)).ok();
        fs::write(ready.path().join(name), "changed").unwrap();
        assert!(!ready.is_clean().unwrap(), "{name}");
        match before {
            Some(before) => fs::write(ready.path().join(name), before).unwrap(),
            None => fs::remove_file(ready.path().join(name)).unwrap(),
        }
        assert!(ready.is_clean().unwrap(), "{name}");
    }
}

#[test]
fn a_ready_worktree_follows_its_base_and_never_over_a_change() {
    let world = World::new();
    let mut ready = made(&world, "a");
    fs::write(world.path("repo/a.txt"), "moved\n").unwrap();
    let new = world.commit(&world.path("repo"), "second");
    ready.move_to(&new).unwrap();
    assert_eq!(fs::read_to_string(ready.path().join("a.txt")).unwrap(), "moved\n");
    assert!(ready.is_clean().unwrap());
    let worktree = hand_over(ready, &world.path("worktrees/one"), "forge/one").unwrap();
    assert_eq!(worktree.head().unwrap(), new);

    let mut other = made(&world, "b");
    fs::write(other.path().join("a.txt"), "somebody's\n").unwrap();
    fs::write(world.path("repo/a.txt"), "again\n").unwrap();
    let third = world.commit(&world.path("repo"), "third");
    assert!(other.move_to(&third).is_err());
    assert_eq!(fs::read_to_string(other.path().join("a.txt")).unwrap(), "somebody's\n");
    assert_eq!(other.oid(), new);
}

#[test]
fn of_eight_that_reach_for_one_worktree_one_gets_it() {
    let world = World::new();
    let ready = made(&world, "a");
    let winners = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..8 {
            let (ready, winners) = (ready.clone(), &winners);
            let to = world.path(&format!("worktrees/w{number}"));
            scope.spawn(move || {
                if hand_over(ready, &to, &format!("forge/w{number}")).is_ok() {
                    winners.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(winners.into_inner(), 1);
    assert_eq!(world.repo().worktrees().unwrap().len(), 2);
    assert_eq!(world.run(&world.path("repo"), ["branch", "--list", "forge/*"]).lines().count(), 1);
    sane(&world);
}

#[test]
fn a_path_or_a_branch_that_is_taken_is_left_alone_and_the_worktree_can_go_back() {
    let world = World::new();
    let mut ready = made(&world, "a");
    let (pool, to) = (place(&world, "a"), world.path("worktrees/one"));
    // Even an empty directory is somebody's.
    fs::create_dir_all(&to).unwrap();
    assert!(matches!(ready.rename(&to), Err(Error::PathTaken { .. })));
    assert_eq!(ready.path(), pool);
    fs::remove_dir(&to).unwrap();

    world.run(&world.path("repo"), ["branch", "forge/one"]);
    ready.rename(&to).unwrap();
    ready.point().unwrap();
    assert!(matches!(ready.put_on("forge/one"), Err(Error::BranchTaken { .. })));
    assert!(matches!(ready.put_on("forge/one/two"), Err(Error::BranchClash { .. })));
    ready.rename(&pool).unwrap();
    ready.point().unwrap();
    let again = world.repo().open_ready(&pool, OURS).unwrap();
    assert!(again.is_clean().unwrap());
    hand_over(again, &world.path("worktrees/two"), "forge/two").unwrap();
    sane(&world);
}

#[test]
fn every_step_at_which_a_hand_over_can_break_off_is_found_and_taken_back() {
    for steps in 1..=4 {
        let world = World::new();
        let repo = world.repo();
        let mut ready = made(&world, "a");
        let (oid, to) = (ready.oid().to_string(), world.path("worktrees/one"));
        ready.rename(&to).unwrap();
        if steps >= 2 {
            ready.point().unwrap();
        }
        if steps == 3 {
            // What two calls instead of one transaction leave when they break off between the two.
            world.run(&world.path("repo"), ["branch", "forge/one"]);
        } else if steps == 4 {
            ready.put_on("forge/one").unwrap();
        }
        assert_eq!(repo.mend_handover(&to, "forge /data/two").ok(), Some(false), "not theirs");
        assert_eq!(repo.mend_handover(&to, OURS).unwrap(), steps == 1);
        assert!(!repo.mend_handover(&to, OURS).unwrap(), "once is enough");
        assert_eq!(repo.worktrees().unwrap()[1].path, to);
        sane(&world);
        repo.remove_worktree_to_trash(&to, &world.path("trash"), &world.path("worktrees")).unwrap();
        match repo.delete_branch_at("forge/one", &oid) {
            Ok(()) => assert!(steps >= 3),
            Err(Error::NoSuchBranch { .. }) => assert!(steps < 3),
            Err(error) => panic!("{error}"),
        }
        assert_eq!(repo.worktrees().unwrap().len(), 1);
        sane(&world);
    }
}

#[test]
fn locks_that_a_killed_git_left_are_dropped_when_they_are_old_and_ours() {
    let world = World::new();
    let repo = world.repo();
    let ready = made(&world, "a");
    let git_dir = repo.worktree(ready.path()).unwrap().git_dir().to_path_buf();
    let branches = world.path("repo/.git/refs/heads");
    fs::create_dir_all(branches.join("forge")).unwrap();
    let locks = [git_dir.join("HEAD.lock"), git_dir.join("index.lock"), branches.join("forge/one.lock")];
    for lock in &locks {
        fs::write(lock, "").unwrap();
    }
    assert!(ready.put_on("forge/one").is_err());
    repo.drop_stale_locks(ready.path(), "forge/one", OURS).unwrap();
    assert!(locks.iter().all(|lock| lock.exists()), "somebody may hold them now");
    for lock in &locks {
        let long_ago = SystemTime::now() - Duration::from_secs(100);
        fs::File::options().write(true).open(lock).unwrap().set_modified(long_ago).unwrap();
    }
    repo.drop_stale_locks(ready.path(), "forge/one", "forge /data/two").unwrap();
    assert!(locks[0].exists() && locks[1].exists(), "another's worktree is not touched");
    repo.drop_stale_locks(ready.path(), "forge/one", OURS).unwrap();
    assert!(!locks.iter().any(|lock| lock.exists()));
    hand_over(ready, &world.path("worktrees/one"), "forge/one").unwrap();
}

#[test]
fn an_older_git_hands_over_by_two_calls() {
    let world = World::new();
    let script = world.path("bin/git");
    let git = world.git.program().display();
    world.script(
        &script,
        &format!("[ \"$1\" = version ] && echo git version 2.45.2 && exit\nexec {git} \"$@\""),
    );
    let old = Git::at_in(&script, world.environment()).unwrap();
    let repo: Repo = old.open(&world.path("repo")).unwrap();
    let oid = repo.resolve_branch("main").unwrap();
    let ready = repo.add_ready(&place(&world, "a"), &oid, OURS, Pace::Gentle).unwrap();
    let worktree = hand_over(ready, &world.path("worktrees/one"), "forge/one").unwrap();
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    assert!(worktree.is_clean().unwrap());
    let other = repo.add_ready(&place(&world, "b"), &oid, OURS, Pace::Gentle).unwrap();
    assert!(matches!(other.put_on("forge/one"), Err(Error::BranchTaken { .. })));
    sane(&world);
}

#[test]
fn a_reftable_repository_hands_over_like_any_other() {
    let world = World::empty();
    let (is_known, _) = world.attempt(&world.path(""), ["init", "-q", "--ref-format=reftable", "repo"]);
    if !is_known {
        return;
    }
    fs::write(world.path("repo/a.txt"), "one\n").unwrap();
    world.commit(&world.path("repo"), "first");
    let mut ready = made(&world, "a");
    let new = world.commit(&world.path("repo"), "second");
    ready.move_to(&new).unwrap();
    let worktree = hand_over(ready, &world.path("worktrees/one"), "forge/one").unwrap();
    assert_eq!(worktree.branch().unwrap().as_deref(), Some("forge/one"));
    assert_eq!(worktree.head().unwrap(), new);
    assert!(worktree.is_clean().unwrap());
    sane(&world);
}

#[test]
fn a_repository_whose_config_cannot_be_read_is_not_made_ready_and_is_never_as_it_was() {
    let world = World::new();
    let (repo, config) = (world.repo(), world.path("repo/.git/config"));
    assert_eq!(repo.circumstances(), repo.circumstances());
    fs::remove_file(&config).unwrap();
    fs::create_dir(&config).unwrap();
    assert_eq!(repo.why_not_ready().unwrap(), Some("its config cannot be read"));
    assert_ne!(repo.circumstances(), repo.circumstances());
}

#[test]
fn a_repository_whose_files_depend_on_more_than_the_commit_is_not_made_ready() {
    let world = World::new();
    let directory = world.path("repo");
    let repo = world.repo();
    assert_eq!(repo.why_not_ready().unwrap(), None);
    let before = repo.circumstances();
    world.run(&directory, ["config", "branch.main.remote", "origin"]);
    world.run(&directory, ["config", "remote.origin.url", "/nowhere"]);
    assert_eq!(repo.circumstances(), before, "branches and remotes do not matter");
    world.run(&directory, ["config", "core.autocrlf", "true"]);
    assert_ne!(repo.circumstances(), before);

    world.run(&directory, ["config", "filter.secret.smudge", "cat"]);
    assert_eq!(repo.why_not_ready().unwrap(), Some("its own config names filters"));
    world.run(&directory, ["config", "--remove-section", "filter.secret"]);
    world.run(&directory, ["sparse-checkout", "set", "sub"]);
    assert_eq!(repo.why_not_ready().unwrap(), Some("its checkout is sparse"));
    world.run(&directory, ["sparse-checkout", "disable"]);
    assert_eq!(repo.why_not_ready().unwrap(), None);
    world.run(&directory, ["config", "remote.origin.promisor", "true"]);
    assert_eq!(repo.why_not_ready().unwrap(), Some("its files may have to be fetched first"));
}

#[test]
fn a_worktree_of_a_sparse_checkout_is_sparse_in_the_same_way() {
    let world = World::new();
    let directory = world.path("repo");
    fs::create_dir_all(directory.join("other")).unwrap();
    fs::write(directory.join("other/c.txt"), "three\n").unwrap();
    world.commit(&directory, "more");
    world.run(&directory, ["sparse-checkout", "set", "sub"]);
    let worktree = world.worktree("one");
    assert!(worktree.path().join("sub/b.txt").exists());
    assert!(!worktree.path().join("other").exists());
    assert!(worktree.is_clean().unwrap());
    assert_eq!(world.run(worktree.path(), ["sparse-checkout", "list"]), "sub");
    // The person's own checkout is as they left it.
    assert_eq!(world.run(&directory, ["sparse-checkout", "list"]), "sub");
    assert!(!directory.join("other").exists());
}

#[test]
fn a_submodule_is_left_for_whoever_takes_the_worktree_to_fetch() {
    let world = World::new();
    world.run(&world.path(""), ["clone", "-q", "repo", "library"]);
    let directory = world.path("repo");
    let allow = ["-c", "protocol.file.allow=always"];
    let library = world.path("library").display().to_string();
    world.run(&directory, allow.into_iter().chain(["submodule", "--quiet", "add", &library, "lib"]));
    world.commit(&directory, "a submodule");
    let ready = made(&world, "a");
    assert!(ready.settle(Pace::Gentle).unwrap());
    let to = world.path("worktrees/one");
    hand_over(ready, &to, "forge/one").unwrap();
    assert!(fs::read_dir(to.join("lib")).unwrap().next().is_none());
    world.run(&to, allow.into_iter().chain(["submodule", "--quiet", "update", "--init"]));
    assert!(to.join("lib/a.txt").exists());
    assert_eq!(world.run(&to, ["status", "--porcelain"]), "");
}

#[test]
fn the_weight_of_a_commit_counts_its_files_in_blocks() {
    let world = World::new();
    fs::write(world.path("repo/large"), vec![b'x'; 10_000]).unwrap();
    let oid = world.commit(&world.path("repo"), "large");
    let weight = world.repo().weight(&oid).unwrap();
    assert_eq!((weight.files, weight.bytes), (4, 3 * 4096 + 3 * 4096));
    assert_eq!(world.repo().tracked_files(), 4);
    let directories = weight.directories;
    for file in ["one/two/three/a b", "one/two/c", "one/other/d"] {
        fs::create_dir_all(world.path("repo").join(file).parent().unwrap()).unwrap();
        fs::write(world.path("repo").join(file), "").unwrap();
    }
    let oid = world.commit(&world.path("repo"), "deep");
    assert_eq!(world.repo().weight(&oid).unwrap().directories, directories + 4);
}

#[test]
fn a_ready_worktree_of_another_data_directory_or_on_a_branch_is_not_opened() {
    let world = World::new();
    let repo = world.repo();
    let ready = made(&world, "a");
    assert!(matches!(repo.open_ready(ready.path(), "forge /data/two"), Err(Error::NotOurWorktree { .. })));
    assert_eq!(repo.open_ready(ready.path(), OURS).unwrap().oid(), ready.oid());
    let worktree = world.worktree("one");
    assert!(repo.open_ready(worktree.path(), "in use by forge").is_err());
    let found = Repo::of_worktree(&world.git, ready.path()).unwrap();
    assert_eq!(found.common_dir(), repo.common_dir());
    repo.discard_ready(ready.path()).unwrap();
    assert!(!place(&world, "a").exists());
    assert_eq!(repo.worktrees().unwrap().len(), 2);
}
