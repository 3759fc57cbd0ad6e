//! Rules answer what they fit at once and on the record; everything else waits for a person.

use forge_engine::AskFilter;
use forge_model::{Answer, Ask, AskState, AttemptId, AttemptState, Manner, Rule, RuleAbout, RuleEffect};

use crate::world::World;

const PERMIT: &str = r#"permit Bash {"command": "COMMAND"}"#;

fn permit(command: &str) -> String {
    PERMIT.replace("COMMAND", command)
}

fn rule(effect: RuleEffect, about: RuleAbout, pattern: &str) -> Rule {
    Rule { effect, about, pattern: Some(pattern.to_string()).filter(|text| !text.is_empty()) }
}

fn world(rules: Vec<Rule>) -> World {
    let world = World::new();
    world.run(world.engine().set_rules(world.project, rules)).unwrap();
    world
}

fn asks(world: &World, attempt: AttemptId) -> Vec<Ask> {
    let filter = AskFilter { attempt: Some(attempt), ..AskFilter::default() };
    world.run(world.engine().asks(filter)).unwrap()
}

#[test]
fn a_rule_allows_at_once_and_is_named_in_the_record() {
    let world = world(vec![rule(RuleEffect::Allow, RuleAbout::Command, "git status")]);
    let started = world.start(&format!("{}\nsay done", permit("git status -s")));
    let id = started.attempt.attempt.id;
    world.wait_for(id, AttemptState::Finished);
    assert!(world.output(started.run.id).contains("approved"));
    let asked = asks(&world, id);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].state, AskState::Approved);
    assert_eq!(asked[0].answered_by.as_deref(), Some("rule 1: allow command git status"));
    assert!(asked[0].answered_at.is_some());
}

#[test]
fn a_second_command_behind_an_allowed_one_is_asked() {
    let world = world(vec![rule(RuleEffect::Allow, RuleAbout::Command, "git status")]);
    let started = world.start(&permit("git status; rm -rf x"));
    let ask = world.wait_for_ask(started.attempt.attempt.id);
    assert_eq!(ask.answered_by, None);
    let no = Answer::Deny { reason: None };
    let answered = world.run(world.engine().answer(ask.id, no, "somebody")).unwrap();
    assert_eq!(answered.answered_by.as_deref(), Some("somebody"));
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
}

#[test]
fn a_rule_denies_with_its_words_and_another_asks_all_the_same() {
    let world = world(vec![
        rule(RuleEffect::Deny, RuleAbout::Tool, "WebFetch"),
        rule(RuleEffect::Ask, RuleAbout::Tool, "Read"),
        rule(RuleEffect::Allow, RuleAbout::ReadOnly, ""),
    ]);
    let script = r#"permit WebFetch {"url": "http://x"}
permit Grep {"pattern": "x"}
permit Read {"file_path": "a"}"#;
    let started = world.start(script);
    let id = started.attempt.attempt.id;
    let ask = world.wait_for_ask(id);
    assert_eq!(ask.tool, "Read");
    world.run(world.engine().answer(ask.id, Answer::yes(), "somebody")).unwrap();
    world.wait_for(id, AttemptState::Finished);
    let output = world.output(started.run.id);
    assert!(
        output.contains("denied: this project does not allow it (rule 1: deny tool WebFetch)"),
        "{output}"
    );
    let mut states: Vec<_> = asks(&world, id).into_iter().map(|ask| (ask.tool, ask.state)).collect();
    states.sort_by(|a, b| a.0.cmp(&b.0));
    let expected =
        [("Grep", AskState::Approved), ("Read", AskState::Approved), ("WebFetch", AskState::Denied)];
    assert_eq!(states, expected.map(|(tool, state)| (tool.to_string(), state)));
}

#[test]
fn a_rule_answers_no_question_and_no_plan() {
    let world = world(vec![rule(RuleEffect::Allow, RuleAbout::Tool, "*")]);
    let started = world.start("plan first this\nask which?");
    let id = started.attempt.attempt.id;
    for tool in ["plan", "question"] {
        let ask = world.wait_for_ask(id);
        assert_eq!(ask.tool, tool);
        world.run(world.engine().answer(ask.id, Answer::words("fine"), "somebody")).unwrap();
    }
    world.wait_for(id, AttemptState::Finished);
}

#[test]
fn a_rule_that_is_taken_away_answers_no_more_and_one_of_another_project_never_did() {
    let world = world(vec![rule(RuleEffect::Allow, RuleAbout::Tool, "Bash")]);
    world.run(world.engine().set_rules(world.project, Vec::new())).unwrap();
    assert_eq!(world.run(world.engine().rules(world.project)).unwrap(), Vec::new());
    let started = world.start(&permit("ls"));
    let ask = world.wait_for_ask(started.attempt.attempt.id);
    world.run(world.engine().answer(ask.id, Answer::yes(), "somebody")).unwrap();
    world.wait_for(started.attempt.attempt.id, AttemptState::Finished);
}

#[test]
fn what_a_rule_answered_before_a_crash_is_told_after_it_and_once() {
    let mut world = World::with_seam("tell.noted=hold:DIR/never");
    let rules = vec![rule(RuleEffect::Allow, RuleAbout::Tool, "Bash")];
    world.run(world.engine().set_rules(world.project, rules)).unwrap();
    let started = world.start(&permit("ls"));
    let id = started.attempt.attempt.id;
    crate::world::eventually("the rule has answered", || {
        asks(&world, id).first().filter(|ask| ask.state == AskState::Approved).cloned()
    });
    world.restart();
    world.wait_for(id, AttemptState::Finished);
    assert_eq!(world.output(started.run.id).matches("approved").count(), 1);
    assert_eq!(asks(&world, id).len(), 1);
}

#[test]
fn with_nobody_there_permissions_and_plans_are_given_and_questions_turned_down() {
    let mut world = world(vec![rule(RuleEffect::Deny, RuleAbout::Command, "git push")]);
    let script = [
        "sleep 300".to_string(),
        permit("cargo test && ls"),
        permit("git push origin"),
        permit("make"),
        "plan first this".to_string(),
        "ask which colour?".to_string(),
    ];
    let mut wanted = world.wanted(&script.join("\n"));
    wanted.manner = Manner { unattended: true, ..Manner::default() };
    let started = world.run(world.engine().create_and_start(wanted, None)).unwrap();
    let id = started.attempt.attempt.id;
    assert!(started.attempt.attempt.manner.unattended);
    // It is remembered, and not in anybody's memory.
    world.restart();
    world.wait_for(id, AttemptState::Finished);
    let mut asked = asks(&world, id);
    asked.sort_by_key(|ask| ask.key.clone());
    let by: Vec<_> =
        asked.iter().map(|ask| (ask.state, ask.answered_by.clone().unwrap_or_default())).collect();
    let denies = "rule 1: deny command git push".to_string();
    let expected = vec![
        // Whether the rule fits nobody can tell, and nobody is there to ask.
        (AskState::Denied, denies.clone()),
        (AskState::Denied, denies),
        (AskState::Approved, "--yes".to_string()),
        (AskState::Approved, "--yes".to_string()),
        (AskState::Denied, "--yes".to_string()),
    ];
    assert_eq!(by, expected);
    let output = world.output(started.run.unwrap().id);
    assert!(
        output.contains("nobody is there to answer; decide yourself and say what you assumed"),
        "{output}"
    );
}
