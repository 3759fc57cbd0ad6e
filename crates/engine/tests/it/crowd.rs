//! Many starts one after the other on a machine that is busy: every one of them is true.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::stopping::agent_pid;
use crate::world::{World, is_alive};

#[test]
fn two_hundred_starts_in_a_row_under_full_load_each_return_a_process_that_exists() {
    let world = World::new();
    let done = Arc::new(AtomicBool::new(false));
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    // One for each core leaves none of them idle. More would only take the time of the tests that run meanwhile.
    let burners: Vec<_> = (0..cores)
        .map(|_| {
            let done = done.clone();
            std::thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    for index in 0..200 {
        let started = world.run(world.engine().create_and_start(world.wanted("hang"), None));
        let run = started.unwrap_or_else(|error| panic!("start {index}: {error}")).run.unwrap();
        assert!(is_alive(agent_pid(&world, run.id)), "start {index} has no process");
        world.run(world.engine().stop_run(run.id)).unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for burner in burners {
        burner.join().unwrap();
    }
    assert_eq!(world.run(world.engine().attempts(None)).unwrap().len(), 200);
}
