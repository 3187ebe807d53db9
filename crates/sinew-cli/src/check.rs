//! A check: a name, and a function that does the real thing and tells what it saw. Knows no subject.

use std::error::Error;
use std::panic;

use crate::screen::Screen;

/// What a check saw, or why it does not hold.
pub(crate) type Outcome = Result<String, Box<dyn Error>>;

/// Something that the runtime claims, to be seen to hold.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) run: fn() -> Outcome,
}

/// Runs the checks of a part in order and returns how many failed.
pub(crate) fn run_all(screen: &mut Screen, part: &str, checks: &[Check]) -> usize {
    screen.heading(part);
    checks.iter().filter(|check| !holds(screen, check)).count()
}

fn holds(screen: &mut Screen, check: &Check) -> bool {
    match panic::catch_unwind(check.run) {
        Ok(Ok(seen)) => screen.pass(check.name, seen),
        Ok(Err(why)) => {
            screen.fail(check.name, why);
            return false;
        }
        Err(_) => {
            screen.fail(check.name, "it panicked");
            return false;
        }
    }
    true
}

/// Says what was seen if it is what was expected.
pub(crate) fn expect<T: PartialEq + std::fmt::Debug>(seen: &T, expected: &T, words: String) -> Outcome {
    if seen == expected { Ok(words) } else { Err(format!("saw {seen:?}, expected {expected:?}").into()) }
}
