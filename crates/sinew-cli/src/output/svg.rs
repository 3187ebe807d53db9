//! The chart of times as a picture for a file: an SVG without scripts or foreign fonts.

use std::fmt::Write;

use super::chart::{Row, Scale};
use super::text::time;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = 90.0;
const TOP: f64 = 70.0;
const ROW: f64 = 28.0;
const BAR: f64 = 16.0;

/// Draws the rows.
pub(crate) fn draw(title: &str, subtitle: &str, rows: &[Row]) -> String {
    let scale = Scale::of(rows);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = String::new();
    head(&mut svg, bottom + 40.0);
    text(&mut svg, (20.0, 30.0), "start", 18, title);
    text(&mut svg, (20.0, 50.0), "start", 12, subtitle);
    for power in scale.first..=scale.last {
        let x = LEFT + (WIDTH - LEFT - RIGHT) * scale.place(10_f64.powi(power));
        let (top, end) = (TOP - 6.0, bottom);
        line(
            &mut svg,
            format_args!(r##"<line x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{end}" stroke="#ddd"/>"##),
        );
        text(&mut svg, (x, bottom + 18.0), "middle", 11, &decade(power));
    }
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let width = ((WIDTH - LEFT - RIGHT) * scale.place(row.seconds)).max(2.0);
        let baseline = y + BAR - 3.0;
        text(&mut svg, (LEFT - 10.0, baseline), "end", 13, &row.label);
        line(
            &mut svg,
            format_args!(
                r##"<rect x="{LEFT}" y="{y:.1}" width="{width:.1}" height="{BAR}" fill="#2a7f9e"/>"##
            ),
        );
        text(&mut svg, (LEFT + width + 6.0, baseline), "start", 12, &time(row.seconds));
    }
    svg.push_str("</svg>\n");
    svg
}

fn head(svg: &mut String, height: f64) {
    line(
        svg,
        format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">"#
        ),
    );
    line(svg, format_args!(r##"<rect width="{WIDTH}" height="{height}" fill="#fff"/>"##));
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, size: u32, words: &str) {
    let words = escaped(words);
    line(
        svg,
        format_args!(
            r##"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size}" fill="#222">{words}</text>"##
        ),
    );
}

fn line(svg: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(svg, "{arguments}");
}

/// A power of ten, in the unit that people would use: `10 µs`.
fn decade(power: i32) -> String {
    let (unit, name) = match power {
        ..-6 => (-9, "ns"),
        -6..-3 => (-6, "µs"),
        -3..0 => (-3, "ms"),
        _ => (0, "s"),
    };
    format!("{} {name}", 10_f64.powi(power - unit))
}

/// Text as XML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_decades_are_named() {
        let rows = [Row { label: "a < b & \"c\"".to_owned(), seconds: 3e-6 }];
        let svg = draw("title", "subtitle", &rows);
        assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"), "{svg}");
        assert!(svg.contains(">1 µs<") && svg.contains(">10 µs<"), "{svg}");
        assert_eq!([-9, -7, -3, 0].map(decade), ["1 ns", "100 ns", "1 ms", "1 s"]);
    }
}
