//! What a foreign run was told to do, and the names of agents in every spelling they ever had.
//!
//! A shape that is long gone is read as far as it goes; the prompt then comes from the row of the conversation.

use forge_model::ProfileId;
use serde_json::Value;

/// What a run was told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Action {
    /// The prompt of an agent, or the text of a script.
    pub(super) prompt: Option<String>,
    /// The agent's conversation that it goes on with.
    pub(super) session: Option<String>,
    pub(super) profile: Option<ProfileId>,
}

/// Reads the action of a run. What would have come after it was a plan, and is not history.
pub(super) fn read(text: &str) -> Action {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Action::default() };
    let typ = value.get("typ").unwrap_or(&value);
    let text = |key: &str| typ.get(key).and_then(Value::as_str).map(str::to_string);
    let named = ["executor_config", "executor_profile_id", "profile_variant_label"];
    let profile = named.iter().find_map(|key| typ.get(*key)).or_else(|| typ.get("profile"));
    Action {
        prompt: text("prompt").or_else(|| text("script")),
        session: text("session_id"),
        profile: profile.and_then(profile_in),
    }
}

/// Reads a profile in any of its shapes: a text, or an object that has the agent as `executor` or `profile`.
pub(super) fn profile_in(value: &Value) -> Option<ProfileId> {
    if let Value::String(text) = value {
        return Some(profile(text, None));
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let agent = text("executor").or_else(|| text("profile")).or_else(|| text("type"))?;
    Some(profile(agent, text("variant")))
}

/// Reads the name of an agent, and perhaps its variant after a colon. A name that is not known here is kept.
pub(super) fn profile(agent: &str, variant: Option<&str>) -> ProfileId {
    let (agent, inner) = match agent.split_once(':') {
        Some((agent, inner)) => (agent, Some(inner)),
        None => (agent, None),
    };
    let name = plain(agent);
    let (name, implied) = match name.as_str() {
        "CLAUDE" | "CLAUDECODE" => ("CLAUDE_CODE".to_string(), None),
        "CLAUDE_PLAN" | "CLAUDEPLAN" => ("CLAUDE_CODE".to_string(), Some("PLAN")),
        "SST_OPENCODE" | "CHARM_OPENCODE" | "SSTOPENCODE" | "CHARMOPENCODE" => ("OPENCODE".to_string(), None),
        "" => ("UNKNOWN".to_string(), None),
        _ => (joined(&name), None),
    };
    let variant = variant.or(inner).map(plain).filter(|variant| !variant.is_empty());
    let read = ProfileId::new(&name, variant.as_deref().or(implied));
    read.unwrap_or(ProfileId { agent: name, variant: None })
}

/// Says whether this Forge can call an agent of that name.
pub(super) fn is_known(profile: &ProfileId) -> bool {
    forge_agents::agent(&profile.agent).is_some()
}

/// Finds the agent whose name was written without its underscores.
fn joined(name: &str) -> String {
    let known = forge_agents::AGENTS.iter().map(|agent| agent.name());
    let mut same = known.filter(|known| known.replace('_', "") == name.replace('_', ""));
    same.next().map_or_else(|| name.to_string(), str::to_string)
}

fn plain(text: &str) -> String {
    let upper = text.trim().to_ascii_uppercase();
    upper.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_found_under_every_name_it_ever_had() {
        for (written, wanted) in [
            ("CLAUDE_CODE", "CLAUDE_CODE"),
            ("CLAUDE_CODE:PLAN", "CLAUDE_CODE:PLAN"),
            ("CLAUDE_CODE:DEFAULT", "CLAUDE_CODE"),
            ("ClaudeCode", "CLAUDE_CODE"),
            ("claude-code", "CLAUDE_CODE"),
            ("CLAUDE-CODE", "CLAUDE_CODE"),
            ("claude", "CLAUDE_CODE"),
            ("claude-plan", "CLAUDE_CODE:PLAN"),
            ("sst-opencode", "OPENCODE"),
            ("charm-opencode", "OPENCODE"),
            ("cursor", "CURSOR_AGENT"),
            ("echo", "ECHO"),
            ("", "UNKNOWN"),
            ("what ever", "WHAT_EVER"),
        ] {
            assert_eq!(profile(written, None).to_string(), wanted, "{written:?}");
        }
    }

    #[test]
    fn an_action_is_read_in_the_shape_of_every_age() {
        let old = r#"{"typ":{"type":"CodingAgentInitialRequest","prompt":"p",
            "profile_variant_label":{"profile":"claude-code","variant":"plan"}},"next_action":null}"#;
        let newer = r#"{"typ":{"type":"CodingAgentFollowUpRequest","prompt":"p","session_id":"s",
            "executor_profile_id":{"executor":"CLAUDE_CODE","variant":"PLAN"}}}"#;
        let newest = r#"{"typ":{"type":"ReviewRequest","prompt":"p","executor_config":{"executor":"CLAUDE_CODE",
            "variant":"PLAN","model_id":"m"}}}"#;
        for text in [old, newer, newest] {
            let action = read(text);
            assert_eq!(action.prompt.as_deref(), Some("p"));
            assert_eq!(action.profile.unwrap().to_string(), "CLAUDE_CODE:PLAN");
        }
        assert_eq!(read(newer).session.as_deref(), Some("s"));
        let script = read(r#"{"typ":{"type":"ScriptRequest","script":"echo","language":"Bash"}}"#);
        assert_eq!(script.prompt.as_deref(), Some("echo"));
        for nothing in ["", "{}", "[1]", "no json"] {
            assert_eq!(read(nothing), Action::default(), "{nothing:?}");
        }
    }
}
