//! How long somebody is told to wait, in words: `try again in 2 hours 5 minutes`, `retry after 30s`. Anything else is
//! no time: a limit that ends at a wrong moment is worse than one whose end nobody knows.

/// The longest wait that is believed: a month.
const LONGEST_MS: f64 = 31.0 * 24.0 * 3600.0 * 1000.0;

/// Returns the wait that a text tells, in milliseconds.
pub(crate) fn told_ms(text: &str) -> Option<i64> {
    let lower = text.to_lowercase();
    let after = [
        "try again in ",
        "retry in ",
        "retry after ",
        "retrying in ",
        "resets in ",
        "reset in ",
        "again after ",
    ];
    after.iter().find_map(|words| {
        let (_, rest) = lower.split_once(words)?;
        duration_ms(rest)
    })
}

/// Reads as many numbers with units as a text begins with.
fn duration_ms(mut text: &str) -> Option<i64> {
    let mut sum = None;
    loop {
        let rest = text.trim_start_matches([' ', ',', ':']);
        let rest = rest.strip_prefix("and ").unwrap_or(rest);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (number, rest) = rest.split_at(digits);
        let rest = rest.trim_start_matches(' ');
        let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, rest) = rest.split_at(letters);
        let (Ok(number), Some(unit)) = (number.parse::<f64>(), unit_ms(unit)) else { break };
        sum = Some(sum.unwrap_or(0.0) + number * unit);
        text = rest;
    }
    sum.filter(|ms| (0.0..=LONGEST_MS).contains(ms)).map(|ms| ms.ceil() as i64)
}

fn unit_ms(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" => 1.0,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
        "d" | "day" | "days" => 86_400_000.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_all_its_wordings_and_nothing_else_is_one() {
        const MINUTE: i64 = 60_000;
        for (text, ms) in [
            ("Please try again in 2 h 5 m.", 125 * MINUTE),
            (
                "You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.",
                ((3 * 24 + 4) * 60 + 5) * MINUTE,
            ),
            ("Rate limit reached, please try again in 1m30s", 90_000),
            ("Please retry in 34.074824224s.", 34_075),
            ("limit: retry after 1 hour, 2 minutes and 3 seconds", 62 * MINUTE + 3000),
            ("resets in 250ms", 250),
        ] {
            assert_eq!(told_ms(text), Some(ms), "{text}");
        }
        for text in [
            "try again in a moment",
            "try again in 5",
            "try again in 5 pieces",
            "it took 5 minutes",
            "resets 3pm",
            "try again in 99999 days",
            "try again in 1.2.3 s",
        ] {
            assert_eq!(told_ms(text), None, "{text}");
        }
    }
}
