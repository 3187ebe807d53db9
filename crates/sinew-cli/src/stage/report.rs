//! What happened in a chapter, told to people or to programs.

use std::time::Duration;

use super::chapter::{Chapter, Findings, Measure, Outcome};
use crate::output::json::Object;
use crate::output::screen::Screen;
use crate::output::terminal::Style;
use crate::output::text::time;

/// A chapter that was shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) chapter: Chapter,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

/// Tells people that a chapter begins.
pub(crate) fn announce(screen: &Screen, chapter: &Chapter, number: usize, of: usize) {
    screen.line("");
    let place = format!("{number:>2}/{of}  ");
    screen.painted(&place, Style::Dim, Style::Bold, chapter.title);
    screen.paragraph("       ", Style::Plain, chapter.about);
}

/// Tells people how a chapter ended.
pub(crate) fn tell(screen: &Screen, shown: &Shown) {
    match &shown.outcome {
        Ok(findings) => {
            screen.painted("    ok ", Style::Good, Style::Bold, &findings.result);
            for note in &findings.notes {
                screen.paragraph("       ", Style::Plain, note);
            }
        }
        Err(failure) => screen.painted("  FAIL ", Style::Bad, Style::Bad, &failure.to_string()),
    }
    let pointer = format!("docs/guide/src/{} ({})", shown.chapter.guide, time(shown.took.as_secs_f64()));
    screen.paragraph("       ", Style::Dim, &pointer);
}

/// The same for programs: one object.
pub(crate) fn object(shown: &Shown) -> Object {
    let object = described(&shown.chapter)
        .truth("passed", shown.outcome.is_ok())
        .number("seconds", shown.took.as_secs_f64());
    match &shown.outcome {
        Ok(Findings { result, notes, measures }) => object
            .text("result", result)
            .texts("notes", notes)
            .objects("measures", measures.iter().map(measured))
            .maybe_text("error", None),
        Err(failure) => object.maybe_text("result", None).text("error", &failure.to_string()),
    }
}

/// What is known of a chapter before it is shown.
pub(crate) fn described(chapter: &Chapter) -> Object {
    let guide = format!("docs/guide/src/{}", chapter.guide);
    Object::new().text("chapter", chapter.name).text("title", chapter.title).text("guide", &guide)
}

fn measured(measure: &Measure) -> Object {
    Object::new().text("name", measure.name).number("value", measure.value).text("unit", measure.unit.name())
}
