//! Projects and tasks as people name them: by a directory, a name, or the first digits of an id. A guess is never
//! made: several that fit are refused.

use std::path::Path;

use serde_json::Value;

use crate::client::Client;
use crate::exit::{Failure, Result};
use crate::ids;
use crate::output::short;
use crate::repository;
use crate::table::{items, text};
use crate::wire::short_id;

/// Finds a project by its name, its id or a directory in it; without any, the one this directory is in.
pub(crate) fn project(client: &Client, typed: Option<&str>) -> Result<Value> {
    let projects = client.get("/api/projects")?;
    let projects = items(&projects);
    let Some(typed) = typed else {
        let repository = repository::find(Path::new("."))?;
        return at(projects, &repository).ok_or_else(|| {
            Failure::not_found(format!(
                "{} is no project yet; `forge project add` makes it one, and `forge project` lists them all",
                repository.top.display()
            ))
        });
    };
    let named: Vec<&Value> = projects.iter().filter(|project| text(project, "name") == typed).collect();
    let found = match named.is_empty() {
        false => named,
        true => match ids::digits(typed) {
            Ok(digits) => projects.iter().filter(|project| ids::fits(text(project, "id"), &digits)).collect(),
            Err(_) => Vec::new(),
        },
    };
    match found[..] {
        [one] => Ok(one.clone()),
        [] => {
            let path = Path::new(typed);
            let here = path.is_dir().then(|| repository::find(path).ok()).flatten();
            here.and_then(|repository| at(projects, &repository)).ok_or_else(|| {
                Failure::not_found(format!("there is no project {typed}; `forge project` lists them all"))
            })
        }
        _ => Err(several(typed, "projects", &found, "name")),
    }
}

/// Returns the id of a project, named as [`project`] takes it.
pub(crate) fn project_id(client: &Client, typed: Option<&str>) -> Result<String> {
    Ok(text(&project(client, typed)?, "id").to_string())
}

/// Finds a task by its id, or by the first digits of it.
pub(crate) fn task(client: &Client, typed: &str) -> Result<Value> {
    if let Some(id) = ids::whole(typed) {
        return Ok(client.get(&format!("/api/tasks/{id}"))?);
    }
    let digits = ids::digits(typed)?;
    let board = client.get("/api/board")?;
    let found: Vec<&Value> =
        items(&board["tasks"]).iter().filter(|task| ids::fits(text(task, "id"), &digits)).collect();
    match found[..] {
        [one] => Ok(one.clone()),
        [] => Err(Failure::not_found(format!("there is no task {typed}; `forge task list` shows them"))),
        _ => Err(several(typed, "tasks", &found, "title")),
    }
}

/// Finds one thing of a list by the first digits of its id or by its name.
pub(crate) fn one<'a>(list: &'a Value, typed: &str, what: &str, key: &str, lists: &str) -> Result<&'a Value> {
    let named: Vec<&Value> = items(list).iter().filter(|one| text(one, key) == typed).collect();
    match named[..] {
        [one] => Ok(one),
        _ => ids::beginning(list, typed, what, lists),
    }
}

fn at(projects: &[Value], repository: &repository::Repository) -> Option<Value> {
    let is_at = |project: &&Value, place: &Path| {
        let path = Path::new(text(project, "git_repo_path"));
        path == place || path.canonicalize().is_ok_and(|path| path == place)
    };
    let find = |place: &Path| projects.iter().find(|project| is_at(project, place)).cloned();
    find(&repository.top).or_else(|| repository.main.as_deref().and_then(find))
}

fn several(typed: &str, what: &str, found: &[&Value], key: &str) -> Failure {
    let mut message = format!("{typed} fits {} {what}; give more digits:", found.len());
    for one in found {
        message.push_str(&format!("\n  {}  {}", short_id(text(one, "id")), short(text(one, key), 60)));
    }
    Failure::invalid(message)
}
