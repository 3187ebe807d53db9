//! Fibers that are entered at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sinew::fiber::{self, Launch};

use crate::runtimes::{Kind, each_of};

/// The maker keeps its worker, so another one has to hear of a fiber that may move and has let
/// others run.
#[test]
fn what_yields_while_its_maker_runs_goes_on_elsewhere() {
    each_of(&[2, 8], |runtime, kind| {
        // A fiber that stays goes on when its maker lets it.
        if kind == Kind::Pinned {
            return;
        }
        for _ in 0..20 {
            runtime.run(|| {
                let is_over = Arc::new(AtomicBool::new(false));
                let flag = is_over.clone();
                let body = move || {
                    fiber::yield_now();
                    flag.store(true, Ordering::Relaxed);
                };
                let child = fiber::Builder::new().launch(Launch::Dispatch).spawn(body).unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                child.join().unwrap();
            });
        }
    });
}
