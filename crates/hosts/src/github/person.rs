//! Who a token belongs to.

use serde::Deserialize;
use ureq::http::StatusCode;

use super::{Error, GitHub};
use crate::Secret;

const WHO: &str = "ask GitHub whose token it is";
const ADDRESSES: &str = "ask GitHub for your mail address";

/// Somebody at GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Person {
    /// Their name there.
    pub login: String,
}

#[derive(Deserialize)]
struct MailAddress {
    email: String,
    #[serde(default)]
    primary: bool,
}

impl GitHub {
    /// Returns who a token belongs to; none when it is not good, or no longer.
    pub fn person(&self, token: &Secret) -> Result<Option<Person>, Error> {
        // What cannot even be sent is no token.
        if token.reveal().is_empty() || !token.reveal().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(None);
        }
        let answer = self.ask(WHO, "/user", token)?;
        if answer.status == StatusCode::UNAUTHORIZED {
            return Ok(None);
        }
        answer.read().map(Some)
    }

    /// Returns the address that the person uses first, where the token may know it.
    pub fn primary_email(&self, token: &Secret) -> Result<Option<String>, Error> {
        let answer = self.ask(ADDRESSES, "/user/emails", token)?;
        // A token without that scope is told so by one of these.
        if matches!(answer.status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND) {
            return Ok(None);
        }
        let addresses: Vec<MailAddress> = answer.read()?;
        Ok(addresses.into_iter().find(|address| address.primary).map(|address| address.email))
    }
}
