//! One accepted connection: its place among all there may be, and what is held for as long as it lives.
//!
//! A WebSocket lives on after the request that opened it, and takes its connection along. So whatever must last
//! exactly as long stands here, and ends when the connection is dropped.

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;

/// Something that is read and written: a socket, or TLS over one.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Debug + Send + Unpin> Stream for S {}

/// An accepted connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    /// Given back when the connection ends.
    _place: Place,
    _held: Held,
}

/// The place of a connection among all, and among those of others than the user who runs the server.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) _among_all: OwnedSemaphorePermit,
    pub(crate) _among_others: Option<OwnedSemaphorePermit>,
}

/// What requests leave with their connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held(Arc<Mutex<Vec<Box<dyn Any + Send>>>>);

impl Held {
    /// Keeps something until the connection ends.
    pub(crate) fn keep(&self, thing: impl Any + Send) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(thing));
    }
}

impl Connection {
    pub(crate) fn new(stream: Box<dyn Stream>, place: Place, held: Held) -> Self {
        Self { stream, _place: place, _held: held }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_shutdown(context)
    }
}
