//! The lines of the scripted player, folded into steps.

use forge_agents::{Program, Step, Turn, agent};
use forge_model::{Answer, AskKind};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::recording::{Protocol, Recording, Told};

/// How the recordings of the player are read; they hold only what it printed.
pub(crate) const PROTOCOL: Protocol =
    Protocol { agent: "SCRIPTED", told: |_| Told::NotOurs, same: |ours, recorded| ours == recorded };

fn turn(prompt: &str) -> Turn {
    let (prompt, worktree) = (prompt.to_string(), "/repo".to_string());
    Turn { prompt, worktree, ..Turn::default() }
}

#[test]
fn everything_but_asking() {
    assert_snapshot!("everything", Recording::read("scripted/everything", PROTOCOL).fold_any_size());
}

#[test]
fn a_follow_up_tells_the_player_its_session() {
    let scripted = agent("SCRIPTED").unwrap();
    let spec = scripted.command(&Turn { session: Some("s".into()), ..turn("") });
    assert_eq!(
        (spec.program, spec.args),
        (Program::Forge, vec!["scripted".into(), "--session".into(), "s".into()])
    );
}

#[test]
fn an_ask_is_answered_once() {
    let mut talk = agent("SCRIPTED").unwrap().conversation(&turn("ask Which?"));
    talk.start();
    let steps = talk.read(r#"{"scripted":"ask","id":"ask-1","text":"Which?"}"#);
    let [Step::Entry { index: 1, .. }, Step::Ask(ask)] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!((ask.key.as_str(), ask.kind, ask.text.as_str()), ("ask-1", AskKind::Question, "Which?"));
    let answer = Answer::words("A");
    let steps = talk.answer("ask-1", &answer);
    let [Step::Entry { index: 1, .. }, Step::Send(line)] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!(line, "{\"answer\":{\"ask\":\"ask-1\",\"text\":\"A\"}}\n");
    assert!(matches!(&talk.answer("ask-1", &answer)[..], [Step::Note(_)]));
}

#[test]
fn a_refusal_is_sent_with_its_reason_and_shown_as_feedback() {
    let mut talk = agent("SCRIPTED").unwrap().conversation(&turn("ask Which?"));
    talk.start();
    talk.read(r#"{"scripted":"ask","id":"ask-1","text":"Which?"}"#);
    let steps = talk.answer("ask-1", &Answer::Deny { reason: Some("neither".into()) });
    let [Step::Entry { index: 1, .. }, Step::Entry { index: 2, entry }, Step::Send(line)] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert_eq!(entry.content, "neither");
    assert_eq!(
        serde_json::from_str::<Value>(line).unwrap(),
        json!({"answer": {"ask": "ask-1", "denied": "neither"}})
    );
}
