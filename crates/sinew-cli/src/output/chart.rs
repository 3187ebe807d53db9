//! Times side by side: a bar for each, on a logarithmic scale. Knows no terminal and no chapter.

use super::text::{length, padded, time, wrap};

/// One bar.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) seconds: f64,
}

/// The powers of ten that a chart begins and ends with, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) first: i32,
    pub(crate) last: i32,
}

impl Scale {
    /// The smallest scale that has all rows on it, and at least one decade.
    pub(crate) fn of(rows: &[Row]) -> Self {
        let exponents = || rows.iter().map(|row| exponent(row.seconds));
        let first = exponents().fold(f64::INFINITY, f64::min).floor();
        let last = exponents().fold(f64::NEG_INFINITY, f64::max).ceil();
        if !first.is_finite() || !last.is_finite() {
            return Self { first: -9, last: 0 };
        }
        Self { first: first as i32, last: (last as i32).max(first as i32 + 1) }
    }

    /// Where a time is, from 0 to 1.
    pub(crate) fn place(self, seconds: f64) -> f64 {
        let span = f64::from(self.last - self.first);
        ((exponent(seconds) - f64::from(self.first)) / span).clamp(0.0, 1.0)
    }
}

/// Times that a clock cannot tell from nothing count as a picosecond.
fn exponent(seconds: f64) -> f64 {
    seconds.max(1e-12).log10()
}

/// Returns the lines of a chart, none wider than `width`.
pub(crate) fn lines(rows: &[Row], width: usize) -> Vec<String> {
    let scale = Scale::of(rows);
    let values: Vec<String> = rows.iter().map(|row| time(row.seconds)).collect();
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let values_width = widest(&mut values.iter().map(|value| length(value)));
    let labels_width = widest(&mut rows.iter().map(|row| length(&row.label)));
    // A gap of two columns on either side of the bar. A label that leaves no room for it gets a
    // line of its own.
    let beside = width.saturating_sub(labels_width + values_width + 6);
    let (labels_width, bar_width) =
        if beside >= 10 { (labels_width, beside) } else { (0, width.saturating_sub(values_width + 6)) };
    let mut lines = Vec::new();
    for (row, value) in rows.iter().zip(values) {
        // Even the shortest time has a mark.
        let marks = 1 + (scale.place(row.seconds) * bar_width.saturating_sub(1) as f64).round() as usize;
        let bar = padded(&"█".repeat(marks), bar_width);
        if labels_width == 0 {
            lines.extend(wrap(&row.label, width.saturating_sub(2)).iter().map(|label| format!("  {label}")));
            lines.push(format!("  {bar}  {value:>values_width$}"));
        } else {
            lines.push(format!("  {}  {bar}  {value:>values_width$}", padded(&row.label, labels_width)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        [("switch", 5e-9), ("a fiber, spawned and joined", 2e-7), ("a thread", 1e-3)]
            .map(|(label, seconds)| Row { label: label.to_owned(), seconds })
            .to_vec()
    }

    #[test]
    fn the_scale_begins_and_ends_at_powers_of_ten() {
        let scale = Scale::of(&rows());
        assert_eq!(scale, Scale { first: -9, last: -3 });
        assert_eq!([1e-9, 1e-6, 1e-3, 1.0].map(|seconds| scale.place(seconds)), [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(Scale::of(&[]), Scale { first: -9, last: 0 });
    }

    #[test]
    fn longer_times_have_longer_bars_that_fit() {
        for width in [20, 40, 80, 100] {
            let lines = lines(&rows(), width);
            assert!(lines.iter().all(|line| length(line) <= width), "{width}: {lines:#?}");
            let marks: Vec<_> =
                lines.iter().map(|line| line.matches('█').count()).filter(|&n| n > 0).collect();
            assert!(marks.len() == 3 && marks.is_sorted() && marks[0] < marks[2], "{width}: {lines:#?}");
        }
    }
}
