//! How Codex is called and its thread opened. The prompt is never an argument: it goes in by the protocol.

use serde_json::{Map, Value, json};

use crate::{CommandSpec, Program, Turn};

pub(super) const INSTALL: &str = "npm install -g @openai/codex";

/// What `install: npx` in a profile runs: the version whose recordings the tests hold.
pub(super) const PINNED: &str = "@openai/codex@0.166.0";

/// Returns the command that plays turns.
pub(super) fn command(turn: &Turn) -> CommandSpec {
    let mut args = vec!["app-server".to_string()];
    if turn.flag_setting("oss") == Some(true) {
        args.extend(["-c".to_string(), "model_provider=\"ollama\"".to_string()]);
    }
    if let Some((program, rest)) = turn.forge_tools.split_first() {
        // What JSON writes of texts and lists of them, TOML reads.
        let server = format!("mcp_servers.forge={{command={},args={}}}", json!(program), json!(rest));
        args.extend(["-c".to_string(), server]);
    }
    let program = if turn.text_setting("install") == Some("npx") {
        Program::Given { argv: ["npx", "-y", PINNED].map(str::to_string).into() }
    } else {
        Program::Named { name: "codex", install: INSTALL }
    };
    CommandSpec { program, args, env: Vec::new(), unset: Vec::new() }.with_settings(turn)
}

/// Returns the request that opens the thread: its method and parameters.
pub(super) fn thread(turn: &Turn) -> (&'static str, Value) {
    let (approvals, sandbox) = permission(turn);
    let mut params = Map::new();
    params.insert("cwd".to_string(), json!(turn.worktree));
    params.insert("approvalPolicy".to_string(), json!(approvals));
    params.insert("sandbox".to_string(), json!(sandbox));
    if let Some(model) = turn.text_setting("model") {
        params.insert("model".to_string(), json!(model));
    }
    if let Some(instructions) = turn.text_setting("base_instructions") {
        params.insert("baseInstructions".to_string(), json!(instructions));
    }
    let config = config(turn);
    if !config.is_empty() {
        params.insert("config".to_string(), Value::Object(config));
    }
    let method = match &turn.session {
        None => "thread/start",
        Some(session) => {
            params.insert("threadId".to_string(), json!(session));
            // The past is ours already, and may be long.
            params.insert("excludeTurns".to_string(), json!(true));
            if turn.fork { "thread/fork" } else { "thread/resume" }
        }
    };
    (method, Value::Object(params))
}

/// Returns the settings that Codex has given up, or that its app-server refuses. A person may still have them in a
/// profile.
pub(super) fn without_effect(turn: &Turn) -> Vec<&'static str> {
    let given_up =
        ["profile", "model_reasoning_summary_format", "include_plan_tool", "include_apply_patch_tool"];
    given_up.into_iter().filter(|key| turn.settings.get(key).is_some_and(|value| !value.is_null())).collect()
}

/// Says whether the agent is to show a plan and change nothing.
pub(super) fn plans(turn: &Turn) -> bool {
    turn.flag_setting("plan").unwrap_or(turn.variant.as_deref() == Some("PLAN"))
}

/// Returns what is set in place of Codex's own settings, under the names it has for them.
fn config(turn: &Turn) -> Map<String, Value> {
    let texts = ["model_reasoning_effort", "model_reasoning_summary"];
    let texts = texts.into_iter().filter_map(|key| Some((key, json!(turn.text_setting(key)?))));
    texts.map(|(key, value)| (key.to_string(), value)).collect()
}

/// Reads when the person is asked, and what commands may reach. Where the settings are silent nobody is asked and
/// everything may be reached: a worktree of its own is what makes this bearable as the default.
fn permission(turn: &Turn) -> (&'static str, &'static str) {
    let careful = turn.variant.as_deref() == Some("APPROVALS");
    let asked = match turn.text_setting("ask_for_approval") {
        Some("unless-trusted") => Some("untrusted"),
        // Codex no longer knows the former: it asks when it thinks that it should.
        Some("on-failure" | "on-request") => Some("on-request"),
        Some("never") => Some("never"),
        _ => careful.then_some("untrusted"),
    };
    let sandbox = match turn.text_setting("sandbox") {
        Some("read-only") => "read-only",
        None if plans(turn) => "read-only",
        Some("auto" | "workspace-write") => "workspace-write",
        Some("danger-full-access") => "danger-full-access",
        _ if asked.is_some_and(|asked| asked != "never") => "workspace-write",
        _ => "danger-full-access",
    };
    (asked.unwrap_or(if sandbox == "danger-full-access" { "never" } else { "on-request" }), sandbox)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(settings: Value) -> Turn {
        let (prompt, worktree) = ("--help".to_string(), "/repo".to_string());
        Turn { prompt, settings, worktree, ..Turn::default() }
    }

    #[test]
    fn the_prompt_is_never_an_argument() {
        let spec = command(&turn(Value::Null));
        assert_eq!(spec.args, ["app-server"]);
        assert_eq!(spec.program, Program::Named { name: "codex", install: INSTALL });
    }

    #[test]
    fn a_profile_without_settings_asks_nobody_and_reaches_everything() {
        let (method, params) = thread(&turn(Value::Null));
        assert_eq!(method, "thread/start");
        let expected = json!({"cwd": "/repo", "approvalPolicy": "never", "sandbox": "danger-full-access"});
        assert_eq!(params, expected);
    }

    #[test]
    fn what_is_asked_and_reached_follows_the_settings() {
        let cases = [
            (json!({"ask_for_approval": "unless-trusted"}), ("untrusted", "workspace-write")),
            (json!({"ask_for_approval": "on-failure"}), ("on-request", "workspace-write")),
            (json!({"ask_for_approval": "never"}), ("never", "danger-full-access")),
            (json!({"sandbox": "auto"}), ("on-request", "workspace-write")),
            (json!({"sandbox": "read-only", "ask_for_approval": "never"}), ("never", "read-only")),
            (json!({"sandbox": "danger-full-access"}), ("never", "danger-full-access")),
            (json!({"plan": true}), ("on-request", "read-only")),
        ];
        for (settings, expected) in cases {
            assert_eq!(permission(&turn(settings.clone())), expected, "{settings}");
        }
        let approvals = Turn { variant: Some("APPROVALS".into()), ..turn(Value::Null) };
        assert_eq!(permission(&approvals), ("untrusted", "workspace-write"));
    }

    #[test]
    fn a_follow_up_goes_on_with_the_thread_or_branches_off_it() {
        let follow_up = Turn { session: Some("abc".into()), ..turn(Value::Null) };
        let (method, params) = thread(&follow_up);
        assert_eq!((method, &params["threadId"]), ("thread/resume", &json!("abc")));
        assert_eq!(params["excludeTurns"], true);
        assert_eq!(thread(&Turn { fork: true, ..follow_up }).0, "thread/fork");
    }

    #[test]
    fn the_profile_has_the_last_word() {
        let wanted = turn(json!({
            "model": "gpt-6", "profile": "work", "oss": true, "base_instructions": "Be brief.",
            "model_reasoning_effort": "high", "include_apply_patch_tool": true, "install": "npx",
            "base_command_override": "/opt/codex --flag", "additional_params": ["-c", "a=1"], "env": {"A": "1"},
        }));
        let spec = command(&wanted);
        assert_eq!(spec.program, Program::Given { argv: vec!["/opt/codex".into(), "--flag".into()] });
        let args = "app-server -c model_provider=\"ollama\" -c a=1";
        assert_eq!(spec.args.join(" "), args);
        assert_eq!(spec.env, [("A".to_string(), "1".to_string())]);
        let params = thread(&wanted).1;
        assert_eq!(params["model"], "gpt-6");
        assert_eq!(params["baseInstructions"], "Be brief.");
        assert_eq!(params["config"], json!({"model_reasoning_effort": "high"}));
        assert_eq!(without_effect(&wanted), ["profile", "include_apply_patch_tool"]);
    }
}
