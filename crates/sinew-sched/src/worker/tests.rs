//! Workers in states that a test controls.

mod abroad;
mod balance;
mod clock;
mod find;
mod next;
pub(super) mod stock;
mod support;
