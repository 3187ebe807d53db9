//! A table of three columns, the middle one wrapped. Knows no terminal and no chapter.

use super::text::{length, padded, wrap};

/// A row: a name, what is said of it, and a short value to the right.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) words: String,
    pub(crate) value: String,
}

/// Returns the lines of a table, none wider than `width`, if the outer columns leave room.
pub(crate) fn lines(rows: &[Row], width: usize) -> Vec<String> {
    let names = rows.iter().map(|row| length(&row.name)).max().unwrap_or(0);
    let values = rows.iter().map(|row| length(&row.value)).max().unwrap_or(0);
    let middle = width.saturating_sub(names + values + 6).max(8);
    let mut lines = Vec::new();
    for row in rows {
        for (index, words) in wrap(&row.words, middle).into_iter().enumerate() {
            let (name, value) = if index == 0 { (&*row.name, &*row.value) } else { ("", "") };
            let line = format!("  {}  {}  {value:>values$}", padded(name, names), padded(&words, middle));
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_column_wraps() {
        let row = |name: &str, words: &str| Row {
            name: name.to_owned(),
            words: words.to_owned(),
            value: "1.0 s".to_owned(),
        };
        let lines = lines(&[row("first", "one two three four"), row("x", "five")], 28);
        assert_eq!(
            lines,
            ["  first  one two       1.0 s", "         three four", "  x      five          1.0 s"]
        );
    }
}
