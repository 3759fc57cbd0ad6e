//! Ids as people type them: whole, the first digits of one, or the name of what has it. A guess is never made: several
//! that fit are listed.

use serde_json::Value;

use crate::client::Client;
use crate::exit::{Exit, Failure, Result};
use crate::output::short;
use crate::wire::{self, Attempt};

/// Fewer digits than this say too little.
const FEWEST: usize = 4;

/// Finds the attempt that is meant: by its own id, else by the id of its task, whose newest attempt it is then, else
/// among those without a task, else by its branch or the title of its task.
pub(crate) fn attempt(client: &Client, typed: &str) -> Result<Attempt> {
    if let Some(id) = whole(typed) {
        // A whole id needs no list; one of a task is looked for below.
        match client.get(&format!("/api/task-attempts/{id}")).map_err(Failure::from) {
            Ok(attempt) => return wire::read(&attempt),
            Err(failure) if failure.exit == Exit::NotFound => {}
            Err(failure) => return Err(failure),
        }
    }
    let attempts = attempts(client)?;
    let digits = digits(typed);
    if let Ok(digits) = &digits
        && let Some(attempt) = pick(&attempts, digits, typed)?
    {
        return Ok(attempt.clone());
    }
    let loose = loose(client)?;
    if let Ok(digits) = &digits
        && let Some(attempt) = pick(&loose, digits, typed)?
    {
        return Ok(attempt.clone());
    }
    let all: Vec<Attempt> = attempts.into_iter().chain(loose).collect();
    match (named(&all, typed)?, digits) {
        (Some(attempt), _) => Ok(attempt.clone()),
        (None, Err(failure)) => Err(failure),
        (None, Ok(_)) => {
            Err(Failure::not_found(format!("there is no attempt {typed}; `forge list` shows them all")))
        }
    }
}

/// Reads all attempts without a task, newest first.
pub(crate) fn loose(client: &Client) -> Result<Vec<Attempt>> {
    let answer = client.get("/api/execution-runs")?;
    answer.as_array().into_iter().flatten().map(wire::read).collect()
}

/// Finds the attempt with a name: its branch, with or without what all branches begin with, or its task's title. Of
/// several with one title the only one at work is meant.
fn named<'a>(attempts: &'a [Attempt], typed: &str) -> Result<Option<&'a Attempt>> {
    let typed = typed.trim();
    let fits = |attempt: &&Attempt| {
        let own = attempt.branch.rsplit('/').next().unwrap_or_default();
        // The part before the name of a task is for the eye.
        let title = attempt.title().trim();
        let plain = title.split_once("] ").map_or(title, |(_, rest)| rest);
        [attempt.branch.as_str(), own, title, plain].iter().any(|name| name.eq_ignore_ascii_case(typed))
    };
    let found: Vec<&Attempt> = attempts.iter().filter(|_| !typed.is_empty()).filter(fits).collect();
    let live: Vec<&Attempt> = found.iter().copied().filter(|attempt| attempt.is_live()).collect();
    match (&found[..], &live[..]) {
        ([], _) => Ok(None),
        ([only], _) | (_, [only]) => Ok(Some(only)),
        _ => Err(ambiguous(typed, &found)),
    }
}

/// Reads all attempts, newest first.
pub(crate) fn attempts(client: &Client) -> Result<Vec<Attempt>> {
    let answer = client.get("/api/task-attempts")?;
    answer.as_array().into_iter().flatten().map(wire::read).collect()
}

/// Finds the attempt that is meant, if any.
pub(crate) fn pick<'a>(attempts: &'a [Attempt], digits: &str, typed: &str) -> Result<Option<&'a Attempt>> {
    let own: Vec<&Attempt> = attempts.iter().filter(|attempt| fits(&attempt.id, digits)).collect();
    match own[..] {
        [] => {}
        [only] => return Ok(Some(only)),
        _ => return Err(ambiguous(typed, &own)),
    }
    let of_task: Vec<&Attempt> = attempts
        .iter()
        .filter(|attempt| attempt.task_id.as_deref().is_some_and(|id| fits(id, digits)))
        .collect();
    match of_task.first() {
        Some(newest) if of_task.iter().all(|attempt| attempt.task_id == newest.task_id) => Ok(Some(newest)),
        Some(_) => Err(ambiguous(typed, &of_task)),
        None => Ok(None),
    }
}

/// Reads what was typed as the digits of an id.
pub(crate) fn digits(typed: &str) -> Result<String> {
    let digits = plain(typed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Failure::invalid(format!(
            "{typed:?} is not an id; give an id of `forge list`, its first {FEWEST} digits or more, or a name"
        )));
    }
    if digits.len() < FEWEST {
        return Err(Failure::invalid(format!(
            "{typed:?} is too short; give at least {FEWEST} digits of the id"
        )));
    }
    Ok(digits)
}

/// Says whether an id begins with these digits.
pub(crate) fn fits(id: &str, digits: &str) -> bool {
    plain(id).starts_with(digits)
}

/// Returns the whole id when one was typed, in the form the API takes.
pub(crate) fn whole(typed: &str) -> Option<String> {
    typed.trim().parse::<forge_model::RunId>().ok().map(|id| id.to_string())
}

/// Reads the run of a log by its whole id; none when there is no such run.
pub(crate) fn run(client: &Client, typed: &str) -> Result<Option<Value>> {
    let Some(id) = whole(typed) else { return Ok(None) };
    match client.get(&format!("/api/execution-processes/{id}")).map_err(Failure::from) {
        Ok(run) => Ok(Some(run)),
        Err(failure) if failure.exit == Exit::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Finds the one thing of a list whose id begins so. `what` it is, and what lists it, are for the refusal.
pub(crate) fn beginning<'a>(list: &'a Value, typed: &str, what: &str, lists: &str) -> Result<&'a Value> {
    let begins = |one: &&Value| one["id"].as_str().is_some_and(|id| id.starts_with(typed));
    let found: Vec<&Value> =
        list.as_array().into_iter().flatten().filter(|one| !typed.is_empty() && begins(one)).collect();
    match found[..] {
        [one] => Ok(one),
        [] => {
            Err(Failure::not_found(format!("no {what} has an id that begins with {typed:?}; see `{lists}`")))
        }
        _ => Err(Failure::invalid(format!("several ids begin with {typed:?}; type more digits"))),
    }
}

fn plain(id: &str) -> String {
    id.trim().replace('-', "").to_ascii_lowercase()
}

fn ambiguous(typed: &str, candidates: &[&Attempt]) -> Failure {
    let mut message = format!("{typed} fits {} attempts; give more digits:", candidates.len());
    for attempt in candidates {
        message.push_str(&format!("\n  {}  {}  {}", attempt.id, attempt.state, short(attempt.title(), 60)));
    }
    Failure::invalid(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn attempts() -> Vec<Attempt> {
        let attempt = |id: &str, task: &str| {
            let value = json!({"id": id, "task_id": task, "state": "running", "branch": "forge/x"});
            wire::read(&value).unwrap()
        };
        vec![
            attempt("6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c", "11112222-8f6b-4c1d-9a53-0d1f2e3a4b5c"),
            attempt("6a0c2f1e-9999-4c1d-9a53-0d1f2e3a4b5c", "11113333-8f6b-4c1d-9a53-0d1f2e3a4b5c"),
            attempt("77772f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c", "11113333-8f6b-4c1d-9a53-0d1f2e3a4b5c"),
        ]
    }

    fn picked(typed: &str) -> Result<Option<String>> {
        let attempts = attempts();
        Ok(pick(&attempts, &digits(typed)?, typed)?.map(|attempt| attempt.id.clone()))
    }

    #[test]
    fn the_first_digits_of_an_attempt_are_enough() {
        assert_eq!(picked("7777").unwrap().unwrap(), "77772f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c");
        assert_eq!(picked("6A0C2F1E8").unwrap().unwrap(), "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c");
        assert_eq!(picked("6a0c2f1e-8").unwrap().unwrap(), "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c");
    }

    #[test]
    fn digits_that_fit_several_attempts_list_them() {
        let message = picked("6a0c").unwrap_err().message;
        assert!(message.contains("fits 2 attempts"), "{message}");
        assert!(message.contains("6a0c2f1e-8f6b") && message.contains("6a0c2f1e-9999"), "{message}");
    }

    #[test]
    fn the_digits_of_a_task_mean_its_newest_attempt() {
        assert_eq!(picked("11113").unwrap().unwrap(), "6a0c2f1e-9999-4c1d-9a53-0d1f2e3a4b5c");
        assert!(picked("1111").unwrap_err().message.contains("fits 3 attempts"));
    }

    #[test]
    fn a_name_means_the_only_attempt_that_has_it_or_the_only_one_at_work() {
        let one = |id: &str, title: &str, state: &str| {
            let value = json!({"id": id, "task_id": id, "state": state, "branch": format!("forge/{id}-x"),
                "task": {"title": title}});
            wire::read::<Attempt>(&value).unwrap()
        };
        let all = [
            one("aaaa", "[🧞] fix-login", "finished"),
            one("bbbb", "twice", "finished"),
            one("cccc", "twice", "running"),
            one("dddd", "thrice", "finished"),
            one("eeee", "thrice", "finished"),
        ];
        let found = |typed: &str| named(&all, typed).map(|found| found.map(|one| one.id.as_str()));
        assert_eq!(found("fix-login").unwrap(), Some("aaaa"));
        assert_eq!((found("bbbb-x").unwrap(), found("forge/bbbb-x").unwrap()), (Some("bbbb"), Some("bbbb")));
        assert_eq!((found("Twice").unwrap(), found("nobody").unwrap()), (Some("cccc"), None));
        assert!(found("thrice").unwrap_err().message.contains("fits 2 attempts"));
    }

    #[test]
    fn too_few_digits_and_other_texts_are_refused() {
        assert!(picked("6a0").unwrap_err().message.contains("at least 4 digits"));
        assert!(picked("banana").unwrap_err().message.contains("is not an id"));
        assert_eq!(picked("ffff").unwrap(), None);
    }
}
