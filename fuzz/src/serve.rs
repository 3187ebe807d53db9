//! Requests that were not thought of, to the loop of `sinew serve` that reads, parses and answers them. The first byte chooses the pieces in which
//! they come; what is checked is what the tests of that loop check.
#![no_main]

#[path = "../../crates/sinew-cli/src/serve/mod.rs"]
#[expect(dead_code, reason = "the server around the loop is not run here")]
mod serve;

use libfuzzer_sys::fuzz_target;
use serve::script::{Dice, answers_are_the_same_in_pieces};

fuzz_target!(|data: &[u8]| {
    if let Some((&first, sent)) = data.split_first() {
        answers_are_the_same_in_pieces(sent, Dice(u64::from(first) + 1));
    }
});
