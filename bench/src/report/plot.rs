//! Draws a workload as SVG. Each metric and number of threads has a panel of horizontal bars, the
//! best on top, ours in its own colour, with whiskers from the minimum to the maximum repetition.

use super::palette::{FAINT_INK, GRID, INK, OTHERS, OURS, PAPER, style};
use super::scale::Scale;
use crate::panel::{Panel, is_ours};
use crate::table::number;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, FontStyle, RGBColor, TextStyle};
use std::error::Error;

const WIDTH: i32 = 860;
const MARGIN: i32 = 24;
const PANEL_HEAD: i32 = 64;
const PANEL_FOOT: i32 = 70;
const REMARK: i32 = 18;
const ROW: i32 = 34;
const BAR: i32 = 20;
const MACHINE_LINE: i32 = 28;
/// Room to the right of the axis, for the number of the longest bar.
const NUMBERS: i32 = 130;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Returns the panels of one workload as the text of an SVG file.
pub(super) fn svg(panels: &[Panel<'_>], machine: &str) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let height: i32 = MARGIN + panels.iter().map(height).sum::<i32>() + MACHINE_LINE;
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH as u32, height as u32)).into_drawing_area();
        area.fill(&PAPER)?;
        let mut top = MARGIN;
        for panel in panels {
            Canvas::new(&area, panel, top).draw()?;
            top += self::height(panel);
        }
        let place = (MARGIN, height - MACHINE_LINE + 4);
        area.draw(&Text::new(machine.to_owned(), place, style(14, FAINT_INK, HPos::Left)))?;
        area.present()?;
    }
    Ok(text)
}

fn height(panel: &Panel<'_>) -> i32 {
    PANEL_HEAD + ROW * panel.figures.len() as i32 + REMARK * panel.deviations().len() as i32 + PANEL_FOOT
}

/// One panel at its place in the drawing.
struct Canvas<'a, 's> {
    area: &'a Area<'s>,
    panel: &'a Panel<'a>,
    scale: Scale,
    top: i32,
    left: i32,
}

impl<'a, 's> Canvas<'a, 's> {
    fn new(area: &'a Area<'s>, panel: &'a Panel<'a>, top: i32) -> Self {
        let longest = panel.figures.iter().map(|figure| figure.key.peer.chars().count()).max().unwrap_or(0);
        // No font is measured: nine units are more than an average letter of this size takes.
        let left = MARGIN + 9 * longest as i32 + 12;
        Self { area, panel, scale: Scale::of(panel), top, left }
    }

    fn draw(&self) -> Drawn {
        let title = style(21, INK, HPos::Left);
        let title = TextStyle { font: title.font.style(FontStyle::Bold), ..title };
        self.text(&self.panel.title, (MARGIN, self.top + 8), title)?;
        self.text(self.panel.what, (MARGIN, self.top + 32), style(16, FAINT_INK, HPos::Left))?;
        self.axis()?;
        (0..self.panel.figures.len()).try_for_each(|row| self.bar(row))
    }

    fn text(&self, text: &str, place: (i32, i32), style: TextStyle<'static>) -> Drawn {
        Ok(self.area.draw(&Text::new(text.to_owned(), place, style))?)
    }

    fn line(&self, from: (i32, i32), to: (i32, i32), colour: RGBColor, width: u32) -> Drawn {
        Ok(self.area.draw(&PathElement::new([from, to], colour.stroke_width(width)))?)
    }

    /// Returns the horizontal position of a value.
    fn x(&self, value: f64) -> i32 {
        let width = WIDTH - MARGIN - NUMBERS - self.left;
        self.left + (self.scale.place(value) * f64::from(width)).round() as i32
    }

    fn axis(&self) -> Drawn {
        let from = self.top + PANEL_HEAD - 6;
        let to = self.top + PANEL_HEAD + ROW * self.panel.figures.len() as i32;
        for tick in self.scale.ticks() {
            let x = self.x(tick);
            self.line((x, from), (x, to), GRID, 1)?;
            self.text(&mark(tick), (x, to + 12), style(15, FAINT_INK, HPos::Center))?;
        }
        self.line((self.left, from), (self.left, to), FAINT_INK, 1)?;
        let note = if self.scale.is_logarithmic() { "logarithmic axis; " } else { "" };
        let note = format!("{note}bars: medians; whiskers: minimum and maximum; in brackets: ratio to sinew");
        let remarks = self.panel.deviations().into_iter().chain([note]);
        for (line, remark) in (0..).zip(remarks) {
            self.text(&remark, (self.left, to + 32 + REMARK * line), style(14, FAINT_INK, HPos::Left))?;
        }
        Ok(())
    }

    fn bar(&self, row: usize) -> Drawn {
        let figure = self.panel.figures[row];
        let (peer, summary) = (&figure.key.peer, figure.summary);
        let colour = if is_ours(peer) { OURS } else { OTHERS };
        let ink = if is_ours(peer) { OURS } else { INK };
        let middle = self.top + PANEL_HEAD + ROW * row as i32 + ROW / 2 - 3;
        self.text(peer, (self.left - 10, middle), style(17, ink, HPos::Right))?;
        let corners = [(self.left, middle - BAR / 2), (self.x(summary.median), middle + BAR / 2)];
        self.area.draw(&Rectangle::new(corners, colour.filled()))?;
        self.whiskers(self.x(summary.min), self.x(summary.max), middle)?;
        let label = self.label(row);
        self.text(&label, (self.x(summary.max) + 10, middle), style(16, ink, HPos::Left))
    }

    fn whiskers(&self, least: i32, greatest: i32, middle: i32) -> Drawn {
        self.line((least, middle), (greatest, middle), INK, 1)?;
        self.line((least, middle - 5), (least, middle + 5), INK, 1)?;
        self.line((greatest, middle - 5), (greatest, middle + 5), INK, 1)
    }

    /// Returns the number beside a bar, with its ratio to ours.
    fn label(&self, row: usize) -> String {
        let figure = self.panel.figures[row];
        let median = number(figure.summary.median);
        let sinew = self.panel.sinew().filter(|sinew| sinew.key.peer != figure.key.peer);
        sinew.map_or(median.clone(), |sinew| {
            format!("{median}  (× {})", number(figure.summary.median / sinew.summary.median))
        })
    }
}

/// Returns a mark of the axis, with no more digits than it needs.
fn mark(value: f64) -> String {
    if value >= 1000.0 { number(value) } else { format!("{}", (value * 1e6).round() / 1e6) }
}
