//! Recorded conversations, folded again: the same lines must give the same steps, however they are cut.

#[cfg(test)]
mod acp;
#[cfg(test)]
mod claude;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod dice;
#[cfg(test)]
mod fold_version;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod headless;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mcp_properties;
#[cfg(test)]
mod played;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recording;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod scripted;
