//! Folding a run's log into what it means: a function of the bytes, so doing it again changes nothing.

use forge_agents::{AskRequest, Conversation, Lines, Step};
use forge_model::Usage;
use forge_process::{Record, Stream};

use crate::agent_files::Wish;
use crate::input::Input;
use crate::unsent::Unsent;

/// A log being read into a conversation.
#[derive(Debug)]
pub(crate) struct Fold {
    talk: Talk,
    out: Lines,
    err: Lines,
}

/// A conversation, and how far it is.
struct Talk {
    conversation: Box<dyn Conversation>,
    /// How many texts the conversation has wanted sent.
    sends: u64,
    /// How many notes were folded.
    notes: u64,
    unsent: Unsent,
    /// The files that the agent waits for.
    wishes: Vec<Wish>,
    turns_told: u64,
    turns_done: u64,
    failed: bool,
    failure: Option<String>,
    summary: Option<String>,
}

/// What a piece of the log leads to.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) asks: Vec<AskRequest>,
    pub(crate) withdrawn: Vec<String>,
    pub(crate) session: Option<String>,
    pub(crate) usage: Option<Usage>,
    /// Texts for the agent, each with its number.
    pub(crate) sends: Vec<(u64, String)>,
}

impl Effects {
    /// Says whether the store has anything to learn from this.
    pub(crate) fn is_news(&self) -> bool {
        !self.asks.is_empty() || !self.withdrawn.is_empty() || self.session.is_some() || self.usage.is_some()
    }
}

/// How far a conversation is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// The agent has done everything it was told.
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
    /// How many inputs it was told: those up to the first turn whose text was never sent.
    pub(crate) told: u64,
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Talk").field("sends", &self.sends).field("notes", &self.notes).finish_non_exhaustive()
    }
}

impl Fold {
    /// Begins a conversation; the effects are what it wants said first.
    pub(crate) fn begin(conversation: Box<dyn Conversation>) -> (Self, Effects) {
        let mut talk = Talk {
            conversation,
            sends: 0,
            notes: 0,
            unsent: Unsent::default(),
            wishes: Vec::new(),
            turns_told: 1,
            turns_done: 0,
            failed: false,
            failure: None,
            summary: None,
        };
        let mut effects = Effects::default();
        let steps = talk.conversation.start();
        talk.take(steps, &mut effects);
        (Self { talk, out: Lines::default(), err: Lines::default() }, effects)
    }

    /// Reads records of the log.
    pub(crate) fn read(&mut self, records: &[Record]) -> Effects {
        let mut effects = Effects::default();
        let Self { talk, out, err } = self;
        for record in records {
            match record.stream {
                Stream::Stdout => out.push(&record.payload, |line| talk.said(line, &mut effects)),
                Stream::Stderr => err.push(&record.payload, |line| talk.muttered(line, &mut effects)),
                Stream::Input => talk.unsent.sent(record.ordinal.unwrap_or_default()),
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
        effects
    }

    /// How far the conversation is.
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            idle: self.talk.turns_done >= self.talk.turns_told,
            notes: self.talk.notes,
            sends: self.talk.sends,
        }
    }

    /// The files that the agent waits for, as far as the log was read.
    pub(crate) fn wishes(&self) -> &[Wish] {
        &self.talk.wishes
    }

    /// How the conversation went so far.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            failed: self.talk.failed,
            failure: self.talk.failure.clone(),
            summary: self.talk.summary.clone(),
            told: self.talk.unsent.first().map_or(self.talk.notes, |note| note - 1),
        }
    }
}

impl Talk {
    fn said(&mut self, line: &str, effects: &mut Effects) {
        let steps = self.conversation.read(line);
        self.take(steps, effects);
    }

    fn muttered(&mut self, line: &str, effects: &mut Effects) {
        let steps = self.conversation.read_error(line);
        self.take(steps, effects);
    }

    fn noted(&mut self, text: &str, effects: &mut Effects) {
        self.notes += 1;
        let steps = match Input::read(text) {
            Some(Input::Turn { prompt, .. }) => {
                self.turns_told += 1;
                let steps = self.conversation.say(&prompt);
                let at_once = steps.iter().any(|step| matches!(step, Step::Send(_)));
                self.unsent.said(self.notes, &prompt, at_once.then_some(self.sends + 1));
                steps
            }
            Some(Input::Answer { ask, answer }) => self.conversation.answer(&ask, &answer),
            Some(Input::Interrupt) => self.conversation.interrupt(),
            Some(Input::File { key, came }) => {
                self.wishes.retain(|wish| wish.key() != key);
                self.conversation.file(&key, came.as_deref().map_err(String::as_str))
            }
            None => Vec::new(),
        };
        self.take(steps, effects);
    }

    fn take(&mut self, steps: Vec<Step>, effects: &mut Effects) {
        for step in steps {
            match step {
                Step::Session(session) => effects.session = Some(session),
                Step::Ask(ask) => effects.asks.push(ask),
                Step::Withdrawn(key) => effects.withdrawn.push(key),
                Step::Send(text) => {
                    self.sends += 1;
                    self.unsent.sends(self.sends, &text);
                    effects.sends.push((self.sends, text));
                }
                Step::Usage(usage) => effects.usage = Some(usage),
                Step::Done { ok, error, summary } => {
                    self.turns_done += 1;
                    self.failed = !ok;
                    self.failure = error;
                    self.summary = summary.or_else(|| self.summary.take());
                }
                Step::Entry { .. } | Step::Limited { .. } | Step::SessionUnknown | Step::Note(_) => {}
                Step::ReadFile { key, path, line, limit } => {
                    self.wishes.push(Wish::Read { key, path, line, limit });
                }
                Step::WriteFile { key, path, content } => {
                    self.wishes.push(Wish::Write { key, path, content });
                }
            }
        }
    }
}
