//! The log by itself: tears, damage, and starting anywhere.

use std::fs;
use std::path::{Path, PathBuf};

use forge_process::{LogReader, LogWriter, Record, Stream, log_end, recover};
use proptest::prelude::*;

use crate::stage::records;

/// Writes some records and gives them back as they should read.
fn write(dir: &Path, segment_bytes: Option<u64>, payloads: &[Vec<u8>]) -> Vec<Record> {
    let mut log = LogWriter::create(dir, segment_bytes).unwrap();
    let mut offset = 0;
    let streams = [Stream::Stdout, Stream::Input, Stream::Stderr, Stream::Note];
    let mut written = Vec::new();
    for (index, payload) in payloads.iter().enumerate() {
        let stream = streams[index % streams.len()];
        let ordinal = stream.is_ordered().then_some(index as u64 + 1);
        let at_us = 1_000 + index as u64;
        let end = log.append(stream, at_us, ordinal, payload).unwrap();
        written.push(Record { offset, end, stream, at_us, ordinal, payload: payload.clone() });
        offset = end;
    }
    written
}

fn texts(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|index| format!("payload number {index}").repeat(index % 4).into_bytes()).collect()
}

fn only_segment(dir: &Path) -> PathBuf {
    dir.join("log-00000000000000000000.flog")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn what_is_written_is_read_whatever_the_segments_and_the_appetite(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 0..30),
        segment_bytes in 1_u64..2000,
        appetite in 1_usize..3000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), Some(segment_bytes), &payloads);
        let mut reader = LogReader::open(dir.path(), 0).unwrap();
        let mut read = Vec::new();
        loop {
            let some = reader.read(appetite).unwrap();
            if some.is_empty() { break }
            read.extend(some);
        }
        prop_assert_eq!(&read, &written);
        let end = written.last().map_or(0, |record| record.end);
        prop_assert_eq!(reader.position(), end);
        prop_assert_eq!(log_end(dir.path()).unwrap(), end);
    }
}

#[test]
fn a_torn_tail_is_cut_and_everything_before_it_kept() {
    let dir = tempfile::tempdir().unwrap();
    let written = write(dir.path(), None, &texts(6));
    let whole = fs::read(only_segment(dir.path())).unwrap();
    let (last, before) = written.split_last().unwrap();
    for cut in last.offset..last.end {
        fs::write(only_segment(dir.path()), &whole[..cut as usize]).unwrap();
        assert_eq!(records(dir.path(), 0), before, "cut at {cut}");
        assert_eq!(log_end(dir.path()).unwrap(), last.offset);
        let recovered = recover(dir.path()).unwrap();
        assert_eq!((recovered.end, recovered.torn_bytes), (last.offset, cut - last.offset));
        assert_eq!(fs::metadata(only_segment(dir.path())).unwrap().len(), last.offset);
        assert_eq!(recover(dir.path()).unwrap().torn_bytes, 0);
    }
}

#[test]
fn a_reader_at_an_unfinished_record_waits_and_then_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let written = write(dir.path(), None, &texts(6));
    let whole = fs::read(only_segment(dir.path())).unwrap();
    let (last, before) = written.split_last().unwrap();
    for cut in last.offset..last.end {
        fs::write(only_segment(dir.path()), &whole[..cut as usize]).unwrap();
        let mut reader = LogReader::open(dir.path(), 0).unwrap();
        assert_eq!(reader.read(usize::MAX).unwrap(), before);
        assert_eq!(reader.read(usize::MAX).unwrap(), []);
        // Also one that began beyond what was whole.
        let mut late = LogReader::open(dir.path(), u64::MAX).unwrap();
        assert_eq!(late.read(usize::MAX).unwrap(), []);
        fs::write(only_segment(dir.path()), &whole).unwrap();
        assert_eq!(reader.read(usize::MAX).unwrap(), std::slice::from_ref(last), "cut at {cut}");
        assert_eq!(late.read(usize::MAX).unwrap(), std::slice::from_ref(last), "cut at {cut}");
        assert_eq!(reader.skipped(), 0);
    }
}

#[test]
fn an_unfinished_record_that_was_taken_back_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let written = write(dir.path(), None, &texts(3));
    let replaced = write(other.path(), None, &[texts(2), vec![b"something else entirely".to_vec()]].concat());
    let whole = fs::read(only_segment(dir.path())).unwrap();
    fs::write(only_segment(dir.path()), &whole[..whole.len() - 1]).unwrap();
    let mut reader = LogReader::open(dir.path(), 0).unwrap();
    assert_eq!(reader.read(usize::MAX).unwrap(), written[..2]);
    assert_eq!(reader.read(usize::MAX).unwrap(), []);
    fs::copy(only_segment(other.path()), only_segment(dir.path())).unwrap();
    assert_eq!(reader.read(usize::MAX).unwrap(), replaced[2..]);
}

#[test]
fn a_flipped_bit_costs_the_record_it_is_in_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let written = write(dir.path(), None, &texts(5));
    let whole = fs::read(only_segment(dir.path())).unwrap();
    for byte in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[byte] ^= 0x10;
        fs::write(only_segment(dir.path()), &flipped).unwrap();
        let hit = written.iter().position(|record| (byte as u64) < record.end).unwrap();
        // The version byte: a record of a layout to come is an error, not damage.
        if byte as u64 == written[hit].offset + 2 {
            let mut reader = LogReader::open(dir.path(), written[hit].offset).unwrap();
            let error = reader.read(usize::MAX).unwrap_err();
            assert!(error.to_string().contains("layout 17"), "{error}");
            continue;
        }
        let mut expected = written.clone();
        expected.remove(hit);
        assert_eq!(records(dir.path(), 0), expected, "byte {byte}");
        // Only damage in the last record looks like a tear.
        let end = recover(dir.path()).unwrap().end;
        let last = expected.last().unwrap().end;
        assert_eq!(end, if hit == 4 { last } else { written[4].end });
    }
}

#[test]
fn a_reader_may_begin_at_any_byte_even_when_the_log_contains_itself() {
    let dir = tempfile::tempdir().unwrap();
    let inner = {
        let inner = tempfile::tempdir().unwrap();
        write(inner.path(), None, &texts(4));
        fs::read(only_segment(inner.path())).unwrap()
    };
    let payloads = [texts(3), vec![inner.clone()], texts(2), vec![inner[7..].to_vec(), inner]].concat();
    for segment_bytes in [None, Some(150)] {
        let dir = dir.path().join(format!("{segment_bytes:?}"));
        fs::create_dir(&dir).unwrap();
        let written = write(&dir, segment_bytes, &payloads);
        let end = written.last().unwrap().end;
        for from in 0..end + 40 {
            let expected: Vec<_> = written.iter().filter(|record| record.offset >= from).cloned().collect();
            let mut reader = LogReader::open(&dir, from).unwrap();
            let mut read = Vec::new();
            loop {
                let some = reader.read(100).unwrap();
                if some.is_empty() {
                    break;
                }
                read.extend(some);
            }
            assert_eq!(read, expected, "from {from}");
            assert_eq!(reader.position(), end, "from {from}");
        }
    }
}

#[test]
fn records_larger_than_a_block_are_read_and_found() {
    let dir = tempfile::tempdir().unwrap();
    let long = vec![0xF0; 700_000];
    let written = write(dir.path(), None, &[b"a".to_vec(), long.clone(), b"b".to_vec(), long, b"c".to_vec()]);
    assert_eq!(records(dir.path(), 0), written);
    assert_eq!(records(dir.path(), written[1].offset + 1), written[2..]);
    assert_eq!(records(dir.path(), written[2].offset), written[2..]);
    assert_eq!(log_end(dir.path()).unwrap(), written[4].end);
    // The tear is longer than a block as well.
    let whole = fs::read(only_segment(dir.path())).unwrap();
    fs::write(only_segment(dir.path()), &whole[..written[3].end as usize - 5]).unwrap();
    assert_eq!(records(dir.path(), 0), written[..3]);
    assert_eq!(recover(dir.path()).unwrap().end, written[3].offset);
}

#[test]
fn a_tail_of_zeros_as_a_power_cut_leaves_it_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let written = write(dir.path(), None, &texts(4));
    let mut bytes = fs::read(only_segment(dir.path())).unwrap();
    bytes.extend([0; 5000]);
    fs::write(only_segment(dir.path()), &bytes).unwrap();
    assert_eq!(records(dir.path(), 0), written);
    let recovered = recover(dir.path()).unwrap();
    assert_eq!((recovered.end, recovered.torn_bytes), (written[3].end, 5000));
}

#[test]
fn an_empty_log_and_an_absent_one_have_nothing_and_can_be_followed() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(log_end(dir.path()).unwrap(), 0);
    assert_eq!(recover(dir.path()).unwrap().end, 0);
    let mut reader = LogReader::open(dir.path(), 0).unwrap();
    assert_eq!(reader.read(100).unwrap(), []);
    let mut log = LogWriter::create(dir.path(), None).unwrap();
    assert_eq!(reader.read(100).unwrap(), []);
    log.append(Stream::Stdout, 1, None, b"first").unwrap();
    assert_eq!(reader.read(100).unwrap().len(), 1);
}

#[test]
fn reading_takes_as_much_memory_for_a_long_log_as_for_a_short_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = LogWriter::create(dir.path(), Some(8 * 1024 * 1024)).unwrap();
    let line = vec![b'x'; 1000];
    let count = 60_000;
    for _ in 0..count {
        log.append(Stream::Stdout, 1, None, &line).unwrap();
    }
    let mut reader = LogReader::open(dir.path(), 0).unwrap();
    let mut read = 0;
    loop {
        let some = reader.read(32 * 1024).unwrap();
        if some.is_empty() {
            break;
        }
        let held: usize = some.iter().map(|record| record.payload.len()).sum();
        assert!(held < 40 * 1024, "{held}");
        read += some.len();
    }
    assert_eq!(read, count);
}
