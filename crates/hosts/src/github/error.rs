//! Why GitHub did not do what was asked, without a word of what was sent.

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
}
