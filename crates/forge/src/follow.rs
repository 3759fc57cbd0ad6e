//! Follows an attempt until it comes to rest: shows its runs' output in order, its asks, and survives a
//! server that goes away and comes back.
//!
//! Everything that can happen arrives on one channel; one loop decides what it means.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, IsTerminal, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Trouble};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::render::Renderer;
use crate::wire::{self, Ask, Attempt, LogChunk, Run};
use crate::{event_stream, log_stream};

/// Something that happened while an attempt is followed.
#[derive(Debug)]
pub(crate) enum Happened {
    /// Something about the attempt may have changed.
    Look,
    /// A run printed something.
    Printed(Vec<LogChunk>),
    /// Everything the run printed has been given.
    LogOver,
    /// The server cannot be reached.
    Away,
    /// It can be reached again.
    Back,
    /// A person typed a line.
    Typed(String),
    /// A person will type no more, as after Ctrl-D.
    TypedAll,
    /// Ctrl-C.
    Interrupted,
    /// There is no going on.
    Failed(Failure),
}

/// What to show, and when to stop following.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wishes {
    /// Show what the runs print.
    pub(crate) logs: bool,
    /// Show it as it was printed.
    pub(crate) raw: bool,
    /// Let a person answer here, when one is at a terminal.
    pub(crate) answer_here: bool,
    /// End as soon as the attempt waits for an answer.
    pub(crate) until_ask: bool,
}

/// How following ended.
#[derive(Debug)]
pub(crate) struct Followed {
    /// The attempt as the server shows it.
    pub(crate) value: Value,
    pub(crate) attempt: Attempt,
    /// What the attempt's state means as an exit code.
    pub(crate) exit: Exit,
}

/// Follows an attempt until it comes to rest.
pub(crate) fn follow(client: &Client, output: &Output, attempt: &str, wishes: Wishes) -> Result<Followed> {
    // Bounded, so that a reader slower than the agent holds the log back instead of filling the memory.
    let (tell, told) = sync_channel(64);
    watch_signals(tell.clone())?;
    let (listener, id, teller) = (client.clone(), attempt.to_string(), tell.clone());
    thread::spawn(move || event_stream::listen(listener, &id, &teller));
    let follower = Follower {
        client: client.clone(),
        output,
        id: attempt,
        wishes,
        tell,
        seen_runs: BTreeSet::new(),
        waiting_runs: VecDeque::new(),
        showing: None,
        shown_asks: BTreeSet::new(),
        open_asks: Vec::new(),
        types: false,
        typed_all: false,
        unsure: false,
        latest: None,
    };
    follower.go(&told)
}

struct Follower<'a> {
    client: Client,
    output: &'a Output,
    id: &'a str,
    wishes: Wishes,
    tell: SyncSender<Happened>,
    seen_runs: BTreeSet<String>,
    /// Runs whose output is still to be shown, oldest first.
    waiting_runs: VecDeque<Run>,
    /// The run whose output is being shown.
    showing: Option<Renderer>,
    shown_asks: BTreeSet<String>,
    open_asks: Vec<Ask>,
    /// The thread that reads what a person types runs.
    types: bool,
    /// It has ended, so asks are answered elsewhere.
    typed_all: bool,
    /// The last look failed, so another must follow without an event.
    unsure: bool,
    latest: Option<(Value, Attempt)>,
}

impl Follower<'_> {
    fn go(mut self, told: &Receiver<Happened>) -> Result<Followed> {
        loop {
            let happened = match self.unsure {
                false => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
                true => told.recv_timeout(Duration::from_millis(200)),
            };
            match happened {
                Ok(Happened::Look) | Err(RecvTimeoutError::Timeout) => self.look()?,
                Ok(Happened::Printed(chunks)) => self.print(chunks)?,
                Ok(Happened::LogOver) => self.log_over()?,
                Ok(Happened::Away) => {
                    self.output.remark("server is away, waiting… (`forge serve` starts it)");
                }
                Ok(Happened::Back) => {
                    self.client.relocate();
                    self.output.remark("server is back");
                }
                Ok(Happened::Typed(line)) => self.typed(&line)?,
                Ok(Happened::TypedAll) => self.typed_all(),
                Ok(Happened::Interrupted) => return Err(self.interrupted()),
                Ok(Happened::Failed(failure)) => return Err(failure),
                // This struct holds a sender, so the channel never closes.
                Err(RecvTimeoutError::Disconnected) => return Err(self.client.is_away()),
            }
            if let Some(exit) = self.end()
                && let Some((value, attempt)) = self.latest.take()
            {
                return Ok(Followed { value, attempt, exit });
            }
        }
    }

    /// Returns how the attempt ended, once it has and everything was shown.
    fn end(&self) -> Option<Exit> {
        let (_, attempt) = self.latest.as_ref()?;
        if self.wishes.until_ask && attempt.state == "waiting" && !self.open_asks.is_empty() {
            return Some(Exit::AttemptWaits);
        }
        if self.unsure || self.showing.is_some() || !self.waiting_runs.is_empty() {
            return None;
        }
        match attempt.state.as_str() {
            "finished" => Some(Exit::Ok),
            "failed" => Some(Exit::AttemptFailed),
            "stopped" => Some(Exit::AttemptStopped),
            _ if attempt.is_ended_by_limit() => Some(Exit::AttemptFailed),
            _ => None,
        }
    }

    /// Reads the attempt, its runs and its asks as they are now.
    fn look(&mut self) -> Result<()> {
        match self.read_state() {
            Ok(()) => self.unsure = false,
            Err(Trouble::Refused(failure)) => return Err(failure),
            Err(Trouble::Away(_)) => {
                self.unsure = true;
                self.client.relocate();
                return Ok(());
            }
        }
        self.show_next_run()?;
        self.show_asks()
    }

    fn read_state(&mut self) -> std::result::Result<(), Trouble> {
        let value = self.client.get(&format!("/api/task-attempts/{}", self.id))?;
        let attempt: Attempt = wire::read(&value).map_err(Trouble::Refused)?;
        self.open_asks = match attempt.open_asks {
            0 => Vec::new(),
            _ => self.read_asks()?,
        };
        // Read after the attempt: an attempt seen at rest has all its runs in the list that follows.
        if self.wishes.logs {
            self.read_runs()?;
        }
        self.latest = Some((value, attempt));
        Ok(())
    }

    fn read_asks(&self) -> std::result::Result<Vec<Ask>, Trouble> {
        let mut asks = open_asks(&self.client)?;
        asks.retain(|ask| ask.task_attempt_id == self.id);
        Ok(asks)
    }

    fn read_runs(&mut self) -> std::result::Result<(), Trouble> {
        let runs = self.client.get(&format!("/api/execution-processes?task_attempt_id={}", self.id))?;
        for value in runs.as_array().into_iter().flatten() {
            let run: Run = wire::read(value).map_err(Trouble::Refused)?;
            // A dev server prints to the person who started it, not into the attempt's story.
            if run.run_reason != "devserver" && self.seen_runs.insert(run.id.clone()) {
                self.waiting_runs.push_back(run);
            }
        }
        Ok(())
    }

    fn show_next_run(&mut self) -> Result<()> {
        if self.showing.is_some() {
            return Ok(());
        }
        let Some(run) = self.waiting_runs.pop_front() else { return Ok(()) };
        let worktree = self.latest.as_ref().and_then(|(_, attempt)| attempt.worktree_path.clone());
        let mut renderer = Renderer::new(self.output, &run, worktree.as_deref(), self.wishes.raw);
        renderer.heading(&run)?;
        self.showing = Some(renderer);
        let (client, tell) = (self.client.clone(), self.tell.clone());
        thread::spawn(move || {
            let followed =
                log_stream::follow(&client, &run.id, |chunks| tell.send(Happened::Printed(chunks)).is_ok());
            // Nobody listens once the command has ended.
            let _ = tell.send(match followed {
                Ok(_) => Happened::LogOver,
                Err(failure) => Happened::Failed(failure),
            });
        });
        Ok(())
    }

    fn print(&mut self, chunks: Vec<LogChunk>) -> Result<()> {
        match &mut self.showing {
            Some(renderer) => renderer.print(&chunks),
            None => Ok(()),
        }
    }

    fn log_over(&mut self) -> Result<()> {
        if let Some(mut renderer) = self.showing.take() {
            renderer.finish()?;
        }
        self.show_next_run()
    }

    fn show_asks(&mut self) -> Result<()> {
        for ask in self.open_asks.clone() {
            if !self.shown_asks.insert(ask.approval_id.clone()) {
                continue;
            }
            self.output.remark(format_args!("? {} (ask {})", ask.question(), ask.short()));
            self.output.remark_whole(&ask.whole());
            self.say_how_to_answer(&ask);
            self.read_typing();
        }
        Ok(())
    }

    fn say_how_to_answer(&self, ask: &Ask) {
        match (self.may_type(), ask.is_permission()) {
            (true, true) => self.output.remark("  type y to allow it, or n and a reason to refuse it:"),
            (true, false) => self.output.remark("  type your answer:"),
            (false, _) => self.output.remark(format_args!("  {}", ask.how())),
        }
    }

    fn may_type(&self) -> bool {
        self.wishes.answer_here
            && !self.typed_all
            && std::io::stdin().is_terminal()
            && std::io::stderr().is_terminal()
    }

    /// Begins to read what a person types, once there is something to answer.
    fn read_typing(&mut self) {
        if self.types || !self.may_type() {
            return;
        }
        self.types = true;
        let tell = self.tell.clone();
        thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(|line| line.ok()) {
                if tell.send(Happened::Typed(line)).is_err() {
                    return;
                }
            }
            // Nobody listens once the command has ended.
            let _ = tell.send(Happened::TypedAll);
        });
    }

    fn typed_all(&mut self) {
        self.typed_all = true;
        for ask in &self.open_asks {
            self.say_how_to_answer(ask);
        }
    }

    fn typed(&mut self, line: &str) -> Result<()> {
        let line = line.trim();
        let Some(ask) = self.open_asks.first().cloned() else {
            if !line.is_empty() {
                self.output.remark("nothing is asked right now");
            }
            return Ok(());
        };
        let body = match answer_from(&ask, line) {
            Some(body) => body,
            None => {
                self.say_how_to_answer(&ask);
                return Ok(());
            }
        };
        match self.client.post(&format!("/api/approvals/{}/respond", ask.approval_id), Some(&body)) {
            Ok(_) => self.open_asks.retain(|open| open.approval_id != ask.approval_id),
            Err(trouble) => self.output.remark(format_args!("forge: {}", Failure::from(trouble))),
        }
        Ok(())
    }

    /// Says what goes on without this command, and how to end it.
    fn interrupted(&self) -> Failure {
        let id = wire::short_id(self.id);
        let live =
            crate::ids::attempts(&self.client).map(|all| all.iter().filter(|one| one.is_live()).count());
        let message = match live {
            Ok(0) => "no agent is running".to_string(),
            Ok(1) => {
                format!("1 agent runs on; stop it with `forge stop {id}`, see it with `forge logs -f {id}`")
            }
            Ok(count) => format!(
                "{count} agents run on; stop this one with `forge stop {id}`, all with `forge serve --stop --all`"
            ),
            Err(_) => format!("the server is away, agents run on; stop this one with `forge stop {id}`"),
        };
        Failure { exit: Exit::Interrupted, message }
    }
}

/// Says in one line how an attempt stands.
pub(crate) fn ending(attempt: &Attempt) -> String {
    let id = attempt.short();
    match (attempt.state.as_str(), &attempt.reason) {
        ("finished", _) => format!("{id} finished; its work is on {}", attempt.branch),
        // Why it is stopped is that somebody stopped it.
        ("stopped", _) => format!("{id} is stopped; its work is on {}", attempt.branch),
        (state, Some(reason)) => format!("{id} is {state}: {}", crate::output::printable(reason)),
        (state, None) => format!("{id} is {state}"),
    }
}

/// Reads the asks that are open, of all attempts.
pub(crate) fn open_asks(client: &Client) -> std::result::Result<Vec<Ask>, Trouble> {
    let asks = client.get("/api/approvals/pending")?;
    asks.as_array().into_iter().flatten().map(|ask| wire::read(ask).map_err(Trouble::Refused)).collect()
}

/// Makes the body that answers an ask.
pub(crate) fn answer_body(ask: &Ask, denied: bool, text: Option<&str>) -> Value {
    let status = match denied {
        true => json!({"status": "denied", "reason": text}),
        false => json!({"status": "approved"}),
    };
    let mut body = json!({"execution_process_id": ask.execution_process_id, "status": status});
    if let (false, Some(text)) = (denied, text) {
        body["text"] = json!(text);
    }
    body
}

/// Reads a typed line as an answer; none when it says nothing.
fn answer_from(ask: &Ask, line: &str) -> Option<Value> {
    if !ask.is_permission() {
        return (!line.is_empty()).then(|| answer_body(ask, false, Some(line)));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(answer_body(ask, false, rest)),
        "n" | "no" => Some(answer_body(ask, true, rest)),
        _ => None,
    }
}

/// Turns Ctrl-C into something that happened, instead of the end of this process.
fn watch_signals(tell: SyncSender<Happened>) -> Result<()> {
    let no_signals = |error| Failure::away(format!("could not watch for Ctrl-C: {error}"));
    let (mut reader, writer) = UnixStream::pair().map_err(no_signals)?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGINT, writer).map_err(no_signals)?;
    thread::spawn(move || {
        while reader.read(&mut [0]).is_ok_and(|count| count > 0) {
            if tell.send(Happened::Interrupted).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(kind: &str) -> Ask {
        wire::read(&json!({"approval_id": "a", "execution_process_id": "r", "kind": kind})).unwrap()
    }

    #[test]
    fn a_typed_line_answers_a_question_in_words() {
        assert_eq!(answer_from(&ask("question"), "blue").unwrap()["text"], "blue");
        assert_eq!(answer_from(&ask("question"), ""), None);
    }

    #[test]
    fn a_permission_is_given_by_yes_and_refused_by_no() {
        assert_eq!(answer_from(&ask("permission"), "y").unwrap()["status"]["status"], "approved");
        let refused = answer_from(&ask("permission"), "no not that file").unwrap();
        assert_eq!(refused["status"], json!({"status": "denied", "reason": "not that file"}));
        assert_eq!(answer_from(&ask("permission"), "perhaps"), None);
    }
}
