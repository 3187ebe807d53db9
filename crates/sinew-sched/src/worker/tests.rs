//! Tests of workers in states that the tests set up.

mod balance;
mod clock;
mod find;
mod next;
mod steal_remote;
pub(super) mod stock;
mod support;
