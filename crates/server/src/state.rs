//! What every route is given.

use forge_engine::Engine;

use crate::metrics::Metrics;
use crate::streams::Flight;
use crate::{Access, Closing};

/// The engine, and what streams and sessions need beside it.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) access: Access,
    pub(crate) closing: Closing,
    pub(crate) metrics: Metrics,
    pub(crate) flight: Flight,
}
