//! Agents that play one prompt: Amp and Cursor as their documentation shows them, and any command.

use forge_agents::{AGENTS, Conversation, Program, Step, Turn, agent};
use insta::assert_snapshot;
use serde_json::json;

use crate::recording::{Protocol, Recording, Told};

const fn only_printed(agent: &'static str) -> Protocol {
    Protocol { agent, told: |_| Told::NotOurs, same: |ours, recorded| ours == recorded }
}

/// How their recordings are read; they hold only what was printed.
pub(crate) const AMP: Protocol = only_printed("AMP");
pub(crate) const COMMAND: Protocol = only_printed("COMMAND");
pub(crate) const CURSOR: Protocol = only_printed("CURSOR_AGENT");

fn fold(name: &str, protocol: Protocol) -> String {
    Recording::read(name, protocol).fold_any_size()
}

#[test]
fn cursor_calls_each_kind_of_tool() {
    assert_snapshot!("cursor_tools", fold("cursor/tools", CURSOR));
}

#[test]
fn cursor_is_not_logged_in() {
    assert_snapshot!("cursor_not_logged_in", fold("cursor/not_logged_in", CURSOR));
}

#[test]
fn cursor_breaks_off_in_the_middle_of_a_line() {
    assert_snapshot!("cursor_broken_off", fold("cursor/broken_off", CURSOR));
}

#[test]
fn amp_answers() {
    assert_snapshot!("amp_simple", fold("amp/simple", AMP));
}

#[test]
fn amp_calls_tools() {
    assert_snapshot!("amp_tools", fold("amp/tools", AMP));
}

#[test]
fn amp_fails() {
    assert_snapshot!("amp_failed", fold("amp/failed", AMP));
}

#[test]
fn a_command_prints_colours_and_errors() {
    assert_snapshot!("command_prints", fold("command/prints", COMMAND));
}

/// Every agent does what every profile may want: another command, more arguments, variables, more prompt.
#[test]
fn every_agent_honours_what_every_profile_may_say() {
    for agent in AGENTS {
        let name = agent.name();
        let settings = json!({
            "base_command_override": ["/opt/own agent", "--first"], "additional_params": ["--last", "a b"],
            "env": {"KEY": "value"}, "append_prompt": "\nmore of it", "command": "unused",
        });
        let turn = Turn {
            prompt: "the prompt".into(),
            worktree: "/repo".into(),
            settings: settings.clone(),
            ..Turn::default()
        };
        let spec = agent.command(&turn);
        let argv = vec!["/opt/own agent".to_string(), "--first".to_string()];
        assert_eq!(spec.program, Program::Given { argv }, "{name}");
        assert!(spec.args.ends_with(&["--last".to_string(), "a b".to_string()]), "{name}: {:?}", spec.args);
        assert!(spec.env.contains(&("KEY".to_string(), "value".to_string())), "{name}: {:?}", spec.env);
        assert!(!spec.args.iter().any(|arg| arg.contains("the prompt")), "{name}: the prompt is an argument");

        let about = agent.about();
        let npx = Turn { settings: json!({"install": "npx", "command": "own"}), ..turn.clone() };
        match (agent.command(&npx).program, about.npx) {
            (Program::Given { argv }, Some(package)) => {
                assert_eq!(argv[0], "npx", "{name}");
                assert!(argv.iter().any(|word| word == package), "{name}: {argv:?}");
                let version = package.rsplit_once('@').unwrap().1;
                assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{name}: {package} is not pinned");
            }
            (_, None) => {}
            (program, Some(package)) => panic!("{name} does not run {package}: {program:?}"),
        }
        let plain = Turn { settings: json!({"command": "own"}), ..turn };
        match (agent.command(&plain).program, about.program) {
            (Program::Named { name: program, install }, Some(known)) => {
                assert_eq!((program, install), (known, about.install), "{name}");
            }
            (Program::Named { .. }, None) | (Program::Forge | Program::Given { .. }, Some(_)) => {
                panic!("{name} is not the program that it says it is")
            }
            _ => {}
        }
    }
}

#[test]
fn a_prompt_with_more_of_it_is_said_whole() {
    for name in ["AMP", "CURSOR_AGENT", "COMMAND"] {
        let settings = json!({"append_prompt": "\nmore", "command": "x"});
        let turn = Turn { prompt: "first".into(), settings, ..Turn::default() };
        let mut talk: Box<dyn Conversation> = agent(name).unwrap().conversation(&turn);
        let steps = talk.start();
        assert!(steps.contains(&Step::Send("first\nmore\n".into())), "{name}: {steps:?}");
        assert_eq!(steps.last(), Some(&Step::CloseInput), "{name}");
    }
}

/// Every agent stands in `docs/agents.md` with the commands that a person is shown, and one that is untried says so.
#[test]
fn the_page_about_agents_tells_of_each_of_them_as_it_is() {
    let page =
        std::fs::read_to_string(format!("{}/../../docs/agents.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for agent in AGENTS {
        let (name, about) = (agent.name(), agent.about());
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}`, "))).unwrap_or_default();
        assert!(!row.is_empty(), "docs/agents.md has no row for {name}");
        assert_eq!(row.contains("(untried)"), !about.tried, "{row}");
        let commands = [about.program.map(|_| about.install), agent.log_in()];
        for command in commands.into_iter().flatten() {
            assert!(
                row.contains(&format!("`{}`", command.replace('|', "\\|"))),
                "{name}: {command} is not in {row}"
            );
        }
    }
}
