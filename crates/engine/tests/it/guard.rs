//! The seat belt of an agent's git: what it refuses, and all that works as if it were not there.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use forge_model::AttemptState;

use crate::world::{Began, World, git};

/// Has an agent run a shell script in its worktree, and returns what the script printed, with its exit code last.
pub(crate) fn play(world: &World, script: &str) -> (Began, String) {
    let started = world.start(&written(world, script));
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    (started, printed(world))
}

/// Writes a shell script down; returns the agent's script that runs it. It waits until the person's files are listed,
/// which takes as long as `git status`; a real agent takes longer to start.
pub(crate) fn written(world: &World, script: &str) -> String {
    let dir = world.dir.path();
    let file = dir.join("script.sh");
    let head = format!(
        "MAIN={}; DIR={}; until test -n \"$(find {}/guard/$FORGE_ATTEMPT -name '*.files.json' 2>/dev/null)\"; do sleep 0.01; done\n",
        world.repository.display(),
        dir.display(),
        world.home.display()
    );
    std::fs::write(&file, head + script).unwrap();
    format!("run sh -c 'sh {0}/script.sh; echo $?' > {0}/printed 2>&1", dir.display())
}

pub(crate) fn printed(world: &World) -> String {
    std::fs::read_to_string(world.dir.path().join("printed")).unwrap()
}

fn refs(world: &World) -> String {
    world.git(&[
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/heads/main",
        "refs/tags",
        "refs/stash",
    ])
}

fn hook(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn nothing_but_the_attempts_own_branch_moves() {
    let world = World::new();
    world.git(&["branch", "other"]);
    world.git(&["tag", "v1"]);
    let before = refs(&world);
    let acts = [
        "git branch new",
        "git branch -D other",
        "git branch -m renamed",
        "git branch -f other HEAD~0",
        "git checkout -q -b new",
        "git switch -q -c new",
        "git worktree add -q -b new $DIR/new",
        "git update-ref refs/heads/main HEAD",
        "git update-ref -d refs/heads/other",
        "git update-ref -d $(git symbolic-ref HEAD)",
        "git symbolic-ref $(git symbolic-ref HEAD) refs/heads/main",
        "git tag v2",
        "git tag -f v1",
        "git tag -d v1",
        "git stash",
        "git stash -u",
        "git push -q . HEAD:main",
        "git push -q . HEAD:refs/heads/new",
        "git push -q $MAIN HEAD:other",
        "git -C $MAIN commit -q --allow-empty -m x",
        "git -C $MAIN branch new",
        "git --git-dir=$MAIN/.git update-ref -d refs/heads/other",
        "git fetch -q . HEAD:new",
        "git notes add -m x",
        "git replace HEAD HEAD~1",
        "git gc -q",
        "git pack-refs --all",
    ];
    let mut script =
        String::from("git commit -q --allow-empty -m own\necho changed > README.md; echo new > untracked\n");
    for act in acts {
        script.push_str(&format!("if {act}; then echo \"LET THROUGH: {act}\"; fi\n"));
    }
    script.push_str("cat README.md untracked\n");
    let (started, printed) = play(&world, &script);
    assert!(!printed.contains("LET THROUGH"), "{printed}");
    assert!(printed.ends_with("changed\nnew\n0\n"), "{printed}");
    for name in ["refs/heads/main", "refs/heads/new", "refs/heads/other", "refs/tags/v2", "refs/stash"] {
        assert!(printed.contains(&format!("forge: refused to move {name}")), "{name}: {printed}");
    }
    assert!(printed.contains("forge: refused to delete refs/heads/other"), "{printed}");
    assert!(printed.contains(&format!("this attempt has the branch {}", started.attempt.attempt.branch)));
    assert_eq!(refs(&world), before);
    let branches = world.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    assert_eq!(branches, format!("{}\nmain\nother", started.attempt.attempt.branch));
}

#[test]
fn everyday_git_works_as_without_the_guard() {
    let world = World::new();
    let script = "set -e
        git config user.name > /dev/null
        echo one > a; git add a; git commit -q -m one
        echo two >> a; git commit -q --amend -a -m 'one and two'
        echo three > b; git add b; git commit -q -m three
        echo four > c; git add c; git commit -q -m four
        echo dirty >> c
        GIT_SEQUENCE_EDITOR=true git rebase -q --autostash -i HEAD~2
        git rebase -q --autostash --onto main HEAD~1
        test \"$(tail -1 c)\" = dirty
        git reset -q --hard HEAD~0
        git checkout -q --detach; git commit -q --allow-empty -m detached; git checkout -q -
        git bisect start HEAD HEAD~1 > bisect; git bisect reset > bisect 2>&1; rm bisect
        git reset -q --hard HEAD~1; git merge -q --no-ff -m merged HEAD@{1}
        git log --oneline | wc -l
        git init -q nested; cd nested; git config user.email a@b; git config user.name A
        git commit -q --allow-empty -m its-own; git branch free; git tag free; git branch -D free
        echo x > f; git add f; git stash; git stash pop -q; git gc -q; cd ..; rm -rf nested
        git config --global alias.mine status; git mine > /dev/null
        ";
    let (_, printed) = play(&world, script);
    assert!(printed.ends_with("\n0\n"), "{printed}");
    assert!(!printed.contains("forge:"), "{printed}");
}

#[test]
fn an_agent_fetches_and_pulls_from_a_remote_with_new_tags_and_pushes_its_branch() {
    let world = World::new();
    let dir = world.dir.path();
    let remote = dir.join("remote.git");
    git(dir, &["clone", "--quiet", "--bare", "repository", "remote.git"]);
    world.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    git(dir, &["clone", "--quiet", "remote.git", "elsewhere"]);
    let elsewhere = dir.join("elsewhere");
    std::fs::write(elsewhere.join("theirs"), "theirs\n").unwrap();
    git(&elsewhere, &["add", "theirs"]);
    git(
        &elsewhere,
        &["-c", "user.name=B", "-c", "user.email=b@example.org", "commit", "--quiet", "-m", "theirs"],
    );
    git(&elsewhere, &["tag", "v9"]);
    git(&elsewhere, &["push", "--quiet", "--tags", "origin", "main"]);
    let script = "set -e
        echo one > a; git add a; git commit -q -m one
        git fetch -q origin; git pull -q --rebase origin main; cat theirs; git tag
        git push -q -u origin HEAD; git status -sb | head -1";
    let (started, printed) = play(&world, script);
    let branch = &started.attempt.attempt.branch;
    assert_eq!(printed, format!("theirs\nv9\n## {branch}...origin/{branch}\n0\n"));
    assert_eq!(git(&remote, &["rev-parse", branch]), world.git(&["rev-parse", branch]));
}

#[test]
fn the_persons_hooks_run_wherever_they_are() {
    let world = World::new();
    let log = world.dir.path().join("hooks.log");
    let say = |place: &str, name: &str| format!("echo {place} {name} \"$1\" >> {}", log.display());
    let native = world.repository.join(".git/hooks");
    for name in ["pre-commit", "commit-msg", "post-commit"] {
        hook(&native.join(name), &say("native", name));
    }
    hook(
        &native.join("reference-transaction"),
        &format!("cat | sed 's/^/native saw /' >> {}", log.display()),
    );
    hook(&native.join("pre-push"), "exit 3");
    std::fs::write(native.join("pre-rebase"), "#!/bin/sh\nexit 1\n").unwrap();
    let script = "echo a > a; git add a; git commit -q -m a && git rebase -q HEAD~1 && ! git push -q . HEAD
        mkdir .husky; printf '#!/bin/sh\\necho husky pre-commit >> $DIR/hooks.log\\n' > .husky/pre-commit
        chmod +x .husky/pre-commit; git config core.hooksPath .husky
        echo b > b; git add b; DIR=$DIR git commit -q -m b && git config --unset core.hooksPath
        mkdir $DIR/global; printf '#!/bin/sh\\necho global >> $DIR/hooks.log; exit 7\\n' > $DIR/global/pre-commit
        chmod +x $DIR/global/pre-commit; git config core.hooksPath \"$DIR/global\"
        export DIR; git commit -q --allow-empty -m c || echo refused
        git config --unset core.hooksPath";
    let (_, printed) = play(&world, script);
    assert!(printed.ends_with("refused\n0\n"), "{printed}");
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(told.starts_with("native pre-commit"), "{told}");
    for line in ["native commit-msg", "native post-commit", "husky pre-commit", "global\n"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(told.contains("native saw") && told.contains("refs/heads/forge/"), "{told}");
}

#[test]
fn a_submodule_and_a_clone_are_repositories_of_their_own() {
    let world = World::new();
    let dir = world.dir.path();
    let inner = crate::world::make_repository(&dir.join("inner"));
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.to_str().unwrap(), "sub"];
    world.git(&add);
    world.git(&["commit", "--quiet", "--message=submodule"]);
    let script = "set -e
        git -c protocol.file.allow=always submodule --quiet update --init
        cd sub; git config user.email a@b; git config user.name A; git checkout -q -b inside
        git commit -q --allow-empty -m inside; git tag inside; git stash list; cd ..
        git clone -q $MAIN clone; cd clone; git checkout -q -b mine; git tag mine; cd ..; rm -rf clone";
    let (_, printed) = play(&world, script);
    assert_eq!(printed, "0\n");
}
