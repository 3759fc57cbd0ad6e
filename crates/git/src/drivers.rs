//! Commands that a repository's own config names: filters, merge drivers and signing programs.
//!
//! Those of the person's global and the system's config are theirs and stay. Those of the repository's config are
//! put back to what the person has, or turned off; and a file that needs such a filter is refused, never written
//! or committed as if it needed none.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::checkout::{Checkout, Worktree};
use crate::error::{Error, Failure, Result, io_error};

/// What has to be said to git so that no command of the repository's config runs.
#[derive(Debug, Default)]
pub(crate) struct Drivers {
    /// Settings for every call that reads or writes files.
    pub(crate) overrides: Vec<(String, OsString)>,
    /// Filters that only the repository's config defines.
    pub(crate) local_filters: Vec<String>,
    /// They run all the same: the person trusts them.
    trusted: bool,
}

impl Drivers {
    /// Finds the drivers that a checkout's own config names.
    ///
    /// The config files are read first: without a section that could name a driver there is none, which is the
    /// usual case and then costs no process.
    pub(crate) fn of(checkout: &Checkout) -> Result<Drivers> {
        let shared = checkout.common_dir.join("config");
        let own = checkout.git_dir.join("config.worktree");
        if !could_name_drivers(&shared)? && !could_name_drivers(&own)? {
            return Ok(Drivers::default());
        }
        let call = checkout.refs("config").args(["--includes", "--null", "--show-scope"]);
        let answer = call.args(["--get-regexp", r"^(filter|merge|gpg)\."]).ask();
        let act = || format!("read the config of {}", checkout.top.display());
        let answer = answer.map_err(|failure| failure.during(act()))?;
        let mut drivers = answer.map(|answer| read(&answer)).unwrap_or_default();
        if checkout.trusts_filters {
            drivers.overrides.retain(|(key, _)| split(key).0 != "filter");
            drivers.trusted = true;
        }
        Ok(drivers)
    }

    /// Refuses when a file of a commit needs a filter that only the repository's config defines.
    pub(crate) fn refuse_in_commit(&self, checkout: &Checkout, commit: &str) -> Result<()> {
        if self.local_filters.is_empty() || self.trusted {
            return Ok(());
        }
        let list = checkout.refs("ls-tree").args(["-r", "-z", "--name-only", "--full-tree", commit]).run();
        let list = list.map_err(|failure| failure.during(format!("list the files of {commit}")))?;
        let needing = self.needing(checkout, list, Some(commit))?;
        needing.into_iter().next().map_or(Ok(()), |(path, driver)| Err(Error::LocalFilter { driver, path }))
    }

    /// Refuses when one of these paths needs a filter that only the repository's config defines.
    pub(crate) fn refuse_among(&self, checkout: &Checkout, paths: &[PathBuf]) -> Result<()> {
        if self.trusted {
            return Ok(());
        }
        let needing = self.among(checkout, paths)?;
        needing.into_iter().next().map_or(Ok(()), |(path, driver)| Err(Error::LocalFilter { driver, path }))
    }

    /// Finds which of these paths need a filter that only the repository's config defines, trusted or not: what such
    /// a filter hides must not be kept in the open.
    pub(crate) fn among(&self, checkout: &Checkout, paths: &[PathBuf]) -> Result<Vec<(PathBuf, String)>> {
        if self.local_filters.is_empty() || paths.is_empty() {
            return Ok(Vec::new());
        }
        self.needing(checkout, joined(paths), None)
    }

    /// Finds which tracked files need a filter that only the repository's config defines.
    pub(crate) fn among_tracked(&self, checkout: &Checkout) -> Result<Vec<PathBuf>> {
        if self.local_filters.is_empty() {
            return Ok(Vec::new());
        }
        let list = checkout.refs("ls-files").args(["-z"]).run();
        let act = || format!("list the files of {}", checkout.top.display());
        let list = list.map_err(|failure| failure.during(act()))?;
        Ok(self.needing(checkout, list, None)?.into_iter().map(|(path, _)| path).collect())
    }

    fn needing(
        &self,
        checkout: &Checkout,
        list: Vec<u8>,
        source: Option<&str>,
    ) -> Result<Vec<(PathBuf, String)>> {
        let mut call = checkout.files("check-attr").args(["-z", "--stdin"]);
        if let Some(source) = source {
            call = call.arg(format!("--source={source}"));
        }
        let answer = call.arg("filter").input(list).run();
        let act = || format!("read the attributes of {}", checkout.top.display());
        let answer = answer.map_err(|failure| failure.during(act()))?;
        let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
        let mut needing = Vec::new();
        for entry in fields.chunks_exact(3) {
            let driver = String::from_utf8_lossy(entry[2]);
            if self.local_filters.iter().any(|local| *local == driver) {
                needing.push((PathBuf::from(OsStr::from_bytes(entry[0])), driver.into_owned()));
            }
        }
        if fields.len() % 3 != 1 {
            let answer = String::from_utf8_lossy(&answer).into_owned();
            return Err(Failure::answer("check-attr", &answer).during(act()));
        }
        Ok(needing)
    }
}

impl Worktree {
    /// Refuses when a file of a commit needs a filter that only the repository's config defines, and that the person
    /// does not trust: nothing could be written or taken back here then.
    pub fn check_filters(&self, commit: &str) -> Result<()> {
        Drivers::of(&self.checkout)?.refuse_in_commit(&self.checkout, commit)
    }
}

/// Writes paths the way that `-z --stdin` reads them.
pub(crate) fn joined(paths: &[PathBuf]) -> Vec<u8> {
    let mut list = Vec::new();
    for path in paths {
        list.extend_from_slice(path.as_os_str().as_bytes());
        list.push(0);
    }
    list
}

/// Tells whether a config file has a section that names drivers, or takes in another file that may.
///
/// Git reads a section header letter by letter after the bracket, so looking for the letters is enough.
fn could_name_drivers(config: &Path) -> Result<bool> {
    let text = match fs::read(config) {
        Ok(text) => text.to_ascii_lowercase(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(io_error("read", config)(error)),
    };
    let mut rest = text.as_slice();
    while let Some(bracket) = rest.iter().position(|byte| *byte == b'[') {
        rest = &rest[bracket + 1..];
        let named = |section: &str| rest.strip_prefix(section.as_bytes());
        // `[merge]` alone and `[mergetool]` name no driver.
        let with_name =
            |rest: &[u8]| rest.first().is_some_and(|byte| *byte == b'.' || byte.is_ascii_whitespace());
        if named("include").is_some() || named("gpg").is_some() {
            return Ok(true);
        }
        if named("filter").is_some_and(with_name) || named("merge").is_some_and(with_name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the answer of `config --show-scope -z`: scope, then key, a newline and the value.
fn read(answer: &[u8]) -> Drivers {
    let mut local = BTreeMap::new();
    let mut trusted = BTreeMap::new();
    let mut fields = answer.split(|byte| *byte == 0);
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let newline = entry.iter().position(|byte| *byte == b'\n');
        let (key, value) = match newline {
            Some(newline) => (&entry[..newline], &entry[newline + 1..]),
            None => (entry, &b"true"[..]),
        };
        let key = String::from_utf8_lossy(key).into_owned();
        let value = OsString::from_vec(value.to_vec());
        match scope {
            b"system" | b"global" => trusted.insert(key, value),
            _ => local.insert(key, value),
        };
    }
    let mut drivers = Drivers::default();
    for key in local.keys() {
        let (family, driver, variable) = split(key);
        let safe =
            trusted.get(key).cloned().or_else(|| neutral(family, driver, variable).map(OsString::from));
        let Some(safe) = safe else { continue };
        drivers.overrides.push((key.clone(), safe));
        let is_command = |name: &str| matches!(split(name).2, "clean" | "smudge" | "process");
        let is_known = trusted.keys().any(|name| {
            let (other_family, other, _) = split(name);
            (other_family, other) == (family, driver) && is_command(name)
        });
        if family == "filter" && !is_known && !drivers.local_filters.iter().any(|known| known == driver) {
            drivers.local_filters.push(driver.to_string());
        }
    }
    drivers
}

/// Splits `filter.<driver>.clean`; the driver may hold dots.
fn split(key: &str) -> (&str, &str, &str) {
    let (family, rest) = key.split_once('.').unwrap_or((key, ""));
    let (driver, variable) = rest.rsplit_once('.').unwrap_or(("", rest));
    (family, driver, variable)
}

/// Returns the value that turns a command off, or brings back git's own.
fn neutral(family: &str, driver: &str, variable: &str) -> Option<&'static str> {
    match (family, driver, variable) {
        ("filter", _, "clean" | "smudge" | "process") => Some(""),
        ("filter", _, "required") => Some("false"),
        // A driver that fails leaves the file in conflict; an empty one would end git.
        ("merge", _, "driver") => Some("false"),
        ("gpg", "ssh", "program") => Some("ssh-keygen"),
        ("gpg", "x509", "program") => Some("gpgsm"),
        ("gpg", _, "program") => Some("gpg"),
        ("gpg", "ssh", "defaultkeycommand") => Some("false"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_driver_is_put_back_to_the_persons_or_turned_off() {
        let answer = b"global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.lfs.clean\nevil\0\
            local\0filter.lfs.process\nevil\0local\0filter.a=b.c.smudge\nevil\0local\0merge.x.driver\nevil\0";
        let drivers = read(answer);
        let value = |key: &str| {
            drivers.overrides.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        assert_eq!(value("filter.lfs.clean"), Some("git-lfs clean".into()));
        assert_eq!(value("filter.lfs.process"), Some("".into()));
        assert_eq!(value("filter.a=b.c.smudge"), Some("".into()));
        assert_eq!(value("merge.x.driver"), Some("false".into()));
        assert_eq!(drivers.local_filters, ["a=b.c"]);
    }
}
