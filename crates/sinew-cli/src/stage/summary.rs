//! The end of the tour: a table of all chapters, and a picture of the times that they measured.

use std::time::Duration;

use super::chapter::Unit;
use super::report::Shown;
use crate::output::chart::{self, Row};
use crate::output::screen::Screen;
use crate::output::svg;
use crate::output::table;
use crate::output::terminal::Style;
use crate::output::text::{counted, time};

/// What the picture shows.
const CAPTION: &str = "What takes how long, on a logarithmic scale";

/// Tells people what was shown, and which checks failed.
pub(crate) fn tell(screen: &Screen, all: &[Shown], took: Duration) {
    heading(screen, "Summary");
    table::lines(&rows(all), screen.terminal().width()).iter().for_each(|line| screen.line(line));
    let times = times(all);
    if !times.is_empty() {
        heading(screen, CAPTION);
        chart::lines(&times, screen.terminal().width()).iter().for_each(|line| screen.line(line));
    }
    screen.line("");
    let chapters = counted(all.len() as u64, "chapter");
    let took = time(took.as_secs_f64());
    let failed: Vec<_> =
        all.iter().filter(|shown| shown.outcome.is_err()).map(|shown| shown.chapter.name).collect();
    if failed.is_empty() {
        screen.paragraph("", Style::Good, &format!("{chapters}, every check passed, {took}"));
    } else {
        screen.paragraph("", Style::Bad, &format!("{chapters}, {took}. Failed: {}", failed.join(", ")));
    }
}

/// Draws the picture for a file.
pub(crate) fn picture(all: &[Shown], machine: &str) -> String {
    svg::draw(CAPTION, machine, &times(all))
}

fn heading(screen: &Screen, words: &str) {
    screen.line("");
    screen.paragraph("", Style::Bold, words);
}

fn rows(all: &[Shown]) -> Vec<table::Row> {
    let row = |shown: &Shown| table::Row {
        name: shown.chapter.name.to_owned(),
        words: match &shown.outcome {
            Ok(findings) => findings.result.clone(),
            Err(_) => "FAILED".to_owned(),
        },
        value: time(shown.took.as_secs_f64()),
    };
    all.iter().map(row).collect()
}

/// The times that chapters measured, the shortest first.
fn times(all: &[Shown]) -> Vec<Row> {
    let findings = all.iter().filter_map(|shown| shown.outcome.as_ref().ok());
    let measures = findings.flat_map(|findings| &findings.measures);
    let mut rows: Vec<_> = measures
        .filter(|measure| measure.unit == Unit::Seconds)
        .map(|measure| Row { label: measure.name.to_owned(), seconds: measure.value })
        .collect();
    rows.sort_by(|left, right| left.seconds.total_cmp(&right.seconds));
    rows
}
