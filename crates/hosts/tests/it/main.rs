//! The hosts, spoken to over real connections.

#![expect(clippy::unwrap_used, reason = "clippy lets tests unwrap, but not the functions that they share")]

mod checks;
mod described;
mod github;
mod played_github;
mod pulls;
