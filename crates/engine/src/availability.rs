//! Which agents are here: what their default profile would run, in which version, and whether somebody has logged
//! in. Nothing is started to find out, so that this is what files and variables show and no promise.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use forge_agents::{AGENTS, About, Agent, Login, Program, Turn};
use forge_model::{AttemptId, ProfileId, ProjectId};
use serde_json::Value;

use crate::background::blocking;
use crate::{Engine, Error, Result, launch};

/// A `package.json` that is larger is no agent's.
const LARGEST: u64 = 1 << 20;

/// What is known of an agent on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Availability {
    /// The agent's name in upper case.
    pub agent: &'static str,
    pub title: &'static str,
    pub found: Found,
    /// Where it is told without running the program.
    pub version: Option<String>,
    pub login: LoggedIn,
    /// It was played against the real program when Forge was made; otherwise only against what its documentation
    /// shows.
    pub tried: bool,
    /// The command that installs it.
    pub install: &'static str,
    /// The command that logs in to it, where there is one.
    pub log_in: Option<&'static str>,
}

/// What an agent's default profile would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Forge itself.
    BuiltIn,
    /// This program.
    Program(PathBuf),
    /// A pinned package that this program fetches when it is needed.
    Fetched(PathBuf),
    /// Nothing: its program is not there.
    Missing,
    /// Nothing: the profile must name a command, and does not.
    Unnamed,
}

/// Whether somebody has logged in to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedIn {
    /// This variable or file shows it.
    Yes(String),
    /// Nothing of what would show it is there.
    No,
    /// There is nothing to log in to, or no way to see it.
    Unknown,
}

impl Availability {
    /// Says whether a start would find something to run.
    pub fn is_installed(&self) -> bool {
        matches!(self.found, Found::BuiltIn | Found::Program(_) | Found::Fetched(_))
    }

    /// Says what a person can do about an agent that is not ready.
    pub fn remedy(&self) -> Option<String> {
        match (&self.found, &self.login) {
            (Found::Missing, _) => Some(format!("install it: {}", self.install)),
            (Found::Unnamed, _) => Some("name a command in its profile".to_string()),
            (_, LoggedIn::No) => self.log_in.map(|command| format!("log in: {command}")),
            _ => None,
        }
    }
}

/// The surroundings in which agents are looked for.
struct Place<'a> {
    home: Option<&'a Path>,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Engine {
    /// Returns what is known of every agent on this machine, in the order of their names.
    pub async fn availability(&self) -> Result<Vec<Availability>> {
        let mut settings = Vec::new();
        for agent in AGENTS {
            // Profiles that cannot be read are told where they are used; here the agent's own command counts.
            let profile =
                ProfileId::new(agent.name(), None).map_err(|error| Error::internal(error.to_string()))?;
            settings.push(self.settings(&profile, None).await.unwrap_or_default());
        }
        let home = self.inner.user_home.clone();
        blocking(move || {
            let variables = variables();
            let place =
                Place { home: home.as_deref(), variable: &|name| variables.get(OsStr::new(name)).cloned() };
            let known = AGENTS.iter().zip(settings).map(|(agent, settings)| look(*agent, settings, &place));
            let mut known: Vec<_> = known.collect();
            known.sort_by_key(|known| known.agent);
            known
        })
        .await
    }

    /// Says whether the agent of a profile can be used for an attempt, or refuses with what a person must do first.
    /// Nothing is installed here: what an installer does to a machine is its owner's to decide.
    pub async fn check_setup(&self, attempt: AttemptId, profile: &ProfileId) -> Result<()> {
        let project = self.attempt(attempt).await?.attempt.project;
        let known = self.availability_of(profile, project).await?;
        match known.remedy() {
            None => Ok(()),
            Some(remedy) => {
                let title = known.title;
                Err(Error::invalid(format!("{title} is not ready; {remedy}")).with_code("setup_required"))
            }
        }
    }

    async fn availability_of(&self, profile: &ProfileId, project: ProjectId) -> Result<Availability> {
        let agent = launch::agent(profile)?;
        let (settings, home) = (self.settings(profile, Some(project)).await?, self.inner.user_home.clone());
        blocking(move || {
            let variables = variables();
            let place =
                Place { home: home.as_deref(), variable: &|name| variables.get(OsStr::new(name)).cloned() };
            look(agent, settings, &place)
        })
        .await
    }
}

/// Looks for every agent as it is called without profiles, in the order of their names.
pub(crate) fn here(home: Option<&Path>) -> Vec<Availability> {
    let variables = variables();
    let place = Place { home, variable: &|name| variables.get(OsStr::new(name)).cloned() };
    let mut known: Vec<_> = AGENTS.iter().map(|agent| look(*agent, Value::default(), &place)).collect();
    known.sort_by_key(|known| known.agent);
    known
}

fn variables() -> HashMap<OsString, OsString> {
    std::env::vars_os().collect()
}

fn look(agent: &dyn Agent, settings: Value, place: &Place<'_>) -> Availability {
    let about = agent.about();
    let turn = Turn { settings, ..Turn::default() };
    let command = agent.command(&turn);
    let path = command.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| OsString::from(path));
    let path = path.or_else(|| (place.variable)("PATH")).unwrap_or_default();
    let (found, version) = match &command.program {
        Program::Forge => (Found::BuiltIn, Some(env!("CARGO_PKG_VERSION").to_string())),
        Program::Unnamed { .. } => (Found::Unnamed, None),
        Program::Named { name, .. } => program(name, &path),
        Program::Given { argv } => {
            let first = argv.first().map_or("", String::as_str);
            match (program(first, &path), about.npx.filter(|package| argv.iter().any(|word| word == package)))
            {
                ((Found::Program(npx), _), Some(package)) => {
                    (Found::Fetched(npx), package.rsplit_once('@').map(|(_, version)| version.to_string()))
                }
                (found, _) => found,
            }
        }
    };
    Availability {
        agent: agent.name(),
        title: about.title,
        found,
        version,
        login: logged_in(&about, &command.env, place),
        tried: about.tried,
        install: about.install,
        log_in: agent.log_in(),
    }
}

/// Finds a program by name or path, and its version.
fn program(name: &str, path: &OsStr) -> (Found, Option<String>) {
    let found = match name.contains('/') {
        true => Some(PathBuf::from(name)).filter(|file| launch::is_program(file)),
        false => launch::find_program(name, path),
    };
    match found {
        Some(file) => {
            let version = version(&file);
            (Found::Program(file), version)
        }
        None => (Found::Missing, None),
    }
}

/// Reads the version of a program from the npm package it lies in, or from the directory of versions.
fn version(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let real = file.canonicalize().ok()?;
    let mut components = real.components().filter_map(|part| part.as_os_str().to_str());
    if components.any(|part| part == "versions")
        && let Some(version) = components.next().filter(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    {
        return Some(version.to_string());
    }
    // A package's programs lie at most a few directories below it; what names another program is not its package.
    real.ancestors().skip(1).take(4).find_map(|dir| {
        let file = dir.join("package.json");
        if file.metadata().ok()?.len() > LARGEST {
            return None;
        }
        let package: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        let own = package["name"].as_str().is_some_and(|own| own.rsplit('/').next() == Some(name));
        let has_it = match &package["bin"] {
            Value::String(_) => own,
            Value::Object(programs) => programs.contains_key(name),
            _ => false,
        };
        has_it.then(|| package["version"].as_str().map(str::to_string)).flatten()
    })
}

fn logged_in(about: &About, set: &[(String, String)], place: &Place<'_>) -> LoggedIn {
    if about.login.is_empty() {
        return LoggedIn::Unknown;
    }
    let variable = |name: &str| {
        let own = set.iter().find(|(known, _)| known == name).map(|(_, value)| OsString::from(value));
        own.or_else(|| (place.variable)(name)).filter(|value| !value.is_empty())
    };
    let below = |home: Option<PathBuf>, file: &str| {
        let file = home?.join(file);
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0).then(|| file.display().to_string())
    };
    let home = || variable("HOME").map(PathBuf::from).filter(|_| set.iter().any(|(name, _)| name == "HOME"));
    let shown = |login: &Login| match login {
        Login::Variable(name) => variable(name).map(|_| name.to_string()),
        Login::File(file) => below(home().or_else(|| place.home.map(Path::to_path_buf)), file),
        Login::FileBelow { variable: name, file } => below(variable(name).map(PathBuf::from), file),
    };
    about.login.iter().find_map(shown).map_or(LoggedIn::No, LoggedIn::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn make_program(file: &Path) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Looks at an agent on a machine that is a directory, with these variables.
    fn seen(dir: &Path, agent: &str, settings: Value, variables: &[(&str, &str)]) -> Availability {
        let path = dir.join("bin").display().to_string();
        let variable = |name: &str| match name {
            "PATH" => Some(OsString::from(&path)),
            name => {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            }
        };
        let place = Place { home: Some(dir), variable: &variable };
        look(forge_agents::agent(agent).unwrap(), settings, &place)
    }

    #[test]
    fn a_program_of_npm_tells_its_version_without_being_run() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("lib/node_modules/@anthropic-ai/claude-code");
        make_program(&package.join("bin/cli.js"));
        let about = json!({"name": "@anthropic-ai/claude-code", "version": "2.1.325", "bin": {"claude": "bin/cli.js"}});
        fs::write(package.join("package.json"), about.to_string()).unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        symlink(package.join("bin/cli.js"), dir.path().join("bin/claude")).unwrap();
        let seen = seen(dir.path(), "CLAUDE_CODE", Value::Null, &[]);
        assert_eq!(seen.found, Found::Program(dir.path().join("bin/claude")));
        assert_eq!(seen.version.as_deref(), Some("2.1.325"));
    }

    #[test]
    fn a_package_of_somebody_else_tells_no_version() {
        let dir = tempfile::tempdir().unwrap();
        make_program(&dir.path().join("bin/claude"));
        for about in [json!({"name": "mine", "version": "9"}), json!({"bin": {"mine": "x"}, "version": "9"})]
        {
            fs::write(dir.path().join("package.json"), about.to_string()).unwrap();
            let seen = seen(dir.path(), "CLAUDE_CODE", Value::Null, &[]);
            assert!(seen.is_installed() && seen.version.is_none(), "{seen:?}");
        }
        fs::write(dir.path().join("package.json"), "{damaged").unwrap();
        assert!(seen(dir.path(), "CLAUDE_CODE", Value::Null, &[]).version.is_none());
    }

    #[test]
    fn a_directory_of_versions_tells_the_version() {
        let dir = tempfile::tempdir().unwrap();
        make_program(&dir.path().join("share/versions/2025.11.06-8fe8a63/cursor-agent"));
        fs::create_dir(dir.path().join("bin")).unwrap();
        symlink("../share/versions/2025.11.06-8fe8a63/cursor-agent", dir.path().join("bin/cursor-agent"))
            .unwrap();
        let seen = seen(dir.path(), "CURSOR_AGENT", Value::Null, &[]);
        assert_eq!(seen.version.as_deref(), Some("2025.11.06-8fe8a63"));
    }

    #[test]
    fn a_missing_agent_comes_with_its_remedy_and_npx_stands_in_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let missing = seen(dir.path(), "AMP", Value::Null, &[]);
        assert_eq!((missing.found.clone(), missing.is_installed()), (Found::Missing, false));
        assert_eq!(missing.remedy().as_deref(), Some("install it: npm install -g @sourcegraph/amp"));
        let npx = json!({"install": "npx"});
        assert_eq!(seen(dir.path(), "AMP", npx.clone(), &[]).found, Found::Missing);
        make_program(&dir.path().join("bin/npx"));
        let fetched = seen(dir.path(), "AMP", npx, &[]);
        assert_eq!(fetched.found, Found::Fetched(dir.path().join("bin/npx")));
        assert!(fetched.version.is_some());
        assert_eq!(fetched.remedy().as_deref(), Some("log in: amp login"));
    }

    #[test]
    fn what_the_profile_runs_instead_is_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own/amp");
        let settings = json!({"base_command_override": [own, "--x"]});
        assert_eq!(seen(dir.path(), "AMP", settings.clone(), &[]).found, Found::Missing);
        make_program(&own);
        assert_eq!(seen(dir.path(), "AMP", settings, &[]).found, Found::Program(own));
        assert_eq!(seen(dir.path(), "COMMAND", Value::Null, &[]).found, Found::Unnamed);
        assert_eq!(seen(dir.path(), "SCRIPTED", Value::Null, &[]).found, Found::BuiltIn);
    }

    #[test]
    fn a_login_is_shown_by_a_variable_or_a_file_and_by_nothing_empty() {
        let dir = tempfile::tempdir().unwrap();
        let login =
            |settings: Value, variables: &[(&str, &str)]| seen(dir.path(), "AMP", settings, variables).login;
        assert_eq!(login(Value::Null, &[]), LoggedIn::No);
        assert_eq!(login(Value::Null, &[("AMP_API_KEY", "")]), LoggedIn::No);
        assert_eq!(login(Value::Null, &[("AMP_API_KEY", "k")]), LoggedIn::Yes("AMP_API_KEY".into()));
        assert_eq!(login(json!({"env": {"AMP_API_KEY": "k"}}), &[]), LoggedIn::Yes("AMP_API_KEY".into()));
        let file = dir.path().join(".local/share/amp/secrets.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        assert_eq!(login(Value::Null, &[]), LoggedIn::No);
        fs::write(&file, "{}").unwrap();
        assert_eq!(login(Value::Null, &[]), LoggedIn::Yes(file.display().to_string()));
        assert_eq!(login(json!({"env": {"HOME": "/nowhere"}}), &[]), LoggedIn::No);
        assert_eq!(seen(dir.path(), "SCRIPTED", Value::Null, &[]).login, LoggedIn::Unknown);
    }
}
