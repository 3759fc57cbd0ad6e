//! The tools, one file per family. A tool decodes, calls one verb, and encodes.

mod advanced;
mod asks;
mod attempts;
mod genie;
mod landing;
mod meant;
mod projects;
mod reading;
mod runs;
mod tasks;

use std::sync::OnceLock;

use super::tool::Tool;

/// Every tool, in the order in which they are listed.
pub(super) fn all() -> &'static [Tool] {
    static TOOLS: OnceLock<Vec<Tool>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let families = [
            projects::tools(),
            tasks::tools(),
            attempts::tools(),
            runs::tools(),
            reading::tools(),
            asks::tools(),
            genie::tools(),
            landing::tools(),
            advanced::tools(),
        ];
        families.into_iter().flatten().collect()
    })
}

/// Finds a tool by its name or by one that older clients know.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    let plain = name.strip_prefix("adv_");
    let is_it = |tool: &&Tool| {
        tool.name == name || (tool.is_advanced && plain.is_some_and(|plain| plain == tool.name))
    };
    all().iter().find(is_it)
}
