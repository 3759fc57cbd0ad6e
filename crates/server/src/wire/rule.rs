//! Rules of a project on the wire.

use forge_model::{RuleAbout, RuleEffect};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Body, need};
use crate::decode::{Fields, names};
use crate::error::Problem;

/// A rule of a project: what its agents may do without asking, or not at all.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Rule {
    effect: RuleEffect,
    about: RuleAbout,
    /// The first words of a command, or the name of a tool; null for tools that only read.
    pattern: Option<String>,
    /// The rule in words.
    text: String,
}

impl From<forge_model::Rule> for Rule {
    fn from(rule: forge_model::Rule) -> Self {
        Self { text: rule.to_string(), effect: rule.effect, about: rule.about, pattern: rule.pattern }
    }
}

pub(crate) const SET_RULES: Body = Body::new("SetRules", &[need(names::RULES)]);

/// Reads the rules of a body, in their order.
pub(crate) fn rules(fields: &Fields) -> Result<Vec<forge_model::Rule>, Problem> {
    let rules = fields.objects(names::RULES)?;
    let read = rules.iter().map(|rule| {
        let must = |name| rule.refuse(name, "must be given");
        Ok(forge_model::Rule {
            effect: rule.one_of(names::RULE_EFFECT)?.ok_or_else(|| must(names::RULE_EFFECT))?,
            about: rule.one_of(names::RULE_ABOUT)?.ok_or_else(|| must(names::RULE_ABOUT))?,
            pattern: rule.filled_text(names::RULE_PATTERN)?,
        })
    });
    read.collect()
}
