//! No code: `Cargo.toml` of this crate says why it exists.
