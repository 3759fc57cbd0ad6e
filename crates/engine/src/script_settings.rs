//! The person's settings about scripts: how long one may take, and which ports may be leased.

use std::time::Duration;

use forge_model::RunKind;
use serde_json::{Map, Value, json};

use crate::Engine;
use crate::background::blocking;
use crate::ports::{EACH, Range};
use crate::shape::{Keys, Rule};

/// A day: whatever takes longer hangs.
const LONGEST: i64 = 24 * 60 * 60;

/// `scripts` in the config, in seconds.
pub(crate) const SCRIPTS: Keys =
    &[("setup_seconds", Rule::Number(1, LONGEST)), ("cleanup_seconds", Rule::Number(1, LONGEST))];

/// `dev_ports` in the config; both are in the range.
pub(crate) const DEV_PORTS: Keys =
    &[("first", Rule::Number(1024, 65_535)), ("last", Rule::Number(1024, 65_535))];

/// Half an hour is much for a setup, and little for somebody who finds one that hangs.
const SECONDS: u64 = 30 * 60;

pub(crate) fn default_scripts() -> Value {
    json!({ "setup_seconds": SECONDS, "cleanup_seconds": SECONDS })
}

pub(crate) fn default_dev_ports() -> Value {
    json!({ "first": Range::DEFAULT.first, "last": Range::DEFAULT.last })
}

impl Engine {
    /// How long a script may take; a dev server may go on.
    pub(crate) async fn time_limit(&self, kind: RunKind) -> Option<Duration> {
        let key = match kind {
            RunKind::Setup => "setup_seconds",
            RunKind::Cleanup => "cleanup_seconds",
            RunKind::Agent | RunKind::DevServer => return None,
        };
        let set = self.section("scripts").await.get(key).and_then(Value::as_u64);
        Some(Duration::from_secs(set.unwrap_or(SECONDS)))
    }

    /// The ports that may be leased.
    pub(crate) async fn port_range(&self) -> Range {
        let section = self.section("dev_ports").await;
        let port = |key: &str| section.get(key).and_then(Value::as_u64).and_then(|it| u16::try_from(it).ok());
        let range = Range {
            first: port("first").unwrap_or(Range::DEFAULT.first),
            last: port("last").unwrap_or(Range::DEFAULT.last),
        };
        // A range without room for anybody was not meant.
        if range.last.saturating_sub(range.first) + 1 < EACH { Range::DEFAULT } else { range }
    }

    /// A section of the config; nothing when the config cannot be read, which whoever starts an agent is told.
    async fn section(&self, key: &'static str) -> Map<String, Value> {
        let engine = self.clone();
        let config = blocking(move || engine.stored_config()).await.and_then(|config| config);
        match config.ok().and_then(|mut config| config.remove(key)) {
            Some(Value::Object(section)) => section,
            _ => Map::new(),
        }
    }
}
