//! One project lies on a disk that does not answer: its calls end with a sentence, and ten others do not notice.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::map_streams::{answer, call};
use crate::world::{DEADLINE, Ended, Running, World, eventually};

/// What a call of git may take here, in milliseconds: many times what it takes on a busy machine.
const LIMIT: u64 = 4000;

/// How many ask for something of the sick project at any time, and how often the others are asked.
const AT_ONCE: usize = 24;
const ROUNDS: usize = 12;

/// A git that waits for ever for whatever lies in `sick`, while the file `asleep` is there.
fn wrapper(world: &World) {
    let path = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&path).map(|place| place.join("git")).find(|git| git.exists()).unwrap();
    fs::create_dir(world.path("bin")).unwrap();
    let script = format!(
        "#!/bin/sh\nif [ -e '{}' ]; then case \"$*\" in *'{}'*) sleep 100000 & wait ;; esac; fi\nexec '{}' \"$@\"\n",
        world.path("asleep").display(),
        world.path("sick").display(),
        git.display()
    );
    let program = world.path("bin/git");
    // Written by another process: one that is open for writing anywhere cannot be executed.
    let mut write = world.program("/bin/sh");
    write.args(["-c", "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"]).arg(program).arg(script);
    assert!(write.status().unwrap().success());
}

fn serve(world: &World, seam: &str) -> Running {
    let mut command = world.forge(&["serve", "--port", "0"]);
    let path = std::env::var_os("PATH").unwrap();
    let places = std::iter::once(world.path("bin")).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(places).unwrap());
    command.env("FORGE_SEAM", seam);
    let mut server = Running::start(command);
    server.line_with("Forge 0.1.0 on http://");
    server
}

fn stop(server: Running) -> Ended {
    server.signal(Signal::TERM);
    server.end()
}

fn project(world: &World, path: &Path) -> String {
    fs::create_dir(path).unwrap();
    fs::write(path.join("README.md"), "hello\n").unwrap();
    for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message=first"]] {
        assert!(world.program("git").arg("-C").arg(path).args(args).status().unwrap().success());
    }
    let body = json!({"name": path.file_name().unwrap().to_str(), "git_repo_path": path});
    call(world, "POST", "/api/projects", &body)["id"].as_str().unwrap().to_string()
}

fn start(world: &World, project: &str) -> (u16, Value) {
    let profile = json!({"executor": "SCRIPTED", "variant": null});
    let body = json!({
        "task": {"project_id": project, "title": "work", "description": "say done"},
        "executor_profile_id": profile, "base_branch": "main",
    });
    answer(world, "POST", "/api/tasks/create-and-start", &body)
}

/// Asks ten projects side by side, and returns what 95 of 100 answers took at most.
fn p95(world: &World, projects: &[String]) -> Duration {
    let took = |id: &String| {
        let ask = |path: String| {
            let begun = Instant::now();
            let (status, told) = answer(world, "GET", &path, &json!({}));
            assert_eq!(status, 200, "{path}: {told}");
            begun.elapsed()
        };
        let round = |_| {
            [
                ask(format!("/api/projects/{id}/branches")),
                ask(format!("/api/projects/{id}/search?q=readme")),
                ask(format!("/api/tasks?project_id={id}")),
            ]
        };
        (0..ROUNDS).flat_map(round).collect::<Vec<_>>()
    };
    let mut all: Vec<Duration> = std::thread::scope(|scope| {
        let asking: Vec<_> = projects.iter().map(|id| scope.spawn(move || took(id))).collect();
        asking.into_iter().flat_map(|asked| asked.join().unwrap()).collect()
    });
    all.sort();
    all[all.len() * 95 / 100]
}

#[test]
fn ten_projects_do_not_notice_one_whose_disk_does_not_answer_and_it_comes_back_with_its_disk() {
    let world = World::new();
    wrapper(&world);
    let server = serve(&world, &format!("git=limit:{LIMIT}"));
    let others: Vec<String> = (0..10).map(|n| project(&world, &world.path(&format!("well-{n}")))).collect();
    let sick = project(&world, &world.path("sick"));
    let _warm = p95(&world, &others);
    let healthy = (0..3).map(|_| p95(&world, &others)).max().unwrap();
    let ended = stop(server);
    assert_eq!(ended.code, Some(0), "{ended:?}");

    // A new server has opened no repository yet, and opening is what hangs first.
    fs::write(world.path("asleep"), "").unwrap();
    let server = serve(&world, &format!("git=limit:{LIMIT}"));
    let (is_over, refused) = (AtomicBool::new(false), AtomicUsize::new(0));
    let bound = Duration::from_millis(LIMIT) + DEADLINE;
    let sayings = std::thread::scope(|scope| {
        let hammer = |number: usize| {
            let (world, sick, is_over, refused) = (&world, &sick, &is_over, &refused);
            move || {
                let mut sayings = BTreeSet::new();
                while !is_over.load(Ordering::SeqCst) {
                    let begun = Instant::now();
                    let (status, told) = match number % 3 {
                        0 => answer(world, "GET", &format!("/api/projects/{sick}/branches"), &json!({})),
                        1 => {
                            answer(world, "GET", &format!("/api/projects/{sick}/search?q=readme"), &json!({}))
                        }
                        _ => start(world, sick),
                    };
                    assert!(begun.elapsed() < bound, "{:?}", begun.elapsed());
                    assert!(status >= 400, "{told}");
                    refused.fetch_add(1, Ordering::SeqCst);
                    sayings.insert(told["message"].as_str().unwrap_or_default().to_string());
                }
                sayings
            }
        };
        let hammers: Vec<_> = (0..AT_ONCE).map(|number| scope.spawn(hammer(number))).collect();
        let best = (0..3).map(|_| p95(&world, &others)).min().unwrap();
        // What can be started is started, and comes to its end.
        let (status, started) = start(&world, &others[0]);
        assert_eq!(status, 200, "{started}");
        eventually("calls of the sick project have ended", || {
            (refused.load(Ordering::SeqCst) >= AT_ONCE).then_some(())
        });
        is_over.store(true, Ordering::SeqCst);
        // A machine that does other things makes both figures larger, and the second one more.
        let most = healthy * 5 + Duration::from_millis(300);
        assert!(
            best < most,
            "95 of 100 took {best:?} at most beside a sick project, and {healthy:?} without"
        );
        hammers.into_iter().flat_map(|hammer| hammer.join().unwrap()).collect::<BTreeSet<_>>()
    });
    for told in &sayings {
        for part in ["git ", "sick", "took more than", "disk", "try again"] {
            assert!(told.contains(part), "{part:?} is not in {told:?}");
        }
    }
    fs::remove_file(world.path("asleep")).unwrap();
    let (status, told) = answer(&world, "GET", &format!("/api/projects/{sick}/branches"), &json!({}));
    assert_eq!(status, 200, "{told}");
    let (status, told) = start(&world, &sick);
    assert_eq!(status, 200, "{told}");
    let ended = stop(server);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_server_that_ends_ends_the_git_that_hangs() {
    let world = World::new();
    wrapper(&world);
    let server = serve(&world, "");
    let sick = project(&world, &world.path("sick"));
    fs::write(world.path("asleep"), "").unwrap();
    std::thread::scope(|scope| {
        let world = &world;
        scope.spawn(move || {
            // It is refused, or the server goes before it can be.
            crate::map_streams::answer_if_any(
                world,
                "GET",
                &format!("/api/projects/{sick}/branches"),
                &json!({}),
            )
        });
        eventually("git hangs", || (!hanging(world).is_empty()).then_some(()));
        let begun = Instant::now();
        let ended = stop(server);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
        eventually("what hung is gone", || hanging(world).is_empty().then_some(()));
    });
}

/// The processes that wait for the sick disk: they name it, or were started by one that does.
fn hanging(world: &World) -> Vec<u32> {
    let marker = format!("FORGE_DATA={}", fs::canonicalize(world.home()).unwrap().display());
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_one = |pid: &u32| {
        let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let is_marked = read("environ").split(|byte| *byte == 0).any(|one| one == marker.as_bytes());
        is_marked && read("cmdline").starts_with(b"sleep\x00100000")
    };
    pids.filter(is_one).collect()
}
