//! What the card of an attempt shows, in the store: read with the attempt, written by whoever learns it.

use forge_model::{PullRequest, Time};

use super::conn::{Error, Row};
use crate::{Card, ChangeSum, Todos};

/// Reads a card from the columns that begin at `at`.
pub(crate) fn card(row: &Row, at: usize) -> Result<Card, Error> {
    let time = |column: usize| Ok::<_, Error>(row.maybe_int(at + column)?.map(Time::from_millis));
    let int = |column: usize| row.maybe_int(at + column);
    let todos = int(1)?.zip(int(2)?).map(|(done, total)| Todos { done, total });
    let changes = match (int(3)?, int(4)?, int(5)?) {
        (Some(files), Some(added), Some(deleted)) => Some(ChangeSum { files, added, deleted }),
        _ => None,
    };
    let script = row.maybe_text(at + 14)?;
    Ok(Card {
        state_since: Time::from_millis(row.int(at)?),
        activity: None,
        preparing: script.map(|script| first_line(&script)),
        todos,
        changes,
        pull_request: row.maybe_text(at + 10)?.and_then(|told| pull_request(&told)),
        seen_at: time(6)?,
        dismissed_at: time(7)?,
        later_until: time(8)?,
        comments: row.int(at + 9)?,
        dev_server: row.maybe_text(at + 11)?.and_then(|told| {
            let (run, port) = told.split_once(' ')?;
            Some((run.parse().ok()?, port.parse().ok()?))
        }),
        last_run: row.maybe_parse(at + 12)?,
        turns: row.int(at + 13)?,
    })
}

/// Reads a pull request from its number, status and address in one text; an address may hold blanks.
fn pull_request(told: &str) -> Option<PullRequest> {
    let mut words = told.splitn(3, ' ');
    Some(PullRequest {
        number: words.next()?.parse().ok()?,
        status: words.next()?.parse().ok()?,
        url: words.next()?.to_string(),
        merged_at: None,
        commit: None,
    })
}

/// The first line of a script that does something; a script of comments alone gives its first.
fn first_line(script: &str) -> String {
    let lines = || script.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| !line.starts_with('#')).or_else(|| lines().next()).unwrap_or_default();
    line.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_told_by_its_first_line_that_does_something() {
        assert_eq!(first_line("#!/bin/sh\n# prepares\n\n  npm ci\nnpm run build\n"), "npm ci");
        assert_eq!(first_line("# nothing\n"), "# nothing");
        assert_eq!(first_line(&"x".repeat(1000)).len(), 200);
    }
}
