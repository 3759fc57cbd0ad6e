//! How Claude Code is called. The prompt is never an argument: it goes in by the protocol.

use serde_json::json;

use crate::{CommandSpec, Program, Turn};

pub(super) const INSTALL: &str = "npm install -g @anthropic-ai/claude-code";

/// What `install: npx` in a profile runs: the version whose recordings the tests hold.
pub(super) const PINNED: &str = "@anthropic-ai/claude-code@2.1.325";

/// What the setting `claude_code_router` runs in place of the agent: it starts the installed `claude` itself, with
/// the models that its own configuration names. Its later versions are another program.
const ROUTER: &str = "@musistudio/claude-code-router@2.0.0";

/// Returns the command that plays a turn.
pub(super) fn command(turn: &Turn) -> CommandSpec {
    let mut args: Vec<String> = [
        "-p",
        "--verbose",
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--include-partial-messages",
        "--replay-user-messages",
        "--permission-prompt-tool=stdio",
    ]
    .map(str::to_string)
    .into();
    args.push(
        match permission(turn) {
            Permission::Skip => "--dangerously-skip-permissions",
            Permission::Ask => "--permission-mode=default",
            Permission::Plan => "--permission-mode=plan",
        }
        .to_string(),
    );
    if let Some(session) = &turn.session {
        args.extend(["--resume".to_string(), session.clone()]);
        if turn.fork {
            args.push("--fork-session".to_string());
        }
    }
    for key in ["model", "effort", "agent"] {
        if let Some(value) = turn.text_setting(key) {
            args.push(format!("--{key}={value}"));
        }
    }
    if let Some((program, rest)) = turn.forge_tools.split_first() {
        let servers = json!({"mcpServers": {"forge": {"command": program, "args": rest}}});
        args.push(format!("--mcp-config={servers}"));
    }
    // Claude Code refuses to start inside itself, and Forge may have been started by it.
    let mut unset = vec!["CLAUDECODE".to_string(), "CLAUDE_CODE_ENTRYPOINT".to_string()];
    if turn.flag_setting("disable_api_key") == Some(true) {
        unset.push("ANTHROPIC_API_KEY".to_string());
    }
    let program = if turn.flag_setting("claude_code_router") == Some(true) {
        Program::Given { argv: ["npx", "-y", ROUTER, "code"].map(str::to_string).into() }
    } else {
        turn.program("claude", INSTALL, Some(PINNED))
    };
    CommandSpec { program, args, env: Vec::new(), unset }.with_settings(turn)
}

/// Who decides about a tool call.
enum Permission {
    /// Nobody: every call is allowed. A worktree of its own is what makes this bearable as the default.
    Skip,
    /// The person.
    Ask,
    /// The person, after the agent has shown a plan.
    Plan,
}

/// Reads the permission from the settings; where they are silent, from the variants that have always been there.
fn permission(turn: &Turn) -> Permission {
    let variant = turn.variant.as_deref().unwrap_or_default();
    if turn.flag_setting("plan").unwrap_or(variant == "PLAN") {
        Permission::Plan
    } else if turn.flag_setting("approvals").unwrap_or(variant == "APPROVALS") {
        Permission::Ask
    } else if turn.flag_setting("dangerously_skip_permissions").unwrap_or(true) {
        Permission::Skip
    } else {
        Permission::Ask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn turn(settings: Value) -> Turn {
        let (prompt, worktree) = ("--help".to_string(), "/repo".to_string());
        Turn { prompt, settings, worktree, ..Turn::default() }
    }

    fn has(spec: &CommandSpec, arg: &str) -> bool {
        spec.args.iter().any(|known| known == arg)
    }

    #[test]
    fn the_prompt_is_never_an_argument() {
        assert!(!has(&command(&turn(Value::Null)), "--help"));
    }

    #[test]
    fn a_profile_without_settings_skips_permissions_and_sets_no_environment() {
        let spec = command(&turn(Value::Null));
        assert!(has(&spec, "--dangerously-skip-permissions"));
        assert!(spec.env.is_empty(), "root must ask for IS_SANDBOX in the profile");
        assert_eq!(spec.program, Program::Named { name: "claude", install: INSTALL });
    }

    #[test]
    fn the_variant_decides_where_the_settings_are_silent() {
        let plan = Turn { variant: Some("PLAN".into()), ..turn(Value::Null) };
        assert!(has(&command(&plan), "--permission-mode=plan"));
        let approvals = Turn { variant: Some("APPROVALS".into()), ..turn(Value::Null) };
        assert!(has(&command(&approvals), "--permission-mode=default"));
        let changed = Turn { settings: json!({"plan": false}), ..plan };
        assert!(has(&command(&changed), "--dangerously-skip-permissions"));
        let careful = turn(json!({"dangerously_skip_permissions": false}));
        assert!(has(&command(&careful), "--permission-mode=default"));
    }

    #[test]
    fn forges_own_tools_are_a_server_of_mcp_that_is_named_on_the_command_line() {
        let forge_tools = ["/bin/forge", "mcp", "--attempt", "1"].map(str::to_string).to_vec();
        let spec = command(&Turn { forge_tools, ..turn(Value::Null) });
        let config = r#"--mcp-config={"mcpServers":{"forge":{"args":["mcp","--attempt","1"],"command":"/bin/forge"}}}"#;
        assert!(has(&spec, config), "{:?}", spec.args);
        assert!(!command(&turn(Value::Null)).args.iter().any(|arg| arg.contains("mcp-config")));
    }

    #[test]
    fn a_follow_up_resumes_the_session() {
        let follow_up = Turn { session: Some("abc".into()), ..turn(Value::Null) };
        let args = command(&follow_up).args;
        assert!(args.windows(2).any(|pair| pair == ["--resume", "abc"]), "{args:?}");
    }

    #[test]
    fn a_fork_branches_off_the_session_it_names() {
        let follow_up = Turn { session: Some("abc".into()), fork: true, ..turn(Value::Null) };
        let args = command(&follow_up).args;
        assert!(args.windows(3).any(|three| three == ["--resume", "abc", "--fork-session"]), "{args:?}");
        let nothing = Turn { fork: true, ..turn(Value::Null) };
        assert!(!has(&command(&nothing), "--fork-session"), "there is nothing to branch off");
    }

    #[test]
    fn the_router_is_called_in_place_of_the_agent() {
        let spec = command(&turn(json!({"claude_code_router": true, "install": "npx"})));
        let argv = ["npx", "-y", ROUTER, "code"].map(str::to_string).into();
        assert_eq!(spec.program, Program::Given { argv });
        assert!(has(&spec, "--output-format=stream-json"));
    }

    #[test]
    fn the_profile_has_the_last_word() {
        let spec = command(&turn(json!({
            "model": "opus", "disable_api_key": true, "base_command_override": "/opt/claude --flag",
            "additional_params": ["--max-turns=3"], "env": {"IS_SANDBOX": "1"}, "install": "npx",
        })));
        assert_eq!(spec.program, Program::Given { argv: vec!["/opt/claude".into(), "--flag".into()] });
        assert!(has(&spec, "--model=opus"));
        assert_eq!(spec.args.last().map(String::as_str), Some("--max-turns=3"));
        assert_eq!(spec.env, [("IS_SANDBOX".to_string(), "1".to_string())]);
        assert!(spec.unset.contains(&"ANTHROPIC_API_KEY".to_string()));
    }
}
