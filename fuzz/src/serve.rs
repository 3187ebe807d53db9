//! The fuzzer's requests go to the server and to the reference reader of `sinew serve`, which must
//! agree about them. The first byte chooses the sizes of the pieces in which a request arrives.
#![no_main]

#[path = "../../crates/sinew-cli/src/serve/mod.rs"]
#[expect(dead_code, reason = "the server around a connection is not run here")]
mod serve;

use libfuzzer_sys::fuzz_target;
use serve::agreement::check;
use serve::script::Dice;

fuzz_target!(|data: &[u8]| {
    if let Some((&first, sent)) = data.split_first() {
        check(sent, Dice(u64::from(first) + 1));
    }
});
