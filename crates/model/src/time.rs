//! A moment, as whole milliseconds since 1970 in UTC: what the store keeps and the wire prints.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// A moment in UTC, to the millisecond. Serialises as RFC 3339 with a `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// Makes a moment from milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns the day in UTC, as `2026-01-31`.
    pub fn day(self) -> String {
        self.to_string().chars().take(10).collect()
    }

    /// Returns the moment `millis` later, stopping at the end of time instead of wrapping.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A stored number outside jiff's range can only come from a damaged row; show the epoch, not a panic.
        let moment = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        write!(f, "{moment:.3}")
    }
}

impl std::str::FromStr for Time {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        Ok(Self(text.parse::<jiff::Timestamp>()?.as_millisecond()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl schemars::JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_prints_with_milliseconds_and_a_z() {
        assert_eq!(Time::from_millis(1_760_000_000_007).to_string(), "2025-10-09T08:53:20.007Z");
    }

    #[test]
    fn a_moment_survives_json() {
        let moment = Time::from_millis(1_760_000_000_120);
        let json = serde_json::to_string(&moment).unwrap();
        assert_eq!(serde_json::from_str::<Time>(&json).unwrap(), moment);
    }

    #[test]
    fn a_number_out_of_range_prints_the_epoch_instead_of_panicking() {
        assert_eq!(Time::from_millis(i64::MAX).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
