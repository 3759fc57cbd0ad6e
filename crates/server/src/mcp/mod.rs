//! Forge as an MCP server at `/mcp`: the verbs of the routes as tools, and tasks, attempts, logs and diffs to read.
//!
//! Nothing is decided here that a route does not decide: a tool reads its arguments by the decoder's table, calls one
//! verb of the engine, and encodes. Only `sdk` knows the library that speaks the protocol, and nothing here calls
//! our own HTTP.

mod call;
mod door;
mod failure;
mod names;
mod prompts;
mod reach;
mod resources;
mod sdk;
mod tool;
mod tools;
mod transcript;

pub(crate) use door::enter;
pub(crate) use sdk::service;

/// Where it is served.
pub(crate) const PATH: &str = "/mcp";
