//! `cargo xtask chaos`: a storm of kills over a real server with real agents, and an oracle that says whether
//! anything was lost, doubled or left over.

mod clients;
mod killer;
mod ledger;
mod oracle;
mod script;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;

use crate::api::Api;
use crate::binary::{self, Profile};
use crate::random::Random;
use crate::server::Server;
use crate::world::World;
use clients::Act;
use killer::Deaths;
use ledger::{Kind, Ledger};

/// Kill servers, shims or agents under load, and check that nothing is lost
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  cargo xtask chaos --kills 20 --agents 8 --seed 42")]
pub(crate) struct Args {
    /// How many times to kill
    #[arg(long, default_value_t = 20)]
    kills: usize,
    /// About how many agents are live at any moment
    #[arg(long, default_value_t = 8)]
    agents: usize,
    /// Repeat the choices of an earlier storm
    #[arg(long)]
    seed: Option<u64>,
    /// What is killed
    #[arg(long, value_enum, default_value_t = Target::Server)]
    target: Target,
    /// The forge binary to run; without it, one is built
    #[arg(long, value_name = "PATH")]
    forge: Option<PathBuf>,
}

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Target {
    Server,
    Shim,
    Agent,
}

/// How many clients act at once.
const CLIENTS: usize = 3;
/// How many logs are followed at once.
const FOLLOWERS: usize = 2;
/// How long a storm may take on a busy machine: this, and this much more for each kill.
const BASE_TIME: Duration = Duration::from_secs(120);
const TIME_PER_KILL: Duration = Duration::from_secs(10);

/// A storm: everything that its threads share.
#[derive(Debug)]
struct Scene {
    world: World,
    api: Api,
    project: String,
    target: Target,
    agents: usize,
    deadline: Instant,
    ledger: Mutex<Ledger>,
    /// What the killer wants the clients to do now.
    wish: Mutex<Option<Act>>,
    /// Clients end when this is set.
    over: AtomicBool,
    /// The killer failed: no server will come back, so nobody waits for one.
    aborted: AtomicBool,
    words: AtomicU64,
}

/// Runs a storm; says whether everything was as it must be.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let forge = binary::find(args.forge.as_deref(), Profile::Dev)?;
    let seed = args.seed.unwrap_or_else(now);
    println!("chaos: seed {seed}, {} kills, {} agents", args.kills, args.agents);
    let world = World::new(&forge, 20)?.with_witnesses();
    let server = Server::start_healthy(&world)?;
    let api = Api::new(world.port);
    let kills = u32::try_from(args.kills).context("that many kills")?;
    let mut scene = Scene {
        project: world.project(&api)?,
        world,
        api,
        target: args.target,
        agents: args.agents,
        deadline: Instant::now() + BASE_TIME + TIME_PER_KILL * kills,
        ledger: Mutex::default(),
        wish: Mutex::default(),
        over: AtomicBool::new(false),
        aborted: AtomicBool::new(false),
        words: AtomicU64::new(0),
    };
    let mut deaths = Deaths::new();
    if let Err(error) = scene.storm(args.kills, server, &mut Random::new(seed), &mut deaths) {
        scene.ledger().mistake(Kind::Other, format!("{error:#}"));
    }
    for (place, count) in &deaths {
        println!("  {count:>4}  {place}");
    }
    let ledger = std::mem::take(&mut *scene.ledger());
    for mistake in &ledger.mistakes {
        println!("chaos: {}: {}", mistake.kind.name(), mistake.text);
    }
    let between: usize =
        deaths.iter().filter(|(place, _)| killer::is_between_steps(place)).map(|(_, count)| count).sum();
    println!(
        "chaos: {} kills ({between} between steps), {} attempts, {} acknowledged calls, {} log bytes compared, \
         {} lost, {} doubled, {} left over",
        deaths.values().sum::<usize>(),
        ledger.attempts.len(),
        ledger.calls,
        ledger.compared,
        ledger.count(Kind::Lost),
        ledger.count(Kind::Doubled),
        ledger.count(Kind::LeftOver),
    );
    if !ledger.mistakes.is_empty() {
        scene.world.keep();
        println!(
            "chaos: failed; repeat with --seed {seed}; the world is kept in {}",
            scene.world.root().display()
        );
    }
    Ok(ledger.mistakes.is_empty())
}

impl Scene {
    /// Lets clients act while the killer kills, then lets everything come to rest and checks all of it.
    fn storm(
        &self,
        kills: usize,
        server: Server,
        random: &mut Random,
        deaths: &mut Deaths,
    ) -> anyhow::Result<()> {
        let server = std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let random = random.branch();
                scope.spawn(move || self.be_client(random));
            }
            for _ in 0..FOLLOWERS {
                let random = random.branch();
                scope.spawn(move || self.be_follower(random));
            }
            let killed = match self.target {
                Target::Server => self.kill_servers(kills, server, random, deaths),
                Target::Shim | Target::Agent => self.kill_processes(kills, random, deaths).map(|()| server),
            };
            self.aborted.store(killed.is_err(), Ordering::SeqCst);
            self.over.store(true, Ordering::SeqCst);
            killed
        })?;
        if !self.ledger().mistakes.is_empty() {
            return Ok(());
        }
        self.settle(random)?;
        self.check_everything(random, &server)?;
        self.check_end(server)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
