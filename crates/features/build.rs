//! Empty. Without a build script Cargo leaves build dependencies out, and their features with them.

fn main() {}
