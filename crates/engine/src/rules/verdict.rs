//! What the rules of a project say about something an agent wants to do. A function of the two: nothing is stored.

use std::path::{Component, Path};

use forge_model::{Rule, RuleAbout, RuleEffect};
use serde_json::Value;

use super::words;

/// Something an agent wants to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
    /// The directory the agent works in.
    pub(crate) worktree: &'a Path,
}

/// What the rules say, and which of them, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allow(String),
    Deny(String),
    /// A person is asked: a rule says so, or none fits.
    Ask,
    /// A person is asked, because nobody can tell whether this rule, which denies or asks, fits.
    Unsure(String),
}

/// Names of tools that read a file, in the spellings of the agents that Forge knows, in lower case. The Agent Client
/// Protocol has `read` for all of them.
const READERS: &[&str] =
    &["notebookread", "read", "read_file", "read_many_files", "readfile", "readmanyfiles", "view"];

/// The same for tools that look for files or in them. The protocol's `search` may as well be one of the web.
const SEARCHERS: &[&str] = &["find", "glob", "grep", "grep_search", "search", "search_file_content"];

/// The same for tools that list a directory.
const LISTERS: &[&str] = &["list", "list_dir", "list_directory", "ls"];

/// Keys under which tools are told a path.
const PATHS: &[&str] = &[
    "absolute_path",
    "abs_path",
    "cwd",
    "dir_path",
    "directory",
    "file",
    "file_path",
    "filePath",
    "fileName",
    "filepath",
    "notebook_path",
    "path",
    "paths",
];

/// Keys under which tools that search files are told what to look for. A search of the web has a `query`.
const PATTERNS: &[&str] = &["glob", "include", "pattern", "regex"];

/// Returns what the first rule that fits says.
pub(crate) fn verdict(rules: &[Rule], wish: Wish<'_>) -> Verdict {
    let command = command(wish.input);
    for (at, rule) in rules.iter().enumerate() {
        let told = || format!("rule {}: {rule}", at + 1);
        let pattern = rule.pattern.as_deref().unwrap_or_default();
        let fits = match rule.about {
            RuleAbout::ReadOnly => only_reads(wish),
            RuleAbout::Tool => fits_tool(pattern, wish.tool),
            RuleAbout::Command => match &command {
                None => false,
                Some(Command::Words(words)) => begins(words, pattern),
                // It may hold what this rule is there to stop, in whatever disguise.
                Some(Command::More) if rule.effect != RuleEffect::Allow => return Verdict::Unsure(told()),
                Some(Command::More) => false,
            },
        };
        if fits {
            return match rule.effect {
                RuleEffect::Allow => Verdict::Allow(told()),
                RuleEffect::Deny => Verdict::Deny(told()),
                RuleEffect::Ask => Verdict::Ask,
            };
        }
    }
    Verdict::Ask
}

/// A command that an agent wants to run.
enum Command {
    /// One simple command.
    Words(Vec<String>),
    /// Something that only a shell understands.
    More,
}

/// Finds the command in a tool's input: a line for a shell, or a list of words.
fn command(input: &Value) -> Option<Command> {
    let input = input.get("rawInput").filter(|inner| inner.is_object()).unwrap_or(input);
    let found = input.get("command").or_else(|| input.get("cmd"))?;
    let read = |line: &str| words::of(line).map_or(Command::More, Command::Words);
    match found {
        Value::String(line) => Some(read(line)),
        Value::Array(items) => {
            let words: Option<Vec<String>> =
                items.iter().map(|item| item.as_str().map(str::to_string)).collect();
            Some(match words {
                // `bash -lc LINE`: the line is what counts.
                Some(words) if is_shell(&words) => words.last().map_or(Command::More, |line| read(line)),
                Some(words) => Command::Words(words),
                None => Command::More,
            })
        }
        _ => Some(Command::More),
    }
}

fn is_shell(words: &[String]) -> bool {
    let [program, flag, _] = words else { return false };
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    matches!(name, "sh" | "bash" | "zsh" | "dash") && matches!(flag.as_str(), "-c" | "-lc")
}

/// Says whether a command begins with the words of a pattern, whole words only.
fn begins(words: &[String], pattern: &str) -> bool {
    words::of(pattern).is_some_and(|pattern| !pattern.is_empty() && words.starts_with(&pattern))
}

fn fits_tool(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begin) => tool.starts_with(begin),
        None => tool == pattern,
    }
}

/// Says whether a tool only reads, and only below the worktree. What it reads must be told: an agent that keeps the
/// input of its calls to itself is asked about.
fn only_reads(wish: Wish<'_>) -> bool {
    let tool = wish.tool.to_ascii_lowercase();
    let is = |names: &[&str]| names.contains(&tool.as_str());
    let input = wish.input.get("rawInput").filter(|inner| inner.is_object()).unwrap_or(wish.input);
    let tells = |keys: &[&str]| keys.iter().any(|key| input.get(key).is_some_and(|told| !told.is_null()));
    let known =
        is(READERS) && (tells(PATHS) || tells(PATTERNS)) || is(SEARCHERS) && tells(PATTERNS) || is(LISTERS);
    known && command(wish.input).is_none() && stays_inside(wish.input, wish.worktree)
}

fn stays_inside(input: &Value, worktree: &Path) -> bool {
    let Value::Object(map) = input else { return true };
    map.iter().all(|(key, value)| holds(value, PATHS.contains(&key.as_str()), worktree))
}

/// Says whether everything in a value stays below the worktree, as a path or as something that may be a pattern.
fn holds(value: &Value, is_path: bool, worktree: &Path) -> bool {
    match value {
        Value::String(path) if is_path => is_inside(path, worktree),
        // A pattern may begin at the root as well as a path.
        Value::String(text) => !text.starts_with(['/', '~']) && !text.contains("../"),
        Value::Array(items) => items.iter().all(|item| holds(item, is_path, worktree)),
        Value::Object(_) => stays_inside(value, worktree),
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => !is_path,
    }
}

fn is_inside(path: &str, worktree: &Path) -> bool {
    let path = Path::new(path);
    let climbs = path.components().any(|part| matches!(part, Component::ParentDir));
    !climbs && !path.starts_with("~") && (path.is_relative() || path.starts_with(worktree))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(effect: RuleEffect, about: RuleAbout, pattern: &str) -> Rule {
        Rule { effect, about, pattern: Some(pattern.to_string()).filter(|text| !text.is_empty()) }
    }

    fn says(rules: &[Rule], tool: &str, input: Value) -> Verdict {
        verdict(rules, Wish { tool, input: &input, worktree: Path::new("/w") })
    }

    fn bash(rules: &[Rule], command: &str) -> Verdict {
        says(rules, "Bash", json!({"command": command}))
    }

    use RuleAbout::{Command as C, ReadOnly, Tool};
    use RuleEffect::{Allow, Ask, Deny};

    #[test]
    fn with_no_rule_that_fits_a_person_is_asked() {
        assert_eq!(bash(&[], "ls"), Verdict::Ask);
        assert_eq!(bash(&[rule(Allow, Tool, "Write")], "ls"), Verdict::Ask);
        assert_eq!(says(&[rule(Allow, C, "ls")], "Write", json!({"file_path": "ls"})), Verdict::Ask);
    }

    #[test]
    fn the_first_rule_that_fits_counts() {
        let rules = [rule(Deny, C, "git push"), rule(Ask, C, "git commit"), rule(Allow, C, "git")];
        assert_eq!(bash(&rules, "git push origin"), Verdict::Deny("rule 1: deny command git push".into()));
        assert_eq!(bash(&rules, "git commit -m x"), Verdict::Ask);
        assert_eq!(bash(&rules, "git status"), Verdict::Allow("rule 3: allow command git".into()));
    }

    #[test]
    fn a_command_is_allowed_by_its_first_words_and_as_one_simple_command_only() {
        let rules = [rule(Allow, C, "git status")];
        for allowed in ["git status", "git status -s", "  git   status --short  ", "git 'status'"] {
            assert!(matches!(bash(&rules, allowed), Verdict::Allow(_)), "{allowed}");
        }
        for asked in [
            "git",
            "git statusx",
            "git stash",
            "xgit status",
            "/tmp/git status",
            "git status; rm -rf /",
            "git status && rm x",
            "git status | sh",
            "git status $(rm x)",
            "git status `rm x`",
            "git status > /etc/x",
            "git status\nrm x",
            "PATH=. git status",
        ] {
            assert_eq!(bash(&rules, asked), Verdict::Ask, "{asked}");
        }
    }

    #[test]
    fn a_command_given_as_words_or_to_a_shell_is_read_the_same() {
        let rules = [rule(Allow, C, "cargo test")];
        let allowed = Verdict::Allow("rule 1: allow command cargo test".into());
        assert_eq!(says(&rules, "shell", json!({"command": ["cargo", "test", "-p", "x"]})), allowed);
        assert_eq!(says(&rules, "shell", json!({"command": ["/bin/bash", "-lc", "cargo test"]})), allowed);
        assert_eq!(says(&rules, "run", json!({"rawInput": {"command": "cargo test"}})), allowed);
        assert_eq!(
            says(&rules, "shell", json!({"command": ["bash", "-lc", "cargo test; rm x"]})),
            Verdict::Ask
        );
        // As words of a program, they are no shell's to read.
        assert_eq!(says(&rules, "shell", json!({"command": ["cargo", "test", ";", "rm"]})), allowed);
        assert_eq!(says(&rules, "shell", json!({"command": 7})), Verdict::Ask);
    }

    #[test]
    fn what_only_a_shell_understands_passes_no_rule_that_denies() {
        let rules = [rule(Deny, C, "rm"), rule(Allow, Tool, "Bash")];
        assert!(matches!(bash(&rules, "rm x"), Verdict::Deny(_)));
        assert!(matches!(bash(&rules, "ls"), Verdict::Allow(_)));
        assert!(matches!(bash(&rules, "ls; rm x"), Verdict::Unsure(_)));
        assert!(matches!(bash(&rules, "$(echo rm) x"), Verdict::Unsure(_)));
    }

    #[test]
    fn a_tool_is_named_whole_or_by_its_beginning() {
        let rules = [rule(Deny, Tool, "mcp__mail__*"), rule(Allow, Tool, "WebSearch")];
        assert!(matches!(says(&rules, "mcp__mail__send", json!({})), Verdict::Deny(_)));
        assert!(matches!(says(&rules, "WebSearch", json!({})), Verdict::Allow(_)));
        assert_eq!(says(&rules, "WebSearches", json!({})), Verdict::Ask);
        assert_eq!(says(&rules, "mcp__mai", json!({})), Verdict::Ask);
    }

    #[test]
    fn tools_that_only_read_are_allowed_below_the_worktree() {
        let rules = [rule(Allow, ReadOnly, "")];
        for (tool, input) in [
            ("Read", json!({"file_path": "/w/src/main.rs"})),
            ("Grep", json!({"pattern": "fn main", "path": "src"})),
            ("Glob", json!({"pattern": "**/*.rs"})),
            ("read_file", json!({"path": "a"})),
            ("LS", json!({})),
        ] {
            assert!(matches!(says(&rules, tool, input.clone()), Verdict::Allow(_)), "{tool} {input}");
        }
        for (tool, input) in [
            ("Read", json!({"file_path": "/etc/passwd"})),
            ("Read", json!({"file_path": "/w/../etc/passwd"})),
            ("Read", json!({"file_path": "~/.ssh/id_rsa"})),
            ("Read", json!({"file_path": "/wx/a"})),
            ("read_many_files", json!({"paths": ["a", "/etc/passwd"]})),
            ("Glob", json!({"pattern": "/etc/*"})),
            ("Grep", json!({"pattern": "x", "glob": "../**"})),
            ("Read", json!({"file_path": "a", "command": "rm x"})),
            ("Write", json!({"file_path": "a"})),
            ("Bash", json!({"command": "cat a"})),
            ("WebFetch", json!({"url": "http://x"})),
        ] {
            assert_eq!(says(&rules, tool, input.clone()), Verdict::Ask, "{tool} {input}");
        }
    }

    /// What each agent that is driven puts into an ask, by kind of tool. Those that write or run are as they were
    /// recorded; no agent was seen to ask before it reads in its own directory, so those are as its protocol has them.
    #[test]
    fn of_every_driven_agent_exactly_the_reading_tools_are_allowed() {
        let rules = [rule(Allow, ReadOnly, "")];
        let (yes, no) = (true, false);
        let content = "it was allowed";
        for (agent, tool, input, allowed) in [
            ("Claude", "Read", json!({"file_path": "/w/a.txt", "offset": 1}), yes),
            ("Claude", "Glob", json!({"pattern": "**/*.rs", "path": "/w/src"}), yes),
            ("Claude", "Grep", json!({"pattern": "x", "output_mode": "content", "-n": true}), yes),
            ("Claude", "LS", json!({"path": "/w", "ignore": ["target"]}), yes),
            ("Claude", "Write", json!({"content": content, "file_path": "/w/a.txt"}), no),
            ("Claude", "Bash", json!({"command": "touch b.txt"}), no),
            ("Claude", "WebSearch", json!({"query": "x"}), no),
            ("Claude", "mcp__files__read", json!({"path": "/w/a"}), no),
            (
                "Codex",
                "bash",
                json!({"command": "cat a", "commandActions": [{"type": "read"}], "cwd": "/w"}),
                no,
            ),
            ("Codex", "edit", json!({"files": ["new.txt"], "grantRoot": null, "reason": null}), no),
            ("Codex", "network", json!({"command": "curl x"}), no),
            ("Codex", "permissions", json!({"permissions": {}, "cwd": "/w", "reason": null}), no),
            ("Codex", "mcp:files", json!({"server": "files", "message": "read?"}), no),
            ("Gemini", "read", json!({"path": "/w/a.txt"}), yes),
            ("Gemini", "read", json!({"path": "/etc/passwd"}), no),
            ("Gemini", "read", json!({}), no),
            ("Gemini, on the web", "search", json!({}), no),
            ("Gemini", "edit", json!({"path": "/w/allowed.txt"}), no),
            ("Gemini", "execute", json!({}), no),
            ("Gemini", "fetch", json!({}), no),
            ("Qwen", "read_file", json!({"absolute_path": "/w/a.txt"}), yes),
            ("Qwen", "read_file", json!({"file_path": "/w/a.txt", "path": "/w/a.txt"}), yes),
            ("Qwen", "read_many_files", json!({"paths": ["src", "docs/*.md"]}), yes),
            ("Qwen", "read_many_files", json!({"include": ["/etc/*"]}), no),
            ("Qwen", "list_directory", json!({"path": "/w"}), yes),
            ("Qwen", "grep_search", json!({"pattern": "x", "path": "/w"}), yes),
            ("Qwen", "glob", json!({"pattern": "*.rs"}), yes),
            ("Qwen", "web_search", json!({"query": "x"}), no),
            ("Qwen", "write_file", json!({"content": content, "file_path": "/w/a", "path": "/w/a"}), no),
            ("Qwen", "run_shell_command", json!({"command": "touch acp2.txt"}), no),
            ("opencode", "read", json!({"filePath": "/w/a.txt", "path": "/w/a.txt"}), yes),
            ("opencode", "read", json!({"filePath": "/w/.env", "path": "/other/.env"}), no),
            ("opencode", "search", json!({"pattern": "x", "path": "/w", "include": "*.rs"}), yes),
            ("opencode, context7", "search", json!({"query": "x", "libraryId": "/a/b"}), no),
            ("opencode", "edit", json!({"diff": "Index: /w/a", "filepath": "/w/a", "path": "/w/a"}), no),
            ("opencode", "execute", json!({"command": "touch acp3.txt", "cwd": "/w"}), no),
            ("Copilot", "read", json!({"path": "/w/a.txt"}), yes),
            ("Copilot", "search", json!({"pattern": "x", "glob": "*.ts", "path": "/w"}), yes),
            ("Copilot", "edit", json!({"diff": "diff --git", "fileName": "/w/a", "path": "/w/a"}), no),
            ("Copilot", "execute", json!({"command": "touch x", "commands": ["touch x"]}), no),
            ("Kimi", "execute", json!({"command": "touch acp4.txt"}), no),
            ("Droid", "edit", json!({"content": content, "file_path": "/w/a", "path": "/w/a"}), no),
            ("a tool of an MCP server", "other: search", json!({"pattern": "x"}), no),
            ("a tool of an MCP server", "other: read", json!({"path": "/w/a"}), no),
        ] {
            let said = says(&rules, tool, input.clone());
            assert_eq!(matches!(said, Verdict::Allow(_)), allowed, "{agent}: {tool} {input}");
        }
    }
}
