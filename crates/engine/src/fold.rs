//! Folding a run's log into what it means: a function of the bytes, so doing it again changes nothing.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use forge_agents::{Agent, AskRequest, Conversation, Line, Lines, Step, bounded};
use forge_model::entry::{EntryType, ErrorType};
use forge_model::{Answer, Entry, Time};
use forge_process::{Record, Stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Todos;
use crate::agent_files::Wish;
use crate::input::Input;
use crate::stalled::{Evidence, Signs};
use crate::unsent::Unsent;
use crate::usage::{TurnUsage, Used};

/// A log being read into a conversation.
#[derive(Debug)]
pub(crate) struct Fold {
    talk: Talk,
    out: Lines,
    err: Lines,
}

/// The longest unfinished line that is written down with a fold's state. A longer one ends soon.
const CARRY: usize = 64 * 1024;

/// What an agent is told whose request was longer than is kept.
const TOO_LONG: &str =
    "the request is longer than 16 MB, which is more than Forge reads of one; ask for less at once";

/// A conversation, and how far it is.
struct Talk {
    /// None once it broke: what the agent says from there on is in the log and nowhere else.
    conversation: Option<Box<dyn Conversation>>,
    far: Far,
}

/// How far a conversation is. All of it is written down with the conversation's own state, so that folding can go on
/// from there: what the engine was told to do once, and the log does not show as done, must be in here.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Far {
    /// How many texts the conversation has wanted sent.
    sends: u64,
    /// How many notes were folded.
    notes: u64,
    unsent: Unsent,
    /// The files that the agent waits for.
    wishes: Vec<Wish>,
    /// Texts that the conversation wants sent and the log does not show in the agent's input yet.
    outbox: VecDeque<(u64, String)>,
    /// How many entries there are.
    entries: usize,
    turns_told: u64,
    turns_done: u64,
    /// The agent reads its input to the end before it begins, so that nothing more can be said to it.
    over: bool,
    failed: bool,
    failure: Option<String>,
    summary: Option<String>,
    used: Used,
    limit: Option<Limit>,
    session_unknown: bool,
    signs: Signs,
}

/// A limit of the agent's provider, as the agent told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limit {
    pub(crate) until: Option<Time>,
}

/// What a piece of the log leads to.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) asks: Vec<AskRequest>,
    pub(crate) withdrawn: Vec<String>,
    pub(crate) session: Option<String>,
    /// What turns have used so far, by their number.
    pub(crate) usage: Vec<TurnUsage>,
    /// A limit was hit, or is over.
    pub(crate) limit: Option<Option<Limit>>,
    /// Texts for the agent, each with its number.
    pub(crate) sends: Vec<(u64, String)>,
    /// The input ends after these texts.
    pub(crate) closes: bool,
    /// Entries by their index, each in its newest form of those that came one after the other.
    pub(crate) entries: Vec<(usize, Entry)>,
    /// How far the agent's to-do list is, where its entries tell.
    pub(crate) todos: Option<Todos>,
}

impl Effects {
    /// Says whether the store has anything to learn from this.
    pub(crate) fn is_news(&self) -> bool {
        !self.asks.is_empty()
            || !self.withdrawn.is_empty()
            || self.session.is_some()
            || !self.usage.is_empty()
            || self.limit.is_some()
            || self.todos.is_some()
    }

    /// Says whether anybody has to see to this.
    pub(crate) fn is_anything(&self) -> bool {
        self.is_news() || !self.sends.is_empty() || self.closes
    }
}

/// How far a conversation is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// The agent has done everything it was told, or cannot be told more.
    pub(crate) idle: bool,
    /// How many notes were folded.
    pub(crate) notes: u64,
    /// How many texts the conversation has wanted sent.
    pub(crate) sends: u64,
}

/// How the conversation went.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// The agent said that it failed.
    pub(crate) failed: bool,
    /// What it said about that.
    pub(crate) failure: Option<String>,
    /// The last thing it said.
    pub(crate) summary: Option<String>,
    /// The agent does not know the conversation that it was to go on with.
    pub(crate) session_unknown: bool,
    /// A limit that ended it.
    pub(crate) limit: Option<Limit>,
    /// How many inputs it was told: those up to the first turn whose text was never sent.
    pub(crate) told: u64,
    /// Every turn that it was told has ended.
    pub(crate) done: bool,
    /// How many bytes of its log are there no more, or cannot be read.
    pub(crate) unread: u64,
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Talk").field("far", &self.far).finish_non_exhaustive()
    }
}

impl Fold {
    /// Begins a conversation; the effects are what it wants said first.
    pub(crate) fn begin(conversation: Box<dyn Conversation>) -> (Self, Effects) {
        let far = Far { turns_told: 1, ..Far::default() };
        let mut talk = Talk { conversation: Some(conversation), far };
        let mut effects = Effects::default();
        let steps = talk.hear(|conversation| conversation.start());
        talk.take(steps, &mut effects);
        (Self { talk, out: Lines::default(), err: Lines::default() }, effects)
    }

    /// Goes on where [`state`](Self::state) was; none when the state is of another version. The effects are those
    /// that may not have been seen to.
    pub(crate) fn resume(agent: &dyn Agent, state: &Value) -> Option<(Self, Effects)> {
        let far = Far::deserialize(&state["far"]).ok()?;
        let carry = |name: &str| Vec::<u8>::deserialize(&state[name]).ok().map(Lines::after);
        let (out, err) = (carry("out")?, carry("err")?);
        let conversation = match &state["conversation"] {
            Value::Null => None,
            state => Some(agent.conversation_at(state)?),
        };
        let effects = Effects { sends: far.outbox.iter().cloned().collect(), ..Effects::default() };
        Some((Self { talk: Talk { conversation, far }, out, err }, effects))
    }

    /// Returns all that it remembers; none in the midst of a long line.
    pub(crate) fn state(&self) -> Option<Value> {
        let (out, err) = (self.out.unfinished()?, self.err.unfinished()?);
        let conversation = self.talk.conversation.as_ref().map(|conversation| conversation.state());
        (out.len() <= CARRY && err.len() <= CARRY)
            .then(|| json!({"conversation": conversation, "far": self.talk.far, "out": out, "err": err}))
    }

    /// Reads records of the log.
    pub(crate) fn read(&mut self, records: &[Record]) -> Effects {
        let mut effects = Effects::default();
        let Self { talk, out, err } = self;
        for record in records {
            let at = Time::from_millis(i64::try_from(record.at_us / 1000).unwrap_or(i64::MAX));
            talk.far.signs.heard(at);
            match record.stream {
                Stream::Stdout => out.push(&record.payload, |line| talk.said(line, &mut effects)),
                Stream::Stderr => err.push(&record.payload, |line| talk.muttered(line, &mut effects)),
                Stream::Input => talk.sent(record.ordinal.unwrap_or_default()),
                // It hears nothing more, so there is nothing left to send.
                Stream::InputClosed => talk.far.outbox.clear(),
                Stream::Note => talk.noted(&String::from_utf8_lossy(&record.payload), &mut effects),
                _ => {}
            }
        }
        effects
    }

    /// Reads what is left when the process has ended: a last line without its end.
    pub(crate) fn end(&mut self) -> Effects {
        let mut effects = Effects::default();
        let Self { talk, out, err } = self;
        out.finish(|line| talk.said(line, &mut effects));
        err.finish(|line| talk.muttered(line, &mut effects));
        let steps = talk.hear(|conversation| conversation.ended());
        talk.take(steps, &mut effects);
        effects
    }

    /// Shows an error that Forge itself knows of.
    pub(crate) fn complain(&mut self, error_type: ErrorType, text: &str) -> Effects {
        let mut effects = Effects::default();
        let entry = Entry::new(EntryType::ErrorMessage { error_type }, text);
        self.talk.take(vec![Step::Entry { index: self.talk.far.entries, entry }], &mut effects);
        effects
    }

    /// How far the conversation is.
    pub(crate) fn progress(&self) -> Progress {
        let far = &self.talk.far;
        // With a conversation that broke nobody can speak: the agent is let go.
        let idle = far.over || far.turns_done >= far.turns_told || self.talk.conversation.is_none();
        Progress { idle, notes: far.notes, sends: far.sends }
    }

    /// The files that the agent waits for, as far as the log was read.
    pub(crate) fn wishes(&self) -> &[Wish] {
        &self.talk.far.wishes
    }

    /// What shows whether the agent is stuck; none before its first sign of life.
    pub(crate) fn evidence(&self) -> Option<Evidence> {
        self.talk.far.signs.evidence(self.progress().idle)
    }

    /// How the conversation went so far.
    pub(crate) fn outcome(&self) -> Outcome {
        let far = &self.talk.far;
        Outcome {
            failed: far.failed,
            failure: far.failure.clone(),
            summary: far.summary.clone(),
            session_unknown: far.session_unknown,
            limit: far.limit,
            told: far.unsent.first().map_or(far.notes, |note| note - 1),
            done: far.turns_done >= far.turns_told,
            unread: 0,
        }
    }
}

impl Talk {
    fn said(&mut self, line: Line<'_>, effects: &mut Effects) {
        let mut steps = self.hear(|conversation| conversation.read(line.text));
        if line.is_cut {
            steps = steps.into_iter().flat_map(|step| self.only_shown(step)).collect();
        }
        self.take(steps, effects);
    }

    /// Keeps what only shows something, and refuses what would act upon a line that was cut: an agent whose request is
    /// allowed or done in part believes that it was done as it was asked.
    fn only_shown(&mut self, step: Step) -> Vec<Step> {
        match step {
            Step::Ask(AskRequest { key, .. }) => {
                let deny = Answer::Deny { reason: Some(TOO_LONG.to_string()) };
                self.hear(|conversation| conversation.answer(&key, &deny))
            }
            Step::WriteFile { key, .. } => self.hear(|conversation| conversation.file(&key, Err(TOO_LONG))),
            step => vec![step],
        }
    }

    fn muttered(&mut self, line: Line<'_>, effects: &mut Effects) {
        let steps = self.hear(|conversation| conversation.read_error(line.text));
        self.take(steps, effects);
    }

    /// A text is in the agent's input, and with it every one before it.
    fn sent(&mut self, ordinal: u64) {
        self.far.unsent.sent(ordinal);
        while self.far.outbox.front().is_some_and(|(number, _)| *number <= ordinal) {
            self.far.outbox.pop_front();
        }
    }

    fn noted(&mut self, text: &str, effects: &mut Effects) {
        self.far.notes += 1;
        let steps = match Input::read(text) {
            Some(Input::Turn { prompt, .. }) => {
                self.far.turns_told += 1;
                let steps = self.hear(|conversation| conversation.say(&prompt));
                let at_once = steps.iter().any(|step| matches!(step, Step::Send(_)));
                self.far.unsent.said(self.far.notes, &prompt, at_once.then_some(self.far.sends + 1));
                steps
            }
            Some(Input::Answer { ask, answer }) => {
                self.far.signs.answered(&ask);
                self.hear(|it| it.answer(&ask, &answer))
            }
            Some(Input::Interrupt) => self.hear(|conversation| conversation.interrupt()),
            Some(Input::File { key, came }) => {
                self.far.wishes.retain(|wish| wish.key() != key);
                self.hear(|conversation| conversation.file(&key, came.as_deref().map_err(String::as_str)))
            }
            None => Vec::new(),
        };
        self.take(steps, effects);
    }

    /// Tells the conversation something and returns its steps. One that breaks over it is heard no more, and its run
    /// has failed; everything else about the run goes on.
    fn hear(&mut self, tell: impl FnOnce(&mut dyn Conversation) -> Vec<Step>) -> Vec<Step> {
        let Some(conversation) = &mut self.conversation else { return Vec::new() };
        catch_unwind(AssertUnwindSafe(|| tell(conversation.as_mut()))).unwrap_or_else(|_| {
            self.conversation = None;
            let text = "Forge broke over what the agent said and cannot show the rest of it here; the raw log has \
                        everything. Please report this as a bug of Forge.";
            (self.far.failed, self.far.failure) = (true, Some(text.to_string()));
            let entry = Entry::new(EntryType::ErrorMessage { error_type: ErrorType::Other }, text);
            vec![Step::Entry { index: self.far.entries, entry }]
        })
    }

    fn take(&mut self, steps: Vec<Step>, effects: &mut Effects) {
        for step in steps {
            match bounded(step) {
                Step::Session(session) => effects.session = Some(session),
                Step::Ask(ask) => {
                    self.far.signs.asked(&ask.key);
                    effects.asks.push(ask);
                }
                Step::Withdrawn(key) => {
                    self.far.signs.answered(&key);
                    effects.withdrawn.push(key);
                }
                Step::Send(text) => {
                    self.far.sends += 1;
                    self.far.unsent.sends(self.far.sends, &text);
                    self.far.outbox.push_back((self.far.sends, text.clone()));
                    effects.sends.push((self.far.sends, text));
                }
                Step::CloseInput => {
                    self.far.over = true;
                    effects.closes = true;
                }
                Step::Usage(usage) => {
                    let turn = self.far.turns_told.min(self.far.turns_done + 1);
                    let used = self.far.used.told(turn, usage, self.far.signs.now());
                    effects.usage.retain(|known| known.turn != used.turn);
                    effects.usage.push(used);
                }
                Step::Limited { until_ms } => {
                    self.far.limit = Some(Limit { until: until_ms.map(Time::from_millis) });
                    effects.limit = Some(self.far.limit);
                }
                Step::LimitedFor { ms } => {
                    let until = self.far.signs.now().millis().saturating_add(ms);
                    self.far.limit = Some(Limit { until: Some(Time::from_millis(until)) });
                    effects.limit = Some(self.far.limit);
                }
                Step::SessionUnknown => self.far.session_unknown = true,
                Step::Done { ok, error, summary } => {
                    self.far.turns_done += 1;
                    if ok && self.far.limit.take().is_some() {
                        effects.limit = Some(None);
                    }
                    self.far.failed = !ok;
                    self.far.failure = error;
                    self.far.summary = summary.or_else(|| self.far.summary.take());
                }
                Step::Entry { index, entry } => {
                    self.far.entries = self.far.entries.max(index + 1);
                    self.far.signs.shown(index, &entry);
                    match effects.entries.last_mut() {
                        Some((last, newest)) if *last == index => *newest = entry,
                        _ => effects.entries.push((index, entry)),
                    }
                }
                Step::Note(_) => {}
                Step::ReadFile { key, path, line, limit } => {
                    self.far.wishes.push(Wish::Read { key, path, line, limit });
                }
                Step::WriteFile { key, path, content } => {
                    self.far.wishes.push(Wish::Write { key, path, content });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Breaks over a line that says so.
    struct Fragile;

    impl Conversation for Fragile {
        fn start(&mut self) -> Vec<Step> {
            vec![Step::Entry { index: 0, entry: Entry::new(EntryType::UserMessage, "go") }]
        }
        fn read(&mut self, line: &str) -> Vec<Step> {
            assert_ne!(line, "break");
            vec![Step::Note(line.to_string())]
        }
        fn read_error(&mut self, _: &str) -> Vec<Step> {
            Vec::new()
        }
        fn say(&mut self, _: &str) -> Vec<Step> {
            Vec::new()
        }
        fn answer(&mut self, _: &str, _: &Answer) -> Vec<Step> {
            Vec::new()
        }
        fn interrupt(&mut self) -> Vec<Step> {
            Vec::new()
        }
        fn state(&self) -> Value {
            json!({})
        }
    }

    #[test]
    fn a_conversation_that_breaks_is_told_as_an_entry_and_lets_its_agent_go() {
        let (mut fold, first) = Fold::begin(Box::new(Fragile));
        assert_eq!(first.entries.len(), 1);
        assert!(!fold.progress().idle);
        let said = |text: &str| Record {
            offset: 0,
            end: 0,
            stream: Stream::Stdout,
            at_us: 0,
            ordinal: None,
            payload: text.as_bytes().to_vec(),
        };
        let effects = fold.read(&[said("fine\nbreak\nand on\n")]);
        let (index, entry) = &effects.entries[0];
        assert!(*index == 1 && entry.content.contains("bug of Forge"), "{entry:?}");
        assert!(fold.progress().idle && fold.outcome().failed);
        assert!(fold.read(&[said("break\n")]).entries.is_empty(), "it is told once");
        let state = fold.state().unwrap();
        let (resumed, _) = Fold::resume(&forge_agents::scripted::Scripted, &state).unwrap();
        assert!(resumed.progress().idle && resumed.outcome().failed);
    }
}
