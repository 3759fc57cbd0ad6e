//! Agent files of a repository: Markdown below `.genie`, whose head names an agent and whose body is a prompt.
//!
//! The repository is somebody's, so nothing in it is followed out of it, read without bounds, or believed: a
//! file gives a prompt and a model, never a command, an environment or a permission.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};
use serde_json::{Map, Value};

use forge_model::ProfileId;

/// How deep folders of agents may lie in one another.
const DEEPEST: usize = 6;
/// How many names are looked at, and how many files are read.
const MOST_NAMES: usize = 5000;
const MOST_FILES: usize = 200;
/// The largest file that is read.
const LARGEST: usize = 64 * 1024;

/// A variant that a file describes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) agent: String,
    pub(crate) variant: String,
    pub(crate) settings: Map<String, Value>,
}

/// Reads the agent files of a repository, in the order of their names. What cannot be read is left out.
pub(crate) fn read(repository: &Path) -> Vec<Found> {
    let mut walk = Walk { names: 0, found: Vec::new() };
    let root = openat(CWD, repository, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let Some(genie) = root.ok().and_then(|root| folder(&root, ".genie")) else { return walk.found };
    for name in walk.folders(&genie) {
        let Some(inner) = folder(&genie, &name) else { continue };
        if name == "agents" {
            walk.agents(&inner, "", 0);
        } else if let Some(agents) = folder(&inner, "agents") {
            walk.agents(&agents, &name, 0);
        }
    }
    walk.found
}

struct Walk {
    names: usize,
    found: Vec<Found>,
}

impl Walk {
    /// Reads the files of a folder and of those below; `collective` goes before the names of their variants.
    fn agents(&mut self, dir: &OwnedFd, collective: &str, depth: usize) {
        for (name, kind) in self.entries(dir) {
            if self.found.len() >= MOST_FILES {
                return;
            }
            match kind {
                FileType::Directory if depth < DEEPEST => {
                    if let Some(inner) = folder(dir, &name) {
                        self.agents(&inner, collective, depth + 1);
                    }
                }
                FileType::RegularFile => {
                    let Some(stem) = name.strip_suffix(".md").filter(|stem| *stem != "README") else {
                        continue;
                    };
                    self.found.extend(text(dir, &name).and_then(|text| parse(&text, collective, stem)));
                }
                _ => {}
            }
        }
    }

    fn folders(&mut self, dir: &OwnedFd) -> Vec<String> {
        let folders = self.entries(dir).into_iter();
        folders.filter(|(_, kind)| *kind == FileType::Directory).map(|(name, _)| name).collect()
    }

    /// Returns what is in a folder, by name; links are told as links.
    fn entries(&mut self, dir: &OwnedFd) -> Vec<(String, FileType)> {
        let mut found = Vec::new();
        let Ok(entries) = Dir::read_from(dir) else { return found };
        for entry in entries.flatten() {
            self.names += 1;
            if self.names > MOST_NAMES {
                break;
            }
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name != "." && name != ".." {
                found.push((name.to_string(), entry.file_type()));
            }
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }
}

/// Opens a folder in a folder; none when it is a link or anything else.
fn folder(dir: impl AsFd, name: &str) -> Option<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::empty()).ok()
}

/// Reads a file; none when it is a link, too large or no text.
fn text(dir: &OwnedFd, name: &str) -> Option<String> {
    use std::io::Read;
    // It may have become a pipe since it was listed, and opening one for reading would wait for a writer.
    let flags = OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = std::fs::File::from(openat(dir, name, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() > LARGEST {
        return None;
    }
    String::from_utf8(bytes).ok()
}

fn parse(text: &str, collective: &str, stem: &str) -> Option<Found> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let (head, body) = rest.split_once("\n---")?;
    let body = body.split_once('\n').map_or("", |(_, body)| body).trim();
    let head = scalars(head);
    let value = |keys: &[&str]| {
        let found = keys.iter().find_map(|key| head.iter().find(|(known, _)| known == key));
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    if value(&["disabled"]) == Some("true") {
        return None;
    }
    let executor = value(&["genie.executor", "executor"])?;
    let executor = if executor.eq_ignore_ascii_case("claude") { "CLAUDE_CODE" } else { executor };
    let derived = if collective.is_empty() { stem.to_string() } else { format!("{collective}_{stem}") };
    let variant = screaming(value(&["forge_profile_name"]).unwrap_or(&derived))?;
    let agent = ProfileId::new(executor, Some(&variant)).ok()?.agent;
    forge_agents::agent(&agent)?;
    let mut settings = Map::new();
    let prompt = if body.is_empty() { Value::Null } else { format!("\n\n{body}").into() };
    settings.insert("append_prompt".into(), prompt);
    let own = format!("forge.{agent}.model");
    if let Some(model) = value(&[own.as_str(), "genie.model", "model"]) {
        settings.insert("model".into(), model.into());
    }
    Some(Found { agent, variant, settings })
}

/// Reads the texts of a head, each under its path: `genie.executor`. A list counts by its first item. This is
/// the part of YAML that such files use; what it does not know is left out.
fn scalars(head: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    for line in head.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if let Some(item) = trimmed.strip_prefix("- ") {
            let path = above.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>().join(".");
            if !found.iter().any(|(known, _)| *known == path) {
                found.push((path, plain(item)));
            }
            continue;
        }
        let Some((key, value)) = trimmed.split_once(':') else { continue };
        above.retain(|(depth, _)| *depth < indent);
        above.push((indent, plain(key)));
        let path = above.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>().join(".");
        let value = value.trim();
        let first = value
            .strip_prefix('[')
            .map(|list| list.trim_end_matches(']').split(',').next().unwrap_or_default());
        let value = plain(first.unwrap_or(value));
        if !value.is_empty() {
            found.push((path, value));
        }
    }
    found
}

/// A text without its quotes and the comment behind it.
fn plain(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = text.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner.to_string();
        }
    }
    text.split(" #").next().unwrap_or_default().trim().to_string()
}

/// Writes a name as variants are named: `code/explore-it` is `CODE_EXPLORE_IT`.
fn screaming(name: &str) -> Option<String> {
    let words: Vec<_> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name = words.join("_").to_ascii_uppercase();
    (!name.is_empty() && name.len() <= 64).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(root: &Path) -> Vec<String> {
        read(root).into_iter().map(|found| format!("{}:{}", found.agent, found.variant)).collect()
    }

    #[test]
    fn files_of_agents_become_variants_with_their_body_as_a_prompt() {
        let dir = tempfile::tempdir().unwrap();
        let head =
            "---\nname: x\ngenie:\n  executor: [claude, codex]\n  model: sonnet # fast\n---\n\nBe kind.\n";
        write(dir.path(), ".genie/agents/qa/deep-check.md", head);
        write(dir.path(), ".genie/code/agents/explore.md", "---\nexecutor: scripted\n---\nLook.\n");
        let list = "---\ngenie:\n  executor:\n    - CLAUDE_CODE\n    - CODEX\nforge_profile_name: OWN\nforge:\n  CLAUDE_CODE:\n    model: \"opus\"\n    dangerously_skip_permissions: true\n---\nx";
        write(dir.path(), ".genie/code/agents/listed.md", list);
        assert_eq!(names(dir.path()), ["CLAUDE_CODE:DEEP_CHECK", "SCRIPTED:CODE_EXPLORE", "CLAUDE_CODE:OWN"]);
        let found = read(dir.path());
        assert_eq!(found[0].settings["append_prompt"], "\n\nBe kind.");
        assert_eq!(found[0].settings["model"], "sonnet");
        assert_eq!(found[2].settings["model"], "opus");
        assert_eq!(found[2].settings.len(), 2, "a repository grants no permission: {:?}", found[2].settings);
    }

    #[test]
    fn what_names_no_agent_yields_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            ("plain.md", "just text"),
            ("no-end.md", "---\nexecutor: scripted\n"),
            ("nobody.md", "---\nexecutor: nobody\n---\nx"),
            ("off.md", "---\nexecutor: scripted\ndisabled: true\n---\nx"),
            ("README.md", "---\nexecutor: scripted\n---\nx"),
            ("notes.txt", "---\nexecutor: scripted\n---\nx"),
        ];
        for (name, text) in files {
            write(dir.path(), &format!(".genie/agents/{name}"), text);
        }
        let large = format!("---\nexecutor: scripted\n---\n{}", "x".repeat(LARGEST));
        write(dir.path(), ".genie/agents/large.md", &large);
        fs::write(dir.path().join(".genie/agents/bytes.md"), b"---\nexecutor: scripted\n---\n\xff").unwrap();
        assert_eq!(names(dir.path()), Vec::<String>::new());
        assert!(read(&dir.path().join("nowhere")).is_empty());
    }

    #[test]
    fn no_link_is_followed() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(outside.path(), "agents/secret.md", "---\nexecutor: scripted\n---\nx");
        write(dir.path(), ".genie/agents/own.md", "---\nexecutor: scripted\n---\nx");
        let link = |to: &Path, at: &str| std::os::unix::fs::symlink(to, dir.path().join(at)).unwrap();
        link(&outside.path().join("agents/secret.md"), ".genie/agents/secret.md");
        link(&outside.path().join("agents"), ".genie/agents/folder");
        link(outside.path(), ".genie/collective");
        assert_eq!(names(dir.path()), ["SCRIPTED:OWN"]);
        let other = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path().join(".genie"), other.path().join(".genie")).unwrap();
        assert!(read(other.path()).is_empty());
    }
}
