//! Pushing to and fetching from real bare repositories, over file and smart HTTP.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_git::{Credential, FetchRequest, Fetched, PushRequest, Pushed, Refusal, Repo, Worktree};

use crate::smart_http::{Door, SmartHttp};
use crate::world::World;

const SOON: Duration = Duration::from_secs(60);
/// `x-access-token:ghp_planted`.
const HEADER: &str = "Basic eC1hY2Nlc3MtdG9rZW46Z2hwX3BsYW50ZWQ=";

/// A world whose repository has a bare one as `origin`.
fn with_origin() -> (World, PathBuf) {
    let world = World::new();
    let bare = world.path("remotes/demo.git");
    fs::create_dir_all(world.path("remotes")).unwrap();
    world.run(&world.path(""), ["clone", "-q", "--bare", "repo", "remotes/demo.git"]);
    world.run(&world.path("repo"), ["remote", "add", "origin", bare.to_str().unwrap()]);
    (world, bare)
}

fn push_request(branch: &str) -> PushRequest {
    PushRequest { remote: "origin".into(), branch: branch.into(), credential: None, time_limit: SOON }
}

fn fetch_request(branch: &str) -> FetchRequest {
    let (remote, branch) = ("origin".into(), branch.into());
    FetchRequest { remote, branch, credential: None, time_limit: SOON, track: false }
}

/// A worktree with a commit of its own.
fn worked(world: &World) -> (Repo, Worktree, String) {
    let worktree = world.worktree("work");
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let oid = world.commit(worktree.path(), "work");
    (world.repo(), worktree, oid)
}

/// Commits on a branch of the bare repository behind everybody's back.
fn moved_there(world: &World, bare: &Path, branch: &str) -> String {
    let other = world.path("other");
    if !other.exists() {
        world.run(&world.path(""), ["clone", "-q", bare.to_str().unwrap(), "other"]);
    }
    world.run(&other, ["fetch", "-q", "origin"]);
    world.run(&other, ["checkout", "-q", "-B", branch, &format!("origin/{branch}")]);
    fs::write(other.join("theirs.txt"), "theirs\n").unwrap();
    let oid = world.commit(&other, "theirs");
    world.run(&other, ["push", "-q", "origin", branch]);
    oid
}

fn refused(pushed: Pushed) -> Refusal {
    match pushed {
        Pushed::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_branch_is_pushed_and_pushed_again_and_the_config_stays_as_it_is() {
    let (world, bare) = with_origin();
    let (repo, worktree, oid) = worked(&world);
    let config = fs::read(world.path("repo/.git/config")).unwrap();
    let pushed = repo.push(Some(&worktree), &push_request("forge/work")).unwrap();
    assert_eq!(pushed, Pushed::Done { oid: oid.clone() });
    assert_eq!(world.run(&bare, ["rev-parse", "refs/heads/forge/work"]), oid);
    assert_eq!(repo.known_remote_branch("origin", "forge/work").unwrap(), Some(oid.clone()));
    let again = repo.push(Some(&worktree), &push_request("forge/work")).unwrap();
    assert_eq!(again, Pushed::UpToDate { oid });
    assert_eq!(fs::read(world.path("repo/.git/config")).unwrap(), config);
    assert!(matches!(repo.push(None, &push_request("--force")), Err(forge_git::Error::BadName { .. })));
}

#[test]
fn a_branch_that_is_behind_the_remotes_is_refused_and_nothing_is_lost_there() {
    let (world, bare) = with_origin();
    let (repo, worktree, _) = worked(&world);
    repo.push(Some(&worktree), &push_request("forge/work")).unwrap();
    let theirs = moved_there(&world, &bare, "forge/work");
    fs::write(worktree.path().join("more.txt"), "more\n").unwrap();
    world.commit(worktree.path(), "more");
    let refusal = refused(repo.push(Some(&worktree), &push_request("forge/work")).unwrap());
    assert!(matches!(&refusal, Refusal::NonFastForward(told) if told.contains("[rejected]")), "{refusal:?}");
    assert_eq!(world.run(&bare, ["rev-parse", "refs/heads/forge/work"]), theirs);
    // Not even a refspec of the config makes it one with force.
    world.run(&world.path("repo"), ["config", "remote.origin.push", "+refs/heads/*:refs/heads/*"]);
    world.run(&world.path("repo"), ["config", "remote.origin.mirror", "true"]);
    assert!(matches!(repo.push(None, &push_request("forge/work")), Ok(Pushed::Refused(_))));
    assert_eq!(world.run(&bare, ["rev-parse", "refs/heads/forge/work"]), theirs);
}

#[test]
fn a_hook_of_the_remote_that_says_no_is_told_in_its_own_words() {
    let (world, bare) = with_origin();
    let (repo, worktree, _) = worked(&world);
    world.script(&bare.join("hooks/pre-receive"), "echo 'only on weekdays' >&2; exit 1");
    let refusal = refused(repo.push(Some(&worktree), &push_request("forge/work")).unwrap());
    let told = refusal.to_string();
    assert!(matches!(refusal, Refusal::Rejected(_)), "{told}");
    assert!(told.contains("pre-receive hook declined") && told.contains("only on weekdays"), "{told}");
}

#[test]
fn the_persons_pre_push_hook_runs_in_the_worktree_and_may_refuse() {
    let (world, bare) = with_origin();
    let (repo, worktree, oid) = worked(&world);
    let hook = world.path("repo/.git/hooks/pre-push");
    let seen = world.path("seen");
    world.script(&hook, &format!("pwd > '{0}'; echo $1 >> '{0}'; cat >> '{0}'", seen.display()));
    repo.push(Some(&worktree), &push_request("forge/work")).unwrap();
    let expected = format!("{}\norigin\nrefs/heads/forge/work {oid} ", worktree.path().display());
    assert!(
        fs::read_to_string(&seen).unwrap().starts_with(&expected),
        "{}",
        fs::read_to_string(&seen).unwrap()
    );
    world.script(&hook, "echo 'tests are red' >&2; exit 1");
    fs::write(worktree.path().join("more.txt"), "more\n").unwrap();
    world.commit(worktree.path(), "more");
    let refusal = refused(repo.push(Some(&worktree), &push_request("forge/work")).unwrap());
    assert_eq!(refusal, Refusal::Hook { hook: "pre-push".into(), output: "tests are red".into() });
    assert_eq!(world.run(&bare, ["rev-parse", "refs/heads/forge/work"]), oid);
}

#[test]
fn a_pre_push_hook_that_hangs_is_ended_when_its_time_is_up() {
    let (world, _) = with_origin();
    let (repo, worktree, _) = worked(&world);
    world.script(&world.path("repo/.git/hooks/pre-push"), "sleep 1000");
    let time_limit = Duration::from_millis(1500);
    let request = PushRequest { time_limit, ..push_request("forge/work") };
    let refusal = refused(repo.push(Some(&worktree), &request).unwrap());
    assert!(matches!(refusal, Refusal::TimedOut { .. }), "{refusal:?}");
}

#[test]
fn over_http_a_token_is_sent_to_its_own_server_and_is_seen_nowhere_else() {
    let (world, bare) = with_origin();
    let (repo, worktree, oid) = worked(&world);
    let server = SmartHttp::start(&world.path("remotes"), Door::Locked(HEADER.into()), |_| None);
    let url = format!("{}/demo.git", server.url());
    world.run(&world.path("repo"), ["remote", "set-url", "origin", &url]);
    world.run(&bare, ["config", "http.receivepack", "true"]);
    // The hook tells everything it can see; what it says is shown to people.
    world.script(&world.path("repo/.git/hooks/pre-push"), "env >&2; exit 1");
    let stranger = refused(repo.push(Some(&worktree), &push_request("forge/work")).unwrap());
    assert!(matches!(stranger, Refusal::Login(_)), "{stranger:?}");
    let elsewhere = Credential::token("https://github.com", "ghp_planted");
    let request = PushRequest { credential: Some(elsewhere), ..push_request("forge/work") };
    assert!(matches!(refused(repo.push(Some(&worktree), &request).unwrap()), Refusal::Login(_)));
    assert!(server.seen().iter().all(Option::is_none), "the token of another server was sent");
    let credential = Some(Credential::token(&server.url(), "ghp_planted"));
    let request = PushRequest { credential: credential.clone(), ..push_request("forge/work") };
    let told = refused(repo.push(Some(&worktree), &request).unwrap()).to_string();
    assert!(told.contains("GIT_CONFIG_COUNT"), "{told}");
    assert!(!told.contains("planted") && !told.contains(&HEADER[6..]), "{told}");
    fs::remove_file(world.path("repo/.git/hooks/pre-push")).unwrap();
    assert_eq!(repo.push(Some(&worktree), &request).unwrap(), Pushed::Done { oid: oid.clone() });
    assert_eq!(world.run(&bare, ["rev-parse", "refs/heads/forge/work"]), oid);
    let theirs = moved_there(&world, &bare, "main");
    let request = FetchRequest { credential, ..fetch_request("main") };
    assert_eq!(repo.fetch(&request).unwrap(), Fetched::At(theirs));
    let config = fs::read_to_string(world.path("repo/.git/config")).unwrap();
    assert!(!config.contains("planted") && !config.contains(&HEADER[6..]), "{config}");
}

#[test]
fn the_persons_own_credential_helper_is_asked_and_that_of_the_repository_is_not() {
    let (world, bare) = with_origin();
    let (repo, worktree, oid) = worked(&world);
    let server = SmartHttp::start(&world.path("remotes"), Door::Open, |_| None);
    let url = format!("{}/demo.git", server.url());
    world.run(&world.path("repo"), ["remote", "set-url", "origin", &url]);
    assert!(matches!(repo.fetch(&fetch_request("main")).unwrap(), Fetched::At(_)));
    server.set(Door::Locked("Basic bWU6c2VjcmV0".into()));
    world.run(&bare, ["config", "http.receivepack", "true"]);
    let canary = world.path("canary").display().to_string();
    let evil = format!("!touch '{canary}'; echo username=me; echo password=secret; :");
    world.run(&world.path("repo"), ["config", "credential.helper", &evil]);
    let refusal = refused(repo.push(Some(&worktree), &push_request("forge/work")).unwrap());
    assert!(matches!(refusal, Refusal::Login(_)), "{refusal:?}");
    world.assert_no_canary();
    let helper = "!echo username=me; echo password=secret; :";
    world.run(&world.path("repo"), ["config", "--global", "credential.helper", helper]);
    assert_eq!(repo.push(Some(&worktree), &push_request("forge/work")).unwrap(), Pushed::Done { oid });
    world.assert_no_canary();
    world.run(&world.path("repo"), ["fetch", "-q", "origin"]);
    world.assert_canary();
}

#[test]
fn programs_that_the_repositorys_config_names_for_the_way_are_not_run() {
    let (world, bare) = with_origin();
    let (repo, worktree, oid) = worked(&world);
    let top = world.path("repo");
    let evil = world.path("evil");
    world.script(&evil, &format!("touch '{}'; exit 1", world.path("canary").display()));
    let evil = evil.to_str().unwrap();
    for key in ["core.sshCommand", "core.askPass", "remote.origin.receivepack", "remote.origin.uploadpack"] {
        world.run(&top, ["config", key, evil]);
    }
    assert!(!world.attempt(&top, ["fetch", "origin"]).0);
    world.assert_canary();
    assert_eq!(
        repo.push(Some(&worktree), &push_request("forge/work")).unwrap(),
        Pushed::Done { oid: oid.clone() }
    );
    assert_eq!(repo.fetch(&fetch_request("forge/work")).unwrap(), Fetched::At(oid));
    let never = |url: &str| {
        world.run(&top, ["remote", "set-url", "origin", url]);
        assert!(
            matches!(repo.push(Some(&worktree), &push_request("forge/work")), Ok(Pushed::Refused(_))),
            "{url}"
        );
        assert!(matches!(repo.fetch(&fetch_request("main")), Ok(Fetched::Refused(_))), "{url}");
    };
    never(&format!("ext::{evil} x"));
    never("ssh://nobody@127.0.0.1:1/x");
    world.run(&top, ["config", "remote.origin.vcs", "evil"]);
    never(bare.to_str().unwrap());
    world.assert_no_canary();
}

#[test]
fn a_fetch_writes_one_reference_of_our_own_and_nothing_else() {
    let (world, bare) = with_origin();
    let repo = world.repo();
    let top = world.path("repo");
    let theirs = moved_there(&world, &bare, "main");
    world.run(&bare, ["tag", "v1", &theirs]);
    // What a config could make of a fetch: branches overwritten, references pruned, tags taken.
    world.run(&top, ["config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*"]);
    world.run(&top, ["config", "remote.origin.prune", "true"]);
    world.run(&top, ["config", "remote.origin.tagOpt", "--tags"]);
    world.run(&top, ["branch", "mine"]);
    let before = world.run(&top, ["for-each-ref"]);
    assert_eq!(repo.fetch(&fetch_request("main")).unwrap(), Fetched::At(theirs.clone()));
    let after = world.run(&top, ["for-each-ref", "--exclude=refs/forge"]);
    assert_eq!(before, after);
    assert!(!world.path("repo/.git/FETCH_HEAD").exists());
    assert_eq!(repo.known_remote_branch("origin", "main").unwrap(), Some(theirs.clone()));
    assert_eq!(repo.fetch(&fetch_request("gone")).unwrap(), Fetched::Missing);
    let request = FetchRequest { track: true, ..fetch_request("main") };
    assert_eq!(repo.fetch(&request).unwrap(), Fetched::At(theirs.clone()));
    assert_eq!(world.run(&top, ["rev-parse", "refs/remotes/origin/main"]), theirs);
}

#[test]
fn a_server_that_says_nothing_costs_no_more_than_the_time_limit() {
    let (world, _) = with_origin();
    // The connection comes about, and then nobody takes it.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/demo.git", silent.local_addr().unwrap());
    world.run(&world.path("repo"), ["remote", "set-url", "origin", &url]);
    let request = FetchRequest { time_limit: Duration::from_millis(500), ..fetch_request("main") };
    let fetched = world.repo().fetch(&request).unwrap();
    assert!(matches!(fetched, Fetched::Refused(Refusal::TimedOut { .. })), "{fetched:?}");
}

#[test]
fn the_remote_of_a_branch_is_its_own_or_origin_or_the_only_one() {
    let world = World::new();
    let (repo, top) = (world.repo(), world.path("repo"));
    let name = |found: Option<forge_git::Remote>| found.map(|remote| remote.name);
    assert_eq!(name(repo.remote_of("main").unwrap()), None);
    world.run(&top, ["remote", "add", "team", "https://example.org/a/b.git"]);
    assert_eq!(name(repo.remote_of("main").unwrap()), Some("team".into()));
    world.run(&top, ["remote", "add", "mine", "https://me:secret@example.org/me/b.git"]);
    assert_eq!(name(repo.remote_of("main").unwrap()), None, "which of the two is meant is not to be guessed");
    world.run(&top, ["config", "branch.main.remote", "team"]);
    world.run(&top, ["config", "remote.pushDefault", "mine"]);
    assert_eq!(name(repo.remote_of("main").unwrap()), Some("team".into()));
    assert_eq!(name(repo.push_remote("main").unwrap()), Some("mine".into()));
    world.run(&top, ["remote", "add", "origin", "https://example.org/c/b.git"]);
    assert_eq!(name(repo.remote_of("other").unwrap()), Some("origin".into()));
    world.run(&top, ["config", "url.ssh://git@example.org/.pushInsteadOf", "https://example.org/"]);
    let remote = repo.remote("origin").unwrap();
    assert_eq!(remote.fetch_url, "https://example.org/c/b.git");
    assert_eq!(remote.push_url, "ssh://git@example.org/c/b.git");
}
