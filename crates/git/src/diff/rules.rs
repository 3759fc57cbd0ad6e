//! What git's attributes and config mean for showing a file: whether its line ends are brought to LF before it is
//! compared, and whether it stands behind a filter.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::checkout::Checkout;
use crate::drivers::joined;
use crate::error::{Failure, Result};

use super::index::PrivateIndex;
use super::sides::is_binary;

/// How a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    AsItIs,
    /// Git stores it with LF.
    Text,
    /// Git stores it with LF when it is a text and was not stored with CRLF before.
    Auto,
    /// What lies on disk is not what git stores, and only a filter could tell.
    Filtered,
}

/// The rules of a checkout, as far as they were asked for.
#[derive(Debug, Default)]
pub(super) struct Rules {
    settings: Option<Settings>,
    known: HashMap<PathBuf, Rule>,
}

#[derive(Debug, Default)]
struct Settings {
    /// `core.autocrlf` is on.
    converts: bool,
    /// There are attributes, or may be.
    has_attributes: bool,
    filters: Vec<String>,
}

impl Rules {
    /// Forgets everything: the index, HEAD or an attributes file is another now.
    pub(super) fn forget(&mut self) {
        *self = Rules::default();
    }

    /// Finds the rules of some files. Costs nothing where there are no attributes and no conversion.
    pub(super) fn learn(
        &mut self,
        checkout: &Checkout,
        index: &PrivateIndex,
        paths: &[PathBuf],
    ) -> Result<()> {
        let is_attributes = |path: &PathBuf| path.file_name() == Some(OsStr::new(".gitattributes"));
        if paths.iter().any(is_attributes) {
            self.known.clear();
        }
        let settings = match self.settings.take() {
            Some(settings) => settings,
            None => Settings::read(checkout, index)?,
        };
        let settings = self.settings.insert(settings);
        settings.has_attributes |= paths.iter().any(is_attributes);
        let unknown: Vec<PathBuf> =
            paths.iter().filter(|path| !self.known.contains_key(*path)).cloned().collect();
        if !settings.has_attributes || unknown.is_empty() {
            return Ok(());
        }
        let call = checkout.files("check-attr").env("GIT_INDEX_FILE", index.path());
        let call = call.args(["-z", "--stdin", "text", "eol", "crlf", "filter"]).input(joined(&unknown));
        let act = || format!("read the attributes of {}", checkout.top.display());
        let answer = call.run().map_err(|failure| failure.during(act()))?;
        let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
        if fields.len() % 3 != 1 {
            let answer = String::from_utf8_lossy(&answer).into_owned();
            return Err(Failure::answer("check-attr", &answer).during(act()));
        }
        let mut attributes = HashMap::<&[u8], HashMap<&[u8], &[u8]>>::new();
        for entry in fields.chunks_exact(3) {
            attributes.entry(entry[0]).or_default().insert(entry[1], entry[2]);
        }
        for (path, values) in attributes {
            self.known.insert(PathBuf::from(OsStr::from_bytes(path)), settings.rule(&values));
        }
        Ok(())
    }

    /// Returns the rule of a file that was learned.
    pub(super) fn of(&self, path: &Path) -> Rule {
        let converts = self.settings.as_ref().is_some_and(|settings| settings.converts);
        let otherwise = if converts { Rule::Auto } else { Rule::AsItIs };
        self.known.get(path).copied().unwrap_or(otherwise)
    }
}

impl Rule {
    /// Brings line ends to what git would store; `before` is what it has stored so far.
    pub(super) fn apply(self, bytes: Vec<u8>, before: Option<&str>) -> Vec<u8> {
        let converts = match self {
            Rule::AsItIs | Rule::Filtered => false,
            Rule::Text => true,
            Rule::Auto => !is_binary(&bytes) && !before.is_some_and(|before| before.contains("\r\n")),
        };
        if !converts || !bytes.contains(&b'\r') {
            return bytes;
        }
        let mut plain = Vec::with_capacity(bytes.len());
        let mut rest = bytes.iter().peekable();
        while let Some(byte) = rest.next() {
            if *byte != b'\r' || rest.peek() != Some(&&b'\n') {
                plain.push(*byte);
            }
        }
        plain
    }
}

impl Settings {
    fn read(checkout: &Checkout, index: &PrivateIndex) -> Result<Settings> {
        let wanted = r"^(core\.(autocrlf|attributesfile)|filter\..*\.(clean|smudge|process))$";
        let call = checkout.refs("config").args(["--includes", "--null", "--get-regexp", wanted]);
        let act = || format!("read the config of {}", checkout.top.display());
        let answer = call.ask().map_err(|failure| failure.during(act()))?.unwrap_or_default();
        let mut settings = Settings::default();
        for entry in answer.split(|byte| *byte == 0).map(String::from_utf8_lossy) {
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            let driver = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.'));
            match (key, driver) {
                ("core.autocrlf", _) => {
                    let value = value.to_ascii_lowercase();
                    settings.converts = matches!(value.as_str(), "true" | "input" | "yes" | "on" | "1");
                }
                ("core.attributesfile", _) => settings.has_attributes |= !value.is_empty(),
                (_, Some((driver, _))) if !value.is_empty() => settings.filters.push(driver.to_string()),
                _ => {}
            }
        }
        let info = checkout.common_dir.join("info/attributes");
        settings.has_attributes |= info.exists() || checkout.top.join(".gitattributes").exists();
        if !settings.has_attributes {
            let call = checkout.files("ls-files").env("GIT_INDEX_FILE", index.path());
            let listed = call.args(["-z", "--cached", "--", ":(glob)**/.gitattributes"]).run();
            let listed = listed.map_err(|failure| failure.during(act()))?;
            settings.has_attributes = !listed.is_empty();
        }
        Ok(settings)
    }

    fn rule(&self, values: &HashMap<&[u8], &[u8]>) -> Rule {
        let value = |name: &str| values.get(name.as_bytes()).copied().unwrap_or(b"unspecified");
        let filter = String::from_utf8_lossy(value("filter"));
        if self.filters.iter().any(|known| *known == filter) {
            return Rule::Filtered;
        }
        let has_end = matches!(value("eol"), b"lf" | b"crlf");
        match (value("text"), value("crlf")) {
            (b"unset", _) => Rule::AsItIs,
            (b"auto", _) => Rule::Auto,
            (b"set" | b"input", _) => Rule::Text,
            (_, b"unset") => Rule::AsItIs,
            (_, b"set" | b"input") => Rule::Text,
            _ if has_end => Rule::Text,
            _ if self.converts => Rule::Auto,
            _ => Rule::AsItIs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_line_ends_are_touched_and_only_where_git_would() {
        let bytes = || b"a\r\nb\rc\r\r\n".to_vec();
        assert_eq!(Rule::Text.apply(bytes(), None), b"a\nb\rc\r\n");
        assert_eq!(Rule::Auto.apply(bytes(), Some("a\nb")), b"a\nb\rc\r\n");
        assert_eq!(Rule::Auto.apply(bytes(), Some("a\r\nb")), bytes(), "stored with CRLF before");
        assert_eq!(Rule::Auto.apply(b"\0\r\n".to_vec(), None), b"\0\r\n");
        assert_eq!(Rule::AsItIs.apply(bytes(), None), bytes());
    }
}
