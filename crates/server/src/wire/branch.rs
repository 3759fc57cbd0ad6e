//! A branch on the wire.

use forge_engine::Branch;
use forge_model::Time;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GitBranch {
    name: String,
    is_current: bool,
    is_remote: bool,
    last_commit_date: Time,
}

impl From<Branch> for GitBranch {
    fn from(branch: Branch) -> Self {
        Self {
            name: branch.name,
            is_current: branch.is_current,
            is_remote: branch.is_remote,
            last_commit_date: branch.last_commit,
        }
    }
}
