//! HTTP, WebSocket and SSE over the engine, and the board at `/`.
//!
//! Nothing is decided here: a route decodes, calls one verb of the engine, and encodes. The names older
//! clients use live in `wire` and in the decoder's table, nowhere else. This room reads no files and no
//! environment; who may call is settled in `access` before any route is reached.

mod access;
mod api;
mod certificate;
mod closing;
mod compat;
mod connection;
mod decode;
mod envelope;
mod error;
mod mcp;
mod metrics;
mod page;
mod router;
mod routes;
mod serve;
mod shell;
mod state;
mod streams;
mod wire;

pub use access::{Access, Caller, Peer, attempt_token};
pub use api::openapi;
pub use certificate::{BadCertificate, Certificate};
pub use closing::Closing;
pub use router::router;
pub use serve::{ServeOptions, serve};
