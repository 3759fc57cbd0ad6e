//! Logging in by a device code: the person types a short code at GitHub, and we ask until they have.

use std::time::Duration;

use serde::Deserialize;

use super::{Error, GitHub};
use crate::Secret;

const START: &str = "start a login at GitHub";
const POLL: &str = "ask GitHub whether the login was confirmed";

/// What Forge wants to do in the person's name: know their address, and reach their repositories.
const SCOPES: &str = "user:email repo";

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// How long a login may be kept open, whatever GitHub says: no number from outside is trusted to be small.
const LONGEST: u64 = 24 * 60 * 60;
/// GitHub's own default, where it names no interval.
const USUAL_INTERVAL: u64 = 5;

/// A login that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLogin {
    /// What the login is asked about with. It is worth a token, so it stays here.
    pub device_code: Secret,
    /// What the person types.
    pub user_code: String,
    /// Where they type it.
    pub verification_uri: String,
    pub expires_in: Duration,
    /// How long to wait between two polls.
    pub interval: Duration,
}

/// What became of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Poll {
    /// The person has not answered yet.
    Pending,
    /// We asked too often; from now on this long between two polls, where GitHub says how long.
    SlowDown(Option<Duration>),
    /// The person said yes.
    Granted(Secret),
    /// The person said no.
    Denied,
    /// Nobody answered in time.
    Expired,
}

#[derive(Deserialize)]
struct Started {
    device_code: Option<Secret>,
    user_code: Option<String>,
    verification_uri: Option<String>,
    expires_in: Option<u64>,
    interval: Option<u64>,
    #[serde(flatten)]
    trouble: Trouble,
}

#[derive(Deserialize)]
struct Polled {
    access_token: Option<Secret>,
    interval: Option<u64>,
    #[serde(flatten)]
    trouble: Trouble,
}

#[derive(Deserialize)]
struct Trouble {
    error: Option<String>,
    error_description: Option<String>,
}

impl GitHub {
    /// Opens a login for the app with this id.
    pub fn start_login(&self, client_id: &str) -> Result<DeviceLogin, Error> {
        let form = [("client_id", client_id), ("scope", SCOPES)];
        let answer = self.submit(START, "/login/device/code", &form)?;
        let started: Started = answer.read()?;
        if let Some(error) = started.trouble.told(START) {
            return Err(error);
        }
        let (Some(device_code), Some(user_code), Some(verification_uri)) =
            (started.device_code, started.user_code, started.verification_uri)
        else {
            return Err(answer.nonsense("it names no code"));
        };
        // A page shows this as a link.
        if !verification_uri.starts_with("https://") && !verification_uri.starts_with("http://") {
            return Err(answer.nonsense("the place to type the code at is no web page"));
        }
        Ok(DeviceLogin {
            device_code,
            user_code,
            verification_uri,
            expires_in: seconds(started.expires_in.unwrap_or(LONGEST)),
            interval: seconds(started.interval.unwrap_or(USUAL_INTERVAL)),
        })
    }

    /// Asks what became of a login.
    pub fn poll_login(&self, client_id: &str, device_code: &Secret) -> Result<Poll, Error> {
        let form = [("client_id", client_id), ("device_code", device_code.reveal()), ("grant_type", GRANT)];
        let answer = self.submit(POLL, "/login/oauth/access_token", &form)?;
        let polled: Polled = answer.read()?;
        match polled.trouble.error.as_deref() {
            None => match polled.access_token.filter(|token| !token.reveal().is_empty()) {
                Some(token) => Ok(Poll::Granted(token)),
                None => Err(answer.nonsense("it holds neither a token nor a reason")),
            },
            Some("authorization_pending") => Ok(Poll::Pending),
            Some("slow_down") => Ok(Poll::SlowDown(polled.interval.map(seconds))),
            Some("access_denied") => Ok(Poll::Denied),
            Some("expired_token" | "incorrect_device_code") => Ok(Poll::Expired),
            Some(_) => Err(polled.trouble.told(POLL).unwrap_or_else(|| answer.refused())),
        }
    }
}

impl Trouble {
    fn told(&self, act: &'static str) -> Option<Error> {
        let short = |text: &str| text.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
        let code = short(self.error.as_deref()?);
        let told = self.error_description.as_deref().map(|told| format!(": {}", short(told)));
        Some(Error::Told { act, code, told: told.unwrap_or_default() })
    }
}

fn seconds(number: u64) -> Duration {
    Duration::from_secs(number.min(LONGEST))
}
