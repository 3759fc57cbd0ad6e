//! Rows for people: columns as wide as they have to be, and what is known of one thing, a line each. What comes from
//! elsewhere is made harmless for a terminal first.

use serde_json::Value;

use crate::exit::Result;
use crate::output::{Output, Tone, short};

/// Longer cells are cut.
const WIDEST: usize = 80;

/// A table with a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(heading: &[&str]) -> Self {
        Self { heading: heading.iter().map(|cell| (*cell).to_string()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows.push(cells.iter().map(|cell| short(cell, WIDEST)).collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints the heading and the rows.
    pub(crate) fn print(&self, output: &Output) -> Result<()> {
        for (number, line) in self.lines().into_iter().enumerate() {
            output.line(if number == 0 { output.tone(Tone::Dim, &line) } else { line })?;
        }
        Ok(())
    }

    /// Returns the heading and the rows as text.
    pub(crate) fn lines(&self) -> Vec<String> {
        let all = || std::iter::once(&self.heading).chain(&self.rows);
        let width =
            |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..self.heading.len()).map(|column| width(column).unwrap_or(0)).collect();
        all()
            .map(|row| {
                let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
                cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
            })
            .collect()
    }
}

/// Prints what is known of one thing, a line each; what is not known is left out.
pub(crate) fn details(output: &Output, lines: &[(&str, &str)]) -> Result<()> {
    let known = || lines.iter().filter(|(_, value)| !value.is_empty());
    let width = known().map(|(label, _)| label.len()).max().unwrap_or(0);
    for (label, value) in known() {
        let label = output.tone(Tone::Dim, &format!("{label:<width$}"));
        output.line(format_args!("{label}  {}", short(value, 200)))?;
    }
    Ok(())
}

/// Returns a text of an object; nothing when there is none.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Returns a number of an object as text; a dash when it is not known.
pub(crate) fn number(value: &Value, key: &str) -> String {
    value[key].as_i64().map_or_else(|| "-".to_string(), |number| number.to_string())
}

/// Returns the things of a list.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_control_characters_are_gone() {
        let mut table = Table::new(&["A", "B"]);
        table.row(["long one", "x\x1b[2Jy"]);
        assert_eq!(table.lines(), ["A         B", "long one  x[2Jy"]);
    }
}
