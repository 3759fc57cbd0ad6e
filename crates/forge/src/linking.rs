//! What a worktree of Forge is about: worktree, attempt, task, wish, GitHub issue. The name of the branch says who it
//! is even when nobody can be asked; the server adds the whole ids. A wish is matched by the beginnings of words,
//! because the name of a branch is cut off.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::Globals;
use crate::client::{Client, Target};
use crate::exit::Result;
use crate::git::Checkout;
use crate::{address, autostart, environment, home};

/// The share of words that must fit before a wish is believed to be meant.
const ENOUGH: f64 = 0.6;
/// How much of a wish's file is looked at for its issue.
const HEAD_LINES: usize = 60;

/// What a branch's name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The first digits of the attempt's id.
    pub(crate) digits: String,
    /// The beginning of the task's title, in small letters.
    pub(crate) words: String,
}

/// What is known about a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Chain {
    pub(crate) branch: String,
    pub(crate) attempt_prefix: String,
    pub(crate) attempt_id: Option<String>,
    pub(crate) task_id: Option<String>,
    pub(crate) task_title: Option<String>,
    pub(crate) project_id: Option<String>,
    pub(crate) wish: Option<String>,
    pub(crate) wish_path: Option<String>,
    pub(crate) github_issue: Option<String>,
    /// `server` when it was asked, `name` when only names told.
    pub(crate) source: &'static str,
}

/// Reads the name of a branch or of a worktree's directory: `forge/35a4-fix-login`.
pub(crate) fn named(branch: &str) -> Option<Named> {
    let own = branch.rsplit('/').next()?;
    let (digits, words) = own.split_once('-').unwrap_or((own, ""));
    let fits = digits.len() == 4 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    fits.then(|| Named { digits: digits.to_string(), words: words.to_string() })
}

/// Finds out what a worktree is about; none when it is no worktree of an attempt.
pub(crate) fn chain(globals: &Globals, checkout: &Checkout, patience: Duration) -> Result<Option<Chain>> {
    let branch = checkout.branch();
    let directory = checkout.top.file_name().map(|name| name.to_string_lossy().into_owned());
    let on_branch = branch.as_deref().filter(|branch| branch.contains('/'));
    let Some(found) = on_branch.and_then(named).or_else(|| directory.as_deref().and_then(named)) else {
        return Ok(None);
    };
    if !checkout.is_linked() {
        return Ok(None);
    }
    let told = ask(globals, checkout, patience);
    Ok(Some(complete(&branch.unwrap_or_default(), &found, told.as_ref(), checkout)))
}

/// Puts what names say and what the server said together, and looks for the wish.
pub(crate) fn complete(branch: &str, named: &Named, told: Option<&Value>, checkout: &Checkout) -> Chain {
    let text = |value: &Value| value.as_str().map(str::to_string);
    let title = told.and_then(|attempt| text(&attempt["task"]["title"]));
    let description = told.and_then(|attempt| text(&attempt["task"]["description"])).unwrap_or_default();
    let places: Vec<&Path> = std::iter::once(checkout.top.as_path()).chain(checkout.main()).collect();
    let wish = places.iter().find_map(|place| {
        let slugs = wishes(place);
        let slug =
            mentioned(&description, &slugs).or_else(|| best(&slugs, &named.words, title.as_deref()))?;
        Some((slug.clone(), issue(place, &slug)))
    });
    let (wish, github_issue) = wish.map_or((None, None), |(slug, issue)| (Some(slug), issue));
    Chain {
        branch: branch.to_string(),
        attempt_prefix: named.digits.clone(),
        attempt_id: told.and_then(|attempt| text(&attempt["id"])),
        task_id: told.and_then(|attempt| text(&attempt["task_id"])),
        task_title: title,
        project_id: told.and_then(|attempt| text(&attempt["project_id"])),
        wish_path: wish.as_ref().map(|slug| wish_path(slug)),
        wish,
        github_issue,
        source: if told.is_some() { "server" } else { "name" },
    }
}

fn wish_path(slug: &str) -> String {
    format!(".genie/wishes/{slug}/{slug}-wish.md")
}

/// Asks the server about the attempt of a worktree, and takes what it has said when the patience is over; none when it is
/// away, slow, or knows of none. It is never started for this.
fn ask(globals: &Globals, checkout: &Checkout, patience: Duration) -> Option<Value> {
    let client = client(globals)?;
    let top = checkout.top.clone();
    let (tell, told) = mpsc::channel();
    let until = Instant::now() + patience;
    thread::spawn(move || {
        // An agent's own token reads its own attempt and nothing else, so that is asked for by its id.
        let own = environment::text(environment::FORGE_ATTEMPT).or_else(|| {
            let path = percent(&top.to_string_lossy());
            let found = client.get(&format!("/api/containers/info?ref={path}")).ok()?;
            let id = found["attempt_id"].as_str()?.to_string();
            // Nobody listens any more when the patience is over.
            let _ =
                tell.send(json!({"id": id, "task_id": found["task_id"], "project_id": found["project_id"]}));
            Some(id)
        });
        let attempt = own.and_then(|id| client.get(&format!("/api/task-attempts/{id}")).ok());
        let here = |attempt: &Value| attempt["worktree_path"].as_str().map(Path::new) == Some(top.as_path());
        if let Some(attempt) = attempt.filter(here) {
            let _ = tell.send(attempt);
        }
    });
    let mut latest = None;
    while let Ok(more) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
        latest = Some(more);
    }
    latest
}

/// Returns a client of the server that is there, without calling it; none when there is none.
pub(crate) fn client(globals: &Globals) -> Option<Client> {
    let home = home::locate(globals.data.as_deref()).ok()?;
    match address::to_call(globals).ok()? {
        Some(url) => Some(Client::new(Target::Url(url.clone()), home, url)),
        None => autostart::running(&home),
    }
}

/// Writes a text so that it can stand in a query.
pub(crate) fn percent(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// The wishes of a checkout, by name. Folders that begin with `_` are put away.
fn wishes(top: &Path) -> Vec<String> {
    let entries = fs::read_dir(top.join(".genie/wishes")).into_iter().flatten().flatten();
    let mut slugs: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with(['_', '.']))
        .collect();
    slugs.sort();
    slugs
}

/// The wish whose folder a text names.
fn mentioned(text: &str, slugs: &[String]) -> Option<String> {
    let named = |slug: &&String| {
        [format!(".genie/wishes/{slug}/"), format!("{slug}-wish")].iter().any(|path| text.contains(path))
    };
    slugs.iter().filter(|slug| text.contains(slug.as_str())).find(named).cloned()
}

/// The wish that fits best: by the words of the branch, whose last one may be cut off, or by the whole title where it is
/// known. None when nothing fits well, or two fit equally.
fn best(slugs: &[String], words: &str, title: Option<&str>) -> Option<String> {
    let by_branch = tokens(words);
    let by_title = title.map(|title| tokens(&without_tags(title))).unwrap_or_default();
    let mut scored: Vec<(f64, &String)> = slugs
        .iter()
        .map(|slug| {
            let own = tokens(slug);
            // The branch must be found in the wish; the wish must be found in the title.
            let score = share(&by_branch, &own).max(share(&own, &by_title));
            (score, slug)
        })
        .filter(|(score, _)| *score >= ENOUGH)
        .collect();
    scored.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
    match scored[..] {
        [(_, only)] => Some(only.clone()),
        [(first, one), (second, _), ..] if first > second => Some(one.clone()),
        _ => None,
    }
}

/// The share of the first words that the others have, a word that is cut off included. One word in common is enough only
/// when it is all there is.
fn share(wanted: &[String], among: &[String]) -> f64 {
    let fits = |one: &String| {
        among.iter().any(|other| {
            one == other
                || (one.len() > 2 && other.starts_with(one.as_str()))
                || (other.len() > 2 && one.starts_with(other.as_str()))
        })
    };
    let count = wanted.iter().filter(|word| fits(word)).count();
    match (count, wanted.len()) {
        (_, 0) | (0, _) => 0.0,
        (1, all) if all > 1 => 0.0,
        (count, all) => count as f64 / all as f64,
    }
}

fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// A title without what stands in brackets: `[TEST] Fix it` is `Fix it`.
fn without_tags(title: &str) -> String {
    let mut depth = 0usize;
    let keep = |letter: &char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    title.chars().filter(keep).collect()
}

/// The GitHub issue that the head of a wish names: `**GitHub Issue:** #44 - title`.
fn issue(top: &Path, slug: &str) -> Option<String> {
    let text = fs::read_to_string(top.join(wish_path(slug))).ok()?;
    text.lines().take(HEAD_LINES).find_map(|line| {
        let plain = line.replace('*', "");
        let (label, value) = plain.split_once(':')?;
        let label = label.trim_start_matches(['-', ' ', '#']).trim();
        let value = value.trim();
        let named =
            label.eq_ignore_ascii_case("github issue") && value.chars().any(|letter| letter.is_ascii_digit());
        named.then(|| value.to_string())
    })
}

/// One attempt's section of the links in SESSION-STATE.md.
pub(crate) fn section(chain: &Chain) -> String {
    let mut lines =
        vec![format!("### Forge Task - {}", chain.wish.as_deref().unwrap_or(&chain.branch)), String::new()];
    let mut say = |label: &str, value: Option<&str>| {
        if let Some(value) = value {
            lines.push(format!("- **{label}:** {}", crate::output::short(value, 200)));
        }
    };
    say("Branch", Some(&chain.branch));
    say("Attempt ID Prefix", Some(&chain.attempt_prefix));
    say("Attempt ID", chain.attempt_id.as_deref());
    say("Task ID", chain.task_id.as_deref());
    say("Wish", chain.wish_path.as_deref());
    say("GitHub Issue", chain.github_issue.as_deref());
    let url = chain.attempt_id.as_ref().map(|id| format!("/task-attempts/{id}"));
    say("Forge URL", url.as_deref());
    lines.join("\n")
}

/// Puts a section among others. Where the one that is there knows as much or more, it stays: a commit while the server is
/// away takes nothing away.
pub(crate) fn with_section(links: &str, chain: &Chain) -> String {
    let mut all = sections(links);
    let new = section(chain);
    let lines = |text: &str| text.lines().filter(|line| line.starts_with("- ")).count();
    let keep = all.get(&chain.branch).is_some_and(|known| lines(known) > lines(&new));
    if !keep {
        all.insert(chain.branch.clone(), new);
    }
    joined(&all)
}

/// Puts the sections of two versions together; of two about one branch, the one that knows more.
pub(crate) fn merged(ours: &str, theirs: &str) -> String {
    let mut all = sections(ours);
    for (branch, section) in sections(theirs) {
        let known = all.entry(branch).or_default();
        if section.lines().count() > known.lines().count() {
            *known = section;
        }
    }
    joined(&all)
}

/// The sections of a block by their branches.
pub(crate) fn sections(links: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for part in links.split("### Forge Task - ").skip(1) {
        let section = format!("### Forge Task - {}", part.trim());
        let branch = section.lines().find_map(|line| line.strip_prefix("- **Branch:** ")).map(str::to_string);
        if let Some(branch) = branch {
            all.insert(branch, section);
        }
    }
    all
}

/// Returns a labelled line of a section.
pub(crate) fn line_of<'a>(section: &'a str, label: &str) -> Option<&'a str> {
    section.lines().find_map(|line| line.strip_prefix(&format!("- **{label}:** ")))
}

fn joined(all: &BTreeMap<String, String>) -> String {
    let sections: Vec<&str> = all.values().map(String::as_str).collect();
    match sections.is_empty() {
        true => String::new(),
        false => format!("## Linked Tasks\n\n{}", sections.join("\n\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slugs(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_branch_names_its_attempt_and_the_beginning_of_its_title() {
        let found = named("forge/35a4-test-forge-metad").unwrap();
        assert_eq!((found.digits.as_str(), found.words.as_str()), ("35a4", "test-forge-metad"));
        assert_eq!(named("35a4").unwrap().words, "");
        for other in ["main", "feat/login", "forge/35g4-x", "forge/35a42-x", ""] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn a_wish_is_found_by_the_cut_off_words_of_a_branch_and_by_a_title() {
        let all = slugs(&["auth-rework", "forge-metadata-investigation", "forge-polish"]);
        assert_eq!(best(&all, "test-forge-metad", None).as_deref(), Some("forge-metadata-investigation"));
        let title = "[TEST] Forge Metadata Investigation - Extract task_id structure";
        assert_eq!(best(&all, "x", Some(title)).as_deref(), Some("forge-metadata-investigation"));
        assert_eq!(best(&all, "auth-rework", None).as_deref(), Some("auth-rework"));
        assert_eq!(best(&all, "forge-other", None), None, "one word of two is not enough");
        assert_eq!(best(&all, "", None), None);
        assert_eq!(best(&slugs(&["a-one-two", "b-one-two"]), "one-two", None), None, "two fit equally");
        let text = "See @.genie/wishes/auth-rework/auth-rework-wish.md";
        assert_eq!(mentioned(text, &all).as_deref(), Some("auth-rework"));
    }

    #[test]
    fn a_link_is_written_once_and_never_loses_what_is_known() {
        let full = Chain {
            branch: "forge/35a4-x".into(),
            attempt_prefix: "35a4".into(),
            attempt_id: Some("35a403e3".into()),
            task_id: Some("e84f".into()),
            task_title: Some("X".into()),
            project_id: None,
            wish: Some("x".into()),
            wish_path: Some(wish_path("x")),
            github_issue: Some("#44 - it".into()),
            source: "server",
        };
        let little = Chain { attempt_id: None, task_id: None, source: "name", ..full.clone() };
        let once = with_section("", &full);
        assert_eq!(with_section(&once, &full), once);
        assert_eq!(with_section(&once, &little), once);
        assert_eq!(with_section(&with_section("", &little), &full), once);
        let other = Chain { branch: "forge/0000-y".into(), ..full };
        let both = merged(&once, &with_section("", &other));
        assert_eq!(merged(&both, &with_section("", &little)), both);
        assert_eq!(sections(&both).len(), 2);
        assert_eq!(line_of(&sections(&once)["forge/35a4-x"], "GitHub Issue"), Some("#44 - it"));
    }
}
