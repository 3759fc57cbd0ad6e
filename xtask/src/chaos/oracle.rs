//! The oracle of a storm: holds what was acknowledged against what is there when everything has come to rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

use super::clients::is_live;
use super::ledger::{AskState, Followed, Kind, Ledger};
use super::script::{FAILS_WITH, Shape, content, file};
use super::{Scene, Target};
use crate::api::text;
use crate::random::Random;
use crate::raw_log;
use crate::server::Server;
use crate::wait::{SOON, eventually};

/// How much an agent prints in one go at most; what a signal can cut off.
const BLOCK: usize = 300 * 1024;

/// A run as it was found.
#[derive(Debug)]
struct Run {
    id: String,
    status: String,
    exit_code: Option<i64>,
}

impl Scene {
    /// Answers every ask and sends what waits in queues, until nothing is live any more.
    pub(super) fn settle(&self, random: &mut Random) -> anyhow::Result<()> {
        loop {
            self.check_time().context("while everything should come to rest")?;
            while self.answer_some(random)? {}
            let attempts = self.api.list("/api/task-attempts")?;
            self.adopt(&attempts)?;
            let mut at_rest = true;
            for attempt in &attempts {
                if is_live(attempt) {
                    at_rest = false;
                } else if attempt["queued"].as_i64().unwrap_or_default() > 0 {
                    // A stop leaves what was queued where it is; the next follow-up takes it along.
                    self.follow_up(&text(attempt, "id")?, random)?;
                    at_rest = false;
                }
            }
            if at_rest {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Checks everything that can be seen while the server runs.
    pub(super) fn check_everything(&self, random: &mut Random, server: &Server) -> anyhow::Result<()> {
        let attempts = self.api.list("/api/task-attempts")?;
        let mut found = BTreeMap::new();
        for attempt in attempts {
            found.insert(text(&attempt, "id")?, attempt);
        }
        let answered: Vec<String> = {
            let mut ledger = self.ledger();
            check_attempts(&mut ledger, &found);
            let answered = ledger.asks.iter().filter(|(_, ask)| ask.state == AskState::Answered);
            answered.map(|(id, _)| id.clone()).collect()
        };
        for ask in answered {
            self.second_answer(&ask)?;
        }
        let mut runs = BTreeMap::new();
        for id in found.keys() {
            runs.insert(id.clone(), self.check_attempt(id, random)?);
        }
        self.check_followed(&runs)?;
        self.check_repository(&found)?;
        let known: BTreeSet<&str> = runs.values().flatten().map(|run| run.id.as_str()).collect();
        self.check_same("directory in runs", &names_in(&self.world.home().join("runs"))?, &known);
        self.check_server_log()?;
        self.check_processes(Some(server.pid()))
    }

    /// Checks that no server had to say that something went wrong inside it.
    fn check_server_log(&self) -> anyhow::Result<()> {
        let path = self.world.server_log();
        let log = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let mut ledger = self.ledger();
        for line in log.lines().filter(|line| line.contains(" ERROR ") || line.contains("panicked")) {
            ledger.mistake(Kind::Other, format!("the server said: {line}"));
        }
        Ok(())
    }

    /// Checks one attempt: its task, its runs, their logs, and that everything told was heard once.
    fn check_attempt(&self, id: &str, random: &mut Random) -> anyhow::Result<Vec<Run>> {
        let known = self.ledger().attempts.get(id).cloned();
        let Some(known) = known else { return Ok(Vec::new()) };
        let task = self.api.get(&format!("/api/tasks/{}", known.task))?;
        if task.status != 200 || task.body["data"]["title"] != known.word.as_str() {
            let what = format!("expected task {} called {}, found {}", known.task, known.word, task.body);
            self.ledger().mistake(Kind::Lost, what);
        }
        let mut runs = Vec::new();
        let mut said: BTreeMap<String, usize> = BTreeMap::new();
        let mut edited = false;
        for run in self.api.list(&format!("/api/execution-processes?task_attempt_id={id}"))? {
            let run = Run {
                id: text(&run, "id")?,
                status: text(&run, "status")?,
                exit_code: run["exit_code"].as_i64(),
            };
            let fails = known.shape == Shape::Fails && runs.is_empty();
            self.check_run(&run, fails, known.disturbed > 0);
            let witness = self.witness(&run.id)?;
            edited |= witness.contains(&format!("\"path\":\"{}\"", file(&known.word)));
            for line in witness.lines().filter(|line| !line.starts_with("T=") && !line.starts_with('{')) {
                *said.entry(line.to_string()).or_default() += 1;
            }
            let port = self.api.port;
            self.compare(&run, &raw_log::read_whole(port, &run.id)?, "read in one go")?;
            self.compare(&run, &raw_log::read_in_pieces(port, &run.id, random)?, "read in pieces")?;
            runs.push(run);
        }
        if runs.is_empty() {
            self.ledger().mistake(Kind::Lost, format!("attempt {id} has no run"));
        }
        let mut ledger = self.ledger();
        let mut told: Vec<(String, u32)> = vec![(known.word.clone(), 0)];
        told.extend(
            ledger
                .told
                .iter()
                .filter(|told| told.attempt == id)
                .map(|told| (told.word.clone(), told.disturbed)),
        );
        for (word, disturbed) in told {
            match (said.get(&word).copied().unwrap_or_default(), ledger.is_certain(id, disturbed)) {
                (1, _) | (0, false) => {}
                (0, true) => {
                    ledger.mistake(Kind::Lost, format!("attempt {id} was told {word:?} and never said it"));
                }
                (times, _) => ledger.mistake(
                    Kind::Doubled,
                    format!("attempt {id} was told {word:?} and said it {times} times"),
                ),
            }
        }
        drop(ledger);
        if edited {
            self.check_snapshot(id, &known.word)?;
        }
        Ok(runs)
    }

    fn check_run(&self, run: &Run, fails: bool, disturbed: bool) {
        let mut ledger = self.ledger();
        let hit = ledger.hit.contains(&run.id);
        let right = match run.status.as_str() {
            "completed" => !fails,
            "failed" => hit || fails && run.exit_code == Some(FAILS_WITH),
            "killed" => disturbed && !hit,
            _ => false,
        };
        if !right {
            let expected = if fails { "failed with its exit code" } else { "completed" };
            ledger.mistake(Kind::Other, format!("expected run {} to be {expected}, found {run:?}", run.id));
        }
    }

    /// Compares what was read of a run with what its agent printed.
    fn compare(&self, run: &Run, log: &str, how: &str) -> anyhow::Result<()> {
        self.compare_texts(run, log, &self.witness(&run.id)?, how);
        Ok(())
    }

    fn compare_texts(&self, run: &Run, log: &str, witness: &str, how: &str) {
        let mut ledger = self.ledger();
        ledger.compared += log.len() as u64;
        let hit = ledger.hit.contains(&run.id);
        let missing = witness.strip_prefix(log);
        let right = match (missing, self.target) {
            (Some(""), _) => true,
            // A shim that is killed takes with it what it had not written down; records stay whole.
            (Some(_), Target::Shim) if hit => log.is_empty() || log.ends_with('\n'),
            // The witness is written first, so a signal can come between the two.
            (Some(missing), Target::Agent) if hit => missing.lines().count() <= 1,
            (Some(missing), _) if run.status == "killed" => missing.len() < BLOCK,
            _ => false,
        };
        if !right {
            let at = witness.bytes().zip(log.bytes()).take_while(|(one, other)| one == other).count();
            let kind = if log.len() > witness.len() { Kind::Doubled } else { Kind::Lost };
            let (printed, found) = (excerpt(witness, at), excerpt(log, at));
            ledger.mistake(
                kind,
                format!(
                    "run {} ({}), {how}: the log has {} bytes, the agent printed {}; from byte {at} on it \
                     printed {printed:?} and the log has {found:?}",
                    run.id,
                    run.status,
                    log.len(),
                    witness.len()
                ),
            );
        }
    }

    fn check_followed(&self, runs: &BTreeMap<String, Vec<Run>>) -> anyhow::Result<()> {
        let followed = std::mem::take(&mut self.ledger().followed);
        for Followed { run: id, text, whole } in &followed {
            match runs.values().flatten().find(|run| run.id == *id) {
                Some(run) if *whole => self.compare(run, text, "followed across restarts")?,
                Some(run) => {
                    let witness = self.witness(&run.id)?;
                    let begun = witness.get(..text.len()).unwrap_or(&witness);
                    self.compare_texts(run, text, begun, "followed across restarts for a while");
                }
                None => self.ledger().mistake(Kind::Lost, format!("run {id} was followed and is gone")),
            }
        }
        Ok(())
    }

    /// Returns what a run's agent printed, by its own account.
    fn witness(&self, run: &str) -> anyhow::Result<String> {
        let path = self.world.witness_dir().join(run);
        if !path.exists() {
            return Ok(String::new());
        }
        fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))
    }

    fn check_snapshot(&self, id: &str, word: &str) -> anyhow::Result<()> {
        let place = format!("refs/forge/snapshots/{id}:{}", file(word));
        let shown = self.world.git_output(&["cat-file", "blob", &place])?;
        if shown.stdout != content(word).as_bytes() {
            let found =
                String::from_utf8_lossy(if shown.status.success() { &shown.stdout } else { &shown.stderr });
            let expected = content(word);
            self.ledger().mistake(Kind::Lost, format!("expected {expected:?} at {place}, found {found:?}"));
        }
        Ok(())
    }

    /// Checks that there is a worktree and a branch for every attempt, and none for anything else.
    fn check_repository(&self, attempts: &BTreeMap<String, Value>) -> anyhow::Result<()> {
        let fsck = self.world.git_output(&["fsck", "--no-dangling", "--no-progress"])?;
        if !fsck.status.success() {
            let said = String::from_utf8_lossy(&fsck.stderr).into_owned();
            self.ledger().mistake(Kind::Lost, format!("git fsck found something: {said}"));
        }
        let mut expected = BTreeSet::new();
        let mut branches = BTreeSet::new();
        let mut snapshots = BTreeSet::new();
        let mut directories = BTreeSet::new();
        for (id, attempt) in attempts {
            let (path, branch) = (text(attempt, "worktree_path")?, text(attempt, "branch")?);
            if let Some(name) = Path::new(&path).file_name().filter(|_| Path::new(&path).is_dir()) {
                directories.insert(name.to_string_lossy().into_owned());
            } else {
                self.ledger().mistake(Kind::Lost, format!("the worktree {path} of attempt {id} is gone"));
            }
            expected.insert(format!("{path} on refs/heads/{branch}"));
            branches.insert(branch);
            snapshots.insert(id.clone());
        }
        let listed = self.world.git(&["worktree", "list", "--porcelain"])?;
        let mut worktrees = BTreeSet::new();
        for block in listed.split("\n\n").skip(1).filter(|block| !block.trim().is_empty()) {
            let value = |key: &str| block.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            worktrees.insert(format!("{} on {}", value("worktree "), value("branch ")));
        }
        self.check_same("worktree", &worktrees, &borrowed(&expected));
        let refs = |under: &str| -> anyhow::Result<BTreeSet<String>> {
            let listed = self.world.git(&["for-each-ref", "--format=%(refname)", under])?;
            Ok(listed.lines().map(|name| name.to_string()).collect())
        };
        let strip = |names: BTreeSet<String>, prefix: &str| -> BTreeSet<String> {
            names.iter().map(|name| name.trim_start_matches(prefix).to_string()).collect()
        };
        let found = strip(refs("refs/heads/forge")?, "refs/heads/");
        self.check_same("branch", &found, &borrowed(&branches));
        let found = strip(refs("refs/forge/snapshots")?, "refs/forge/snapshots/");
        self.check_same("snapshot", &found, &borrowed(&snapshots));
        let found = names_in(&self.world.home().join("worktrees"))?;
        self.check_same("directory in worktrees", &found, &borrowed(&directories));
        Ok(())
    }

    /// Notes what is missing from a set, and what should not be in it.
    fn check_same(&self, what: &str, found: &BTreeSet<String>, expected: &BTreeSet<&str>) {
        let mut ledger = self.ledger();
        for missing in expected.iter().filter(|name| !found.contains(**name)) {
            ledger.mistake(Kind::Lost, format!("expected a {what} {missing}, found none"));
        }
        for extra in found.iter().filter(|name| !expected.contains(name.as_str())) {
            ledger.mistake(Kind::LeftOver, format!("found a {what} {extra} that belongs to nothing"));
        }
    }

    /// Checks that nothing of this world runs any more, but perhaps the server.
    fn check_processes(&self, server: Option<u32>) -> anyhow::Result<()> {
        let others = || -> anyhow::Result<Vec<_>> {
            let processes = self.world.processes()?.into_iter();
            Ok(processes.filter(|process| Some(process.pid) != server).collect())
        };
        let gone = eventually(SOON, "processes to end", || Ok(others()?.is_empty().then_some(())));
        if gone.is_err() {
            let mut ledger = self.ledger();
            for process in others()? {
                let (pid, command) = (process.pid, process.command);
                ledger.mistake(Kind::LeftOver, format!("process {pid} is still there: {command}"));
            }
        }
        Ok(())
    }

    /// Stops the server as a person would, and checks that nothing is left.
    pub(super) fn check_end(&self, server: Server) -> anyhow::Result<()> {
        let mut stop = self.world.command(&self.world.forge);
        let mut stop = stop.args(["serve", "--stop"]).stdout(Stdio::null()).spawn()?;
        // The server is our child: it is there until it is reaped, which its owner does when it is dropped.
        let reaper = std::thread::spawn(move || server.reap());
        let status = stop.wait()?;
        if !status.success() {
            bail!("forge serve --stop failed: {status}");
        }
        match reaper.join() {
            Ok(reaped) => reaped?,
            Err(_) => bail!("waiting for the server broke off"),
        }
        self.check_processes(None)
    }
}

/// Checks that exactly the attempts are there that were asked for.
fn check_attempts(ledger: &mut Ledger, found: &BTreeMap<String, Value>) {
    let missing: Vec<_> = ledger.attempts.keys().filter(|id| !found.contains_key(*id)).cloned().collect();
    for id in missing {
        ledger.mistake(Kind::Lost, format!("attempt {id} was acknowledged and is gone"));
    }
    let mut words: BTreeMap<&str, &str> = BTreeMap::new();
    for (id, attempt) in found {
        let reason = attempt["reason"].as_str().unwrap_or_default();
        if attempt["state"] == "finished" && !reason.is_empty() || reason.contains("could not") {
            ledger.mistake(Kind::Other, format!("attempt {id} is {}: {reason}", attempt["state"]));
        }
        let word = attempt["task"]["title"].as_str().unwrap_or_default();
        if let Some(other) = words.insert(word, id) {
            ledger.mistake(Kind::Doubled, format!("{word} was started twice: as {other} and as {id}"));
        } else if !ledger.attempts.contains_key(id) {
            ledger.mistake(Kind::LeftOver, format!("attempt {id} ({word}) was started by nobody"));
        }
    }
    let open: Vec<_> = ledger
        .asks
        .iter()
        .filter(|(_, ask)| ask.state == AskState::Answering)
        .map(|(id, _)| id.clone())
        .collect();
    for id in open {
        ledger.mistake(Kind::Other, format!("the answer to ask {id} never came to an end"));
    }
}

fn borrowed(names: &BTreeSet<String>) -> BTreeSet<&str> {
    names.iter().map(String::as_str).collect()
}

fn names_in(dir: &Path) -> anyhow::Result<BTreeSet<String>> {
    let entries = fs::read_dir(dir).with_context(|| format!("could not list {}", dir.display()))?;
    Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

fn excerpt(text: &str, at: usize) -> String {
    String::from_utf8_lossy(&text.as_bytes()[at..text.len().min(at + 80)]).into_owned()
}
