//! Hosts outside, over HTTPS: where code lives and where messages go.
//!
//! Whatever is here knows repositories, people, pull requests and texts to send, and no task. Calls block; whoever
//! calls from an async runtime does so on a thread for that.

pub mod github;
mod omni;
mod secret;

pub use omni::{Instance, Omni, OmniError, Recipient};
pub use secret::Secret;
