//! Channels: what has been sent and not yet received, and who waits at either end. [`crate::sync::mpsc`] is made of them.
//!
//! [`Channel`] is what the handles of both ends share. It has a flavour: [`Buffered`](buffered::Buffered), over one of two places to
//! keep messages in, or [`Rendezvous`](rendezvous::Rendezvous), which keeps none.

mod blocks;
mod buffered;
mod error;
mod rendezvous;
mod ring;
mod shared;
#[cfg(not(loom))]
mod slot;
#[cfg(loom)]
#[path = "slot_model.rs"]
mod slot;
mod store;

#[cfg(all(test, loom))]
mod model;

pub(crate) use buffered::Refused;
pub(crate) use error::{NotReceived, NotSent};
pub(crate) use shared::Channel;
