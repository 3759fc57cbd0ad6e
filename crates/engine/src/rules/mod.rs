//! Rules of projects: what agents may do without asking, and what not at all.
//!
//! A rule answers permissions only. What a person is asked in words, and plans, are theirs to answer.

mod verdict;
mod words;

use forge_model::{Noun, Op, ProjectId, Rule, RuleAbout};

use crate::store::{projects, rules};
use crate::{Engine, Error, Result};

pub(crate) use verdict::{Verdict, Wish, verdict};

/// More rules than anybody reads.
const MOST: usize = 200;

/// The longest pattern, in characters.
const LONGEST: usize = 1000;

impl Engine {
    /// Returns the rules of a project, in their order.
    pub async fn rules(&self, project: ProjectId) -> Result<Vec<Rule>> {
        let found = self.inner.store.read(move |conn| {
            Ok(match projects::one(conn, project)? {
                Some(_) => Some(rules::of_project(conn, project)?),
                None => None,
            })
        });
        found.await?.ok_or_else(|| no_project(project))
    }

    /// Puts these in the place of all rules of a project. They count for what is asked from now on.
    pub async fn set_rules(&self, project: ProjectId, new: Vec<Rule>) -> Result<Vec<Rule>> {
        if new.len() > MOST {
            return Err(Error::invalid(format!("`rules` must not be more than {MOST}")));
        }
        let mut checked = Vec::with_capacity(new.len());
        for (at, rule) in new.into_iter().enumerate() {
            checked.push(check(rule).map_err(|why| Error::invalid(format!("`rules[{at}].pattern` {why}")))?);
        }
        let written = self.inner.store.write(move |tx| {
            if projects::one(tx.conn(), project)?.is_none() {
                return Ok(None);
            }
            rules::replace(tx.conn(), project, &checked, tx.now())?;
            tx.changed(Noun::Project, project, Op::Change, Some(project), None);
            Ok(Some(checked))
        });
        written.await?.ok_or_else(|| no_project(project))
    }
}

fn no_project(id: ProjectId) -> Error {
    Error::not_found(format!("there is no project {id}"))
}

/// Checks that a rule can fit something, and writes its pattern in one way.
fn check(rule: Rule) -> std::result::Result<Rule, String> {
    let pattern = rule.pattern.as_deref().map(str::trim).filter(|pattern| !pattern.is_empty());
    if pattern.is_some_and(|pattern| pattern.chars().count() > LONGEST) {
        return Err(format!("must not be longer than {LONGEST} characters"));
    }
    let pattern = match (rule.about, pattern) {
        (RuleAbout::ReadOnly, None) => None,
        (RuleAbout::ReadOnly, Some(_)) => return Err("must not be given for `read_only`".into()),
        (RuleAbout::Command, None) => return Err("must be the first words of a command".into()),
        (RuleAbout::Tool, None) => return Err("must be the name of a tool".into()),
        (RuleAbout::Command, Some(pattern)) => match words::of(pattern) {
            Some(words) if !words.is_empty() => Some(pattern.to_string()),
            _ => {
                return Err(format!(
                    "{pattern:?} is no single command: write its first words, without `;`, `&`, `|`, `$`, \
                     backticks, redirects or new lines"
                ));
            }
        },
        (RuleAbout::Tool, Some(pattern)) => Some(pattern.to_string()),
    };
    Ok(Rule { pattern, ..rule })
}

#[cfg(test)]
mod tests {
    use forge_model::RuleEffect;

    use super::*;

    #[test]
    fn a_rule_that_could_fit_nothing_is_refused_with_the_reason() {
        let rule = |about, pattern: Option<&str>| Rule {
            effect: RuleEffect::Allow,
            about,
            pattern: pattern.map(str::to_string),
        };
        assert!(
            check(rule(RuleAbout::Command, Some("git status; rm"))).unwrap_err().contains("single command")
        );
        assert!(check(rule(RuleAbout::Command, Some("  "))).is_err());
        assert!(check(rule(RuleAbout::Tool, None)).is_err());
        assert!(check(rule(RuleAbout::ReadOnly, Some("Read"))).is_err());
        let kept = check(rule(RuleAbout::Command, Some(" git status "))).unwrap();
        assert_eq!(kept.pattern.as_deref(), Some("git status"));
    }
}
