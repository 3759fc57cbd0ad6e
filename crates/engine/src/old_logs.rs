//! Deleting the logs of runs: those whose attempt was closed long ago, and the oldest of closed attempts when all logs
//! take more room than they may.
//!
//! A log that somebody may still want stays, whatever the settings say: that of an attempt at work, and that of one
//! whose task is open. That a log is deleted is written down first and shown in its place; then its directory goes, in
//! one step. What a crash leaves is finished the next time.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;

use forge_model::{Noun, Op, Run, RunId, Time};
use serde_json::{Map, Value};

use crate::ages::Ages;
use crate::background::blocking;
use crate::error::io_error;
use crate::gc::{Cleaned, Left, Swept, What, size};
use crate::launch::process_error;
use crate::store::deleted_logs::{self, Closed};
use crate::{Engine, Result};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// How long logs and what was removed are kept; none means for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    /// In milliseconds after something last happened to a closed attempt.
    logs: Option<i64>,
    /// What all logs may take together.
    bytes: Option<u64>,
    /// In milliseconds after the removal.
    pub(crate) removed: Option<i64>,
}

impl Kept {
    /// Reads it from the settings.
    pub(crate) fn read(config: &Map<String, Value>) -> Self {
        let limit = |section: &str, key: &str| {
            let limit = config.get(section).and_then(|section| section.get(key)?.as_u64());
            limit.filter(|limit| *limit > 0)
        };
        let days = |section: &str| {
            let days = limit(section, "keep_days")?;
            Some(i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MILLIS))
        };
        let bytes = limit("runs", "keep_mb").map(|mb| mb.saturating_mul(1_000_000));
        Self { logs: days("runs"), bytes, removed: days("removed") }
    }
}

/// A log that is to be deleted, and why.
#[derive(Debug)]
struct Doomed {
    closed: Closed,
    reason: String,
}

/// Says in a sentence that the log of a run was deleted; none when it was not.
pub(crate) fn notice(run: &Run) -> Option<String> {
    let day = run.log_deleted_at?.day();
    Some(format!(
        "Forge deleted the log of this run on {day}, because it was old or took too much room (`runs.keep_days` and \
         `runs.keep_mb` of the settings). What the run changed is still on its branch."
    ))
}

/// Lists the runs that have a directory. Blocks.
pub(crate) fn present(runs: &Path) -> io::Result<BTreeSet<RunId>> {
    let entries = std::fs::read_dir(runs)?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Chooses the logs that go, oldest first. `sizes` has every log that there is.
fn choose(mut closed: Vec<Closed>, sizes: &HashMap<RunId, u64>, kept: Kept, ages: &Ages) -> Vec<Doomed> {
    closed.sort_by_key(|one| (one.since, one.run));
    let is_older = |since: Time, limit: Option<i64>| {
        let age = ages.of(since);
        limit.filter(|limit| age >= *limit).map(|_| age / DAY_MILLIS)
    };
    let mut doomed = Vec::new();
    let mut young = Vec::new();
    for one in closed {
        let forgotten = one.removed_at.and_then(|removed_at| is_older(removed_at, kept.removed));
        let reason = match (is_older(one.since, kept.logs), forgotten) {
            (_, Some(days)) => format!("its attempt was removed {days} days ago"),
            (Some(days), None) => format!("nothing happened to its attempt for {days} days"),
            (None, None) => {
                young.push(one);
                continue;
            }
        };
        doomed.push(Doomed { closed: one, reason });
    }
    let Some(most) = kept.bytes else { return doomed };
    let of = |one: &Closed| sizes.get(&one.run).copied().unwrap_or(0);
    let going: u64 = doomed.iter().map(|doomed| of(&doomed.closed)).sum();
    let mut total = sizes.values().sum::<u64>().saturating_sub(going);
    for one in young {
        if total <= most {
            break;
        }
        total = total.saturating_sub(of(&one));
        let reason = format!("all logs take more than {} MB", most / 1_000_000);
        doomed.push(Doomed { closed: one, reason });
    }
    doomed
}

impl Engine {
    /// Returns how long logs and what was removed are kept.
    pub(crate) async fn kept(&self) -> Result<Kept> {
        let engine = self.clone();
        Ok(Kept::read(&blocking(move || engine.stored_config()).await??))
    }

    /// Deletes the logs that have had their time, or says which those are.
    pub(crate) async fn sweep_logs(
        &self,
        ages: &Ages,
        dry_run: bool,
        measure: bool,
        cleaned: &mut Cleaned,
    ) -> Result<()> {
        let _turn = self.inner.sweeping.lock().await;
        let kept = self.kept().await?;
        let runs = self.inner.paths.runs();
        let listed = runs.clone();
        let present = blocking(move || present(&listed).map_err(io_error("list", &listed))).await??;
        let read = |conn: &_| Ok((deleted_logs::closed(conn)?, deleted_logs::marked(conn)?));
        let (mut closed, marked) = self.inner.store.read(read).await?;
        let broken_off: BTreeSet<RunId> =
            present.iter().filter(|run| marked.contains(run)).copied().collect();
        closed.retain(|one| present.contains(&one.run) && !broken_off.contains(&one.run));
        // Going through all logs takes a while, so it is done only when it can lead to something.
        let sizes = match kept.bytes.is_some() && !closed.is_empty() {
            true => {
                blocking(move || {
                    present.into_iter().map(|run| (run, size(&runs.join(run.to_string())))).collect()
                })
                .await?
            }
            false => HashMap::new(),
        };
        for run in broken_off {
            let path = self.inner.paths.run(run);
            if !dry_run && let Err(error) = self.clear_log(run).await {
                cleaned.left.push(Left { path, attempt: None, why: error.to_string() });
            }
        }
        for Doomed { closed: one, reason } in choose(closed, &sizes, kept, ages) {
            let (path, attempt) = (self.inner.paths.run(one.run), Some(one.attempt));
            let bytes = match (measure, sizes.get(&one.run)) {
                (false, _) => None,
                (true, Some(bytes)) => Some(*bytes),
                (true, None) => Some(crate::gc::measured(&path).await?),
            };
            let deleted = if dry_run { Ok(true) } else { self.delete_log(one).await };
            match deleted {
                Ok(true) => cleaned.swept.push(Swept { what: What::Log, path, attempt, bytes, reason }),
                // Somebody went on with it meanwhile.
                Ok(false) => {}
                // One that cannot be deleted must not keep the others from being.
                Err(error) => cleaned.left.push(Left { path, attempt, why: error.to_string() }),
            }
        }
        Ok(())
    }

    /// Deletes the log of a run whose attempt is closed still; says whether it was.
    async fn delete_log(&self, one: Closed) -> Result<bool> {
        let (run, dir) = (one.run, self.inner.paths.run(one.run));
        // Before it is said to be gone: one that a process holds stays.
        let unheld =
            blocking(move || forge_process::unheld(&dir)).await?.map_err(|error| process_error(&error))?;
        let marked = self.inner.store.write(move |tx| {
            if !deleted_logs::is_closed(tx.conn(), &one)? {
                return Ok(false);
            }
            deleted_logs::mark(tx.conn(), one.run, tx.now())?;
            if one.removed_at.is_none() {
                tx.changed(Noun::Run, one.run, Op::Change, one.project, Some(one.attempt));
            }
            Ok(true)
        });
        if !marked.await? {
            return Ok(false);
        }
        self.inner.seam.pass("logs.marked", "").await;
        drop(unheld);
        self.clear_log(run).await?;
        Ok(true)
    }

    /// Takes away the directory of a run whose log is said to be deleted.
    async fn clear_log(&self, run: RunId) -> Result<()> {
        let dir = self.inner.paths.run(run);
        // Nobody who reads it finds half of it. What a crash leaves in the trash goes with the trash.
        let place = self.inner.paths.trash().join(format!("log-{run}"));
        let (unheld, to) = (dir.clone(), place.clone());
        let moved = blocking(move || forge_process::unheld(&unheld)?.move_to(&to)).await?;
        moved.map_err(|error| process_error(&error))?;
        self.inner.seam.pass("logs.moved", "").await;
        blocking(move || std::fs::remove_dir_all(&place).map_err(io_error("remove", &place))).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_model::AttemptId;
    use serde_json::json;

    const NOW: i64 = 1_000 * DAY_MILLIS;

    fn closed(days: i64, removed: Option<i64>) -> Closed {
        let ago = |days: i64| Time::from_millis(NOW - days * DAY_MILLIS);
        Closed {
            run: RunId::random(),
            attempt: AttemptId::random(),
            project: None,
            since: ago(days),
            removed_at: removed.map(ago),
        }
    }

    fn kept(settings: Value) -> Kept {
        Kept::read(settings.as_object().unwrap())
    }

    fn chosen(closed: &[Closed], sizes: &HashMap<RunId, u64>, kept: Kept) -> Vec<RunId> {
        let ages = Ages::right_at(Time::from_millis(NOW));
        let chosen = choose(closed.to_vec(), sizes, kept, &ages);
        chosen.into_iter().map(|doomed| doomed.closed.run).collect()
    }

    #[test]
    fn logs_go_by_age_oldest_first_and_what_is_dated_in_the_future_stays() {
        let all = [closed(90, None), closed(89, None), closed(-400, None), closed(200, None)];
        let kept = kept(json!({"runs": {"keep_days": 90, "keep_mb": 0}, "removed": {"keep_days": null}}));
        assert_eq!(chosen(&all, &HashMap::new(), kept), [all[3].run, all[0].run]);
    }

    #[test]
    fn null_and_0_keep_everything() {
        let all = [closed(900, Some(900))];
        let sizes = HashMap::from([(all[0].run, u64::MAX)]);
        for off in [json!(null), json!(0)] {
            let off = json!({"runs": {"keep_days": off, "keep_mb": off}, "removed": {"keep_days": off}});
            assert_eq!(chosen(&all, &sizes, kept(off)), []);
        }
    }

    #[test]
    fn the_oldest_go_until_all_logs_are_within_the_budget_and_open_ones_count() {
        let all = [closed(3, None), closed(2, None), closed(1, None)];
        let mut sizes: HashMap<RunId, u64> = all.iter().map(|one| (one.run, 2_000_000)).collect();
        let budget = |mb: u64| kept(json!({"runs": {"keep_days": 90, "keep_mb": mb}}));
        assert_eq!(chosen(&all, &sizes, budget(6)), []);
        assert_eq!(chosen(&all, &sizes, budget(5)), [all[0].run]);
        // That of an attempt that is open takes room, and stays.
        sizes.insert(RunId::random(), 2_000_000);
        assert_eq!(chosen(&all, &sizes, budget(5)), [all[0].run, all[1].run]);
        assert_eq!(chosen(&all, &sizes, budget(1)).len(), 3);
    }

    #[test]
    fn what_was_removed_goes_when_its_record_does() {
        let all = [closed(10, Some(10)), closed(9, Some(9)), closed(100, None)];
        let kept = kept(json!({"runs": {"keep_days": null, "keep_mb": null}, "removed": {"keep_days": 10}}));
        assert_eq!(chosen(&all, &HashMap::new(), kept), [all[0].run]);
    }
}
