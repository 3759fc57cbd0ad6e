//! Looking after a script: how it is called, how long it may take, and what its end means.
//!
//! A script has no conversation: nobody folds its output, and its exit code says how it went.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_model::{Run, RunKind};
use forge_process::{Exit, Liveness, LogReader, Stream};

use crate::background::blocking;
use crate::drive::Handle;
use crate::finish::Ending;
use crate::fold::Outcome;
use crate::{Engine, Error, Result, launch};

/// The longest script: it is handed over as one argument, and the system takes none above 128 KB.
const LONGEST: usize = 100 * 1024;

/// How soon after a look at a script's process comes the next, however much it prints.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How much of the end of a log is searched for a script's last words.
const TAIL: u64 = 16 * 1024;

/// How much of its last line is told, in characters.
const LONGEST_LINE: usize = 300;

/// What a run is called in a sentence.
pub(crate) fn name(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Setup => "the setup script",
        RunKind::Agent => "the agent",
        RunKind::Cleanup => "the cleanup script",
        RunKind::DevServer => "the dev server",
    }
}

/// Refuses a script that could never be run.
pub(crate) fn check(field: &str, text: Option<&str>) -> Result<()> {
    let Some(text) = text else { return Ok(()) };
    if text.contains('\0') {
        return Err(Error::invalid(format!("`{field}` must be a text without NUL characters")));
    }
    if text.len() > LONGEST {
        return Err(Error::invalid(format!(
            "`{field}` must not be longer than {} KB; keep it in a file of the repository and call that",
            LONGEST >> 10
        )));
    }
    Ok(())
}

/// The command that runs a script: by bash where there is one, with nothing to read. What is to be said of the run
/// stands before its output.
pub(crate) fn command(text: &str, note: Option<&str>) -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let shell = launch::find("bash", "", &path).unwrap_or_else(|_| "/bin/sh".to_string());
    let call = r#"if [ -n "$2" ]; then printf 'forge: %s\n' "$2" >&2; fi; exec "$0" -c "$1" </dev/null"#;
    ["/bin/sh", "-c", call, &shell, text, note.unwrap_or_default()].map(str::to_string).to_vec()
}

impl Engine {
    /// Looks after a script until it is over, or its time is.
    pub(crate) async fn drive_script(&self, run: &Run, handle: &Arc<Handle>) -> Result<()> {
        let limit = self.time_limit(run.kind).await;
        let dir = self.inner.paths.run(run.id);
        // From here on by a clock that nobody can set: one that jumps must not end a script.
        let (spent, since) = (self.ages().await?.of(run.started_at), Instant::now());
        let spent = Duration::from_millis(spent.max(0).unsigned_abs());
        loop {
            let looked = dir.clone();
            let liveness = blocking(move || forge_process::liveness(&looked)).await?;
            match liveness.map_err(|error| launch::process_error(&error))? {
                Liveness::Alive => match limit.map(|limit| limit.saturating_sub(spent + since.elapsed())) {
                    Some(left) if left.is_zero() => self.ladder(run.id).await?,
                    left => {
                        // One that prints all the time would be looked at all the time.
                        tokio::time::sleep(LOOK_AGAIN.min(left.unwrap_or(LOOK_AGAIN))).await;
                        let woken = handle.woken();
                        match left {
                            // That time is over shows in the next look.
                            Some(left) => drop(tokio::time::timeout(left, woken).await),
                            None => woken.await,
                        }
                    }
                },
                Liveness::Exited(exit) => {
                    let (ending, outcome) = self.ended(run, exit, limit).await?;
                    return self.finish(run, ending, outcome).await;
                }
                Liveness::Gone => return self.finish_lost(run, Outcome::default()).await,
            }
        }
    }

    /// Says how a script ended. One that was ended without anybody's wish after its time has failed by that.
    async fn ended(&self, run: &Run, exit: Exit, limit: Option<Duration>) -> Result<(Ending, Outcome)> {
        let who = name(run.kind);
        let took = exit.at_ms.saturating_sub(run.started_at.millis()).max(0).unsigned_abs();
        let overdue = limit.filter(|limit| exit.stopped && u128::from(took) >= limit.as_millis());
        let why = match (overdue, exit.code, exit.signal) {
            (Some(limit), ..) => {
                format!("{who} was ended: it took longer than its limit of {} s", limit.as_secs())
            }
            (None, Some(0), _) => return Ok((Ending::Exited(exit), Outcome::default())),
            (None, Some(code), _) => format!("{who} ended with exit code {code}"),
            (None, None, Some(signal)) => format!("{who} was ended by signal {signal}"),
            (None, None, None) => format!("{who} ended without saying how"),
        };
        let dir = self.inner.paths.run(run.id);
        let said = blocking(move || last_line(&dir, exit.log_end)).await?;
        let why = said.map_or(why.clone(), |said| format!("{why}; its last line: {said}"));
        let exit = Exit { stopped: exit.stopped && overdue.is_none(), ..exit };
        Ok((Ending::Exited(exit), Outcome { failed: true, failure: Some(why), ..Outcome::default() }))
    }
}

/// Finds the last thing that was printed, for a reason that says more than a number. What is wrong is usually told on
/// the standard error; the two come in no order to each other.
fn last_line(dir: &std::path::Path, end: u64) -> Option<String> {
    let mut reader = LogReader::open(dir, end.saturating_sub(TAIL)).ok()?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    loop {
        let records = reader.read(TAIL as usize).ok()?;
        if records.is_empty() {
            break;
        }
        for record in &records {
            match record.stream {
                Stream::Stdout => out.extend_from_slice(&record.payload),
                Stream::Stderr => err.extend_from_slice(&record.payload),
                _ => {}
            }
        }
    }
    let last = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(line.chars().filter(|c| !c.is_control()).take(LONGEST_LINE).collect())
    };
    last(&err).or_else(|| last(&out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_could_never_be_run_is_refused_by_its_field() {
        assert!(check("setup_script", Some("npm ci\nnpm test")).is_ok() && check("x", None).is_ok());
        let long = check("setup_script", Some(&"x".repeat(LONGEST + 1))).unwrap_err().to_string();
        assert!(long.contains("`setup_script`") && long.contains("100 KB"), "{long}");
        assert!(check("dev_script", Some("a\0b")).unwrap_err().to_string().contains("`dev_script`"));
    }
}
