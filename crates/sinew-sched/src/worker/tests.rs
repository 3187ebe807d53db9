//! Workers in states that a test controls.

mod balance;
mod clock;
mod find;
mod next;
mod steal_remote;
pub(super) mod stock;
mod support;
