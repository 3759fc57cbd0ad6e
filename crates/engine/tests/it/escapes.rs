//! Ways out of a worktree: what an agent can do to the person's repository, with git and without. Each is prevented, or
//! found and shown; and what is found can be put back, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    ("git -C $MAIN stash drop; git reflog expire --expire=now --all", Found(&[Info])),
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
    ("LOOSE symbolic-ref refs/heads/other refs/heads/main", Healed(Ref)),
    ("LOOSE -C $MAIN merge -q --no-edit other", Found(&[Ref, Index, File])),
    ("LOOSE update-ref -d refs/forge/snapshots/$OTHER_ID", Found(&[Ref])),
    // In its own worktree.
    ("git checkout -q --detach; git commit -q --allow-empty -m loose", Healed(Own)),
    ("git checkout -q other", Healed(Own)),
    ("rm .git; echo kept > kept.txt", Healed(Own)),
    ("git commit -q --allow-empty -m x; git reset -q --hard HEAD~1; git rebase -q main", Allowed),
    ("git init -q own; cd own; git branch -M x; git stash list; cd ..; rm -rf own", Allowed),
];

/// What hides or moves history, or keeps git from working. `$ENTRY` is where git keeps what it knows of a worktree.
const HISTORY: &[(&str, Fate)] = &[
    // Where the history ends.
    ("git fetch -q --depth=1 far main", Healed(Info)),
    ("git fetch -q --depth=2 far other", Healed(Info)),
    ("git pull -q --depth=1 far main", Healed(Info)),
    ("git rev-parse main > $MAIN/.git/shallow", Healed(Info)),
    ("git rev-list main other > $MAIN/.git/shallow", Healed(Info)),
    ("echo garbage > $MAIN/.git/shallow", Healed(Info)),
    ("git rev-parse main > $MAIN/.git/info/grafts", Found(&[Info])),
    // One object for another.
    ("O=$(git rev-parse main); mkdir -p $REFS/replace; echo $O > $REFS/replace/$O", Healed(Ref)),
    ("O=$(git rev-parse main^{tree}); mkdir -p $REFS/replace; echo $O > $REFS/replace/$O", Healed(Ref)),
    (
        "A=$(git rev-parse main); B=$(git rev-parse main~1); mkdir -p $REFS/replace; \
         echo $A > $REFS/replace/$B; echo $B > $REFS/replace/$A",
        Healed(Ref),
    ),
    (
        "mkdir -p $REFS/replace; echo 1111111111111111111111111111111111111111 > $REFS/replace/$(git rev-parse main)",
        Healed(Ref),
    ),
    ("LOOSE replace main main~1", Found(&[Ref])),
    ("LOOSE replace --graft main", Found(&[Ref])),
    // A branch that is another's name.
    ("echo 'ref: refs/heads/main' > $REFS/heads/$FORGE_BRANCH; echo x > x.txt", Healed(Ref)),
    ("LOOSE symbolic-ref $(git symbolic-ref HEAD) refs/heads/main; echo x > x.txt", Healed(Ref)),
    ("ln -sf refs/heads/main $REFS/heads/$FORGE_BRANCH; echo x > x.txt", Healed(Ref)),
    ("echo 'ref: refs/heads/nowhere' > $REFS/heads/$FORGE_BRANCH; echo x > x.txt", Healed(Ref)),
    (
        "git commit -q --allow-empty -m own; echo 'ref: refs/heads/main' > $REFS/heads/$FORGE_BRANCH",
        Healed(Ref),
    ),
    (
        "LOOSE symbolic-ref $(git symbolic-ref HEAD) refs/heads/main; echo x > x.txt; LOOSE add x.txt; \
         LOOSE commit -q -m through",
        Found(&[Ref]),
    ),
    ("LOOSE update-ref -d $(git symbolic-ref HEAD); echo x > x.txt", Healed(Ref)),
    ("LOOSE branch -m renamed; echo x > x.txt", Found(&[Ref])),
    ("echo 'ref: refs/heads/main' > $REFS/heads/$OTHER", Healed(Ref)),
    ("echo 'ref: refs/heads/nowhere' > $REFS/heads/other", Healed(Ref)),
    ("ln -sf main $REFS/heads/other", Healed(Ref)),
    ("ln -sf $REFS/heads/main $REFS/heads/other", Healed(Ref)),
    ("echo 'ref: refs/heads/other' > $REFS/heads/alias", Found(&[Ref])),
    ("echo 'ref: refs/heads/other' > $REFS/tags/packed", Found(&[Ref])),
    // References that nobody can read.
    ("echo garbage > $REFS/heads/other", Healed(Ref)),
    (": > $REFS/heads/main", Healed(Ref)),
    ("echo garbage > $REFS/heads/junk", Healed(Ref)),
    ("rm $REFS/heads/other; mkdir $REFS/heads/other; : > $REFS/heads/other/x", Found(&[Ref])),
    ("rm -r $REFS/heads", Found(&[Ref])),
    ("rm $MAIN/.git/packed-refs", Healed(Info)),
    (": > $MAIN/.git/packed-refs", Healed(Info)),
    ("head -c 90 $MAIN/.git/packed-refs > cut; cat cut > $MAIN/.git/packed-refs", Healed(Info)),
    ("echo garbage >> $MAIN/.git/packed-refs", Healed(Info)),
    (
        "sed -i \"s/^[0-9a-f]* refs.tags.marked/$(git rev-parse other) refs\\/tags\\/marked/\" $MAIN/.git/packed-refs",
        Found(&[Ref]),
    ),
    // Which repository it is, and whether it is one.
    ("echo /tmp > $MAIN/.git/commondir", Healed(Info)),
    ("git init -q $DIR/else; echo $DIR/else/.git > $MAIN/.git/commondir", Healed(Info)),
    (
        "git init -q $DIR/else; echo $DIR/else/.git > $(git rev-parse --git-dir)/commondir; echo x > x",
        Healed(Info),
    ),
    ("rm $(git rev-parse --git-dir)/commondir; echo x > x", Healed(Info)),
    ("echo $DIR/nowhere/.git > $(git rev-parse --git-dir)/gitdir; echo x > x", Healed(Info)),
    ("git init -q $DIR/else; echo \"gitdir: $DIR/else/.git\" > .git; echo x > x", Healed(Own)),
    ("rm -r $(git rev-parse --git-dir); echo x > x", Healed(Info)),
    ("rm -r $ENTRY", Healed(Info)),
    ("echo $DIR/nowhere/.git > $ENTRY/gitdir", Healed(Info)),
    ("rm -r $MAIN/.git/worktrees/mine", Healed(Info)),
    ("echo garbage > $MAIN/.git/worktrees/mine/HEAD", Healed(Info)),
    ("echo 'ref: refs/heads/other' > $MAIN/.git/worktrees/mine/HEAD", Found(&[Info])),
    ("echo garbage > $MAIN/.git/HEAD", Healed(Head)),
    ("rm $MAIN/.git/HEAD", Healed(Head)),
    ("echo 'ref: refs/heads/other' > $(git rev-parse --git-dir)/HEAD; echo x > x", Healed(Own)),
    // Settings.
    ("echo '[garbage' >> $MAIN/.git/config", Healed(Config)),
    ("git config core.repositoryformatversion 9", Healed(Config)),
    ("git config core.repositoryformatversion 1; git config extensions.unheardOf true", Healed(Config)),
    ("echo '[' > $DIR/bad.config; git config include.path $DIR/bad.config", Healed(Config)),
    ("git config include.path $DIR/none.config", Found(&[Config])),
    ("rm $MAIN/.git/config", Found(&[Config])),
    ("rm -r $MAIN/.git/info", Found(&[Info])),
    ("echo '/only' > $MAIN/.git/info/sparse-checkout", Found(&[Info])),
    ("echo $DIR/nowhere > $MAIN/.git/objects/info/alternates", Found(&[Info])),
    (
        "printf '#!/bin/sh\\nexit 1\\n' > $MAIN/.git/hooks/reference-transaction; \
         chmod +x $MAIN/.git/hooks/reference-transaction",
        Found(&[Hook]),
    ),
    // Logs.
    ("git reflog expire --expire=now --all; git prune --expire=now", Found(&[Info])),
    ("rm -r $MAIN/.git/logs", Found(&[Info])),
    (": > $MAIN/.git/logs/HEAD", Found(&[Info])),
    ("sed -i 2d $MAIN/.git/logs/HEAD", Found(&[Info])),
    ("LOOSE reflog delete HEAD@{1}; LOOSE -C $MAIN reflog delete main@{0}", Found(&[Info])),
    // What is left lying about.
    ("touch $REFS/heads/main.lock", Found(&[Info])),
    ("touch $MAIN/.git/index.lock $MAIN/.git/HEAD.lock", Found(&[Info])),
    ("touch $MAIN/.git/packed-refs.lock $MAIN/.git/config.lock", Found(&[Info])),
    ("git rev-parse other > $MAIN/.git/MERGE_HEAD", Found(&[Info])),
    ("git rev-parse other > $MAIN/.git/CHERRY_PICK_HEAD", Found(&[Info])),
    ("LOOSE -C $MAIN merge -q --squash other", Found(&[Info, Index, File])),
    ("git rev-parse other | tee $MAIN/.git/ORIG_HEAD > $MAIN/.git/FETCH_HEAD", Allowed),
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
    // As the person would read it, with whatever stands between.
    state.insert("history".into(), git(main, &["log", "--format=%H %P", "main", "other", "packed"]));
    let git_dir = main.join(".git");
    for file in
        ["HEAD", "config", "shallow", "commondir", "objects/info/alternates", "MERGE_HEAD", "SQUASH_MSG"]
    {
        state.insert(file.into(), std::fs::read_to_string(git_dir.join(file)).unwrap_or_default());
    }
    for entry in std::fs::read_dir(git_dir.join("worktrees")).into_iter().flatten().map(Result::unwrap) {
        // One that Forge makes ahead comes and goes.
        let place = std::fs::read_to_string(entry.path().join("gitdir")).unwrap_or_default();
        if place.ends_with("/mine/.git\n") {
            for file in ["HEAD", "commondir", "gitdir"] {
                let text = std::fs::read_to_string(entry.path().join(file)).unwrap();
                state.insert(format!("mine {file}"), text);
            }
            state.insert(
                "mine".into(),
                git(Path::new(place.trim_end().trim_end_matches("/.git")), &["status", "--short"]),
            );
        }
    }
    let listed =
        std::fs::read_dir(&git_dir).unwrap().chain(std::fs::read_dir(git_dir.join("refs/heads")).unwrap());
    for entry in
        listed.map(Result::unwrap).filter(|entry| entry.file_name().to_string_lossy().ends_with(".lock"))
    {
        state.insert(format!("lock {}", entry.path().display()), String::new());
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
    world.git(&["tag", "marked"]);
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
    // A file that is as young as a start counts as changed by its turn.
    let written = hook.metadata().unwrap().modified().unwrap();
    eventually("the files are older than what comes", || {
        written.elapsed().ok().filter(|age| *age > Duration::from_millis(100))
    });
    world
}

fn open(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| finding.state == FindingState::Seen).collect()
}

#[test]
fn every_way_out_of_a_worktree_is_prevented_or_found_and_put_back() {
    assert!(ACTS.len() >= 50);
    play_all(ACTS, Scene::set);
}

#[test]
fn whatever_hides_or_moves_history_is_prevented_or_found_and_put_back() {
    assert!(ACTS.len() + HISTORY.len() >= 120);
    play_all(HISTORY, Scene::with_remote);
}

fn play_all(acts: &[(&str, Fate)], set: impl Fn() -> Scene) {
    let mut wrong = Vec::new();
    let mut scene = set();
    for (act, fate) in acts {
        if let Err(why) = scene.play(act, *fate) {
            wrong.push(format!("{act}\n{why}"));
            // What is broken would spoil the rest.
            scene = set();
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
    /// What the logs of HEAD and of the person's branches had.
    logs: Vec<(PathBuf, String)>,
}

impl Scene {
    fn set() -> Scene {
        Scene::of(rich())
    }

    /// With a worktree of the person's own too.
    fn with_remote() -> Scene {
        let world = rich();
        let dir = world.dir.path();
        let mine = dir.join("mine");
        world.git(&["worktree", "add", "--quiet", "-b", "mine", mine.to_str().unwrap()]);
        let far = dir.join("far.git").display().to_string();
        world.git(&["clone", "--quiet", "--bare", ".", &far]);
        world.git(&["remote", "add", "far", &format!("file://{far}")]);
        world.git(&["fetch", "--quiet", "far"]);
        Scene::of(world)
    }

    fn of(world: World) -> Scene {
        let other = play(&world, "echo other > file; git add file; git commit -q -m other").0.attempt.attempt;
        let (base, kept) = (state(&world), kept(&world, &other));
        let logs = logs(&world);
        Scene { world, other, base, kept, logs }
    }

    /// Has an agent do something, and says what did not come of it as it must.
    fn play(&self, act: &str, fate: Fate) -> Result<(), String> {
        let Scene { world, other, base, .. } = self;
        let script = act.replace("LOOSE", LOOSE).replace("$OTHER_ID", &other.id.to_string());
        let entry = git(&other.worktree, &["rev-parse", "--absolute-git-dir"]);
        let script = script.replace("$REFS", "$MAIN/.git/refs").replace("$ENTRY", &entry);
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
        // What Forge does in the background has locks of its own for a moment.
        let begun = Instant::now();
        let now = loop {
            let now = state(world);
            if now == *base || begun.elapsed() > Duration::from_secs(5) {
                break now;
            }
        };
        if now != *base {
            let only = |these: &BTreeMap<String, String>, those: &BTreeMap<String, String>| -> Vec<String> {
                let differing = these.iter().filter(|(name, value)| those.get(*name) != Some(value));
                differing.map(|(name, value)| format!("{name}: {value}")).collect()
            };
            return Err(format!("was {:#?}\nis {:#?}\n{told}", only(base, &now), only(&now, base)));
        }
        for (log, was) in &self.logs {
            let now = std::fs::read_to_string(log).unwrap_or_default();
            is(was.lines().all(|line| now.contains(line)), &format!("{} has its entries", log.display()))?;
        }
        let entry = git(&other.worktree, &["rev-parse", "--git-common-dir", "HEAD"]);
        is(
            entry.starts_with(world.repository.join(".git").to_str().unwrap()),
            "the other attempt has its worktree",
        )?;
        let kept = kept(world, other);
        is(self.kept.lines().all(|line| kept.contains(line)), "the other attempt is what it was")
    }
}

fn logs(world: &World) -> Vec<(PathBuf, String)> {
    let logs = ["HEAD", "refs/heads/main"];
    let logs = logs.map(|log| world.repository.join(".git/logs").join(log));
    logs.map(|log| (log.clone(), std::fs::read_to_string(&log).unwrap())).to_vec()
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

#[test]
fn an_agent_whose_branch_becomes_another_name_keeps_its_work_and_moves_nobody() {
    let world = rich();
    let main = world.git(&["rev-parse", "main"]);
    let script = "echo one > one; git add one; git commit -q -m one; \
                  echo 'ref: refs/heads/main' > $MAIN/.git/refs/heads/$FORGE_BRANCH; echo two > two";
    let (started, said) = play(&world, script);
    let attempt = started.attempt.attempt;
    assert_eq!(world.git(&["rev-parse", "main"]), main, "{said}");
    let branch = format!("refs/heads/{}", attempt.branch);
    assert_eq!(world.git(&["for-each-ref", "--format=%(symref)", &branch]), "");
    assert_eq!(world.git(&["log", "--format=%s", &format!("main..{branch}")]).lines().count(), 2);
    assert_eq!(world.git(&["show", &format!("{branch}:one")]), "one");
    assert_eq!(world.git(&["show", &format!("{branch}:two")]), "two");
    assert_eq!(world.attempt(attempt.id).attempt.reason, None);
}

#[test]
fn commits_that_only_a_reflog_holds_outlive_an_agent_that_empties_it() {
    let world = World::new();
    world.git(&["commit", "--quiet", "--allow-empty", "--message=lost"]);
    let lost = world.git(&["rev-parse", "HEAD"]);
    world.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let (started, said) = play(&world, "git reflog expire --expire=now --all; git prune --expire=now");
    assert_eq!(world.git(&["cat-file", "-t", &lost]), "commit", "{said}");
    assert!(!world.git(&["reflog", "--format=%H"]).contains(&lost));
    let attempt = started.attempt.attempt.id;
    let findings = world.run(world.engine().findings(attempt)).unwrap();
    let subjects: Vec<&str> = findings.iter().map(|finding| finding.subject.as_str()).collect();
    assert_eq!(subjects, ["logs/HEAD", "logs/refs/heads/main"]);
    for finding in findings {
        world.run(world.engine().restore_finding(attempt, finding.id)).unwrap();
    }
    assert!(world.git(&["reflog", "--format=%H"]).contains(&lost));
}

#[test]
fn a_history_that_was_never_here_stays_cut_off_and_is_told() {
    let world = World::new();
    let far = world.dir.path().join("far");
    git(world.dir.path(), &["clone", "--quiet", world.repository.to_str().unwrap(), "far"]);
    for message in ["beyond", "far beyond"] {
        let identity = ["-c", "user.name=Bob", "-c", "user.email=bob@example.org"];
        let commit = ["commit", "--quiet", "--allow-empty", "--message", message];
        git(&far, &[&identity[..], &commit[..]].concat());
    }
    let url = format!("file://{}", far.display());
    world.git(&["commit", "--quiet", "--allow-empty", "--message=own"]);
    let (started, said) =
        play(&world, &format!("git fetch -q --depth=1 {url} main; git rev-parse main >> $MAIN/.git/shallow"));
    assert_eq!(world.git(&["rev-list", "--count", "main"]), "2", "{said}");
    world.git(&["fsck", "--connectivity-only"]);
    let attempt = started.attempt.attempt.id;
    let findings = world.run(world.engine().findings(attempt)).unwrap();
    let told: Vec<(&str, FindingState, bool)> = findings
        .iter()
        .map(|finding| (finding.subject.as_str(), finding.state, finding.can_restore()))
        .collect();
    assert!(told.contains(&("shallow", FindingState::Restored, false)), "{findings:?}");
    assert!(told.contains(&("shallow", FindingState::Seen, false)), "{findings:?}");
    assert_eq!(told.len(), 2);
    let seen = open(&findings)[0].sentence();
    assert!(
        seen.contains("in which 1 commit came without what is before; `git fetch --unshallow`"),
        "{seen}"
    );
}
