//! The MCP servers in an agent's own settings.

use axum::extract::State;

use crate::api::{Api, need, op};
use crate::decode::{Fields, Query, names};
use crate::envelope::{Envelope, Reply};
use crate::state::App;
use crate::wire::{self, GetMcpServerResponse, mcp_not_saved, mcp_not_shown};

pub(super) fn api() -> Api {
    Api::new()
        .get(
            "/api/mcp-config",
            show,
            op("getMcpConfig", "Returns the MCP servers of an agent, and some to choose from.")
                .query(need(names::MCP_EXECUTOR))
                .gives::<GetMcpServerResponse>()
                .refuses_with_200(),
        )
        .post(
            "/api/mcp-config",
            replace,
            op("updateMcpConfig", "Replaces the MCP servers in an agent's own settings file.")
                .query(need(names::MCP_EXECUTOR))
                .takes(wire::UPDATE_MCP_SERVERS)
                .gives::<String>()
                .refuses_with_200(),
        )
}

async fn show(State(app): State<App>, query: Query) -> Reply<GetMcpServerResponse> {
    let agent = query.required("executor")?;
    Ok(Envelope(app.engine.mcp_servers(&agent).await.map_err(mcp_not_shown)?.into()))
}

async fn replace(State(app): State<App>, query: Query, fields: Fields) -> Reply<String> {
    let agent = query.required("executor")?;
    let servers = fields.object(names::SERVERS)?.into_map();
    let change = app.engine.replace_mcp_servers(&agent, servers).await.map_err(mcp_not_saved)?;
    Ok(Envelope(wire::mcp_summary(change)))
}
