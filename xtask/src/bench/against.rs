//! Two binaries beside each other: each row is measured with both in turns, so that what else the machine does meets both
//! alike, and their medians are compared.

use std::path::Path;

use anyhow::Context;

use super::{Measure, Row, Size, print};

/// How much worse a median may be.
const WORSE: f64 = 1.05;

/// What was measured of one row, in the order of the rounds.
#[derive(Debug)]
struct Compared {
    what: &'static str,
    older: Vec<f64>,
    newer: Vec<f64>,
}

/// Measures with both binaries so many times, and prints how their medians compare; says whether none is worse.
pub(super) fn run(
    older: &Path,
    newer: &Path,
    rounds: u32,
    chosen: &[(&str, Measure)],
) -> anyhow::Result<bool> {
    let mut compared = Vec::new();
    for (name, measure) in chosen {
        let mut rows: Vec<Compared> = Vec::new();
        for round in 0..rounds {
            eprintln!("bench: {name}, round {} of {rounds}", round + 1);
            let with = |binary: &Path, which: &str| {
                measure(binary, Size::Whole)
                    .with_context(|| format!("could not measure {name} with the {which} binary"))
            };
            // Who goes first changes, because the second finds other caches than the first.
            if round % 2 == 0 {
                add(&mut rows, with(older, "older")?, |row| &mut row.older);
                add(&mut rows, with(newer, "newer")?, |row| &mut row.newer);
            } else {
                add(&mut rows, with(newer, "newer")?, |row| &mut row.newer);
                add(&mut rows, with(older, "older")?, |row| &mut row.older);
            }
        }
        compared.extend(rows);
    }
    let lines: Vec<_> = compared.iter().map(line).collect();
    print(["what (ms or MB)", "older", "newer", "newer / older"], &lines);
    Ok(lines.iter().all(|(_, ok)| *ok))
}

/// Adds what one binary gave in one round.
fn add(rows: &mut Vec<Compared>, measured: Vec<Row>, side: fn(&mut Compared) -> &mut Vec<f64>) {
    for row in measured {
        let Some(figure) = row.figure else { continue };
        let at = rows.iter().position(|known| known.what == row.what).unwrap_or_else(|| {
            rows.push(Compared { what: row.what, older: Vec::new(), newer: Vec::new() });
            rows.len() - 1
        });
        side(&mut rows[at]).push(figure);
    }
}

fn line(row: &Compared) -> ([String; 4], bool) {
    let (older, newer) = (median(&row.older), median(&row.newer));
    let ratio = older.zip(newer).map(|(older, newer)| newer / older);
    let told = [
        row.what.to_string(),
        spread(older, &row.older),
        spread(newer, &row.newer),
        ratio.map_or_else(|| "-".to_string(), |ratio| format!("{ratio:.3}")),
    ];
    // A row that only one of them has cannot be worse.
    (told, ratio.is_none_or(|ratio| ratio <= WORSE))
}

/// Tells a median with the least and the most, so that a reader sees how far to trust it.
fn spread(median: Option<f64>, figures: &[f64]) -> String {
    let Some(median) = median else { return "-".to_string() };
    let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
    let most = figures.iter().copied().fold(0.0, f64::max);
    format!("{median:.2} ({least:.2} to {most:.2})")
}

fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(older: &[f64], newer: &[f64]) -> Compared {
        Compared { what: "a row", older: older.to_vec(), newer: newer.to_vec() }
    }

    #[test]
    fn a_median_that_is_more_than_five_percent_worse_is_not_ok() {
        assert!(line(&compared(&[10.0, 99.0, 9.0], &[10.5, 10.4, 50.0])).1);
        assert!(!line(&compared(&[10.0, 99.0, 9.0], &[10.6, 10.4, 50.0])).1);
        assert!(line(&compared(&[], &[10.0])).1, "a new row has nothing to be worse than");
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn rows_of_both_binaries_meet_by_name_and_those_without_a_figure_are_left_out() {
        let row = |what, figure| Row {
            what,
            measured: String::new(),
            floor: String::new(),
            limit: String::new(),
            figure,
            ok: true,
        };
        let mut rows = Vec::new();
        add(&mut rows, vec![row("one", Some(1.0)), row("two", None)], |row| &mut row.older);
        add(&mut rows, vec![row("three", Some(3.0)), row("one", Some(2.0))], |row| &mut row.newer);
        let found: Vec<_> = rows.iter().map(|row| (row.what, row.older.len(), row.newer.len())).collect();
        assert_eq!(found, [("one", 1, 1), ("three", 0, 1)]);
    }
}
