//! The forge binary, run as a person or the engine runs it.

#[cfg(test)]
mod attempts;
#[cfg(test)]
mod autostart;
#[cfg(test)]
mod bad_git;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod outward;
#[cfg(test)]
mod scripted;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod serving;
#[cfg(test)]
mod usage;
#[cfg(test)]
mod world;
