//! The forge binary, run as a person or the engine runs it.

#[cfg(test)]
mod scripted;
