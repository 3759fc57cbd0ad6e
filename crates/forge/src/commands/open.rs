//! Opening something in an editor on the server's machine, with the options that say which and where.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::exit::{Exit, Result};
use crate::output::{Output, printable};
use crate::table::text;

/// Which editor, and what in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Editor {
    /// Open it in this one instead of the one in the settings
    #[arg(long, value_name = "EDITOR", value_enum)]
    editor: Option<Kind>,
    /// Open this file
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// At this line
    #[arg(long, requires = "file")]
    line: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    VsCode,
    Cursor,
    Windsurf,
    Intellij,
    Zed,
    Xcode,
    Custom,
}

impl Editor {
    /// Has the server open it. An editor that the server cannot start is told as a URL.
    pub(crate) fn open(&self, client: &Client, output: &Output, path: &str) -> Result<Exit> {
        let mut body = Map::new();
        if let Some(kind) = self.editor {
            let kind = match kind {
                Kind::VsCode => "VS_CODE",
                Kind::Cursor => "CURSOR",
                Kind::Windsurf => "WINDSURF",
                Kind::Intellij => "INTELLI_J",
                Kind::Zed => "ZED",
                Kind::Xcode => "XCODE",
                Kind::Custom => "CUSTOM",
            };
            body.insert("editor_type".into(), json!(kind));
        }
        if let Some(file) = &self.file {
            body.insert("file_path".into(), json!(file));
        }
        if let Some(line) = self.line {
            body.insert("line".into(), json!(line));
        }
        let answer = client.post(path, Some(&Value::Object(body)))?;
        match (output.json, text(&answer, "url")) {
            (true, _) => output.value(&answer)?,
            (false, "") => output.line("the editor opens on the server's machine")?,
            (false, url) => output.line(format_args!("open {}", printable(url)))?,
        }
        Ok(Exit::Ok)
    }
}
