//! Channels of other shapes than std's.

mod oneshot;
