//! Ways out of a worktree: what an agent can do to the person's repository, with git and without. Each is prevented, or
//! found and shown; and what is found can be put back, byte for byte.

use std::collections::BTreeMap;
use std::path::Path;

use forge_model::{Attempt, AttemptState, Finding, FindingKind, FindingState};

use crate::guard::{play, printed, written};
use crate::world::{World, eventually, git};

/// What must come of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The repository is as it was, and there is nothing to show.
    Prevented,
    /// It is shown, with these kinds at least; putting back what is shown makes the repository what it was.
    Found(&'static [FindingKind]),
    /// Forge has put it back by itself, and shows that it did.
    Healed(FindingKind),
    /// It is the attempt's own affair.
    Allowed,
}

use Fate::{Allowed, Found, Healed, Prevented};
use FindingKind::{Config, File, Head, Hook, Index, Info, Own, Ref, Stash};

/// Git without the seat belt, as an agent that wants out would call it.
const LOOSE: &str = "env -u GIT_CONFIG_COUNT -u GIT_CONFIG_GLOBAL git";

/// What is done, and what must come of it. `$MAIN` is the person's checkout, `$OTHER` another attempt's branch.
const ACTS: &[(&str, Fate)] = &[
    // Without git.
    ("echo overwritten > $MAIN/README.md", Found(&[File])),
    ("echo more >> $MAIN/edited.txt", Found(&[File])),
    ("echo more >> $MAIN/untracked.txt", Found(&[File])),
    ("echo stray > $MAIN/stray.txt", Found(&[File])),
    ("rm $MAIN/README.md $MAIN/edited.txt $MAIN/untracked.txt", Found(&[File])),
    ("mv $MAIN/README.md $MAIN/moved.md", Found(&[File])),
    ("chmod +x $MAIN/README.md", Found(&[File])),
    ("rm $MAIN/README.md; ln -s /etc/passwd $MAIN/README.md", Found(&[File])),
    ("ln -s $MAIN out; echo through > out/README.md", Found(&[File])),
    ("printf '#!/bin/sh\\nexit 0\\n' > $MAIN/.git/hooks/pre-commit", Found(&[Hook])),
    ("printf x > $MAIN/.git/hooks/post-merge; chmod +x $MAIN/.git/hooks/post-merge", Found(&[Hook])),
    ("rm $MAIN/.git/hooks/pre-commit", Found(&[Hook])),
    ("echo '*' >> $MAIN/.git/info/exclude", Found(&[Info])),
    ("echo '* filter=x' > $MAIN/.git/info/attributes", Found(&[Info])),
    ("git rev-parse HEAD > $MAIN/.git/refs/heads/byhand", Found(&[Ref])),
    ("rm $MAIN/.git/refs/heads/other", Found(&[Ref])),
    ("echo 'ref: refs/heads/other' > $MAIN/.git/HEAD", Found(&[Head])),
    ("sed -i '/refs.tags.packed/d' $MAIN/.git/packed-refs", Found(&[Ref])),
    ("echo garbage >> $MAIN/.git/config", Found(&[Config])),
    // With git, as it is.
    ("git commit -q --allow-empty -m own; git -C $MAIN commit -q --allow-empty -m x", Prevented),
    ("git -C $MAIN stash", Prevented),
    ("git -C $MAIN stash pop", Found(&[File])),
    ("git -C $MAIN stash drop; git reflog expire --expire=now --all", Found(&[])),
    ("git branch -D $OTHER; git branch -m $OTHER stolen; git branch -f $OTHER HEAD~1", Prevented),
    ("git branch -m mine; git branch -D other; git update-ref refs/heads/main HEAD~1", Prevented),
    ("git tag mine; git tag -d packed; git push -q . HEAD:other; git push -q $MAIN HEAD:main", Prevented),
    ("git symbolic-ref refs/heads/other refs/heads/main", Prevented),
    ("git gc -q; git pack-refs --all", Prevented),
    ("git -C $MAIN add -A", Found(&[Index])),
    ("git -C $MAIN reset -q --hard", Found(&[File, Index])),
    ("git -C $MAIN clean -fdq", Found(&[File])),
    ("git -C $MAIN checkout -q other", Found(&[Head, Index, File])),
    ("git -C $MAIN checkout -q --detach", Found(&[Head])),
    ("git config core.bare true", Healed(Config)),
    ("git config core.worktree /tmp", Healed(Config)),
    ("git config core.hooksPath /tmp/elsewhere", Found(&[Config])),
    ("git config alias.st '!rm -rf /'; git config filter.x.clean evil", Found(&[Config])),
    ("git config --global user.name Mallory; git config --global core.editor evil", Allowed),
    // Around the seat belt.
    ("git -c core.hooksPath=/dev/null branch -D other", Found(&[Ref])),
    ("git -c core.hooksPath=/dev/null branch -D $OTHER", Prevented),
    ("git -c core.hooksPath=/dev/null update-ref -d refs/heads/$OTHER", Found(&[Ref])),
    ("LOOSE -C $MAIN commit -q -a -m taken", Found(&[Ref, Index])),
    ("LOOSE branch -f other HEAD~1; LOOSE branch new; LOOSE tag new", Found(&[Ref])),
    ("LOOSE -C $MAIN stash -q -u", Found(&[Stash, File, Index])),
    ("LOOSE stash drop -q", Found(&[Stash])),
    ("LOOSE symbolic-ref refs/heads/other refs/heads/main", Found(&[Ref])),
    ("LOOSE -C $MAIN merge -q --no-edit other", Found(&[Ref, Index, File])),
    ("LOOSE update-ref -d refs/forge/snapshots/$OTHER_ID", Found(&[Ref])),
    // In its own worktree.
    ("git checkout -q --detach; git commit -q --allow-empty -m loose", Healed(Own)),
    ("git checkout -q other", Healed(Own)),
    ("rm .git; echo kept > kept.txt", Healed(Own)),
    ("git commit -q --allow-empty -m x; git reset -q --hard HEAD~1; git rebase -q main", Allowed),
    ("git init -q own; cd own; git branch -M x; git stash list; cd ..; rm -rf own", Allowed),
];

/// Everything of the person's repository but what is ignored.
fn state(world: &World) -> BTreeMap<String, String> {
    let main = &world.repository;
    let mut state = BTreeMap::new();
    let refs =
        git(main, &["--no-replace-objects", "for-each-ref", "--format=%(refname) %(objectname) %(symref)"]);
    for line in
        refs.lines().filter(|line| !line.contains("refs/forge/") && !line.contains("refs/heads/forge/"))
    {
        let (name, value) = line.split_once(' ').unwrap();
        state.insert(format!("ref {name}"), value.to_string());
    }
    state.insert("stash".into(), git(main, &["stash", "list", "--format=%H %gs"]));
    state.insert("index".into(), git(main, &["ls-files", "--stage"]));
    for file in ["HEAD", "config"] {
        state.insert(file.into(), std::fs::read_to_string(main.join(".git").join(file)).unwrap());
    }
    for folder in ["hooks", "info"] {
        files(&main.join(".git").join(folder), folder, &mut state);
    }
    files(main, "", &mut state);
    state
}

fn files(folder: &Path, name: &str, state: &mut BTreeMap<String, String>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, file) = (entry.path(), entry.file_name().into_string().unwrap());
        let kind = path.symlink_metadata().unwrap();
        if kind.is_dir() || file == "ignored.txt" || file.ends_with(".sample") {
            continue;
        }
        let content = match kind.is_symlink() {
            true => format!("-> {}", path.read_link().unwrap().display()),
            false => std::fs::read_to_string(&path).unwrap(),
        };
        state.insert(format!("{name}/{file}"), format!("{:o} {content}", kind.permissions().mode() & 0o111));
    }
}

/// A repository in which everything there is can be spoiled.
fn rich() -> World {
    let world = World::new();
    let main = &world.repository;
    let write = |name: &str, text: &str| std::fs::write(main.join(name), text).unwrap();
    write(".gitignore", "ignored.txt\n");
    write("edited.txt", "one\n");
    write("staged.txt", "one\n");
    world.git(&["add", "."]);
    world.git(&["commit", "--quiet", "--message=second"]);
    world.git(&["tag", "packed"]);
    world.git(&["pack-refs", "--all"]);
    world.git(&["checkout", "--quiet", "-b", "other"]);
    write("of-other.txt", "other\n");
    world.git(&["add", "of-other.txt"]);
    world.git(&["commit", "--quiet", "--message=on other"]);
    world.git(&["checkout", "--quiet", "main"]);
    write("README.md", "stashed\n");
    world.git(&["stash"]);
    write("edited.txt", "one\nedited by the person\n");
    write("staged.txt", "one\nstaged by the person\n");
    world.git(&["add", "staged.txt"]);
    write("untracked.txt", "untracked\n");
    write("ignored.txt", "ignored\n");
    let hook = main.join(".git/hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\ntrue\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world
}

fn open(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.state == FindingState::Seen).collect()
}

#[test]
fn every_way_out_of_a_worktree_is_prevented_or_found_and_put_back() {
    assert!(ACTS.len() >= 25);
    let mut wrong = Vec::new();
    let mut scene = Scene::set();
    for (act, fate) in ACTS {
        if let Err(why) = scene.play(act, *fate) {
            wrong.push(format!("{act}\n{why}"));
            // What is broken would spoil the rest.
            scene = Scene::set();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(scene.world.git(&["fsck", "--no-progress", "--no-dangling"]), "");
}

/// A repository with another attempt in it, as they were at the beginning.
struct Scene {
    world: World,
    other: Attempt,
    base: BTreeMap<String, String>,
    kept: String,
}

impl Scene {
    fn set() -> Scene {
        let world = rich();
        let other = play(&world, "echo other > file; git add file; git commit -q -m other").0.attempt.attempt;
        let (base, kept) = (state(&world), kept(&world, &other));
        Scene { world, other, base, kept }
    }

    /// Has an agent do something, and says what did not come of it as it must.
    fn play(&self, act: &str, fate: Fate) -> Result<(), String> {
        let Scene { world, other, base, .. } = self;
        let script = act.replace("LOOSE", LOOSE).replace("$OTHER_ID", &other.id.to_string());
        let (started, said) = play(world, &script.replace("$OTHER", &other.branch));
        let attempt = started.attempt.attempt.id;
        let findings = world.run(world.engine().findings(attempt)).unwrap();
        let told: Vec<String> =
            findings.iter().map(|finding| format!("{} ({})", finding.sentence(), finding.state)).collect();
        let told = format!("{told:#?}\n{said}");
        let seen = open(&findings);
        let is = |truth: bool, what: &str| if truth { Ok(()) } else { Err(format!("{what}: {told}")) };
        is(world.attempt(attempt).findings == seen.len() as i64, "the attempt counts its findings")?;
        match fate {
            Prevented | Allowed => is(findings.is_empty(), "there is nothing to show")?,
            Healed(kind) => {
                is(seen.is_empty() && findings.iter().any(|one| one.kind == kind), "it is put back at once")?;
            }
            Found(kinds) => {
                for kind in kinds {
                    is(seen.iter().any(|finding| finding.kind == *kind), &format!("a {kind} is shown"))?;
                }
            }
        }
        for finding in seen {
            is(finding.can_restore(), "it can be put back")?;
            let restored = world.run(world.engine().restore_finding(attempt, finding.id));
            let restored = restored.map_err(|error| format!("{error}: {finding:?}: {told}"))?;
            is(restored.state == FindingState::Restored, "it is put back")?;
        }
        is(world.attempt(attempt).findings == 0, "nothing is open any more")?;
        let now = state(world);
        if now != *base {
            let only = |these: &BTreeMap<String, String>, those: &BTreeMap<String, String>| -> Vec<String> {
                let differing = these.iter().filter(|(name, value)| those.get(*name) != Some(value));
                differing.map(|(name, value)| format!("{name}: {value}")).collect()
            };
            return Err(format!("was {:#?}\nis {:#?}\n{told}", only(base, &now), only(&now, base)));
        }
        let kept = kept(world, other);
        is(self.kept.lines().all(|line| kept.contains(line)), "the other attempt is what it was")
    }
}

/// What Forge keeps for another attempt: its branch and its snapshots.
fn kept(world: &World, other: &Attempt) -> String {
    let branch = format!("refs/heads/{}", other.branch);
    world.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/forge/snapshots", &branch])
}

#[test]
fn what_is_changed_in_the_first_moment_of_a_turn_is_found() {
    let world = rich();
    let top = world.repository.display().to_string();
    let started =
        world.start(&format!("run echo x > {top}/README.md; echo x > {top}/stray.txt; rm {top}/.gitignore"));
    let attempt = started.attempt.attempt.id;
    world.wait_for(attempt, AttemptState::Finished);
    let findings = world.run(world.engine().findings(attempt)).unwrap();
    let subjects: Vec<&str> = findings.iter().map(|finding| finding.subject.as_str()).collect();
    // Without that file, the ignored one is an untracked one.
    assert!(
        [".gitignore", "README.md", "stray.txt"].iter().all(|name| subjects.contains(name)),
        "{findings:?}"
    );
    for finding in findings {
        world.run(world.engine().restore_finding(attempt, finding.id)).unwrap();
    }
    assert_eq!(std::fs::read_to_string(world.repository.join("README.md")).unwrap(), "hello\n");
    assert_eq!(std::fs::read_to_string(world.repository.join(".gitignore")).unwrap(), "ignored.txt\n");
    assert!(!world.repository.join("stray.txt").exists());
}

#[test]
fn an_agent_that_loses_its_tie_or_its_branch_loses_no_work() {
    let world = rich();
    let (started, _) = play(&world, "rm .git; echo kept > kept.txt");
    let branch = &started.attempt.attempt.branch;
    assert_eq!(world.git(&["show", &format!("{branch}:kept.txt")]), "kept");
    let (started, _) =
        play(&world, "git checkout -q --detach; echo loose > l; git add l; git commit -q -m loose");
    let branch = &started.attempt.attempt.branch;
    assert_eq!(world.git(&["show", &format!("{branch}:l")]), "loose");
    assert_eq!(git(&started.attempt.attempt.worktree, &["symbolic-ref", "--short", "HEAD"]), *branch);
}

#[test]
fn a_worktree_added_or_removed_is_shown_and_an_ignored_file_is_not() {
    let world = rich();
    let other = play(&world, "echo other").0.attempt.attempt;
    let script = format!(
        "git worktree add -q --detach -- $DIR/--force; git worktree remove -f -f {}; echo x > $MAIN/ignored.txt",
        other.worktree.display()
    );
    let (started, said) = play(&world, &script);
    let findings = world.run(world.engine().findings(started.attempt.attempt.id)).unwrap();
    let told: Vec<(FindingKind, bool)> =
        findings.iter().map(|finding| (finding.kind, finding.before.is_some())).collect();
    let worktree = FindingKind::Worktree;
    assert_eq!(told, [(worktree, false), (worktree, true)], "{said}\n{findings:?}");
    assert!(findings.iter().all(|finding| !finding.can_restore()));
    for finding in &findings {
        let (attempt, id) = (finding.attempt, finding.id);
        let refused = world.run(world.engine().restore_finding(attempt, id)).unwrap_err();
        assert_eq!(refused.code(), Some("not_restorable"), "{refused}");
        world.run(world.engine().dismiss_finding(attempt, id)).unwrap();
    }
    assert_eq!(world.attempt(started.attempt.attempt.id).findings, 0);
}

#[test]
fn what_changed_again_since_it_was_found_is_left_alone() {
    let world = rich();
    let (started, _) = play(&world, &format!("echo stray > $MAIN/stray.txt; {LOOSE} branch -f other main"));
    let attempt = started.attempt.attempt.id;
    std::fs::write(world.repository.join("stray.txt"), "the person's now\n").unwrap();
    world.git(&["branch", "--force", "other", "main~1"]);
    for finding in world.run(world.engine().findings(attempt)).unwrap() {
        let refused = world.run(world.engine().restore_finding(attempt, finding.id)).unwrap_err();
        assert_eq!(refused.kind(), forge_engine::ErrorKind::Conflict, "{refused}");
    }
    assert_eq!(std::fs::read_to_string(world.repository.join("stray.txt")).unwrap(), "the person's now\n");
    assert_eq!(world.git(&["rev-parse", "other"]), world.git(&["rev-parse", "main~1"]));
}

#[test]
fn a_restart_in_the_middle_of_a_turn_hides_nothing() {
    let mut world = rich();
    let script =
        format!("{LOOSE} branch -f other main; echo stray > $MAIN/stray.txt; echo more >> $MAIN/edited.txt");
    let script = format!("{}\nsay done\nask May I?", written(&world, &script));
    let started = world.start(&script);
    let attempt = started.attempt.attempt.id;
    let ask = world.wait_for_ask(attempt);
    world.restart();
    assert!(printed(&world).ends_with("0\n"));
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "a test")).unwrap();
    world.wait_for(attempt, AttemptState::Finished);
    let findings = world.run(world.engine().findings(attempt)).unwrap();
    let subjects: Vec<&str> = findings.iter().map(|finding| finding.subject.as_str()).collect();
    assert_eq!(subjects, ["edited.txt", "stray.txt", "refs/heads/other"]);
}

#[test]
fn what_other_attempts_do_to_their_own_branches_is_no_finding() {
    let world = rich();
    let first = world.start("ask May I?");
    let ask = world.wait_for_ask(first.attempt.attempt.id);
    let second = play(
        &world,
        "echo x > x; git add x; git commit -q -m x; git push -q -u . HEAD:$(git symbolic-ref HEAD)",
    )
    .0;
    let yes = forge_model::Answer::yes();
    world.run(world.engine().answer(ask.id, yes, "a test")).unwrap();
    for attempt in [first.attempt.attempt.id, second.attempt.attempt.id] {
        world.wait_for(attempt, AttemptState::Finished);
        let findings = world.run(world.engine().findings(attempt)).unwrap();
        assert!(findings.is_empty(), "{findings:?}");
    }
}

#[test]
fn what_forge_lands_beside_a_running_agent_is_no_finding() {
    let world = rich();
    let landed = world.rested("edit landed.txt text\nedit README.md changed");
    let busy = world.start(&written(&world, "touch $DIR/listed; until test -e $DIR/go; do sleep 0.01; done"));
    let listed = world.dir.path().join("listed");
    eventually("the agent is at work", || listed.exists().then_some(()));
    world.land(&landed).unwrap();
    assert_eq!(world.git(&["show", "main:landed.txt"]), "text");
    assert!(world.repository.join("landed.txt").exists());
    std::fs::write(world.dir.path().join("go"), "").unwrap();
    world.wait_for(busy.attempt.attempt.id, AttemptState::Finished);
    let findings = world.run(world.engine().findings(busy.attempt.attempt.id)).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}
