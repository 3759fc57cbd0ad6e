//! The entries of runs: made while an agent talks, kept beside its log, and made anew when they are not there.

use std::collections::BTreeMap;

use forge_engine::{
    Delivered, EntriesFrom, EntryBatch, EntryPlace, EntryTail, ErrorKind, FollowUp, LogEnd, WindowAt,
};
use forge_model::entry::{EntryType, ToolStatus};
use forge_model::{Answer, AttemptState, Entry, Run, RunId};

use crate::world::{SOON, World, eventually};

/// Everything that a tail gave, and what it gave more than once.
#[derive(Debug, Default)]
struct Given {
    entries: BTreeMap<u64, Entry>,
    batches: usize,
    forms: usize,
    position: i64,
    anew: usize,
}

impl Given {
    fn take(&mut self, batch: EntryBatch) {
        self.batches += 1;
        self.forms += batch.entries.len();
        self.position = batch.position;
        self.anew += usize::from(batch.is_anew);
        self.entries.extend(batch.entries);
    }

    fn texts(&self) -> Vec<&str> {
        self.entries.values().map(|entry| entry.content.as_str()).collect()
    }
}

async fn next(tail: &mut EntryTail) -> Option<EntryBatch> {
    tokio::time::timeout(SOON, tail.next()).await.expect("entries come in time").unwrap()
}

/// Reads all entries of a run until it is over.
fn read(world: &World, run: RunId, from: EntriesFrom) -> Given {
    world.run(async {
        let mut tail = world.engine().entries(run, from).await.unwrap();
        let mut given = Given::default();
        while let Some(batch) = next(&mut tail).await {
            given.take(batch);
        }
        assert_eq!(tail.end(), LogEnd::Over);
        given
    })
}

/// Reads entries until they satisfy a condition.
fn read_until(world: &World, tail: &mut EntryTail, given: &mut Given, enough: impl Fn(&Given) -> bool) {
    world.run(async {
        while !enough(given) {
            given.take(next(tail).await.expect("the run goes on"));
        }
    });
}

fn follow(world: &World, run: RunId, from: EntriesFrom) -> EntryTail {
    world.run(world.engine().entries(run, from)).unwrap()
}

fn cache(world: &World, run: RunId) -> std::path::PathBuf {
    let dir = world.home.join("runs").join(run.to_string());
    dir.join(format!("entries-v{}", forge_agents::FOLD_VERSION))
}

fn status(entry: &Entry) -> &ToolStatus {
    match &entry.entry_type {
        EntryType::ToolUse { status, .. } => status,
        other => panic!("no tool call: {other:?}"),
    }
}

/// The last entry that is about an ask.
fn asked(given: &Given) -> Option<&Entry> {
    let about = |entry: &&Entry| entry.metadata.as_ref().is_some_and(|it| it.get("ask").is_some());
    given.entries.values().rfind(about)
}

#[test]
fn what_an_agent_says_becomes_entries_while_it_says_it() {
    let world = World::new();
    let started = world.start("say one\nrun echo hi\nask go on?\nsay two");
    let run = started.run.id;
    let ask = world.wait_for_ask(started.attempt.attempt.id);
    let mut tail = follow(&world, run, EntriesFrom::Index(0));
    let mut given = Given::default();
    read_until(&world, &mut tail, &mut given, |given| asked(given).is_some());
    assert_eq!(given.texts()[1..], ["a task", "one", "`echo hi`", "go on?"]);
    assert_eq!(status(&given.entries[&3]), &ToolStatus::Success);
    let ToolStatus::PendingApproval { approval_id, requested_at, timeout_at } =
        status(asked(&given).unwrap())
    else {
        panic!("{given:?}")
    };
    assert_eq!(*approval_id, ask.id.to_string());
    assert_eq!(*requested_at, ask.created_at);
    assert!(timeout_at.millis() - requested_at.millis() > 300 * 24 * 3600 * 1000);

    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    read_until(&world, &mut tail, &mut given, |given| given.entries.len() == 7);
    assert_eq!(status(&given.entries[&4]), &ToolStatus::Success);
    world.run(async { while next(&mut tail).await.is_some() {} });
    assert_eq!(given.texts()[5..], ["approved", "two"]);
    assert_eq!(read(&world, run, EntriesFrom::Index(0)).entries, given.entries, "and so they stay");
    assert_eq!(read(&world, run, EntriesFrom::Last(2)).texts(), ["approved", "two"]);
    assert_eq!(read(&world, run, EntriesFrom::Index(6)).texts(), ["two"]);
}

#[test]
fn entries_that_are_gone_or_damaged_are_made_anew_from_the_log() {
    let mut world = World::new();
    let started = world.start("say one\nrun echo hi\nthink so\nlines 3000 0\nedit a.txt text");
    let run = started.run.id;
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let before = read(&world, run, EntriesFrom::Index(0));
    assert!(before.entries.len() > 3000);
    std::fs::remove_dir_all(cache(&world, run)).unwrap();
    assert_eq!(read(&world, run, EntriesFrom::Index(0)).entries, before.entries);

    // Of another version: only its own number is looked at.
    let older = cache(&world, run).with_file_name("entries-v0");
    std::fs::rename(cache(&world, run), &older).unwrap();
    world.restart();
    assert_eq!(read(&world, run, EntriesFrom::Last(1)).texts(), ["`a.txt`"]);
    assert!(!older.exists(), "what nobody can read any more is cleared away");

    // Again and again: whoever made them may have its turn for a moment after a reader saw that they are whole.
    for _ in 0..10 {
        std::fs::remove_dir_all(cache(&world, run)).unwrap();
        assert_eq!(read(&world, run, EntriesFrom::Last(1)).texts(), ["`a.txt`"]);
        let records = cache(&world, run).join("records");
        let mut bytes = std::fs::read(&records).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 300].fill(0);
        std::fs::write(&records, bytes).unwrap();
        let all = async {
            let mut tail = world.engine().entries(run, EntriesFrom::Index(0)).await?;
            while tail.next().await?.is_some() {}
            forge_engine::Result::Ok(())
        };
        let error = world.run(all).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let again = read(&world, run, EntriesFrom::Index(0)).entries;
        assert_eq!(again, before.entries, "they mend themselves");
    }
}

#[test]
fn a_restart_goes_on_from_a_checkpoint_and_no_entry_is_lost_or_doubled() {
    let mut world = World::new();
    // Enough for a checkpoint before the ask.
    let started = world.start("lines 150000 0\nask go on?\nlines 100 0\nsay over");
    let (run, attempt) = (started.run.id, started.attempt.attempt.id);
    world.wait_for_ask(attempt);
    let count = 2 + 150_000 + 1;
    let mut tail = follow(&world, run, EntriesFrom::Change(None));
    let mut given = Given::default();
    read_until(&world, &mut tail, &mut given, |given| given.entries.len() == count);
    drop(tail);
    let number = given.position >> 40;
    world.crash();
    // A crash leaves a record half-written, and a slot that was not.
    let records = cache(&world, run).join("records");
    let file = std::fs::OpenOptions::new().append(true).open(&records).unwrap();
    std::io::Write::write_all(&mut &file, b"\xF0\xE7\x01\x00torn").unwrap();
    drop(file);
    world.reopen();
    let ask = world.wait_for_ask(attempt);
    let mut tail = follow(&world, run, EntriesFrom::Change(Some(given.position)));
    world.run(world.engine().answer(ask.id, Answer::words("yes"), "test")).unwrap();
    world.run(async {
        while let Some(batch) = next(&mut tail).await {
            given.take(batch);
        }
    });
    assert_eq!(given.anew, 0, "the position is good after the restart");
    assert_eq!(given.position >> 40, number, "the cache was gone on with");
    // The answer is said back.
    assert_eq!(given.entries.len(), count + 102);
    let lines = given.texts();
    let lines: Vec<_> = lines.iter().filter(|text| text.starts_with("T=")).collect();
    assert_eq!(lines.len(), 150_100);
    assert_eq!(read(&world, run, EntriesFrom::Index(0)).entries, given.entries);
    std::fs::remove_dir_all(cache(&world, run)).unwrap();
    assert_eq!(read(&world, run, EntriesFrom::Index(0)).entries, given.entries, "folded in one go");
}

#[test]
fn a_reader_that_comes_back_after_its_entries_were_made_anew_is_told_to_begin_anew() {
    let world = World::new();
    let started = world.start("say one\nsay two");
    let run = started.run.id;
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    let first = read(&world, run, EntriesFrom::Change(None));
    let again = read(&world, run, EntriesFrom::Change(Some(first.position)));
    assert!(again.entries.is_empty() && again.anew == 0);
    for wrong in [-1, 0, first.position + 1, i64::MAX, first.position + (1 << 40)] {
        let again = read(&world, run, EntriesFrom::Change(Some(wrong)));
        assert_eq!((again.anew, &again.entries), (1, &first.entries), "after {wrong}");
    }
}

#[test]
fn a_reader_that_stalls_gets_each_entry_once_in_its_newest_form() {
    let world = World::new();
    let script = format!("ask begin?\n{}say over", "run echo hi\n".repeat(50));
    let started = world.start(&script);
    let run = started.run.id;
    let ask = world.wait_for_ask(started.attempt.attempt.id);
    let mut tail = follow(&world, run, EntriesFrom::Index(0));
    let mut given = Given::default();
    read_until(&world, &mut tail, &mut given, |given| asked(given).is_some());
    let forms = given.forms;
    world.run(world.engine().answer(ask.id, Answer::yes(), "test")).unwrap();
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
    world.run(async {
        while let Some(batch) = next(&mut tail).await {
            given.take(batch);
        }
    });
    // The ask that was answered, and each of the rest once.
    assert_eq!(given.forms - forms, 1 + 1 + 50 + 1);
    assert!(given.entries.values().skip(4).take(50).all(|entry| status(entry) == &ToolStatus::Success));
}

#[test]
fn an_ask_that_was_refused_taken_back_or_left_open_is_told_apart() {
    let world = World::new();
    let end = |script: &str, act: &dyn Fn(&World, forge_model::Ask, &Run)| {
        let started = world.start(script);
        let ask = world.wait_for_ask(started.attempt.attempt.id);
        let mut tail = follow(&world, started.run.id, EntriesFrom::Index(0));
        let mut given = Given::default();
        read_until(&world, &mut tail, &mut given, |given| asked(given).is_some());
        assert!(matches!(status(asked(&given).unwrap()), ToolStatus::PendingApproval { .. }));
        let was = given.position;
        act(&world, ask, &started.run);
        world.run(async {
            while let Some(batch) = next(&mut tail).await {
                given.take(batch);
            }
        });
        let later = read(&world, started.run.id, EntriesFrom::Change(Some(was)));
        assert_eq!(asked(&later), asked(&given), "whoever was away at the end hears of it");
        let later = read(&world, started.run.id, EntriesFrom::Index(0));
        assert_eq!(asked(&later), asked(&given), "whoever follows and whoever comes later see the same");
        let entry = asked(&given).unwrap().clone();
        let state = entry.metadata.as_ref().unwrap()["ask_state"].as_str().unwrap_or_default().to_string();
        (status(&entry).clone(), state)
    };
    let refused = end("ask may I?\nsay so", &|world, ask, _| {
        let no = Answer::Deny { reason: Some("no".into()) };
        world.run(world.engine().answer(ask.id, no, "test")).unwrap();
    });
    assert_eq!(refused.0, ToolStatus::Denied { reason: Some("no".into()) });
    let stopped = end("ask may I?\nsay so", &|world, _, run| {
        world.run(world.engine().stop_run(run.id)).unwrap();
    });
    assert_eq!(stopped, (ToolStatus::Failed, "cancelled".to_string()));
    let left = end("ask may I?\nsay so", &|world, _, run| {
        crate::stopping::kill(crate::stopping::agent_pid(world, run.id));
    });
    assert_eq!(left, (ToolStatus::TimedOut, "expired".to_string()));
}

#[test]
fn a_window_goes_back_through_all_turns_of_an_attempt() {
    let world = World::new();
    let started = world.start("say a1\nsay a2");
    let attempt = started.attempt.attempt.id;
    world.wait_for(attempt, AttemptState::Finished);
    let follow_up = FollowUp::new("say b1\nsay b2");
    let followed = world.run(world.engine().follow_up(attempt, follow_up, None)).unwrap();
    assert!(matches!(followed.delivered, Delivered::Started), "{followed:?}");
    eventually("the second turn is over", || {
        let runs = world.run(world.engine().runs(attempt, false)).unwrap();
        (runs.len() == 2 && runs.iter().all(|run| run.state.is_over())).then_some(())
    });
    let window = |before: Option<EntryPlace>, limit| {
        let window = world
            .run(world.engine().attempt_entries(
                attempt,
                before.map_or(WindowAt::Last, WindowAt::Before),
                limit,
            ))
            .unwrap();
        let texts: Vec<_> = window.entries.iter().map(|it| it.entry.content.clone()).collect();
        (texts, window.entries.first().map(|it| it.place), window.has_more)
    };
    let (all, _, more) = window(None, 100);
    assert_eq!(all, ["a task\n\nsay a1\nsay a2", "a task", "a1", "a2", "say b1\nsay b2", "b1", "b2"]);
    assert!(!more);
    let (mut back, mut before): (Vec<String>, Option<EntryPlace>) = (Vec::new(), None);
    loop {
        let (texts, first, more) = window(before, 2);
        assert_eq!(texts.len(), if more { 2 } else { 1 });
        back.splice(0..0, texts);
        before = first;
        if !more {
            break;
        }
    }
    assert_eq!(back, all);
    let nowhere = EntryPlace { run: RunId::random(), index: 1 };
    let error = world.run(world.engine().attempt_entries(attempt, WindowAt::Before(nowhere), 2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let place = before.unwrap();
    assert_eq!(place.to_string().parse(), Ok(place));
}

#[test]
fn a_window_can_stand_anywhere_and_texts_are_found_newest_first() {
    let world = World::new();
    let started = world.start("lines 40 0\nsay The needle");
    let attempt = started.attempt.attempt.id;
    world.wait_for(attempt, AttemptState::Finished);
    let follow_up = FollowUp::new("lines 40 0\nrun echo NEEDLE two");
    world.run(world.engine().follow_up(attempt, follow_up, None)).unwrap();
    eventually("the second turn is over", || {
        let runs = world.run(world.engine().runs(attempt, false)).unwrap();
        (runs.len() == 2 && runs.iter().all(|run| run.state.is_over())).then_some(())
    });
    let window = |at, limit| world.run(world.engine().attempt_entries(attempt, at, limit)).unwrap();
    let all = window(WindowAt::Last, 1000);
    assert!(!all.has_more && !all.has_newer);
    let counts: Vec<_> = all.runs.iter().map(|run| run.entries.unwrap()).collect();
    assert_eq!(counts.iter().sum::<u64>(), all.entries.len() as u64);
    assert_eq!(counts.len(), 2);
    // Forwards from the first entry, page by page, is the same as everything.
    let mut pages = vec![all.entries[0].clone()];
    loop {
        let page = window(WindowAt::After(pages.last().unwrap().place), 7);
        assert!(page.has_more);
        pages.extend(page.entries);
        if !page.has_newer {
            break;
        }
    }
    assert_eq!(pages, all.entries);
    // Around any entry is a stretch of everything that holds it.
    for (at, entry) in all.entries.iter().enumerate() {
        let around = window(WindowAt::Around(entry.place), 10);
        let first = at.saturating_sub(5);
        let last = all.entries.len().min(first + 10);
        assert_eq!(around.entries, all.entries[first..last], "around {at}");
        assert_eq!((around.has_more, around.has_newer), (first > 0, last < all.entries.len()));
    }
    let before = window(WindowAt::Before(all.entries[3].place), 10);
    assert!(!before.has_more && before.has_newer);

    let find = |text: &str, before, limit| {
        world.run(world.engine().find_entries(attempt, text, before, limit)).unwrap()
    };
    let found = find("needle", None, 100);
    assert_eq!(found.before, None);
    let newest_first: Vec<_> = found.hits.iter().map(|hit| (hit.place.run, hit.place.index)).collect();
    let mut sorted = newest_first.clone();
    let order = |run: RunId| all.runs.iter().position(|it| it.run == run);
    sorted.sort_by_key(|(run, index)| std::cmp::Reverse((order(*run), *index)));
    assert_eq!(newest_first, sorted);
    // Each turn's own words, the prompts among them.
    assert!(found.hits.len() >= 4, "{found:?}");
    for hit in &found.hits {
        let word: String = hit.snippet.chars().skip(hit.at).take(hit.length).collect();
        assert!(word.eq_ignore_ascii_case("needle"), "{hit:?}");
    }
    // One by one it is the same.
    let (mut one_by_one, mut before) = (Vec::new(), None);
    loop {
        let found = find("needle", before, 1);
        one_by_one.extend(found.hits);
        before = found.before;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(one_by_one, found.hits);
    assert!(find("no such thing anywhere", None, 10).hits.is_empty());
    let blank = world.run(world.engine().find_entries(attempt, "  ", None, 10)).unwrap_err();
    assert_eq!(blank.kind(), ErrorKind::Invalid);
}

#[test]
fn what_there_is_so_far_is_read_without_waiting() {
    let world = World::new();
    let started = world.start("say one\nask go on?");
    world.wait_for_ask(started.attempt.attempt.id);
    let given = eventually("the question is there", || {
        let mut tail =
            world.run(world.engine().entries_so_far(started.run.id, EntriesFrom::Index(0))).unwrap();
        let mut given = Given::default();
        world.run(async {
            while let Some(batch) = next(&mut tail).await {
                given.take(batch);
            }
        });
        assert_eq!(tail.end(), LogEnd::CaughtUp);
        asked(&given).is_some().then_some(given)
    });
    assert_eq!(given.texts()[1..], ["a task", "one", "go on?"]);
    let window =
        world.run(world.engine().attempt_entries(started.attempt.attempt.id, WindowAt::Last, 1)).unwrap();
    assert!(matches!(status(&window.entries[0].entry), ToolStatus::PendingApproval { .. }));
    assert!(window.has_more);
}

#[test]
fn a_command_that_is_not_found_is_told_as_something_to_set_up() {
    let world = World::new();
    let started = world.start("exit 127");
    let given = read(&world, started.run.id, EntriesFrom::Index(0));
    let last = given.entries.values().last().unwrap();
    let setup = EntryType::ErrorMessage { error_type: forge_model::entry::ErrorType::SetupRequired };
    assert_eq!(last.entry_type, setup, "{given:?}");
}

#[test]
fn a_window_says_from_where_more_is_told_and_nothing_is_told_twice_or_never() {
    let world = World::new();
    let started = world.start("lines 3000 0\nask go on?\nlines 50 0\nsay over");
    let (run, attempt) = (started.run.id, started.attempt.attempt.id);
    let ask = world.wait_for_ask(attempt);
    let window = eventually("the question is in the window", || {
        let window = world.run(world.engine().attempt_entries(attempt, WindowAt::Last, 10)).unwrap();
        let last = &window.entries.last()?.entry;
        matches!(last.entry_type, EntryType::ToolUse { .. }).then_some(window)
    });
    let of_run = window.runs[0];
    assert!(of_run.run == run && !of_run.is_over, "{of_run:?}");

    let mut tail = follow(&world, run, EntriesFrom::Change(of_run.after));
    world.run(world.engine().answer(ask.id, Answer::words("yes"), "test")).unwrap();
    let mut given = Given::default();
    world.run(async {
        while let Some(batch) = next(&mut tail).await {
            given.take(batch);
        }
    });
    assert_eq!(given.anew, 0);
    assert!(given.entries.len() < 100, "what was there is not told again: {}", given.entries.len());
    let whole = read(&world, run, EntriesFrom::Index(0));
    let first = window.entries[0].place.index;
    let mut shown: BTreeMap<_, _> =
        window.entries.into_iter().map(|placed| (placed.place.index, placed.entry)).collect();
    shown.extend(given.entries);
    assert!(shown.iter().eq(whole.entries.range(first..)), "the window and what was told are everything");

    let over = world.run(world.engine().attempt_entries(attempt, WindowAt::Last, 10)).unwrap();
    assert!(over.runs[0].is_over && over.runs[0].after.is_none(), "{:?}", over.runs);
}
