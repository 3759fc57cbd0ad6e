//! How an agent that speaks the protocol is called, and what its session is told, by the person's profile.

use serde_json::Value;

use super::Acp;
use super::modes::{Decides, Wanted};
use crate::{CommandSpec, Program, Turn};

/// Returns the command that plays turns. The prompt is never an argument: it goes in by the protocol.
pub(super) fn command(agent: &Acp, turn: &Turn) -> CommandSpec {
    let row = &agent.row;
    let mut args: Vec<String> = row.args.iter().map(|arg| (*arg).to_string()).collect();
    if let (Some(flag), Some(model)) = (row.model, model(turn)) {
        args.extend([flag.to_string(), model.to_string()]);
    }
    for (key, flag) in [
        ("allow_tool", "--allow-tool"),
        ("deny_tool", "--deny-tool"),
        ("add_dir", "--add-dir"),
        ("disable_mcp_server", "--disable-mcp-server"),
    ] {
        for value in texts(turn.settings.get(key)) {
            args.extend([flag.to_string(), value.to_string()]);
        }
    }
    let mut env = pairs(row.env);
    if decides(turn) != Decides::Nobody {
        env.extend(pairs(row.env_asking));
    }
    let program = match agent.about.program {
        Some(name) => turn.program(name, agent.about.install, agent.about.npx),
        None => Program::Unnamed { setting: "base_command_override" },
    };
    CommandSpec { program, args, env, unset: Vec::new() }.with_settings(turn)
}

/// Returns what the session is told before its first prompt.
pub(super) fn wanted(agent: &Acp, turn: &Turn) -> Wanted {
    let autonomy = turn.text_setting("autonomy").map(|level| match level {
        "low" | "medium" | "high" => format!("auto-{level}"),
        other => other.to_string(),
    });
    let named = turn.text_setting("mode").or_else(|| turn.text_setting("agent")).map(str::to_string);
    let mode = named.or(autonomy);
    Wanted {
        decides: match decides(turn) {
            // A mode of the agent's own decides what it asks; whatever it asks is for the person.
            Decides::Nobody if mode.is_some() && turn.text_setting("agent").is_none() => Decides::Person,
            decides => decides,
        },
        mode,
        model: match agent.row.model {
            Some(_) => None,
            None => model(turn).map(str::to_string),
        },
    }
}

/// Reads who decides from the settings; where they are silent, from the variants that have always been there.
fn decides(turn: &Turn) -> Decides {
    let variant = turn.variant.as_deref().unwrap_or_default();
    let free = ["yolo", "allow_all_tools", "auto_approve", "dangerously_skip_permissions"];
    if turn.flag_setting("plan").unwrap_or(variant == "PLAN") {
        Decides::PersonAfterPlan
    } else if turn.flag_setting("approvals").unwrap_or(variant == "APPROVALS")
        || free.iter().any(|key| turn.flag_setting(key) == Some(false))
    {
        Decides::Person
    } else {
        Decides::Nobody
    }
}

/// The model to use; `default` is the agent's own choice.
fn model(turn: &Turn) -> Option<&str> {
    turn.text_setting("model").filter(|model| *model != "default")
}

/// Reads a setting that is a text or a list of them.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) if !text.trim().is_empty() => vec![text],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn pairs(env: &[(&str, &str)]) -> Vec<(String, String)> {
    env.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{ANY, COPILOT, DROID, GEMINI, OPENCODE, QWEN_CODE};
    use super::*;
    use serde_json::json;

    fn turn(settings: Value) -> Turn {
        Turn { prompt: "--help".into(), worktree: "/repo".into(), settings, ..Turn::default() }
    }

    #[test]
    fn every_agent_is_called_as_it_was_tried() {
        let line = |agent: &Acp, settings| {
            let spec = command(agent, &turn(settings));
            let program = match spec.program {
                Program::Named { name, .. } => name.to_string(),
                other => format!("{other:?}"),
            };
            format!("{program} {}", spec.args.join(" "))
        };
        assert_eq!(line(&GEMINI, json!({"model": "flash"})), "gemini --acp -m flash");
        assert_eq!(line(&GEMINI, json!({"model": "default"})), "gemini --acp");
        assert_eq!(line(&QWEN_CODE, json!({"additional_params": ["-d"]})), "qwen --acp -d");
        assert_eq!(line(&OPENCODE, json!({"model": "fake/one"})), "opencode acp");
        assert_eq!(
            line(&DROID, json!({"model": "custom:Fake-0"})),
            "droid exec --output-format acp -m custom:Fake-0"
        );
        let copilot = json!({"model": "gpt-5", "deny_tool": "shell", "add_dir": ["/a", "/b"]});
        assert_eq!(
            line(&COPILOT, copilot),
            "copilot --acp --model gpt-5 --deny-tool shell --add-dir /a --add-dir /b"
        );
    }

    #[test]
    fn an_agent_without_a_program_needs_the_profile_to_name_one() {
        let spec = command(&ANY, &turn(Value::Null));
        assert_eq!(spec.program, Program::Unnamed { setting: "base_command_override" });
        let spec = command(&ANY, &turn(json!({"base_command_override": "my-agent acp", "env": {"A": "1"}})));
        assert_eq!(spec.program, Program::Given { argv: vec!["my-agent".into(), "acp".into()] });
        assert_eq!(spec.env, [("A".to_string(), "1".to_string())]);
    }

    #[test]
    fn the_settings_decide_and_then_the_variant() {
        let decided = |settings, variant: Option<&str>| {
            decides(&Turn { variant: variant.map(str::to_string), ..turn(settings) })
        };
        assert_eq!(decided(Value::Null, None), Decides::Nobody);
        assert_eq!(decided(json!({"yolo": true}), Some("GENIE")), Decides::Nobody);
        assert_eq!(decided(json!({"yolo": false}), None), Decides::Person);
        assert_eq!(decided(json!({"allow_all_tools": false}), None), Decides::Person);
        assert_eq!(decided(Value::Null, Some("APPROVALS")), Decides::Person);
        assert_eq!(decided(Value::Null, Some("PLAN")), Decides::PersonAfterPlan);
        assert_eq!(decided(json!({"plan": false}), Some("PLAN")), Decides::Nobody);
    }

    #[test]
    fn an_agent_that_asks_only_when_told_to_is_told_to() {
        let env = |settings| command(&OPENCODE, &turn(settings)).env;
        assert!(env(Value::Null).is_empty());
        assert_eq!(env(json!({"approvals": true}))[0].0, "OPENCODE_PERMISSION");
        assert_eq!(env(json!({"plan": true}))[0].0, "OPENCODE_PERMISSION");
    }

    #[test]
    fn a_mode_of_the_agents_own_is_set_and_what_it_asks_is_for_the_person() {
        let mode = |agent: &Acp, settings| {
            let wanted = wanted(agent, &turn(settings));
            (wanted.mode, wanted.decides)
        };
        assert_eq!(mode(&DROID, json!({"autonomy": "low"})), (Some("auto-low".into()), Decides::Person));
        assert_eq!(mode(&GEMINI, json!({"mode": "autoEdit"})), (Some("autoEdit".into()), Decides::Person));
        assert_eq!(mode(&OPENCODE, json!({"agent": "build"})), (Some("build".into()), Decides::Nobody));
        assert_eq!(wanted(&OPENCODE, &turn(json!({"model": "m"}))).model.as_deref(), Some("m"));
        assert_eq!(wanted(&GEMINI, &turn(json!({"model": "flash"}))).model, None);
    }
}
