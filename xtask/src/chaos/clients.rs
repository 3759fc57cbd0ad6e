//! The clients of a storm: they start, follow up, answer and stop, each call until it is acknowledged.
//!
//! A call that got no answer is repeated with its key. Now and then a client goes away instead.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::Scene;
use super::ledger::{AskState, Asked, Attempt, Followed, Kind, Ledger, Told, UNCERTAIN};
use super::script::{Shape, follow_up};
use crate::api::{Answer, Away, text};
use crate::random::Random;
use crate::raw_log::{self, RawLog};

/// Between two tries while the server is away.
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// How long a follower waits for output before it opens another connection.
const QUIET: Duration = Duration::from_millis(500);

/// What a client does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Start(Option<Shape>),
    FollowUp,
    Answer,
    Stop,
    AnswerAgain,
}

impl Scene {
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Acts until the storm is over; a mistake ends the storm.
    pub(super) fn be_client(&self, mut random: Random) {
        while !self.over.load(Ordering::SeqCst) {
            if let Err(error) = self.act_once(&mut random) {
                self.ledger().mistake(Kind::Other, format!("a client failed: {error:#}"));
                self.over.store(true, Ordering::SeqCst);
            }
            // People take a moment between two acts; without one a client would only measure itself.
            std::thread::sleep(Duration::from_millis(random.between(5, 50)));
        }
    }

    fn act_once(&self, random: &mut Random) -> anyhow::Result<()> {
        let wish = *self.wish.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let act = match wish {
            Some(wish) => wish,
            None => {
                let Some(live) = self.live_attempts()? else { return Ok(()) };
                match random.between(0, 100) {
                    _ if live.len() < self.agents => Act::Start(None),
                    0..50 => Act::FollowUp,
                    50..85 => Act::Answer,
                    85..95 => Act::AnswerAgain,
                    _ => Act::Stop,
                }
            }
        };
        match act {
            Act::Start(shape) => {
                let shape = shape.unwrap_or_else(|| Shape::draw(random, self.target));
                self.start(shape, random)
            }
            // What is wished for is to be told to a running agent.
            Act::FollowUp => self.follow_up_some(wish.is_some(), random),
            Act::Answer => {
                if !self.answer_some(random)? && wish.is_some() {
                    self.start(Shape::Asks, random)?;
                }
                Ok(())
            }
            Act::Stop => self.stop_some(random),
            Act::AnswerAgain => self.answer_again(random),
        }
    }

    /// Starts a task and waits for the answer, or goes away.
    fn start(&self, shape: Shape, random: &mut Random) -> anyhow::Result<()> {
        let word = self.word("begin", random);
        let body = json!({
            "task": {
                "project_id": self.project, "title": word, "description": shape.script(&word, random),
            },
            "executor_profile_id": {"executor": "SCRIPTED"},
            "base_branch": "main",
        });
        let patient = !random.chance(10);
        let path = "/api/tasks/create-and-start";
        let Some(answer) = self.insist(patient, || self.api.post(path, &body, Some(&word)))? else {
            self.ledger().given_up.insert(word, shape);
            return Ok(());
        };
        let started = answer.data().with_context(|| format!("could not start {word}"))?;
        let id = text(&started, "attempt_id")?;
        let task = text(&started, "id")?;
        let mut ledger = self.ledger();
        ledger.calls += 1;
        let attempt = Attempt { task, word: word.clone(), shape, disturbed: 0, reserved: false };
        if ledger.attempts.insert(id.clone(), attempt).is_some() {
            ledger.mistake(Kind::Doubled, format!("two starts were answered with the same attempt {id}"));
        }
        Ok(())
    }

    fn follow_up_some(&self, live_only: bool, random: &mut Random) -> anyhow::Result<()> {
        let Some(live) = self.live_attempts()? else { return Ok(()) };
        // An agent that is about to fail may not live to hear it.
        let candidates = self.candidates(|id, known| match live.iter().any(|live| live == id) {
            true => known.shape != Shape::Fails,
            false => !live_only,
        });
        let Some(id) = random.pick(&candidates) else { return self.start(Shape::Talks, random) };
        self.follow_up(id, random).map(|_| ())
    }

    /// Tells an attempt more, and returns the word that it will say.
    pub(super) fn follow_up(&self, id: &str, random: &mut Random) -> anyhow::Result<String> {
        let word = self.word("follow", random);
        let disturbed = self.ledger().disturbed(id);
        let body = json!({"prompt": follow_up(&word, random)});
        let path = format!("/api/task-attempts/{id}/follow-up");
        let answer = self.insist(true, || self.api.post(&path, &body, Some(&word)))?;
        let data = answer.context("a patient call was given up")?.data();
        data.with_context(|| format!("could not follow up on attempt {id}"))?;
        let mut ledger = self.ledger();
        ledger.calls += 1;
        ledger.told.push(Told { attempt: id.to_string(), word: word.clone(), disturbed });
        Ok(word)
    }

    /// Answers one open ask; says whether there was one.
    pub(super) fn answer_some(&self, random: &mut Random) -> anyhow::Result<bool> {
        if self.look_at_asks()?.is_none() {
            return Ok(true);
        }
        let (id, attempt, disturbed) = {
            let mut ledger = self.ledger();
            let open: Vec<String> = ledger
                .asks
                .iter()
                .filter(|(_, ask)| ask.state == AskState::Open)
                .filter(|(_, ask)| ledger.attempts.get(&ask.attempt).is_some_and(|known| !known.reserved))
                .map(|(id, _)| id.clone())
                .collect();
            let Some(id) = random.pick(&open).cloned() else { return Ok(false) };
            let Some(ask) = ledger.asks.get_mut(&id) else { return Ok(false) };
            ask.state = AskState::Answering;
            let attempt = ask.attempt.clone();
            let disturbed = ledger.disturbed(&attempt);
            (id, attempt, disturbed)
        };
        let word = self.word("answer", random);
        let body = json!({"approved": true, "text": word});
        let path = format!("/api/approvals/{id}/respond");
        let (mut tries, call) = (0, || self.api.post(&path, &body, None));
        let answer = self.insist(true, || {
            tries += 1;
            call()
        })?;
        let answer = answer.context("a patient call was given up")?;
        let mut ledger = self.ledger();
        if let Some(ask) = ledger.asks.get_mut(&id) {
            ask.state = AskState::Answered;
        }
        let ended = ledger.disturbed(&attempt) > 0;
        match answer.status {
            200 => {}
            // An answer has no key: when the server died over it, the second try is refused and the words
            // of the first must arrive.
            409 if tries > 1 && !ended => {}
            // The agent that asked was stopped or killed. The first try may have come through before that.
            409 if ended => {
                ledger.told.push(Told { attempt, word, disturbed: UNCERTAIN });
                return Ok(true);
            }
            _ => bail!("the answer to ask {id} got {}: {}", answer.status, answer.body),
        }
        ledger.calls += 1;
        ledger.told.push(Told { attempt, word, disturbed });
        Ok(true)
    }

    /// Answers an ask that was answered before, which must be refused.
    fn answer_again(&self, random: &mut Random) -> anyhow::Result<()> {
        let answered: Vec<String> = {
            let ledger = self.ledger();
            let answered = ledger.asks.iter().filter(|(_, ask)| ask.state == AskState::Answered);
            answered.map(|(id, _)| id.clone()).collect()
        };
        let Some(id) = random.pick(&answered) else { return Ok(()) };
        self.second_answer(id)
    }

    pub(super) fn second_answer(&self, id: &str) -> anyhow::Result<()> {
        let body = json!({"approved": true, "text": "a second answer"});
        let path = format!("/api/approvals/{id}/respond");
        let answer = self.insist(true, || self.api.post(&path, &body, None))?;
        let answer = answer.context("a patient call was given up")?;
        if answer.status != 409 {
            bail!("a second answer to ask {id} got {} instead of 409: {}", answer.status, answer.body);
        }
        self.ledger().refused += 1;
        Ok(())
    }

    fn stop_some(&self, random: &mut Random) -> anyhow::Result<()> {
        let Some(live) = self.live_attempts()? else { return Ok(()) };
        let candidates = self.candidates(|id, _| live.iter().any(|live| live == id));
        let Some(id) = random.pick(&candidates) else { return self.start(Shape::Rests, random) };
        self.ledger().disturb(id);
        let path = format!("/api/task-attempts/{id}/stop");
        let answer = self.insist(true, || self.api.post(&path, &json!({}), None))?;
        answer.context("a patient call was given up")?.data().context("could not stop an attempt")?;
        let mut ledger = self.ledger();
        ledger.calls += 1;
        ledger.disturb(id);
        Ok(())
    }

    /// Follows one live run after another across every restart, and compares with what was printed.
    pub(super) fn be_follower(&self, mut random: Random) {
        while !self.over.load(Ordering::SeqCst) {
            if let Err(error) = self.follow_one(&mut random) {
                self.ledger().mistake(Kind::Other, format!("a follower failed: {error:#}"));
                self.over.store(true, Ordering::SeqCst);
            }
            std::thread::sleep(TRY_AGAIN);
        }
    }

    fn follow_one(&self, random: &mut Random) -> anyhow::Result<()> {
        let runs = self.live_runs()?;
        let Some(run) = random.pick(&runs).map(|run| run.id.clone()) else { return Ok(()) };
        // A start that is not acknowledged yet has no run to follow, and may be taken back.
        match self.api.get(&format!("/api/execution-processes/{run}")) {
            Ok(answer) if answer.status == 200 => {}
            _ => return Ok(()),
        }
        let (mut text, mut position, mut whole) = (String::new(), 0, false);
        while !whole && !self.over.load(Ordering::SeqCst) {
            self.check_time()?;
            whole = follow(self.api.port, &run, &mut text, &mut position, random) == Some(true);
            std::thread::sleep(TRY_AGAIN);
        }
        self.ledger().followed.push(Followed { run, text, whole });
        Ok(())
    }

    /// Repeats a call until it is answered. An impatient caller goes away after the first silence.
    pub(super) fn insist(
        &self,
        patient: bool,
        mut call: impl FnMut() -> Result<Answer, Away>,
    ) -> anyhow::Result<Option<Answer>> {
        loop {
            match call() {
                Ok(answer) => return Ok(Some(answer)),
                Err(_) if !patient => return Ok(None),
                Err(_) => self.check_time()?,
            }
            std::thread::sleep(TRY_AGAIN);
        }
    }

    pub(super) fn check_time(&self) -> anyhow::Result<()> {
        if self.aborted.load(Ordering::SeqCst) {
            bail!("the storm was broken off");
        }
        if Instant::now() > self.deadline {
            bail!("the storm took too long");
        }
        Ok(())
    }

    /// Returns the attempts that are live; none when the server is away.
    fn live_attempts(&self) -> anyhow::Result<Option<Vec<String>>> {
        let Ok(answer) = self.api.get("/api/task-attempts") else { return Ok(None) };
        let attempts = answer.data()?;
        let attempts = attempts.as_array().context("attempts are no list")?;
        self.adopt(attempts)?;
        let live = attempts.iter().filter(|attempt| is_live(attempt));
        Ok(Some(live.map(|attempt| text(attempt, "id")).collect::<anyhow::Result<_>>()?))
    }

    /// Takes up attempts that nobody waited for: their start happened all the same.
    pub(super) fn adopt(&self, attempts: &[Value]) -> anyhow::Result<()> {
        let mut ledger = self.ledger();
        for attempt in attempts {
            let (id, word) = (text(attempt, "id")?, text(&attempt["task"], "title")?);
            if let (false, Some(shape)) = (ledger.attempts.contains_key(&id), ledger.given_up.get(&word)) {
                let shape = *shape;
                let task = text(attempt, "task_id")?;
                ledger.attempts.insert(id, Attempt { task, word, shape, disturbed: 0, reserved: false });
            }
        }
        Ok(())
    }

    /// Notes the asks that are open; none when the server is away.
    pub(super) fn look_at_asks(&self) -> anyhow::Result<Option<Vec<String>>> {
        let Ok(answer) = self.api.get("/api/approvals/pending") else { return Ok(None) };
        let pending = answer.data()?;
        let mut ids = Vec::new();
        let mut ledger = self.ledger();
        for ask in pending.as_array().context("pending asks are no list")? {
            let (id, attempt) = (text(ask, "approval_id")?, text(ask, "task_attempt_id")?);
            let new = Asked { attempt, state: AskState::Open };
            ledger.asks.entry(id.clone()).or_insert(new);
            ids.push(id);
        }
        Ok(Some(ids))
    }

    fn candidates(&self, fits: impl Fn(&str, &Attempt) -> bool) -> Vec<String> {
        let ledger = self.ledger();
        let known = ledger.attempts.iter().filter(|(id, known)| !known.reserved && fits(id, known));
        known.map(|(id, _)| id.clone()).collect()
    }

    /// Makes a word that nobody else says.
    fn word(&self, kind: &str, random: &mut Random) -> String {
        let number = self.words.fetch_add(1, Ordering::SeqCst);
        format!("{kind}-{number}-{:04x}", random.number() & 0xffff)
    }
}

/// Says whether something of an attempt runs or is about to.
pub(super) fn is_live(attempt: &Value) -> bool {
    matches!(attempt["state"].as_str(), Some("queued" | "running" | "waiting" | "limited"))
}

/// Reads on from a position for a while; says whether the log is over, none when the connection broke.
fn follow(port: u16, run: &str, text: &mut String, position: &mut u64, random: &mut Random) -> Option<bool> {
    let mut log = RawLog::open_with(port, run, *position, QUIET).ok()?;
    for _ in 0..random.between(1, 60) {
        let Some(raw_log::Piece { stdout, position: next }) = log.next().ok()? else { return Some(true) };
        text.push_str(&stdout);
        *position = next;
    }
    Some(false)
}
