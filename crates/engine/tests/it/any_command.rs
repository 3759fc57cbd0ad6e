//! Agents that play one prompt: any command, told its prompt by its input or an argument, and judged by its end.

use std::fs;
use std::path::PathBuf;

use forge_engine::{Delivered, Error, FollowUp};
use forge_model::{AttemptState, ProfileId, RunState};
use serde_json::{Value, json};

use crate::world::{Began, World, git};

/// Makes what a profile of an agent says.
fn profile(world: &World, agent: &str, settings: Value) {
    let profiles = json!({"executors": {agent: {"GENIE": {agent: settings}}}});
    fs::write(world.home.join("profiles.json"), profiles.to_string()).unwrap();
}

fn begin(world: &World, agent: &str, prompt: &str) -> Result<Began, Error> {
    let profile = ProfileId::new(agent, None).unwrap();
    let wanted = forge_engine::StartTask { profile, ..world.wanted(prompt) };
    let started = world.run(world.engine().create_and_start(wanted, None))?;
    Ok(Began { task: started.task, attempt: started.attempt, run: started.run.unwrap() })
}

fn worktree(began: &Began) -> PathBuf {
    began.attempt.attempt.worktree.clone()
}

#[test]
fn a_command_reads_its_prompt_to_the_end_and_its_work_is_kept() {
    let world = World::new();
    let script = "cat > heard.txt; echo looking; echo 'A file was made'";
    profile(&world, "COMMAND", json!({"command": ["sh", "-c", script], "append_prompt": "\nmore"}));
    let began = begin(&world, "COMMAND", "first line").unwrap();
    let id = began.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let heard = fs::read_to_string(worktree(&began).join("heard.txt")).unwrap();
    assert!(heard.contains("first line") && heard.ends_with("\nmore\n"), "{heard:?}");
    // What it said last is what its commit says.
    let message = git(&worktree(&began), &["log", "-1", "--format=%B"]);
    assert!(message.contains("A file was made"), "{message}");
    assert!(git(&worktree(&began), &["status", "--porcelain"]).is_empty());
}

#[test]
fn a_command_has_its_prompt_as_an_argument_where_the_profile_says_so() {
    let world = World::new();
    let script = "printf '%s' \"$1\" > told.txt; cat > input.txt";
    profile(&world, "COMMAND", json!({"command": ["sh", "-c", script, "sh", "{prompt}"]}));
    let began = begin(&world, "COMMAND", "it's $HOME").unwrap();
    world.wait_for(began.attempt.attempt.id, AttemptState::Finished);
    let told = fs::read_to_string(worktree(&began).join("told.txt")).unwrap();
    assert!(told.contains("it's $HOME"), "{told:?}");
    assert_eq!(fs::read_to_string(worktree(&began).join("input.txt")).unwrap(), "");
}

#[test]
fn the_exit_code_of_a_command_judges_it() {
    let world = World::new();
    profile(&world, "COMMAND", json!({"command": ["sh", "-c", "echo fine; exit 3"]}));
    let began = begin(&world, "COMMAND", "go").unwrap();
    let view = world.wait_for(began.attempt.attempt.id, AttemptState::Failed);
    let run = world.run(world.engine().run(began.run.id)).unwrap();
    assert_eq!((run.state, run.exit_code), (RunState::Failed, Some(3)), "{view:?}");
    assert!(run.reason.unwrap().contains("exit code 3"));
}

#[test]
fn a_command_hears_the_end_of_its_prompt_though_the_server_died() {
    let mut world = World::new();
    profile(&world, "COMMAND", json!({"command": ["sh", "-c", "cat > heard.txt"]}));
    let began = begin(&world, "COMMAND", "go on without me").unwrap();
    world.crash();
    let heard = worktree(&began).join("heard.txt");
    crate::world::eventually("it has read to the end", || {
        fs::read_to_string(&heard).ok().filter(|text| text.contains("go on without me"))
    });
    let exit = world.home.join("runs").join(began.run.id.to_string()).join("exit.json");
    crate::world::eventually("it has ended", || exit.exists().then_some(()));
    world.reopen();
    world.wait_for(began.attempt.attempt.id, AttemptState::Finished);
}

#[test]
fn a_command_that_runs_is_told_more_by_another_run() {
    let world = World::new();
    let script = "cat >> heard.txt; while [ ! -e go ]; do sleep 0.02; done; echo ended";
    profile(&world, "COMMAND", json!({"command": ["sh", "-c", script]}));
    let began = begin(&world, "COMMAND", "one").unwrap();
    let id = began.attempt.attempt.id;
    let follow = FollowUp::new("two");
    let told = world.run(world.engine().follow_up(id, follow, None)).unwrap();
    assert_eq!(told.delivered, Delivered::Queued);
    fs::write(worktree(&began).join("go"), "").unwrap();
    crate::world::eventually("both have run", || {
        let runs = world.run(world.engine().runs(id, true)).unwrap();
        (runs.len() == 2 && runs.iter().all(|run| run.state == RunState::Completed)).then_some(())
    });
    let heard = fs::read_to_string(worktree(&began).join("heard.txt")).unwrap();
    assert!(heard.contains("one") && heard.contains("two"), "{heard}");
}

#[test]
fn a_command_is_stopped_like_any_agent() {
    let world = World::new();
    profile(&world, "COMMAND", json!({"command": ["sh", "-c", "trap '' INT; echo ready; sleep 1000"]}));
    let began = begin(&world, "COMMAND", "go").unwrap();
    world.wait_for_output(began.run.id, "ready");
    world.run(world.engine().stop_attempt(began.attempt.attempt.id)).unwrap();
    assert_eq!(world.run(world.engine().run(began.run.id)).unwrap().state, RunState::Killed);
}

#[test]
fn a_profile_that_cannot_be_run_is_refused_before_anything_is_made() {
    let world = World::new();
    let error = begin(&world, "COMMAND", "go").unwrap_err();
    assert_eq!(error.code(), Some("setup_required"));
    assert!(error.to_string().contains("`command`"), "{error}");
    profile(&world, "CURSOR_AGENT", json!({"install": "npx"}));
    let error = begin(&world, "CURSOR_AGENT", "go").unwrap_err();
    assert!(error.to_string().contains("npx") && error.to_string().contains("cursor.com/install"), "{error}");
    assert_eq!(world.made(), (Vec::new(), Vec::new()));
    assert!(world.run(world.engine().attempts(None)).unwrap().is_empty());
}

#[test]
fn an_agent_that_ends_without_its_last_word_has_failed_for_the_reason_on_its_standard_error() {
    let world = World::new();
    let script = r#"cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m"}'
echo 'Error: Authentication required. Please run cursor-agent login first.' >&2"#;
    profile(&world, "CURSOR_AGENT", json!({"base_command_override": ["sh", "-c", script]}));
    let began = begin(&world, "CURSOR_AGENT", "go").unwrap();
    world.wait_for(began.attempt.attempt.id, AttemptState::Failed);
    let run = world.run(world.engine().run(began.run.id)).unwrap();
    assert!(run.reason.unwrap().contains("Authentication required"), "its exit code was 0");
}

#[test]
fn a_follow_up_of_amp_continues_its_thread() {
    let world = World::new();
    let script = r#"echo "$0 $*" >> called.txt; cat >> heard.txt
echo '{"type":"system","subtype":"init","session_id":"T-1"}'
echo '{"type":"assistant","message":{"content":[{"type":"text","text":"Said"}],"usage":{"input_tokens":7,"output_tokens":2}}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Said"}'"#;
    profile(&world, "AMP", json!({"base_command_override": ["sh", "-c", script, "amp"]}));
    let began = begin(&world, "AMP", "one").unwrap();
    let id = began.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    let follow = FollowUp::new("two");
    let told = world.run(world.engine().follow_up(id, follow, None)).unwrap();
    crate::world::eventually("the follow-up has ended", || {
        let run = world.run(world.engine().run(told.run.id)).unwrap();
        (run.state == RunState::Completed).then_some(())
    });
    let called = fs::read_to_string(worktree(&began).join("called.txt")).unwrap();
    let called: Vec<&str> = called.lines().collect();
    assert_eq!(called[0], "amp --execute --stream-json --dangerously-allow-all");
    assert_eq!(called[1], "amp threads continue T-1 --execute --stream-json --dangerously-allow-all");
    let usage = world.attempt(id).attempt.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(14), Some(4)), "{usage:?}");
}

#[test]
fn the_profiles_of_the_page_about_agents_can_be_used() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md");
    let page = fs::read_to_string(page).unwrap();
    let profiles: Vec<&str> =
        page.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(profiles.len() >= 3);
    for text in profiles {
        forge_engine::NewProfiles::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    }
}
