//! Dev servers: beside an attempt's work, on ports of its own, and many at once.

use std::io::Read;
use std::net::{TcpListener, TcpStream};

use forge_engine::{ConfigChange, ProjectChange};
use forge_model::{AttemptId, AttemptState, Run, RunKind, RunState};
use serde_json::json;

use crate::world::{World, eventually, marked};

/// Answers every connection with the attempt it serves.
const SERVER: &str = r#"exec perl -MIO::Socket::INET -e '
    my $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ENV{FORGE_DEV_PORT}, Listen => 5,
        ReuseAddr => 1) or die $!;
    $| = 1; print "listening on $ENV{FORGE_DEV_PORT}\n";
    while (my $c = $s->accept) { print $c "$ENV{FORGE_ATTEMPT}"; close $c }'"#;

/// Gives a world a range of ports that no other test uses at the same time: two engines on one machine look at the same
/// ports, and a port that both find free is taken by the first server that binds it. The reservation is a listener
/// that is open until the test process ends.
fn reserve_ports(world: &World) {
    let (range, reservation) = (0..18_u16)
        .find_map(|nth| Some((nth, TcpListener::bind(("127.0.0.1", 19_500 + nth)).ok()?)))
        .expect("fewer than 18 tests of dev servers run at once");
    std::mem::forget(reservation);
    let first = 20_000 + range * 550;
    let ports = json!({"dev_ports": {"first": first, "last": first + 549}});
    let change = ConfigChange::new(ports.as_object().cloned().unwrap()).unwrap();
    world.run(world.engine().change_config(change)).unwrap();
}

fn dev_script(world: &World, script: &str) {
    reserve_ports(world);
    let change = ProjectChange { dev_script: Some(Some(script.to_string())), ..ProjectChange::default() };
    world.run(world.engine().update_project(world.project, change)).unwrap();
}

fn serve(world: &World, id: AttemptId) -> Run {
    world.run(world.engine().start_dev_server(id)).unwrap()
}

/// The port that a dev server says it listens on.
fn port(world: &World, run: &Run) -> u16 {
    world.wait_for_output(run.id, "listening on ");
    eventually("the whole line", || {
        let mut text = String::new();
        world.run(async {
            let mut tail = world.engine().log_so_far(run.id, 0).await.unwrap();
            while let Some(batch) = tail.next().await.unwrap() {
                text.extend(batch.chunks.iter().map(|chunk| chunk.text.as_str()));
            }
        });
        let line = text.lines().find_map(|line| line.strip_prefix("listening on "))?;
        text.contains('\n').then(|| line.parse().unwrap())
    })
}

fn answer(port: u16) -> String {
    let mut text = String::new();
    TcpStream::connect(("127.0.0.1", port)).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_dev_server_is_beside_the_attempts_work_and_outlives_the_server() {
    let mut world = World::new();
    dev_script(&world, SERVER);
    let started = world.start("edit a.txt text");
    let (id, task) = (started.attempt.attempt.id, started.task.task.id);
    world.wait_for(id, AttemptState::Finished);
    let run = serve(&world, id);
    assert_eq!((run.kind, run.state), (RunKind::DevServer, RunState::Running));
    let port = port(&world, &run);
    assert_eq!(answer(port), id.to_string());
    let view = world.run(world.engine().task(task)).unwrap();
    assert_eq!((view.task.dev_server, view.has_in_progress_attempt), (Some(run.id), false));
    let list = world.run(world.engine().tasks(world.project)).unwrap();
    assert_eq!(list[0].task.dev_server, Some(run.id));
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Finished, "a dev server is no work");

    world.restart();
    assert_eq!(answer(port), id.to_string(), "it runs on while the server is away");
    assert_eq!(world.run(world.engine().run(run.id)).unwrap().state, RunState::Running);
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Finished);

    // The agent works and rests beside it.
    let follow = forge_engine::FollowUp::new("say hi");
    world.run(world.engine().follow_up(id, follow, None)).unwrap();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(answer(port), id.to_string());

    let next = serve(&world, id);
    assert_eq!(world.run(world.engine().run(run.id)).unwrap().state, RunState::Killed, "one an attempt");
    assert_eq!(self::port(&world, &next), port, "it has its ports for good");
    world.run(world.engine().stop_attempt(id)).unwrap();
    assert_eq!(world.run(world.engine().run(next.id)).unwrap().state, RunState::Killed);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err() && marked(next.id).is_empty());
    assert_eq!(world.run(world.engine().task(task)).unwrap().task.dev_server, None);
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Finished);
}

#[test]
fn without_a_script_there_is_no_dev_server() {
    let world = World::new();
    let id = world.start("say hi").attempt.attempt.id;
    let error = world.run(world.engine().start_dev_server(id)).unwrap_err();
    assert_eq!(error.to_string(), "No dev server script configured for this project");
    let nobody = AttemptId::random();
    assert!(world.run(world.engine().start_dev_server(nobody)).is_err());
}

#[test]
fn a_dev_server_that_ends_says_why_and_moves_nothing() {
    let world = World::new();
    dev_script(&world, "echo no such module >&2; exit 4");
    let id = world.start("say hi").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let run = serve(&world, id);
    let ended = eventually("it ended", || {
        Some(world.run(world.engine().run(run.id)).unwrap()).filter(|run| run.state.is_over())
    });
    assert_eq!((ended.state, ended.exit_code), (RunState::Failed, Some(4)));
    assert!(ended.reason.unwrap().contains("no such module"));
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Finished);
}

#[test]
fn a_start_that_broke_off_is_taken_back_and_starts_nothing_else() {
    let mut world = World::with_seam("start.spawned#2=hold:DIR/never");
    dev_script(&world, SERVER);
    let id = world.start("say hi").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let engine = world.engine().clone();
    let _caller = world.spawn(async move { engine.start_dev_server(id).await });
    let reached = world.dir.path().join("never.reached");
    eventually("its process is there", || reached.exists().then_some(()));
    world.restart();
    // The process came to be, so that it is shown, and the attempt is as much at rest as before.
    let runs = world.run(world.engine().runs(id, true)).unwrap();
    assert_eq!(runs.iter().map(|run| run.kind).collect::<Vec<_>>(), [RunKind::Agent, RunKind::DevServer]);
    assert_eq!(world.attempt(id).attempt.state, AttemptState::Finished);
    assert_eq!(answer(port(&world, &runs[1])), id.to_string());
}

#[test]
fn somebody_elses_server_on_an_attempts_port_gets_it_others() {
    let world = World::new();
    dev_script(&world, SERVER);
    let id = world.start("say hi").attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let run = serve(&world, id);
    let first = port(&world, &run);
    world.run(world.engine().stop_run(run.id)).unwrap();
    let _somebody = TcpListener::bind(("127.0.0.1", first)).unwrap();
    let second = port(&world, &serve(&world, id));
    assert_ne!(first, second);
    assert_eq!(answer(second), id.to_string());
}

#[test]
fn fifty_attempts_have_dev_servers_at_once_and_each_answers_for_itself() {
    let world = World::new();
    dev_script(&world, SERVER);
    let engine = world.engine();
    let starts: Vec<_> = (0..50)
        .map(|_| {
            let (engine, wanted) = (engine.clone(), world.wanted("say hi"));
            world.spawn(async move {
                let id = engine.create_and_start(wanted, None).await.unwrap().attempt.attempt.id;
                (id, engine.start_dev_server(id).await.unwrap())
            })
        })
        .collect();
    let servers: Vec<_> = starts.into_iter().map(|start| world.run(start).unwrap()).collect();
    let mut ports = std::collections::HashSet::new();
    for (id, run) in &servers {
        let port = port(&world, run);
        assert!(ports.insert(port), "port {port} was given twice");
        assert_eq!(answer(port), id.to_string());
    }
    let live = servers.iter().filter(|(_, run)| {
        world.run(engine.run(run.id)).unwrap().state == RunState::Running && answer_of(&world, run).is_some()
    });
    assert_eq!(live.count(), 50, "all of them run at once");
}

fn answer_of(world: &World, run: &Run) -> Option<String> {
    Some(answer(port(world, run))).filter(|answer| !answer.is_empty())
}
