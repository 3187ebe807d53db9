//! Workers in states that a test controls.

pub(super) mod stock;
