//! Draws all workloads of a run in one picture: a row for each, and on it a dot for each peer, as
//! far to the right as the peer costs more than sinew.

use super::palette::{FAINT_INK, GRID, INK, OURS, PAPER, style};
use super::scale::Scale;
use crate::panel::Panel;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Text};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};
use std::error::Error;

const WIDTH: i32 = 860;
const LEFT: i32 = 230;
const RIGHT: i32 = 820;
const TOP: i32 = 108;
const ROW: i32 = 26;
const FOOT: i32 = 64;

/// The peers that are shown, each with a colour that is told apart without seeing red and green.
const PEERS: [(&str, RGBColor); 4] = [
    ("tokio", RGBColor(0, 114, 178)),
    ("go", RGBColor(0, 158, 115)),
    ("may", RGBColor(204, 121, 167)),
    ("rayon", RGBColor(120, 120, 120)),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// A workload, and what each peer costs in it, with sinew as 1.
struct Row {
    title: String,
    costs: Vec<(usize, f64)>,
}

impl Row {
    /// The row of a panel, if sinew and one of the peers are in it.
    fn of(panel: &Panel<'_>) -> Option<Self> {
        let sinew = panel.sinew()?;
        let cost = |peer: &str| {
            let figure = panel.figures.iter().find(|figure| figure.key.peer == peer)?;
            let ratio = figure.summary.median / sinew.summary.median;
            let cost = if panel.is_lower_better() { ratio } else { 1.0 / ratio };
            (cost.is_finite() && cost > 0.0).then_some(cost)
        };
        let costs: Vec<_> = (0..).zip(PEERS).filter_map(|(at, (peer, _))| Some((at, cost(peer)?))).collect();
        let key = &sinew.key;
        let threads = if key.threads == 1 { "1 worker" } else { "2 workers" };
        (!costs.is_empty()).then(|| Self { title: format!("{}, {threads}", key.workload), costs })
    }
}

/// The picture, if there is anything to compare. Of each workload only the headline is shown.
pub(super) fn svg(panels: &[Panel<'_>], machine: &str) -> Result<Option<String>, Box<dyn Error>> {
    let headlines = panels.iter().filter(|panel| panel.is_headline());
    let rows: Vec<Row> = headlines.filter_map(Row::of).collect();
    if rows.len() < 2 {
        return Ok(None);
    }
    let height = TOP + ROW * rows.len() as i32 + FOOT;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH as u32, height as u32)).into_drawing_area();
        area.fill(&PAPER)?;
        draw(&area, &rows, machine, height)?;
        area.present()?;
    }
    Ok(Some(text))
}

fn draw(area: &Area<'_>, rows: &[Row], machine: &str, height: i32) -> Drawn {
    words(area, "What peers cost, with sinew as 1", (24, 28), 21, INK, HPos::Left)?;
    let note = "medians of one run; logarithmic axis; right of the line: the peer costs more";
    words(area, note, (24, 54), 14, FAINT_INK, HPos::Left)?;
    legend(area)?;
    let costs = rows.iter().flat_map(|row| row.costs.iter().map(|&(_, cost)| cost));
    let values: Vec<f64> = costs.chain([0.5, 1.0, 20.0]).collect();
    let scale = Scale::new(&values);
    let x = |value: f64| LEFT + (scale.place(value) * f64::from(RIGHT - LEFT)).round() as i32;
    let bottom = TOP + ROW * rows.len() as i32;
    for tick in scale.ticks() {
        line(area, (x(tick), TOP - 6), (x(tick), bottom), GRID, 1)?;
        words(area, &format!("{tick} ×"), (x(tick), bottom + 14), 14, FAINT_INK, HPos::Center)?;
    }
    line(area, (x(1.0), TOP - 6), (x(1.0), bottom), OURS, 2)?;
    for (row, middle) in rows.iter().zip((TOP + ROW / 2..).step_by(ROW as usize)) {
        words(area, &row.title, (LEFT - 14, middle), 15, INK, HPos::Right)?;
        line(area, (LEFT, middle), (RIGHT, middle), GRID, 1)?;
        for &(peer, cost) in &row.costs {
            area.draw(&Circle::new((x(cost), middle), 5, PEERS[peer].1.filled()))?;
        }
    }
    words(area, machine, (24, height - 18), 14, FAINT_INK, HPos::Left)
}

fn legend(area: &Area<'_>) -> Drawn {
    let names = [("sinew", OURS)].into_iter().chain(PEERS);
    for ((name, colour), left) in names.zip((24..).step_by(90)) {
        area.draw(&Circle::new((left + 6, 82), 5, colour.filled()))?;
        words(area, name, (left + 18, 82), 15, INK, HPos::Left)?;
    }
    Ok(())
}

fn line(area: &Area<'_>, from: (i32, i32), to: (i32, i32), colour: RGBColor, width: u32) -> Drawn {
    Ok(area.draw(&PathElement::new([from, to], colour.stroke_width(width)))?)
}

fn words(area: &Area<'_>, text: &str, place: (i32, i32), size: i32, ink: RGBColor, side: HPos) -> Drawn {
    Ok(area.draw(&Text::new(text.to_owned(), place, style(size, ink, side)))?)
}
