//! One record of the log as bytes: a header of 28 bytes, then the payload.
//!
//! ```text
//! magic u16 | version u8 | stream u8 | length u32 | offset u64 | time in us u64 | crc32 u32 | payload
//! ```
//!
//! Little endian throughout. The checksum covers the header before it and the payload. `offset` is
//! the record's own position in the whole log: a reader that starts in the middle knows a true
//! record from a copy of one that an agent printed, because the copy stands somewhere else.

use crate::layout::RECORD;

pub(crate) const HEADER: usize = 28;
/// Far above any chunk of output (64 KB), so that a long prompt with pictures fits in one record.
pub const MAX_PAYLOAD: usize = 32 * 1024 * 1024;
pub(crate) const MAGIC: [u8; 2] = [0xF0, 0x9E];

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    Stdout = 1,
    Stderr = 2,
    /// What was sent to the agent's stdin, after its ordinal.
    Input = 3,
    /// What the engine wanted journalled, after its ordinal.
    Note = 4,
    /// A notice of the shim itself, as JSON.
    Shim = 5,
    /// The agent's stdin was closed; only an ordinal.
    InputClosed = 6,
}

impl Stream {
    /// Whether records of this stream start with an ordinal.
    pub fn is_ordered(self) -> bool {
        matches!(self, Self::Input | Self::Note | Self::InputClosed)
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Stdout,
            2 => Self::Stderr,
            3 => Self::Input,
            4 => Self::Note,
            5 => Self::Shim,
            6 => Self::InputClosed,
            _ => return None,
        })
    }
}

/// A record as it stands in a buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) stream: Stream,
    pub(crate) at_us: u64,
    pub(crate) payload: &'a [u8],
}

impl Frame<'_> {
    pub(crate) fn len(&self) -> usize {
        HEADER + self.payload.len()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    Whole(Frame<'a>),
    /// Nothing contradicts a record here, but it is not all there: `needs` bytes from its start.
    Partial {
        needs: usize,
    },
    /// A record of another layout that states this very position.
    Foreign {
        version: u8,
    },
    Damaged,
}

/// Replaces the content of `out` with one record; the payload is given in parts.
pub(crate) fn encode(out: &mut Vec<u8>, stream: Stream, offset: u64, at_us: u64, parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    debug_assert!(len <= MAX_PAYLOAD);
    out.clear();
    out.extend_from_slice(&MAGIC);
    out.push(RECORD);
    out.push(stream as u8);
    out.extend_from_slice(&(len as u32).to_le_bytes());
    out.extend_from_slice(&offset.to_le_bytes());
    out.extend_from_slice(&at_us.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    for part in parts {
        out.extend_from_slice(part);
    }
    let crc = checksum(out);
    out[24..HEADER].copy_from_slice(&crc.to_le_bytes());
}

/// Reads what stands at the start of `bytes`, which is position `at` of the log.
pub(crate) fn parse(bytes: &[u8], at: u64) -> Parsed<'_> {
    // A torn header is compared as far as it goes: zeros after a power cut are damage, not a promise.
    let seen = bytes.len().min(MAGIC.len());
    if bytes[..seen] != MAGIC[..seen] {
        return Parsed::Damaged;
    }
    if bytes.len() < HEADER {
        let stated = bytes.get(8..).unwrap_or_default();
        let stated = &stated[..stated.len().min(8)];
        return if at.to_le_bytes().starts_with(stated) {
            Parsed::Partial { needs: HEADER }
        } else {
            Parsed::Damaged
        };
    }
    if long(bytes, 8) != at {
        return Parsed::Damaged;
    }
    if bytes[2] != RECORD {
        return Parsed::Foreign { version: bytes[2] };
    }
    let Some(stream) = Stream::from_byte(bytes[3]) else { return Parsed::Damaged };
    let len = word(bytes, 4) as usize;
    if len > MAX_PAYLOAD || (stream.is_ordered() && len < 8) {
        return Parsed::Damaged;
    }
    let Some(record) = bytes.get(..HEADER + len) else {
        return Parsed::Partial { needs: HEADER + len };
    };
    if word(bytes, 24) != checksum(record) {
        return Parsed::Damaged;
    }
    Parsed::Whole(Frame { stream, at_us: long(bytes, 16), payload: &record[HEADER..] })
}

fn checksum(record: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&record[..24]);
    crc.update(&record[HEADER..]);
    crc.finalize()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

pub(crate) fn long(bytes: &[u8], at: usize) -> u64 {
    let mut long = [0; 8];
    long.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(long)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn streams() -> impl Strategy<Value = Stream> {
        (1_u8..=6).prop_map(|byte| Stream::from_byte(byte).unwrap())
    }

    proptest! {
        #[test]
        fn a_record_reads_back_as_it_was_written(
            stream in streams(), offset: u64, at_us: u64, payload in prop::collection::vec(any::<u8>(), 8..300),
        ) {
            let mut bytes = Vec::new();
            encode(&mut bytes, stream, offset, at_us, &[&payload[..3], &payload[3..]]);
            prop_assert_eq!(parse(&bytes, offset), Parsed::Whole(Frame { stream, at_us, payload: &payload }));
        }

        #[test]
        fn a_record_anywhere_but_at_its_own_position_is_not_one(offset: u64, elsewhere: u64) {
            prop_assume!(offset != elsewhere);
            let mut bytes = Vec::new();
            encode(&mut bytes, Stream::Stdout, offset, 1, &[b"text"]);
            prop_assert_eq!(parse(&bytes, elsewhere), Parsed::Damaged);
        }
    }

    #[test]
    fn every_prefix_of_a_record_is_partial_and_every_flipped_bit_is_noticed() {
        let mut bytes = Vec::new();
        encode(&mut bytes, Stream::Note, 77, 5, &[&1_u64.to_le_bytes(), b"hello"]);
        for cut in 0..bytes.len() {
            assert!(matches!(parse(&bytes[..cut], 77), Parsed::Partial { .. }), "cut at {cut}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(parse(&flipped, 77), Parsed::Whole(_)), "bit {bit}");
        }
    }

    #[test]
    fn a_record_of_a_later_layout_is_named_not_skipped() {
        let mut bytes = Vec::new();
        encode(&mut bytes, Stream::Stdout, 0, 5, &[b"x"]);
        bytes[2] = 2;
        assert_eq!(parse(&bytes, 0), Parsed::Foreign { version: 2 });
    }
}
