//! The server's peak memory while an agent prints one line of a gigabyte, and many have it open and do not read.

use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use tungstenite::{Message, WebSocket};

use super::memory::{megabytes, peak};
use super::{Row, Size, milliseconds, run_of, start_task, until_finished};
use crate::api::Api;
use crate::server::Server;
use crate::world::World;

const BYTES: u64 = 1 << 30;
const SOCKETS: usize = 50;
const MOST: u64 = 200 << 20;
/// How long the line may take to be printed and folded.
const PRINTED: Duration = Duration::from_secs(600);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let world = World::new(forge, 10)?;
    let server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    // What a shell prints and the scripted agent would not: the line has no end before its last byte.
    let (script, go) = (world.root().join("agent.sh"), world.root().join("go"));
    let printed = format!(
        "echo '{{\"scripted\":\"session\",\"id\":\"one\"}}'\nwhile ! test -e {}; do sleep 0.05; done\n\
         head -c {} /dev/zero | tr '\\0' x; echo\necho '{{\"scripted\":\"done\"}}'\ncat > /dev/null\n",
        go.display(),
        size.of(BYTES, 1 << 20)
    );
    std::fs::write(&script, printed).context("could not write the agent")?;
    let profile = json!({"SCRIPTED": {"base_command_override": ["sh", script]}});
    let profiles = json!({"executors": {"SCRIPTED": {"GENIE": profile}}}).to_string();
    std::fs::write(world.home().join("profiles.json"), profiles).context("could not write the profile")?;
    let attempt = start_task(&api, &project, "one line", "say it")?;
    let run = run_of(&api, &attempt)?;
    let idle = peak(server.pid())?;
    let paths = [
        (format!("/api/execution-processes/{run}/normalized-logs/ws"), Vec::new()),
        (format!("/api/execution-processes/{run}/raw-logs/ws"), Vec::new()),
        ("/api/live/ws".to_string(), vec![format!("entries:{run}"), format!("log:{run}")]),
    ];
    let sockets = size.of(SOCKETS, 6);
    let unread = (0..sockets).map(|number| {
        let (path, topics) = &paths[number % paths.len()];
        open(world.port, path, topics)
    });
    let unread = unread.collect::<anyhow::Result<Vec<_>>>()?;
    std::fs::write(&go, "").context("could not give the sign")?;
    until_finished(&api, &attempt, PRINTED)?;
    let begun = Instant::now();
    api.read(&format!("/api/task-attempts/{attempt}/entries"))?;
    let took = begun.elapsed();
    let most = peak(server.pid())?;
    drop(unread);
    Ok(vec![Row {
        what: "peak memory, one line of 1 GB, 50 sockets that do not read it",
        measured: format!("{} MB (its entries given in {})", most >> 20, milliseconds(took)),
        floor: format!("{} MB idle", idle >> 20),
        limit: format!("{} MB", MOST >> 20),
        figure: Some(megabytes(most)),
        ok: most <= MOST,
    }])
}

/// Opens a socket, subscribes to topics, and reads nothing.
fn open(port: u16, path: &str, topics: &[String]) -> anyhow::Result<WebSocket<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).context("could not connect")?;
    let url = format!("ws://127.0.0.1:{port}{path}");
    let (mut socket, _) =
        tungstenite::client(url, stream).map_err(|error| anyhow::anyhow!("{path}: {error}"))?;
    for topic in topics {
        let request = json!({"subscribe": {"topic": topic}}).to_string();
        socket.send(Message::text(request)).context("could not subscribe")?;
    }
    Ok(socket)
}
