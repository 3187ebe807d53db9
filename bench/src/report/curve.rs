//! Draws how a cost grows with a size: the metrics `ns_1k`, `ns_10k`, ... of one workload, as a
//! line over a logarithmic axis. A flat line is a cost that does not grow.

use super::palette::{FAINT_INK, GRID, INK, OURS, PAPER, style};
use crate::record::Figure;
use crate::table::number;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Text};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};
use std::error::Error;

const SIZE: (u32, u32) = (860, 420);
const LEFT: i32 = 90;
const RIGHT: i32 = 790;
const TOP: i32 = 80;
const BOTTOM: i32 = 340;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// A point of the line: a size, and the cost of one operation at that size.
struct Point<'a> {
    thousands: f64,
    figure: &'a Figure,
}

/// Returns the curve of a peer's figures in a workload as SVG, if they have at least two sizes.
pub(super) fn svg(figures: &[Figure], peer: &str, machine: &str) -> Result<Option<String>, Box<dyn Error>> {
    let mut points: Vec<_> =
        figures.iter().filter(|figure| figure.key.peer == peer).filter_map(point).collect();
    points.sort_by(|one, other| one.thousands.total_cmp(&other.thousands));
    if points.len() < 2 {
        return Ok(None);
    }
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&PAPER)?;
        draw(&area, &points, machine)?;
        area.present()?;
    }
    Ok(Some(text))
}

fn point(figure: &Figure) -> Option<Point<'_>> {
    let thousands = figure.key.metric.strip_prefix("ns_")?.strip_suffix('k')?.parse().ok()?;
    Some(Point { thousands, figure })
}

fn draw(area: &Area<'_>, points: &[Point<'_>], machine: &str) -> Drawn {
    let key = &points[0].figure.key;
    let title = format!("{}, {}: ns each, by their number", key.workload, key.peer);
    words(area, &title, (24, 28), 21, INK, HPos::Left)?;
    let note = "medians; whiskers: minimum and maximum; logarithmic axis";
    words(area, note, (24, 54), 14, FAINT_INK, HPos::Left)?;
    words(area, machine, (24, SIZE.1 as i32 - 18), 14, FAINT_INK, HPos::Left)?;
    let most = points.iter().map(|point| point.figure.summary.max).fold(1.0, f64::max);
    let y = |value: f64| BOTTOM - (value / most * f64::from(BOTTOM - TOP)).round() as i32;
    for quarter in 0..=4 {
        let value = most * f64::from(quarter) / 4.0;
        line(area, (LEFT, y(value)), (RIGHT, y(value)), GRID, 1)?;
        words(area, &number(value), (LEFT - 10, y(value)), 15, FAINT_INK, HPos::Right)?;
    }
    let (first, last) = (points[0].thousands.ln(), points[points.len() - 1].thousands.ln());
    let x = |point: &Point<'_>| {
        LEFT + ((point.thousands.ln() - first) / (last - first) * f64::from(RIGHT - LEFT)).round() as i32
    };
    let places: Vec<_> = points.iter().map(|point| (x(point), y(point.figure.summary.median))).collect();
    area.draw(&PathElement::new(places.clone(), OURS.stroke_width(2)))?;
    for (point, &(x, median)) in points.iter().zip(&places) {
        let summary = point.figure.summary;
        line(area, (x, y(summary.min)), (x, y(summary.max)), INK, 1)?;
        area.draw(&Circle::new((x, median), 5, OURS.filled()))?;
        words(area, &number(summary.median), (x, median - 16), 15, OURS, HPos::Center)?;
        words(area, &number(point.thousands * 1000.0), (x, BOTTOM + 18), 15, FAINT_INK, HPos::Center)?;
    }
    Ok(())
}

fn words(area: &Area<'_>, text: &str, place: (i32, i32), size: i32, colour: RGBColor, side: HPos) -> Drawn {
    Ok(area.draw(&Text::new(text.to_owned(), place, style(size, colour, side)))?)
}

fn line(area: &Area<'_>, from: (i32, i32), to: (i32, i32), colour: RGBColor, width: u32) -> Drawn {
    Ok(area.draw(&PathElement::new([from, to], colour.stroke_width(width)))?)
}

#[cfg(test)]
mod tests {
    use super::svg;
    use crate::record::{Figure, sample};

    fn sized(metric: &str, median: f64) -> Figure {
        let mut figure = sample("sinew", median, [median - 1.0, median + 1.0]);
        figure.key.metric = metric.to_owned();
        figure
    }

    #[test]
    fn a_curve_needs_two_sizes() {
        let figures = [sized("ns", 5.0), sized("ns_1k", 5.0)];
        assert!(svg(&figures, "sinew", "here").unwrap().is_none());
        let figures = [sized("ns_100k", 7.0), sized("ns_1k", 5.0), sized("bytes", 9.0)];
        let drawn = svg(&figures, "sinew", "here").unwrap().unwrap();
        assert!(drawn.contains("100,000") && drawn.contains("1,000") && drawn.contains("here"), "{drawn}");
        assert!(svg(&figures, "another", "here").unwrap().is_none());
    }
}
