//! The MCP servers in agents' own settings: shown, and replaced on the person's explicit wish.
//!
//! These files are the person's. Only the servers change in them; what was there before is kept beside the file; one
//! that makes no sense, or that somebody else has just changed, is left alone. Values are shown as they are, as
//! people edit them here and clients send all of them back; the mask of the settings, sent as a value, stands
//! for the stored one.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use forge_agents::{McpFile, mcp_file};
use forge_model::ProfileId;
use serde_json::{Map, Value};

use crate::background::blocking;
use crate::config::MASK;
use crate::error::io_error;
use crate::{Engine, Error, Result, launch};

/// Larger settings than anybody has.
const LARGEST: u64 = 64 << 20;

/// The MCP servers of an agent, and what is needed to edit them.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServers {
    pub servers: Map<String, Value>,
    /// The keys that lead to the servers in the file.
    pub servers_path: Vec<&'static str>,
    /// The smallest settings with room for servers.
    pub template: Value,
    /// Servers to choose from, with a `meta` about them.
    pub preconfigured: Value,
    pub is_toml: bool,
    /// The agent's file.
    pub path: PathBuf,
}

/// How many servers there were, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpChange {
    pub before: usize,
    pub after: usize,
}

impl Engine {
    /// Returns the MCP servers of an agent.
    pub async fn mcp_servers(&self, agent: &ProfileId) -> Result<McpServers> {
        let (file, path) = self.mcp_place(agent)?;
        blocking(move || {
            let text = read(&path)?.map(|known| known.text).unwrap_or_default();
            Ok(McpServers {
                servers: file.read(&text).map_err(|why| damaged(&path, &why))?,
                servers_path: vec![file.key],
                template: file.template(),
                preconfigured: file.preconfigured(),
                is_toml: file.is_toml,
                path,
            })
        })
        .await?
    }

    /// Replaces the MCP servers of an agent in its own settings.
    pub async fn replace_mcp_servers(
        &self,
        agent: &ProfileId,
        mut servers: Map<String, Value>,
    ) -> Result<McpChange> {
        let (file, path) = self.mcp_place(agent)?;
        let engine = self.clone();
        blocking(move || {
            let _turn = engine.inner.files.lock().unwrap_or_else(PoisonError::into_inner);
            let known = read(&path)?;
            let text = known.as_ref().map_or("", |known| known.text.as_str());
            let before = file.read(text).map_err(|why| damaged(&path, &why))?;
            unmask(&mut servers, &before, "servers")?;
            let change = McpChange { before: before.len(), after: servers.len() };
            let edited = file.edit(text, &servers).map_err(Error::invalid)?;
            if edited != text {
                write(&path, known.as_ref(), &edited)?;
            }
            Ok(change)
        })
        .await?
    }

    fn mcp_place(&self, agent: &ProfileId) -> Result<(&'static McpFile, PathBuf)> {
        let Some(file) = mcp_file(&agent.agent) else {
            launch::agent(agent).map_err(|error| error.with_code("no_agent"))?;
            return Err(Error::conflict("MCP not supported by this executor").with_code("no_mcp"));
        };
        let moved = self.inner.agent_dirs.get(file.agent).cloned();
        let home = || self.inner.user_home.as_ref().map(|home| home.join(file.dir));
        let dir = moved.or_else(home).ok_or_else(|| {
            Error::conflict("Could not determine config file path: the server runs without HOME")
        })?;
        let paths = || file.names.iter().map(|name| dir.join(name));
        let path = paths().find(|path| path.exists()).or_else(|| paths().next()).unwrap_or(dir.clone());
        Ok((file, path))
    }
}

/// A file as it was read.
struct Known {
    text: String,
    /// The file itself, past all links: people keep such files elsewhere and link to them.
    real: PathBuf,
    permissions: Permissions,
}

fn read(path: &Path) -> Result<Option<Known>> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if path.symlink_metadata().is_ok() {
                return Err(damaged(path, "it is a link that leads nowhere"));
            }
            return Ok(None);
        }
        Err(error) => return Err(io_error("open", path)(error)),
    };
    let meta = real.metadata().map_err(io_error("open", &real))?;
    if !meta.is_file() || meta.len() > LARGEST {
        return Err(damaged(path, "it is no file of settings"));
    }
    let text = fs::read(&real).map_err(io_error("read", &real))?;
    let text = String::from_utf8(text).map_err(|_| damaged(path, "it is not valid UTF-8"))?;
    Ok(Some(Known { text, real, permissions: meta.permissions() }))
}

/// Puts the new text in place, whole or not at all, with the old one beside it.
fn write(path: &Path, known: Option<&Known>, text: &str) -> Result<()> {
    let Some(known) = known else {
        let dir = path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io_error("create", dir))?;
        let draft = Draft::write(path, text, Permissions::from_mode(0o600))?;
        // A link fails where somebody else was first; a rename would replace what they wrote.
        return fs::hard_link(&draft.0, path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => changed(path),
            _ => io_error("write", path)(error),
        });
    };
    let backup = beside(&known.real, ".forge-backup");
    Draft::write(&backup, &known.text, known.permissions.clone())?.rename(&backup)?;
    let draft = Draft::write(&known.real, text, known.permissions.clone())?;
    let mut now = String::new();
    let same = File::open(&known.real).and_then(|mut file| file.read_to_string(&mut now));
    if same.is_err() || now != known.text {
        return Err(changed(path));
    }
    draft.rename(&known.real)
}

/// A file that is not in its place yet; it goes away with its owner.
struct Draft(PathBuf);

impl Draft {
    fn write(target: &Path, text: &str, permissions: Permissions) -> Result<Self> {
        let draft = Self(beside(target, &format!(".forge-draft-{}", std::process::id())));
        // A draft can only be left over from a server that died while it wrote it.
        let _ = fs::remove_file(&draft.0);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft.0)
            .and_then(|mut file| {
                file.set_permissions(permissions)?;
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .map_err(io_error("write", &draft.0))?;
        Ok(draft)
    }

    fn rename(self, target: &Path) -> Result<()> {
        fs::rename(&self.0, target).map_err(io_error("write", target))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing here any more.
        let _ = fs::remove_file(&self.0);
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ending);
    PathBuf::from(name)
}

/// Puts stored values where the mask stands for them.
fn unmask(new: &mut Map<String, Value>, stored: &Map<String, Value>, at: &str) -> Result<()> {
    for (key, value) in new {
        let (at, known) = (format!("{at}.{key}"), stored.get(key));
        match value {
            Value::String(text) if text == MASK => {
                *value = known.cloned().ok_or_else(|| {
                    Error::invalid(format!(
                        "`{at}` is {MASK}, which stands for a stored value, and none is stored; give the value itself"
                    ))
                })?;
            }
            Value::Object(inner) => {
                let nothing = Map::new();
                unmask(inner, known.and_then(Value::as_object).unwrap_or(&nothing), &at)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn damaged(path: &Path, why: &str) -> Error {
    Error::unavailable(format!("{} cannot be used: {why}; nothing was changed", path.display()))
}

fn changed(path: &Path) -> Error {
    Error::conflict(format!("{} was changed by somebody else just now; look at it again", path.display()))
}
