//! Queues of work.

mod execution_queue;
mod shutdown;
mod work_queue;

use sinew::Runtime;
use sinew::sync::Baton;
use std::sync::Arc;
use std::time::Duration;

/// Shuts a runtime with one worker down while a fiber has that, which does `first` and then keeps
/// its thread: what `first` leaves to others is never begun.
fn end_while_busy(runtime: Runtime, first: impl FnOnce() + Send + 'static) {
    let (begun, (lets_go, keeps)) = (Arc::new(Baton::new()), std::sync::mpsc::channel());
    let has_begun = begun.clone();
    let holds = runtime.spawn(move || {
        first();
        has_begun.post();
        keeps.recv().unwrap();
    });
    begun.wait();
    runtime.shutdown(Some(Duration::ZERO));
    lets_go.send(()).unwrap();
    holds.join().unwrap();
}
