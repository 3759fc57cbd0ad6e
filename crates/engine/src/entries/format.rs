//! The entry cache of a run as bytes: records one after the other, and a slot for each entry that names the record
//! with its newest form. Knows nothing of what a record holds.
//!
//! `records` begins with 16 bytes, a magic and the number that this cache was given when it was made; then come
//! records, little endian throughout:
//!
//! ```text
//! magic u16 | kind u8 | packed u8 | length u32 | entries u32 | crc32 u32 | position in the log u64 | payload
//! ```
//!
//! A payload that is packed is its length before that, u32, and an LZ4 block. The checksum covers the record as it
//! stands without itself, and where it stands. `slots` begins with the same number and the
//! place of the newest checkpoint; then come the places of the entries' newest records, 8 bytes each.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use lz4_flex::block;

/// What both files begin with.
pub(super) const OPENING: u64 = 16;
const HEAD: usize = 24;
const FILE_MAGIC: [u8; 8] = *b"FENTRY2\n";
const MAGIC: [u8; 2] = [0xF0, 0xE7];

/// How much is read at a time.
const BLOCK: usize = 64 * 1024;

/// A payload shorter than this is not worth packing.
const PACKED_FROM: usize = 128;
/// No payload is longer, so a length beyond it is believed of nobody.
const LONGEST: usize = 1 << 30;

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Forms of entries.
    Entries = 1,
    /// All that the fold remembers at this place.
    Checkpoint = 2,
    /// The run is over and this is all.
    End = 3,
}

/// One record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    /// How many entries there are with it.
    pub(super) count: u32,
    /// How far the log was folded when it was written.
    pub(super) log: u64,
    /// How many bytes it takes.
    pub(super) size: u64,
    pub(super) payload: Vec<u8>,
}

/// Appends a record that will stand at `at`.
pub(super) fn encode(out: &mut Vec<u8>, at: u64, kind: Kind, count: u32, log: u64, payload: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[kind as u8, 0]);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&log.to_le_bytes());
    if payload.len() < PACKED_FROM {
        out.extend_from_slice(payload);
    } else {
        out[start + 3] = 1;
        out.extend_from_slice(&size_of(payload).to_le_bytes());
        let packed = out.len();
        out.resize(packed + block::get_maximum_output_size(payload.len()), 0);
        // There is room for the worst, so it never fails; a block of nothing would be damaged, not wrong.
        let length = block::compress_into(payload, &mut out[packed..]).unwrap_or_default();
        out.truncate(packed + length);
    }
    let length = size_of(&out[start + HEAD..]);
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    let crc = checksum(&out[start..], at);
    out[start + 12..start + 16].copy_from_slice(&crc.to_le_bytes());
}

fn size_of(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// What the first 16 bytes of the records are.
pub(super) fn opening(number: u64) -> [u8; OPENING as usize] {
    pair(u64::from_le_bytes(FILE_MAGIC), number)
}

/// Reads the number that a cache was given; none when this is none.
pub(super) fn number(records: &File) -> io::Result<Option<u64>> {
    let mut bytes = [0; OPENING as usize];
    match records.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok((bytes[..8] == FILE_MAGIC).then(|| long(&bytes, 8))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Two numbers as bytes.
pub(super) fn pair(first: u64, second: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    bytes
}

/// Reads up to so many numbers; fewer when the file ends before.
pub(super) fn longs(file: &File, at: u64, count: usize) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0; count * 8];
    let read = fill(file, at, &mut bytes)?;
    Ok(bytes[..read].chunks_exact(8).map(|eight| long(eight, 0)).collect())
}

/// The records of a cache, read a block at a time.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) file: File,
    block: Vec<u8>,
    block_at: u64,
}

impl Records {
    pub(super) fn new(file: File) -> Self {
        Self { file, block: Vec::new(), block_at: 0 }
    }

    /// Reads the record at a place; none when there is none, or not all of it.
    pub(super) fn at(&mut self, at: u64) -> io::Result<Option<Record>> {
        let held = at.checked_sub(self.block_at).and_then(|index| usize::try_from(index).ok());
        if let Some(bytes) = held.and_then(|index| self.block.get(index..))
            && let Parsed::Whole(record) = parse(bytes, at)
        {
            return Ok(Some(record));
        }
        // What is unfinished in a block is read again, never believed.
        let mut want = BLOCK;
        loop {
            self.block.resize(want, 0);
            self.block.shrink_to(want);
            self.block_at = at;
            let read = fill(&self.file, at, &mut self.block)?;
            self.block.truncate(read);
            match parse(&self.block, at) {
                Parsed::Whole(record) => return Ok(Some(record)),
                Parsed::Partial { needs } if read == want && needs > want => {
                    // A length that goes beyond the file is no reason to take so much memory.
                    if self.file.metadata()?.len() < at + needs as u64 {
                        return Ok(None);
                    }
                    want = needs;
                }
                Parsed::Partial { .. } | Parsed::Damaged => return Ok(None),
            }
        }
    }
}

enum Parsed {
    Whole(Record),
    Partial { needs: usize },
    Damaged,
}

fn parse(bytes: &[u8], at: u64) -> Parsed {
    if bytes.len() < HEAD {
        return Parsed::Partial { needs: HEAD };
    }
    if bytes[..2] != MAGIC {
        return Parsed::Damaged;
    }
    let kind = match bytes[2] {
        1 => Kind::Entries,
        2 => Kind::Checkpoint,
        3 => Kind::End,
        _ => return Parsed::Damaged,
    };
    let needs = HEAD + word(bytes, 4) as usize;
    let Some(record) = bytes.get(..needs) else { return Parsed::Partial { needs } };
    if word(bytes, 12) != checksum(record, at) {
        return Parsed::Damaged;
    }
    let payload = match bytes[3] {
        0 => Some(record[HEAD..].to_vec()),
        _ => unpacked(&record[HEAD..]),
    };
    let Some(payload) = payload else { return Parsed::Damaged };
    Parsed::Whole(Record { kind, count: word(bytes, 8), log: long(bytes, 16), size: needs as u64, payload })
}

fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let length = Some(word(packed.get(..4)?, 0) as usize).filter(|length| *length <= LONGEST)?;
    block::decompress(&packed[4..], length).ok().filter(|payload| payload.len() == length)
}

fn checksum(record: &[u8], at: u64) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&at.to_le_bytes());
    crc.update(&record[..12]);
    crc.update(&record[16..]);
    crc.finalize()
}

fn fill(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(&mut bytes[read..], at + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut long = [0; 8];
    long.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_record_is_read_at_its_own_place_only_and_only_whole() {
        read_at_its_own_place(b"hello");
        read_at_its_own_place("hello, hello, hello, ".repeat(20).as_bytes());
    }

    fn read_at_its_own_place(payload: &[u8]) {
        let mut bytes = opening(7).to_vec();
        encode(&mut bytes, OPENING, Kind::Entries, 3, 99, payload);
        let size = bytes.len() as u64 - OPENING;
        let whole = Record { kind: Kind::Entries, count: 3, log: 99, size, payload: payload.to_vec() };
        assert_eq!(Records::new(file(&bytes)).at(OPENING).unwrap(), Some(whole));
        assert_eq!(number(&file(&bytes)).unwrap(), Some(7));
        for cut in 0..bytes.len() {
            assert_eq!(Records::new(file(&bytes[..cut])).at(OPENING).unwrap(), None, "cut at {cut}");
        }
        let mut moved = vec![0; 8];
        moved.extend_from_slice(&bytes);
        assert_eq!(Records::new(file(&moved)).at(OPENING + 8).unwrap(), None);
        for bit in OPENING as usize * 8..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // The byte that says nothing is covered, too.
            assert_eq!(Records::new(file(&flipped)).at(OPENING).unwrap(), None, "bit {bit}");
        }
    }

    #[test]
    fn a_record_longer_than_a_block_is_read_whole() {
        // Words that no packing makes shorter.
        let mut word = 1_u64;
        let mut next = || {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (word >> 56) as u8
        };
        let long: Vec<u8> = (0..3 * BLOCK).map(|_| next()).collect();
        let mut bytes = opening(1).to_vec();
        encode(&mut bytes, OPENING, Kind::Entries, 0, 1, &long);
        let second = bytes.len() as u64;
        assert!(second as usize > 3 * BLOCK);
        encode(&mut bytes, second, Kind::End, 1, 2, b"");
        let mut records = Records::new(file(&bytes));
        assert_eq!(records.at(OPENING).unwrap().unwrap().payload, long);
        assert_eq!(records.at(second).unwrap().unwrap().kind, Kind::End);
    }
}
