//! Serving a listener until it is told to stop.

use std::future::{Future, IntoFuture};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use forge_engine::Engine;
use tokio::net::{TcpListener, TcpStream};

use crate::{Access, Closing, Peer, router};

/// How long requests that are being served may take after a stop. A start takes tens of milliseconds; what
/// takes longer has been journalled by the engine and is finished by the next server.
const GRACE: Duration = Duration::from_secs(5);

/// How a server serves.
#[derive(Debug)]
pub struct ServeOptions {
    /// A bound listener. Beyond loopback, `require_token` must be set: the caller decides.
    pub listener: std::net::TcpListener,
    /// Further names in `Host` that mean this server, each alone or with a port.
    pub host_names: Vec<String>,
    /// The owner's token.
    pub token: String,
    /// Turns the rule off that a connection over loopback from the same user is the owner's.
    pub require_token: bool,
}

/// Serves until `shutdown` resolves, then ends streams at once, lets requests finish, and returns.
///
/// Agents are no part of this: they run on.
pub async fn serve(
    engine: Engine,
    options: ServeOptions,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let ServeOptions { listener, host_names, token, require_token } = options;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let port = listener.local_addr()?.port();
    let access = Access::new(port, host_names, token, engine.home().join("token"), require_token);
    let closing = Closing::new();
    listen(listener, router(engine, access, closing.clone()), closing, shutdown).await
}

/// Serves a router on a listener, with the peer of each connection known to it.
pub(crate) async fn listen(
    listener: TcpListener,
    router: Router,
    closing: Closing,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let mut told = closing.guard();
    let serving = axum::serve(Door(listener), router.into_make_service_with_connect_info::<Peer>())
        .with_graceful_shutdown(async move { told.closed().await });
    let mut serving = std::pin::pin!(serving.into_future());
    tokio::select! {
        ended = &mut serving => return ended,
        () = shutdown => closing.begin(),
    }
    let rest = async {
        let ended = serving.await;
        closing.streams_ended().await;
        ended
    };
    match tokio::time::timeout(GRACE, rest).await {
        Ok(ended) => ended,
        Err(_) => {
            tracing::warn!("some connections did not end within {} s and were cut", GRACE.as_secs());
            Ok(())
        }
    }
}

/// A listener whose connections send each line now, not with the next one.
#[derive(Debug)]
pub(crate) struct Door(TcpListener);

impl Listener for Door {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::warn!("could not turn off delays on a connection: {error}");
        }
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
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
        let served = tokio::spawn(listen(listener, router, closing, shutdown));
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

    #[tokio::test]
    async fn connections_that_wait_for_nothing_do_not_hold_up_a_stop() {
        let router = Router::new().route("/", get(|| async { "hello" }));
        let (took, _held) = time_to_stop(Closing::new(), router, async |address| {
            // One that was used and kept, and one that a browser opened in advance.
            (ask(address).await, TcpStream::connect(address).await.unwrap())
        })
        .await;
        assert!(took < GRACE, "the stop took {took:?}");
    }

    #[tokio::test]
    async fn a_stream_that_never_ends_by_itself_ends_at_a_stop() {
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
        assert!(took < GRACE, "the stop took {took:?}");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("last"), "{answer}");
    }
}
