//! From a run to a process: which agent, which program, which environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use forge_agents::{Agent, Program, Turn};
use forge_model::{ProfileId, ProjectId, Run, RunKind, with_absolute_images};
use forge_process::{Launcher, Spawned, Spec};
use serde_json::Value;

use crate::background::blocking;
use crate::desk::Desk;
use crate::error::whole;
use crate::fold::Fold;
use crate::store::attempts;
use crate::{Engine, Error, Result, guard, script};

/// Finds the agent of a profile.
pub(crate) fn agent(profile: &ProfileId) -> Result<&'static dyn Agent> {
    forge_agents::agent(&profile.agent).ok_or_else(|| {
        let known: Vec<_> = forge_agents::AGENTS.iter().map(|agent| agent.name()).collect();
        Error::invalid(format!("no agent is called {}; this Forge knows {}", profile.agent, known.join(", ")))
    })
}

/// What a run's process is made of.
#[derive(Debug, Default)]
struct Called {
    argv: Vec<String>,
    set: Vec<(String, String)>,
    unset: Vec<String>,
    /// What it is told first.
    inputs: Vec<String>,
    /// It is told nothing after that.
    close_input: bool,
}

/// Turns an error about a process into one of ours.
pub(crate) fn process_error(error: &forge_process::Error) -> Error {
    Error::internal(whole(error))
}

impl Engine {
    /// What an agent is told for a run.
    pub(crate) async fn turn(&self, run: &Run) -> Result<Turn> {
        let attempt = run.attempt;
        let view = self.inner.store.read(move |conn| attempts::one(conn, attempt)).await?;
        let (project, worktree) = view.map(|view| (view.attempt.project, view.attempt.worktree)).unzip();
        // A run that is there is looked after whatever became of its profile since. What its agent was told is in
        // the log already; only an `append_prompt` that changed meanwhile counts for what it is told from now on.
        let settings = self.settings(&run.profile, project).await.unwrap_or_default();
        let tools = self.forge_tools(run, &settings).unwrap_or_default();
        Ok(Turn { forge_tools: tools, ..turn_in(run, settings, &worktree.unwrap_or_default()) })
    }

    /// Starts the process of a run and returns when it is there, or says why it is not.
    pub(crate) async fn launch(
        &self,
        run: &Run,
        project: ProjectId,
        worktree: &Path,
        desk: &Desk,
    ) -> Result<Spawned> {
        self.may_change()?;
        let shim = self.shim().await?;
        let called = match run.kind {
            RunKind::Agent => self.called(run, project, worktree, &shim).await?,
            _ => Called { argv: script::command(&run.prompt, run.reason.as_deref()), ..Called::default() },
        };
        let mut env = self.surroundings(run, worktree, &called.set, &called.unset).await?;
        desk.lay_over(&mut env);
        let spec = Spec {
            argv: called.argv,
            env,
            cwd: worktree.to_path_buf(),
            run: run.id.to_string(),
            limit: None,
            // What an agent prints is its conversation; what a script prints is only for looking at.
            limit_stdout: run.kind != RunKind::Agent,
            segment_bytes: None,
            inputs: called.inputs,
            close_input: called.close_input,
        };
        let launcher = Launcher { program: shim, args: vec!["shim".to_string()] };
        let dir = self.inner.paths.run(run.id);
        let who = match run.kind {
            RunKind::Agent => run.profile.to_string(),
            kind => script::name(kind).to_string(),
        };
        blocking(move || forge_process::spawn(&launcher, &dir, &spec)).await?.map_err(|error| {
            let message = format!("{who} could not be started: {}", whole(&error));
            if error.is_missing_program() {
                Error::invalid(message).with_code("setup_required")
            } else {
                Error::unavailable(message)
            }
        })
    }

    /// How the agent of a run is called.
    async fn called(&self, run: &Run, project: ProjectId, worktree: &Path, shim: &Path) -> Result<Called> {
        let agent = agent(&run.profile)?;
        let settings = self.settings(&run.profile, Some(project)).await?;
        let tools = self.forge_tools(run, &settings).unwrap_or_default();
        let turn = Turn { forge_tools: tools, ..turn_in(run, settings, worktree) };
        let command = agent.command(&turn);
        // What the conversation begins with travels with the process: it is heard whatever becomes of us.
        let (_, first) = Fold::begin(agent.conversation(&turn));
        let path = search_path(&command.env);
        let mut argv = match command.program {
            Program::Forge => vec![text(shim)?],
            Program::Named { name, install } => vec![find(name, install, &path)?],
            Program::Given { argv } => argv,
            Program::Unnamed { setting } => return Err(unnamed(&run.profile, setting)),
        };
        argv.extend(command.args);
        let inputs = first.sends.into_iter().map(|(_, text)| text).collect();
        Ok(Called { argv, set: command.env, unset: command.unset, inputs, close_input: first.closes })
    }

    /// Says at once, before anything is made, whether an agent can be started at all.
    pub(crate) async fn check_agent(&self, profile: &ProfileId, project: ProjectId) -> Result<()> {
        let agent = agent(profile)?;
        let turn = Turn {
            variant: profile.variant.clone(),
            settings: self.settings(profile, Some(project)).await?,
            ..Turn::default()
        };
        if turn.settings.get("install").and_then(Value::as_str) == Some("npx") && agent.about().npx.is_none()
        {
            let (name, install) = (agent.name(), agent.about().install);
            return Err(Error::invalid(format!(
                "{name} has no package that npx could run; take `install` out of its profile, and install it with: \
                 {install}"
            )));
        }
        let command = agent.command(&turn);
        match command.program {
            Program::Named { name, install } => find(name, install, &search_path(&command.env)).map(drop),
            Program::Unnamed { setting } => Err(unnamed(profile, setting)),
            Program::Forge | Program::Given { .. } => Ok(()),
        }
    }

    /// The copy of the binary that shims run from, so that an upgrade never disturbs a running one.
    pub(crate) async fn shim(&self) -> Result<PathBuf> {
        let made = self.inner.shim.get_or_try_init(|| async {
            let bin = self.inner.paths.bin();
            let launcher = Launcher { program: self.inner.forge.clone(), args: vec!["shim".to_string()] };
            blocking(move || {
                let copy = forge_process::install_launcher(&launcher, &bin).map_err(|error| {
                    Error::unavailable(format!("the forge binary could not be copied: {}", whole(&error)))
                })?;
                guard::make_hooks(&copy)?;
                Ok(copy)
            })
            .await?
        });
        made.await.cloned()
    }
}

fn turn_in(run: &Run, settings: Value, worktree: &Path) -> Turn {
    let worktree = worktree.to_string_lossy().into_owned();
    let prompt = with_absolute_images(&run.prompt, &worktree);
    Turn {
        prompt: run.memo.as_ref().map_or(prompt.clone(), |memo| format!("{memo}\n\n{prompt}")),
        session: run.resumed_session.clone(),
        fork: run.forked,
        variant: run.profile.variant.clone(),
        settings,
        worktree,
        forge_tools: Vec::new(),
    }
}

/// Where the programs of a command are looked for: where its own environment says, else where ours does.
pub(crate) fn search_path(env: &[(String, String)]) -> OsString {
    let own = env.iter().rfind(|(name, _)| name == "PATH").map(|(_, path)| path.into());
    own.or_else(|| std::env::var_os("PATH")).unwrap_or_default()
}

/// Finds a program on the path.
pub(crate) fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|dir| dir.join(name)).find(|file| is_program(file))
}

/// Says whether a file can be run.
pub(crate) fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Finds a program on the path, or says how to install it.
pub(crate) fn find(name: &str, install: &str, path: &OsStr) -> Result<String> {
    let found = find_program(name, path).ok_or_else(|| {
        Error::invalid(format!("`{name}` is not installed or not on PATH; install it with: {install}"))
            .with_code("setup_required")
    })?;
    text(&found)
}

fn unnamed(profile: &ProfileId, setting: &str) -> Error {
    Error::invalid(format!(
        "{profile} does not say what to run; give the command as `{setting}` in its profile"
    ))
    .with_code("setup_required")
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_string).ok_or_else(|| {
        Error::invalid(format!("{} is not valid UTF-8; Forge needs a path that is", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_the_command_that_installs_it() {
        let error = find("no-such-agent", "npm install -g x", OsStr::new("/nowhere")).unwrap_err();
        assert_eq!(error.code(), Some("setup_required"));
        assert!(
            error.to_string().contains("`no-such-agent`") && error.to_string().contains("npm install -g x")
        );
    }

    #[test]
    fn an_unknown_agent_is_named_with_the_known_ones() {
        let profile = ProfileId::new("nobody", None).unwrap();
        let error = agent(&profile).err().unwrap().to_string();
        assert!(error.contains("NOBODY") && error.contains("SCRIPTED"), "{error}");
    }
}
