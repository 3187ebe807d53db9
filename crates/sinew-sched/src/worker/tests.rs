//! Workers in states that a test controls.

mod balance;
pub(super) mod stock;
