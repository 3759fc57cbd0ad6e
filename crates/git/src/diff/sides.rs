//! What a file's content is, on one side of a comparison.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Content;

/// Git takes a file for binary when there is a zero byte in its beginning.
const LOOKED_AT: usize = 8000;

/// A content, and enough of it to tell whether another is the same.
#[derive(Debug)]
pub(super) struct Side {
    body: Body,
    /// None when it was not read.
    print: Option<Print>,
    /// It may have changed since it was read, without looking different.
    pub(super) is_racy: bool,
}

#[derive(Debug)]
enum Body {
    Text(String),
    Binary,
    LeftOut,
}

/// Two contents of the same length and hash are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Print {
    length: usize,
    hash: u64,
}

impl Side {
    /// A content that was read.
    pub(super) fn read(bytes: Vec<u8>) -> Side {
        let print = Some(print(&bytes));
        let body = if is_binary(&bytes) { Body::Binary } else { Body::Text(text(bytes)) };
        Side { body, print, is_racy: false }
    }

    /// A content that is not told.
    pub(super) fn left_out() -> Side {
        Side { body: Body::LeftOut, print: None, is_racy: false }
    }

    /// The same content without what it says.
    pub(super) fn without_content(&self) -> Side {
        let body = match self.body {
            Body::Binary => Body::Binary,
            Body::Text(_) | Body::LeftOut => Body::LeftOut,
        };
        Side { body, print: self.print, is_racy: self.is_racy }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            Body::Binary | Body::LeftOut => None,
        }
    }

    pub(super) fn content(&self) -> Content<'_> {
        match &self.body {
            Body::Text(text) => Content::Text(text),
            Body::Binary => Content::Binary,
            Body::LeftOut => Content::LeftOut,
        }
    }

    pub(super) fn print(&self) -> Option<Print> {
        self.print
    }

    pub(super) fn is_known_to_equal(&self, other: &Side) -> bool {
        let told = std::mem::discriminant(&self.body) == std::mem::discriminant(&other.body);
        told && self.print.is_some() && self.print == other.print
    }
}

impl Print {
    pub(super) fn is_empty(self) -> bool {
        self.length == 0
    }
}

/// What a repository inside another is shown as.
pub(super) fn of_repository(oid: &str) -> Arc<Side> {
    Arc::new(Side::read(format!("Subproject commit {oid}\n").into_bytes()))
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn print(bytes: &[u8]) -> Print {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Print { length: bytes.len(), hash: hasher.finish() }
}
