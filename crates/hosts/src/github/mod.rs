//! GitHub: logging in by a code that the person types there, who they are, and their pull requests.
//!
//! Nothing is kept here, and no token is ever part of an error. A redirect is never followed: a token goes to
//! the host it is meant for and to no other.

mod address;
mod call;
mod checks;
mod device;
mod error;
mod person;
mod pulls;
mod repository;

use std::time::Duration;

pub use address::{Address, AddressError};
pub use checks::Checks;
pub use device::{DeviceLogin, Poll};
pub use error::Error;
pub use person::Person;
pub use pulls::{NewPullRequest, PullRequest, PullState};
pub use repository::Repository;

/// GitHub, or a server that speaks like it.
#[derive(Debug, Clone)]
pub struct GitHub {
    agent: ureq::Agent,
    address: Address,
}

impl GitHub {
    /// Makes a client that gives each call this long. Nothing is sent yet.
    pub fn new(address: Address, patience: Duration) -> Self {
        Self { agent: call::agent(&address, patience), address }
    }
}
