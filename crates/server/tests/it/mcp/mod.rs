//! MCP at `/mcp`, spoken as a client speaks it, over real connections.

mod agents;
mod client;
mod every_tool;
mod genie;
mod protocol;
mod resources;
mod same_rows;
mod sessions;
