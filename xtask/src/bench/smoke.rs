//! Whether every row can be measured: each is, with little of everything. What a figure is does not matter here.

use std::path::Path;
use std::time::Instant;

use super::{Measure, Size};

/// Measures each row small, and tells which cannot be measured; says whether all could.
pub(super) fn run(forge: &Path, chosen: &[(&str, Measure)]) -> bool {
    let begun = Instant::now();
    let (mut rows, mut failed) = (0, Vec::new());
    for (name, measure) in chosen {
        let begun = Instant::now();
        match measure(forge, Size::Small) {
            Ok(measured) if measured.is_empty() => {
                println!("smoke: {name:<10} gave no row");
                failed.push(*name);
            }
            Ok(measured) => {
                rows += measured.len();
                println!(
                    "smoke: {name:<10} {} rows in {:.1} s",
                    measured.len(),
                    begun.elapsed().as_secs_f64()
                );
            }
            Err(error) => {
                println!("smoke: {name:<10} could not be measured: {error:#}");
                failed.push(*name);
            }
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    if failed.is_empty() {
        println!("smoke: all {rows} rows could be measured, in {seconds:.0} s");
    } else {
        println!("smoke: {} of {} could not be measured: {}", failed.len(), chosen.len(), failed.join(", "));
    }
    failed.is_empty()
}
