//! Opening a project or a worktree in the person's editor: on this machine as a process that outlives nobody's
//! request, or by an address that an editor elsewhere follows over SSH.
//!
//! Which program that is, the person's settings say; a request chooses among known editors and never names a
//! program. No shell is involved.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use forge_model::{AttemptId, ProjectId};
use serde_json::{Map, Value};

use crate::background::blocking;
use crate::{Engine, Error, Result};

/// What to open, and in what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenEditor {
    /// An editor as the settings call it; none means the one of the settings.
    pub editor: Option<String>,
    /// A file beneath the directory that is opened.
    pub file: Option<PathBuf>,
    /// A line of that file, from 1.
    pub line: Option<u32>,
}

/// The editors by the names that settings know, with the program and the scheme of addresses of each.
const EDITORS: &[Editor] = &[
    Editor { name: "VS_CODE", program: "code", scheme: Some("vscode") },
    Editor { name: "CURSOR", program: "cursor", scheme: Some("cursor") },
    Editor { name: "WINDSURF", program: "windsurf", scheme: Some("windsurf") },
    Editor { name: "INTELLI_J", program: "idea", scheme: None },
    Editor { name: "ZED", program: "zed", scheme: Some("zed") },
    Editor { name: "XCODE", program: "xed", scheme: None },
];

/// The editor whose command the person wrote.
const CUSTOM: &str = "CUSTOM";

#[derive(Debug, Clone, Copy)]
struct Editor {
    name: &'static str,
    program: &'static str,
    scheme: Option<&'static str>,
}

/// The settings that say how an editor is opened.
#[derive(Debug, Default)]
struct Settings {
    editor: String,
    command: Option<String>,
    host: Option<String>,
    user: Option<String>,
}

/// What is opened: a directory, and maybe a file in it.
#[derive(Debug)]
struct Target {
    directory: PathBuf,
    file: Option<PathBuf>,
    line: Option<u32>,
}

impl Engine {
    /// Opens a project in an editor. Returns an address when the editor is elsewhere, and none when it was started.
    pub async fn open_project(&self, id: ProjectId, open: OpenEditor) -> Result<Option<String>> {
        let project = self.project(id).await?;
        self.open_directory(project.path, open).await
    }

    /// Opens an attempt's worktree in an editor, as `open_project` does.
    pub async fn open_attempt(&self, id: AttemptId, open: OpenEditor) -> Result<Option<String>> {
        let worktree = self.ensure_worktree(id).await?;
        self.open_directory(worktree, open).await
    }

    async fn open_directory(&self, directory: PathBuf, open: OpenEditor) -> Result<Option<String>> {
        let engine = self.clone();
        blocking(move || {
            let settings = Settings::read(&engine.stored_config()?);
            let name = open.editor.as_deref().unwrap_or(&settings.editor).to_uppercase();
            let target = Target::find(&directory, open)?;
            let editor = EDITORS.iter().find(|editor| editor.name == name);
            match (editor, &settings.host) {
                (Some(editor), Some(host)) => settings.address(editor, host, &target).map(Some),
                (Some(editor), None) => {
                    start(&[editor.program.to_string()], &target.args(editor), &directory)
                }
                // What the person wrote may reach another machine by itself.
                (None, _) if name == CUSTOM => start(&settings.words()?, &target.plain(), &directory),
                (None, _) => Err(unknown(&name)),
            }
        })
        .await?
    }
}

fn unknown(name: &str) -> Error {
    let known: Vec<_> = EDITORS.iter().map(|editor| editor.name).chain([CUSTOM]).collect();
    Error::invalid(format!("`editor_type` must be one of {}; {name:?} is none", known.join(", ")))
}

impl Settings {
    fn read(config: &Map<String, Value>) -> Self {
        let section = config.get("editor");
        let text = |key: &str| {
            let text = section.and_then(|section| section.get(key)).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_string)
        };
        Self {
            editor: text("editor_type").unwrap_or_default(),
            command: text("custom_command"),
            host: text("remote_ssh_host"),
            user: text("remote_ssh_user"),
        }
    }

    /// Parts the person's own command into words.
    fn words(&self) -> Result<Vec<String>> {
        let Some(command) = &self.command else {
            return Err(Error::invalid(
                "the editor is CUSTOM and the setting `editor.custom_command` is empty; write the command there",
            ));
        };
        shlex::split(command).filter(|words| !words.is_empty()).ok_or_else(|| {
            Error::invalid(format!(
                "the setting `editor.custom_command` cannot be parted into words: {command:?}; is a quote missing?"
            ))
        })
    }

    /// Writes the address by which an editor on the person's machine opens something on this one.
    fn address(&self, editor: &Editor, host: &str, target: &Target) -> Result<String> {
        let Some(scheme) = editor.scheme else {
            return Err(Error::invalid(format!(
                "{} cannot be opened over SSH by an address; choose another `editor_type`, or empty the setting \
                 `editor.remote_ssh_host` to open it on the server's machine",
                editor.name
            )));
        };
        let host = match &self.user {
            Some(user) => format!("{}@{}", escaped(user), escaped(host)),
            None => escaped(host),
        };
        let opened = target.file.as_deref().unwrap_or(&target.directory);
        let path = escaped(&opened.to_string_lossy());
        // Without a line, such an address is taken for a directory's.
        let place =
            target.file.as_ref().map(|_| format!(":{}:1", target.line.unwrap_or(1))).unwrap_or_default();
        Ok(match scheme {
            "zed" => format!("zed://ssh/{host}{path}{place}"),
            scheme => format!("{scheme}://vscode-remote/ssh-remote+{host}{path}{place}"),
        })
    }
}

impl Target {
    fn find(directory: &Path, open: OpenEditor) -> Result<Self> {
        let file = open.file.map(|file| beneath(directory, &file)).transpose()?;
        Ok(Self { directory: directory.to_path_buf(), line: open.line.filter(|_| file.is_some()), file })
    }

    /// The arguments in the words of an editor.
    fn args(&self, editor: &Editor) -> Vec<OsString> {
        let Some(file) = &self.file else { return vec![self.directory.clone().into()] };
        let at_line = |line: u32| {
            let mut text = file.clone().into_os_string();
            text.push(format!(":{line}"));
            text
        };
        match (editor.program, self.line) {
            ("idea" | "xed", Some(line)) => vec!["--line".into(), line.to_string().into(), file.into()],
            ("idea" | "xed", None) => vec![file.into()],
            ("zed", Some(line)) => vec![self.directory.clone().into(), at_line(line)],
            (_, Some(line)) => vec![self.directory.clone().into(), "--goto".into(), at_line(line)],
            (_, None) => vec![self.directory.clone().into(), file.into()],
        }
    }

    /// The one argument that every program understands.
    fn plain(&self) -> Vec<OsString> {
        vec![self.file.as_ref().unwrap_or(&self.directory).into()]
    }
}

/// Finds a file that must lie beneath a directory, also when links are followed. It may not be there yet.
fn beneath(directory: &Path, file: &Path) -> Result<PathBuf> {
    let refuse = || {
        Error::invalid(format!(
            "`file_path` must stay beneath {}; {} does not",
            directory.display(),
            file.display()
        ))
    };
    let top = directory.canonicalize().map_err(crate::error::io_error("open", directory))?;
    let path = directory.join(file);
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(refuse());
    }
    // Of what is not there, the nearest directory that is there must lie beneath; a link to nowhere is there.
    let near = path.ancestors().find(|near| near.symlink_metadata().is_ok()).ok_or_else(refuse)?;
    let real = near.canonicalize().map_err(|_| refuse())?;
    if !real.starts_with(&top) {
        return Err(refuse());
    }
    Ok(match path.strip_prefix(near) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    })
}

/// Returns where a program is, by the absolute directories of the PATH; a name that is not there
/// leads nowhere and fails to start. A path that is relative is taken from where the server stands.
fn found(program: &str) -> PathBuf {
    if program.contains('/') {
        return std::path::absolute(program).unwrap_or_else(|_| program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    let candidates = directories.map(|directory| directory.join(program));
    let nowhere = PathBuf::from("/nonexistent").join(program);
    candidates.into_iter().find(|candidate| candidate.is_file()).unwrap_or(nowhere)
}

/// Starts an editor and leaves it alone. It hears nothing that is meant for the server, and does not end with it.
fn start(words: &[String], args: &[OsString], directory: &Path) -> Result<Option<String>> {
    let Some((program, first)) = words.split_first() else { return Ok(None) };
    // Looked up before the worktree is entered: what an agent left there is never taken for an editor.
    let mut command = Command::new(found(program));
    command.args(first).args(args).current_dir(directory).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FORGE_") {
            command.env_remove(name);
        }
    }
    let mut child = command.spawn().map_err(|error| {
        Error::invalid(format!(
            "Failed to open editor: `{program}` cannot be started: {error}; install it, or choose another editor \
             with the settings `editor.editor_type` and `editor.custom_command`"
        ))
        .with_code("editor_not_started")
    })?;
    forge_process::give_back_descriptors(&child);
    let program = program.clone();
    // Somebody has to take its exit code; when this thread cannot be had, only that is missing.
    let waiting = std::thread::Builder::new().name("editor".into()).spawn(move || match child.wait() {
        Ok(status) if !status.success() => tracing::warn!("the editor `{program}` ended with {status}"),
        _ => {}
    });
    if let Err(error) = waiting {
        tracing::warn!("nobody waits for the editor: {error}");
    }
    Ok(None)
}

/// Escapes what would mean something else in an address; slashes stay.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(file: Option<&str>, line: Option<u32>) -> Target {
        Target { directory: "/w/a b".into(), file: file.map(Into::into), line }
    }

    #[test]
    fn an_address_names_the_person_the_machine_and_the_place() {
        let settings = Settings { user: Some("ada".into()), ..Settings::default() };
        let address = |name: &str, target: &Target| {
            let editor = EDITORS.iter().find(|editor| editor.name == name).unwrap();
            settings.address(editor, "box.example", target)
        };
        let directory = address("VS_CODE", &target(None, None)).unwrap();
        assert_eq!(directory, "vscode://vscode-remote/ssh-remote+ada@box.example/w/a%20b");
        let file = address("CURSOR", &target(Some("/w/a b/x#?.rs"), Some(7))).unwrap();
        assert_eq!(file, "cursor://vscode-remote/ssh-remote+ada@box.example/w/a%20b/x%23%3F.rs:7:1");
        assert_eq!(address("ZED", &target(None, None)).unwrap(), "zed://ssh/ada@box.example/w/a%20b");
        let refused = address("XCODE", &target(None, None)).unwrap_err().to_string();
        assert!(refused.contains("editor.remote_ssh_host"), "{refused}");
    }

    #[test]
    fn each_editor_is_told_a_line_in_its_own_words() {
        let args = |name: &str| {
            let editor = EDITORS.iter().find(|editor| editor.name == name).unwrap();
            target(Some("/w/a b/x"), Some(7)).args(editor)
        };
        assert_eq!(args("VS_CODE"), ["/w/a b", "--goto", "/w/a b/x:7"]);
        assert_eq!(args("INTELLI_J"), ["--line", "7", "/w/a b/x"]);
        assert_eq!(args("ZED"), ["/w/a b", "/w/a b/x:7"]);
    }
}
