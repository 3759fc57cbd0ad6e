//! The killer of a storm: it decides where and when something dies, and starts again what must live.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use super::clients::Act;
use super::ledger::{AskState, Kind};
use super::script::Shape;
use super::{Scene, Target};
use crate::api::text;
use crate::processes;
use crate::random::Random;
use crate::server::{Birth, Server};
use crate::wait::{SOON, eventually};

/// The places between two steps, and the act that passes each.
const SEAMS: [(&str, Act); 10] = [
    ("start.intent", Act::Start(None)),
    ("start.worktree", Act::Start(None)),
    ("start.spawned", Act::Start(None)),
    ("start.recorded", Act::Start(None)),
    ("follow.recorded", Act::FollowUp),
    ("answer.recorded", Act::Answer),
    ("tell.noted", Act::FollowUp),
    ("tell.sent", Act::Answer),
    ("finish.recorded", Act::Start(Some(Shape::Hurries))),
    ("stop.recorded", Act::Stop),
];

/// How long a server waits to die at its seam before it is killed anyhow.
const PASS: Duration = Duration::from_secs(15);

/// What died where: the place to how often.
pub(super) type Deaths = BTreeMap<String, usize>;

/// A kill that is planned.
#[derive(Debug, Clone, Copy)]
enum Plan {
    /// This long after the server answers.
    After(Duration),
    /// This long after the server answers, while many agents begin and end.
    InBustle(Duration),
    /// Where a call passes for the nth time.
    Seam(&'static str, Act, u64),
}

/// A run whose process lives.
#[derive(Debug, Clone)]
pub(super) struct LiveRun {
    pub(super) id: String,
    dir: PathBuf,
    shim: u32,
    agent: u32,
}

impl Scene {
    /// Kills the server again and again, half of the times between two steps.
    pub(super) fn kill_servers(
        &self,
        kills: usize,
        mut server: Server,
        random: &mut Random,
        deaths: &mut Deaths,
    ) -> anyhow::Result<Server> {
        // The server that runs already knows no seam, so the first death is by the clock.
        let mut next = Some(Plan::After(Duration::from_millis(random.between(50, 500))));
        let mut plans = plan(kills.saturating_sub(1), random).into_iter();
        while let Some(current) = next {
            let place = self.kill_server(&mut server, current)?;
            *deaths.entry(place).or_default() += 1;
            next = plans.next();
            loop {
                let seam = match next {
                    Some(Plan::Seam(name, _, count)) => Some(format!("{name}#{count}=kill")),
                    Some(Plan::After(_) | Plan::InBustle(_)) | None => None,
                };
                server = Server::start(&self.world, seam.as_deref())?;
                match (server.until_healthy(&self.api)?, next) {
                    (Birth::Healthy(_), _) => break,
                    // A server may die at its seam while it takes up what the last one left.
                    (Birth::Killed, Some(Plan::Seam(name, ..))) => {
                        *deaths.entry(format!("{name} of a server that starts")).or_default() += 1;
                        next = plans.next();
                    }
                    (Birth::Killed, _) => bail!("somebody else killed the server"),
                }
                self.check_time()?;
            }
            self.look_after_restart()?;
            if self.over.load(Ordering::SeqCst) {
                break;
            }
        }
        Ok(server)
    }

    fn kill_server(&self, server: &mut Server, plan: Plan) -> anyhow::Result<String> {
        let kill_after = |server: &mut Server, time| {
            std::thread::sleep(time);
            if server.is_gone()? {
                bail!("the server died by itself");
            }
            server.kill()
        };
        match plan {
            Plan::After(time) => {
                kill_after(server, time)?;
                Ok("at any moment".to_string())
            }
            Plan::InBustle(time) => {
                self.wish_for(Some(Act::Start(Some(Shape::Hurries))));
                let killed = kill_after(server, time);
                self.wish_for(None);
                killed.map(|()| "at any moment, while many begin and end".to_string())
            }
            Plan::Seam(name, act, _) => {
                self.wish_for(Some(act));
                let deadline = Instant::now() + PASS;
                let mut died = server.is_gone()?;
                while !died && Instant::now() < deadline && !self.over.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(2));
                    died = server.is_gone()?;
                }
                self.wish_for(None);
                if died {
                    return Ok(name.to_string());
                }
                server.kill()?;
                Ok(format!("at any moment ({name} was not passed)"))
            }
        }
    }

    fn wish_for(&self, act: Option<Act>) {
        *self.wish.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = act;
    }

    /// What can be checked at once after a restart: nothing that was acknowledged is gone, no ask is closed.
    fn look_after_restart(&self) -> anyhow::Result<()> {
        let (attempts, asks) = {
            let ledger = self.ledger();
            let attempts: Vec<String> = ledger.attempts.keys().cloned().collect();
            let open = ledger.asks.iter().filter(|(_, ask)| ask.state == AskState::Open);
            let open = open.filter(|(_, ask)| ledger.disturbed(&ask.attempt) == 0);
            (attempts, open.map(|(id, _)| id.clone()).collect::<Vec<_>>())
        };
        // The server may die under these calls when its seam is passed; then the next one is looked at.
        let Ok(answer) = self.api.get("/api/task-attempts") else { return Ok(()) };
        let found = answer.data()?;
        let found: Vec<&str> =
            found.as_array().into_iter().flatten().filter_map(|a| a["id"].as_str()).collect();
        let Some(pending) = self.look_at_asks()? else { return Ok(()) };
        let mut ledger = self.ledger();
        for id in attempts {
            if !found.contains(&id.as_str()) {
                ledger.mistake(
                    Kind::Lost,
                    format!("attempt {id} was acknowledged and is gone after a restart"),
                );
            }
        }
        for id in asks {
            let still = ledger.asks.get(&id).map(|ask| (ask.state, ledger.disturbed(&ask.attempt)));
            if still == Some((AskState::Open, 0)) && !pending.contains(&id) {
                ledger.mistake(Kind::Lost, format!("ask {id} was open and is not after a restart"));
            }
        }
        if !ledger.mistakes.is_empty() {
            self.over.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Kills shims or agents, and looks at what became of each.
    pub(super) fn kill_processes(
        &self,
        kills: usize,
        random: &mut Random,
        deaths: &mut Deaths,
    ) -> anyhow::Result<()> {
        let mut done = 0;
        while done < kills && !self.over.load(Ordering::SeqCst) {
            self.check_time()?;
            std::thread::sleep(Duration::from_millis(random.between(20, 300)));
            let Some((run, attempt)) = self.reserve_victim(random)? else { continue };
            let (pid, name) = match self.target {
                Target::Agent => (run.agent, "agent"),
                Target::Shim | Target::Server => (run.shim, "shim"),
            };
            processes::kill(pid);
            let ended = self.until_over(&run.id)?;
            let exit = fs::read(run.dir.join("exit.json")).ok();
            let exit: Value = exit.and_then(|exit| serde_json::from_slice(&exit).ok()).unwrap_or_default();
            let in_time = match self.target {
                Target::Agent => exit["signal"] == 9,
                Target::Shim | Target::Server => exit.is_null(),
            };
            if in_time {
                done += 1;
                *deaths.entry(name.to_string()).or_default() += 1;
                self.check_victim(&run, &attempt, &ended)?;
            }
            let mut ledger = self.ledger();
            ledger.disturb(&attempt);
            if let Some(known) = ledger.attempts.get_mut(&attempt) {
                known.reserved = false;
            }
            drop(ledger);
            if in_time {
                self.follow_up(&attempt, random).context("a follow-up after a kill")?;
            }
        }
        let mut ledger = self.ledger();
        if done > 0 && ledger.reasons == 0 {
            ledger.mistake(Kind::Other, "no attempt rested long enough for its reason to be read");
        }
        Ok(())
    }

    /// Chooses a live run whose start was acknowledged, and keeps clients away from its attempt.
    fn reserve_victim(&self, random: &mut Random) -> anyhow::Result<Option<(LiveRun, String)>> {
        let runs = self.live_runs()?;
        let Some(run) = random.pick(&runs).cloned() else { return Ok(None) };
        let Ok(answer) = self.api.get(&format!("/api/execution-processes/{}", run.id)) else {
            return Ok(None);
        };
        if answer.status == 404 {
            return Ok(None);
        }
        let attempt = text(&answer.data()?, "task_attempt_id")?;
        let mut ledger = self.ledger();
        match ledger.attempts.get_mut(&attempt) {
            Some(known) if known.disturbed.is_multiple_of(2) && !known.reserved => {
                known.reserved = true;
                known.disturbed += 1;
            }
            _ => return Ok(None),
        }
        ledger.hit.insert(run.id.clone());
        Ok(Some((run, attempt)))
    }

    fn until_over(&self, run: &str) -> anyhow::Result<Value> {
        eventually(SOON, &format!("run {run} to be over"), || {
            let run = self.api.read(&format!("/api/execution-processes/{run}"))?;
            Ok((run["status"] != "running").then_some(run))
        })
    }

    /// Looks at an attempt whose agent or shim was killed.
    fn check_victim(&self, run: &LiveRun, id: &str, ended: &Value) -> anyhow::Result<()> {
        let mut wrong = Vec::new();
        if ended["status"] != "failed" {
            wrong.push(format!("expected run {} to be failed, found {}", run.id, ended["status"]));
        }
        let attempt = self.api.read(&format!("/api/task-attempts/{id}"))?;
        let reason = attempt["reason"].as_str().unwrap_or_default();
        let expected = match self.target {
            Target::Agent => "signal 9",
            Target::Shim | Target::Server => "watched over the agent is gone",
        };
        // An attempt with something in its queue goes on at once, and then has no reason any more.
        if attempt["state"] == "failed" {
            self.ledger().reasons += 1;
            if !reason.contains(expected) {
                wrong.push(format!("expected {expected:?} in the reason of attempt {id}, found {reason:?}"));
            }
        }
        for ask in self.api.list("/api/approvals/pending")? {
            if ask["execution_process_id"] == run.id.as_str() {
                wrong.push(format!("ask {} is open though its agent is dead", ask["approval_id"]));
            }
        }
        let gone = eventually(SOON, "what a killed run left to be gone", || {
            let left = processes::with_variable("FORGE_RUN", run.id.as_ref())?;
            Ok(left.is_empty().then_some(()))
        });
        if let Err(error) = gone {
            wrong.push(format!("{error:#} (run {})", run.id));
        }
        let mut ledger = self.ledger();
        for text in wrong {
            ledger.mistake(Kind::Other, text);
            self.over.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Returns the runs whose shim and agent live, by their directories.
    pub(super) fn live_runs(&self) -> anyhow::Result<Vec<LiveRun>> {
        let mut live = Vec::new();
        let Ok(dirs) = fs::read_dir(self.world.home().join("runs")) else { return Ok(live) };
        for dir in dirs.flatten() {
            let (dir, id) = (dir.path(), dir.file_name().to_string_lossy().into_owned());
            let Ok(record) = fs::read(dir.join("shim.json")) else { continue };
            let Ok(record) = serde_json::from_slice::<Value>(&record) else { continue };
            let pid = |key: &str| record[key].as_u64().and_then(|pid| u32::try_from(pid).ok());
            let (Some(shim), Some(agent)) = (pid("shim_pid"), pid("agent_pid")) else { continue };
            let marked = processes::has_variable(agent, "FORGE_RUN", id.as_ref());
            let ours = processes::has_variable(shim, "FORGE_HOME", &self.world.home());
            if marked && ours && !dir.join("exit.json").exists() {
                live.push(LiveRun { id, dir, shim, agent });
            }
        }
        live.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(live)
    }
}

/// Says whether something that died at this place died between two steps of a call.
pub(super) fn is_between_steps(place: &str) -> bool {
    SEAMS.iter().any(|(name, _)| place.starts_with(name))
}

/// Plans kills: half of them between two steps, every place once before one comes twice.
fn plan(kills: usize, random: &mut Random) -> Vec<Plan> {
    let mut seams = Vec::new();
    let mut plans: Vec<Plan> = (0..kills)
        .map(|number| {
            match number % 4 {
                1 => return Plan::After(Duration::from_millis(random.between(20, 600))),
                3 => return Plan::InBustle(Duration::from_millis(random.between(50, 400))),
                _ => {}
            }
            if seams.is_empty() {
                seams = SEAMS.to_vec();
                random.shuffle(&mut seams);
            }
            let (name, act) = seams.pop().unwrap_or(SEAMS[0]);
            Plan::Seam(name, act, random.between(1, 3))
        })
        .collect();
    random.shuffle(&mut plans);
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_kills_fall_between_steps() {
        let plans = plan(20, &mut Random::new(3));
        let mut places: Vec<_> = plans
            .iter()
            .filter_map(|plan| match plan {
                Plan::Seam(name, ..) => Some(*name),
                Plan::After(_) | Plan::InBustle(_) => None,
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), SEAMS.len());
    }
}
