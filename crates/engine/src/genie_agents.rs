//! The agents that a project's own files describe, as variants that can be started. A file stands on a variant of
//! Forge or of the person, lays its prompt and model over it, and never takes the place of one.

use std::path::Path;

use forge_model::{ProfileId, ProjectId};
use serde_json::{Value, json};

use crate::background::blocking;
use crate::genie_files::{self, Found, Read};
use crate::profiles::{self, DEFAULT, Profiles, Settings};
use crate::{Engine, Result, shape};

/// A way of telling whether an agent goes by a name.
type Way = dyn Fn(&AgentFile, &str) -> bool;

/// The agent for files that name none, when no other is set.
const USUAL: &str = "CLAUDE_CODE";

/// An agent that a file of the project describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// What a person calls it: its path below the folder of agents, `qa/deep-check`.
    pub id: String,
    /// The name its head gives.
    pub name: Option<String>,
    /// The folder of agents it belongs to, where that is not the general one.
    pub collective: Option<String>,
    /// Where it lies in the repository.
    pub path: String,
    pub description: Option<String>,
    /// What starts it.
    pub profile: ProfileId,
    pub model: Option<String>,
    /// Whether it wishes to be followed or left alone.
    pub background: Option<bool>,
    /// It wishes to be left out of lists.
    pub hidden: bool,
}

/// A file among the agents that is not what its author thought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFileWarning {
    /// Where it lies in the repository.
    pub path: String,
    pub message: String,
}

/// The agents that a project's files describe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFiles {
    pub agents: Vec<AgentFile>,
    pub warnings: Vec<AgentFileWarning>,
}

/// Reads the agents that the files of a directory describe, over the profiles that come with Forge: for a
/// repository that is no project yet.
pub fn agent_files_at(repository: &Path) -> Result<AgentFiles> {
    let (made, warnings) = make(genie_files::read(repository), &profiles::built_in()?, USUAL, None);
    Ok(AgentFiles { agents: made.into_iter().map(|(file, _)| file).collect(), warnings })
}

impl AgentFiles {
    /// Finds the agent that a person means: by its id, with its collective before it, by the name its head gives,
    /// by the last part of its id, or by an older way of writing one of these.
    pub fn find(&self, typed: &str) -> Option<&AgentFile> {
        let wanted = typed.trim().trim_end_matches(".md").to_ascii_lowercase();
        let older = ["genie-", "template-"].iter().find_map(|prefix| wanted.strip_prefix(prefix));
        let older = older.unwrap_or(if wanted == "forge-master" { "forge" } else { &wanted });
        let ways: [&Way; 4] = [
            &|file, name| file.id.eq_ignore_ascii_case(name),
            &|file, name| file.qualified().eq_ignore_ascii_case(name),
            &|file, name| file.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name)),
            &|file, name| file.id.rsplit('/').next().is_some_and(|own| own.eq_ignore_ascii_case(name)),
        ];
        let by = |name: &str| ways.iter().find_map(|fits| self.agents.iter().find(|file| fits(file, name)));
        by(&wanted).or_else(|| by(older))
    }
}

impl AgentFile {
    /// Returns its id with its collective before it, where it has one.
    pub fn qualified(&self) -> String {
        self.collective.as_ref().map_or_else(|| self.id.clone(), |folder| format!("{folder}/{}", self.id))
    }
}

impl Engine {
    /// Returns the agents that the files of a project describe.
    pub async fn agent_files(&self, project: ProjectId) -> Result<AgentFiles> {
        let (made, warnings) = self.made(project, None).await?;
        Ok(AgentFiles { agents: made.into_iter().map(|(file, _)| file).collect(), warnings })
    }

    /// Returns the variants that a project's files describe, with their settings.
    pub(crate) async fn file_variants(&self, project: ProjectId) -> Result<Vec<(ProfileId, Settings)>> {
        let (made, _) = self.made(project, None).await?;
        Ok(made.into_iter().map(|(file, settings)| (file.profile, settings)).collect())
    }

    /// Returns the settings of a file's variant when an agent plays it that the file does not name.
    pub(crate) async fn played_by_another(
        &self,
        profile: &ProfileId,
        project: ProjectId,
    ) -> Result<Option<Settings>> {
        let (made, _) = self.made(project, Some(profile.agent.clone())).await?;
        Ok(made.into_iter().find(|(file, _)| file.profile == *profile).map(|(_, settings)| settings))
    }

    async fn made(
        &self,
        project: ProjectId,
        player: Option<String>,
    ) -> Result<(Vec<(AgentFile, Settings)>, Vec<AgentFileWarning>)> {
        // The person's checkout counts, not an attempt's worktree: an agent does not write its own instructions.
        let path = self.project(project).await?.path;
        let config = self.config().await?;
        let usual = shape::profile(&config["executor_profile"]).map(|profile| profile.agent);
        let engine = self.clone();
        blocking(move || {
            let profiles = engine.all_profiles()?;
            let usual = usual.as_deref().unwrap_or(USUAL);
            Ok(make(genie_files::read(&path), &profiles, usual, player.as_deref()))
        })
        .await?
    }
}

/// Makes variants of files: of the agents they name, or all of one that is to play them.
fn make(
    read: Read,
    profiles: &Profiles,
    usual: &str,
    player: Option<&str>,
) -> (Vec<(AgentFile, Settings)>, Vec<AgentFileWarning>) {
    let warning = |(path, message)| AgentFileWarning { path, message };
    let mut warnings: Vec<_> = read.warnings.into_iter().map(warning).collect();
    let mut made: Vec<(AgentFile, Settings)> = Vec::new();
    for mut found in read.found {
        let own = found.agent.clone().unwrap_or_else(|| usual.to_string());
        let agent = player.unwrap_or(&own);
        if agent != own {
            // A model is one agent's, and another would not know it.
            found.model = None;
        }
        let mut warn = |message| warnings.push(AgentFileWarning { path: found.path.clone(), message });
        let known = profiles.get(agent);
        let taken = |profile: &ProfileId| {
            known.zip(profile.variant.as_ref()).is_some_and(|(known, variant)| known.contains_key(variant))
                || made.iter().any(|(other, _)| other.profile == *profile)
        };
        let mut names = found.variants.iter().filter_map(|name| ProfileId::new(agent, Some(name)).ok());
        let Some(profile) = names.find(|profile| !taken(profile)) else {
            warn("every name its variant could have is taken, so it cannot be started".to_string());
            continue;
        };
        let base = found.base.as_deref().unwrap_or(DEFAULT);
        let below = known.and_then(|known| known.get(base).or_else(|| known.get(DEFAULT)));
        if known.is_none_or(|known| !known.contains_key(base)) {
            if agent != own {
                // The variant may be what keeps it from doing more, and nobody would hear that it is missing.
                continue;
            }
            warn(format!("{agent} has no variant {base} to stand on; its usual settings are used"));
        }
        let settings = laid_over(below.cloned().unwrap_or_default(), &found, agent, &mut warn);
        let file = AgentFile {
            id: found.id,
            name: found.name,
            collective: found.collective,
            path: found.path,
            description: found.description,
            profile,
            model: settings.get("model").and_then(Value::as_str).map(str::to_string),
            background: found.background,
            hidden: found.hidden,
        };
        made.push((file, settings));
    }
    (made, warnings)
}

/// Lays what a file says over the settings it stands on.
fn laid_over(mut settings: Settings, found: &Found, agent: &str, warn: &mut impl FnMut(String)) -> Settings {
    let before = settings.get("append_prompt").and_then(Value::as_str).unwrap_or_default().to_string();
    let prompt = match found.body.is_empty() {
        true if before.is_empty() => Value::Null,
        true => before.into(),
        false => format!("\n\n{}{before}", found.body).into(),
    };
    settings.insert("append_prompt".into(), prompt);
    let effort = if agent == "CODEX" { "model_reasoning_effort" } else { "effort" };
    let narrower = found.sandbox.as_deref().filter(|wanted| {
        let rank = |name: &str| {
            ["read-only", "workspace-write", "danger-full-access"].iter().position(|n| *n == name)
        };
        let own = settings.get("sandbox").and_then(Value::as_str).unwrap_or("danger-full-access");
        agent == "CODEX" && rank(wanted) < rank(own)
    });
    let wishes =
        [("model", found.model.as_deref()), (effort, found.effort.as_deref()), ("sandbox", narrower)];
    for (key, value) in wishes {
        let Some(value) = value else { continue };
        let mut alone = Settings::new();
        alone.insert(key.to_string(), json!(value));
        match forge_agents::check_settings(agent, &alone) {
            Ok(()) => settings.extend(alone),
            Err((_, wanted)) => {
                warn(format!("its {key} {value:?} is left out: for {agent} it must be {wanted}"));
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(files: &[(&str, &str)]) -> (Vec<(AgentFile, Settings)>, Vec<AgentFileWarning>) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(".genie").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        make(genie_files::read(dir.path()), &profiles::built_in().unwrap(), USUAL, None)
    }

    fn settings_of(head: &str) -> Settings {
        let (mut made, _) = made(&[("agents/x.md", &format!("---\n{head}\n---\nBe kind."))]);
        made.remove(0).1
    }

    #[test]
    fn a_file_stands_on_the_variant_it_names_or_on_the_usual_one() {
        let usual = settings_of("executor: claude\nmodel: opus");
        let wanted =
            json!({"append_prompt": "\n\nBe kind.", "dangerously_skip_permissions": true, "model": "opus"});
        assert_eq!(Value::Object(usual), wanted);
        let high = settings_of("genie: {executor: codex, variant: high, model: o3}");
        assert_eq!((&high["model_reasoning_effort"], &high["model"]), (&json!("high"), &json!("o3")));
    }

    #[test]
    fn a_file_can_ask_for_fewer_permissions_and_never_for_more() {
        let plan = settings_of("executor: claude\npermissionMode: plan");
        assert_eq!((plan.get("plan"), plan.get("dangerously_skip_permissions")), (Some(&json!(true)), None));
        let asks = settings_of("executor: claude\ngenie: {permissionMode: default}");
        assert_eq!(asks["approvals"], true);
        let asks =
            settings_of("executor: claude\nforge: {CLAUDE_CODE: {dangerously_skip_permissions: false}}");
        assert_eq!(
            (asks.get("approvals"), asks.get("dangerously_skip_permissions")),
            (Some(&json!(true)), None)
        );
        let narrow = settings_of("executor: codex\nsandbox: read-only");
        assert_eq!(narrow["sandbox"], "read-only");
        let wide = settings_of("executor: codex\nvariant: approvals\nsandbox: danger-full-access");
        assert_eq!(wide["sandbox"], "workspace-write");
        let hostile =
            settings_of("executor: scripted\nforge: {SCRIPTED: {base_command_override: x, env: {A: b}}}");
        assert_eq!(hostile.keys().collect::<Vec<_>>(), ["append_prompt"]);
    }

    #[test]
    fn a_file_is_played_by_another_agent_without_its_model_and_only_where_its_permissions_hold() {
        let dir = tempfile::tempdir().unwrap();
        let agents = dir.path().join(".genie/agents");
        std::fs::create_dir_all(&agents).unwrap();
        let head = |more: &str| format!("---\nexecutor: claude\nmodel: opus\n{more}---\nBe kind.");
        std::fs::write(agents.join("free.md"), head("")).unwrap();
        std::fs::write(agents.join("plans.md"), head("permissionMode: plan\n")).unwrap();
        let played_by = |player: &str| {
            make(genie_files::read(dir.path()), &profiles::built_in().unwrap(), USUAL, Some(player)).0
        };
        let names = |made: &[(AgentFile, Settings)]| -> Vec<String> {
            made.iter().map(|(file, _)| file.profile.to_string()).collect()
        };
        let codex = played_by("CODEX");
        assert_eq!(names(&codex), ["CODEX:FREE", "CODEX:PLANS"]);
        assert_eq!((codex[0].1.get("model"), &codex[0].1["append_prompt"]), (None, &json!("\n\nBe kind.")));
        assert_eq!(codex[1].1["plan"], true);
        // The scripted agent has no variant that only plans.
        assert_eq!(names(&played_by("SCRIPTED")), ["SCRIPTED:FREE"]);
        assert_eq!(played_by("CLAUDE_CODE")[0].1["model"], "opus");
    }

    #[test]
    fn a_name_that_is_taken_gives_way_to_a_longer_one() {
        let text = "---\nexecutor: claude\n---\nx";
        let (made, warnings) =
            made(&[("agents/plan.md", text), ("agents/core/x.md", text), ("agents/qa/x.md", text)]);
        let names: Vec<_> = made.iter().map(|(file, _)| file.profile.to_string()).collect();
        assert_eq!(names, ["CLAUDE_CODE:X", "CLAUDE_CODE:AGENTS_PLAN", "CLAUDE_CODE:QA_X"]);
        assert_eq!(warnings, []);
    }

    #[test]
    fn an_agent_is_found_by_every_name_it_goes_by() {
        let (made, _) = made(&[
            ("agents/core/deep.md", "---\nname: Thinker\nexecutor: claude\n---\nx"),
            ("code/agents/explore.md", "---\nexecutor: claude\n---\nx"),
            ("agents/forge.md", "---\nexecutor: claude\n---\nx"),
        ]);
        let files = AgentFiles { agents: made.into_iter().map(|(file, _)| file).collect(), warnings: vec![] };
        let found = |typed: &str| files.find(typed).map(|file| file.qualified()).unwrap_or_default();
        for typed in ["core/deep", "CORE/Deep", "deep", "thinker", "genie-deep", "deep.md"] {
            assert_eq!(found(typed), "core/deep", "{typed}");
        }
        assert_eq!((found("explore"), found("code/explore")), ("code/explore".into(), "code/explore".into()));
        assert_eq!((found("forge-master"), found("nobody")), ("forge".into(), String::new()));
    }
}
