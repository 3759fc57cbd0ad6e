//! `forge top`: the attempts at work, redrawn when something changes. The server is asked once; from then on its stream
//! of events tells.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};

use forge_model::Time;
use serde_json::Value;

use crate::autostart;
use crate::cli::Globals;
use crate::client::{Client, Trouble};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::sse::Events;
use crate::table::{Table, items, number, text};
use crate::wire::short_id;

/// How long to wait before another try; short, because a restart takes a fraction of a second.
const PAUSE: Duration = Duration::from_millis(100);
/// What happens within this time is drawn at once.
const CALM: Duration = Duration::from_millis(50);
/// How often the times are drawn again when nothing happens.
const TICK: Duration = Duration::from_secs(1);

/// Show the attempts at work, and redraw them as they change
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Where no terminal is, they are shown once. Ctrl-C ends it; agents run on.\n\nExample:\n  forge top"
)]
pub(crate) struct Args {
    /// Show the attempts at rest as well
    #[arg(long)]
    all: bool,
    /// Go on where no terminal is: print them anew whenever they change
    #[arg(long)]
    follow: bool,
}

/// What happened, for the drawer.
enum Happened {
    /// Everything anew, with the position it holds at.
    Board(Value),
    /// Operations on what is known.
    Patch(Value),
    Away,
    Failed(Failure),
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let client = autostart::connect(globals, output)?;
    let seen = io::stdout().is_terminal() && !output.json;
    let board = client.get("/api/board")?;
    let mut known = Known::default();
    known.begin(&board);
    if !seen && !args.follow {
        return known.print(output, args.all);
    }
    let (tell, told) = sync_channel(64);
    thread::spawn(move || listen(client, board["position"].as_u64(), &tell));
    follow(output, args, known, &told, seen)
}

fn follow(
    output: &Output,
    args: &Args,
    mut known: Known,
    told: &Receiver<Happened>,
    seen: bool,
) -> Result<Exit> {
    let mut drawn = String::new();
    let mut away = false;
    loop {
        let text = known.lines(args.all).join("\n");
        match seen {
            true => draw(output, &known, &text, away)?,
            // Times go on by themselves; only what changed is worth another table.
            false if known.changed => {
                let table = known.table(args.all).lines().join("\n");
                if table != drawn {
                    known.print(output, args.all)?;
                    output.line("")?;
                    drawn = table;
                }
            }
            false => {}
        }
        known.changed = false;
        let mut wait = TICK;
        loop {
            match told.recv_timeout(wait) {
                Ok(Happened::Board(board)) => known.begin(&board),
                Ok(Happened::Patch(patch)) => known.apply(&patch),
                Ok(Happened::Away) => away = true,
                Ok(Happened::Failed(failure)) => return Err(failure),
                Err(RecvTimeoutError::Timeout) => break,
                // The listener ends only when nobody is told any more.
                Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Ok),
            }
            away &= !known.changed;
            wait = CALM;
        }
    }
}

/// Draws everything anew, from the top of the terminal and no further than its end.
fn draw(output: &Output, known: &Known, text: &str, away: bool) -> Result<()> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let (rows, columns) = size.map_or((24, 80), |size| (usize::from(size.ws_row), usize::from(size.ws_col)));
    let heading = match away {
        true => "the server is away, waiting…".to_string(),
        false => known.heading(),
    };
    let cut = |line: &str| line.chars().take(columns.max(20)).collect::<String>();
    let lines = std::iter::once(heading.as_str()).chain(text.lines()).take(rows.saturating_sub(1).max(2));
    let drawn: String = lines.map(|line| format!("{}\x1b[K\n", cut(line))).collect();
    output.write(format!("\x1b[H{drawn}\x1b[J").as_bytes())
}

/// Tells what changes until nobody wants to know. After a position has expired everything is read anew.
fn listen(mut client: Client, mut position: Option<u64>, tell: &SyncSender<Happened>) {
    let mut away = false;
    loop {
        match client.events_after(position) {
            Ok(stream) => {
                for event in Events::new(stream) {
                    position = event.id.or(position);
                    let told = match event.name.as_str() {
                        "resync" => client.get("/api/board").ok().map(|board| {
                            position = board["position"].as_u64();
                            Happened::Board(board)
                        }),
                        _ => serde_json::from_str(&event.data).ok().map(Happened::Patch),
                    };
                    if told.is_some_and(|told| tell.send(told).is_err()) {
                        return;
                    }
                }
            }
            Err(Trouble::Refused(failure)) => {
                // Nobody listens once the command has ended.
                let _ = tell.send(Happened::Failed(failure));
                return;
            }
            Err(Trouble::Away(_)) if !away => {
                away = true;
                if tell.send(Happened::Away).is_err() {
                    return;
                }
            }
            Err(Trouble::Away(_)) => {}
        }
        thread::sleep(PAUSE);
        client.relocate();
        if std::mem::take(&mut away)
            && let Ok(board) = client.get("/api/board")
        {
            position = board["position"].as_u64();
            if tell.send(Happened::Board(board)).is_err() {
                return;
            }
        }
    }
}

/// The attempts as they are known, by their ids.
#[derive(Default)]
struct Known {
    attempts: BTreeMap<String, Value>,
    /// The titles of tasks, by their ids.
    titles: BTreeMap<String, String>,
    changed: bool,
}

impl Known {
    fn begin(&mut self, board: &Value) {
        let attempts = items(&board["attempts"]).iter();
        self.attempts = attempts.map(|attempt| (text(attempt, "id").to_string(), attempt.clone())).collect();
        let tasks = items(&board["tasks"]).iter();
        self.titles =
            tasks.map(|task| (text(task, "id").to_string(), text(task, "title").to_string())).collect();
        self.changed = true;
    }

    fn apply(&mut self, patch: &Value) {
        for change in items(patch) {
            let path = text(change, "path");
            if let (Some(id), true) = (path.strip_prefix("/tasks/"), change["value"].is_object()) {
                self.titles.insert(id.to_string(), text(&change["value"], "title").to_string());
                self.changed = true;
            }
            let Some(id) =
                path.strip_prefix("/task_attempts/").or_else(|| path.strip_prefix("/execution_runs/"))
            else {
                continue;
            };
            match change["value"].is_object() {
                true => self.attempts.insert(id.to_string(), change["value"].clone()),
                false => self.attempts.remove(id),
            };
            self.changed = true;
        }
    }

    /// Returns those at work, or all; those that changed state last come first.
    fn shown(&self, all: bool) -> Vec<&Value> {
        let at_work = |attempt: &&Value| {
            all || matches!(text(attempt, "state"), "running" | "waiting" | "queued" | "limited")
        };
        let mut shown: Vec<&Value> = self.attempts.values().filter(at_work).collect();
        let since = |attempt: &Value| match text(attempt, "state_since") {
            "" => text(attempt, "updated_at").to_string(),
            since => since.to_string(),
        };
        shown.sort_by_key(|attempt| std::cmp::Reverse(since(attempt)));
        shown
    }

    fn heading(&self) -> String {
        let count = |state: &str| self.attempts.values().filter(|one| text(one, "state") == state).count();
        format!(
            "{} running, {} waiting for an answer, {} queued, {} limited",
            count("running"),
            count("waiting"),
            count("queued"),
            count("limited")
        )
    }

    /// The table without times: what makes it another one.
    fn table(&self, all: bool) -> Table {
        let mut table = Table::new(&["ATTEMPT", "STATE", "AGENT", "CHANGES", "DOING", "TASK"]);
        for attempt in self.shown(all) {
            table.row([
                short_id(text(attempt, "id")),
                state(attempt),
                text(attempt, "executor"),
                &changes(attempt),
                text(attempt, "activity"),
                self.title(attempt),
            ]);
        }
        table
    }

    fn lines(&self, all: bool) -> Vec<String> {
        let mut table = Table::new(&["ATTEMPT", "STATE", "FOR", "AGENT", "CHANGES", "DOING", "TASK"]);
        for attempt in self.shown(all) {
            table.row([
                short_id(text(attempt, "id")),
                state(attempt),
                &age(text(attempt, "state_since")),
                text(attempt, "executor"),
                &changes(attempt),
                text(attempt, "activity"),
                self.title(attempt),
            ]);
        }
        table.lines()
    }

    fn title<'a>(&'a self, attempt: &'a Value) -> &'a str {
        match (self.titles.get(text(attempt, "task_id")), text(attempt, "prompt")) {
            (Some(title), _) => title,
            (None, "") => text(attempt, "branch"),
            (None, prompt) => prompt,
        }
    }

    fn print(&self, output: &Output, all: bool) -> Result<Exit> {
        if output.json {
            output.value(&self.shown(all).into_iter().cloned().collect())?;
            return Ok(Exit::Ok);
        }
        for line in self.lines(all) {
            output.line(line)?;
        }
        Ok(Exit::Ok)
    }
}

fn state(attempt: &Value) -> &str {
    match (attempt["open_asks"].as_i64().unwrap_or_default(), attempt["stalled"].is_string()) {
        (0, true) => "stalled",
        (0, false) => text(attempt, "state"),
        _ => "asks",
    }
}

fn changes(attempt: &Value) -> String {
    match attempt["files_changed"].is_null() {
        true => String::new(),
        false => format!("+{} -{}", number(attempt, "lines_added"), number(attempt, "lines_deleted")),
    }
}

/// Says how long ago a moment was, in one unit or two.
fn age(since: &str) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let Ok(since) = since.parse::<Time>() else { return String::new() };
    let seconds = (i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(since.millis()) / 1000).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_changes_is_laid_over_what_is_known() {
        let mut known = Known::default();
        known.begin(
            &json!({"attempts": [{"id": "a1", "state": "running"}, {"id": "b2", "state": "finished"}]}),
        );
        assert_eq!(known.shown(false).len(), 1);
        known.apply(&json!([
            {"op": "replace", "path": "/task_attempts/b2", "value": {"id": "b2", "state": "waiting",
                "open_asks": 1, "task_id": "c3"}},
            {"op": "remove", "path": "/task_attempts/a1"},
            {"op": "add", "path": "/tasks/c3", "value": {"id": "c3", "title": "Log in"}},
        ]));
        let shown = known.shown(false);
        assert_eq!(shown.len(), 1);
        assert_eq!((state(shown[0]), known.title(shown[0])), ("asks", "Log in"));
        assert_eq!(known.heading(), "0 running, 1 waiting for an answer, 0 queued, 0 limited");
    }
}
