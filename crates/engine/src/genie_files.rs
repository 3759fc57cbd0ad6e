//! Agent files of a repository: Markdown below `.genie`, whose head names an agent and whose body is a prompt.
//!
//! The repository is somebody's, so nothing in it is followed out of it, read without bounds, or believed: a
//! file gives a prompt and a model, and may ask for fewer permissions than the agent usually has; it never gives a
//! command, an environment or a further permission.

mod head;

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use forge_model::ProfileId;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};

use head::Head;

/// How deep folders of agents may lie in one another.
const DEEPEST: usize = 6;
/// How many names are looked at, and how many files are read.
const MOST_NAMES: usize = 5000;
const MOST_FILES: usize = 200;
/// Files among the agents that describe none.
const NO_AGENTS: &[&str] = &["README", "AGENTS"];
/// The largest file that is read.
const LARGEST: usize = 64 * 1024;

/// What an agent file says, as far as it is believed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Found {
    /// Where it lies in the repository.
    pub(crate) path: String,
    /// Its path below the folder of agents, without the ending: `qa/deep-check`.
    pub(crate) id: String,
    /// The folder of agents it belongs to, where that is not the general one.
    pub(crate) collective: Option<String>,
    /// The name its head gives.
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// The agent it is for; none means the one that is set.
    pub(crate) agent: Option<String>,
    /// Names for its variant, the wanted one first.
    pub(crate) variants: Vec<String>,
    /// The variant of Forge whose settings it stands on, where it names one.
    pub(crate) base: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) sandbox: Option<String>,
    pub(crate) background: Option<bool>,
    pub(crate) hidden: bool,
    /// What it tells its agent.
    pub(crate) body: String,
}

/// The agent files of a repository, in the order of their names, and what could not be made of others.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) found: Vec<Found>,
    /// Files, and what is wrong with each.
    pub(crate) warnings: Vec<(String, String)>,
}

/// Reads the agent files of a repository. A file that cannot be used is told, not believed.
pub(crate) fn read(repository: &Path) -> Read {
    let mut walk = Walk { names: 0, files: 0, read: Read::default() };
    let root = openat(CWD, repository, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let Some(genie) = root.ok().and_then(|root| folder(&root, ".genie")) else { return walk.read };
    for name in walk.folders(&genie) {
        let Some(inner) = folder(&genie, &name) else { continue };
        if name == "agents" {
            walk.agents(&inner, &Place { collective: None, below: String::new() }, 0);
        } else if let Some(agents) = folder(&inner, "agents") {
            walk.agents(&agents, &Place { collective: Some(name), below: String::new() }, 0);
        }
    }
    walk.read
}

/// Where a walk stands.
struct Place {
    collective: Option<String>,
    /// The folders below the folder of agents, each with a slash behind it.
    below: String,
}

impl Place {
    fn path(&self, name: &str) -> String {
        match &self.collective {
            Some(collective) => format!(".genie/{collective}/agents/{}{name}", self.below),
            None => format!(".genie/agents/{}{name}", self.below),
        }
    }
}

struct Walk {
    names: usize,
    files: usize,
    read: Read,
}

impl Walk {
    /// Reads the files of a folder and of those below.
    fn agents(&mut self, dir: &OwnedFd, place: &Place, depth: usize) {
        for (name, kind) in self.entries(dir) {
            if self.files >= MOST_FILES {
                return;
            }
            match kind {
                FileType::Directory if depth < DEEPEST => {
                    if let Some(inner) = folder(dir, &name) {
                        let below = format!("{}{name}/", place.below);
                        let place = Place { collective: place.collective.clone(), below };
                        self.agents(&inner, &place, depth + 1);
                    }
                }
                FileType::RegularFile => {
                    let Some(stem) = name.strip_suffix(".md").filter(|stem| !NO_AGENTS.contains(stem)) else {
                        continue;
                    };
                    self.files += 1;
                    self.file(dir, place, &name, stem);
                }
                _ => {}
            }
        }
    }

    fn file(&mut self, dir: &OwnedFd, place: &Place, name: &str, stem: &str) {
        let mut warn = |why: String| self.read.warnings.push((place.path(name), why));
        let text = match text(dir, name) {
            Ok(text) => text,
            Err(why) => return warn(why),
        };
        let Some((head, body)) = head::split(&text) else {
            return warn("it has no head between two lines of `---`, so it yields no settings".to_string());
        };
        if let Some(damage) = &head.damage {
            warn(format!("its head is not YAML and was read line by line: {damage}"));
        }
        if head.flag(&["disabled", "genie.disabled"]) == Some(true) {
            return;
        }
        match understood(&head, body, place, name, stem) {
            Ok(found) => {
                if let Some(odd) = unknown_permission(&head) {
                    warn(format!("its permission mode {odd:?} is none that is known, and is left out"));
                }
                if found.agent.is_none() {
                    warn("it names no executor, so the agent that is set in Forge is used".to_string());
                }
                self.read.found.push(found);
            }
            Err(why) => warn(why),
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

/// Reads a file, or says why not: it is a link, too large or no text.
fn text(dir: &OwnedFd, name: &str) -> Result<String, String> {
    use std::io::Read;
    // It may have become a pipe since it was listed, and opening one for reading would wait for a writer.
    let flags = OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = openat(dir, name, flags, Mode::empty()).map(std::fs::File::from);
    let file = file.map_err(|error| format!("it cannot be opened: {error}"))?;
    if !file.metadata().is_ok_and(|about| about.is_file()) {
        return Err("it is not a plain file".to_string());
    }
    let mut bytes = Vec::new();
    let read = file.take(LARGEST as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() > LARGEST {
        return Err(format!("it is larger than {} KB", LARGEST / 1024));
    }
    String::from_utf8(bytes).map_err(|_| "it is not text".to_string())
}

fn understood(head: &Head, body: &str, place: &Place, file: &str, stem: &str) -> Result<Found, String> {
    let agent = match head.text(&["genie.executor", "executor"]) {
        Some(named) => Some(agent_called(named)?),
        None => None,
    };
    let collective = place.collective.as_deref().unwrap_or_default();
    let wanted = head.text(&["forge_profile_name", "genie.forge_profile_name"]);
    let derived = if collective.is_empty() { stem.to_string() } else { format!("{collective}_{stem}") };
    let whole = format!("{collective}_{}{stem}", place.below);
    let candidates = [wanted.unwrap_or_default(), &derived, &whole, &format!("agents_{whole}")];
    let mut variants: Vec<String> = candidates.iter().filter_map(|name| screaming(name)).collect();
    variants.dedup();
    if variants.is_empty() {
        return Err("its name has no letter or digit that a variant could be called by".to_string());
    }
    let own = |key: &str| -> Option<String> {
        let agent = agent.as_deref()?;
        let found = head.text(&[format!("forge.{agent}.{key}").as_str()]);
        found.map(str::to_string)
    };
    let text = |keys: &[&str]| head.text(keys).map(str::to_string);
    Ok(Found {
        path: place.path(file),
        id: format!("{}{stem}", place.below),
        collective: place.collective.clone(),
        name: text(&["name"]),
        description: text(&["description"]),
        base: text(&["genie.variant", "genie.executorVariant", "genie.executor_variant", "variant"])
            .and_then(|name| screaming(&name))
            .or_else(|| permission(head, agent.as_deref()).map(str::to_string)),
        model: own("model").or_else(|| text(&["forge.model", "genie.model", "model"])),
        effort: own("model_reasoning_effort")
            .or_else(|| own("effort"))
            .or_else(|| text(&["genie.reasoningEffort", "genie.reasoning_effort", "reasoningEffort"])),
        sandbox: own("sandbox").or_else(|| text(&["genie.sandbox", "sandbox"])),
        background: head.flag(&["genie.background", "background"]),
        hidden: head.flag(&["hidden", "genie.hidden"]) == Some(true),
        agent,
        variants,
        body: body.to_string(),
    })
}

/// Finds the agent that a file means.
fn agent_called(named: &str) -> Result<String, String> {
    let named = if named.eq_ignore_ascii_case("claude") { "CLAUDE_CODE" } else { named };
    let agent = ProfileId::new(named, None).ok().map(|profile| profile.agent);
    agent
        .filter(|agent| forge_agents::agent(agent).is_some())
        .ok_or_else(|| format!("its executor {named:?} is no agent of this Forge, so it cannot be started"))
}

const PERMISSION: &[&str] =
    &["genie.permissionMode", "genie.permission_mode", "permissionMode", "permission_mode"];

/// The variant that stands for the permissions a file asks for. It can ask for fewer than the agent's usual ones,
/// and not for more: the words for more mean the usual ones.
fn permission(head: &Head, agent: Option<&str>) -> Option<&'static str> {
    match head.text(PERMISSION) {
        Some("plan") => return Some("PLAN"),
        Some("default" | "acceptEdits") => return Some("APPROVALS"),
        _ => {}
    }
    let skips = head.flag(&[format!("forge.{}.dangerously_skip_permissions", agent?).as_str()]);
    (skips == Some(false)).then_some("APPROVALS")
}

fn unknown_permission(head: &Head) -> Option<&str> {
    let named = head.text(PERMISSION)?;
    (!matches!(named, "plan" | "default" | "acceptEdits" | "bypassPermissions")).then_some(named)
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
        let name = |found: Found| format!("{}:{}", found.agent.unwrap_or_default(), found.variants[0]);
        read(root).found.into_iter().map(name).collect()
    }

    #[test]
    fn files_of_agents_become_variants_with_their_body_as_a_prompt() {
        let dir = tempfile::tempdir().unwrap();
        let head = "**Last Updated:** 2025-10-18\n---\nname: x\ngenie:\n  executor: [claude, codex]\n  model: sonnet # fast\n  permissionMode: plan\n---\n\nBe kind.\n";
        write(dir.path(), ".genie/agents/qa/deep-check.md", head);
        write(dir.path(), ".genie/code/agents/explore.md", "---\nexecutor: scripted\n---\nLook.\n");
        let list = "---\ngenie:\n  executor:\n    - CLAUDE_CODE\n    - CODEX\nforge_profile_name: OWN\nforge:\n  CLAUDE_CODE:\n    model: \"opus\"\n    dangerously_skip_permissions: true\n---\nx";
        write(dir.path(), ".genie/code/agents/listed.md", list);
        assert_eq!(names(dir.path()), ["CLAUDE_CODE:DEEP_CHECK", "SCRIPTED:CODE_EXPLORE", "CLAUDE_CODE:OWN"]);
        let read = read(dir.path());
        assert_eq!(read.warnings, []);
        let found = read.found;
        assert_eq!((found[0].id.as_str(), found[0].body.as_str()), ("qa/deep-check", "Be kind."));
        assert_eq!(found[0].path, ".genie/agents/qa/deep-check.md");
        assert_eq!((found[0].model.as_deref(), found[0].base.as_deref()), (Some("sonnet"), Some("PLAN")));
        assert_eq!((found[1].id.as_str(), found[1].collective.as_deref()), ("explore", Some("code")));
        assert_eq!(found[2].model.as_deref(), Some("opus"));
        assert_eq!(found[2].base, None, "a repository grants no permission");
    }

    #[test]
    fn what_cannot_be_used_is_warned_about_by_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            ("plain.md", "just text", "yields no settings"),
            ("no-end.md", "---\nexecutor: scripted\n", "yields no settings"),
            ("nobody.md", "---\nexecutor: nobody\n---\nx", "\"nobody\" is no agent"),
            ("off.md", "---\nexecutor: scripted\ndisabled: true\n---\nx", ""),
            ("README.md", "---\nexecutor: scripted\n---\nx", ""),
            ("notes.txt", "---\nexecutor: scripted\n---\nx", ""),
        ];
        for (name, text, _) in files {
            write(dir.path(), &format!(".genie/agents/{name}"), text);
        }
        let large = format!("---\nexecutor: scripted\n---\n{}", "x".repeat(LARGEST));
        write(dir.path(), ".genie/agents/large.md", &large);
        fs::write(dir.path().join(".genie/agents/bytes.md"), b"---\nexecutor: scripted\n---\n\xff").unwrap();
        assert_eq!(names(dir.path()), Vec::<String>::new());
        let warnings = read(dir.path()).warnings;
        let about = |name: &str| warnings.iter().find(|(path, _)| *path == format!(".genie/agents/{name}"));
        for (name, _, told) in files {
            match about(name) {
                Some((_, why)) => assert!(!told.is_empty() && why.contains(told), "{name}: {why}"),
                None => assert_eq!(told, "", "{name}"),
            }
        }
        assert!(about("large.md").is_some() && about("bytes.md").is_some());
        assert_eq!(read(&dir.path().join("nowhere")), Read::default());
    }

    #[test]
    fn a_file_without_an_executor_is_for_the_agent_that_is_set_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), ".genie/agents/plain.md", "---\nname: plain\n---\nx");
        assert_eq!(names(dir.path()), [":PLAIN"]);
        assert!(read(dir.path()).warnings[0].1.contains("names no executor"));
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
        assert_eq!(read(other.path()), Read::default());
    }
}
