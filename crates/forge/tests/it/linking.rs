//! Commits that know where they come from: the linker as a real hook of real commits in real worktrees.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{DEADLINE, Ended, Running, World, mode};

const WISH: &str = "forge-metadata-investigation";
const TITLE: &str = "[TEST] Forge Metadata Investigation - Extract task_id structure";
const STATE: &str = ".genie/SESSION-STATE.md";

/// A repository with a wish, a server, and the worktree of an attempt that is named as the wish's was.
struct Linked {
    world: World,
    server: Option<Running>,
    attempt: String,
    worktree: PathBuf,
}

impl Linked {
    fn new() -> Self {
        let world = World::new();
        for (slug, issue) in [(WISH, "#44 - Find out"), ("auth-rework", "#7")] {
            let folder = world.repository().join(".genie/wishes").join(slug);
            fs::create_dir_all(&folder).unwrap();
            let text = format!("# {slug}\n\n**Status:** DRAFT\n**GitHub Issue:** {issue}\n");
            fs::write(folder.join(format!("{slug}-wish.md")), text).unwrap();
        }
        world.git(&["add", "--all"]);
        world.git(&["commit", "--quiet", "--message=wishes"]);
        let server = Some(world.serve());
        let attempt = world.attempt(&format!("{TITLE}\nsay done"));
        world.until_state(&attempt, "finished");
        let listed = world.json(&["list"]);
        let worktree = PathBuf::from(listed[0]["worktree_path"].as_str().unwrap());
        assert!(worktree.to_str().unwrap().ends_with("-test-forge-metad"), "{worktree:?}");
        Self { world, server, attempt, worktree }
    }

    fn task(&self) -> String {
        self.world.json(&["list"])[0]["task_id"].as_str().unwrap().to_string()
    }

    fn here(&self, mut command: Command) -> Ended {
        command.current_dir(&self.worktree);
        Running::start(command).end()
    }

    fn forge(&self, args: &[&str]) -> Ended {
        let ended = self.here(self.world.forge(args));
        assert_eq!(ended.code, Some(0), "{args:?} {ended:?}");
        ended
    }

    fn json(&self, args: &[&str]) -> Value {
        let ended = self.forge(&[&["--json"], args].concat());
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
    }

    fn git(&self, args: &[&str]) -> Ended {
        let mut git = self.world.program("git");
        git.args(args);
        self.here(git)
    }

    /// Changes a file, commits it as a person does, and returns the files of the commit.
    fn commit(&self, text: &str) -> Vec<String> {
        fs::write(self.worktree.join("work.txt"), text).unwrap();
        self.git(&["add", "work.txt"]);
        let ended = self.git(&["commit", "--quiet", "--message=work"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let names = self.git(&["show", "--name-only", "--format=", "HEAD"]).stdout;
        names.lines().map(str::to_string).collect()
    }

    fn install(&self, more: &[&str]) {
        // A busy machine may take longer than a person would like to wait.
        self.forge(&[&["hooks", "install", "--within", "30000"], more].concat());
    }

    fn state(&self) -> String {
        fs::read_to_string(self.worktree.join(STATE)).unwrap()
    }
}

#[test]
fn the_linker_tells_branch_attempt_task_wish_and_issue_as_json() {
    let linked = Linked::new();
    let told = linked.json(&["link", "--within", "30000"]);
    assert_eq!(told["attempt_id"], linked.attempt);
    assert_eq!(told["task_id"], linked.task());
    assert_eq!(told["wish"], WISH);
    assert_eq!(told["github_issue"], "#44 - Find out");
    assert_eq!((told["linked"].as_bool(), told["source"].as_str()), (Some(true), Some("server")));
    assert!(told["branch"].as_str().unwrap().ends_with("-test-forge-metad"));
    assert!(!linked.worktree.join(STATE).exists(), "it writes nothing unless it is switched on");
}

#[test]
fn a_commit_in_a_worktree_carries_its_four_links_and_the_second_commit_changes_nothing() {
    let linked = Linked::new();
    linked.install(&["--state"]);
    assert_eq!(linked.commit("one"), [STATE, "work.txt"]);
    let state = linked.state();
    for value in
        [&linked.attempt, &linked.task(), &format!(".genie/wishes/{WISH}/{WISH}-wish.md"), "#44 - Find out"]
    {
        assert!(state.contains(value), "{value}: {state}");
    }
    assert_eq!(linked.commit("two"), ["work.txt"]);
    assert_eq!(linked.state(), state);
}

#[test]
fn a_commit_is_linked_by_its_name_alone_while_the_server_is_away_and_loses_nothing_it_knew() {
    let mut linked = Linked::new();
    linked.install(&["--state"]);
    drop(linked.server.take());
    assert_eq!(linked.commit("one"), [STATE, "work.txt"]);
    let state = linked.state();
    assert!(state.contains(WISH) && state.contains("#44") && state.contains(&linked.attempt[..4]), "{state}");
    assert!(!state.contains(&linked.attempt), "{state}");
    linked.server = Some(linked.world.serve());
    assert_eq!(linked.commit("two"), [STATE, "work.txt"], "now the whole ids are known");
    let whole = linked.state();
    assert!(whole.contains(&linked.attempt), "{whole}");
    drop(linked.server.take());
    assert_eq!(linked.commit("three"), ["work.txt"]);
    assert_eq!(linked.state(), whole);
}

#[test]
fn a_server_that_never_answers_costs_a_commit_no_more_than_the_linkers_patience() {
    let mut linked = Linked::new();
    drop(linked.server.take());
    // The system takes connections for a listener that nobody serves, and nothing ever comes back.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let link = |within: &[&str]| {
        let begun = Instant::now();
        let told = linked.json(&[&["--url", &url, "link"], within].concat());
        (begun.elapsed(), told)
    };
    // What a process takes to start on this machine now is not the linker's. A busy machine may need several tries; who
    // waits without an end waits so each time.
    let mut tries = Vec::new();
    let first = Instant::now();
    while first.elapsed() < DEADLINE
        && !tries.iter().any(|(took, without)| *took < *without + Duration::from_secs(1))
    {
        let (without, _) = link(&["--within", "0"]);
        let (took, told) = link(&[]);
        assert_eq!((told["linked"].as_bool(), told["source"].as_str()), (Some(true), Some("name")), "{told}");
        assert_eq!(told["wish"], WISH);
        assert!(took >= Duration::from_millis(200), "it did not wait for the server: {took:?}");
        tries.push((took, without));
    }
    let is_short = tries.iter().any(|(took, without)| *took < *without + Duration::from_secs(1));
    assert!(is_short, "with waiting and without it took {tries:?}");
    let (longer, _) = link(&["--within", "1500"]);
    assert!(longer >= Duration::from_millis(1500), "the patience is what was said: {longer:?}");
}

#[test]
fn a_commit_is_never_held_up_unless_strict_and_no_file_is_touched_unless_switched_on() {
    let mut linked = Linked::new();
    linked.install(&[]);
    assert_eq!(linked.commit("one"), ["work.txt"]);
    assert!(!linked.worktree.join(STATE).exists());
    drop(linked.server.take());
    let state = linked.worktree.join(STATE);
    fs::write(&state, "<!-- forge:links begin -->\n").unwrap();
    linked.install(&["--state"]);
    assert_eq!(linked.commit("two"), ["work.txt"], "a damaged file holds nothing up");
    fs::remove_file(&state).unwrap();
    // In the person's own checkout there is nothing to link.
    linked.world.git(&["commit", "--quiet", "--allow-empty", "--message=mine"]);

    linked.install(&["--strict"]);
    let refused = linked
        .world
        .program("git")
        .args(["commit", "--quiet", "--allow-empty", "--message=x"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no worktree of an attempt"), "{refused:?}");
}

#[test]
fn trace_tells_the_chain_of_a_commit_with_the_server_up_and_down_and_after_it_landed() {
    let mut linked = Linked::new();
    linked.install(&["--state"]);
    linked.commit("one");
    let sha = linked.git(&["rev-parse", "HEAD"]).stdout.trim().to_string();
    let told = linked.json(&["trace", &sha]);
    assert_eq!(
        (told["attempt_id"].as_str(), told["wish"].as_str()),
        (Some(linked.attempt.as_str()), Some(WISH))
    );
    assert_eq!(
        (told["task_id"].as_str(), told["github_issue"].as_str()),
        (Some(linked.task().as_str()), Some("#44 - Find out"))
    );
    let first = linked.world.git(&["rev-parse", "main"]).trim().to_string();
    let ended = linked.here(linked.world.forge(&["trace", &first]));
    assert_eq!(ended.code, Some(3), "what was there before is nobody's: {ended:?}");

    drop(linked.server.take());
    let told = linked.json(&["trace", &sha]);
    assert_eq!(
        (told["attempt_prefix"].as_str(), told["wish"].as_str()),
        (Some(&linked.attempt[..4]), Some(WISH))
    );

    // Landed by hand and its branch gone: the commit itself says where it comes from.
    linked.world.git(&["merge", "--quiet", "--ff-only", &sha]);
    let told = linked.world.run(&["--json", "trace", &sha]);
    let told: Value = serde_json::from_str(&told.stdout).unwrap_or_else(|error| panic!("{error} {told:?}"));
    assert_eq!(
        (told["attempt_id"].as_str(), told["github_issue"].as_str()),
        (Some(linked.attempt.as_str()), Some("#44 - Find out"))
    );
}

#[test]
fn a_hook_that_was_there_goes_on_and_comes_back_byte_for_byte() {
    let linked = Linked::new();
    let place = linked.world.repository().join(".git/hooks/pre-commit");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    let own = "#!/bin/sh\necho mine >> \"$(git rev-parse --git-common-dir)/called\"\n[ ! -e refuse ]\n";
    fs::write(&place, own).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    linked.install(&["--state"]);
    linked.install(&["--state"]);
    assert_eq!(linked.commit("one"), [STATE, "work.txt"]);
    let called = linked.world.repository().join(".git/called");
    assert_eq!(fs::read_to_string(&called).unwrap(), "mine\n");
    fs::write(linked.worktree.join("refuse"), "").unwrap();
    assert_ne!(linked.git(&["commit", "--quiet", "--allow-empty", "--message=no"]).code, Some(0));
    assert_eq!(linked.json(&["hooks", "status"])["installed"], true);

    linked.forge(&["hooks", "remove"]);
    assert_eq!(fs::read_to_string(&place).unwrap(), own);
    assert_eq!(mode(&place), 0o755);
    assert!(!place.with_file_name("pre-commit.before-forge").exists());
    assert_eq!(linked.json(&["hooks", "status"])["installed"], false);
    assert_eq!(
        linked.world.git(&["config", "--local", "--get-regexp", "^user|^core.bare"]).lines().count(),
        1
    );
}

#[test]
fn hooks_that_another_directory_holds_go_on_and_that_directory_is_left_alone() {
    let linked = Linked::new();
    let theirs = linked.world.repository().join(".githooks");
    fs::create_dir(&theirs).unwrap();
    for hook in ["pre-commit", "commit-msg"] {
        let text = format!("#!/bin/sh\necho {hook} >> \"$(git rev-parse --git-common-dir)/called\"\n");
        fs::write(theirs.join(hook), text).unwrap();
        fs::set_permissions(theirs.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    linked.world.git(&["config", "core.hooksPath", theirs.to_str().unwrap()]);
    let before = names(&theirs);
    linked.install(&["--state"]);
    linked.install(&["--state"]);
    assert_eq!(linked.commit("one"), [STATE, "work.txt"]);
    let called = fs::read_to_string(linked.world.repository().join(".git/called")).unwrap();
    assert_eq!(called, "pre-commit\ncommit-msg\n");
    assert_eq!(names(&theirs), before);
    linked.forge(&["hooks", "remove"]);
    assert_eq!(linked.world.git(&["config", "core.hooksPath"]).trim(), theirs.to_str().unwrap());
    assert!(!linked.world.repository().join(".git/forge-hooks").exists());
    assert_eq!(linked.commit("two"), ["work.txt"]);
}

fn names(directory: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

#[test]
fn two_versions_of_session_state_are_merged_without_a_conflict_and_keep_both_links() {
    let linked = Linked::new();
    linked.install(&["--state"]);
    linked.commit("one");
    linked.world.git(&["config", "user.name", "Ada"]);
    // The other side has a link of its own in the same place.
    let other =
        linked.state().replace("-test-forge-metad", "-other-work").replace(&linked.attempt[..4], "ffff");
    let path = linked.world.repository().join(STATE);
    fs::write(&path, other).unwrap();
    linked.world.git(&["add", "--all"]);
    linked.world.git(&["commit", "--quiet", "--message=other"]);
    let branch = linked.json(&["link"])["branch"].as_str().unwrap().to_string();
    linked.world.git(&["merge", "--quiet", "--no-edit", &branch]);
    let merged = fs::read_to_string(&path).unwrap();
    assert!(merged.contains("-other-work") && merged.contains("-test-forge-metad"), "{merged}");
    assert!(!merged.contains("<<<<<<<") && merged.contains("## Active Sessions"), "{merged}");
}
