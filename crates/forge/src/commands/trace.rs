//! `forge trace`: where a commit comes from: branch, attempt, task, wish, GitHub issue.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::Globals;
use crate::commands::link;
use crate::exit::{Exit, Failure, Result};
use crate::git::{self, Checkout};
use crate::linking::{self, Chain, Named};
use crate::output::{Output, short};
use crate::session_state::{self, Block, FILE};

/// Show where a commit comes from: attempt, task, wish and GitHub issue
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  forge trace HEAD")]
pub(crate) struct Args {
    /// The commit
    #[arg(default_value = "HEAD")]
    commit: String,
}

pub(crate) fn run(globals: &Globals, output: &Output, args: &Args) -> Result<Exit> {
    let checkout = Checkout::find(Path::new("."))?;
    let wanted = format!("{}^{{commit}}", args.commit);
    let sha =
        git::ask(&checkout.top, ["rev-parse", "--verify", "--quiet", "--end-of-options", wanted.as_str()])
            .ok_or_else(|| Failure::not_found(format!("there is no commit {}", args.commit)))?;
    let subject = git::run(&checkout.top, ["show", "--no-patch", "--format=%s", &sha])?;
    let attempts = attempts(globals);
    let chain = by_landing(&attempts, &checkout, &sha)
        .or_else(|| by_branch(&attempts, &checkout, &sha))
        .or_else(|| by_record(&checkout, &sha));
    let Some(chain) = chain else {
        return Err(Failure::not_found(format!("no attempt is known that made commit {}", short(&sha, 12))));
    };
    if output.json {
        let mut told = json!(chain);
        told["commit"] = json!(sha);
        told["subject"] = json!(subject);
        output.value(&told)?;
        return Ok(Exit::Ok);
    }
    output.line(format_args!("commit   {sha}  {}", short(&subject, 80)))?;
    for (label, value) in link::lines(&chain) {
        output.line(format_args!("{label:<8} {value}"))?;
    }
    Ok(Exit::Ok)
}

/// All attempts as the server tells them; none when it is away.
fn attempts(globals: &Globals) -> Vec<(Value, Option<Value>)> {
    let Some(client) = linking::client(globals) else { return Vec::new() };
    let Ok(answer) = client.get("/api/task-attempts") else { return Vec::new() };
    let attempts = answer.as_array().into_iter().flatten().cloned();
    attempts
        .map(|attempt| {
            let id = attempt["id"].as_str().unwrap_or_default();
            let landed = attempt["is_merged"] == true;
            let status =
                landed.then(|| client.get(&format!("/api/task-attempts/{id}/branch-status")).ok()).flatten();
            (attempt, status)
        })
        .collect()
}

/// By the commit that a landing made.
fn by_landing(attempts: &[(Value, Option<Value>)], checkout: &Checkout, sha: &str) -> Option<Chain> {
    let (attempt, _) = attempts.iter().find(|(_, status)| {
        let merges = status.as_ref().and_then(|status| status["merges"].as_array());
        merges.into_iter().flatten().any(|merge| {
            [&merge["merge_commit"], &merge["pr_info"]["merge_commit_sha"]]
                .iter()
                .any(|made| made.as_str() == Some(sha))
        })
    })?;
    Some(of_attempt(attempt, checkout))
}

/// By the branch of an attempt that has the commit, which the branch it began at has not.
fn by_branch(attempts: &[(Value, Option<Value>)], checkout: &Checkout, sha: &str) -> Option<Chain> {
    let format = "--format=%(refname)";
    let contains = format!("--contains={sha}");
    let all = git::ask(&checkout.top, ["for-each-ref", format, &contains, "refs/heads", "refs/remotes"])?;
    let found: Vec<(&str, Named)> = all
        .lines()
        .filter_map(|name| name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/remotes/")))
        .filter(|name| name.contains('/'))
        .filter_map(|name| Some((name, linking::named(name)?)))
        .collect();
    let main =
        checkout.main().and_then(|main| git::ask(main, ["symbolic-ref", "--quiet", "--short", "HEAD"]));
    let is_in = |branch: &str| {
        let branch = format!("refs/heads/{branch}");
        git::ask(&checkout.top, ["merge-base", "--is-ancestor", sha, &branch]).is_some()
    };
    found.iter().find_map(|(branch, named)| {
        let attempt = attempts.iter().map(|(attempt, _)| attempt).find(|attempt| {
            let own = attempt["branch"].as_str().unwrap_or_default();
            own == *branch || branch.ends_with(&format!("/{own}"))
        });
        let target = attempt.and_then(|attempt| attempt["target_branch"].as_str()).or(main.as_deref());
        if target.is_some_and(|target| target != *branch && is_in(target)) {
            return None;
        }
        Some(match attempt {
            Some(attempt) => of_attempt(attempt, checkout),
            None => linking::complete(branch, named, None, checkout),
        })
    })
}

/// By the section of SESSION-STATE.md that the commit brought.
fn by_record(checkout: &Checkout, sha: &str) -> Option<Chain> {
    let sections = |commit: &str| {
        let text = git::ask(&checkout.top, ["show", &format!("{commit}:{FILE}")]).unwrap_or_default();
        session_state::block(&text, Block::Links).map(|links| linking::sections(&links)).unwrap_or_default()
    };
    let (now, before) = (sections(sha), sections(&format!("{sha}^")));
    let (branch, section) = now.into_iter().find(|(branch, _)| !before.contains_key(branch))?;
    let named = linking::named(&branch)?;
    let text = |label: &str| linking::line_of(&section, label).map(str::to_string);
    let found = linking::complete(&branch, &named, None, checkout);
    Some(Chain {
        attempt_id: text("Attempt ID"),
        task_id: text("Task ID"),
        wish_path: text("Wish").or(found.wish_path.clone()),
        github_issue: text("GitHub Issue").or(found.github_issue.clone()),
        ..found
    })
}

fn of_attempt(attempt: &Value, checkout: &Checkout) -> Chain {
    let branch = attempt["branch"].as_str().unwrap_or_default();
    let digits = attempt["id"].as_str().unwrap_or_default().get(..4).unwrap_or_default().to_string();
    let named = linking::named(branch).unwrap_or(Named { digits, words: String::new() });
    linking::complete(branch, &named, Some(attempt), checkout)
}
