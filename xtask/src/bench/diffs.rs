//! The diff after one edit of a large tree, beside one `git status` with the cache of untracked files, in turns.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;
use tungstenite::{Message, WebSocket};

use super::{Row, Size, Times, figure, milliseconds, start_task, until_finished};
use crate::api::{Api, text};
use crate::server::Server;
use crate::wait::SOON;
use crate::world::World;

const SIZES: [(usize, &str); 2] = [
    (5_000, "diff after one edit p50, 5,000 files, without the gathering"),
    (50_000, "diff after one edit p50, 50,000 files, without the gathering"),
];
const IN_A_DIRECTORY: usize = 50;
const ROUNDS: usize = 15;
/// How long the server gathers changes before it looks; it is promised, and no part of the cost.
const GATHERING: Duration = Duration::from_millis(120);
/// After a look the server rests for as long again, so that steady work does not fill it. One edit comes in peace.
const PEACE: Duration = Duration::from_millis(700);

pub(super) fn measure(forge: &Path, size: Size) -> anyhow::Result<Vec<Row>> {
    let rounds = size.of(ROUNDS, 1);
    SIZES.into_iter().map(|(files, what)| row(forge, size.of(files, files / 50), rounds, what)).collect()
}

fn row(forge: &Path, files: usize, rounds: usize, what: &'static str) -> anyhow::Result<Row> {
    let world = World::new(forge, 10)?;
    fill(&world, files)?;
    let _server = Server::start_healthy(&world)?;
    let api = Api::keeping(world.port);
    let project = world.project(&api)?;
    let attempt = start_task(&api, &project, "diff", "say hello")?;
    let worktree = PathBuf::from(text(&until_finished(&api, &attempt, SOON)?, "container_ref")?);
    let mut viewer = Viewer::open(world.port, &attempt)?;
    let floor = Floor::prepare(&world, &worktree)?;
    // The first edit waits for the watches, and both caches are filled by it.
    viewer.edit(&worktree, files - 1)?;
    floor.status()?;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        sleep(PEACE);
        ours.push(viewer.edit(&worktree, round)?.saturating_sub(GATHERING));
        sleep(PEACE);
        floors.push(floor.status()?);
    }
    let (ours, floors) = (Times::sorted(ours), Times::sorted(floors));
    let (p50, floor) = (ours.percentile(50), floors.percentile(50));
    let limit = floor * 3 / 2;
    Ok(Row {
        what,
        measured: format!("{} (p95 {})", milliseconds(p50), milliseconds(ours.percentile(95))),
        floor: format!("{} git status", milliseconds(floor)),
        limit: format!("1.5 x floor = {}", milliseconds(limit)),
        figure: Some(figure(p50)),
        ok: p50 <= limit,
    })
}

/// Adds a tree of files in directories, as sources are.
fn fill(world: &World, files: usize) -> anyhow::Result<()> {
    for number in 0..files {
        let path = world.repository().join(name(number));
        if number % IN_A_DIRECTORY == 0 {
            let parent = path.parent().context("a file in no directory")?;
            fs::create_dir_all(parent).with_context(|| format!("could not make {}", parent.display()))?;
        }
        let content = format!("line of file {number}\n").repeat(50);
        fs::write(&path, content).with_context(|| format!("could not write {}", path.display()))?;
    }
    world.git(&["add", "."])?;
    world.git(&["commit", "--quiet", "--message", "a tree"])?;
    Ok(())
}

fn name(number: usize) -> String {
    let directory = number / IN_A_DIRECTORY;
    format!("tree/{:02}/{directory:04}/file-{number:05}.txt", directory / 40)
}

/// One who follows the diff.
struct Viewer {
    socket: WebSocket<TcpStream>,
}

impl Viewer {
    fn open(port: u16, attempt: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("could not connect for a diff")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SOON))?;
        let url = format!("ws://127.0.0.1:{port}/api/task-attempts/{attempt}/diff/ws");
        let opened = tungstenite::client(&url, stream);
        let (socket, _) = opened.map_err(|error| anyhow::anyhow!("could not open {url}: {error}"))?;
        Ok(Self { socket })
    }

    /// Edits a file; returns how long it took until that was told.
    fn edit(&mut self, worktree: &Path, number: usize) -> anyhow::Result<Duration> {
        let path = worktree.join(name(number));
        let edited = format!("edited\n{}", fs::read_to_string(&path)?);
        let begun = Instant::now();
        fs::write(&path, edited).with_context(|| format!("could not write {}", path.display()))?;
        let wanted = format!("/entries/{}", name(number).replace('/', "~1"));
        loop {
            let frame = match self.socket.read().context("the diff broke off")? {
                Message::Text(text) => text,
                Message::Close(why) => bail!("the diff was closed: {why:?}"),
                _ => continue,
            };
            let took = begun.elapsed();
            let frame: Value = serde_json::from_str(&frame).context("a frame of a diff is wrong")?;
            let patch = frame["JsonPatch"].as_array().context("a frame without a patch")?;
            if patch.iter().any(|operation| operation["path"] == wanted.as_str()) {
                return Ok(took);
            }
        }
    }
}

/// One `git status` by an index of its own, so that neither disturbs the other.
struct Floor<'a> {
    world: &'a World,
    worktree: PathBuf,
    index: PathBuf,
}

impl<'a> Floor<'a> {
    fn prepare(world: &'a World, worktree: &Path) -> anyhow::Result<Self> {
        let index = world.root().join("floor-index");
        let floor = Self { world, worktree: worktree.to_path_buf(), index };
        let theirs = floor.git(&["rev-parse", "--path-format=absolute", "--git-path", "index"])?;
        fs::copy(theirs.trim(), &floor.index).context("could not copy an index")?;
        floor.status()?;
        floor.status()?;
        Ok(floor)
    }

    fn status(&self) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.git(&["-c", "core.untrackedCache=true", "status", "--porcelain=v2"])?;
        Ok(begun.elapsed())
    }

    fn git(&self, args: &[&str]) -> anyhow::Result<String> {
        let mut git = self.world.command("git");
        let asks_for_theirs = args.first() == Some(&"rev-parse");
        if !asks_for_theirs {
            git.env("GIT_INDEX_FILE", &self.index);
        }
        let output = git.arg("-C").arg(&self.worktree).args(args).output().context("could not run git")?;
        if !output.status.success() {
            bail!("git {} failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
