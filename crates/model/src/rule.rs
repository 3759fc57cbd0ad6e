//! A rule: what the agents of a project may do without asking, or not at all.

use std::fmt;

use crate::state::named;

/// One rule of a project. They are read in their order, and the first that fits counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub effect: RuleEffect,
    pub about: RuleAbout,
    /// The first words of a command, or the name of a tool; none for tools that only read.
    pub pattern: Option<String>,
}

named! {
    /// What becomes of an ask that a rule fits.
    RuleEffect {
        Allow = "allow",
        Deny = "deny",
        Ask = "ask",
    }
}

named! {
    /// What a rule looks at.
    RuleAbout {
        /// Tools that only read, below the worktree.
        ReadOnly = "read_only",
        /// A command that begins with these words.
        Command = "command",
        /// A tool by its name; a `*` at the end stands for the rest.
        Tool = "tool",
    }
}

/// Written as a person would say it: `allow command git status`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.about, &self.pattern) {
            (RuleAbout::ReadOnly, _) => write!(f, "{} read-only tools", self.effect),
            (about, pattern) => write!(f, "{} {about} {}", self.effect, pattern.as_deref().unwrap_or("")),
        }
    }
}
