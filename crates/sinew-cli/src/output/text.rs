//! Text in columns: wrapped lines, numbers, times and sizes. Knows no terminal.

/// Breaks text into lines of at most `width` characters, at spaces where there are any.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace().flat_map(|word| pieces(word, width)) {
        if !line.is_empty() && length(&line) + 1 + length(&word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines
}

/// A word longer than a line, in pieces that fit.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    characters.chunks(width).map(|piece| piece.iter().collect()).collect()
}

/// The columns that a text takes. Every character that the program prints takes one.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns the text with spaces after it, `width` columns in all.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(length(text))))
}

/// Returns a number with commas: `1,000,000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a count with its noun: `1 worker`, `2 workers`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Returns a time with three digits and its unit: `3.42 µs`.
pub(crate) fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 1e-6 => (seconds * 1e9, "ns"),
        seconds if seconds < 1e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Returns a size with three digits and its unit: `4.20 KiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let (mut value, mut units) = (bytes as f64, ["B", "KiB", "MiB", "GiB", "TiB"].into_iter());
    let mut unit = units.next().unwrap_or_default();
    while value >= 1024.0 {
        let Some(larger) = units.next() else { break };
        (value, unit) = (value / 1024.0, larger);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{} {unit}", three_digits(value)) }
}

/// Returns a report with the files that it names, but not their folders, which are long.
pub(crate) fn without_folders(report: &str) -> String {
    let file = |word: &str| word.rsplit_once('/').map_or(word.to_owned(), |(_, file)| file.to_owned());
    report.split(' ').map(file).collect::<Vec<_>>().join(" ")
}

fn three_digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("a/very/long/path b", 6), ["a/very", "/long/", "path b"]);
        assert_eq!(wrap("", 7), [""]);
    }

    #[test]
    fn reports_name_files_without_folders() {
        let report = "made at crates/sinew/src/lib.rs:1:2, on purpose";
        assert_eq!(without_folders(report), "made at lib.rs:1:2, on purpose");
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([3.4e-9, 0.000_012_34, 0.25, 61.0].map(time), ["3.40 ns", "12.3 µs", "250 ms", "61.0 s"]);
        assert_eq!([0, 1_023, 4_301, 5 << 30].map(bytes), ["0 B", "1023 B", "4.20 KiB", "5.00 GiB"]);
        assert_eq!([counted(1, "worker"), counted(2, "worker")], ["1 worker", "2 workers"]);
    }
}
