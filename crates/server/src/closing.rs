//! The one signal that tells every open stream to end, and the count of streams that have not ended yet.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells streams that the server is closing, and lets the server wait for them.
#[derive(Debug, Clone)]
pub struct Closing {
    begun: Arc<watch::Sender<bool>>,
}

/// Held by one stream for as long as it lives.
#[derive(Debug)]
pub(crate) struct StreamGuard {
    begun: watch::Receiver<bool>,
}

impl Closing {
    /// Makes a signal that has not been given.
    pub fn new() -> Self {
        Self { begun: Arc::new(watch::Sender::new(false)) }
    }

    /// Tells every stream to end, those that open later too.
    pub fn begin(&self) {
        self.begun.send_replace(true);
    }

    /// Waits until no stream is left.
    pub(crate) async fn streams_ended(&self) {
        self.begun.closed().await;
    }

    /// Counts one stream in.
    pub(crate) fn guard(&self) -> StreamGuard {
        StreamGuard { begun: self.begun.subscribe() }
    }
}

impl Default for Closing {
    fn default() -> Self {
        Self::new()
    }
}

impl StreamGuard {
    /// Waits until the server closes.
    pub(crate) async fn closed(&mut self) {
        // An error means that the server is gone altogether, which is the same news.
        let _ = self.begun.wait_for(|begun| *begun).await;
    }
}
