//! Serving a listener until it is told to stop.

use std::convert::Infallible;
use std::future::Future;
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use forge_engine::Engine;
use hyper::body::Incoming;
use hyper::server::conn::http1::{self, UpgradeableConnection};
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::closing::StreamGuard;
use crate::connection::{Connection, Held, Place, Stream};
use crate::{Access, Certificate, Closing, Peer, router};

/// How long requests that are being served may take after a stop. A start takes tens of milliseconds; what
/// takes longer has been journalled by the engine and is finished by the next server.
const GRACE: Duration = Duration::from_secs(5);

/// How a server serves.
#[derive(Debug)]
pub struct ServeOptions {
    /// A bound listener. Beyond loopback it is refused unless there is a token and `require_token` is set.
    pub listener: std::net::TcpListener,
    /// Further names in `Host` that mean this server, each alone or with a port.
    pub host_names: Vec<String>,
    /// The owner's token.
    pub token: String,
    /// Turns the rule off that a connection over loopback from the same user is the owner's.
    pub require_token: bool,
    /// Speaks TLS, and nothing else, with this certificate.
    pub certificate: Option<Certificate>,
}

/// Serves until `shutdown` resolves, then ends streams at once, lets requests finish, and returns.
///
/// Agents are no part of this: they run on.
pub async fn serve(
    engine: Engine,
    options: ServeOptions,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let ServeOptions { listener, host_names, token, require_token, certificate } = options;
    let address = listener.local_addr()?;
    if !address.ip().to_canonical().is_loopback() && (token.is_empty() || !require_token) {
        let message =
            format!("{address} can be reached from other machines, and is only served with a token");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let access = Access::new(address.port(), host_names, token, engine.home().join("token"), require_token);
    let access = if certificate.is_some() { access.over_tls() } else { access };
    let closing = Closing::new();
    let tls = certificate.map(|certificate| certificate.acceptor());
    listen(listener, tls, router(engine, access, closing.clone()), closing, shutdown).await
}

/// What connections may cost.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// How many there may be at once, WebSockets among them. One more is told so and closed.
    connections: usize,
    /// How many of them may be of others than the user who runs the server, so that nobody shuts that one out.
    of_others: usize,
    /// How long one may take to send the head of a request, the time it idles before that included; and before that to
    /// agree on TLS.
    head: Duration,
    /// The longest head.
    head_bytes: usize,
}

/// How many connections there may be however many descriptors there are.
const MOST: usize = 4096;

/// With fewer the board, a command and an agent's own calls could not be served side by side.
const FEWEST: usize = 16;

const LIMITS: Limits =
    Limits { connections: MOST, of_others: MOST / 2, head: Duration::from_secs(20), head_bytes: 64 * 1024 };

impl Limits {
    /// The limits of a process that may have so many descriptors open: a quarter of them are for connections, so that
    /// git, logs and the database have theirs, whoever connects.
    fn of_process(descriptors: Option<u64>) -> Self {
        let quarter = descriptors.and_then(|most| usize::try_from(most / 4).ok()).unwrap_or(MOST);
        let connections = quarter.clamp(FEWEST, MOST);
        Limits { connections, of_others: connections / 2, ..LIMITS }
    }
}

/// Serves a router on a listener, with the peer of each connection known to it.
pub(crate) async fn listen(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    closing: Closing,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let descriptors = getrlimit(Resource::Nofile).current;
    listen_within(Limits::of_process(descriptors), listener, tls, router, closing, shutdown).await
}

async fn listen_within(
    limits: Limits,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    closing: Closing,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let places = Places::new(limits);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_header_size(limits.head_bytes);
    {
        let mut shutdown = pin!(shutdown);
        loop {
            let (stream, remote) = tokio::select! {
                accepted = accept(&listener) => accepted,
                () = &mut shutdown => break,
            };
            // Asked now, while the connection surely stands.
            let Ok(local) = stream.local_addr() else { continue };
            let peer = Peer::of(remote, local);
            let Some(place) = places.take(peer) else {
                if tls.is_none() {
                    turn_away(stream);
                }
                continue;
            };
            let held = Held::default();
            let (router, holding, http, tls) = (router.clone(), held.clone(), http.clone(), tls.clone());
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(peer);
                request.extensions_mut().insert(held.clone());
                router.clone().oneshot(request)
            });
            let mut guard = closing.guard();
            tokio::spawn(async move {
                let Some(stream) = agree(stream, tls, limits.head, &mut guard).await else { return };
                let io = TokioIo::new(Connection::new(stream, place, holding));
                speak(http.serve_connection(io, service).with_upgrades(), guard).await;
            });
        }
    }
    drop(listener);
    closing.begin();
    if tokio::time::timeout(GRACE, closing.streams_ended()).await.is_err() {
        tracing::warn!("some connections did not end within {} s and were cut", GRACE.as_secs());
    }
    Ok(())
}

/// The places of connections.
#[derive(Debug)]
struct Places {
    all: Arc<Semaphore>,
    of_others: Arc<Semaphore>,
}

impl Places {
    fn new(limits: Limits) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { all: places(limits.connections), of_others: places(limits.of_others) }
    }

    /// Takes a place; none when there is none for this peer.
    fn take(&self, peer: Peer) -> Option<Place> {
        let among_others = match peer {
            Peer::SameUser => None,
            Peer::OtherUser(_) | Peer::Address(_) => Some(self.of_others.clone().try_acquire_owned().ok()?),
        };
        let place = self.all.clone().try_acquire_owned().ok()?;
        Some(Place { _among_all: place, _among_others: among_others })
    }
}

/// Agrees on TLS, where it is spoken; none when the other side does not, or not in time, or the server closes.
async fn agree(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    within: Duration,
    closing: &mut StreamGuard,
) -> Option<Box<dyn Stream>> {
    let Some(tls) = tls else { return Some(Box::new(stream)) };
    tokio::select! {
        agreed = tokio::time::timeout(within, tls.accept(stream)) => Some(Box::new(agreed.ok()?.ok()?)),
        () = closing.closed() => None,
    }
}

/// Serves one connection until it ends; when the server closes, until what it asked for last is answered.
async fn speak<S>(spoken: UpgradeableConnection<TokioIo<Connection>, S>, mut closing: StreamGuard)
where
    S: HttpService<Incoming, ResBody = Body, Error = Infallible>,
{
    let mut spoken = pin!(spoken);
    // A connection that breaks off, or speaks no HTTP, is the other side's affair.
    tokio::select! {
        _ = spoken.as_mut() => {}
        () = closing.closed() => {
            spoken.as_mut().graceful_shutdown();
            let _ = spoken.await;
        }
    }
}

/// Accepts the next connection. One that is gone already is passed over; where descriptors ran out, others must end
/// first.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, remote)) => {
                if let Err(error) = set_up(&stream) {
                    tracing::warn!("could not set up a connection: {error}");
                }
                return (stream, remote);
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                tracing::error!("could not accept a connection: {error}");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Sends each line now, not with the next one, and notices when the other machine is gone.
fn set_up(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(60))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(15))?;
    sockopt::set_tcp_keepcnt(stream, 4)?;
    Ok(())
}

/// Tells one connection too many that it is, without waiting for it to ask or to listen.
fn turn_away(stream: TcpStream) {
    const BODY: &str =
        "{\"success\":false,\"data\":null,\"error_data\":null,\"message\":\"too many connections are open\"}";
    let told = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Retry-After: 1\r\nConnection: close\r\n\r\n{BODY}",
        BODY.len()
    );
    // The kernel takes so few bytes at once, or the connection is broken and nobody is there to tell.
    if let Ok(mut stream) = stream.into_std() {
        let _ = stream.write_all(told.as_bytes());
        let _ = stream.shutdown(Shutdown::Write);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use axum::body::{Body, Bytes};
    use axum::routing::get;
    use futures_util::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;

    use super::*;

    /// Serves a router, lets `during` do something with its address, then stops it; returns how long the stop took.
    async fn time_to_stop<T>(
        closing: Closing,
        router: Router,
        during: impl AsyncFnOnce(SocketAddr) -> T,
    ) -> (Duration, T) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move { stopped.await.unwrap_or_default() };
        let served = tokio::spawn(listen(listener, None, router, closing, shutdown));
        let held = during(address).await;
        let begun = Instant::now();
        stop.send(()).unwrap();
        served.await.unwrap().unwrap();
        (begun.elapsed(), held)
    }

    async fn ask(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut first = [0; 1];
        stream.read_exact(&mut first).await.unwrap();
        stream
    }

    /// Stops a server up to three times, until one stop is shorter than the grace: what holds a stop up does so each time,
    /// and what only a busy machine delays does not.
    async fn assert_not_held_up(mut stop: impl AsyncFnMut() -> Duration) {
        let mut took = Vec::new();
        while took.len() < 3 && !took.iter().any(|took| *took < GRACE) {
            took.push(stop().await);
        }
        assert!(took.iter().any(|took| *took < GRACE), "the stops took {took:?}");
    }

    #[tokio::test]
    async fn connections_that_wait_for_nothing_do_not_hold_up_a_stop() {
        assert_not_held_up(async || {
            let router = Router::new().route("/", get(|| async { "hello" }));
            let stopped = time_to_stop(Closing::new(), router, async |address| {
                // One that was used and kept, and one that a browser opened in advance.
                (ask(address).await, TcpStream::connect(address).await.unwrap())
            });
            let (took, _held) = stopped.await;
            took
        })
        .await;
    }

    #[tokio::test]
    async fn a_stream_that_never_ends_by_itself_ends_at_a_stop() {
        assert_not_held_up(stop_an_endless_stream).await;
    }

    async fn stop_an_endless_stream() -> Duration {
        let closing = Closing::new();
        let streams = closing.clone();
        let endless = move || {
            let mut guard = streams.guard();
            let first = futures_util::stream::once(async { Ok::<_, io::Error>(Bytes::from("first")) });
            let rest = futures_util::stream::once(async move {
                guard.closed().await;
                Ok(Bytes::from("last"))
            });
            async { Body::from_stream(first.chain(rest)) }
        };
        let router = Router::new().route("/", get(endless));
        let (took, mut stream) = time_to_stop(closing, router, ask).await;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(took >= GRACE || answer.contains("last"), "{answer}");
        took
    }

    /// Serves something small within limits for as long as `during` takes.
    async fn within<T>(limits: Limits, during: impl AsyncFnOnce(SocketAddr) -> T) -> T {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "hello" }));
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async move { stopped.await.unwrap_or_default() };
        let served = tokio::spawn(listen_within(limits, listener, None, router, Closing::new(), shutdown));
        let done = during(address).await;
        stop.send(()).unwrap();
        served.await.unwrap().unwrap();
        done
    }

    /// Returns everything that comes until the other side closes.
    async fn rest(mut stream: TcpStream) -> String {
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        tokio::time::timeout(Duration::from_secs(30), read).await.expect("it was not closed").unwrap();
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn a_connection_that_does_not_send_its_request_is_closed_and_one_that_idles_too() {
        let limits = Limits { head: Duration::from_millis(200), ..LIMITS };
        within(limits, async |address| {
            let silent = TcpStream::connect(address).await.unwrap();
            assert_eq!(rest(silent).await, "");
            let mut slow = TcpStream::connect(address).await.unwrap();
            slow.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
            let answer = rest(slow).await;
            assert!(!answer.contains("hello"), "{answer}");
            let idle = ask(address).await;
            assert!(rest(idle).await.ends_with("hello"));
        })
        .await;
    }

    #[test]
    fn a_quarter_of_the_descriptors_is_for_connections_and_half_of_it_for_others() {
        let of = |descriptors| {
            let limits = Limits::of_process(descriptors);
            (limits.connections, limits.of_others)
        };
        assert_eq!(of(Some(1024)), (256, 128));
        assert_eq!(of(Some(1 << 20)), (4096, 2048));
        assert_eq!(of(None), (4096, 2048));
        assert_eq!(of(Some(20)), (16, 8));
    }

    #[test]
    fn others_take_their_share_and_no_more() {
        let places = Places::new(Limits { connections: 4, of_others: 2, ..LIMITS });
        let others: Vec<Place> = (0..9).filter_map(|uid| places.take(Peer::OtherUser(uid))).collect();
        assert_eq!(others.len(), 2);
        let own: Vec<Place> = (0..9).filter_map(|_| places.take(Peer::SameUser)).collect();
        assert_eq!(own.len(), 2);
        drop(others);
        assert!(places.take(Peer::Address(std::net::Ipv4Addr::LOCALHOST.into())).is_some());
    }

    #[tokio::test]
    async fn one_connection_too_many_is_told_so_and_the_place_of_one_that_ended_is_free() {
        within(Limits { connections: 2, ..LIMITS }, async |address| {
            let (first, _second) = (ask(address).await, ask(address).await);
            let answer = rest(TcpStream::connect(address).await.unwrap()).await;
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
            assert!(
                answer.contains("\"success\":false") && answer.contains("too many connections"),
                "{answer}"
            );
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            let length = format!("Content-Length: {}\r\n", body.len());
            assert!(answer.contains(&length), "{answer}");
            drop(first);
            let deadline = Instant::now() + Duration::from_secs(30);
            loop {
                let mut next = TcpStream::connect(address).await.unwrap();
                let _ = next.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
                let mut answer = String::new();
                // One that is turned away may be reset before it has read why.
                let _ = next.read_to_string(&mut answer).await;
                if answer.ends_with("hello") {
                    break;
                }
                assert!(Instant::now() < deadline, "no place became free");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    #[tokio::test]
    async fn a_head_that_is_too_long_is_refused() {
        within(LIMITS, async |address| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let long = "x".repeat(LIMITS.head_bytes);
            let head = format!("GET / HTTP/1.1\r\nHost: x\r\nX-Long: {long}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).await.unwrap();
            assert_eq!(&first, b"HTTP/1.1 431");
        })
        .await;
    }
}
