//! Logging in at GitHub by a device code, and whether the token that is stored is good.
//!
//! A login that waits is kept in memory only: it ends with the server, and the person starts another. The token
//! goes into `config.json` and nowhere else. GitHub is never asked more often than it wants to be.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forge_hosts::Secret;
use forge_hosts::github::{self as host, GitHub, Poll};
use serde_json::{Map, Value, json};
use tracing::warn;

use crate::background::blocking;
use crate::error::whole;
use crate::turns::Turns;
use crate::{ConfigChange, Engine, Error, Result};

/// How long GitHub may take to answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often GitHub is asked what became of pull requests.
const POLL: Duration = Duration::from_secs(60);
/// How long an answer about a token is good for.
const FRESH: Duration = Duration::from_secs(60);
/// A poll that comes early by less than this waits for its time, as clients count it from another moment.
const EARLY: Duration = Duration::from_secs(1);
/// What GitHub wants added to the interval when it says no number.
const SLOWER: Duration = Duration::from_secs(5);

/// Which GitHub, and as which app.
#[derive(Debug, Clone)]
pub struct GitHubOptions {
    /// The id of the OAuth app that people log in with; without one there is no login.
    pub client_id: Option<String>,
    pub address: host::Address,
    /// How long a call may take.
    pub patience: Duration,
    /// A token that the person's environment holds, for when the settings have none.
    pub token: Option<Secret>,
    /// GitHub's own program, which is asked for a token when nothing else has one.
    pub gh: Option<PathBuf>,
    /// How often GitHub is asked what became of pull requests.
    pub poll: Duration,
}

impl Default for GitHubOptions {
    fn default() -> Self {
        let address = host::Address::default();
        Self { client_id: None, address, patience: PATIENCE, token: None, gh: None, poll: POLL }
    }
}

/// What the person needs to know to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHubLogin {
    /// What they type.
    pub user_code: String,
    /// Where they type it.
    pub verification_uri: String,
    pub expires_in: Duration,
    /// How long a client waits between two polls.
    pub interval: Duration,
}

/// How far a login is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginProgress {
    /// The poll came too early.
    SlowDown,
    /// The person has not confirmed it yet.
    Pending,
    /// The token is stored.
    Done,
}

/// What the engine knows about GitHub while it runs.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) client: GitHub,
    pub(crate) options: GitHubOptions,
    /// Held while a pull request of an attempt is opened or attached.
    pub(crate) turns: Turns,
    /// How many pushes brought something new. What was asked before one says nothing about what is there after it.
    pub(crate) pushes: AtomicU64,
    login: Mutex<Option<Waiting>>,
    checked: tokio::sync::Mutex<Option<Checked>>,
}

/// A login that waits for the person.
#[derive(Debug)]
struct Waiting {
    device_code: Secret,
    /// The token, when GitHub has given it out and it is not stored yet. It is given out once.
    granted: Option<Secret>,
    expires: Instant,
    interval: Duration,
    /// When GitHub may be asked next.
    next: Instant,
}

#[derive(Debug)]
struct Checked {
    token: Secret,
    good: bool,
    at: Instant,
}

/// What a poll does when it comes.
#[derive(Debug)]
enum Turn {
    TooEarly,
    Ask { device_code: Secret, wait: Duration },
    Keep { device_code: Secret, token: Secret },
}

impl Host {
    pub(crate) fn new(options: GitHubOptions) -> Self {
        Self {
            client: GitHub::new(options.address.clone(), options.patience),
            options,
            turns: Turns::default(),
            pushes: AtomicU64::default(),
            login: Mutex::default(),
            checked: tokio::sync::Mutex::default(),
        }
    }

    fn client_id(&self) -> Result<String> {
        self.options.client_id.clone().ok_or_else(|| {
            Error::conflict(
                "no GitHub app is set up to log in with: start Forge with GITHUB_CLIENT_ID set to the id of an \
                 OAuth app that has the device flow enabled, or put a personal access token into `github.pat` of \
                 the settings",
            )
            .with_code("setup_required")
        })
    }

    fn login(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.login.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the login with this code, unless another has taken its place.
    fn of<T>(&self, device_code: &Secret, change: impl FnOnce(&mut Waiting) -> T) -> Option<T> {
        self.login().as_mut().filter(|login| login.device_code == *device_code).map(change)
    }

    fn forget(&self, device_code: &Secret) {
        self.login().take_if(|login| login.device_code == *device_code);
    }

    /// Says what a poll at this moment does.
    fn turn(&self, now: Instant) -> Result<Turn> {
        let mut slot = self.login();
        let Some(login) = slot.as_mut() else {
            return Err(Error::conflict(
                "Device flow not started: a login ends with the server it was started on; start one first",
            ));
        };
        if let Some(token) = &login.granted {
            return Ok(Turn::Keep { device_code: login.device_code.clone(), token: token.clone() });
        }
        if now >= login.expires {
            *slot = None;
            return Err(expired());
        }
        let wait = login.next.saturating_duration_since(now);
        if wait > EARLY {
            return Ok(Turn::TooEarly);
        }
        // Set before the question goes out, so that a second caller does not ask at the same time.
        login.next = now + wait + login.interval;
        Ok(Turn::Ask { device_code: login.device_code.clone(), wait })
    }
}

impl Engine {
    /// Starts a login at GitHub. One that was waiting is given up.
    pub async fn start_github_login(&self) -> Result<GitHubLogin> {
        let client_id = self.inner.github.client_id()?;
        let client = self.inner.github.client.clone();
        let started = blocking(move || client.start_login(&client_id)).await?.map_err(trouble)?;
        let now = Instant::now();
        *self.inner.github.login() = Some(Waiting {
            device_code: started.device_code,
            granted: None,
            expires: now + started.expires_in,
            interval: started.interval,
            next: now + started.interval,
        });
        Ok(GitHubLogin {
            user_code: started.user_code,
            verification_uri: started.verification_uri,
            expires_in: started.expires_in,
            interval: started.interval,
        })
    }

    /// Asks how far the login is, and stores the token once there is one.
    pub async fn poll_github_login(&self) -> Result<LoginProgress> {
        let client_id = self.inner.github.client_id()?;
        let turn = self.inner.github.turn(Instant::now())?;
        let engine = self.clone();
        let polled = async move {
            match turn {
                Turn::TooEarly => Ok(LoginProgress::SlowDown),
                Turn::Keep { device_code, token } => engine.keep_login(&device_code, token).await,
                Turn::Ask { device_code, wait } => {
                    tokio::time::sleep(wait).await;
                    engine.ask_login(client_id, device_code).await
                }
            }
        };
        // A token is given out once, so a caller who hangs up does not stop this.
        let (answer, answered) = tokio::sync::oneshot::channel();
        self.aside(async move {
            // The caller may have gone away; the token is kept all the same.
            let _ = answer.send(polled.await);
        });
        answered
            .await
            .map_err(|_| Error::unavailable("the login at GitHub was broken off because Forge stops"))?
    }

    /// Says whether the stored token is good. Without one it is not, and nobody is asked.
    pub async fn github_token_is_good(&self) -> Result<bool> {
        let Some(token) = self.github_token().await? else { return Ok(false) };
        let mut checked = self.inner.github.checked.lock().await;
        if let Some(known) = &*checked
            && known.token == token
            && known.at.elapsed() < FRESH
        {
            return Ok(known.good);
        }
        let (client, asked) = (self.inner.github.client.clone(), token.clone());
        let good = blocking(move || client.person(&asked)).await?.map_err(trouble)?.is_some();
        *checked = Some(Checked { token, good, at: Instant::now() });
        Ok(good)
    }

    /// Returns the token of the settings.
    async fn github_token(&self) -> Result<Option<Secret>> {
        let engine = self.clone();
        Ok(github_token(&blocking(move || engine.stored_config()).await??))
    }

    async fn ask_login(&self, client_id: String, device_code: Secret) -> Result<LoginProgress> {
        let (client, code) = (self.inner.github.client.clone(), device_code.clone());
        let host = &self.inner.github;
        match blocking(move || client.poll_login(&client_id, &code)).await?.map_err(trouble)? {
            Poll::Pending => Ok(LoginProgress::Pending),
            Poll::SlowDown(interval) => {
                host.of(&device_code, |login| {
                    login.interval = interval.unwrap_or(login.interval + SLOWER);
                    login.next = Instant::now() + login.interval;
                });
                Ok(LoginProgress::SlowDown)
            }
            Poll::Denied => {
                host.forget(&device_code);
                Err(Error::conflict("the login was refused at GitHub; start it again to be asked once more"))
            }
            Poll::Expired => {
                host.forget(&device_code);
                Err(expired())
            }
            Poll::Granted(token) => {
                host.of(&device_code, |login| login.granted = Some(token.clone()));
                self.keep_login(&device_code, token).await
            }
        }
    }

    /// Stores a token at once, and then what can be learnt about its owner.
    async fn keep_login(&self, device_code: &Secret, token: Secret) -> Result<LoginProgress> {
        let stored = json!({
            "github": {"oauth_token": token.reveal(), "username": null, "primary_email": null},
            "github_login_acknowledged": true,
        });
        self.change_config(change(stored)?).await?;
        self.inner.github.forget(device_code);
        let client = self.inner.github.client.clone();
        let learnt = blocking(move || {
            let person = client.person(&token)?;
            let email = client.primary_email(&token).unwrap_or_else(|error| {
                warn!("the mail address stays unknown: {}", whole(&error));
                None
            });
            Ok::<_, host::Error>((person, email))
        });
        match learnt.await? {
            Ok((person, email)) => {
                let login = person.map(|person| person.login);
                let learnt = json!({"github": {"username": login, "primary_email": email}});
                self.change_config(change(learnt)?).await?;
            }
            Err(error) => warn!("the name at GitHub stays unknown: {}", whole(&error)),
        }
        Ok(LoginProgress::Done)
    }
}

/// Finds the token in the settings: the person's own before the one of a login.
pub(crate) fn github_token(config: &Map<String, Value>) -> Option<Secret> {
    let text = |key: &str| config.get("github")?.get(key)?.as_str().filter(|text| !text.is_empty());
    text("pat").or_else(|| text("oauth_token")).map(Secret::new)
}

fn change(value: Value) -> Result<ConfigChange> {
    match value {
        Value::Object(map) => ConfigChange::new(map),
        _ => Err(Error::internal("a change of settings is no object")),
    }
}

fn expired() -> Error {
    Error::conflict("nobody confirmed the login at GitHub in time; start it again for a new code")
}

/// GitHub's trouble is nobody's mistake here.
pub(crate) fn trouble(error: host::Error) -> Error {
    Error::unavailable(whole(&error)).with_source(error)
}
