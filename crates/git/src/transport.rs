//! Speaking to a remote: what has to be said to git so that no command of the repository's config runs on the way,
//! nobody is asked for a password, and everything ends in time.
//!
//! Credential helpers, proxies and ssh settings of the person's global and the system's config are theirs and stay.
//! Those of the repository's own config are put back to what the person has, or turned off.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::call::Call;
use crate::checkout::Checkout;
use crate::commit::{failed_hook, tail};
use crate::drivers::Drivers;
use crate::error::{Result, io_error};
use crate::redact;
use crate::scratch::Scratch;

/// The settings that could run a command, or keep git from checking whom it speaks to.
const COULD_RUN: &str = r"^(core\.(sshcommand|alternaterefscommand)|credential\.(.*\.)?helper|remote\..*\.mirror|http\.(.*\.)?sslverify)$";

/// A transport that git itself has. What runs any command (`ext`) or is told by the config (`remote.x.vcs`) is none.
const PROTOCOLS: &str = "https:http:ssh:file";

/// Never asks: without a terminal a question would hang until the time is up.
const SSH: &str = "ssh -o BatchMode=yes";

/// Who pushes or fetches, for one server.
///
/// It reaches git as a header for that server's address alone, in a variable of the call: neither in its arguments
/// nor in a file, and no credential helper is ever told to keep it.
#[derive(Clone)]
pub struct Credential {
    address: String,
    secret: String,
    header: String,
}

/// Why a remote did not do what was asked, in git's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The remote has commits that are not in what was pushed.
    NonFastForward(String),
    /// The remote said no: one of its hooks, or a rule.
    Rejected(String),
    /// The person's pre-push hook said no.
    Hook { hook: String, output: String },
    /// Whoever it is may not, or did not say who they are.
    Login(String),
    /// It could not be reached, or something else went wrong on the way.
    Failed(String),
    /// The time was up.
    TimedOut { after: Duration, output: String },
}

/// What came of a call of a remote.
pub(crate) struct Spoken {
    pub(crate) stdout: String,
    pub(crate) refusal: Option<Refusal>,
}

impl Credential {
    /// Takes a token for the server at an address such as `https://github.com`.
    pub fn token(address: &str, token: &str) -> Credential {
        let address = format!("{}/", address.trim_end_matches('/'));
        let header = STANDARD.encode(format!("x-access-token:{token}"));
        Credential { address, secret: token.to_string(), header }
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credential({})", self.address)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::NonFastForward(told)
            | Refusal::Rejected(told)
            | Refusal::Login(told)
            | Refusal::Failed(told) => f.write_str(told),
            Refusal::Hook { hook, output } => write!(f, "the {hook} hook refused: {output}"),
            Refusal::TimedOut { after, output } if output.is_empty() => {
                write!(f, "it took more than {} s", after.as_secs())
            }
            Refusal::TimedOut { after, output } => {
                write!(f, "it took more than {} s: {output}", after.as_secs())
            }
        }
    }
}

/// Makes a call of a remote from a checkout, and waits for its end or the end of its time.
pub(crate) fn speak(
    checkout: &Checkout,
    call: Call,
    credential: Option<&Credential>,
    limit: Duration,
    act: &str,
) -> Result<Spoken> {
    let drivers = Drivers::of(checkout)?;
    let settings = settings(checkout)?;
    let mut call = call
        .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
        // An empty one keeps git from looking for another way to ask.
        .env("GIT_ASKPASS", "")
        // What git says is read below; unlike LC_ALL this leaves the hooks their locale.
        .env("LANGUAGE", "C")
        .settings(&drivers.overrides)
        .settings(&settings);
    if let Some(credential) = credential {
        let header = format!("Authorization: Basic {}", credential.header);
        call = call
            .setting(format!("http.{}.extraHeader", credential.address), header)
            // A redirect could lead the header elsewhere.
            .setting("http.followRedirects", "false");
    }
    let scratch = Scratch::make(&checkout.git_dir)?;
    let trace = scratch.path().join("trace");
    let (out, err) = (scratch.write("output", "")?, scratch.write("errors", "")?);
    let open = |path: &std::path::Path| fs::File::create(path).map_err(io_error("write", path));
    let call = call.env("GIT_TRACE2_EVENT", &trace).within(limit);
    let ended = call.run_into(open(&out)?, open(&err)?).map_err(|failure| failure.during(act))?;
    let clean = |text: String| {
        let text = redact(&text);
        match credential {
            Some(secret) => text.replace(&secret.secret, "***").replace(&secret.header, "***"),
            None => text,
        }
    };
    let (stdout, errors) = (clean(tail(&out)?), clean(tail(&err)?));
    let hook = failed_hook(&fs::read_to_string(&trace).unwrap_or_default());
    let refusal = match (ended, hook) {
        (None, _) => Some(Refusal::TimedOut { after: limit, output: errors }),
        (Some(status), _) if status.success() => None,
        (Some(_), Some(hook)) => Some(Refusal::Hook { hook, output: without_summary(&errors) }),
        (Some(_), None) => Some(refusal(&stdout, errors)),
    };
    Ok(Spoken { stdout, refusal })
}

/// Tells refusals apart by what git says, of which the porcelain lines are made for that.
fn refusal(stdout: &str, errors: String) -> Refusal {
    let rejected = stdout.lines().find(|line| line.starts_with("!\t"));
    match rejected.and_then(|line| line.splitn(3, '\t').nth(2)) {
        Some(summary) if summary.starts_with("[rejected]") => {
            Refusal::NonFastForward(format!("{summary}: the remote has commits that this branch has not"))
        }
        Some(summary) => {
            let told: Vec<&str> = errors.lines().filter(|line| line.starts_with("remote:")).collect();
            Refusal::Rejected(format!("{summary}\n{}", told.join("\n")).trim().to_string())
        }
        None if is_about_login(&errors) => Refusal::Login(errors),
        None => Refusal::Failed(errors),
    }
}

fn is_about_login(errors: &str) -> bool {
    let signs = [
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "returned error: 401",
        "returned error: 403",
        "Permission denied",
        "Host key verification failed",
    ];
    signs.iter().any(|sign| errors.contains(sign))
}

/// Leaves what the hook said, without git's own last line about it.
fn without_summary(errors: &str) -> String {
    let lines: Vec<&str> = errors.lines().filter(|line| !line.starts_with("error: failed to push")).collect();
    lines.join("\n").trim().to_string()
}

/// Finds what the repository's own config could make git run, and what has to be said instead.
fn settings(checkout: &Checkout) -> Result<Vec<(String, OsString)>> {
    let call = checkout.refs("config").args(["--includes", "--null", "--show-scope", "--get-regexp"]);
    let answer = call.arg(COULD_RUN).ask();
    let act = || format!("read the config of {}", checkout.top.display());
    let answer = answer.map_err(|failure| failure.during(act()))?.unwrap_or_default();
    let own_ssh = |name: &OsString| name == "GIT_SSH" || name == "GIT_SSH_COMMAND";
    let has_own_ssh = checkout.git.environment().iter().any(|(name, _)| own_ssh(name));
    Ok(instead(&answer, has_own_ssh))
}

/// Reads the answer of `config --show-scope -z`: scope, then key, a newline and the value.
fn instead(answer: &[u8], has_own_ssh: bool) -> Vec<(String, OsString)> {
    let (mut local, mut trusted) = (Vec::new(), Vec::new());
    let mut fields = answer.split(|byte| *byte == 0);
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let newline = entry.iter().position(|byte| *byte == b'\n');
        let (key, value) =
            newline.map_or((entry, &b"true"[..]), |newline| (&entry[..newline], &entry[newline + 1..]));
        let pair = (String::from_utf8_lossy(key).into_owned(), OsString::from_vec(value.to_vec()));
        if matches!(scope, b"system" | b"global") { trusted.push(pair) } else { local.push(pair) }
    }
    let last = |key: &str| trusted.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let mut settings = Vec::new();
    for (key, _) in &local {
        let neutral = match key.rsplit('.').next() {
            Some("alternaterefscommand" | "mirror") => "false",
            Some("sslverify") => "true",
            _ => continue,
        };
        settings.push((key.clone(), last(key).unwrap_or_else(|| neutral.into())));
    }
    let is_helper = |key: &String| key.starts_with("credential.");
    if local.iter().any(|(key, _)| is_helper(key)) {
        // An empty one makes git forget those it has read so far; then come the person's own again.
        settings.push(("credential.helper".into(), OsString::new()));
        settings.extend(trusted.iter().filter(|(key, _)| is_helper(key)).cloned());
    }
    if !has_own_ssh {
        settings.push(("core.sshCommand".into(), last("core.sshcommand").unwrap_or_else(|| SSH.into())));
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_and_programs_of_the_repository_give_way_to_the_persons() {
        let answer = b"global\0credential.helper\nstore\0local\0credential.https://h.helper\n!evil\0\
            local\0core.sshcommand\nevil\0local\0http.https://h/.sslverify\nfalse\0local\0remote.origin.mirror\0";
        let expected: Vec<(String, OsString)> = [
            ("http.https://h/.sslverify", "true"),
            ("remote.origin.mirror", "false"),
            ("credential.helper", ""),
            ("credential.helper", "store"),
            ("core.sshCommand", SSH),
        ]
        .map(|(key, value)| (key.to_string(), value.into()))
        .into();
        assert_eq!(instead(answer, false), expected);
        let persons = b"global\0core.sshcommand\nssh -i key\0local\0core.sshcommand\nevil\0";
        assert_eq!(instead(persons, false), [("core.sshCommand".to_string(), "ssh -i key".into())]);
        assert_eq!(instead(b"", true), []);
    }

    #[test]
    fn a_credential_does_not_print() {
        let credential = Credential::token("https://github.com", "ghp_planted");
        let shown = format!("{credential:?}");
        assert!(
            shown.contains("github.com") && !shown.contains("planted") && !shown.contains(&credential.header)
        );
    }

    #[test]
    fn a_branch_that_is_behind_is_told_from_a_remote_that_refuses() {
        let line = |summary: &str| format!("To x\n!\trefs/heads/a:refs/heads/a\t{summary}\n");
        let behind = refusal(&line("[rejected] (fetch first)"), String::new());
        assert!(matches!(behind, Refusal::NonFastForward(told) if told.contains("fetch first")));
        let errors = "remote: only on weekdays\nerror: failed to push some refs".to_string();
        let refused = refusal(&line("[remote rejected] (pre-receive hook declined)"), errors);
        let told = "[remote rejected] (pre-receive hook declined)\nremote: only on weekdays".to_string();
        assert_eq!(refused, Refusal::Rejected(told));
    }
}
