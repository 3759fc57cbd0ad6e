//! Which turn runs and what it was told: texts wait for the thread, begin a turn, or steer the one that runs.
//!
//! Every text that is said ends in exactly one [`Step::Done`], whichever way it went: a turn that took in two more
//! texts ends three times. A text whose steering is refused, because its turn had just ended, begins a turn of its
//! own; nothing is lost.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::wire::{self, Begun, Opened, Refusal};
use crate::Step;

/// The turns of one process.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    requests: u64,
    thread: Option<String>,
    at: At,
    /// Texts that nothing was done about yet.
    waiting: VecDeque<String>,
    pending: BTreeMap<u64, Pending>,
    /// How many texts the turn that runs has been told.
    told: u64,
    /// A stop of the turn that runs was asked for.
    stopping: bool,
    /// The turn that runs takes nothing in.
    unsteerable: bool,
    /// The mode in which turns are played, where it is not the usual one.
    mode: Option<Value>,
    /// The turn that ran last, and how it ended.
    last: Option<String>,
    ended: Option<Ended>,
}

#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
enum At {
    /// The thread is not open yet.
    #[default]
    Opening,
    Idle,
    Starting,
    Running(String),
    /// There will be no thread.
    Nowhere(String),
}

/// What a request of ours was about.
#[derive(Debug, Serialize, Deserialize)]
enum Pending {
    Initialize,
    Thread,
    Turn,
    Steer { turn: String, text: String, why: Why },
    Interrupt,
}

/// Why a turn is steered.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Why {
    /// A person said more.
    Said,
    /// A person said more, and then that everything is to stop.
    Stopped,
    /// The agent is told why it was refused something.
    Reason,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) ok: bool,
    pub(super) error: Option<String>,
    pub(super) summary: Option<String>,
}

impl Ended {
    fn failed(error: impl Into<String>) -> Self {
        Self { ok: false, error: Some(error.into()), summary: None }
    }

    fn step(self) -> Step {
        Step::Done { ok: self.ok, error: self.error, summary: self.summary }
    }
}

/// What came of a request of ours.
#[derive(Debug)]
pub(super) enum Came {
    /// The agent is there; the thread can be opened.
    Ready,
    Opened(Opened),
    /// There is no agent, or no thread.
    Refused {
        what: &'static str,
        refusal: Refusal,
    },
    /// A turn did not begin; the steps end what it was told.
    NoTurn {
        refusal: Refusal,
        steps: Vec<Step>,
    },
    Steps(Vec<Step>),
}

impl Turns {
    /// Has all turns from now on end with a plan. Codex wants to be told the model again with it.
    pub(super) fn plan(&mut self, model: &str) {
        let settings = json!({"model": model, "reasoning_effort": null, "developer_instructions": null});
        self.mode = Some(json!({"mode": "plan", "settings": settings}));
    }

    /// Opens the conversation.
    pub(super) fn initialize(&mut self) -> Step {
        let version = env!("CARGO_PKG_VERSION");
        let client = json!({"name": "forge", "title": "Forge", "version": version});
        let params = json!({"clientInfo": client, "capabilities": {"experimentalApi": true}});
        self.request("initialize", &params, Pending::Initialize)
    }

    /// Opens the thread.
    pub(super) fn open(&mut self, method: &str, params: &Value) -> Vec<Step> {
        let initialized = Step::Send(wire::notice("initialized"));
        vec![initialized, self.request(method, params, Pending::Thread)]
    }

    /// Says something: now when there is a turn or a thread for it, later when there is not.
    pub(super) fn say(&mut self, text: String) -> Vec<Step> {
        if let At::Nowhere(error) = &self.at {
            return vec![Ended::failed(error.clone()).step()];
        }
        self.waiting.push_back(text);
        self.go()
    }

    /// Tells the turn that runs why it was refused something.
    pub(super) fn reason(&mut self, text: String) -> Option<Step> {
        let At::Running(turn) = &self.at else { return None };
        let turn = turn.clone();
        Some(self.steer(turn, text, Why::Reason))
    }

    /// Asks the turn that runs to stop, and forgets what it was not told.
    pub(super) fn interrupt(&mut self) -> Vec<Step> {
        for pending in self.pending.values_mut() {
            if let Pending::Steer { why, .. } = pending
                && *why == Why::Said
            {
                *why = Why::Stopped;
            }
        }
        let forgotten = std::mem::take(&mut self.waiting).len();
        let mut steps: Vec<Step> = vec![Ended::failed("interrupted").step(); forgotten];
        match &self.at {
            At::Running(turn) => {
                let turn = turn.clone();
                self.stopping = true;
                steps.push(self.stop(&turn));
            }
            At::Starting => self.stopping = true,
            At::Opening | At::Idle | At::Nowhere(_) => {}
        }
        steps
    }

    /// Takes the answer to a request of ours.
    pub(super) fn answered(&mut self, id: &Value, result: Result<Value, Refusal>) -> Came {
        let Some(pending) = id.as_u64().and_then(|id| self.pending.remove(&id)) else {
            // It was told in another way before, such as that a turn began.
            return Came::Steps(Vec::new());
        };
        match (pending, result) {
            (Pending::Initialize, Ok(_)) => Came::Ready,
            (Pending::Initialize, Err(refusal)) => {
                Came::Refused { what: "Codex could not be started", refusal }
            }
            (Pending::Thread, Ok(result)) => match Opened::deserialize(&result) {
                Ok(opened) => {
                    self.thread = Some(opened.thread.id.clone());
                    self.at = At::Idle;
                    Came::Opened(opened)
                }
                Err(error) => {
                    let refusal = Refusal { message: error.to_string() };
                    Came::Refused { what: "Codex opened a thread that was not understood", refusal }
                }
            },
            (Pending::Thread, Err(refusal)) => {
                Came::Refused { what: "Codex could not open the thread", refusal }
            }
            (Pending::Turn, Ok(result)) => match Begun::deserialize(&result) {
                Ok(begun) if self.at == At::Starting => Came::Steps(self.runs(begun.turn.id)),
                // The notice that it began will come.
                Ok(_) | Err(_) => Came::Steps(Vec::new()),
            },
            (Pending::Turn, Err(refusal)) => {
                let told = std::mem::take(&mut self.told);
                if self.at == At::Starting {
                    self.at = At::Idle;
                    self.stopping = false;
                }
                let failed = Ended::failed(refusal.message.clone());
                let mut steps: Vec<Step> = (0..told).map(|_| failed.clone().step()).collect();
                steps.extend(self.go());
                Came::NoTurn { refusal, steps }
            }
            (Pending::Steer { turn, why, .. }, Ok(_)) => Came::Steps(self.steered(&turn, &why)),
            (Pending::Steer { turn, text, why }, Err(refusal)) => {
                Came::Steps(self.unsteered(&turn, text, &why, &refusal))
            }
            (Pending::Interrupt, Ok(_)) => Came::Steps(Vec::new()),
            (Pending::Interrupt, Err(refusal)) => {
                Came::Steps(vec![Step::Note(format!("Codex did not stop the turn: {}", refusal.message))])
            }
        }
    }

    /// Takes the notice that a turn of the thread began.
    pub(super) fn begun(&mut self, turn: String) -> Vec<Step> {
        match &self.at {
            At::Starting => self.runs(turn),
            At::Idle => {
                // Nobody told it to: it goes on with something of its own.
                self.told = 0;
                self.runs(turn)
            }
            At::Opening | At::Running(_) | At::Nowhere(_) => Vec::new(),
        }
    }

    /// Says whether this is the turn that runs.
    pub(super) fn is_running(&self, turn: &str) -> bool {
        matches!(&self.at, At::Running(running) if running == turn)
    }

    /// Says whether this is the thread of the conversation, and not a sub-agent's.
    pub(super) fn is_own(&self, thread: &str) -> bool {
        self.thread.as_deref().is_none_or(|own| own == thread)
    }

    /// Says whether a turn is the one that this process plays or played last.
    pub(super) fn is_ours(&self, turn: &str) -> bool {
        self.last.as_deref() == Some(turn)
    }

    /// Says whether a stop was asked for.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Ends the turn that runs, once for everything it was told, and begins the next.
    pub(super) fn end(&mut self, ended: Ended) -> Vec<Step> {
        let told = std::mem::take(&mut self.told);
        self.at = At::Idle;
        self.stopping = false;
        self.unsteerable = false;
        let mut steps: Vec<Step> = (0..told).map(|_| ended.clone().step()).collect();
        self.ended = Some(ended);
        steps.extend(self.go());
        steps
    }

    /// Ends everything: there will be no thread.
    pub(super) fn give_up(&mut self, error: &str) -> Vec<Step> {
        self.at = At::Nowhere(error.to_string());
        let said = std::mem::take(&mut self.waiting).len();
        vec![Ended::failed(error).step(); said]
    }

    /// Does what can be done about the texts that wait.
    pub(super) fn go(&mut self) -> Vec<Step> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        match &self.at {
            At::Idle => {
                let texts = std::mem::take(&mut self.waiting);
                self.told = texts.len() as u64;
                self.at = At::Starting;
                let mut params = json!({"threadId": self.thread, "input": wire::input(&texts)});
                if let Some(mode) = &self.mode {
                    params["collaborationMode"] = mode.clone();
                }
                vec![self.request("turn/start", &params, Pending::Turn)]
            }
            At::Running(turn) if !self.stopping && !self.unsteerable => {
                let turn = turn.clone();
                let texts = std::mem::take(&mut self.waiting);
                texts.into_iter().map(|text| self.steer(turn.clone(), text, Why::Said)).collect()
            }
            At::Opening | At::Starting | At::Running(_) | At::Nowhere(_) => Vec::new(),
        }
    }

    fn runs(&mut self, turn: String) -> Vec<Step> {
        self.pending.retain(|_, pending| !matches!(pending, Pending::Turn));
        self.last = Some(turn.clone());
        self.at = At::Running(turn.clone());
        if self.stopping { vec![self.stop(&turn)] } else { self.go() }
    }

    /// The turn took the text in, or had taken it in before it ended.
    fn steered(&mut self, turn: &str, why: &Why) -> Vec<Step> {
        if *why == Why::Reason {
            return Vec::new();
        }
        if self.is_running(turn) {
            self.told += 1;
            return Vec::new();
        }
        // Its summary was told with the turn's own end.
        let ended = self.ended.clone().unwrap_or_else(|| Ended::failed("the turn ended before it"));
        vec![Ended { summary: None, ..ended }.step()]
    }

    fn unsteered(&mut self, turn: &str, text: String, why: &Why, refusal: &Refusal) -> Vec<Step> {
        let mut steps = vec![Step::Note(format!("Codex did not take a text in: {}", refusal.message))];
        match why {
            Why::Reason => {}
            Why::Stopped => steps.push(Ended::failed("interrupted").step()),
            Why::Said => {
                self.unsteerable |= self.is_running(turn);
                self.waiting.push_back(text);
                steps.extend(self.go());
            }
        }
        steps
    }

    fn steer(&mut self, turn: String, text: String, why: Why) -> Step {
        let input = wire::input([&text]);
        let params = json!({"threadId": self.thread, "expectedTurnId": turn, "input": input});
        self.request("turn/steer", &params, Pending::Steer { turn, text, why })
    }

    fn stop(&mut self, turn: &str) -> Step {
        let params = json!({"threadId": self.thread, "turnId": turn});
        self.request("turn/interrupt", &params, Pending::Interrupt)
    }

    fn request(&mut self, method: &str, params: &Value, about: Pending) -> Step {
        self.requests += 1;
        self.pending.insert(self.requests, about);
        Step::Send(wire::request(self.requests, method, params))
    }
}
