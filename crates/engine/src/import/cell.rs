//! One value of a foreign row: the same thing in whatever spelling the product of the day wrote it.
//!
//! Ids are 16 bytes, a hyphenated text or 32 hex digits; moments come in three spellings, two of them in one column;
//! text may hold any bytes. Nothing here fails: what cannot be read is none, and the reader of the row says so.

use forge_model::Time;
use rusqlite::types::ValueRef;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Bytes(Vec<u8>),
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Int(number),
            ValueRef::Real(number) => Cell::Int(number as i64),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
        }
    }
}

impl Cell {
    /// A text; bytes that are none are shown as such.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Cell::Null => None,
            Cell::Int(number) => Some(number.to_string()),
            Cell::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// A text that is not blank.
    pub(super) fn some_text(&self) -> Option<String> {
        self.text().filter(|text| !text.trim().is_empty())
    }

    /// A number.
    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Cell::Int(number) => Some(*number),
            Cell::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
            Cell::Null => None,
        }
    }

    /// A yes or no; nothing is no.
    pub(super) fn flag(&self) -> bool {
        self.int().unwrap_or(0) != 0
    }

    /// An id, as our own are written: lower case with hyphens.
    pub(super) fn id(&self) -> Option<String> {
        let Cell::Bytes(bytes) = self else { return None };
        if bytes.len() == 16 {
            return Some(hyphenated(&hex(bytes)));
        }
        let text = std::str::from_utf8(bytes).ok()?.trim().to_ascii_lowercase();
        let is_hyphenated = text.len() == 36 && [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-');
        let digits = if is_hyphenated { text.replace('-', "") } else { text };
        (digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .then(|| hyphenated(&digits))
    }

    /// A moment.
    pub(super) fn time(&self) -> Option<Time> {
        let text = self.text()?;
        let text = text.trim();
        let day_and_rest = text.get(10..)?;
        let has_offset = day_and_rest.contains(['Z', 'z', '+', '-']);
        let whole = if has_offset { text.to_string() } else { format!("{text}Z") };
        whole.parse().ok()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hyphenated(digits: &str) -> String {
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Cell {
        Cell::Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn an_id_is_the_same_however_it_is_spelt_and_a_single_byte_is_none() {
        let wanted = Some("0a0b0c0d-1112-f314-0516-1718191a1b1c".to_string());
        let bytes =
            [0x0a, 0x0b, 0x0c, 0x0d, 0x11, 0x12, 0xf3, 0x14, 5, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c];
        assert_eq!(Cell::Bytes(bytes.to_vec()).id(), wanted);
        assert_eq!(text("0a0b0c0d-1112-f314-0516-1718191a1b1c").id(), wanted);
        assert_eq!(text("0A0B0C0D1112F31405161718191A1B1C").id(), wanted);
        assert_eq!(text("0a0b0c0d1112f31405161718191a1b1c").id(), wanted);
        assert_eq!(Cell::Bytes(vec![0]).id(), None);
        assert_eq!(text("0a0b0c0d-1112-f314-0516-1718191a1bZZ").id(), None);
        assert_eq!((Cell::Null.id(), Cell::Int(7).id()), (None, None));
    }

    #[test]
    fn every_spelling_of_a_moment_is_the_same_millisecond() {
        let wanted = Some(Time::from_millis(1_794_775_369_772));
        for spelt in [
            "2026-11-15 20:42:49.772",
            "2026-11-15T20:42:49.772553661+00:00",
            "2026-11-15T20:42:49.772Z",
            "2026-11-15T20:42:49.772553+00:00",
            "2026-11-15 20:42:49.772553661",
            "2026-11-15T21:42:49.772+01:00",
        ] {
            assert_eq!(text(spelt).time(), wanted, "{spelt}");
        }
        assert_eq!(text("2026-11-15 20:42:49").time(), Some(Time::from_millis(1_794_775_369_000)));
        assert_eq!((text("yesterday").time(), text("").time(), Cell::Null.time()), (None, None, None));
    }

    #[test]
    fn text_that_is_none_is_shown_as_such() {
        assert_eq!(Cell::Bytes(b"a\xffb".to_vec()).text().as_deref(), Some("a\u{fffd}b"));
        assert_eq!(text("  ").some_text(), None);
    }
}
