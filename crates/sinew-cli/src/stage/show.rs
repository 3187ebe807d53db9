//! Shows chapters one after the other, and gives each its part of the time.

use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use super::Stage;
use super::chapter::{Chapter, Outcome};
use super::report::Shown;
use super::sizes::Sizes;
use crate::output::screen::Screen;

/// The variable by which tests make a chapter fail.
pub(crate) const FAIL: &str = "SINEW_TOUR_FAIL";

/// The time of a tour, as it is used up.
#[derive(Debug)]
pub(crate) struct Clock {
    began: Instant,
    tour: Duration,
    /// The parts of all chapters of the program.
    all: u32,
    /// The parts of the chapters that are still to be shown.
    left: u32,
}

impl Clock {
    /// The clock of a tour through some chapters of all that there are.
    pub(crate) fn new(sizes: Sizes, all: &[Chapter], chosen: &[Chapter]) -> Self {
        let sum = |chapters: &[Chapter]| chapters.iter().map(|chapter| chapter.share).sum();
        Self { began: Instant::now(), tour: sizes.tour, all: sum(all), left: sum(chosen) }
    }

    /// The time for the next chapter: its part of the whole, so that a new chapter makes the others
    /// shorter. Chapters that took too long take the time away from those after them, but not all
    /// of it.
    pub(crate) fn next(&mut self, chapter: &Chapter) -> Duration {
        self.next_at(chapter, self.began.elapsed())
    }

    fn next_at(&mut self, chapter: &Chapter, elapsed: Duration) -> Duration {
        let part = self.tour * chapter.share / self.all.max(1);
        let left = self.tour.saturating_sub(elapsed) * chapter.share / self.left.max(1);
        self.left = self.left.saturating_sub(chapter.share);
        left.clamp(part / 3, part)
    }

    /// The time that the chapters which are left should take.
    pub(crate) fn planned(&self) -> Duration {
        self.tour * self.left / self.all.max(1)
    }

    /// The time since the tour began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// Shows a chapter.
pub(crate) fn show(screen: &Screen, chapter: &Chapter, sizes: Sizes, time: Duration) -> Shown {
    let stage = Stage::new(screen, sizes, time);
    let began = Instant::now();
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| (chapter.run)(&stage)));
    let outcome = outcome.unwrap_or_else(|payload| Err(format!("it panicked: {}", words(&*payload)).into()));
    Shown { chapter: *chapter, outcome: failed_on_request(chapter, outcome), took: began.elapsed() }
}

/// A test cannot make the library fail, so it asks for a failure.
fn failed_on_request(chapter: &Chapter, outcome: Outcome) -> Outcome {
    match std::env::var(FAIL) {
        Ok(name) if name == chapter.name => Err(format!("{FAIL} asks for this failure").into()),
        _ => outcome,
    }
}

/// The message of a panic.
fn words(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::chapter::Findings;

    fn chapter(share: u32) -> Chapter {
        let run: fn(&Stage<'_>) -> Outcome = |_| Ok(Findings::new("nothing"));
        Chapter { name: "test", title: "Test", about: "", guide: "faq.md", share, run }
    }

    fn clock(shares: &[u32]) -> (Clock, Vec<Chapter>) {
        let chapters: Vec<_> = shares.iter().map(|&share| chapter(share)).collect();
        let sizes = Sizes { tour: Duration::from_secs(10), ..Sizes::of_this_machine(true) };
        (Clock::new(sizes, &chapters, &chapters), chapters)
    }

    #[test]
    fn the_parts_add_up_to_the_tour_however_many_there_are() {
        for shares in [&[1][..], &[3, 2], &[6, 2, 2, 4, 1, 1, 1]] {
            let (mut clock, chapters) = clock(shares);
            let mut elapsed = Duration::ZERO;
            for chapter in &chapters {
                elapsed += clock.next_at(chapter, elapsed);
            }
            assert!(
                elapsed > Duration::from_millis(9_999) && elapsed <= Duration::from_secs(10),
                "{elapsed:?}"
            );
        }
    }

    #[test]
    fn a_chapter_that_took_too_long_shortens_the_others() {
        let (mut clock, chapters) = clock(&[5, 5]);
        assert_eq!(clock.next_at(&chapters[0], Duration::ZERO), Duration::from_secs(5));
        assert_eq!(clock.next_at(&chapters[1], Duration::from_secs(7)), Duration::from_secs(3));
        let (mut clock, chapters) = self::clock(&[3, 3]);
        clock.next_at(&chapters[0], Duration::ZERO);
        let rest = clock.next_at(&chapters[1], Duration::from_secs(60));
        assert_eq!(rest, Duration::from_secs(5) / 3, "but not to nothing");
    }

    #[test]
    fn a_panic_is_a_failure_with_its_message() {
        let payload = panic::catch_unwind(|| panic::resume_unwind(Box::new("out of tea"))).unwrap_err();
        assert_eq!(words(&*payload), "out of tea");
    }
}
