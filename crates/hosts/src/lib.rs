//! Hosts outside, over HTTPS: where code lives and where messages go.
//!
//! Whatever is here knows repositories, pull requests and texts to send, and no task.

mod omni;

pub use omni::{Instance, Omni, OmniError, Recipient};
