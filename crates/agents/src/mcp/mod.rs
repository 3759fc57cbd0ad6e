//! The MCP servers in agents' own settings files: where they stand, and how a text is changed so that only they
//! change. Nothing here opens a file: text in, text out.
//!
//! What a person has written around the servers stays as it is, comments and order included, and so does every
//! server that is not changed.

mod json;
mod known;
mod toml;

use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Where an agent keeps its MCP servers.
#[derive(Debug)]
pub struct McpFile {
    /// The agent's name in upper case.
    pub agent: &'static str,
    /// The directory below the person's home.
    pub dir: &'static str,
    /// The file's names: the first that is there, else the first.
    pub names: &'static [&'static str],
    /// The key the servers stand under.
    pub key: &'static str,
    pub is_toml: bool,
    /// What a new file holds besides the servers.
    schema: Option<&'static str>,
    shape: known::Shape,
}

const fn json_file(agent: &'static str, dir: &'static str, names: &'static [&'static str]) -> McpFile {
    let (key, shape) = ("mcpServers", known::Shape::Plain);
    McpFile { agent, dir, names, key, is_toml: false, schema: None, shape }
}

static FILES: &[McpFile] = &[
    McpFile { shape: known::Shape::Typed, ..json_file("CLAUDE_CODE", "", &[".claude.json"]) },
    McpFile { key: "amp.mcpServers", ..json_file("AMP", ".config/amp", &["settings.json"]) },
    McpFile { shape: known::Shape::HttpUrl, ..json_file("GEMINI", ".gemini", &["settings.json"]) },
    McpFile { key: "mcp_servers", is_toml: true, ..json_file("CODEX", ".codex", &["config.toml"]) },
    McpFile {
        key: "mcp",
        schema: Some("https://opencode.ai/config.json"),
        shape: known::Shape::OpenCode,
        ..json_file("OPENCODE", ".config/opencode", &["opencode.json", "opencode.jsonc"])
    },
    json_file("CURSOR_AGENT", ".cursor", &["mcp.json"]),
    McpFile { shape: known::Shape::HttpUrl, ..json_file("QWEN_CODE", ".qwen", &["settings.json"]) },
    McpFile { shape: known::Shape::Typed, ..json_file("DROID", ".factory", &["mcp.json"]) },
    McpFile { shape: known::Shape::Copilot, ..json_file("COPILOT", ".copilot", &["mcp-config.json"]) },
];

/// Finds the file of an agent by its name in upper case; none when it is not known to have one.
pub fn mcp_file(agent: &str) -> Option<&'static McpFile> {
    FILES.iter().find(|file| file.agent == agent)
}

impl McpFile {
    /// Returns the servers that a text names; the refusal says where the text is wrong.
    pub fn read(&self, text: &str) -> Result<Map<String, Value>, String> {
        Ok(self.split(text)?.1)
    }

    /// Returns the text with these servers in place of those there are, and nothing else changed.
    pub fn edit(&self, text: &str, servers: &Map<String, Value>) -> Result<String, String> {
        let (others, before) = self.split(text)?;
        if before == *servers {
            return Ok(text.to_string());
        }
        let (mark, bare) = without_mark(text);
        let edited = if self.is_toml {
            toml::edit(bare, self.key, servers)?
        } else if bare.trim().is_empty() {
            let mut whole = self.template();
            whole[self.key] = Value::Object(servers.clone());
            return Ok(format!("{mark}{whole:#}\n"));
        } else {
            json::edit(bare, self.key, servers)?
        };
        let edited = format!("{mark}{edited}");
        // A person's settings are at stake: a text that does not say what was meant is not written.
        match self.split(&edited) {
            Ok((kept, now)) if kept == others && now == *servers => Ok(edited),
            _ => Err(format!("`{}` could not be changed without changing something else", self.key)),
        }
    }

    /// Returns the smallest settings with room for servers.
    pub fn template(&self) -> Value {
        let mut template = Map::new();
        template.extend(self.schema.map(|schema| ("$schema".to_string(), Value::from(schema))));
        template.insert(self.key.to_string(), Value::Object(Map::new()));
        Value::Object(template)
    }

    /// Returns servers to choose from, as this agent writes them, and under `meta` what they are.
    pub fn preconfigured(&self) -> Value {
        known::servers(self.shape)
    }

    /// Parts a text into what is not about servers, and the servers.
    fn split(&self, text: &str) -> Result<(Object, Object), String> {
        let (_, text) = without_mark(text);
        let mut whole = if self.is_toml { toml::read(text)? } else { json::read(text)? };
        match whole.remove(self.key) {
            None | Some(Value::Null) => Ok((whole, Map::new())),
            Some(Value::Object(servers)) => Ok((whole, servers)),
            Some(_) => Err(format!("`{}` is there and holds no servers", self.key)),
        }
    }
}

/// Parts a text from the mark of its byte order, which some editors leave at its beginning.
fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}
