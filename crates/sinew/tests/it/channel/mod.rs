//! Channels of other shapes than std's.

mod broadcast;
mod oneshot;
