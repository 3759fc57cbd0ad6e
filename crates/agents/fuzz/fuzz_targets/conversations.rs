//! Feeds the conversations of every agent with what the fuzzer finds. The recordings are good seeds:
//! `cargo +nightly fuzz run conversations fuzz/corpus tests/fixtures/claude` in `crates/agents`.

#![no_main]

#[path = "../../tests/it/fuzzed.rs"]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzed::play(bytes));
