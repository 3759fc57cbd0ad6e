//! Releases as the changelog in this repository tells them. Nothing is fetched from outside.

use crate::Engine;

const CHANGELOG: &str = include_str!("../../../CHANGELOG.md");

/// A version and what it changed for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    pub version: String,
    /// The day it came out, or on which work on it began: `2026-11-15`.
    pub day: String,
    pub unreleased: bool,
    /// What changed, in Markdown.
    pub body: String,
}

impl Engine {
    /// Returns the releases, newest first.
    pub fn releases(&self) -> Vec<Release> {
        parse(CHANGELOG)
    }
}

/// Reads the sections that begin with `## 0.1.0 (2026-11-15)` or `## 0.2.0 (2026-12-24, unreleased)`.
fn parse(changelog: &str) -> Vec<Release> {
    let sections = format!("\n{changelog}");
    sections.split("\n## ").skip(1).filter_map(section).collect()
}

fn section(text: &str) -> Option<Release> {
    let (heading, body) = text.split_once('\n').unwrap_or((text, ""));
    let (version, rest) = heading.trim().split_once(" (")?;
    let rest = rest.strip_suffix(')')?;
    let (day, unreleased) = match rest.split_once(", ") {
        Some((day, "unreleased")) => (day, true),
        Some(_) => return None,
        None => (rest, false),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let a_day = day.len() == 10 && day.split('-').count() == 3 && day.split('-').all(digits);
    let (version, day) = (version.to_string(), day.to_string());
    a_day.then(|| Release { version, day, unreleased, body: body.trim().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_our_changelog_is_a_release_and_the_newest_is_this_version() {
        let releases = parse(CHANGELOG);
        assert_eq!(releases.len(), CHANGELOG.lines().filter(|line| line.starts_with("## ")).count());
        assert_eq!(releases[0].version, env!("CARGO_PKG_VERSION"));
        assert!(releases.iter().all(|release| !release.body.is_empty()));
    }

    #[test]
    fn a_heading_without_a_version_and_a_day_is_no_release() {
        let text = "# Changelog\n\n## 0.2.0 (2027-01-02)\n\n- new\n\n## Notes\n\nx\n\n## 0.1.0 (soon)\n\n## 0.1.0 (2026-11-15, unreleased)\n- old\n";
        let read: Vec<_> = parse(text).into_iter().map(|r| (r.version, r.unreleased, r.body)).collect();
        let expected = [("0.2.0".into(), false, "- new".into()), ("0.1.0".into(), true, "- old".into())];
        assert_eq!(read, expected);
    }
}
