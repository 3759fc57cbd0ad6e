//! The engine over real git, real processes and the scripted agent. A restart is a new engine on the same
//! data directory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop right there")]

mod asking;
mod bad_world;
mod browsing;
mod cleaning;
mod config;
mod crowd;
mod drafting;
mod editing;
mod following;
mod github;
mod images;
mod loose;
mod mcp_servers;
mod notices;
#[path = "../../../hosts/tests/it/played_github.rs"]
mod played_github;
mod project_settings;
mod removing;
mod restarting;
mod searching;
mod standing_agents;
mod starting;
mod stopping;
mod streams;
mod world;
