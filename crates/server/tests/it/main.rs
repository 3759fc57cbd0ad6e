//! The server over real connections, with a real engine, real git and the scripted agent.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod access;
mod asks;
mod attempts;
mod bad_input;
mod board;
mod cards;
mod config;
mod contract;
mod defects;
#[path = "../../../hosts/tests/it/described.rs"]
mod described;
mod diffs;
mod drafts;
mod entries;
mod events;
mod execution_runs;
mod filesystem;
mod forge;
mod github;
mod images;
mod landing;
mod live;
mod map_streams;
mod matrix;
mod mcp;
mod mcp_config;
mod metrics;
mod older_clients;
mod openapi;
mod page;
mod patient;
#[path = "../../../hosts/tests/it/played_github.rs"]
mod played_github;
mod projects;
mod pull_requests;
mod raw_logs;
mod route_table;
mod rules;
mod schema;
mod scripts;
mod tags;
mod tasks;
mod travel;
mod whole_board;
mod world;
