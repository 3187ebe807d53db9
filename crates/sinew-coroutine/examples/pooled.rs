//! Creates many coroutines on pooled stacks, and suspends, resumes and drops them. The checks run
//! this example under valgrind.

use sinew_coroutine::{Coroutine, CoroutineState, DEFAULT_STACK_SIZE, StackError, StackPool};

fn main() -> Result<(), StackError> {
    let pool = StackPool::new();
    let mut cache = pool.cache();
    for round in 0..3 {
        let mut coroutines = (0..100)
            .map(|number| {
                let stack = cache.acquire(DEFAULT_STACK_SIZE)?;
                Ok(Coroutine::<u32, u32, u32, _>::new(stack, move |suspender, first| {
                    let text = format!("{number} in round {round}");
                    suspender.suspend(first + number) + u32::from(text.is_empty())
                }))
            })
            .collect::<Result<Vec<_>, StackError>>()?;
        for (number, coroutine) in (0..).zip(&mut coroutines) {
            assert_eq!(coroutine.resume(1), CoroutineState::Yielded(number + 1));
        }
        // Half of the coroutines end; the others are dropped while suspended.
        for coroutine in coroutines.iter_mut().step_by(2) {
            assert_eq!(coroutine.resume(7), CoroutineState::Complete(7));
        }
        for coroutine in coroutines {
            match coroutine.into_stack() {
                Ok(stack) => cache.release(stack),
                // Its stack returns to the pool, not to the cache.
                Err(suspended) => drop(suspended),
            }
        }
    }
    println!("{:?}", pool.stats());
    Ok(())
}
