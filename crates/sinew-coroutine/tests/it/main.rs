//! Tests of `sinew-coroutine`, with one module per subject.

mod alternate;
mod backtraces;
mod basics;
mod cache;
mod chaining;
mod crashes;
mod debug;
mod dropping;
mod errors;
mod gdb;
mod high_water;
mod labels;
mod mappings;
mod nesting;
mod no_memory;
mod overflow;
mod panics;
mod pool;
mod pool_ends;
mod pool_faults;
mod pool_limits;
mod random;
mod registers;
mod signals;
mod stacks;
mod support;
