//! The MCP servers of an agent on the wire, and what clients are told about a change of them.

use forge_engine::{Error, ErrorKind, McpChange, McpServers};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::{Body, need};
use crate::decode::names;
use crate::error::Problem;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GetMcpServerResponse {
    mcp_config: McpConfig,
    config_path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct McpConfig {
    servers: Map<String, Value>,
    servers_path: Vec<&'static str>,
    template: Value,
    preconfigured: Value,
    is_toml_config: bool,
}

pub(crate) const UPDATE_MCP_SERVERS: Body = Body::new("UpdateMcpServers", &[need(names::SERVERS)]);

impl From<McpServers> for GetMcpServerResponse {
    fn from(servers: McpServers) -> Self {
        Self {
            config_path: servers.path.to_string_lossy().into_owned(),
            mcp_config: McpConfig {
                servers: servers.servers,
                servers_path: servers.servers_path,
                template: servers.template,
                preconfigured: servers.preconfigured,
                is_toml_config: servers.is_toml,
            },
        }
    }
}

/// Tells what a change came to.
pub(crate) fn mcp_summary(change: McpChange) -> String {
    match (change.before, change.after) {
        (0, 0) => "No MCP servers configured".to_string(),
        (0, after) => format!("Added {after} MCP server(s)"),
        (before, after) if before == after => {
            format!("Updated MCP server configuration ({after} server(s))")
        }
        (before, after) => {
            format!("Updated MCP server configuration ({before} server(s) before, {after} now)")
        }
    }
}

/// Tells why servers are not shown. Clients look at 200 for an agent that has none.
pub(crate) fn mcp_not_shown(error: Error) -> Problem {
    match error.kind() {
        ErrorKind::Conflict => Problem::told_with_200(error),
        ErrorKind::Invalid => Problem::bad_request(format!("the query parameter `executor`: {error}")),
        _ => error.into(),
    }
}

/// Tells why servers were not kept. Clients look for this at 200.
pub(crate) fn mcp_not_saved(error: Error) -> Problem {
    match error.code() {
        Some("no_mcp") => {
            Problem::told_with_200(Error::conflict("This executor does not support MCP servers"))
        }
        Some("no_agent") => Problem::bad_request(format!("the query parameter `executor`: {error}")),
        _ => Problem::told_with_200(Error::invalid(format!("Failed to update MCP servers: {error}"))),
    }
}
