//! What a call of a Genie tool means: which project, agent and session. What fits nobody is refused by the name of its
//! argument, and nothing that was said is left out.

use forge_model::{AttemptId, ProfileId, Project};

use super::super::call::Call;
use super::super::names::{AGENT, EXECUTOR, MODEL, SESSION};
use crate::decode::names::{PROJECT_ID, VARIANT};
use crate::error::Problem;

/// Finds the project: the one that is named, the one that the caller stands in, or the only one.
pub(super) async fn project(call: &Call) -> Result<Project, Problem> {
    if let Some(id) = call.fields.optional_id(PROJECT_ID)? {
        return Ok(call.app.engine.project(id).await?);
    }
    let projects = call.app.engine.projects().await?;
    let here = call.directory.as_ref().and_then(|directory| {
        let holds = projects.iter().filter(|project| directory.starts_with(&project.path));
        holds.max_by_key(|project| project.path.as_os_str().len())
    });
    match (here, projects.as_slice()) {
        (Some(project), _) => Ok(project.clone()),
        (None, [only]) => Ok(only.clone()),
        (None, all) => {
            let rule =
                format!("must be named: there are {} projects, and `list_projects` tells which", all.len());
            Err(call.fields.refuse(PROJECT_ID, &rule))
        }
    }
}

/// Finds the session: by its id, or the newest that is called so.
pub(super) async fn session(call: &Call) -> Result<AttemptId, Problem> {
    let typed = call.fields.line(SESSION)?;
    if let Ok(id) = typed.parse() {
        return Ok(id);
    }
    let attempts = call.app.engine.attempts(None).await?;
    let named = attempts.iter().find(|view| super::genie::name(view) == typed);
    named.map(|view| view.attempt.id).ok_or_else(|| {
        call.fields.refuse(SESSION, &format!("must be an id or a name of a session; {typed:?} is none"))
    })
}

/// Finds the profile of an agent that is named as Forge's, or as one of the project's files, with whoever is to play
/// it and the model that is wanted.
pub(super) async fn profile(call: &Call, project: &Project, agent: &str) -> Result<ProfileId, Problem> {
    let fields = &call.fields;
    let variant = fields.variant(VARIANT)?;
    let player = match fields.filled_text(EXECUTOR)? {
        None => None,
        Some(named) => {
            let read = named.parse::<ProfileId>();
            Some(read.map_err(|error| fields.refuse(EXECUTOR, &format!("must name an agent: {error}")))?)
        }
    };
    let known = call.app.engine.project_profiles(project.id).await?;
    let of_forge = agent.parse::<ProfileId>().ok().filter(|named| known.contains_key(&named.agent));
    let profile = match of_forge {
        Some(named) => {
            let wished = player.as_ref().and_then(|player| player.variant.clone());
            let variant = variant.or(wished).or(named.variant);
            let agent = player.map_or(named.agent, |player| player.agent);
            let profile = ProfileId::new(&agent, variant.as_deref());
            profile.map_err(|error| fields.refuse(AGENT, &format!("must name an agent: {error}")))?
        }
        None => {
            let files = call.app.engine.agent_files(project.id).await?;
            let Some(file) = files.find(agent) else {
                let names = known.keys().map(|name| name.to_lowercase());
                let names = names.chain(files.agents.iter().map(|file| file.qualified())).collect();
                let near = suggestions(&agent.to_lowercase(), names);
                return Err(fields.refuse(AGENT, &format!("names no agent; near to {agent:?} are {near}")));
            };
            if variant.is_some() {
                return Err(fields
                    .refuse(VARIANT, &format!("is not taken here: {} says what it stands on", file.path)));
            }
            let own = file.profile.clone();
            ProfileId { agent: player.map_or(own.agent, |player| player.agent), variant: own.variant }
        }
    };
    let Some(model) = fields.filled_text(MODEL)? else { return Ok(profile) };
    let found = call.app.engine.with_model(&profile, model.trim(), project.id).await?;
    found.ok_or_else(|| {
        fields.refuse(MODEL, &format!("cannot be {model:?}: no variant of {profile} has that model"))
    })
}

/// Returns the three names that share most with what was given.
fn suggestions(given: &str, mut known: Vec<String>) -> String {
    let shared = |name: &String| given.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    known.sort_by_key(|name| (std::cmp::Reverse(shared(name)), name.clone()));
    known.dedup();
    known.truncate(3);
    known.join(", ")
}
