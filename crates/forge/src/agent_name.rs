//! Which agent a person means: one of Forge by its name, or one that a file of the project describes. A name that
//! nobody has is refused with those that are most like it.

use forge_engine::{AgentFile, AgentFileWarning, AgentFiles};
use forge_model::ProfileId;
use serde::Deserialize;
use serde_json::Value;

use crate::client::Client;
use crate::exit::{Failure, Result};
use crate::output::Output;
use crate::wire;

/// How many names are suggested in place of one that nobody has.
const SUGGESTED: usize = 3;

/// The agent that was meant.
#[derive(Debug, Clone)]
pub(crate) struct Meant {
    pub(crate) profile: ProfileId,
    /// What to call it.
    pub(crate) name: String,
    pub(crate) model: Option<String>,
    /// The file that describes it; none where it is one of Forge.
    file: Option<String>,
    /// Whether its file wishes it to be left alone or followed.
    pub(crate) background: Option<bool>,
}

/// The agent files as the API gives them.
#[derive(Debug, Deserialize)]
struct Files {
    agents: Vec<File>,
    warnings: Vec<Warning>,
}

#[derive(Debug, Deserialize)]
struct File {
    id: String,
    name: Option<String>,
    collective: Option<String>,
    path: String,
    description: Option<String>,
    executor_profile_id: ProfileId,
    model: Option<String>,
    background: Option<bool>,
    hidden: bool,
}

#[derive(Debug, Deserialize)]
struct Warning {
    path: String,
    message: String,
}

/// Refuses what can be the name of no agent, before anybody is asked.
pub(crate) fn check(typed: &str) -> Result<()> {
    let part = |part: &str| {
        let plain = |letter: char| letter.is_alphanumeric() || "-_.: ".contains(letter);
        !part.is_empty() && part != "." && part != ".." && part.chars().all(plain)
    };
    match typed.parse::<ProfileId>() {
        Err(error) if !typed.split('/').all(part) => Err(Failure::invalid(format!("--agent: {error}"))),
        _ => Ok(()),
    }
}

/// Finds the agent that is meant by a name.
pub(crate) fn find(client: &Client, output: &Output, project: &Value, typed: &str) -> Result<Meant> {
    if let Some(profile) = of_forge(typed) {
        let name = typed.to_string();
        return Ok(Meant { profile, name, model: None, file: None, background: None });
    }
    let files = files(client, project)?;
    if let Some(file) = files.find(typed) {
        for warning in files.warnings.iter().filter(|warning| warning.path == file.path) {
            output.remark(format_args!("{}: {}", warning.path, warning.message));
        }
        return Ok(Meant {
            profile: file.profile.clone(),
            name: file.id.clone(),
            model: file.model.clone(),
            file: Some(file.path.clone()),
            background: file.background,
        });
    }
    Err(unknown(typed, &files))
}

impl Meant {
    /// Lets this agent of Forge play it.
    pub(crate) fn played_by(mut self, typed: &str) -> Result<Self> {
        let player = of_forge(typed)
            .ok_or_else(|| Failure::invalid(format!("--executor: no agent of Forge is called {typed}")))?;
        if let (Some(file), Some(_)) = (&self.file, &player.variant) {
            return Err(Failure::invalid(format!(
                "--executor: {} has no variant beside what {file} says; name {} alone",
                self.name, player.agent
            )));
        }
        if player.agent != self.profile.agent {
            // A model is one agent's, and another would not know it.
            self.model = None;
        }
        let variant = player.variant.or(self.profile.variant);
        self.profile = ProfileId { agent: player.agent, variant };
        Ok(self)
    }

    /// Wants this model of it: its own, or that of a variant where none was named.
    pub(crate) fn with_model(mut self, client: &Client, model: &str) -> Result<Self> {
        if self.model.as_deref() == Some(model) {
            return Ok(self);
        }
        if self.file.is_none() {
            let kept = client.get("/api/profiles")?;
            let all: Value =
                serde_json::from_str(kept["content"].as_str().unwrap_or_default()).unwrap_or_default();
            let agent = &self.profile.agent;
            let variants = all["executors"][agent].as_object();
            let fits = |name: &str| self.profile.variant.as_deref().is_none_or(|wanted| wanted == name);
            let found = variants
                .into_iter()
                .flatten()
                .find(|(name, settings)| fits(name) && settings[agent]["model"].as_str() == Some(model));
            if let Some((variant, _)) = found {
                self.profile.variant = Some(variant.clone());
                self.model = Some(model.to_string());
                return Ok(self);
            }
        }
        let (name, profile) = (&self.name, &self.profile);
        let place = self.file.as_deref().unwrap_or("`forge agents profiles`");
        Err(Failure::invalid(format!(
            "--model: nothing gives {name} ({profile}) the model {model}; {place} is where its models are named"
        )))
    }
}

/// Reads the agents that the files of a project describe.
pub(crate) fn files(client: &Client, project: &Value) -> Result<AgentFiles> {
    let id = project.as_str().unwrap_or_default();
    let files: Files = wire::read(&client.get(&format!("/api/projects/{id}/agent-files"))?)?;
    let file = |file: File| AgentFile {
        id: file.id,
        name: file.name,
        collective: file.collective,
        path: file.path,
        description: file.description,
        profile: file.executor_profile_id,
        model: file.model,
        background: file.background,
        hidden: file.hidden,
    };
    let warning = |warning: Warning| AgentFileWarning { path: warning.path, message: warning.message };
    Ok(AgentFiles {
        agents: files.agents.into_iter().map(file).collect(),
        warnings: files.warnings.into_iter().map(warning).collect(),
    })
}

/// Reads the name of an agent of Forge, with or without a variant; none when it is no such name.
fn of_forge(typed: &str) -> Option<ProfileId> {
    let typed = if typed.eq_ignore_ascii_case("claude") { "CLAUDE_CODE" } else { typed };
    let profile: ProfileId = typed.parse().ok()?;
    forge_agents::agent(&profile.agent).map(|_| profile)
}

fn unknown(typed: &str, files: &AgentFiles) -> Failure {
    let mut message = format!("no agent is called {typed}");
    let stem =
        |path: &str| path.rsplit('/').next().map(|name| name.trim_end_matches(".md").to_ascii_lowercase());
    let wanted = typed.rsplit('/').next().unwrap_or(typed).to_ascii_lowercase();
    for warning in files.warnings.iter().filter(|warning| stem(&warning.path).as_deref() == Some(&wanted)) {
        message.push_str(&format!("; {}: {}", warning.path, warning.message));
    }
    let of_forge = forge_agents::AGENTS.iter().map(|agent| agent.name().to_string());
    let known: Vec<String> = files.agents.iter().map(|file| file.qualified()).chain(of_forge).collect();
    let near = nearest(typed, &known);
    if !near.is_empty() {
        message.push_str(&format!("; did you mean {}?", near.join(", ")));
    }
    message.push_str(" `forge list agents` shows them all");
    Failure::invalid(message)
}

/// Returns the names most like one, the nearest first; none that is hardly like it.
fn nearest<'a>(typed: &str, known: &'a [String]) -> Vec<&'a str> {
    let typed = typed.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .filter_map(|name| {
            let (lower, last) = (name.to_ascii_lowercase(), name.rsplit('/').next().unwrap_or(name));
            let apart = distance(&typed, &lower).min(distance(&typed, &last.to_ascii_lowercase()));
            let begins =
                typed.len() > 2 && (lower.starts_with(&typed) || lower.contains(&format!("/{typed}")));
            let apart = if begins { 1 } else { apart };
            (apart <= 1 + typed.chars().count() / 3).then_some((apart, name.as_str()))
        })
        .collect();
    near.sort_by_key(|(apart, _)| *apart);
    near.into_iter().take(SUGGESTED).map(|(_, name)| name).collect()
}

/// Counts the letters that must be put in, taken out or changed to make one text of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (column, against) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *against);
            corner = row[column + 1];
            row[column + 1] = changed.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_most_like_the_typed_one_are_suggested_and_no_others() {
        let known = ["implementor", "code/explore", "reviewer", "CODEX", "CLAUDE_CODE"].map(String::from);
        assert_eq!(nearest("implementr", &known), ["implementor"]);
        assert_eq!(nearest("exploer", &known), ["code/explore"]);
        assert_eq!(nearest("codx", &known), ["CODEX"]);
        assert_eq!(nearest("impl", &known), ["implementor"]);
        assert!(nearest("banana", &known).is_empty());
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn an_agent_of_forge_is_known_by_its_name() {
        assert_eq!(of_forge("claude").unwrap().to_string(), "CLAUDE_CODE");
        assert_eq!(of_forge("codex:high").unwrap().to_string(), "CODEX:HIGH");
        assert!(of_forge("implementor").is_none() && of_forge("qa/check").is_none());
    }
}
