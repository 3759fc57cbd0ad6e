//! Why GitHub did not do what was asked, without a word of what was sent.

use std::time::Duration;

/// Why a call of GitHub failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not {act}: {host} cannot be reached")]
    Unreachable { act: &'static str, host: String, source: Box<ureq::Error> },
    #[error("could not {act}: {host} answered with status {status}")]
    Refused { act: &'static str, host: String, status: u16 },
    #[error("could not {act}: {host} gave an answer that makes no sense ({why})")]
    Nonsense { act: &'static str, host: String, why: String },
    /// What GitHub itself says is wrong, such as an app that it does not know.
    #[error("could not {act}: GitHub says {code:?}{told}")]
    Told { act: &'static str, code: String, told: String },
    #[error("could not {act}: {host} does not take the token; it is wrong, or has expired")]
    TokenInvalid { act: &'static str, host: String },
    #[error("could not {act}: the token may not do that at {host}{told}")]
    NotAllowed { act: &'static str, host: String, told: String },
    #[error("could not {act}: {host} has no such repository, or does not show it to this token")]
    NotFound { act: &'static str, host: String },
    /// What was asked for cannot be, in GitHub's words.
    #[error("could not {act}: {host} says: {told}")]
    Impossible { act: &'static str, host: String, told: String },
    #[error("could not {act}: {host} wants no more calls for now{}", until(*wait))]
    TooMany { act: &'static str, host: String, wait: Option<Duration> },
}

fn until(wait: Option<Duration>) -> String {
    wait.map_or(String::new(), |wait| format!("; try again in {} s", wait.as_secs()))
}
