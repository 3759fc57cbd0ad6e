//! The server under test, as a process that can be killed and started again.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::api::Api;
use crate::wait::SOON;
use crate::world::World;

/// A server's process.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    started: Instant,
}

/// How waiting for a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Birth {
    /// It answers; this long after it was started.
    Healthy(Duration),
    /// It was killed before it answered.
    Killed,
}

impl Server {
    /// Starts a server; `seam` names places where it kills itself. It may not answer yet.
    pub(crate) fn start(world: &World, seam: Option<&str>) -> anyhow::Result<Self> {
        let path = world.server_log();
        let log = File::options().create(true).append(true).open(&path);
        let log = log.with_context(|| format!("could not open {}", path.display()))?;
        let mut command = world.command(&world.forge);
        command.args(["serve", "--port", &world.port.to_string()]).stdout(Stdio::null()).stderr(log);
        if let Some(seam) = seam {
            command.env("FORGE_SEAM", seam);
        }
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("could not run {}", world.forge.display()))?;
        Ok(Self { child, started })
    }

    /// Starts a server that must come to answer.
    pub(crate) fn start_healthy(world: &World) -> anyhow::Result<Self> {
        let mut server = Self::start(world, None)?;
        match server.until_healthy(&Api::new(world.port))? {
            Birth::Healthy(_) => Ok(server),
            Birth::Killed => bail!("the server was killed before it answered"),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server answers, or is found killed.
    pub(crate) fn until_healthy(&mut self, api: &Api) -> anyhow::Result<Birth> {
        loop {
            if api.get("/health").is_ok_and(|answer| answer.status == 200) {
                return Ok(Birth::Healthy(self.started.elapsed()));
            }
            let ended = self.child.try_wait().context("could not look at the server")?;
            if let Some(status) = ended {
                return was_killed(status).map(|()| Birth::Killed);
            }
            if self.started.elapsed() > SOON {
                bail!("the server did not answer within {} s", SOON.as_secs());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Says whether the server was killed. Any other end than that is an error.
    pub(crate) fn is_gone(&mut self) -> anyhow::Result<bool> {
        let ended = self.child.try_wait().context("could not look at the server")?;
        ended.map_or(Ok(false), |status| was_killed(status).map(|()| true))
    }

    /// Waits until the server has ended because it was told to.
    pub(crate) fn reap(mut self) -> anyhow::Result<()> {
        let status = self.child.wait().context("could not wait for the server")?;
        if !status.success() {
            bail!("the server did not end well: {status}");
        }
        Ok(())
    }

    /// Kills the server, as a power cut would.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().context("could not kill the server")?;
        was_killed(self.child.wait().context("could not wait for the server")?)
    }
}

fn was_killed(status: ExitStatus) -> anyhow::Result<()> {
    match status.signal() {
        Some(9) => Ok(()),
        _ => bail!("the server ended by itself: {status}"),
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Agents are the world's business; an error means that the server is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
