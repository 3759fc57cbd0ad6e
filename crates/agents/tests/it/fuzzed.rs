//! What the fuzzer and a test share: bytes are played to a conversation of every agent, and what must always hold is
//! checked.
//!
//! A line of the bytes is a line that the agent prints; of a recorded `{dir, msg}` it is the message. A line that
//! begins with `!` is something else that reaches the conversation: `!say words`, `!answer words`, `!deny words`,
//! `!file words`, `!interrupt`, or a line of standard error.

use forge_agents::{AGENTS, Agent, Conversation, Lines, Step, Turn};
use forge_model::Answer;
use serde_json::Value;

/// Plays bytes to a conversation of every agent; panics when something does not hold.
pub(crate) fn play(bytes: &[u8]) {
    for agent in AGENTS {
        let turn = Turn { prompt: "Begin.".into(), worktree: "/repo".into(), ..Turn::default() };
        for session in [None, Some("earlier".to_string())] {
            play_to(*agent, &Turn { session, ..turn.clone() }, bytes);
        }
    }
}

fn play_to(agent: &dyn Agent, turn: &Turn, bytes: &[u8]) {
    let mut talk = agent.conversation(turn);
    // A second one is written down and opened again before every input.
    let mut twin = agent.conversation(turn);
    let mut seen = Seen::default();
    seen.take(&talk.start());
    twin.start();
    let mut lines = Lines::new();
    let mut each = |line: &str| {
        let steps = input(&mut *talk, line, &seen);
        // Something nested too deeply cannot be read back: whoever keeps states then folds from the beginning.
        if let Ok(state) = serde_json::from_str(&twin.state().to_string()) {
            twin = agent.conversation_at(&state).expect("a state can be opened again");
        }
        assert_eq!(
            input(&mut *twin, line, &seen),
            steps,
            "{} goes on differently after {line}",
            agent.name()
        );
        seen.take(&steps);
    };
    lines.push(bytes, |line| each(line.text));
    lines.finish(|line| each(line.text));
}

/// Gives a conversation one input.
fn input(talk: &mut dyn Conversation, line: &str, seen: &Seen) -> Vec<Step> {
    let Some(act) = line.strip_prefix('!') else {
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        return match (record.get("dir"), record.get("msg")) {
            (Some(_), Some(message)) => talk.read(&message.to_string()),
            _ => talk.read(line),
        };
    };
    let (verb, words) = act.split_once(' ').unwrap_or((act, ""));
    match verb {
        "say" => talk.say(words),
        "answer" => talk.answer(&seen.ask, &Answer::words(words)),
        "deny" => talk.answer(&seen.ask, &Answer::Deny { reason: Some(words.into()) }),
        "file" => talk.file(&seen.file, if words.is_empty() { Err("refused") } else { Ok(words) }),
        "interrupt" => talk.interrupt(),
        _ => talk.read_error(act),
    }
}

/// What the steps so far have shown.
#[derive(Default)]
struct Seen {
    entries: usize,
    /// The ask that was opened last.
    ask: String,
    /// The file that was wanted last.
    file: String,
}

impl Seen {
    fn take(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Entry { index, entry } => {
                    assert!(*index <= self.entries, "entry {index} leaves a gap");
                    self.entries = self.entries.max(index + 1);
                    serde_json::to_string(entry).expect("an entry is JSON");
                }
                Step::Ask(ask) => self.ask.clone_from(&ask.key),
                Step::ReadFile { key, .. } | Step::WriteFile { key, .. } => self.file.clone_from(key),
                Step::Send(line) => {
                    let whole = line.ends_with('\n') && line.matches('\n').count() == 1;
                    assert!(whole, "one whole line is sent: {line:?}");
                }
                _ => {}
            }
        }
    }
}
