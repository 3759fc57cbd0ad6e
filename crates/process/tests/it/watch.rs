//! Following: who is woken, when, and who is not.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use forge_process::{LogReader, LogWriter, Stream, Watch, Watcher};

use crate::stage::{PATIENCE, Stage, eventually};

fn watch(watcher: &Watcher, dir: &Path) -> (Watch, Receiver<()>) {
    let (send, woken) = channel();
    (watcher.watch(dir, move || _ = send.send(())).unwrap(), woken)
}

/// Waits for a wake. The failure names the wake, and what a look at the directory finds instead.
#[track_caller]
fn wakes(what: &str, woken: &Receiver<()>, dir: &Path) {
    if let Err(error) = woken.recv_timeout(PATIENCE) {
        let seen: Vec<_> =
            fs::read_dir(dir).into_iter().flatten().flatten().map(|it| it.file_name()).collect();
        panic!("{what} woke nobody ({error}); {} holds {seen:?}", dir.display());
    }
}

#[test]
fn a_line_wakes_its_follower_at_once() {
    let stage = Stage::new();
    stage.start(&stage.spec(&["cat"]));
    let control = stage.control();
    let watcher = Watcher::start().unwrap();
    let (_watch, woken) = watch(&watcher, &stage.dir);
    let mut reader = LogReader::open(&stage.dir, 0).unwrap();
    let mut best = Duration::MAX;
    let first = Instant::now();
    // Through socket, shim, agent, shim, file and back. A poll anywhere would show in every round; a busy machine shows in
    // some, so it goes on until one round is free of it.
    for ordinal in 1.. {
        if best < Duration::from_millis(50) || first.elapsed() > PATIENCE {
            break;
        }
        let sent = Instant::now();
        control.input(ordinal, "line\n").unwrap();
        let mut seen = false;
        while !seen {
            wakes("a line", &woken, &stage.dir);
            seen = reader.read(usize::MAX).unwrap().iter().any(|record| record.stream == Stream::Stdout);
        }
        best = best.min(sent.elapsed());
    }
    assert!(best < Duration::from_millis(50), "{best:?}");
}

#[test]
fn growth_and_a_new_segment_wake() {
    let dir = tempfile::tempdir().unwrap();
    let watcher = Watcher::start().unwrap();
    let (_watch, woken) = watch(&watcher, dir.path());
    let mut log = LogWriter::create(dir.path(), Some(64)).unwrap();
    wakes("the first segment", &woken, dir.path());
    let mut reader = LogReader::open(dir.path(), 0).unwrap();
    let mut read = Vec::new();
    for number in 1..=3 {
        log.append(Stream::Stdout, number, None, &[b'x'; 50]).unwrap();
        loop {
            read.extend(reader.read(1).unwrap().into_iter().map(|record| record.at_us));
            if read.last() == Some(&number) {
                break;
            }
            wakes(&format!("record {number} after {read:?}"), &woken, dir.path());
        }
    }
    assert_eq!(read, [1, 2, 3]);
    let segments = fs::read_dir(dir.path()).unwrap().count();
    assert!(segments > 1, "every record is in one segment, so no new one woke anybody");
}

#[test]
fn the_exit_wakes_and_what_else_stands_beside_the_log_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let watcher = Watcher::start().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&count);
    let _watch = watcher.watch(dir.path(), move || _ = counting.fetch_add(1, Ordering::SeqCst)).unwrap();
    for name in ["entries-v1", "spec.json", "shim.err", "exit.json.tmp"] {
        fs::write(dir.path().join(name), "x").unwrap();
    }
    // Notices come in order: when the last one has, the others have come to nothing.
    fs::rename(dir.path().join("exit.json.tmp"), dir.path().join("exit.json")).unwrap();
    eventually("the exit", || (count.load(Ordering::SeqCst) > 0).then_some(()));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn several_watches_on_one_directory_all_wake_and_end_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let watcher = Watcher::start().unwrap();
    let (first, first_woken) = watch(&watcher, dir.path());
    let (second, second_woken) = watch(&watcher, dir.path());
    let mut log = LogWriter::create(dir.path(), None).unwrap();
    wakes("the first segment, of two who watch, the first one", &first_woken, dir.path());
    wakes("the first segment, of two who watch, the second one", &second_woken, dir.path());
    drop(first);
    log.append(Stream::Stdout, 1, None, b"x").unwrap();
    wakes("growth after the first watch was dropped", &second_woken, dir.path());
    // The first one's sender went with its watch, once the last wake was over.
    eventually("the end of the first", || {
        matches!(first_woken.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected)).then_some(())
    });
    drop(second);
    let (_again, woken) = watch(&watcher, dir.path());
    log.append(Stream::Stdout, 1, None, b"x").unwrap();
    wakes("growth, of one who watches after all others had gone,", &woken, dir.path());
}

#[test]
fn a_wake_may_drop_its_own_watch_and_a_removed_directory_wakes_once_more() {
    let dir = tempfile::tempdir().unwrap();
    let watcher = Watcher::start().unwrap();
    let slot: Arc<std::sync::Mutex<Option<Watch>>> = Arc::default();
    let (send, woken) = channel();
    let own = {
        let slot = Arc::clone(&slot);
        watcher.watch(dir.path(), move || {
            drop(slot.lock().unwrap().take());
            let _ = send.send(());
        })
    };
    *slot.lock().unwrap() = Some(own.unwrap());
    fs::write(dir.path().join("exit.json"), "{}").unwrap();
    wakes("the exit", &woken, dir.path());
    assert!(slot.lock().unwrap().is_none(), "the wake did not drop its own watch");

    let gone = tempfile::tempdir().unwrap();
    let (_watch, woken) = watch(&watcher, gone.path());
    let path = gone.path().to_path_buf();
    gone.close().unwrap();
    wakes("the end of the directory", &woken, &path);
}

/// Systems have 16,384; where somebody has set a million, a test would write for minutes to fill it.
const LONGEST_QUEUE: usize = 65_536;

#[test]
fn everybody_is_woken_when_notices_were_lost() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    if limit > LONGEST_QUEUE {
        println!("not tried: the system's queue holds {limit} notices, and filling it takes minutes");
        return;
    }
    let (busy, quiet) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watcher = Watcher::start().unwrap();
    let (go_on, held) = channel::<()>();
    let held = std::sync::Mutex::new(held);
    let (send, stuck) = channel();
    let _busy = watcher
        .watch(busy.path(), move || {
            let _ = send.send(());
            let _ = held.lock().unwrap().recv();
        })
        .unwrap();
    let (_quiet, woken) = watch(&watcher, quiet.path());
    let mut log = LogWriter::create(busy.path(), None).unwrap();
    wakes("the busy directory", &stuck, busy.path());
    let mut beside = fs::File::create(busy.path().join("entries-v1")).unwrap();
    // Equal notices in a row are one, so two files take turns.
    for _ in 0..limit / 2 + 2000 {
        log.append(Stream::Stdout, 1, None, b"x").unwrap();
        beside.write_all(b"x").unwrap();
    }
    drop(go_on);
    wakes("the loss of notices, of one whose own directory did not change,", &woken, quiet.path());
}

#[test]
fn a_directory_that_is_not_there_cannot_be_watched() {
    let watcher = Watcher::start().unwrap();
    let error = watcher.watch(std::path::Path::new("/nowhere/run"), || ()).unwrap_err();
    assert_eq!(error.to_string(), "could not watch /nowhere/run");
}
