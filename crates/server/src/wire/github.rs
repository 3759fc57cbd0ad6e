//! A login at GitHub on the wire. The device code is not part of it: it is worth a token.

use forge_engine::{GitHubLogin, LoginProgress};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeviceFlowStart {
    user_code: String,
    verification_uri: String,
    /// Seconds until the code is of no use.
    expires_in: u64,
    /// Seconds to wait between two polls.
    interval: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum DevicePollStatus {
    SlowDown,
    AuthorizationPending,
    Success,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum CheckTokenResponse {
    Valid,
    Invalid,
}

impl From<GitHubLogin> for DeviceFlowStart {
    fn from(login: GitHubLogin) -> Self {
        Self {
            user_code: login.user_code,
            verification_uri: login.verification_uri,
            expires_in: login.expires_in.as_secs(),
            interval: login.interval.as_secs(),
        }
    }
}

impl From<LoginProgress> for DevicePollStatus {
    fn from(progress: LoginProgress) -> Self {
        match progress {
            LoginProgress::SlowDown => Self::SlowDown,
            LoginProgress::Pending => Self::AuthorizationPending,
            LoginProgress::Done => Self::Success,
        }
    }
}

impl From<bool> for CheckTokenResponse {
    fn from(good: bool) -> Self {
        if good { Self::Valid } else { Self::Invalid }
    }
}
