//! The engine over real git, real processes and the scripted agent. A restart is a new engine on the same
//! data directory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop right there")]

mod acp;
mod any_command;
mod asking;
mod bad_world;
mod browsing;
mod cards;
mod cleaning;
mod clock;
mod config;
mod copied_files;
mod copies;
mod crowd;
mod database;
mod demo;
#[path = "../../../hosts/tests/it/described.rs"]
mod described;
mod dev_servers;
mod diffs;
mod drafting;
mod editing;
mod entries;
mod escapes;
mod filters;
mod following;
mod genie_agents;
mod github;
mod going_on;
mod guard;
mod images;
mod import_trouble;
mod importing;
mod in_place;
mod keeping;
mod killed;
mod landing;
mod limited;
mod limits;
mod local_github;
mod loose;
mod mcp_servers;
mod notices;
mod odd_files;
mod old_logs;
#[path = "../../../hosts/tests/it/played_github.rs"]
mod played_github;
mod pool;
mod project_settings;
mod pull_requests;
mod pulling;
mod pushing;
mod recovering;
mod remembering;
mod removing;
mod replacing;
mod restarting;
mod roots;
mod rules;
mod scripts;
mod searching;
#[path = "../../../git/tests/it/smart_http.rs"]
mod smart_http;
mod stalled;
mod standing_agents;
mod starting;
mod stopping;
mod streams;
mod stuck;
mod travelling;
mod trouble;
mod undoing;
mod usage;
mod world;
