//! Drops a suspended coroutine. Built with `panic=abort`, it dies with a message, since the stack
//! cannot be unwound.

use sinew_coroutine::{Coroutine, CoroutineState, MmapStack};

struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        println!("unwound");
    }
}

fn main() -> std::io::Result<()> {
    let mut coroutine = Coroutine::<(), (), ()>::new(MmapStack::new(64 * 1024)?, |suspender, ()| {
        let _loud = Loud;
        suspender.suspend(());
    });
    assert_eq!(coroutine.resume(()), CoroutineState::Yielded(()));
    drop(coroutine);
    println!("dropped");
    Ok(())
}
