//! The colours and text styles of all drawings.

use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontFamily, IntoFont, RGBColor, TextStyle};

pub(super) const INK: RGBColor = RGBColor(33, 37, 41);
pub(super) const FAINT_INK: RGBColor = RGBColor(95, 103, 112);
pub(super) const GRID: RGBColor = RGBColor(225, 229, 234);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
pub(super) const OURS: RGBColor = RGBColor(217, 83, 25);
pub(super) const OTHERS: RGBColor = RGBColor(137, 160, 188);

/// Returns text of a size and colour, on the given side of its position.
pub(super) fn style(size: i32, colour: RGBColor, side: HPos) -> TextStyle<'static> {
    let font = (FontFamily::SansSerif, size).into_font();
    TextStyle { font, color: colour.to_backend_color(), pos: Pos::new(side, VPos::Center) }
}
