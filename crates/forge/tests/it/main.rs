//! The forge binary, run as a person or the engine runs it.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod asks;
#[cfg(test)]
mod attempts;
#[cfg(test)]
mod autostart;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod bad_git;
#[cfg(test)]
mod copies;
// The client of the map streams, with its connection, is the one that the server's own tests use.
#[cfg(test)]
#[path = "../../../server/tests/it/board.rs"]
mod board;
#[cfg(test)]
mod cleaning;
#[cfg(test)]
mod descriptors;
mod diffs;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod every_route;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod genie_commands;
#[cfg(test)]
mod importing;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod lfs;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod linking;
#[cfg(test)]
mod map_streams;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod migrating;
#[cfg(test)]
mod never_loses;
#[cfg(test)]
mod nouns;
#[cfg(test)]
mod one_line;
mod outward;
#[cfg(test)]
#[path = "../../../server/tests/it/patient.rs"]
mod patient;
#[cfg(test)]
mod recorder;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod sick;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod top;
#[cfg(test)]
mod travel;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod world;
