//! Tables for people, on a terminal or in Markdown.

/// Rows of text under headings: first columns of words, aligned left, then columns of numbers,
/// aligned right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    words: usize,
}

impl Table {
    /// Makes a table with these columns.
    pub(crate) fn new(words: &[&str], numbers: &[&str]) -> Self {
        let headings = words.iter().chain(numbers).map(ToString::to_string).collect();
        Self { rows: vec![headings], words: words.len() }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Returns the table with its columns aligned.
    pub(crate) fn text(&self) -> String {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(i, (cell, &width))| match i < self.words {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned() + "\n"
        };
        self.rows.iter().map(line).collect()
    }

    /// Returns the table in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let numbers = self.rows[0].len() - self.words;
        let rule = format!("|{}{}\n", " --- |".repeat(self.words), " ---: |".repeat(numbers));
        let (head, body) = self.rows.split_first().expect("a table has headings");
        line(head) + &rule + &body.iter().map(line).collect::<String>()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max();
        (0..self.rows[0].len()).map(|column| width(column).unwrap_or(0)).collect()
    }
}

/// Formats a figure with about three significant digits and separated thousands.
pub(crate) fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    grouped(whole) + rest
}

fn grouped(whole: &str) -> String {
    let mut text = String::new();
    for (i, digit) in whole.chars().enumerate() {
        let left = whole.len() - i;
        if left.is_multiple_of(3) && text.ends_with(|last: char| last.is_ascii_digit()) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Table, number};

    #[test]
    fn numbers_are_short() {
        let shown = [1.234_5, 12.34, 123.4, 1234.5, 1_234_567.0, 0.0, -1234.0].map(number);
        assert_eq!(shown, ["1.23", "12.3", "123", "1,234", "1,234,567", "0.00", "-1,234"]);
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["peer"], &["median"]);
        table.push(vec!["go".into(), "1.5".into()]);
        assert_eq!(table.text(), "  peer  median\n  go       1.5\n");
        assert_eq!(table.markdown(), "| peer | median |\n| --- | ---: |\n| go | 1.5 |\n");
    }
}
