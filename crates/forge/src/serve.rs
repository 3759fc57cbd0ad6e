//! `forge serve`: owns a data directory and serves it until it is told to stop. Agents are no part of this
//! process: they run on when it ends.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forge_engine::{
    AgentEnvironment, Engine, ErrorKind, GitHubAddress, GitHubOptions, Options, Seam, Secret,
};
use forge_server::{Certificate, ServeOptions};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};
use tracing_subscriber::EnvFilter;

use crate::address::DEFAULT_PORT;
use crate::client::{Client, Target};
use crate::environment::{
    self, CLAUDE_CONFIG_DIR, CODEX_HOME, FORGE_OLDER_WORKTREES, FORGE_SEAM, FORGE_TOKEN, FORGE_WORKTREES,
    GH_ENTERPRISE_TOKEN, GH_TOKEN, GITHUB_API_URL, GITHUB_BASE_URL, GITHUB_CLIENT_ID,
    GITHUB_ENTERPRISE_TOKEN, GITHUB_TOKEN, PUBLIC_BASE_URL, RUST_LOG, XDG_CONFIG_HOME,
};
use crate::exit::{Exit, Failure, Result};
use crate::output::Output;
use crate::port_file::PortFile;
use crate::server_file::{self, ServerFile};
use crate::server_log::ServerLog;
use crate::{browser, home, token};

/// What is logged when `RUST_LOG` says nothing.
const DEFAULT_LOG: &str =
    "warn,forge=info,forge_engine=info,forge_server=info,forge_process=info,forge_git=info";
/// Where worktrees were before.
const OLDER_WORKTREES: &str = "/var/tmp/automagik-forge/worktrees";
/// How long the engine may take to come to its end: a little more than it gives git.
const CLOSES: Duration = Duration::from_secs(15);
/// How long the engine's own threads may take to end.
const THREADS_END: Duration = Duration::from_secs(1);
/// How long what a dead server was just forking may hold its port.
const INHERITED: Duration = Duration::from_secs(2);

/// How to serve.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) home: PathBuf,
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    /// Further names that mean this server.
    pub(crate) names: Vec<String>,
    /// Speak TLS with this certificate.
    pub(crate) certificate: Option<Certificate>,
    /// Make something to look at.
    pub(crate) demo: bool,
    /// Make a copy of a data directory the successor of its original.
    pub(crate) adopt: bool,
    /// Started by a client command: leave its session, and take any port when the usual one is taken.
    pub(crate) background: bool,
}

/// Serves until a signal comes.
pub(crate) fn serve(output: &Output, plan: &Plan) -> Result<Exit> {
    if plan.background {
        // Fails only where the process leads a session already, which is what is wanted.
        let _ = rustix::process::setsid();
    }
    home::create(&plan.home)?;
    log_to_stderr(plan)?;
    if let Some(other) = server_file::find(&plan.home) {
        return Err(second(plan, Some(&other), None));
    }
    if let Err(error) = forge_process::raise_descriptors() {
        warn!("the limit of open files could not be raised: {error}");
    }
    let listener = bind(plan)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::away(format!("could not start the server's threads: {error}")))?;
    let served = runtime.block_on(serve_until_told(output, plan, listener));
    // Agents are not among these threads, and everything that matters has been written.
    runtime.shutdown_timeout(THREADS_END);
    served
}

async fn serve_until_told(output: &Output, plan: &Plan, listener: TcpListener) -> Result<Exit> {
    let told = told_to_stop()?;
    tokio::pin!(told);
    let engine = tokio::select! {
        opened = open(plan) => opened?,
        () = &mut told => return Ok(Exit::Ok),
    };
    let home = &plan.home;
    let token = token::ensure(home)
        .map_err(|error| Failure::away(format!("could not make {}: {error}", token::path(home).display())))?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::away(format!("could not learn the address of the server: {error}")))?;
    let reach = Reach::new(plan, address);
    // A certificate is for a name that people type, and programs here call 127.0.0.1: they get a door of their own.
    let beside = match plan.certificate {
        Some(_) => Some(listen_beside()?),
        None => None,
    };
    let (here, port) = match &beside {
        Some((_, address)) => (format!("http://{address}"), address.port()),
        None => (reach.url.clone(), address.port()),
    };
    let notice = ServerFile::of_this_process(&here, home);
    if let Err(error) = notice.write(home) {
        // Whoever looks at the board can still stop agents and make room.
        let sentence = format!(
            "Commands on this machine do not find this server, because {} could not be written ({error}): name it with \
             --url {here}, or make room and start it again",
            home.join("server.json").display()
        );
        warn!("{sentence}");
        engine.warn_of("server.json", Some(sentence));
    }
    // Older tools look for the one server there is, and that is no copy.
    let port_file = match engine.copy() {
        Some(_) => None,
        None => PortFile::write(&environment::temporary(), port)
            .inspect_err(|error| {
                warn!("older tools will not find this server: could not write the port file: {error}");
            })
            .ok(),
    };

    announce(output, plan, &reach, &token)?;
    if !plan.background {
        browser::open(&reach.for_browser(&token));
    }
    if plan.demo {
        tokio::spawn(show_demo(engine.clone()));
    }
    let require_token = reach.require_token;
    let (stop, stopped) = tokio::sync::watch::channel(());
    let until = || {
        let mut stopped = stopped.clone();
        // It is never sent anything: its end is the news.
        async move { while stopped.changed().await.is_ok() {} }
    };
    let beside = beside.map(|(listener, _)| {
        let (host_names, token) = (Vec::new(), token.clone());
        let options = ServeOptions { listener, host_names, token, require_token, certificate: None };
        forge_server::serve(engine.clone(), options, until())
    });
    let beside = async { if let Some(beside) = beside { beside.await } else { Ok(()) } };
    let (host_names, certificate) = (reach.names, plan.certificate.clone());
    let options = ServeOptions { listener, host_names, token, require_token, certificate };
    let both = async { tokio::try_join!(forge_server::serve(engine.clone(), options, until()), beside) };
    tokio::pin!(both);
    let served = tokio::select! {
        served = &mut both => served,
        () = &mut told => {
            drop(stop);
            both.await
        }
    };

    if let Err(error) = notice.remove(home) {
        warn!("could not remove {}: {error}", home.join("server.json").display());
    }
    if let Some(Err(error)) = port_file.map(PortFile::remove) {
        warn!("could not remove the port file: {error}");
    }
    // What is under way has a while to come to its end, and no git runs on without a server.
    if tokio::time::timeout(CLOSES, engine.close()).await.is_err() {
        warn!("something is under way still; the next server takes it up");
    }
    served.map_err(|error| Failure::away(format!("could not serve {}: {error}", reach.url)))?;
    let running = engine.overview().await.map_or(0, |overview| overview.running);
    output.remark(farewell(running));
    Ok(Exit::Ok)
}

/// Makes the demo. Failing to is a pity, not a reason to stop serving.
async fn show_demo(engine: Engine) {
    match engine.demo().await {
        Ok(demo) if demo.is_new => info!("the demo is being made: it is the project {:?}", demo.project.name),
        Ok(_) => info!("the demo is there already, as it was left; for a fresh one remove its project first"),
        Err(error) => warn!("the demo could not be made: {error}"),
    }
}

/// Where older tools look for worktrees. A data directory that somebody has moved is one beside the first, for trying
/// something out as a rule, and leaves that place alone unless it is told to use it.
fn older_place(home: &Path) -> Option<PathBuf> {
    if environment::is_present(FORGE_OLDER_WORKTREES) {
        return environment::path(FORGE_OLDER_WORKTREES);
    }
    home::is_usual(home).then(|| PathBuf::from(OLDER_WORKTREES))
}

async fn open(plan: &Plan) -> Result<Engine> {
    let forge = std::env::current_exe()
        .map_err(|error| Failure::away(format!("could not find the forge binary itself: {error}")))?;
    let seam = environment::text(FORGE_SEAM).unwrap_or_default();
    let seam = Seam::parse(&seam).map_err(|error| Failure::invalid(format!("{FORGE_SEAM}: {error}")))?;
    let home = plan.home.clone();
    // An agent that calls Forge calls it in the name of its own attempt, and reaches no further than that.
    let agents = AgentEnvironment::new(move |attempt| {
        let token = token::read(&home).map(|token| forge_server::attempt_token(&token, attempt));
        token.map(|token| (FORGE_TOKEN.to_string(), token)).into_iter().collect()
    });
    let worktrees = environment::path(FORGE_WORKTREES);
    let public_url = environment::text(PUBLIC_BASE_URL);
    let options = Options {
        home: plan.home.clone(),
        worktrees,
        older_place: older_place(&plan.home),
        forge,
        seam,
        agents,
        public_url,
        github: github()?,
        user_home: environment::path(environment::HOME),
        agent_dirs: agent_dirs(),
        clean_strays: !environment::is_present(environment::DISABLE_WORKTREE_ORPHAN_CLEANUP),
        adopt: plan.adopt,
    };
    Engine::open(options).await.map_err(|error| match error.kind() {
        ErrorKind::Conflict if error.code() == Some("copy") => Failure::conflict(error.to_string()),
        ErrorKind::Conflict => second(plan, server_file::find(&plan.home).as_ref(), Some(error.to_string())),
        ErrorKind::Invalid => Failure::invalid(error.to_string()),
        _ => Failure::away(error.to_string()),
    })
}

/// Which GitHub people log in at, and who they are there when the settings do not say.
fn github() -> Result<GitHubOptions> {
    let (pages, api) = (environment::text(GITHUB_BASE_URL), environment::text(GITHUB_API_URL));
    let address = GitHubAddress::new(pages.as_deref(), api.as_deref())
        .map_err(|error| Failure::invalid(format!("{GITHUB_BASE_URL} or {GITHUB_API_URL}: {error}")))?;
    let client_id = environment::text(GITHUB_CLIENT_ID);
    // A token for GitHub itself is not shown to another server.
    let names = match address == GitHubAddress::default() {
        true => [GH_TOKEN, GITHUB_TOKEN],
        false => [GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN],
    };
    let token = names.into_iter().find_map(environment::text).map(Secret::new);
    let gh = Some(PathBuf::from("gh"));
    Ok(GitHubOptions { client_id, address, token, gh, ..GitHubOptions::default() })
}

/// Where agents keep their settings, as they themselves would look for them.
fn agent_dirs() -> BTreeMap<&'static str, PathBuf> {
    let settings = environment::path(XDG_CONFIG_HOME).filter(|path| path.is_absolute());
    let moved = [
        ("CLAUDE_CODE", environment::path(CLAUDE_CONFIG_DIR)),
        ("CODEX", environment::path(CODEX_HOME)),
        ("OPENCODE", settings.map(|path| path.join("opencode"))),
    ];
    moved.into_iter().filter_map(|(agent, path)| Some((agent, path?))).collect()
}

/// Listens on a free port of this machine alone.
fn listen_beside() -> Result<(TcpListener, SocketAddr)> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let bound = bound.and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    bound
        .map_err(|error| Failure::away(format!("could not listen for the commands on this machine: {error}")))
}

/// Says who serves the data already.
fn second(plan: &Plan, other: Option<&ServerFile>, reason: Option<String>) -> Failure {
    let home = plan.home.display();
    match (other, reason) {
        (Some(other), _) => Failure::conflict(format!(
            "Forge {} already serves {home} on {} (process {}); stop it with `forge serve --stop`",
            other.version, other.url, other.pid
        )),
        (None, Some(reason)) => Failure::conflict(reason),
        (None, None) => Failure::conflict(format!("another Forge server uses {home}")),
    }
}

fn bind(plan: &Plan) -> Result<TcpListener> {
    let (host, port) = (plan.host, plan.port);
    let error = match listen(host, port, server_file::port_left_behind(&plan.home)) {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    if plan.background && port == DEFAULT_PORT && error.kind() == io::ErrorKind::AddrInUse {
        let any = TcpListener::bind((host, 0));
        return any.map_err(|error| Failure::away(format!("could not listen on {host}: {error}")));
    }
    let address = SocketAddr::new(host, port);
    Err(match error.kind() {
        io::ErrorKind::AddrInUse if is_forge(address) => Failure::away(format!(
            "port {port} is taken by another Forge server, with data of its own; stop that one with `forge serve \
             --stop` there, or choose another port with --port"
        )),
        io::ErrorKind::AddrInUse => Failure::away(format!(
            "port {port} on {host} is taken by another program; choose another with --port"
        )),
        io::ErrorKind::AddrNotAvailable => Failure::invalid(format!(
            "{host} is no address of this machine; name one with --host or {}",
            environment::HOST
        )),
        _ => Failure::away(format!("could not listen on {address}: {error}")),
    })
}

/// Listens on a port. A server that was killed while it forked leaves its port to that child until the child's
/// exec, so the port of a dead server of ours is waited for.
fn listen(host: IpAddr, port: u16, left_behind: Option<u16>) -> io::Result<TcpListener> {
    let deadline = Instant::now() + INHERITED;
    loop {
        match TcpListener::bind((host, port)) {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse
                    && left_behind == Some(port)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            bound => return bound,
        }
    }
}

fn is_forge(address: SocketAddr) -> bool {
    let url = format!("http://{address}");
    Client::new(Target::Url(url.clone()), PathBuf::new(), url).health().is_ok()
}

/// How the server is reached from this machine and from others.
#[derive(Debug)]
struct Reach {
    /// The URL for clients on this machine.
    url: String,
    names: Vec<String>,
    require_token: bool,
    /// The host that people on other machines type.
    outside: Option<String>,
    port: u16,
    scheme: &'static str,
}

impl Reach {
    fn new(plan: &Plan, address: SocketAddr) -> Self {
        let (ip, port) = (address.ip(), address.port());
        let outside = match ip {
            ip if ip.is_loopback() => None,
            ip if ip.is_unspecified() => Some(outward(ip).unwrap_or(ip)),
            ip => Some(ip),
        };
        let mut names = plan.names.clone();
        names.extend(outside.map(in_url));
        let local = match ip {
            IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".to_string(),
            IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".to_string(),
            ip => in_url(ip),
        };
        // Any address of 127.0.0.0/8 is loopback, but the server only knows the usual one by itself.
        names.push(local.clone());
        let scheme = if plan.certificate.is_some() { "https" } else { "http" };
        Self {
            url: format!("{scheme}://{local}:{port}"),
            scheme,
            names,
            require_token: outside.is_some(),
            outside: outside.map(in_url),
            port,
        }
    }

    /// Returns the URL to open; it holds the token where the server cannot tell who calls.
    fn for_browser(&self, token: &str) -> String {
        match self.require_token || cfg!(not(target_os = "linux")) {
            true => format!("{}/#t={token}", self.url),
            false => self.url.clone(),
        }
    }
}

/// Returns the address by which this machine speaks to others. Nothing is sent to find out.
fn outward(unspecified: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind((unspecified, 0)).ok()?;
    let far = if unspecified.is_ipv4() { "192.0.2.1:9" } else { "[2001:db8::1]:9" };
    socket.connect(far).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(|ip| !ip.is_unspecified())
}

fn in_url(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

fn announce(output: &Output, plan: &Plan, reach: &Reach, token: &str) -> Result<()> {
    let (version, home) = (env!("CARGO_PKG_VERSION"), plan.home.display());
    if output.json {
        let data = plan.home.to_string_lossy();
        return output.value(&json!({
            "url": reach.url, "version": version, "pid": std::process::id(), "data": data,
        }));
    }
    output.line(format_args!("Forge {version} on {} (data in {home})", reach.url))?;
    if let Some(outside) = &reach.outside {
        let Reach { port, scheme, .. } = reach;
        output.line(format_args!(
            "other machines, and this one, need the token: {scheme}://{outside}:{port}/#t={token}"
        ))?;
    }
    Ok(())
}

fn farewell(running: i64) -> String {
    match running {
        0 => "Forge stopped serving; no agent is running".to_string(),
        1 => "Forge stopped serving; 1 agent runs on. See it again with `forge serve`, stop it with `forge stop ID` \
              or `forge serve --stop --all`"
            .to_string(),
        count => format!(
            "Forge stopped serving; {count} agents run on. See them again with `forge serve`, stop one with \
             `forge stop ID`, all with `forge serve --stop --all`"
        ),
    }
}

/// Resolves when a person or the system wants the server to end.
fn told_to_stop() -> Result<impl Future<Output = ()> + Send> {
    let watch = |kind: SignalKind| {
        signal(kind).map_err(|error| Failure::away(format!("could not watch for signals: {error}")))
    };
    let (mut interrupt, mut terminate, mut hangup) =
        (watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?, watch(SignalKind::hangup())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

fn log_to_stderr(plan: &Plan) -> Result<()> {
    let wanted = environment::text(RUST_LOG).unwrap_or_else(|| DEFAULT_LOG.to_string());
    let filter = EnvFilter::try_new(&wanted)
        .map_err(|error| Failure::invalid(format!("{RUST_LOG} is not understood: {error}")))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter);
    // Fails only when something else in this process logs already, and then it may go on.
    let _ = match ServerLog::of_this_process(&plan.home).filter(|_| plan.background) {
        Some(log) => builder.with_writer(Arc::new(log)).try_init(),
        None => builder.with_writer(io::stderr).try_init(),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(host: &str) -> Reach {
        let host: IpAddr = host.parse().unwrap();
        let names = vec!["forge.example.org".to_string()];
        let (home, certificate) = (PathBuf::new(), None);
        let plan =
            Plan { home, host, port: 0, names, certificate, demo: false, adopt: false, background: false };
        Reach::new(&plan, SocketAddr::new(host, 8887))
    }

    #[test]
    fn on_loopback_no_token_is_needed() {
        for (host, url) in [("127.0.0.1", "http://127.0.0.1:8887"), ("::1", "http://[::1]:8887")] {
            let reach = reach(host);
            assert_eq!(reach.url, url);
            assert!(!reach.require_token && reach.outside.is_none());
            assert!(reach.names.contains(&"forge.example.org".to_string()));
        }
    }

    #[test]
    fn beyond_loopback_the_token_is_needed_and_is_in_the_url() {
        let one = reach("192.0.2.7");
        assert!(one.require_token);
        assert_eq!(one.outside.as_deref(), Some("192.0.2.7"));
        assert!(one.names.contains(&"192.0.2.7".to_string()));
        assert_eq!(one.for_browser("secret"), "http://192.0.2.7:8887/#t=secret");
        let all = reach("0.0.0.0");
        assert!(all.require_token && all.outside.is_some());
        assert_eq!(all.url, "http://127.0.0.1:8887");
    }
}
