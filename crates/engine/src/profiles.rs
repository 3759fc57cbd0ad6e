//! Profiles: the named ways of calling an agent. Those that come with Forge are in a file of this crate;
//! `profiles.json` in the data directory is laid over them, variant by variant.
//!
//! The file holds only what differs, so that better built-in profiles reach people who changed others. What it
//! says about agents that this Forge does not know is kept. A damaged file is refused and never replaced.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use forge_model::{ProfileId, ProjectId};
use serde_json::{Map, Value, json};

use crate::background::blocking;
use crate::config::MASK;
use crate::{Engine, Error, Result, launch, private_file};

const BUILT_IN: &str = include_str!("../profiles.json");

/// The variant that is meant when none is named.
pub(crate) const DEFAULT: &str = "GENIE";

pub(crate) type Settings = Map<String, Value>;

/// Agents by name, their variants by name, and the settings of each.
pub(crate) type Profiles = BTreeMap<String, BTreeMap<String, Settings>>;

/// What became of a profile from elsewhere: new, otherwise here, or the same; or why it cannot be one.
type Laid = std::result::Result<Option<bool>, String>;

/// The profiles as people edit them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilesFile {
    /// JSON text of all of them, built-in ones included. Values of environments are masked.
    pub content: String,
    /// Where the changes are kept.
    pub path: std::path::PathBuf,
}

/// Profiles that are meant to replace all there are.
#[derive(Clone)]
pub struct NewProfiles(Profiles);

impl NewProfiles {
    /// Reads profiles from JSON text; the refusal names the place.
    pub fn parse(text: &str) -> Result<Self> {
        let parsed = parse(text).map_err(Error::invalid)?;
        if let Some(agent) = parsed.others.keys().next() {
            let known: Vec<_> = forge_agents::AGENTS.iter().map(|agent| agent.name()).collect();
            let known = known.join(", ");
            return Err(Error::invalid(format!("no agent is called {agent}; this Forge knows {known}")));
        }
        Ok(Self(parsed.known))
    }
}

impl std::fmt::Debug for NewProfiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The settings may hold secrets.
        f.debug_tuple("NewProfiles").field(&self.0.keys().collect::<Vec<_>>()).finish()
    }
}

impl Engine {
    /// Returns all profiles as text to edit, and where the changes are kept.
    pub async fn profiles_file(&self) -> Result<ProfilesFile> {
        let content = serde_json::to_string_pretty(&json!({ "executors": self.profiles().await? }))
            .map_err(|error| Error::internal(format!("the profiles cannot be written: {error}")))?;
        Ok(ProfilesFile { content, path: self.inner.paths.profiles() })
    }

    /// Replaces all profiles. Those that come with Forge can be changed and not removed.
    pub async fn replace_profiles(&self, new: NewProfiles) -> Result<()> {
        let engine = self.clone();
        blocking(move || {
            let _turn = engine.inner.files.lock().unwrap_or_else(PoisonError::into_inner);
            let built_in = built_in()?;
            let stored = engine.stored_profiles()?;
            let mut new = new.0;
            check_complete(&new, &built_in)?;
            unmask(&mut new, &laid_over(built_in.clone(), stored.known))?;
            let changed = encode(changes(new, &built_in), stored.others);
            let text = serde_json::to_string_pretty(&json!({ "executors": changed }))
                .map_err(|error| Error::internal(format!("the profiles cannot be written: {error}")))?;
            private_file::replace(&engine.inner.paths.profiles(), &format!("{text}\n"))
        })
        .await?
    }

    /// Returns every agent's variants with their settings, in the shape that clients know, values of
    /// environments masked.
    pub(crate) async fn profiles(&self) -> Result<Map<String, Value>> {
        let engine = self.clone();
        let mut profiles = blocking(move || engine.all_profiles()).await??;
        for settings in profiles.values_mut().flat_map(BTreeMap::values_mut) {
            mask(settings);
        }
        Ok(encode(profiles, Map::new()))
    }

    /// Returns what [`Engine::profiles`] does, with the variants that a project's own agent files describe. Those
    /// never stand in for a variant that Forge or the person has by that name.
    pub async fn project_profiles(&self, project: ProjectId) -> Result<Map<String, Value>> {
        let mut profiles = self.profiles().await?;
        for (profile, mut settings) in self.file_variants(project).await? {
            mask(&mut settings);
            let agent = profiles.entry(&profile.agent).or_insert_with(|| Value::Object(Map::new()));
            if let (Value::Object(variants), Some(variant)) = (agent, profile.variant) {
                variants.entry(variant).or_insert_with(|| json!({ profile.agent: settings }));
            }
        }
        Ok(profiles)
    }

    /// Returns the settings of a profile, or says which variants there are: those of Forge and the person, and
    /// those that the files of a project describe.
    pub(crate) async fn settings(&self, profile: &ProfileId, project: Option<ProjectId>) -> Result<Value> {
        launch::agent(profile)?;
        let (engine, agent) = (self.clone(), profile.agent.clone());
        let variants = blocking(move || engine.all_profiles().map(|mut all| all.remove(&agent)));
        let mut variants = variants.await??.unwrap_or_default();
        let wanted = profile.variant.as_deref().unwrap_or(DEFAULT);
        if let Some(settings) = variants.remove(wanted) {
            return Ok(Value::Object(settings));
        }
        let mut known: Vec<String> = variants.into_keys().collect();
        if let Some(project) = project {
            for (file, settings) in self.file_variants(project).await? {
                if file == *profile {
                    return Ok(Value::Object(settings));
                }
                known.extend(file.variant.filter(|_| file.agent == profile.agent));
            }
            if let Some(settings) = self.played_by_another(profile, project).await? {
                return Ok(Value::Object(settings));
            }
        }
        let (agent, known) = (&profile.agent, known.join(", "));
        Err(Error::invalid(format!("{agent} has no variant {wanted}; its variants are {known}")))
    }

    /// Finds the profile that has a model: the given one, or another variant where none was named.
    pub async fn with_model(
        &self,
        profile: &ProfileId,
        model: &str,
        project: ProjectId,
    ) -> Result<Option<ProfileId>> {
        let has = |settings: &Value| settings.get("model").and_then(Value::as_str) == Some(model);
        if has(&self.settings(profile, Some(project)).await?) {
            return Ok(Some(profile.clone()));
        }
        if profile.variant.is_some() {
            return Ok(None);
        }
        let (engine, agent) = (self.clone(), profile.agent.clone());
        let variants = blocking(move || engine.all_profiles().map(|mut all| all.remove(&agent))).await??;
        let mut variants = variants.unwrap_or_default().into_iter();
        let found =
            variants.find(|(_, settings)| settings.get("model").and_then(Value::as_str) == Some(model));
        Ok(found.and_then(|(variant, _)| ProfileId::new(&profile.agent, Some(&variant)).ok()))
    }

    /// Lays profiles that come from elsewhere beside those the person has; one they have stays. Says of each whether it
    /// is new, or otherwise here, or the same, or why it cannot be one.
    pub(crate) fn lay_profiles(&self, agents: &Settings, dry_run: bool) -> Result<Vec<(String, Laid)>> {
        let _turn = self.inner.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (built_in, mut stored) = (built_in()?, self.stored_profiles()?);
        let mut all = Vec::new();
        let mut is_changed = false;
        for (key, variants) in agents {
            let name = ProfileId::new(key, None).ok().map(|id| id.agent);
            let known = name.filter(|name| forge_agents::agent(name).is_some());
            let (Some(agent), Value::Object(variants)) = (known, variants) else {
                all.push((key.clone(), Err("no agent here has that name".to_string())));
                continue;
            };
            for (variant, value) in variants {
                let shown = format!("{agent}:{variant}");
                let (variant, settings) = match parse_variant(&agent, variant, value, "executors") {
                    Ok(parsed) => parsed,
                    Err(why) => {
                        all.push((shown, Err(why)));
                        continue;
                    }
                };
                let here = stored.known.entry(agent.clone()).or_default();
                let is_built_in =
                    built_in.get(&agent).and_then(|known| known.get(&variant)) == Some(&settings);
                let laid = match here.get(&variant) {
                    Some(known) if *known == settings => None,
                    Some(_) => Some(false),
                    None if is_built_in => None,
                    None => {
                        here.insert(variant, settings);
                        is_changed = true;
                        Some(true)
                    }
                };
                all.push((shown, Ok(laid)));
            }
        }
        if is_changed && !dry_run {
            stored.known.retain(|_, variants| !variants.is_empty());
            let encoded = encode(stored.known, stored.others);
            let text = serde_json::to_string_pretty(&json!({ "executors": encoded }))
                .map_err(|error| Error::internal(format!("the profiles cannot be written: {error}")))?;
            private_file::replace(&self.inner.paths.profiles(), &format!("{text}\n"))?;
        }
        Ok(all)
    }

    pub(crate) fn all_profiles(&self) -> Result<Profiles> {
        Ok(laid_over(built_in()?, self.stored_profiles()?.known))
    }

    fn stored_profiles(&self) -> Result<Parsed> {
        let path = self.inner.paths.profiles();
        let Some(text) = private_file::read(&path)? else { return Ok(Parsed::default()) };
        parse(&text).map_err(|why| {
            Error::unavailable(format!(
                "{} cannot be used: {why}; correct it, or move it away to begin with the built-in profiles",
                path.display()
            ))
        })
    }
}

pub(crate) fn built_in() -> Result<Profiles> {
    let parsed = parse(BUILT_IN).map_err(|why| Error::internal(format!("the built-in profiles: {why}")))?;
    Ok(parsed.known)
}

/// What a text says about agents that are known here, and about others.
#[derive(Debug, Default)]
struct Parsed {
    known: Profiles,
    others: Map<String, Value>,
}

fn parse(text: &str) -> std::result::Result<Parsed, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
    let Some(Value::Object(agents)) = value.get("executors") else {
        return Err("`executors` must be an object, with a key for each agent".to_string());
    };
    let mut parsed = Parsed::default();
    for (key, variants) in agents {
        let name = ProfileId::new(key, None).map_err(|error| format!("`executors`: {error}"))?.agent;
        if forge_agents::agent(&name).is_none() {
            parsed.others.insert(key.clone(), variants.clone());
            continue;
        }
        let at = format!("executors.{key}");
        let Value::Object(variants) = variants else {
            return Err(format!("`{at}` must be an object, with a key for each variant"));
        };
        let known = parsed.known.entry(name.clone()).or_default();
        for (variant, value) in variants {
            let (variant, settings) = parse_variant(&name, variant, value, &at)?;
            if known.insert(variant.clone(), settings).is_some() {
                return Err(format!("`{at}` has the variant {variant} twice"));
            }
        }
    }
    Ok(parsed)
}

/// Reads `{"PLAN": {"CLAUDE_CODE": {…}}}` below an agent.
fn parse_variant(
    agent: &str,
    key: &str,
    value: &Value,
    at: &str,
) -> std::result::Result<(String, Settings), String> {
    if key.starts_with("__") {
        return Err(format!("`{at}.{key}` must not begin with two underscores"));
    }
    let name = ProfileId::new(agent, Some(key).filter(|key| !key.trim().is_empty()));
    let name = name.map_err(|_| format!("`{at}` has a variant {key:?}; a name looks like PLAN"))?;
    let variant = name.variant.unwrap_or_else(|| DEFAULT.to_string());
    let settings = value.as_object().filter(|inner| inner.len() == 1).and_then(|inner| inner.iter().next());
    let settings = settings.filter(|(inner, _)| {
        ProfileId::new(inner, None).is_ok_and(|inner| inner.agent == agent && inner.variant.is_none())
    });
    let Some((_, Value::Object(settings))) = settings else {
        return Err(format!("`{at}.{key}` must be an object with one key, {agent}, that holds its settings"));
    };
    forge_agents::check_settings(agent, settings)
        .map_err(|(name, wanted)| format!("`{at}.{key}.{agent}.{name}` must be {wanted}"))?;
    let mut settings = settings.clone();
    settings.entry("append_prompt").or_insert(Value::Null);
    Ok((variant, settings))
}

fn laid_over(mut below: Profiles, above: Profiles) -> Profiles {
    for (agent, variants) in above {
        below.entry(agent).or_default().extend(variants);
    }
    below
}

/// Returns the variants that are new or differ from the built-in ones.
fn changes(mut new: Profiles, built_in: &Profiles) -> Profiles {
    for (agent, variants) in &mut new {
        let known = built_in.get(agent);
        variants.retain(|variant, settings| known.and_then(|known| known.get(variant)) != Some(settings));
    }
    new.retain(|_, variants| !variants.is_empty());
    new
}

fn check_complete(new: &Profiles, built_in: &Profiles) -> Result<()> {
    for (agent, variants) in built_in {
        let Some(given) = new.get(agent) else {
            return Err(Error::invalid(format!("{agent} is built in and cannot be removed")));
        };
        if let Some(missing) = variants.keys().find(|variant| !given.contains_key(*variant)) {
            return Err(Error::invalid(format!(
                "the variant {missing} of {agent} is built in and cannot be removed"
            )));
        }
    }
    Ok(())
}

/// Puts the stored values of environments where the mask stands for them.
fn unmask(new: &mut Profiles, stored: &Profiles) -> Result<()> {
    for (agent, variants) in new {
        for (variant, settings) in variants {
            let known = stored.get(agent).and_then(|variants| variants.get(variant));
            let Some(Value::Object(env)) = settings.get_mut("env") else { continue };
            for (name, value) in env.iter_mut().filter(|(_, value)| *value == MASK) {
                let known = known.and_then(|settings| settings.get("env")?.get(name));
                *value = known.cloned().ok_or_else(|| {
                    Error::invalid(format!(
                        "`executors.{agent}.{variant}.{agent}.env.{name}` is {MASK}, which stands for a stored \
                         value, and none is stored; give the value itself"
                    ))
                })?;
            }
        }
    }
    Ok(())
}

fn mask(settings: &mut Settings) {
    for value in variables(settings) {
        *value = MASK.into();
    }
}

fn variables(settings: &mut Settings) -> impl Iterator<Item = &mut Value> {
    settings.get_mut("env").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
}

/// Writes profiles in the shape that clients know, where the agent's name is repeated inside each variant.
fn encode(profiles: Profiles, mut others: Map<String, Value>) -> Map<String, Value> {
    for (agent, variants) in profiles {
        let encoded =
            variants.into_iter().map(|(name, settings)| (name, json!({ agent.as_str(): settings })));
        let encoded: Map<String, Value> = encoded.collect();
        others.insert(agent, Value::Object(encoded));
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_comes_with_a_default_variant_and_none_without_an_agent() {
        let parsed = parse(BUILT_IN).unwrap();
        assert!(parsed.others.is_empty(), "{:?}", parsed.others);
        for agent in forge_agents::AGENTS {
            assert!(parsed.known[agent.name()].contains_key(DEFAULT), "{}", agent.name());
        }
    }

    #[test]
    fn a_text_that_is_no_profiles_is_refused_with_its_place() {
        let cases = [
            ("{", "it is not JSON"),
            ("[]", "`executors` must be an object"),
            (r#"{"executors": {"CLAUDE_CODE": 1}}"#, "`executors.CLAUDE_CODE` must be an object"),
            (r#"{"executors": {"CLAUDE_CODE": {"PLAN": {}}}}"#, "`executors.CLAUDE_CODE.PLAN` must be"),
            (r#"{"executors": {"CLAUDE_CODE": {"PLAN": {"AMP": {}}}}}"#, "with one key, CLAUDE_CODE"),
            (r#"{"executors": {"CLAUDE_CODE": {"__X": {"CLAUDE_CODE": {}}}}}"#, "two underscores"),
            (r#"{"executors": {"CLAUDE_CODE": {"a b": {"CLAUDE_CODE": {}}}}}"#, "a name looks like PLAN"),
            (
                r#"{"executors": {"CLAUDE_CODE": {"PLAN": {"CLAUDE_CODE": {"plan": 1}}}}}"#,
                "`executors.CLAUDE_CODE.PLAN.CLAUDE_CODE.plan` must be true, false or null",
            ),
            (
                r#"{"executors": {"SCRIPTED": {"GENIE": {"SCRIPTED": {}}, "default": {"SCRIPTED": {}}}}}"#,
                "the variant GENIE twice",
            ),
        ];
        for (text, told) in cases {
            let error = parse(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn only_what_differs_is_written_and_other_agents_are_kept() {
        let built_in = built_in().unwrap();
        assert!(changes(built_in.clone(), &built_in).is_empty());
        let text = r#"{"executors": {"LATER": {"GENIE": 1}, "SCRIPTED": {"LOUD": {"SCRIPTED": {}}}}}"#;
        let parsed = parse(text).unwrap();
        let all = laid_over(built_in.clone(), parsed.known);
        assert!(all["SCRIPTED"].contains_key("GENIE") && all["SCRIPTED"].contains_key("LOUD"));
        let written = Value::Object(encode(changes(all, &built_in), parsed.others));
        let expected =
            json!({"LATER": {"GENIE": 1}, "SCRIPTED": {"LOUD": {"SCRIPTED": {"append_prompt": null}}}});
        assert_eq!(written, expected);
    }
}
